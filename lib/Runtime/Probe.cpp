//===- Probe.cpp - Measures the ceilings of a machine ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of its own, which fact-tune --probe builds and runs:
//
//   probe SECONDS BYTES
//
// Each load is measured in two regimes. Cold: short runs after a pause, of
// which the fastest counts. Sustained: runs without pauses for SECONDS, of
// which the second half counts, when clocks have fallen to what power and heat
// allow.
//
//===----------------------------------------------------------------------===//

#include "Probe.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include <algorithm>
#include <cstdlib>
#include <thread>

namespace fact {
namespace runtime {
namespace probe {
namespace {

/// Of one timed run: long enough for the clock, short enough to stay cold.
constexpr double runSeconds = 4e-3;
constexpr std::chrono::milliseconds pause(40);
constexpr int coldRuns = 6;

double runOrFail(const Load &load, int64_t rounds) {
  double seconds = load.run(rounds);
  if (seconds < 0)
    deviceFailed("crash");
  return std::max(seconds, 1e-9);
}

/// How many rounds take about `runSeconds`.
int64_t countRounds(const Load &load) {
  int64_t rounds = 1;
  while (true) {
    double seconds = runOrFail(load, rounds);
    if (seconds >= runSeconds / 4 || rounds > int64_t(1) << 40)
      return std::max<int64_t>(
          1, static_cast<int64_t>(static_cast<double>(rounds) * runSeconds /
                                  seconds));
    rounds *= 4;
  }
}

/// Work per second.
double measureCold(const Load &load, int64_t rounds) {
  double best = 0;
  for (int i = 0; i < coldRuns; ++i) {
    std::this_thread::sleep_for(pause);
    best = std::max(best, load.work * static_cast<double>(rounds) /
                              runOrFail(load, rounds));
  }
  return best;
}

double measureSustained(const Load &load, int64_t rounds, double budget) {
  std::vector<double> runs;
  for (double spent = 0; spent < budget || runs.size() < 4;)
    spent += runs.emplace_back(runOrFail(load, rounds));
  double seconds = 0;
  size_t first = runs.size() / 2;
  for (size_t i = first; i < runs.size(); ++i)
    seconds += runs[i];
  return load.work * static_cast<double>(rounds) *
         static_cast<double>(runs.size() - first) / seconds;
}

[[noreturn]] void measureAll(double seconds, uint64_t bytes) {
  std::string text;
  for (const Load &load : getLoads(bytes)) {
    reportPhase(load.figures.front().c_str());
    if (std::string wrong = load.verify(); !wrong.empty())
      reject("wrong_result", load.figures.front() + ": " + wrong);
    int64_t rounds = countRounds(load);
    double cold = measureCold(load, rounds);
    double sustained = measureSustained(load, rounds, seconds);
    for (const std::string &figure : load.figures)
      text += (text.empty() ? "" : ", ") + std::string("{\"figure\": ") +
              quoted(figure) +
              ", \"threads\": " + std::to_string(load.threads) +
              ", \"cold\": " + number(cold) +
              ", \"sustained\": " + number(sustained) + "}";
  }
  finish("ok", ", \"launch_seconds\": " + number(measureLaunch()) +
                   ", \"ceilings\": [" + text + "]");
}

} // namespace
} // namespace probe
} // namespace runtime
} // namespace fact

using namespace fact::runtime;

int main(int argc, char **argv) {
  openReport();
  if (argc != 3)
    reject("worker_error", "usage: probe SECONDS BYTES");
  try {
    probe::measureAll(std::atof(argv[1]), std::strtoull(argv[2], nullptr, 10));
  } catch (const std::bad_alloc &) {
    reject("out_of_memory", "out of memory in the probe");
  }
}
