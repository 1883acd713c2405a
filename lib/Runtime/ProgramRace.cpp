//===- ProgramRace.cpp - Whole programs, timed in turn --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramRace.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include "fact/Runtime/dlpack/dlpack.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

namespace fact {
namespace runtime {

/// A sample is of as many calls as take this long, so that the clock and the
/// synchronization do not matter.
static constexpr double sampleUs = 2000;
static constexpr int mostCalls = 1000;

/// Microseconds per call.
static double timeCalls(LoadedModel &model, int calls,
                        measure::Load *load = nullptr) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    model.run();
  if (load)
    *load = measure::readLoad();
  if (!device::synchronize())
    deviceFailed("crash");
  std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - begin;
  return elapsed.count() / calls;
}

namespace {
/// Models of all racers over the same inputs and weights.
struct Starters {
  Starters(const std::vector<Racer> &racers,
           const std::vector<Argument> &inputs,
           const std::vector<Argument> &weights)
      : first(*racers.front().program), inputMemory(inputs.size()),
        weightMemory(weights.size()) {
    fillInputs(inputs);
    for (uint32_t i = 0; i < weights.size(); ++i)
      fillArgument(first.weights[i].tensor, weights[i], (1ull << 20) + i,
                   weightMemory[i]);
    for (const Racer &racer : racers)
      models.push_back(std::make_unique<LoadedModel>(
          *racer.library, *racer.program, inputMemory, weightMemory));
  }

  void fillInputs(const std::vector<Argument> &inputs) {
    for (uint32_t i = 0; i < inputs.size(); ++i)
      fillArgument(first.inputs[i], inputs[i], 1 + i, inputMemory[i]);
  }

  const Program &first;
  std::vector<Memory> inputMemory, weightMemory;
  std::vector<std::unique_ptr<LoadedModel>> models;
};
} // namespace

/// An argument of the same deviation with another mean, in deviations.
static Argument withMean(Argument argument, double mean) {
  if (argument.path.empty() && argument.fill.values == Fill::Values::Normal) {
    double scale = argument.fill.scale;
    argument.fill.values = Fill::Values::Uniform;
    argument.fill.low = (mean - std::sqrt(3.0)) * scale;
    argument.fill.high = (mean + std::sqrt(3.0)) * scale;
  }
  return argument;
}

/// The norm of the difference over that of what is expected.
static double distance(const TensorSpec &tensor, const Memory &expected,
                       const Memory &result) {
  Comparison comparison;
  if (!measure::compare(result.get(), tensor.type, expected.get(), tensor.type,
                        /*doubt=*/nullptr, tensor.elements(), Tolerance(),
                        comparison))
    deviceFailed("worker_error");
  return comparison.otherClass ? HUGE_VAL : comparison.normError();
}

std::vector<double> compareFarMeans(const std::vector<Racer> &racers,
                                    const std::vector<Argument> &inputs,
                                    const std::vector<Argument> &weights) {
  Starters starters(racers, inputs, weights);
  std::vector<double> distances;
  for (double mean : {0.0, 1.0, 10.0, 100.0}) {
    std::vector<Argument> shifted;
    for (const Argument &input : inputs)
      shifted.push_back(withMean(input, mean));
    starters.fillInputs(shifted);
    for (const auto &model : starters.models)
      model->run();
    if (!device::synchronize())
      deviceFailed("crash");
    double &largest = distances.emplace_back(0);
    for (uint32_t i = 0; i < starters.first.outputs.size; ++i) {
      const TensorSpec &tensor = starters.first.outputs[i];
      if (!isFloat(tensor.type))
        continue;
      const auto &models = starters.models;
      for (size_t j = 1; j < models.size(); ++j)
        largest = std::max(largest, distance(tensor, models.front()->outputs[i],
                                             models[j]->outputs[i]));
    }
  }
  return distances;
}

std::string racePrograms(const std::vector<Racer> &racers,
                         const std::vector<Argument> &inputs,
                         const std::vector<Argument> &weights, bool sustained) {
  Starters starters(racers, inputs, weights);
  auto &models = starters.models;
  size_t count = models.size();
  std::vector<int> calls(count);
  double longest = 0;
  for (size_t i = 0; i < count; ++i) {
    timeCalls(*models[i], 1);
    double us = std::max(timeCalls(*models[i], 2), 0.1);
    calls[i] = std::clamp(static_cast<int>(sampleUs / us), 1, mostCalls);
    longest = std::max(longest, us);
  }
  bool isHost = device::type() == kDLCPU;
  const char *regime = isHost ? "" : nameOfRegime(longest, sustained);
  bool rests = *regime && !sustained;
  if (*regime && sustained)
    warmUp([&] { timeCalls(*models.front(), calls.front()); });
  std::vector<RaceTimes> times = race(count, [&](size_t i) {
    if (rests)
      std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(
          std::min(longest * calls[i], mostRestUs)));
    return timeCalls(*models[i], calls[i]);
  });
  measure::Load load;
  if (*regime)
    timeCalls(*models.front(), calls.front(), &load);
  return describeRace(times) + describeLoad(regime, load);
}

} // namespace runtime
} // namespace fact
