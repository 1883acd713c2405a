//===- Measurement.cpp - What the worker is asked and answers -------------===//

#include "Search.h"
#include "fact/Tuning/Files.h"
#include <sstream>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// Fresh inputs that each candidate is verified on.
static constexpr int trials = 3;

namespace {
/// The last JSON line of a worker, and the phase before it.
struct WorkerReport {
  std::string phase = "start";
  std::string status, detail;
  nlohmann::json values;
};
} // namespace

static WorkerReport parseReport(const std::string &output) {
  WorkerReport report;
  std::istringstream lines(output);
  std::string line;
  while (std::getline(lines, line)) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("phase"))
      continue;
    std::string phase = json.value("phase", "");
    if (phase != "done") {
      report.phase = phase;
      continue;
    }
    report.status = json.value("status", "");
    report.detail = json.value("detail", "");
    report.values = json;
  }
  return report;
}

std::string Tuner::askMachine() {
  Command command;
  command.words = options.runLauncher;
  command.words.insert(command.words.end(), {workerPath.string(), "--machine"});
  command.captureOutput = true;
  command.log = build / "machine.log";
  command.timeoutSeconds = options.runTimeout;
  writeFile(command.log, "$ " + command.text() + "\n");
  Outcome outcome = runCommand(command);
  checkEnvironment(command, outcome);
  WorkerReport report = parseReport(outcome.output);
  if (report.status != "ok")
    throw Failure("the measuring worker cannot use this machine: " +
                  (report.detail.empty() ? outcome.text() : report.detail) +
                  "\n  run fact-tune where the model will run" +
                  (bundle.cuda ? ", with a CUDA device and its driver" : ""));
  return report.values.value("machine", "");
}

/// On the host the reference is the slowest part of a measurement, so its
/// results are kept while the kernel is tuned. A device computes them faster
/// than a disk reads them.
static bool keepsExpected(const Bundle &bundle, const Kernel &kernel) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < kernel.results.size(); ++i)
    bytes += kernel.results[i].elements() *
             runtime::bytesOf(kernel.referenceType(i));
  return !bundle.cuda && bytes <= (256u << 20);
}

void Tuner::forgetExpected(const Kernel &kernel) const {
  for (int trial = 0; trial < trials; ++trial) {
    std::error_code absent;
    fs::remove(buildFolder(kernel) / ("expected." + std::to_string(trial)),
               absent);
  }
}

/// The worker's job file; see WorkerJob.h.
static std::string jobText(const Kernel &kernel, const Candidate &candidate,
                           const fs::path &reference, const fs::path &library,
                           const fs::path &expected) {
  std::ostringstream text;
  text.precision(17);
  auto shape = [&](const Tensor &tensor) {
    text << " shape";
    for (int64_t extent : tensor.shape)
      text << ' ' << extent;
    text << '\n';
  };
  text << "reference " << kernel.reference.symbol << ' ' << reference.string()
       << "\ncandidate " << candidate.symbol << ' ' << library.string() << '\n';
  if (!expected.empty())
    text << "expected " << expected.string() << '\n';
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand &operand = kernel.operands[i];
    text << "operand " << runtime::nameOf(operand.type)
         << (kernel.fixedOperands[i] ? " fixed" : " fresh");
    if (operand.uniform)
      text << " uniform " << operand.low << ' ' << operand.high;
    else
      text << " normal " << operand.scale;
    shape(operand);
  }
  for (size_t i = 0; i < kernel.results.size(); ++i) {
    text << "result " << runtime::nameOf(kernel.results[i].type) << ' '
         << runtime::nameOf(kernel.referenceType(i));
    shape(kernel.results[i]);
  }
  text << "tolerance " << kernel.normTolerance << ' ' << kernel.elementTolerance
       << ' ' << kernel.mismatchTolerance << "\ntrials " << trials
       << "\nseconds " << (kernel.candidates.size() > 1 ? 0.2 : 0.01) << '\n';
  return text.str();
}

void Tuner::measureCandidate(Search &search, size_t index) {
  const Kernel &kernel = search.kernel();
  fs::path folder = buildFolder(kernel);
  std::string number = std::to_string(index);
  fs::path job = folder / (number + ".job");
  writeFile(job, jobText(kernel, kernel.candidates[index],
                         referenceOf(kernel, index), libraryOf(kernel, index),
                         keepsExpected(bundle, kernel) ? folder / "expected"
                                                       : fs::path()));
  Command command;
  command.words = options.runLauncher;
  command.words.insert(command.words.end(),
                       {workerPath.string(), job.string()});
  command.captureOutput = true;
  command.log = folder / (number + ".run.log");
  command.timeoutSeconds = options.runTimeout;
  writeFile(command.log, "$ " + command.text() + "\n");
  fs::path log = command.log;
  scheduler->measure(
      command,
      [=, &search](const Outcome &outcome) {
        checkEnvironment(command, outcome);
        judge(search, index, outcome, log);
      },
      [&search] { return search.reference == Search::Broken; });
}

/// What the worker did before each report.
static std::string activityAfter(const std::string &phase) {
  if (phase == "reference")
    return "while loading";
  if (phase == "loaded")
    return "while verifying";
  if (phase == "verified")
    return "while timing";
  return "after timing";
}

void Tuner::judge(Search &search, size_t index, const Outcome &outcome,
                  const fs::path &log) {
  const Kernel &kernel = search.kernel();
  WorkerReport report = parseReport(outcome.output);
  Attempt attempt;
  attempt.log = log.string();
  attempt.compileSeconds = search.compileSeconds[index];
  attempt.measureSeconds = outcome.seconds;
  if (report.status.empty()) {
    bool hang = outcome.kind == Outcome::TimedOut;
    report.status = report.phase == "start" ? "reference_error"
                    : hang                  ? "hang"
                                            : "crash";
    report.detail = outcome.text() + " " +
                    (report.phase == "start" ? "while running the reference"
                                             : activityAfter(report.phase));
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
    attempt.normError = report.values.value("norm_error", 0.0);
    attempt.elementError = report.values.value("element_error", 0.0);
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
