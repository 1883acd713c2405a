//===- Timing.h - Timed launches whose results are checked ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_TIMING_H
#define FACT_LIB_RUNTIME_TIMING_H

#include "TestedKernel.h"
#include "Verification.h"
#include "WorkerJob.h"
#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

struct Times {
  double median, low, high;
  size_t runs;
};

/// The median and its 95% confidence interval by order statistics, which assume
/// nothing about the distribution of times.
Times summarize(std::vector<double> samples);

/// A GPU lowers its clocks at its power limit, after tens of milliseconds. What
/// takes longer than this is timed in one of two regimes. Paced: the device
/// rests as long as a run takes before each (at most `mostRestUs`), so that
/// clocks are those of short work. Sustained: runs follow each other, after
/// some that are not timed.
constexpr double longUs = 1000;
/// The longest pause before a run: longer ones cool no more, and would use up
/// the time of a worker.
constexpr double mostRestUs = 50000;

/// The regime by name, or "" for what takes less.
const char *nameOfRegime(double us, bool sustained);

/// As members of the worker's report: ", "regime": ..., "mhz": ..., "watts":
/// ...", without what is unknown.
std::string describeLoad(const char *regime, const measure::Load &load);

/// Calls `run` for half a second, which brings clocks down to what the device
/// holds.
void warmUp(const std::function<void()> &run);

/// What was timed in turn with others: itself, and its time over that of the
/// first one in the same round.
struct RaceTimes {
  Times time, ratio;
};

/// Times things in turn, each round beginning with another one, so that
/// whatever else the machine does concerns them alike: at least 20 rounds, up
/// to 60 while it is open whether one is faster than the first. `sample`
/// measures one of them, by position.
std::vector<RaceTimes> race(size_t count,
                            const std::function<double(size_t)> &sample);

/// As members of the worker's report: "rounds" and "times".
std::string describeRace(const std::vector<RaceTimes> &times);

/// Times a verified candidate and compares each timed launch with the verified
/// one. Before a launch, its operands change in place to those of another
/// trial, and its results are poisoned. If memory is short, operands change
/// between batches of launches only. For a kernel that is not repeatable, one
/// random launch and the last one of each batch are compared with another
/// launch.
class TimedKernel {
public:
  TimedKernel(const FactKernel &kernel, const Job &job,
              std::vector<VerifiedTrial> trials);

  /// Runs until the median is known to 2%, at most 100 times and for at most
  /// `seconds`, cache flushes included.
  Times measure(double seconds);

  /// The median of a few launches. `settle` goes before.
  double sample();

  /// The median of so many first launches.
  double tryOut(int runs);

  /// Prepares the regime of what takes so long. Candidates that are compared
  /// share it.
  void settle(double us);

  /// What the last batch was timed under: see describeLoad.
  std::string describeLoad() const;

private:
  /// The results of one timed launch.
  struct Kept {
    int run = 0;
    Buffers results;
  };

  bool changesOperands() const { return !originals.empty(); }
  size_t trialOf(int run) const {
    return static_cast<size_t>(changesOperands() ? batches + run : batches) %
           trials.size();
  }
  void fill(size_t trial, Buffers &buffers) const;
  bool prepareRun(int run, void *stream);
  void runBatch(int runs, bool coldCache, std::vector<double> &samples);
  void check(int runs, const uint64_t *sums);
  bool keepResults(int run, void *stream);
  void compareWithAnotherRun(const Kept &timed);
  [[noreturn]] void rejectWrong(size_t trial, const std::string &what) const;

  const Job &job;
  const std::vector<VerifiedTrial> trials;
  const std::vector<Tensor> operandTensors, resultTensors;
  /// The operands of each trial, to copy from; empty if memory is short.
  std::vector<Buffers> originals;
  std::vector<std::vector<uint64_t>> operandSums;
  /// The buffers that the kernel is bound to.
  Buffers operands, results;
  TestedKernel kernel;
  int batches = 0;
  const char *regime = "";
  double restUs = 0;
  measure::Load load;
  std::mt19937_64 random{job.seed};
  /// A random launch and the last one; without results if launches are
  /// repeatable.
  std::array<Kept, 2> kept;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_TIMING_H
