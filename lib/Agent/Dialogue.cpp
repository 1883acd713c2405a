//===- Dialogue.cpp - A conversation within limits ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dialogue.h"
#include "Prompts.h.inc"
#include "fact/Kernel/Rules.h"
#include "fact/Kernel/SchedulePage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

std::string
fact::fillPrompt(StringRef prompt,
                 ArrayRef<std::pair<StringRef, std::string>> values) {
  std::string text;
  while (!prompt.empty()) {
    auto [before, rest] = prompt.split("{{");
    text += before;
    if (rest.empty())
      break;
    StringRef name;
    std::tie(name, prompt) = rest.split("}}");
    auto value = llvm::find_if(values, [&, name = name](const auto &known) {
      return known.first == name;
    });
    assert(value != values.end() && "unknown placeholder in a prompt");
    text += value->second;
  }
  return text;
}

StringRef fact::getPrompt(StringRef file) {
  for (auto [path, text] : getPrompts())
    if (path == file)
      return text;
  llvm_unreachable("prompt is not embedded");
}

std::string fact::countAnswers(unsigned answers) {
  return answers == 1
             ? "One more answer of yours is read."
             : std::to_string(answers) + " more answers of yours are read.";
}

std::string fact::describeMachine(const MachineDescription &machine) {
  return llvm::formatv(
      "{0} ({1}): {2} multiprocessors, {3} KB shared memory per block, {4} MB "
      "cache, {5:F2} TB/s; TFLOP/s: {6:F0} in 16-bit matrix products, {7:F0} "
      "in f32 ones, {8:F0} in everything else. Each kernel costs {9:F1} us of "
      "launch beside its work.",
      machine.name, machine.architecture, machine.multiprocessors,
      machine.sharedMemoryBytes >> 10, machine.cacheBytes >> 20,
      machine.bandwidth / 1e12,
      machine.getMatrixFlops(runtime::ElementType::BF16) / 1e12,
      machine.getMatrixFlops(runtime::ElementType::F32) / 1e12,
      machine.scalarFlops / 1e12, 1e6 * machine.launchSeconds);
}

std::string fact::describeSchedules(const Target &target) {
  std::string text;
  for (const ScheduleKind *kind : target.getScheduleKinds())
    text += describeSchedule(target, *kind);
  return text;
}

chat::SpaceLists fact::getExampleSpace(const Target &target) {
  // The rule of the example that prompts have.
  SmallVector<const Family *> families =
      target.getFamilies(gemmEpilogueRule.name);
  const Family &family =
      families.empty() ? *target.getFamilies().front() : *families.front();
  const ScheduleKind &kind = *family.getScheduleKinds().front();
  return {{kind.parameters.front().name, kind.example}};
}

//===----------------------------------------------------------------------===//
// The dialogue
//===----------------------------------------------------------------------===//

std::shared_ptr<Session> Dialogue::getSession(const AgentOptions &options) {
  if (!options.memory)
    return std::make_shared<Session>();
  return options.memory->get<Session>(options.agent + " " + options.transcript);
}

LogicalResult Dialogue::readKey(std::string &key) {
  auto value = llvm::sys::Process::GetEnv(options.keyVariable);
  if (value && !value->empty()) {
    key = *value;
    return success();
  }
  if (options.keyFile.empty())
    return success();
  auto buffer = llvm::MemoryBuffer::getFile(options.keyFile, /*IsText=*/true);
  if (!buffer)
    return mlir::emitError(module.getLoc(), "cannot read the key file '")
           << options.keyFile << "': " << buffer.getError().message();
  key = (*buffer)->getBuffer().trim().str();
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(options.keyFile, status) &&
      status.permissions() &
          (llvm::sys::fs::group_read | llvm::sys::fs::others_read))
    mlir::emitWarning(module.getLoc(), "other users can read the key file '")
        << options.keyFile << "': run chmod 600 on it";
  return success();
}

LogicalResult Dialogue::open() {
  if (isReplay() && options.transcript.empty())
    return mlir::emitError(
        module.getLoc(),
        "agent=replay needs a transcript: give transcript=file.json");
  if (!isReplay()) {
    if (!options.rounds)
      return mlir::emitError(module.getLoc(),
                             "llm-rounds=0 allows no request: give 1 or more, "
                             "or agent=rules");
    if (failed(readKey(http.key)))
      return failure();
    http.url = options.url;
    http.model = options.model;
    http.retries = options.retries;
    http.answerTokens = options.answerTokens;
    http.answerBytes = options.answerBytes;
    std::string error = chat::checkHttpOptions(http);
    if (!error.empty())
      return mlir::emitError(module.getLoc(), error);
  }
  std::string error = session->open(options);
  if (!error.empty())
    return mlir::emitError(module.getLoc(), error);
  return success();
}

void Dialogue::begin(StringRef graph, StringRef target) {
  closed = false;
  said = 0;
  messages.clear();
  conversation = session->begin(graph, options.model, target);
  report.transcript = session->getPath();
  warnOfTranscript();
  if (!isReplay())
    return;
  recorded = session->take(graph);
  if (recorded)
    model = std::make_unique<chat::ReplayModel>(*recorded);
  else
    giveUp("'" + options.transcript +
           "' has no conversation about this graph and target");
}

std::vector<registry::Measurements> Dialogue::getMeasurements() const {
  return recorded ? recorded->measurements
                  : std::vector<registry::Measurements>();
}

void Dialogue::setMeasurements(std::vector<registry::Measurements> measured) {
  session->setMeasurements(conversation, std::move(measured));
}

bool Dialogue::canAsk() const {
  if (closed)
    return false;
  // A transcript ends where its conversation did.
  if (isReplay())
    return said < recorded->rounds.size();
  return said < options.rounds && session->getSeconds() < options.budget &&
         session->getTokens() < options.tokenBudget;
}

chat::Reply Dialogue::complete(const chat::Request &request) {
  if (isReplay())
    return model->complete(request);
  double left = options.budget - session->getSeconds();
  if (left <= 0) {
    chat::Reply reply;
    reply.error = llvm::formatv("the {0:F0} s of llm-seconds are used up",
                                options.budget);
    return reply;
  }
  http.tokens = options.tokenBudget - session->getTokens();
  http.timeout = std::min(options.timeout, left);
  http.timeoutOption = left < options.timeout ? "llm-seconds" : "llm-timeout";
  return chat::createHttpModel(http)->complete(request);
}

/// Completes a request, and tells what it waits for.
chat::Reply Dialogue::waitForReply(const chat::Request &request) {
  auto tell = [&](const std::string &text) {
    if (options.progress)
      options.progress(text);
  };
  size_t most = isReplay() ? recorded->rounds.size() : options.rounds;
  tell("request " + std::to_string(said) + " of " + std::to_string(most) +
       " to the language model");
  chat::Reply reply = complete(request);
  tell("");
  return reply;
}

std::optional<std::string> Dialogue::ask(std::string message,
                                         const std::string &schema) {
  if (closed)
    return std::nullopt;
  messages.push_back({"user", std::move(message)});
  chat::Request request{messages, schema};
  ++said;
  chat::Reply reply = waitForReply(request);
  report.calls += reply.seconds > 0 || isReplay();
  report.retries += reply.retries;
  report.tokensIn += reply.tokensIn;
  report.tokensOut += reply.tokensOut;
  report.modelSeconds += reply.seconds;
  report.price += 1e-6 * (options.priceIn * double(reply.tokensIn) +
                          options.priceOut * double(reply.tokensOut));
  lastTokens = reply.tokensIn + reply.tokensOut;
  lastSeconds = reply.seconds;
  session->use(reply.seconds, reply.tokensIn + reply.tokensOut);
  messages.push_back({"assistant", reply.content});
  session->append(conversation, {std::move(request), reply, {}});
  warnOfTranscript();
  if (reply.error.empty())
    return reply.content;
  record({{"the answer", false, reply.error}});
  giveUp(reply.error);
  return std::nullopt;
}

void Dialogue::record(std::vector<chat::JudgedProposal> verdicts) {
  session->judge(conversation, std::move(verdicts));
  warnOfTranscript();
}

void Dialogue::giveUp(const Twine &reason) {
  closed = true;
  report.fallback = reason.str();
  mlir::emitWarning(module.getLoc(),
                    "no usable answer from the language model: ")
      << reason << "; the rules do the rest";
}

void Dialogue::warnOfTranscript() {
  std::string problem = session->takeProblem();
  if (!problem.empty())
    mlir::emitWarning(module.getLoc(), problem);
}
