//===- ProgramCheck.cpp - A composed program against references -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramCheck.h"
#include "StepCheck.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>

namespace fact {
namespace runtime {

namespace {

/// Seeds.
constexpr uint64_t theInputs = 1ull << 20, otherInputs = 2ull << 20,
                   theWeights = 3ull << 20;

//===----------------------------------------------------------------------===//
// Steps with separate memory
//===----------------------------------------------------------------------===//

class Checker {
public:
  Checker(const FactLibrary &library, const Program &program,
          const ProgramCheck &check)
      : library(library), program(program), check(check),
        stepCheck(program, check.jobs),
        begin(std::chrono::steady_clock::now()) {}

  uint64_t run();

private:
  void fillInputs(uint64_t seed);
  void loadConstants();
  void runSteps(bool compares);
  void runStep(const StepSpec &step, bool compares);
  std::vector<std::vector<char>> outputsOfSteps();
  std::vector<std::vector<char>> runLibrary();
  void expectSame(const std::vector<std::vector<char>> &found,
                  const std::vector<std::vector<char>> &expected);

  const FactLibrary &library;
  const Program &program;
  const ProgramCheck &check;
  StepCheck stepCheck;
  std::chrono::steady_clock::time_point begin;
  std::vector<Memory> inputs, weights, constants;
  /// Memory by whole value; empty before a value is written and after its last
  /// use.
  std::vector<Memory> values;
  std::map<uint32_t, std::unique_ptr<Runner>> kernels;
  std::vector<bool> compared;
  uint64_t comparedSteps = 0;
};

void Checker::fillInputs(uint64_t seed) {
  inputs.resize(program.inputs.size);
  for (uint32_t i = 0; i < program.inputs.size; ++i)
    fillArgument(program.inputs[i], check.inputs[i], seed + i, inputs[i]);
}

void Checker::loadConstants() {
  for (const ConstantSpec &constant : program.constants) {
    constants.push_back(allocateMemory(constant.bytes));
    if (!device::copyToDevice(constants.back().get(), constant.data,
                              constant.bytes))
      deviceFailed("worker_error");
  }
}

void Checker::runStep(const StepSpec &step, bool compares) {
  const Job &job = check.jobs[step.kernel];
  std::vector<void *> buffers;
  for (uint32_t i = 0; i < step.bufferCount; ++i) {
    uint32_t id = program.wholeOf(step.buffers[i]);
    const ValueSpec &value = program.values[id];
    bool isPart = id != step.buffers[i];
    if (i >= step.operandCount) {
      uint64_t bytes =
          isPart ? value.bytes : job.results[i - step.operandCount].bytes();
      // The steps that write parts share the memory of the whole.
      if (!isPart || !values[id]) {
        values[id] = allocateMemory(bytes);
        if (!device::fillBytes(values[id].get(), 0xff, bytes, nullptr))
          deviceFailed("worker_error");
      }
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
    buffers.push_back(values[id].get() +
                      (isPart ? program.values[step.buffers[i]].offset : 0));
  }
  std::unique_ptr<Runner> &kernel = kernels[step.kernel];
  const KernelSpec &spec = program.kernels[step.kernel];
  if (!kernel)
    kernel = std::make_unique<Runner>(*spec.kernel, spec.sizes,
                                      step.bufferCount, "crash");
  kernel->run(buffers);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  if (compares && (!compared[step.kernel] || elapsed.count() < check.seconds) &&
      stepCheck.isWithinRange(step, buffers)) {
    compared[step.kernel] = true;
    stepCheck.compare(step, buffers);
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
      last[program.wholeOf(program.program[i].buffers[j])] = i;
  for (uint32_t i = 0; i < program.program.size; ++i) {
    runStep(program.program[i], compares);
    for (uint32_t j = 0; j < program.program[i].bufferCount; ++j) {
      uint32_t id = program.wholeOf(program.program[i].buffers[j]);
      if (last[id] == i && program.values[id].kind == ValueKind::Workspace)
        values[id] = nullptr;
    }
  }
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

std::vector<std::vector<char>> Checker::outputsOfSteps() {
  std::vector<std::vector<char>> outputs(program.outputs.size);
  for (uint32_t id = 0; id < program.values.size; ++id)
    if (program.values[id].kind == ValueKind::Output && values[id])
      outputs[program.values[id].index] = readMemory(
          values[id].get(), program.outputs[program.values[id].index].bytes());
  return outputs;
}

std::vector<std::vector<char>> Checker::runLibrary() {
  LoadedModel model(library, program, inputs, weights);
  // Runs with other inputs in the same memory first: no trace of them may
  // remain.
  std::vector<std::vector<char>> outputs;
  for (uint64_t seed : {otherInputs, theInputs}) {
    fillInputs(seed);
    for (uint32_t i = 0; i < program.outputs.size; ++i)
      if (!device::fillBytes(model.outputs[i].get(), 0xff,
                             program.outputs[i].bytes(), nullptr))
        deviceFailed("worker_error");
    model.run();
    if (!device::synchronize())
      deviceFailed("crash");
  }
  for (uint32_t i = 0; i < program.outputs.size; ++i)
    outputs.push_back(
        readMemory(model.outputs[i].get(), program.outputs[i].bytes()));
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
             std::string("output '") + output.name +
                 "' of the library: " + std::to_string(different) + " of " +
                 std::to_string(output.elements()) +
                 " elements differ from what its steps compute one at a time "
                 "in separate memory; the memory plan or the binding of "
                 "arguments is wrong");
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
