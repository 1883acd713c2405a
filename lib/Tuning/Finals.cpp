//===- Finals.cpp - The best candidates of a kernel, in turn --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates are measured one after another, in processes of their own, while
// clocks and neighbors change. Those near the best are measured again in one
// process, in turn.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <algorithm>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// Candidates that take at most this many times as long as the best are
/// finalists, the best few of them.
static constexpr double finalMargin = 1.05;
static constexpr size_t mostFinalists = 4;

std::vector<size_t> findFinalists(const KernelResult &result) {
  std::vector<size_t> finalists;
  auto timeOf = [&](size_t i) { return result.attempts[i]->us; };
  for (size_t i = 0; i < result.attempts.size(); ++i)
    if (result.attempts[i] && result.attempts[i]->status == "ok")
      finalists.push_back(i);
  std::stable_sort(finalists.begin(), finalists.end(),
                   [&](size_t a, size_t b) { return timeOf(a) < timeOf(b); });
  size_t count = 0;
  while (count < std::min(finalists.size(), mostFinalists) &&
         timeOf(finalists[count]) <= finalMargin * timeOf(finalists[0]))
    ++count;
  finalists.resize(count);
  return finalists;
}

void Tuner::measureFinals(Search &search) {
  const Kernel &kernel = search.kernel();
  std::vector<size_t> finalists = findFinalists(search.result);
  // What is known from an earlier run was decided there.
  bool isKnown = std::all_of(finalists.begin(), finalists.end(),
                             [&](size_t i) { return search.result.reused[i]; });
  bool canRunAll = std::all_of(finalists.begin(), finalists.end(),
                               [&](size_t i) { return canRun(kernel, i); });
  if (search.finalsDone || finalists.size() < 2 || isKnown || !canRunAll)
    return;
  search.finalsDone = true;
  fs::path folder = buildFolder(kernel);
  Words jobs;
  for (size_t i : finalists) {
    fs::path job = folder / (std::to_string(i) + ".final.job");
    const std::string &choice = search.result.attempts[i]->choice;
    writeFile(job,
              jobOf(kernel, i, referenceOf(kernel, i), libraryOf(kernel, i)) +
                  (choice.empty() ? "" : "choice " + choice + "\n"));
    jobs.push_back(job.string());
  }
  measureTogether(kernel, "--finals", jobs, folder / "finals.log",
                  [=, &search](const Outcome &outcome) {
                    judgeFinals(search, finalists, outcome);
                  });
}

void Tuner::measureTogether(const Kernel &kernel, const std::string &mode,
                            const Words &jobs, const fs::path &log,
                            Scheduler::Callback judge) {
  Words words = {workerPath.string(), mode};
  words.insert(words.end(), jobs.begin(), jobs.end());
  Command command = workerCommand(
      words, log, options.runTimeout * static_cast<double>(jobs.size()));
  command.priority = kernel.priority;
  auto done = [command, judge = std::move(judge)](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    judge(outcome);
  };
  shop.scheduler.measure(command, guarded(std::move(done)),
                         [this] { return !failure.empty(); });
}

void Tuner::judgeFinals(Search &search, const std::vector<size_t> &finalists,
                        const Outcome &outcome) {
  const Kernel &kernel = search.kernel();
  WorkerReport report = readReport(outcome);
  if (report.status != "ok" ||
      report.values["times"].size() != finalists.size()) {
    // The linked library is verified in any case.
    progress(kernel, "finals", report.status + ": " + report.detail);
    return;
  }
  // Ratios to the candidate that was the best alone, which keeps its time: so
  // all times of the kernel stay comparable.
  double best = search.result.attempts[finalists.front()]->us;
  for (size_t i = 1; i < finalists.size(); ++i) {
    const nlohmann::json &times = report.values["times"][i];
    size_t index = finalists[i];
    Attempt &attempt = *search.result.attempts[index];
    double ratio = times.value("ratio", 1.0);
    attempt.us = best * ratio;
    attempt.usLow = best * times.value("ratio_low", ratio);
    attempt.usHigh = best * times.value("ratio_high", ratio);
    attempt.runs = report.values.value("rounds", attempt.runs);
    database->record(keyOf(kernel, kernel.candidates[index]), attempt);
    progress(kernel, "final #" + std::to_string(index),
             "takes " + format("%.3f", ratio) + " of the time of #" +
                 std::to_string(finalists.front()) + ", in turn with it");
  }
}

} // namespace tuning
} // namespace fact
