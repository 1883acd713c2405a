//===- Measurement.cpp - What the worker is asked and answers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "fact/Tuning/BoundedJson.h"
#include <charconv>
#include <cmath>
#include <csignal>
#include <sstream>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// The worker's activity after each report.
static std::string activityAfter(const std::string &phase) {
  if (phase == "start")
    return "while running the reference";
  if (phase == "reference")
    return "while loading";
  if (phase == "loaded")
    return "while verifying";
  if (phase == "verified")
    return "while timing";
  return "after timing";
}

double secondsBeforeTry(int number) {
  return number == 0 ? 0 : 0.5 * std::pow(3, number - 1);
}

/// SIGKILL comes from the kernel when memory is short, or from a person;
/// launchers report it by an exit status of their own.
static bool wasKilled(const Outcome &outcome) {
  return (outcome.kind == Outcome::Signaled && outcome.code == SIGKILL) ||
         (outcome.kind == Outcome::Exited && outcome.code == 128 + SIGKILL);
}

WorkerReport readReport(const Outcome &outcome) {
  WorkerReport report;
  std::istringstream lines(outcome.output);
  std::string line, ignored;
  while (std::getline(lines, line)) {
    auto json = parseBounded<nlohmann::json>(line, /*maximumDepth=*/8, ignored);
    if (!json.is_object() || !json.contains("phase"))
      continue;
    std::string phase = json.value("phase", "");
    if (phase.compare(0, 7, "kernel ") == 0) {
      std::from_chars(phase.data() + 7, phase.data() + phase.size(),
                      report.kernel);
      report.phase = "start";
      continue;
    }
    if (phase == "program")
      report.kernel = -1;
    if (phase != "done") {
      report.phase = phase;
      continue;
    }
    report.status = json.value("status", "");
    report.detail = json.value("detail", "");
    report.values = json;
  }
  bool silent = report.status.empty();
  report.disturbed =
      report.status == "out_of_memory" || (silent && wasKilled(outcome));
  report.died = silent || report.status == "crash";
  if (silent) {
    report.status = report.phase == "start"             ? "reference_error"
                    : outcome.kind == Outcome::TimedOut ? "hang"
                                                        : "crash";
    report.detail = outcome.text() + " " + activityAfter(report.phase);
  }
  return report;
}

Conditions conditionsIn(const nlohmann::json &report) {
  return {report.value("regime", ""), report.value("mhz", 0.0),
          report.value("watts", 0.0)};
}

std::string choiceIn(const nlohmann::json &value) {
  std::string choice = value.is_string() ? value.get<std::string>() : "?";
  if (!isChoice(choice))
    throw Failure("the measuring worker reports the choice " + value.dump() +
                  "; expected pairs of hexadecimal digits");
  return choice;
}

Command Tuner::workerCommand(const Words &words, const fs::path &log,
                             double timeoutSeconds) const {
  Command command;
  command.words = options.runLauncher;
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.captureOutput = true;
  command.log = log;
  command.timeoutSeconds = timeoutSeconds;
  writeFile(command.log, "$ " + command.text() + "\n");
  return command;
}

std::string Tuner::askMachine() {
  Words words = {workerPath.string(), "--machine"};
  if (!bundle.target.processor.architecture.empty()) {
    words.push_back(bundle.target.processor.architecture);
    const Words &features = bundle.target.processor.features;
    words.insert(words.end(), features.begin(), features.end());
  }
  Outcome outcome = runChecked(
      workerCommand(words, build / "machine.log", options.runTimeout));
  WorkerReport report = readReport(outcome);
  if (report.status != "ok")
    throw Failure(
        "the measuring worker cannot use this machine: " +
        (report.values.is_null() ? outcome.text() : report.detail) +
        "\n  run fact-tune where the model will run" +
        (bundle.target.cuda ? ", with a CUDA device and its driver" : ""));
  return report.values.value("machine", "");
}

static constexpr char expectedName[] = "expected";

/// On the host the reference is the slowest part of a measurement, so its
/// results are kept while the kernel is tuned. A device computes them faster
/// than a disk reads them.
static bool keepsExpected(const Bundle &bundle, const Kernel &kernel) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < kernel.results.size(); ++i)
    bytes += kernel.results[i].elements() *
             runtime::bytesOf(kernel.referenceType(i));
  return !bundle.target.cuda && bytes <= (256u << 20);
}

std::string Tuner::removeExpected(const Kernel &kernel) const {
  const std::string prefix = std::string(expectedName) + ".";
  try {
    for (const fs::path &file : listFiles(buildFolder(kernel))) {
      if (file.filename().string().compare(0, prefix.size(), prefix) != 0)
        continue;
      std::error_code code;
      fs::remove(file, code);
      if (code)
        return "cannot remove " + file.string() + ": " + code.message();
    }
  } catch (const std::exception &problem) {
    return problem.what();
  }
  return "";
}

void Tuner::forgetExpected(const Kernel &kernel) const {
  if (std::string why = removeExpected(kernel); !why.empty())
    throw Failure(why);
}

static void writeShape(std::ostream &text, const Tensor &tensor) {
  text << " shape";
  for (int64_t extent : tensor.shape)
    text << ' ' << extent;
  text << '\n';
}

static void writeOperand(std::ostream &text, const Operand &operand,
                         bool fixed) {
  text << "operand " << runtime::nameOf(operand.type)
       << (fixed ? " fixed" : "");
  if (operand.uniform)
    text << " uniform " << operand.low << ' ' << operand.high;
  else if (operand.factors > 0)
    text << " factors " << operand.factors;
  else
    text << " normal " << operand.scale << " large " << operand.large;
  if (operand.negative > 0)
    text << " negative " << operand.negative;
  if (operand.middle > 0)
    text << " middle " << operand.middle;
  text << (operand.mask ? " mask" : "") << (operand.wide ? " wide" : "")
       << (operand.outside ? " outside" : "");
  for (const std::string &each : operand.avoid)
    text << " avoid " << each;
  if (uint64_t element = runtime::bytesOf(operand.type); operand.part.pitch)
    text << " read " << operand.part.begin / element << ' '
         << operand.part.end / element << ' ' << operand.part.pitch / element;
  if (!operand.band.empty())
    text << " band " << operand.band[0] << ' ' << operand.band[1];
  writeShape(text, operand);
}

static void writeResult(std::ostream &text, const Result &result,
                        runtime::ElementType referenceType) {
  text << "result " << runtime::nameOf(result.type) << ' '
       << runtime::nameOf(referenceType) << " norm " << result.norm
       << " element " << result.element << " large " << result.large;
  if (result.rows)
    text << " rows " << result.rows;
  if (result.undecided)
    text << " undecided";
  const Part &part = result.part;
  if (part.pitch)
    text << " written " << result.written();
  if (uint64_t element = runtime::bytesOf(result.type); part.spare)
    text << " spare " << part.end / element << ' '
         << (part.end + part.spare) / element << ' ' << part.pitch / element;
  writeShape(text, result);
}

static void writeCandidate(std::ostream &text, const Candidate &candidate,
                           const fs::path &library) {
  text << "candidate " << candidate.symbol << ' ' << library.string() << '\n';
  if (candidate.sizes.empty())
    return;
  text << "sizes";
  for (int64_t size : candidate.sizes)
    text << ' ' << size;
  text << '\n';
}

/// The worker's job file; see WorkerJob.h.
static std::string jobText(const Kernel &kernel, const Candidate &candidate,
                           const fs::path &reference, const fs::path &library,
                           const fs::path &expected, const Options &options) {
  std::ostringstream text;
  text.precision(17);
  text << "reference " << kernel.reference.symbol << ' ' << reference.string()
       << '\n';
  writeCandidate(text, candidate, library);
  if (!expected.empty())
    text << "expected " << expected.string() << '\n';
  for (size_t i = 0; i < kernel.operands.size(); ++i)
    writeOperand(text, kernel.operands[i], kernel.fixedOperands[i]);
  for (size_t i = 0; i < kernel.results.size(); ++i)
    writeResult(text, kernel.results[i], kernel.referenceType(i));
  if (!candidate.repeatable)
    text << "unrepeatable\n";
  if (options.sustained)
    text << "sustained\n";
  text << "seed " << options.seed << "\nseconds "
       << (kernel.candidates.size() > 1 ? 0.2 : 0.01) << '\n';
  return text.str();
}

std::string Tuner::jobOf(const Kernel &kernel, size_t index,
                         const fs::path &reference,
                         const fs::path &library) const {
  return jobText(kernel, kernel.candidates[index], reference, library,
                 keepsExpected(bundle, kernel)
                     ? buildFolder(kernel) / expectedName
                     : fs::path(),
                 options);
}

std::string Tuner::jobOfProduct(const Kernel &kernel, size_t index,
                                const fs::path &library) const {
  const Product &product = *kernel.product;
  std::ostringstream text;
  text.precision(17);
  writeCandidate(text, product.candidates[index], library);
  for (uint32_t operand : product.operands)
    writeOperand(text, kernel.operands[operand], kernel.fixedOperands[operand]);
  // Nothing is compared.
  Result result;
  static_cast<Tensor &>(result) = product.result;
  writeResult(text, result, runtime::referenceTypeOf(result.type));
  text << "seed " << options.seed << '\n';
  return text.str();
}

void Tuner::measureCandidate(Search &search, size_t index,
                             double delaySeconds) {
  const Kernel &kernel = search.kernel();
  fs::path folder = buildFolder(kernel);
  std::string number = std::to_string(index);
  fs::path job = folder / (number + ".job");
  writeFile(job, jobOf(kernel, index, referenceOf(kernel, index),
                       libraryOf(kernel, index)));
  Command command =
      workerCommand({workerPath.string(), job.string()},
                    folder / (number + ".run.log"), options.runTimeout);
  command.delaySeconds = delaySeconds;
  command.priority = kernel.priority;
  auto done = [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    judge(search, index, outcome, command.log);
  };
  shop.scheduler.measure(command, guarded(done), [this, &search] {
    return search.reference == Search::Broken || !failure.empty();
  });
}

void Tuner::judge(Search &search, size_t index, const Outcome &outcome,
                  const fs::path &log) {
  const Kernel &kernel = search.kernel();
  WorkerReport report = readReport(outcome);
  if (report.disturbed || report.died) {
    int deaths = ++search.deaths[index];
    if (deaths < (report.disturbed ? disturbedTries : 2)) {
      progress(kernel, "again #" + std::to_string(index), report.detail);
      measureCandidate(search, index,
                       report.disturbed ? secondsBeforeTry(deaths) : 0);
      return;
    }
    // A lost device is not the candidate's fault.
    askMachine();
  }
  Attempt attempt;
  attempt.log = log.string();
  attempt.compileSeconds = search.compileSeconds[index];
  attempt.measureSeconds = outcome.seconds;
  if (report.disturbed) {
    std::string what =
        report.detail + ", " + std::to_string(disturbedTries) + " times";
    if (report.phase == "start")
      throw Failure("kernel '" + kernel.name +
                    "' cannot be verified with the free memory: " + what +
                    "\n  end programs that use memory, or tune on a machine "
                    "with more; finished attempts are kept");
    attempt.status =
        report.status == "out_of_memory" ? report.status : "killed";
    attempt.detail = what;
    attempt.transient = true;
    finishAttempt(search, index, attempt);
    return;
  }
  if (report.status == "worker_error")
    throw Failure(
        "the measuring worker failed on kernel '" + kernel.name + "': " +
        report.detail + "\n  reproduce with: " + workerPath.string() + " " +
        (buildFolder(kernel) / (std::to_string(index) + ".job")).string());
  if (report.status == "reference_error") {
    if (search.error.empty())
      search.error = "its reference fails: " + report.detail + "\n      see " +
                     log.string();
    progress(kernel, "reference", "FAILED: " + report.detail);
    search.reference = Search::Broken;
    --search.pending;
    return;
  }
  attempt.status = report.status;
  attempt.detail = report.detail;
  if (attempt.status == "ok") {
    attempt.us = report.values.value("us", 0.0);
    attempt.usLow = report.values.value("us_low", 0.0);
    attempt.usHigh = report.values.value("us_high", 0.0);
    attempt.runs = report.values.value("runs", 0);
    attempt.conditions = conditionsIn(report.values);
    attempt.normError = report.values.value("norm_error", 0.0);
    attempt.elementError = report.values.value("element_error", 0.0);
    if (report.values.contains("choice"))
      attempt.choice = choiceIn(report.values["choice"]);
    attempt.detail = findWarnings(readLog(buildLogOf(kernel, index)));
    if (attempt.us < 0.9 * kernel.solUs) {
      attempt.status = "too_fast";
      attempt.detail =
          format("%.4g us is more than 10%% faster", attempt.us) +
          format(" than the speed of light, %.4g us", kernel.solUs);
    }
  }
  finishAttempt(search, index, attempt);
}

} // namespace tuning
} // namespace fact
