//===- Progress.cpp - How far a run is, for people ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Progress.h"
#include "Search.h"
#include <algorithm>
#include <cstdio>

namespace fact {
namespace tuning {

using Clock = std::chrono::steady_clock;

Progress &Progress::operator+=(const Progress &other) {
  tried += other.tried;
  planned += other.planned;
  kernels += other.kernels;
  timed += other.timed;
  us += other.us;
  solUs += other.solUs;
  return *this;
}

Progress Tuner::getProgress() const {
  Progress progress;
  for (const auto &search : searches) {
    double best = 0;
    size_t tried = 0, triedAgain = 0;
    for (const std::optional<Attempt> &attempt : search->result.attempts) {
      tried += attempt.has_value();
      triedAgain +=
          search->spillsTried && attempt && attempt->status == "spills";
      if (attempt && attempt->status == "ok" && attempt->us > 0 &&
          (best == 0 || attempt->us < best))
        best = attempt->us;
    }
    // Without a reference, nothing more is tried.
    size_t pending = search->reference == Search::Broken ? 0 : search->pending;
    progress.tried += tried;
    progress.planned += tried + pending - std::min(pending, triedAgain);
    const Kernel &kernel = search->kernel();
    if (!isRequired(kernel))
      continue;
    ++progress.kernels;
    progress.timed += best > 0;
    auto number = static_cast<uint32_t>(&kernel - bundle.kernels.data());
    for (const Step &step : bundle.program)
      if (step.kernel == number && best > 0) {
        progress.us += best;
        progress.solUs += kernel.solUs;
      }
  }
  return progress;
}

/// Candidates without a verdict, each of which is measured if it compiles, and
/// measurements that wait for other reasons.
static size_t countMeasurementsLeft(const Progress &progress,
                                    const Workload &load) {
  return std::max(progress.planned - progress.tried, load.measurements.open());
}

TimeLeft estimateTimeLeft(const Progress &progress, const Workload &load) {
  TimeLeft left;
  auto estimate = [&](const Workload::Kind &kind, size_t open) {
    if (open == 0)
      return 0.0;
    if (kind.ended == 0) {
      left.atLeast = true;
      return 0.0;
    }
    return kind.seconds / static_cast<double>(kind.ended) *
           static_cast<double>(open);
  };
  double builds = estimate(load.builds, load.builds.open()) /
                  static_cast<double>(std::max(1u, load.jobs));
  double measurements =
      estimate(load.measurements, countMeasurementsLeft(progress, load));
  left.seconds = load.measureAlone ? builds + measurements
                                   : std::max(builds, measurements);
  return left;
}

double findShareDone(const Progress &progress, const Workload &load) {
  auto done = static_cast<double>(load.builds.ended + progress.tried);
  auto open = static_cast<double>(load.builds.open() +
                                  countMeasurementsLeft(progress, load));
  return done + open > 0 ? done / (done + open) : 0;
}

static std::string of(size_t part, size_t whole, const char *what) {
  return std::to_string(part) + " of " + std::to_string(whole) + " " + what;
}

std::string describe(const Progress &progress, const Workload &load) {
  // Before the search, the runtime is compiled.
  std::string text =
      progress.planned ? of(progress.tried, progress.planned, "candidates")
                       : of(load.builds.ended,
                            load.builds.ended + load.builds.open(), "objects");
  auto add = [&](const std::string &more) { text += ", " + more; };
  if (load.builds.running)
    add(std::to_string(load.builds.running) + " compiling");
  if (load.measurements.running)
    add(std::to_string(load.measurements.running) + " measuring");
  TimeLeft left = estimateTimeLeft(progress, load);
  if (left.seconds > 0)
    add((left.atLeast ? "more than " : "") + formatSeconds(left.seconds) +
        " left");
  if (progress.timed) {
    add("best " + format("%.4g us", progress.us));
    if (progress.timed < progress.kernels)
      text += " for " + of(progress.timed, progress.kernels, "kernels");
    if (progress.solUs > 0)
      text += format(" (%.1f%% of the speed of light)",
                     100 * progress.solUs / progress.us);
  }
  return text;
}

ProgressDisplay::ProgressDisplay(std::function<Progress()> progress)
    : progress(std::move(progress)), next(Clock::now()) {
  if (!isFrequent())
    next += std::chrono::minutes(1);
}

void ProgressDisplay::wait(const Scheduler &scheduler) {
  Clock::time_point now = Clock::now();
  if (now < next)
    return;
  next = now + (isFrequent() ? Clock::duration(std::chrono::milliseconds(250))
                             : Clock::duration(std::chrono::minutes(1)));
  Progress found = progress();
  Workload load = scheduler.getWorkload();
  std::string text = describe(found, load);
  if (isFrequent()) {
    line.show(findShareDone(found, load), text);
    return;
  }
  std::printf("progress  %s\n", text.c_str());
  std::fflush(stdout);
}

} // namespace tuning
} // namespace fact
