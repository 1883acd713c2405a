//===- Ranking.cpp - Times candidates that are not verified ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Ranking.h"
#include "TestedKernel.h"
#include "Timing.h"
#include "Trials.h"
#include "WorkerJob.h"
#include "WorkerReport.h"
#include <algorithm>
#include <limits>

namespace fact {
namespace runtime {

/// Launches of every candidate, and more of those that take at most `near`
/// times as long as the best so far.
static constexpr int fewRuns = 3, moreRuns = 6;
static constexpr double near = 1.2;

static void runTimed(TestedKernel &kernel, int runs,
                     std::vector<double> &samples) {
  measure::TimedRun timed;
  timed.prepare = timed.finish = [](int, void *) { return true; };
  timed.launch = [&](int, void *stream) { return kernel.launchTimed(stream); };
  if (!measure::time(runs, timed, samples))
    deviceFailed("crash");
}

void rankCandidates(const char *const *jobs, int count) {
  reportPhase("reference");
  Job first = readJob(jobs[0]);
  Buffers operands = allocateBuffers(tensorsOf(first.operands), poison);
  Buffers results = allocateBuffers(tensorsOf(first.results), guardByte);
  fillOperands(first, planTrials(first).front(), /*domain=*/0, /*attempt=*/0,
               operands);
  double best = std::numeric_limits<double>::infinity();
  std::string times;
  for (int i = 0; i < count; ++i) {
    Job job = readJob(jobs[i]);
    TestedKernel kernel(loadKernel(job.candidate, "link_error"),
                        job.sizeTable(), job, job.results.size(), "crash");
    reportPhase("verified");
    kernel.bind(operands, results);
    // Loads its code, and packs what it reads.
    kernel.runOnce();
    std::vector<double> samples;
    runTimed(kernel, fewRuns, samples);
    if (summarize(samples).median <= near * best)
      runTimed(kernel, moreRuns, samples);
    double median = summarize(samples).median;
    best = std::min(best, median);
    times += (times.empty() ? "" : ", ") + number(median);
  }
  finish("ok", ", \"us\": [" + times + "]");
}

} // namespace runtime
} // namespace fact
