//===- Timing.cpp - Timed launches whose results are checked --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Timing.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/dlpack/dlpack.h"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace fact {
namespace runtime {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TimedKernel::TimedKernel(const FactKernel &kernel, const Job &job,
                         std::vector<VerifiedTrial> verified)
    : job(job), trials(std::move(verified)),
      operandTensors(tensorsOf(job.operands)),
      resultTensors(tensorsOf(job.results)),
      operands(allocateBuffers(operandTensors, poison)),
      results(allocateBuffers(resultTensors, guardByte)),
      kernel(kernel, job.sizeTable(), job, job.results.size(), "crash") {
  uint64_t available = 0;
  if (!measure::availableBytes(available))
    deviceFailed("worker_error");
  // Half of the memory is left to other processes and to the cache flush.
  bool fits = footprintOf(operandTensors) * trials.size() <= available / 2;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (fits)
      originals.push_back(allocateBuffers(operandTensors, poison));
    Buffers &buffers = fits ? originals.back() : operands;
    fill(i, buffers);
    operandSums.push_back(checksums(operandTensors, buffers));
  }
  if (!job.repeatable)
    for (Kept &each : kept)
      each.results = allocateBuffers(resultTensors, guardByte);
  this->kernel.bind(operands, results);
}

void TimedKernel::fill(size_t trial, Buffers &buffers) const {
  // Normal trials do not need the domain.
  fillOperands(job, trials[trial].trial, /*domain=*/0, trials[trial].attempt,
               buffers);
}

static bool copyTensor(const GuardedBuffer &from, const GuardedBuffer &to,
                       const Tensor &tensor, void *stream) {
  device::StridedTensor source = {};
  source.data = from.data();
  source.elementBytes = bytesOf(tensor.type);
  source.rank = 1;
  source.shape[0] = static_cast<int64_t>(tensor.elements());
  source.strides[0] = 1;
  return device::copyStrided(to.data(), source, stream);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// Not timed: copies operands, packs what the model packs once, poisons
/// results.
bool TimedKernel::prepareRun(int run, void *stream) {
  bool good = true;
  if (changesOperands()) {
    const Buffers &from = originals[trialOf(run)];
    for (size_t i = 0; i < from.size(); ++i)
      good =
          good && copyTensor(*from[i], *operands[i], operandTensors[i], stream);
    kernel.packFixed(stream);
  }
  for (auto &buffer : results)
    good = good && buffer->enqueueFill(poison, stream);
  return good;
}

void TimedKernel::runBatch(int runs, bool coldCache,
                           std::vector<double> &samples) {
  if (!changesOperands())
    fill(trialOf(0), operands);
  kernel.prepareTimed();
  size_t count = resultTensors.size();
  uint64_t bytes = static_cast<uint64_t>(runs) * count * sizeof(uint64_t);
  DeviceMemory memory(bytes);
  uint64_t *sums = reinterpret_cast<uint64_t *>(memory.get());
  if (!device::fillBytes(sums, 0, bytes, nullptr) || !device::synchronize())
    deviceFailed("crash");
  kept[0].run =
      static_cast<int>(random() % static_cast<uint64_t>(std::max(1, runs - 1)));
  kept[1].run = runs - 1;

  measure::TimedRun timed;
  timed.coldCache = coldCache;
  timed.restUs = restUs;
  timed.load = &load;
  timed.prepare = [&](int run, void *stream) {
    return prepareRun(run, stream);
  };
  timed.launch = [&](int, void *stream) { return kernel.launchTimed(stream); };
  timed.finish = [&](int run, void *stream) {
    bool good = true;
    for (size_t i = 0; i < count; ++i)
      good = good && measure::addChecksum(
                         results[i]->data(), resultTensors[i].type,
                         resultTensors[i].elements(), resultTensors[i].spare,
                         sums + static_cast<size_t>(run) * count + i, stream);
    return good && keepResults(run, stream);
  };
  std::vector<uint64_t> found(static_cast<size_t>(runs) * count);
  if (!measure::time(runs, timed, samples) ||
      !device::copyToHost(found.data(), sums, bytes))
    deviceFailed("crash");
  check(runs, found.data());
  ++batches;
}

/// Not timed: keeps the results that are compared after the batch.
bool TimedKernel::keepResults(int run, void *stream) {
  bool good = true;
  for (Kept &each : kept)
    for (size_t i = 0; each.run == run && i < each.results.size(); ++i)
      good = good && copyTensor(*results[i], *each.results[i], resultTensors[i],
                                stream);
  return good;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void TimedKernel::rejectWrong(size_t trial, const std::string &what) const {
  reject("wrong", "timed launches, operands of " +
                      describeTrial(trials[trial].trial, job) + ": " + what);
}

void TimedKernel::check(int runs, const uint64_t *sums) {
  for (int run = 0; job.repeatable && run < runs; ++run)
    for (size_t i = 0; i < resultTensors.size(); ++i)
      if (*sums++ != trials[trialOf(run)].resultSums[i])
        rejectWrong(trialOf(run),
                    "launch " + std::to_string(run + 1) + " of batch " +
                        std::to_string(batches + 1) + ", result " +
                        std::to_string(i) +
                        ": differs from that of the verified launch");
  size_t last = trialOf(runs - 1);
  if (checksums(operandTensors, operands) != operandSums[last])
    rejectWrong(last, "wrote to an operand");
  for (const Buffers *buffers : {&operands, &results})
    for (const auto &buffer : *buffers)
      if (!buffer->intact())
        rejectWrong(last, "wrote outside a result");
  if (const char *what = kernel.strayWrite())
    rejectWrong(last, std::string("wrote outside ") + what);
  for (const Kept &each : kept)
    if (!job.repeatable)
      compareWithAnotherRun(each);
}

void TimedKernel::compareWithAnotherRun(const Kept &timed) {
  if (!prepareRun(timed.run, nullptr))
    deviceFailed("crash");
  for (size_t i = 0; i < results.size(); ++i)
    results[i]->fillAll(job.results[i].written ? poison : otherPoison);
  kernel.runOnce();
  for (size_t i = 0; i < results.size(); ++i) {
    const Result &result = job.results[i];
    Comparison comparison;
    if (!measure::compare(timed.results[i]->data(), result.type,
                          results[i]->data(), result.type, nullptr,
                          result.elements(), result.tolerance, comparison))
      deviceFailed("crash");
    if (comparison.beyond || comparison.otherClass)
      rejectWrong(trialOf(timed.run),
                  "launch " + std::to_string(timed.run + 1) + " of batch " +
                      std::to_string(batches + 1) + ", result " +
                      std::to_string(i) +
                      ": differs from that of another launch");
  }
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

Times summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  size_t count = samples.size();
  double half = 0.98 * std::sqrt(static_cast<double>(count));
  double middle = static_cast<double>(count) / 2;
  auto at = [&](double position) {
    double last = static_cast<double>(count - 1);
    return samples[static_cast<size_t>(
        std::min(last, std::max(0.0, std::floor(position))))];
  };
  double median = count % 2
                      ? samples[count / 2]
                      : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
  return {median, at(middle - half), at(middle + half), count};
}

const char *nameOfRegime(double us, bool sustained) {
  return us <= longUs ? "" : sustained ? "sustained" : "paced";
}

std::string describeLoad(const char *regime, const measure::Load &load) {
  std::string text;
  if (*regime)
    text += ", \"regime\": " + quoted(regime);
  if (load.megahertz > 0)
    text += ", \"mhz\": " + number(load.megahertz);
  if (load.watts > 0)
    text += ", \"watts\": " + number(load.watts);
  return text;
}

void warmUp(const std::function<void()> &run) {
  using Clock = std::chrono::steady_clock;
  for (Clock::time_point end = Clock::now() + std::chrono::milliseconds(500);
       Clock::now() < end;)
    run();
}

double TimedKernel::tryOut(int runs) {
  std::vector<double> samples;
  runBatch(runs, /*coldCache=*/true, samples);
  return summarize(samples).median;
}

void TimedKernel::settle(double us) {
  // A processor does not say what it runs at, and holds it.
  if (device::type() == kDLCPU)
    return;
  regime = nameOfRegime(us, job.sustained);
  std::vector<double> ignored;
  // A tenth of a second without a pause.
  int runs = std::clamp(static_cast<int>(1e5 / us), 2, 16);
  if (us > longUs && job.sustained)
    warmUp([&] { runBatch(runs, /*coldCache=*/false, ignored); });
  else if (us > longUs)
    restUs = std::min(us, mostRestUs);
}

std::string TimedKernel::describeLoad() const {
  return runtime::describeLoad(regime, load);
}

double TimedKernel::sample() {
  std::vector<double> samples;
  runBatch(3, /*coldCache=*/true, samples);
  return summarize(samples).median;
}

static constexpr size_t fewestRounds = 20, mostRounds = 60;

std::vector<RaceTimes> race(size_t count,
                            const std::function<double(size_t)> &sample) {
  std::vector<std::vector<double>> times(count), ratios(count);
  std::vector<RaceTimes> result(count);
  for (size_t round = 1; round <= mostRounds; ++round) {
    std::vector<double> samples(count);
    for (size_t i = 0; i < count; ++i) {
      size_t next = (round + i) % count;
      samples[next] = sample(next);
    }
    bool isDecided = true;
    for (size_t i = 0; i < count; ++i) {
      times[i].push_back(samples[i]);
      ratios[i].push_back(samples[i] / samples[0]);
      result[i] = {summarize(times[i]), summarize(ratios[i])};
      isDecided = isDecided && (i == 0 || result[i].ratio.low > 1 ||
                                result[i].ratio.high < 1);
    }
    if (isDecided && round >= fewestRounds)
      break;
  }
  return result;
}

std::string describeRace(const std::vector<RaceTimes> &times) {
  std::string text;
  for (const RaceTimes &each : times)
    text += (text.empty() ? "" : ", ") +
            ("{\"us\": " + number(each.time.median)) +
            ", \"us_low\": " + number(each.time.low) +
            ", \"us_high\": " + number(each.time.high) +
            ", \"ratio\": " + number(each.ratio.median) +
            ", \"ratio_low\": " + number(each.ratio.low) +
            ", \"ratio_high\": " + number(each.ratio.high) + "}";
  return ", \"rounds\": " + std::to_string(times.front().time.runs) +
         ", \"times\": [" + text + "]";
}

Times TimedKernel::measure(double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  // With nothing to choose between, the time is for the report only.
  int batch = seconds < 0.1 ? 3 : 9;
  settle(tryOut(batch / 3));
  seconds = std::max(seconds, 0.1);
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(seconds));
  for (;;) {
    runBatch(batch, /*coldCache=*/true, samples);
    Times times = summarize(samples);
    bool known = times.high - times.low <= 0.02 * times.median;
    if (!known && times.runs < 100 && Clock::now() <= end)
      continue;
    // Catches kernels that are right only for a while: more launches cost
    // little here.
    std::vector<double> ignored;
    measure::Load timedLoad = load;
    restUs = 0;
    while (samples.size() + ignored.size() < 128 && Clock::now() <= end)
      runBatch(16, /*coldCache=*/false, ignored);
    load = timedLoad;
    return times;
  }
}

} // namespace runtime
} // namespace fact
