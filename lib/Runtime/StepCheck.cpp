//===- StepCheck.cpp - One step against its reference ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepCheck.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include <algorithm>
#include <cmath>

namespace fact {
namespace runtime {

/// How much more than in its own verification a kernel's error may be: operands
/// in a program are not those that tolerances were chosen for.
static constexpr double slack = 8;
/// Operands beyond this are not compared with a reference of wider type.
static constexpr double largestOperand = 1e4;

//===----------------------------------------------------------------------===//
// Kernels on separate memory
//===----------------------------------------------------------------------===//

Memory allocateMemory(uint64_t bytes) {
  void *memory = device::allocate(bytes);
  if (!memory)
    deviceFailed("worker_error");
  return Memory(static_cast<char *>(memory),
                [](char *each) { device::release(each); });
}

std::vector<char> readMemory(const void *data, uint64_t bytes) {
  std::vector<char> copy(bytes);
  if (!device::copyToHost(copy.data(), data, bytes))
    deviceFailed("crash");
  return copy;
}

Runner::Runner(const FactKernel &kernel, Table<int64_t> sizes, uint32_t buffers,
               const char *status)
    : instance(kernel, sizes), status(status) {
  std::string wrong = instance.validate(buffers);
  if (!wrong.empty())
    reject(status, "the kernel " + wrong);
  workspace = allocateMemory(instance.workspaceBytes());
  packs = !instance.packedOperands().empty();
  if (packs)
    packed = allocateMemory(instance.packedBytes());
}

void Runner::run(std::vector<void *> buffers) {
  bool good = true;
  if (packs) {
    good = instance.pack(buffers.data(), packed.get(), nullptr);
    buffers[instance.kernel().packed_operand] = packed.get();
  }
  if (!good || !instance.bind(buffers.data(), workspace.get()) ||
      !instance.launch(nullptr) || !device::synchronize())
    deviceFailed(status);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {
/// The distance of one result from its reference.
struct Distance {
  uint64_t elements = 0, beyond = 0;
  double norm = 0;
};
} // namespace

bool StepCheck::isWithinRange(const StepSpec &step,
                              const std::vector<void *> &buffers) {
  const Job &job = jobs[step.kernel];
  for (size_t i = 0; i < job.operands.size(); ++i) {
    const Tensor &operand = job.operands[i];
    if (!isFloat(operand.type))
      continue;
    std::vector<char> bytes = readMemory(buffers[i], operand.bytes());
    for (uint64_t j = 0; j < operand.elements(); ++j)
      if (!(std::fabs(loadElement(bytes.data(), operand.type, j)) <=
            largestOperand))
        return false;
  }
  return true;
}

void StepCheck::compare(const StepSpec &step,
                        const std::vector<void *> &buffers) {
  const Job &job = jobs[step.kernel];
  std::vector<Tensor> tensors = job.referenceResults();
  std::unique_ptr<Runner> &reference = references[step.kernel];
  if (!reference)
    reference = std::make_unique<Runner>(
        loadKernel(job.reference, "reference_error"), Table<int64_t>{},
        static_cast<uint32_t>(step.operandCount + tensors.size()),
        "reference_error");
  std::vector<void *> wide(buffers.begin(),
                           buffers.begin() + step.operandCount);
  std::vector<Memory> expected;
  for (const Tensor &tensor : tensors) {
    expected.push_back(allocateMemory(tensor.bytes()));
    wide.push_back(expected.back().get());
  }
  reference->run(wide);
  for (size_t i = 0; i < job.results.size(); ++i)
    compareResult(step, i, buffers, expected, *reference);
}

/// `moved` is how far disturbed operands move the result; empty for not at all.
static Distance measureDistance(const std::vector<char> &found,
                                const std::vector<char> &expected,
                                const std::vector<char> &doubt,
                                const Result &result, double norm,
                                double element,
                                const std::vector<double> &moved) {
  Distance distance;
  distance.elements = result.elements();
  double squares = 0, movedSquares = 0, errors = 0;
  uint64_t count = 0;
  for (uint64_t i = 0; i < distance.elements; ++i) {
    double value = loadElement(expected.data(), result.referenceType, i);
    if (isFinite(value)) {
      squares += value * value;
      ++count;
    }
    if (!moved.empty() && isFinite(moved[i]))
      movedSquares += moved[i] * moved[i];
  }
  double scale = count ? 1 / static_cast<double>(count) : 0;
  double rms = std::sqrt(squares * scale);
  double movedRms = std::sqrt(movedSquares * scale);
  for (uint64_t i = 0; i < distance.elements; ++i) {
    double doubted =
        doubt.empty() ? 0 : loadElement(doubt.data(), ElementType::F32, i);
    if (isInfinite(doubted))
      continue;
    double value = loadElement(expected.data(), result.referenceType, i);
    double other = loadElement(found.data(), result.type, i);
    double by = moved.empty() ? 0 : moved[i];
    if (!isFloat(result.type)) {
      distance.beyond += value != other && by == 0;
      continue;
    }
    bool overflows =
        std::fabs(value) > 0.99 * largestFinite(result.type) || !isFinite(by);
    if (!isFinite(value) || overflows)
      continue;
    if (!isFinite(other)) {
      ++distance.beyond;
      continue;
    }
    double error = std::max(std::fabs(other - value) - doubted, 0.);
    if (error <= smallestPositive(result.type))
      continue;
    errors += error * error;
    distance.beyond += error > element * (std::fabs(value) + rms) +
                                   2 * slack * (by + movedRms);
  }
  double allowed =
      norm * std::sqrt(squares) + 2 * slack * std::sqrt(movedSquares);
  distance.norm = allowed > 0 ? std::sqrt(errors) / allowed : errors > 0;
  return distance;
}

/// How far one rounding of the operands moves a result of the reference. Errors
/// of this size are not the kernel's fault, as when close values are
/// subtracted. A kernel whose own tolerance is wider rounds more: products of
/// TF32 round their operands, and scores of attention may be thousands.
static std::vector<double> disturb(const Job &job, size_t result,
                                   const std::vector<void *> &buffers,
                                   Runner &reference) {
  std::vector<double> moved(job.results[result].elements());
  std::vector<char> exact;
  double least =
      std::max(job.results[result].tolerance.norm / (2 * slack), 0x1p-21);
  for (int round = 0; round < 3; ++round) {
    std::vector<Memory> memory;
    std::vector<void *> pointers;
    for (size_t i = 0; i < job.operands.size(); ++i) {
      const Tensor &operand = job.operands[i];
      std::vector<char> bytes = readMemory(buffers[i], operand.bytes());
      double epsilon = std::max(roundingOf(operand.type), least);
      for (uint64_t j = 0;
           round && isFloat(operand.type) && j < operand.elements(); ++j) {
        uint64_t bits =
            detail::mixBits(j + (static_cast<uint64_t>(round) << 40) + i);
        double sign = bits & 1 ? 1 : -1;
        storeElement(bytes.data(), operand.type, j,
                     loadElement(bytes.data(), operand.type, j) *
                         (1 + sign * epsilon));
      }
      memory.push_back(allocateMemory(operand.bytes()));
      if (!device::copyToDevice(memory.back().get(), bytes.data(),
                                bytes.size()))
        deviceFailed("worker_error");
      pointers.push_back(memory.back().get());
    }
    std::vector<Tensor> tensors = job.referenceResults();
    for (const Tensor &each : tensors) {
      memory.push_back(allocateMemory(each.bytes()));
      pointers.push_back(memory.back().get());
    }
    reference.run(pointers);
    const Result &tensor = job.results[result];
    std::vector<char> bytes = readMemory(pointers[job.operands.size() + result],
                                         tensors[result].bytes());
    if (round == 0)
      exact = bytes;
    for (uint64_t i = 0; i < tensor.elements(); ++i) {
      double by = std::fabs(loadElement(bytes.data(), tensor.referenceType, i) -
                            loadElement(exact.data(), tensor.referenceType, i));
      moved[i] = isFinite(by) ? std::max(moved[i], by) : by;
    }
  }
  return moved;
}

void StepCheck::compareResult(const StepSpec &step, size_t index,
                              const std::vector<void *> &buffers,
                              const std::vector<Memory> &expected,
                              Runner &reference) {
  const Job &job = jobs[step.kernel];
  const Result &result = job.results[index];
  std::vector<Tensor> tensors = job.referenceResults();
  std::vector<char> found =
      readMemory(buffers[step.operandCount + index], result.bytes());
  std::vector<char> wanted =
      readMemory(expected[index].get(), tensors[index].bytes());
  std::vector<char> doubt;
  if (result.undecided) {
    size_t position = job.doubtPosition(index);
    doubt = readMemory(expected[position].get(), tensors[position].bytes());
  }
  double norm = slack * result.tolerance.norm;
  double element = slack * result.tolerance.element;
  auto isWrong = [](const Distance &distance) {
    return distance.beyond > 0 || distance.norm > 1;
  };
  Distance distance =
      measureDistance(found, wanted, doubt, result, norm, element, {});
  if (isWrong(distance))
    distance = measureDistance(found, wanted, doubt, result, norm, element,
                               disturb(job, index, buffers, reference));
  if (isWrong(distance))
    reject("wrong", std::string("kernel '") +
                        program.kernels[step.kernel].name +
                        "' in the program, result " + std::to_string(index) +
                        ": " + std::to_string(distance.beyond) + " of " +
                        std::to_string(distance.elements) +
                        " elements differ from its reference on the same "
                        "operands");
}

} // namespace runtime
} // namespace fact
