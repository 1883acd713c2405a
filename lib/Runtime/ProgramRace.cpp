//===- ProgramRace.cpp - Whole programs, timed in turn --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramRace.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include <algorithm>
#include <chrono>
#include <memory>

namespace fact {
namespace runtime {

/// A sample is of as many calls as take this long, so that the clock and the
/// synchronization do not matter.
static constexpr double sampleUs = 2000;
static constexpr int mostCalls = 1000;

/// Microseconds per call.
static double timeCalls(LoadedModel &model, int calls) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    model.run();
  if (!device::synchronize())
    deviceFailed("crash");
  std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - begin;
  return elapsed.count() / calls;
}

std::vector<RaceTimes> racePrograms(const std::vector<Racer> &racers,
                                    const std::vector<Argument> &inputs,
                                    const std::vector<Argument> &weights) {
  const Program &first = *racers.front().program;
  std::vector<Memory> inputMemory(inputs.size()), weightMemory(weights.size());
  for (uint32_t i = 0; i < inputs.size(); ++i)
    fillArgument(first.inputs[i], inputs[i], 1 + i, inputMemory[i]);
  for (uint32_t i = 0; i < weights.size(); ++i)
    fillArgument(first.weights[i].tensor, weights[i], (1ull << 20) + i,
                 weightMemory[i]);
  std::vector<std::unique_ptr<LoadedModel>> models;
  for (const Racer &racer : racers)
    models.push_back(std::make_unique<LoadedModel>(
        *racer.library, *racer.program, inputMemory, weightMemory));

  size_t count = models.size();
  std::vector<int> calls(count);
  for (size_t i = 0; i < count; ++i) {
    timeCalls(*models[i], 1);
    double us = std::max(timeCalls(*models[i], 2), 0.1);
    calls[i] = std::clamp(static_cast<int>(sampleUs / us), 1, mostCalls);
  }
  return race(count, [&](size_t i) { return timeCalls(*models[i], calls[i]); });
}

} // namespace runtime
} // namespace fact
