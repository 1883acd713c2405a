//===- Dialogue.cpp - A conversation within limits ------------------------===//

#include "LanguageModel.h"
#include "Prompts.h.inc"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

std::string fact::fillPrompt(
    StringRef prompt, ArrayRef<std::pair<StringRef, std::string>> values) {
  std::string text;
  while (!prompt.empty()) {
    auto [before, rest] = prompt.split("{{");
    text += before;
    if (rest.empty())
      break;
    StringRef name;
    std::tie(name, prompt) = rest.split("}}");
    auto value = llvm::find_if(
        values, [&, name = name](const auto &known) { return known.first == name; });
    assert(value != values.end() && "a prompt names what is filled in");
    text += value->second;
  }
  return text;
}

StringRef fact::getPrompt(StringRef file) {
  for (auto [path, text] : getPrompts())
    if (path == file)
      return text;
  llvm_unreachable("a prompt that is not embedded");
}

StringRef fact::getPromptSection(StringRef file, StringRef section) {
  StringRef text = getPrompt(file);
  std::string heading = ("## " + section + "\n").str();
  size_t begin = text.find(heading);
  if (begin == StringRef::npos)
    return "";
  size_t end = text.find("\n## ", begin);
  return text.slice(begin, end == StringRef::npos ? end : end + 1);
}

std::string fact::describeMachine(const MachineDescription &machine) {
  return llvm::formatv(
      "{0} ({1}): {2} multiprocessors, {3} KB shared memory a block, {4} MB "
      "cache, {5:F2} TB/s; TFLOP/s: {6:F0} in 16-bit matrix products, {7:F0} in "
      "f32 ones, {8:F0} in everything else.",
      machine.name, machine.architecture, machine.multiprocessors,
      machine.sharedMemoryBytes >> 10, machine.cacheBytes >> 20,
      machine.bandwidth / 1e12, machine.matrixFlops16 / 1e12,
      machine.matrixFlops32 / 1e12, machine.scalarFlops / 1e12);
}

std::string fact::describeSchedules(const MachineDescription &machine) {
  SmallVector<StringRef> families;
  if (machine.isHost())
    families = {"host_gemm", "host_rows"};
  else
    families = {"sm90_gemm", "sm90_attention", "cuda_row", "cuda_pointwise"};
  std::string text;
  for (StringRef family : families)
    text += getPromptSection("schedules.md", family);
  return text;
}

//===----------------------------------------------------------------------===//
// The dialogue
//===----------------------------------------------------------------------===//

LogicalResult Dialogue::readKey(std::string &key) {
  const LanguageModelOptions &llm = options.languageModel;
  if (auto value = llvm::sys::Process::GetEnv(llm.keyVariable)) {
    key = *value;
    return success();
  }
  if (llm.keyFile.empty())
    return success();
  auto buffer = llvm::MemoryBuffer::getFile(llm.keyFile, /*IsText=*/true);
  if (!buffer)
    return mlir::emitError(module.getLoc(), "cannot read the key in '")
           << llm.keyFile << "': " << buffer.getError().message();
  key = (*buffer)->getBuffer().trim().str();
  return success();
}

LogicalResult Dialogue::open() {
  if (options.agent == "replay") {
    if (options.transcript.empty())
      return mlir::emitError(
          module.getLoc(),
          "replay of which transcript? give transcript=file.json");
    std::string error = chat::readTranscript(options.transcript, recorded);
    if (!error.empty())
      return mlir::emitError(module.getLoc(), error);
    return success();
  }
  const LanguageModelOptions &llm = options.languageModel;
  if (failed(readKey(http.key)))
    return failure();
  http.url = llm.url;
  http.model = llm.model;
  http.retries = llm.retries;
  http.answerTokens = llm.answerTokens;
  http.answerBytes = llm.answerBytes;
  std::string error = chat::checkHttpOptions(http);
  if (!error.empty())
    return mlir::emitError(module.getLoc(), error);
  transcript.model = llm.model;
  return success();
}

void Dialogue::begin(StringRef graph, StringRef target) {
  closed = false;
  seconds = 0;
  messages.clear();
  transcript.target = target.str();
  transcript.conversations.push_back({graph.str(), {}});
  if (options.agent != "replay")
    return;
  // Functions that are alike had a conversation each.
  auto known = llvm::find_if(
      recorded.conversations,
      [&](const chat::Conversation &said) { return said.graph == graph; });
  if (known == recorded.conversations.end()) {
    repeated = 0;
    giveUp("'" + options.transcript + "' is of another graph or target");
    return;
  }
  repeated = known->rounds.size();
  model = std::make_unique<chat::ReplayModel>(*known);
  recorded.conversations.erase(known);
}

bool Dialogue::canAsk() const {
  const LanguageModelOptions &llm = options.languageModel;
  if (closed)
    return false;
  // A transcript ends where its conversation did.
  size_t said = transcript.conversations.back().rounds.size();
  if (options.agent == "replay")
    return said < repeated;
  return said < llm.rounds && seconds < llm.budget &&
         report.tokensIn + report.tokensOut < llm.tokenBudget;
}

const chat::Reply *Dialogue::ask(std::string message,
                                 const std::string &schema) {
  if (closed)
    return nullptr;
  const LanguageModelOptions &llm = options.languageModel;
  messages.push_back({"user", std::move(message)});
  size_t bytes = 0;
  for (const chat::Message &said : messages)
    bytes += said.content.size();
  // Three bytes a token is what graphs come to.
  int64_t estimate = int64_t(bytes / 3);
  if (options.agent != "replay") {
    if (report.tokensIn + report.tokensOut + estimate > llm.tokenBudget) {
      giveUp("the request has about " + Twine(estimate) +
             " tokens, and llm-tokens=" + Twine(llm.tokenBudget) +
             " does not allow it");
      return nullptr;
    }
    http.timeout = std::min(llm.timeout, llm.budget - seconds);
    model = chat::createHttpModel(http);
  }
  chat::Request request{messages, schema};
  chat::Reply reply = model->complete(request);
  // Servers need not count.
  if (reply.error.empty() && !reply.tokensIn)
    reply.tokensIn = estimate;
  if (reply.error.empty() && !reply.tokensOut)
    reply.tokensOut = int64_t(reply.content.size() / 3);
  ++report.calls;
  report.retries += reply.retries;
  report.tokensIn += reply.tokensIn;
  report.tokensOut += reply.tokensOut;
  seconds += reply.seconds;
  messages.push_back({"assistant", reply.content});
  auto &rounds = transcript.conversations.back().rounds;
  rounds.push_back({std::move(request), std::move(reply), {}});
  save();
  const chat::Reply &kept = rounds.back().reply;
  if (kept.error.empty())
    return &kept;
  giveUp(kept.error);
  return nullptr;
}

void Dialogue::record(std::vector<chat::JudgedProposal> verdicts) {
  auto &rounds = transcript.conversations.back().rounds;
  if (rounds.empty())
    return;
  rounds.back().verdicts = std::move(verdicts);
  save();
}

void Dialogue::giveUp(const Twine &reason) {
  closed = true;
  report.fallback = reason.str();
  mlir::emitWarning(module.getLoc(), "the language model does not help here: ")
      << reason << "; the rules do what is left";
}

/// A file of its own in the user's cache.
std::string Dialogue::defaultTranscript() const {
  SmallString<256> path;
  if (auto work = llvm::sys::Process::GetEnv("FACT_WORK_DIR"))
    path = *work;
  else if (llvm::sys::path::cache_directory(path))
    llvm::sys::path::append(path, "fact");
  llvm::sys::path::append(path, "transcripts");
  (void)llvm::sys::fs::create_directories(path);
  llvm::sys::path::append(path, transcript.conversations.front().graph + ".json");
  return path.str().str();
}

void Dialogue::save() {
  if (options.agent == "replay")
    return;
  if (report.transcript.empty())
    report.transcript = options.transcript.empty() ? defaultTranscript()
                                                   : options.transcript;
  std::string error = chat::writeTranscript(report.transcript, transcript);
  if (!error.empty())
    mlir::emitWarning(module.getLoc(), error);
}
