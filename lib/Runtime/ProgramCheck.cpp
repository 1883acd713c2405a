//===- ProgramCheck.cpp - A composed program against references -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramCheck.h"
#include "Tensors.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

namespace fact {
namespace runtime {

namespace {

/// How much more than in its own verification a kernel's error may be: operands
/// in a program are not those that tolerances were chosen for.
constexpr double slack = 8;
/// Operands beyond this are not compared with a reference of wider type.
constexpr double largestOperand = 1e4;

/// Seeds.
constexpr uint64_t theInputs = 1ull << 20, otherInputs = 2ull << 20,
                   theWeights = 3ull << 20;

using Memory = std::shared_ptr<char>;

Memory allocate(uint64_t bytes) {
  void *memory = device::allocate(bytes);
  if (!memory)
    deviceFailed("worker_error");
  return Memory(static_cast<char *>(memory),
                [](char *each) { device::release(each); });
}

std::vector<char> read(const void *data, uint64_t bytes) {
  std::vector<char> copy(bytes);
  if (!device::copyToHost(copy.data(), data, bytes))
    deviceFailed("crash");
  return copy;
}

/// A kernel with its scratch memory.
class Runner {
public:
  Runner(const FactKernel &kernel, uint32_t buffers, const char *status)
      : instance(kernel), status(status) {
    std::string wrong = instance.validate(buffers);
    if (!wrong.empty())
      reject(status, "the kernel " + wrong);
    workspace = allocate(instance.workspaceBytes());
    packs = !instance.packedOperands().empty();
    if (packs)
      packed = allocate(kernel.packed_bytes);
  }

  void run(std::vector<void *> buffers) {
    bool good = true;
    if (packs) {
      good = instance.pack(buffers.data(), packed.get(), nullptr);
      buffers[instance.kernel().packed_operand] = packed.get();
    }
    if (!good || !instance.bind(buffers.data(), workspace.get()) ||
        !instance.launch(nullptr) || !device::synchronize())
      deviceFailed(status);
  }

private:
  KernelInstance instance;
  const char *status;
  Memory workspace, packed;
  bool packs = false;
};

/// The distance of one result from its reference.
struct Distance {
  uint64_t elements = 0, beyond = 0;
  double norm = 0;
};

//===----------------------------------------------------------------------===//
// Steps with separate memory
//===----------------------------------------------------------------------===//

class Checker {
public:
  Checker(const FactLibrary &library, const Program &program,
          const ProgramCheck &check)
      : library(library), program(program), check(check),
        begin(std::chrono::steady_clock::now()) {}

  uint64_t run();

private:
  void fillArgument(const TensorSpec &tensor, const Argument &argument,
                    uint64_t seed, Memory &memory);
  void fillInputs(uint64_t seed);
  void loadConstants();
  void runSteps(bool compares);
  void runStep(const StepSpec &step, bool compares);
  void compareStep(const StepSpec &step, const std::vector<void *> &buffers);
  void compareResult(const StepSpec &step, size_t result,
                     const std::vector<void *> &buffers,
                     const std::vector<Memory> &expected, Runner &reference);
  bool isWithinRange(const Job &job, const std::vector<void *> &buffers);
  std::vector<double> disturb(const Job &job, size_t result,
                              const std::vector<void *> &buffers,
                              Runner &reference);
  std::vector<std::vector<char>> outputsOfSteps();
  std::vector<std::vector<char>> runLibrary();
  void expectSame(const std::vector<std::vector<char>> &found,
                  const std::vector<std::vector<char>> &expected);

  const FactLibrary &library;
  const Program &program;
  const ProgramCheck &check;
  std::chrono::steady_clock::time_point begin;
  std::vector<Memory> inputs, weights, constants;
  /// Memory by value; empty before a value is written and after its last use.
  std::vector<Memory> values;
  std::map<uint32_t, std::unique_ptr<Runner>> kernels, references;
  std::vector<bool> compared;
  uint64_t comparedSteps = 0;
};

void Checker::fillArgument(const TensorSpec &tensor, const Argument &argument,
                           uint64_t seed, Memory &memory) {
  if (!memory)
    memory = allocate(tensor.bytes());
  if (argument.path.empty()) {
    if (!measure::fill(memory.get(), tensor.type, tensor.elements(),
                       argument.fill, seed))
      deviceFailed("worker_error");
    return;
  }
  std::ifstream file(argument.path, std::ios::binary);
  std::vector<char> bytes(tensor.bytes());
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    reject("worker_error", "cannot read " + argument.path);
  if (!device::copyToDevice(memory.get(), bytes.data(), bytes.size()))
    deviceFailed("worker_error");
}

void Checker::fillInputs(uint64_t seed) {
  inputs.resize(program.inputs.size);
  for (uint32_t i = 0; i < program.inputs.size; ++i)
    fillArgument(program.inputs[i], check.inputs[i], seed + i, inputs[i]);
}

void Checker::loadConstants() {
  for (const ConstantSpec &constant : program.constants) {
    constants.push_back(allocate(constant.bytes));
    if (!device::copyToDevice(constants.back().get(), constant.data,
                              constant.bytes))
      deviceFailed("worker_error");
  }
}

void Checker::runStep(const StepSpec &step, bool compares) {
  const Job &job = check.jobs[step.kernel];
  std::vector<void *> buffers;
  for (uint32_t i = 0; i < step.bufferCount; ++i) {
    uint32_t id = step.buffers[i];
    const ValueSpec &value = program.values[id];
    if (i >= step.operandCount) {
      const Tensor &result = job.results[i - step.operandCount];
      values[id] = allocate(result.bytes());
      if (!device::fillBytes(values[id].get(), 0xff, result.bytes(), nullptr))
        deviceFailed("worker_error");
    } else if (value.kind == ValueKind::Input)
      values[id] = inputs[value.index];
    else if (value.kind == ValueKind::Weight)
      values[id] = weights[value.index];
    else if (value.kind == ValueKind::Constant)
      values[id] = constants[value.index];
    else if (!values[id])
      reject("wrong", std::string("a step of kernel '") +
                          program.kernels[step.kernel].name + "' reads value " +
                          std::to_string(id) +
                          ", which no earlier step writes");
    buffers.push_back(values[id].get());
  }
  std::unique_ptr<Runner> &kernel = kernels[step.kernel];
  if (!kernel)
    kernel = std::make_unique<Runner>(*program.kernels[step.kernel].kernel,
                                      step.bufferCount, "crash");
  kernel->run(buffers);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  if (compares &&
      (!compared[step.kernel] || elapsed.count() < check.seconds) &&
      isWithinRange(job, buffers)) {
    compared[step.kernel] = true;
    compareStep(step, buffers);
    ++comparedSteps;
  }
}

void Checker::runSteps(bool compares) {
  compared.assign(program.kernels.size, false);
  values.assign(program.values.size, nullptr);
  for (const StepSpec &step : program.prepare)
    runStep(step, compares);
  // The last step that uses each value.
  std::map<uint32_t, uint32_t> last;
  for (uint32_t i = 0; i < program.program.size; ++i)
    for (uint32_t j = 0; j < program.program[i].bufferCount; ++j)
      last[program.program[i].buffers[j]] = i;
  for (uint32_t i = 0; i < program.program.size; ++i) {
    runStep(program.program[i], compares);
    for (uint32_t j = 0; j < program.program[i].bufferCount; ++j) {
      uint32_t id = program.program[i].buffers[j];
      if (last[id] == i && program.values[id].kind == ValueKind::Workspace)
        values[id] = nullptr;
    }
  }
}

//===----------------------------------------------------------------------===//
// One step against its reference
//===----------------------------------------------------------------------===//

/// Tolerances are for operands of moderate size: a wider reference overflows
/// later.
bool Checker::isWithinRange(const Job &job,
                            const std::vector<void *> &buffers) {
  for (size_t i = 0; i < job.operands.size(); ++i) {
    const Tensor &operand = job.operands[i];
    if (!isFloat(operand.type))
      continue;
    std::vector<char> bytes = read(buffers[i], operand.bytes());
    for (uint64_t j = 0; j < operand.elements(); ++j)
      if (!(std::fabs(loadElement(bytes.data(), operand.type, j)) <=
            largestOperand))
        return false;
  }
  return true;
}

void Checker::compareStep(const StepSpec &step,
                          const std::vector<void *> &buffers) {
  const Job &job = check.jobs[step.kernel];
  std::vector<Tensor> tensors = job.referenceResults();
  std::unique_ptr<Runner> &reference = references[step.kernel];
  if (!reference)
    reference = std::make_unique<Runner>(
        loadKernel(job.reference, "reference_error"),
        static_cast<uint32_t>(step.operandCount + tensors.size()),
        "reference_error");
  std::vector<void *> wide(buffers.begin(),
                           buffers.begin() + step.operandCount);
  std::vector<Memory> expected;
  for (const Tensor &tensor : tensors) {
    expected.push_back(allocate(tensor.bytes()));
    wide.push_back(expected.back().get());
  }
  reference->run(wide);
  for (size_t i = 0; i < job.results.size(); ++i)
    compareResult(step, i, buffers, expected, *reference);
}

/// `moved` is how far disturbed operands move the result; empty for not at all.
Distance measureDistance(const std::vector<char> &found,
                         const std::vector<char> &expected,
                         const std::vector<char> &doubt,
                         const Result &result, double norm, double element,
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
    distance.beyond +=
        error > element * (std::fabs(value) + rms) + 2 * slack * (by + movedRms);
  }
  double allowed = norm * std::sqrt(squares) +
                   2 * slack * std::sqrt(movedSquares);
  distance.norm = allowed > 0 ? std::sqrt(errors) / allowed : errors > 0;
  return distance;
}

/// How far one rounding of the operands moves a result of the reference. Errors
/// of this size are not the kernel's fault, as when close values are
/// subtracted.
std::vector<double> Checker::disturb(const Job &job, size_t result,
                                     const std::vector<void *> &buffers,
                                     Runner &reference) {
  std::vector<double> moved(job.results[result].elements());
  std::vector<char> exact;
  for (int round = 0; round < 3; ++round) {
    std::vector<Memory> memory;
    std::vector<void *> pointers;
    for (size_t i = 0; i < job.operands.size(); ++i) {
      const Tensor &operand = job.operands[i];
      std::vector<char> bytes = read(buffers[i], operand.bytes());
      double epsilon = std::max(roundingOf(operand.type), 0x1p-21);
      for (uint64_t j = 0; round && isFloat(operand.type) &&
                           j < operand.elements();
           ++j) {
        uint64_t bits =
            detail::mixBits(j + (static_cast<uint64_t>(round) << 40) + i);
        double sign = bits & 1 ? 1 : -1;
        storeElement(bytes.data(), operand.type, j,
                     loadElement(bytes.data(), operand.type, j) *
                         (1 + sign * epsilon));
      }
      memory.push_back(allocate(operand.bytes()));
      if (!device::copyToDevice(memory.back().get(), bytes.data(),
                                bytes.size()))
        deviceFailed("worker_error");
      pointers.push_back(memory.back().get());
    }
    std::vector<Tensor> tensors = job.referenceResults();
    for (const Tensor &each : tensors) {
      memory.push_back(allocate(each.bytes()));
      pointers.push_back(memory.back().get());
    }
    reference.run(pointers);
    const Result &tensor = job.results[result];
    std::vector<char> bytes =
        read(pointers[job.operands.size() + result], tensors[result].bytes());
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

void Checker::compareResult(const StepSpec &step, size_t index,
                            const std::vector<void *> &buffers,
                            const std::vector<Memory> &expected,
                            Runner &reference) {
  const Job &job = check.jobs[step.kernel];
  const Result &result = job.results[index];
  std::vector<Tensor> tensors = job.referenceResults();
  std::vector<char> found =
      read(buffers[step.operandCount + index], result.bytes());
  std::vector<char> wanted = read(expected[index].get(), tensors[index].bytes());
  std::vector<char> doubt;
  if (result.undecided) {
    size_t position = job.doubtPosition(index);
    doubt = read(expected[position].get(), tensors[position].bytes());
  }
  double norm = slack * result.tolerance.norm;
  double element = slack * result.tolerance.element;
  auto isWrong = [](const Distance &distance) {
    return distance.beyond > 0 || distance.norm > 1;
  };
  Distance distance =
      measureDistance(found, wanted, doubt, result, norm, element, {});
  if (isWrong(distance))
    distance =
        measureDistance(found, wanted, doubt, result, norm, element,
                        disturb(job, index, buffers, reference));
  if (isWrong(distance))
    reject("wrong", std::string("kernel '") +
                        program.kernels[step.kernel].name +
                        "' in the program, result " +
                        std::to_string(index) + ": " +
                        std::to_string(distance.beyond) + " of " +
                        std::to_string(distance.elements) +
                        " elements differ from its reference on the same "
                        "operands");
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

std::vector<std::vector<char>> Checker::outputsOfSteps() {
  std::vector<std::vector<char>> outputs(program.outputs.size);
  for (uint32_t id = 0; id < program.values.size; ++id)
    if (program.values[id].kind == ValueKind::Output && values[id])
      outputs[program.values[id].index] =
          read(values[id].get(),
               program.outputs[program.values[id].index].bytes());
  return outputs;
}

std::vector<std::vector<char>> Checker::runLibrary() {
  auto describe = [](const TensorSpec &tensor, const Memory &memory) {
    DLTensor result = {};
    result.data = memory.get();
    result.device = {static_cast<DLDeviceType>(device::type()),
                     device::currentOrdinal()};
    result.ndim = static_cast<int32_t>(tensor.rank);
    result.dtype = dataTypeOf(tensor.type);
    result.shape = const_cast<int64_t *>(tensor.shape);
    return result;
  };
  std::vector<DLTensor> tensors;
  std::vector<FactNamedTensor> named;
  tensors.reserve(program.weights.size);
  // Weights are bound by name, so their order may differ from the program's.
  for (uint32_t i = program.weights.size; i-- > 0;) {
    tensors.push_back(describe(program.weights[i].tensor, weights[i]));
    named.push_back({program.weights[i].tensor.name, &tensors.back()});
  }
  FactModel *model =
      library.create(named.data(), static_cast<int64_t>(named.size()));
  if (!model)
    reject("wrong", std::string("the library cannot create a model: ") +
                        library.last_error());
  std::vector<Memory> memory;
  std::vector<DLTensor> given, taken;
  std::vector<DLTensor *> givenPointers, takenPointers;
  given.reserve(program.inputs.size);
  taken.reserve(program.outputs.size);
  for (uint32_t i = 0; i < program.inputs.size; ++i) {
    given.push_back(describe(program.inputs[i], inputs[i]));
    givenPointers.push_back(&given.back());
  }
  for (uint32_t i = 0; i < program.outputs.size; ++i) {
    memory.push_back(allocate(program.outputs[i].bytes()));
    taken.push_back(describe(program.outputs[i], memory.back()));
    takenPointers.push_back(&taken.back());
  }
  // Runs with other inputs in the same memory first: no trace of them may
  // remain.
  std::vector<std::vector<char>> outputs;
  for (uint64_t seed : {otherInputs, theInputs}) {
    fillInputs(seed);
    for (uint32_t i = 0; i < program.outputs.size; ++i)
      if (!device::fillBytes(memory[i].get(), 0xff, program.outputs[i].bytes(),
                             nullptr))
        deviceFailed("worker_error");
    if (library.run(model, givenPointers.data(),
                    static_cast<int64_t>(givenPointers.size()),
                    takenPointers.data(),
                    static_cast<int64_t>(takenPointers.size()), nullptr) != 0)
      reject("wrong", std::string("the library cannot run: ") +
                          library.error(model));
    if (!device::synchronize())
      deviceFailed("crash");
  }
  for (uint32_t i = 0; i < program.outputs.size; ++i)
    outputs.push_back(read(memory[i].get(), program.outputs[i].bytes()));
  library.destroy(model);
  return outputs;
}

void Checker::expectSame(const std::vector<std::vector<char>> &found,
                         const std::vector<std::vector<char>> &expected) {
  for (uint32_t i = 0; i < program.outputs.size; ++i) {
    const TensorSpec &output = program.outputs[i];
    uint64_t different = 0;
    uint32_t bytes = bytesOf(output.type);
    for (uint64_t j = 0; j < output.elements() && !expected[i].empty(); ++j)
      different += std::memcmp(&found[i][j * bytes], &expected[i][j * bytes],
                               bytes) != 0;
    if (different)
      reject("wrong",
             std::string("output '") + output.name + "' of the library: " +
                 std::to_string(different) + " of " +
                 std::to_string(output.elements()) +
                 " elements differ from what its steps compute one at a time in "
                 "separate memory; the memory plan or the binding of arguments "
                 "is wrong");
  }
}

uint64_t Checker::run() {
  fillInputs(theInputs);
  weights.resize(program.weights.size);
  for (uint32_t i = 0; i < program.weights.size; ++i)
    fillArgument(program.weights[i].tensor, check.weights[i], theWeights + i,
                 weights[i]);
  loadConstants();
  runSteps(/*compares=*/true);
  std::vector<std::vector<char>> first = outputsOfSteps();
  uint64_t steps = comparedSteps;
  runSteps(/*compares=*/false);
  std::vector<std::vector<char>> second = outputsOfSteps();
  values.clear();
  std::vector<std::vector<char>> found = runLibrary();
  // The results of kernels that add in any order are not bitwise reproducible.
  if (first == second)
    expectSame(found, first);
  return steps;
}

} // namespace

uint64_t checkProgram(const FactLibrary &library, const Program &program,
                      const ProgramCheck &check) {
  return Checker(library, program, check).run();
}

} // namespace runtime
} // namespace fact
