//===- Model.cpp - One instance of a compiled model -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Model.h"
#include "Predecessors.h"
#include "Tensors.h"
#include "fact/Runtime/Text.h"
#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace fact {
namespace runtime {

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static thread_local std::string theLastFailure;

int fail(std::string message) {
  theLastFailure = std::move(message);
  return 1;
}

const std::string &lastFailure() { return theLastFailure; }

int Model::failOnDevice() {
  return fail(std::string(program.name) + ": " + device::lastError());
}

int Model::failOn(const char *kind, const TensorSpec &tensor,
                  const std::string &problem) {
  return fail(std::string(program.name) + ": " + kind + " '" + tensor.name +
              "' " + problem);
}

int Model::failWith(const std::vector<std::string> &problems,
                    const std::string &source) {
  if (problems.empty())
    return 0;
  std::string message = std::string(program.name) + ": " +
                        std::to_string(problems.size()) +
                        (problems.size() == 1 ? " problem" : " problems") +
                        " with the weights" + source;
  for (const std::string &problem : problems)
    message += "\n  " + escapeControls(problem);
  return fail(message);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

char *Model::addressOf(uint32_t value) const {
  const ValueSpec &spec = program.values[value];
  switch (spec.kind) {
  case ValueKind::Input:
    return input(spec.index);
  case ValueKind::Weight:
    return weights.data[spec.index];
  case ValueKind::Constant:
    return constants[spec.index].data();
  case ValueKind::Prepared:
    return weights.prepared.data() + spec.offset;
  case ValueKind::Workspace:
    return workspace.data() + spec.offset;
  case ValueKind::Output:
    return output(spec.index);
  case ValueKind::Part:
    return addressOf(spec.index) + spec.offset;
  }
  return nullptr;
}

/// Initializes everything that does not depend on weights.
int Model::initialize() {
  bool allocated =
      workspace.allocate(program.workspaceBytes) &&
      kernelWorkspace.allocate(plan.kernelWorkspace) &&
      packScratch.allocate(plan.packScratch) &&
      sumScratch.allocate(plan.consumedWeights.size() * sizeof(uint64_t));
  if (!lastRun)
    lastRun = device::createEvent();
  allocated = allocated && lastRun;
  for (const ConstantSpec &constant : program.constants) {
    constants.emplace_back();
    allocated = allocated && constants.back().allocate(constant.bytes) &&
                device::copyToDevice(constants.back().data(), constant.data,
                                     constant.bytes);
  }
  if (!allocated)
    return failOnDevice();
  inputCopies.resize(program.inputs.size);
  arguments.resize(program.inputs.size + program.outputs.size);
  for (const TensorSpec &input : program.inputs)
    inputBytes.push_back(input.bytes());
  for (const TensorSpec &output : program.outputs)
    outputBytes.push_back(output.bytes());
  sharesMemory =
      program.workspaceBytes || plan.kernelWorkspace || plan.packScratch;
  if (int code = addSteps(program.prepare, /*atLoad=*/true, prepareSteps))
    return code;
  if (int code = addSteps(program.program, /*atLoad=*/false, programSteps))
    return code;
  initializeRecordings();
  return 0;
}

void Model::initializeRecordings() {
  std::vector<std::vector<uint32_t>> uses(arguments.size());
  for (uint32_t step = 0; step < program.program.size; ++step) {
    const StepSpec &spec = program.program[step];
    for (uint32_t i = 0; i < spec.bufferCount; ++i) {
      const ValueSpec &value = program.values[program.wholeOf(spec.buffers[i])];
      if (value.kind == ValueKind::Input)
        uses[value.index].push_back(step);
      if (value.kind == ValueKind::Output)
        uses[program.inputs.size + value.index].push_back(step);
    }
  }
  recordings.initialize(findPredecessors(program, plan), std::move(uses));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

int Model::addSteps(const Table<StepSpec> &specs, bool atLoad,
                    std::vector<Step> &steps) {
  steps.reserve(specs.size);
  for (const StepSpec &spec : specs) {
    const KernelSpec &kernel = program.kernels[spec.kernel];
    steps.emplace_back(spec, kernel);
    Step &step = steps.back();
    std::string wrong = step.instance.validate(spec.bufferCount);
    if (wrong.empty())
      wrong = step.instance.adopt(kernel.choice.data, kernel.choice.size);
    if (!wrong.empty())
      return fail(std::string("kernel '") + kernel.name + "' " + wrong);
    step.packing = packingOf(program, spec, atLoad);
    if (!atLoad)
      step.scratch = plan.scratch[steps.size() - 1].offset;
    if (step.packing.when == Packing::Once)
      step.slot = plan.slots.at({spec.kernel, step.packing.values});
  }
  return 0;
}

bool Model::launch(Step &step, void *stream) {
  const FactKernel &kernel = step.instance.kernel();
  for (uint32_t i = 0; i < step.spec->bufferCount; ++i)
    step.buffers[i] = addressOf(step.spec->buffers[i]);
  if (step.packing.when == Packing::EachRun) {
    if (!step.instance.pack(step.buffers.data(), packScratch.data(), stream))
      return false;
    step.buffers[kernel.packed_operand] = packScratch.data();
  } else if (step.packing.when == Packing::Once)
    step.buffers[kernel.packed_operand] = weights.packed[step.slot].data();
  return step.instance.bind(step.buffers.data(),
                            kernelWorkspace.data() + step.scratch) &&
         step.instance.launch(stream);
}

int Model::runSteps(std::vector<Step> &steps, void *stream, Profile *profile) {
  for (uint32_t number = 0; number < steps.size(); ++number) {
    Step &step = steps[number];
    if (profile && device::synchronize())
      profile->begin();
    if (!launch(step, stream))
      return fail(std::string(program.name) + ": kernel '" +
                  program.kernels[step.spec->kernel].name + "' (" +
                  program.kernels[step.spec->kernel].schedule +
                  "): " + device::lastError());
    if (profile && device::synchronize())
      profile->end(number);
  }
  return 0;
}

int Model::runProgram(void *stream, bool captured) {
  const char *obstacle = captured ? "captured" : profile ? "profiled" : "";
  auto launchStep = [this](uint32_t step, void *on) {
    return launch(programSteps[step], on);
  };
  if (recordings.replay(arguments, obstacle, launchStep, stream))
    return 0;
  return runSteps(programSteps, stream, profile.get());
}

int Model::useGraphs(int setting) {
  if (setting != FACT_GRAPHS_OFF && setting != FACT_GRAPHS_ON &&
      setting != FACT_GRAPHS_AUTOMATIC)
    return fail(std::string(program.name) + ": unknown setting of graphs " +
                std::to_string(setting) +
                "; expected 0 (off), 1 (on) or 2 (automatic)");
  recordings.use(setting);
  return 0;
}

int Model::graphInfo(FactGraphInfo *info) const {
  if (!info)
    return fail(std::string(program.name) + ": the graph info is null");
  *info = recordings.info();
  return 0;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Computes all that depends on weights alone. Synchronizes the device: the
/// caller may have written the weights on any stream, and an earlier run may
/// still read the old ones.
int Model::prepare() {
  if (!device::synchronize())
    return failOnDevice();
  if (!weights.prepared.allocate(program.preparedBytes))
    return failOnDevice();
  if (int code = sumWeights(nullptr, weights.sums))
    return code;
  if (int code = runSteps(prepareSteps, nullptr))
    return code;
  weights.packed.resize(plan.slotBytes.size());
  for (Step &step : programSteps) {
    if (step.packing.when != Packing::Once || weights.packed[step.slot].data())
      continue;
    for (uint32_t i = 0; i < step.spec->bufferCount; ++i)
      step.buffers[i] = addressOf(step.spec->buffers[i]);
    Buffer &packed = weights.packed[step.slot];
    if (!packed.allocate(plan.slotBytes[step.slot]) ||
        !step.instance.pack(step.buffers.data(), packed.data(), nullptr))
      return failOnDevice();
  }
  return device::synchronize() ? 0 : failOnDevice();
}

/// Prepares `next`, and adopts it only if that succeeds.
int Model::adopt(Weights next) {
  struct Swap {
    Swap(Weights &a, Weights &b) : a(a), b(b) { std::swap(a, b); }
    ~Swap() {
      if (undo)
        std::swap(a, b);
    }
    Weights &a, &b;
    bool undo = true;
  } swap(weights, next);
  int code = prepare();
  swap.undo = code != 0;
  if (code != 0)
    return code;
  std::vector<Range> ranges;
  for (uint32_t i = 0; i < program.weights.size; ++i)
    ranges.push_back(memoryOfWeight(i));
  for (uint32_t i = 0; i < program.constants.size; ++i)
    ranges.emplace_back(constants[i].data(), program.constants[i].bytes);
  fixedMemory = Ranges(std::move(ranges));
  recordings.invalidate();
  return 0;
}

Range Model::memoryOfWeight(uint32_t index) const {
  return {weights.data[index], program.weights[index].tensor.bytes()};
}

/// Whether the model reads this weight at this address already, and nothing was
/// computed from its memory.
bool Model::isReadInPlace(const FactNamedTensor &weight) const {
  uint32_t index = 0;
  while (std::strcmp(program.weights[index].tensor.name, weight.name) != 0)
    ++index;
  if (weights.data[index] != dataOf(*weight.tensor))
    return false;
  return std::none_of(plan.consumedWeights.begin(), plan.consumedWeights.end(),
                      [&](uint32_t consumed) {
                        return consumed == index ||
                               memoryOfWeight(consumed).overlaps(
                                   memoryOfWeight(index));
                      });
}

int Model::sumWeights(void *stream, std::vector<uint64_t> &sums) {
  std::vector<device::Region> regions;
  for (uint32_t index : plan.consumedWeights)
    regions.push_back(
        {weights.data[index], program.weights[index].tensor.bytes()});
  return device::checksums(regions, sumScratch.data(), stream, sums)
             ? 0
             : failOnDevice();
}

/// Recomputes what depends on weights that have changed in place.
int Model::refresh(void *stream) {
  if (plan.consumedWeights.empty())
    return 0;
  std::vector<uint64_t> sums;
  if (int code = sumWeights(stream, sums))
    return code;
  if (sums == weights.sums)
    return 0;
  std::vector<std::string> problems;
  for (uint32_t index : plan.consumedWeights) {
    const WeightSpec &weight = program.weights[index];
    std::string wrong = checkBakedValue(weight, weights.data[index]);
    if (!wrong.empty())
      problems.push_back("'" + std::string(weight.tensor.name) + "' " + wrong);
  }
  if (int code = failWith(problems, ""))
    return code;
  return adopt(copyOfWeights());
}

int Model::watchWeights(bool on) {
  watching = on;
  return 0;
}

/// The same weights, with nothing prepared from them yet.
Weights Model::copyOfWeights() const {
  Weights copy;
  copy.data = weights.data;
  copy.owners = weights.owners;
  copy.data.resize(program.weights.size);
  copy.owners.resize(program.weights.size);
  return copy;
}

int Model::create(const FactNamedTensor *tensors, int64_t count) {
  // The model runs on the device of its weights.
  ordinal = device::currentOrdinal();
  if (ordinal < 0)
    return failOnDevice();
  for (int64_t i = 0; tensors && i < count; ++i)
    if (tensors[i].tensor &&
        static_cast<int32_t>(tensors[i].tensor->device.device_type) ==
            device::type()) {
      ordinal = tensors[i].tensor->device.device_id;
      break;
    }
  DeviceScope scope(ordinal);
  if (!scope)
    return failOnDevice();
  Weights next = copyOfWeights();
  if (int code = failWith(takeTensors(program, ordinal, tensors, count,
                                      /*needAll=*/true, next),
                          ""))
    return code;
  if (int code = initialize())
    return code;
  return adopt(std::move(next));
}

int Model::load(const char *path) {
  if (!path)
    return fail(std::string(program.name) + ": the path is null");
  ordinal = device::currentOrdinal();
  if (ordinal < 0)
    return failOnDevice();
  Weights next = copyOfWeights();
  if (int code = failWith(takeFile(program, openSafetensors(path),
                                   /*needAll=*/true, next),
                          std::string(" in '") + path + "'"))
    return code;
  if (int code = initialize())
    return code;
  return adopt(std::move(next));
}

int Model::setWeights(const FactNamedTensor *tensors, int64_t count) {
  DeviceScope scope(ordinal);
  if (!scope)
    return failOnDevice();
  Weights next = copyOfWeights();
  if (int code = failWith(takeTensors(program, ordinal, tensors, count,
                                      /*needAll=*/false, next),
                          ""))
    return code;
  // Kernels see the new values as they are, so there is nothing to wait for.
  if (count > 0 &&
      std::all_of(tensors, tensors + count, [&](const FactNamedTensor &weight) {
        return isReadInPlace(weight);
      }))
    return 0;
  return adopt(std::move(next));
}

int Model::loadWeights(const char *path) {
  if (!path)
    return fail(std::string(program.name) + ": the path is null");
  DeviceScope scope(ordinal);
  if (!scope)
    return failOnDevice();
  Weights next = copyOfWeights();
  if (int code = failWith(takeFile(program, openSafetensors(path),
                                   /*needAll=*/false, next),
                          std::string(" in '") + path + "'"))
    return code;
  return adopt(std::move(next));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

int Model::takeInput(uint32_t index, const DLTensor &tensor, void *stream) {
  const TensorSpec &expected = program.inputs[index];
  std::string wrong = mismatch(tensor, expected, ordinal);
  if (!wrong.empty()) {
    if (tensor.shape && !hasShape(tensor, expected))
      wrong += ", since a library is for the sizes that it was compiled with";
    return failOn("input", expected, wrong);
  }
  if (isRowMajor(tensor) && isAligned(dataOf(tensor), expected.type)) {
    input(index) = dataOf(tensor);
    return 0;
  }
  if (expected.rank > device::maximumRank)
    return failOn("input", expected,
                  "is not row-major and has a rank above " +
                      std::to_string(device::maximumRank));
  device::StridedTensor source;
  source.data = dataOf(tensor);
  source.elementBytes = bytesOf(expected.type);
  if (reinterpret_cast<uintptr_t>(source.data) % source.elementBytes != 0)
    return failOn("input", expected,
                  "does not begin at a multiple of its element size");
  source.rank = expected.rank;
  int64_t rowMajor = 1;
  for (uint32_t i = expected.rank; i-- > 0;) {
    source.shape[i] = expected.shape[i];
    source.strides[i] = tensor.strides ? tensor.strides[i] : rowMajor;
    rowMajor *= expected.shape[i];
  }
  sharesMemory = true;
  Buffer &copy = inputCopies[index];
  if (!copy.allocate(expected.bytes()) ||
      !device::copyStrided(copy.data(), source, stream))
    return failOn("input", expected,
                  std::string("could not be copied to row-major order: ") +
                      device::lastError());
  input(index) = copy.data();
  return 0;
}

int Model::takeOutput(uint32_t index, const DLTensor &tensor) {
  const TensorSpec &expected = program.outputs[index];
  std::string wrong = mismatch(tensor, expected, ordinal);
  if (!wrong.empty())
    return failOn("output", expected, wrong);
  if (!isRowMajor(tensor))
    return failOn("output", expected,
                  "is not row-major (strides " +
                      describeShape(tensor.strides, tensor.ndim) + ")");
  if (!isAligned(dataOf(tensor), expected.type))
    return failOn(
        "output", expected,
        "does not begin at a multiple of " +
            std::to_string(device::requiredAlignment(bytesOf(expected.type))) +
            " bytes");
  output(index) = dataOf(tensor);
  std::string overlapped = findOverlap(index);
  return overlapped.empty()
             ? 0
             : failOn("output", expected, "overlaps " + overlapped);
}

/// The name of what an output overlaps in memory, or "". Kernels write results
/// while they read inputs and weights and write other results.
std::string Model::findOverlap(uint32_t index) const {
  Range range(output(index), outputBytes[index]);
  for (uint32_t i = 0; i < program.inputs.size; ++i)
    if (range.overlaps({input(i), inputBytes[i]}))
      return std::string("input '") + program.inputs[i].name + "'";
  for (uint32_t i = 0; i < index; ++i)
    if (range.overlaps({output(i), outputBytes[i]}))
      return std::string("output '") + program.outputs[i].name + "'";
  if (!fixedMemory.overlap(range))
    return "";
  for (uint32_t i = 0; i < program.weights.size; ++i)
    if (range.overlaps(memoryOfWeight(i)))
      return std::string("weight '") + program.weights[i].tensor.name + "'";
  for (uint32_t i = 0; i < program.constants.size; ++i)
    if (range.overlaps({constants[i].data(), program.constants[i].bytes}))
      return "constant " + std::to_string(i);
  return "";
}

int Model::runInOrder(DLTensor *const *inputTensors,
                      DLTensor *const *outputTensors, void *stream,
                      bool captured) {
  // During the capture of a graph nothing can be read.
  if (watching && !captured)
    if (int code = refresh(stream))
      return code;
  for (uint32_t i = 0; i < program.inputs.size; ++i)
    if (int code = takeInput(i, *inputTensors[i], stream))
      return code;
  for (uint32_t i = 0; i < program.outputs.size; ++i)
    if (int code = takeOutput(i, *outputTensors[i]))
      return code;
  return runProgram(stream, captured);
}

int Model::run(DLTensor *const *inputTensors, int64_t inputCount,
               DLTensor *const *outputTensors, int64_t outputCount,
               void *stream) {
  if (inputCount != program.inputs.size || outputCount != program.outputs.size)
    return fail(std::string(program.name) + ": got " +
                std::to_string(inputCount) + " inputs and " +
                std::to_string(outputCount) + " outputs; expected " +
                std::to_string(program.inputs.size) + " and " +
                std::to_string(program.outputs.size));
  for (int64_t i = 0; i < inputCount; ++i)
    if (!inputTensors || !inputTensors[i])
      return fail(std::string(program.name) + ": input '" +
                  program.inputs[i].name + "' is null");
  for (int64_t i = 0; i < outputCount; ++i)
    if (!outputTensors || !outputTensors[i])
      return fail(std::string(program.name) + ": output '" +
                  program.outputs[i].name + "' is null");
  DeviceScope scope(ordinal);
  if (!scope)
    return failOnDevice();
  // The last run may be on another stream and still use the same memory. A
  // captured graph is ordered by its launcher; its events mean nothing outside
  // of it.
  bool captured = device::isCapturing(stream);
  if (sharesMemory && !captured && !device::waitForEvent(lastRun, stream))
    return failOnDevice();
  int code = runInOrder(inputTensors, outputTensors, stream, captured);
  // Recorded after a failure too: some kernels may have been launched. Runs
  // begin to share memory with the first copy of an input.
  if (sharesMemory && !captured && !device::recordEvent(lastRun, stream) &&
      code == 0)
    return failOnDevice();
  return code;
}

} // namespace runtime
} // namespace fact
