//===- Progress.h - How far a run is, for people ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_PROGRESS_H
#define FACT_TUNING_PROGRESS_H

#include "fact/Support/ProgressLine.h"
#include "fact/Tuning/Process.h"
#include <chrono>
#include <functional>
#include <string>

namespace fact {
namespace tuning {

/// What a run has found so far.
struct Progress {
  /// Candidates that have a verdict, and those that are to be tried.
  size_t tried = 0, planned = 0;
  /// Kernels of the program, and those of them that have a time.
  size_t kernels = 0, timed = 0;
  /// The launches of a call whose kernels have a time, at their best, and at
  /// the speed of light.
  double us = 0, solUs = 0;

  Progress &operator+=(const Progress &other);
};

/// The time until everything is built and measured, as long as commands take
/// what they took so far.
struct TimeLeft {
  double seconds = 0;
  /// Some kind of command has not ended yet, so that its time is unknown.
  bool atLeast = false;
};
TimeLeft estimateTimeLeft(const Progress &progress, const Workload &load);

/// "42 of 96 candidates, 3 compiling, 1 measuring, 2:10 left, best 123 us (61%
/// of the speed of light)".
std::string describe(const Progress &progress, const Workload &load);

/// Between 0 and 1: commands that have ended, of all that are known.
double findShareDone(const Progress &progress, const Workload &load);

/// Shows the progress of a scheduler while it runs, by a ProgressLine. Where
/// that writes nothing, prints a line each minute.
class ProgressDisplay : public Scheduler::Observer {
public:
  explicit ProgressDisplay(std::function<Progress()> progress);

  void wait(const Scheduler &scheduler) override;
  void clear() override { line.clear(); }

private:
  bool isFrequent() const { return line.hasPipe() || line.hasTerminal(); }

  std::function<Progress()> progress;
  ProgressLine line{/*isLent=*/false};
  std::chrono::steady_clock::time_point next;
};

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_PROGRESS_H
