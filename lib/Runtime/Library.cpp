//===- Library.cpp - The C interface over a program's tables --------------===//
//
// Implements Library.h for the `theProgram` that the generated library.cpp
// defines. One file for every target: what differs is behind Device.h.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Library.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Program.h"
#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace fact::runtime;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static thread_local std::string lastFailure;

static int fail(std::string message) {
  lastFailure = std::move(message);
  return 1;
}

static std::string describeShape(const int64_t *shape, int64_t rank) {
  std::string text = "[";
  for (int64_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

static std::string describeType(DLDataType type) {
  const char *code = "type";
  switch (type.code) {
  case kDLInt:
    code = "i";
    break;
  case kDLUInt:
    code = "u";
    break;
  case kDLFloat:
    code = "f";
    break;
  case kDLBfloat:
    code = "bf";
    break;
  case kDLComplex:
    code = "complex";
    break;
  case kDLBool:
    return "i1";
  }
  std::string text = code + std::to_string(type.bits);
  return type.lanes == 1 ? text : text + "x" + std::to_string(type.lanes);
}

static std::string describeDevice(DLDevice device) {
  std::string name;
  if (device.device_type == kDLCPU)
    name = "cpu";
  else if (device.device_type == kDLCUDA)
    name = "cuda";
  else
    name = "device type " + std::to_string(int(device.device_type));
  return name + ":" + std::to_string(device.device_id);
}

static std::string hexadecimal(uint64_t value) {
  static const char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    text[i] = digits[value & 15];
  return text;
}

//===----------------------------------------------------------------------===//
// Checks of one tensor
//===----------------------------------------------------------------------===//

static bool hasType(DLDataType found, ElementType expected) {
  if (found.lanes != 1 || found.bits != 8 * bytesOf(expected))
    return false;
  switch (expected) {
  case ElementType::F64:
  case ElementType::F32:
  case ElementType::F16:
    return found.code == kDLFloat;
  case ElementType::BF16:
    return found.code == kDLBfloat;
  case ElementType::I64:
  case ElementType::I32:
  case ElementType::I8:
    return found.code == kDLInt;
  case ElementType::I1: // Exporters differ in how they name a boolean.
    return found.code == kDLBool || found.code == kDLUInt;
  }
  return false;
}

static bool isRowMajor(const DLTensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t expected = 1;
  bool rowMajor = true;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0)
      return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected)
      rowMajor = false;
    expected *= tensor.shape[i];
  }
  return rowMajor;
}

static char *dataOf(const DLTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.byte_offset;
}

static bool isAligned(const DLTensor &tensor, ElementType type) {
  return reinterpret_cast<uintptr_t>(dataOf(tensor)) %
             device::requiredAlignment(bytesOf(type)) ==
         0;
}

/// What is wrong with the shape, type and device of `tensor`, or "".
static std::string mismatch(const DLTensor &tensor, const TensorSpec &expected,
                            int32_t ordinal) {
  bool sameShape =
      tensor.ndim == static_cast<int32_t>(expected.rank) &&
      std::equal(expected.shape, expected.shape + expected.rank, tensor.shape);
  if (!sameShape)
    return "has shape " + describeShape(tensor.shape, tensor.ndim) +
           "; expected " + describeShape(expected.shape, expected.rank);
  if (!hasType(tensor.dtype, expected.type))
    return "has type " + describeType(tensor.dtype) + "; expected " +
           nameOf(expected.type);
  if (static_cast<int32_t>(tensor.device.device_type) != device::type() ||
      tensor.device.device_id != ordinal)
    return "is on " + describeDevice(tensor.device) + "; expected " +
           device::name() + ":" + std::to_string(ordinal);
  if (!tensor.data && expected.elements() != 0)
    return "has no data (a null pointer)";
  return "";
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {

/// Device memory that frees itself.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept : memory(std::exchange(other.memory, {})) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(memory, other.memory);
    return *this;
  }
  ~Buffer() {
    if (memory)
      device::release(memory);
  }
  bool allocate(uint64_t bytes) {
    if (!memory)
      memory = device::allocate(bytes);
    return memory != nullptr;
  }
  char *data() const { return static_cast<char *>(memory); }

private:
  void *memory = nullptr;
};

struct Step {
  Step(const StepSpec &spec, const FactKernel &kernel)
      : spec(&spec), instance(kernel), buffers(spec.bufferCount) {}

  const StepSpec *spec;
  KernelInstance instance;
  std::vector<void *> buffers;
  /// Where the packed operand is; null when the kernel packs none.
  char *packed = nullptr;
  bool packEachRun = false;
};

/// Selects the model's device for the length of a call.
class DeviceScope {
public:
  explicit DeviceScope(int32_t ordinal) : previous(device::currentOrdinal()) {
    selected = previous == ordinal || device::select(ordinal);
    changed = selected && previous != ordinal;
  }
  ~DeviceScope() {
    if (changed)
      device::select(previous);
  }
  explicit operator bool() const { return selected; }

private:
  int32_t previous;
  bool selected;
  bool changed;
};

} // namespace

struct FactModel {
  explicit FactModel(const Program &program) : program(program) {}

  int create(const FactNamedTensor *tensors, int64_t count);
  int setWeights(const FactNamedTensor *tensors, int64_t count);
  int run(DLTensor *const *inputs, int64_t inputCount,
          DLTensor *const *outputs, int64_t outputCount, void *stream);

  const Program &program;
  int32_t ordinal = 0;

private:
  int checkWeights(const FactNamedTensor *tensors, int64_t count,
                   bool needAll, std::vector<char *> &found);
  std::string checkWeight(const WeightSpec &expected, const DLTensor &found);
  int allocate();
  int addSteps(const Table<StepSpec> &specs, bool atLoad,
               std::vector<Step> &steps);
  int prepare();
  int runSteps(std::vector<Step> &steps, void *stream);
  char *addressOf(uint32_t value) const;
  bool isFixed(uint32_t value) const;
  int takeInput(uint32_t index, const DLTensor &tensor, void *stream);
  int takeOutput(uint32_t index, const DLTensor &tensor);

  std::vector<char *> weights;
  std::vector<char *> inputs;
  std::vector<char *> outputs;
  std::vector<Buffer> constants;
  std::vector<Buffer> inputCopies;
  Buffer prepared;
  Buffer workspace;
  /// Scratch of one launch, shared by all: steps run one after the other.
  Buffer kernelWorkspace;
  Buffer packScratch;
  std::map<std::pair<uint32_t, uint32_t>, Buffer> packedWeights;
  std::vector<Step> prepareSteps;
  std::vector<Step> programSteps;
};

/// Inputs and outputs change from call to call, and workspace within one.
bool FactModel::isFixed(uint32_t value) const {
  ValueKind kind = program.values[value].kind;
  return kind == ValueKind::Weight || kind == ValueKind::Constant ||
         kind == ValueKind::Prepared;
}

char *FactModel::addressOf(uint32_t value) const {
  const ValueSpec &spec = program.values[value];
  switch (spec.kind) {
  case ValueKind::Input:
    return inputs[spec.index];
  case ValueKind::Weight:
    return weights[spec.index];
  case ValueKind::Constant:
    return constants[spec.index].data();
  case ValueKind::Prepared:
    return prepared.data() + spec.offset;
  case ValueKind::Workspace:
    return workspace.data() + spec.offset;
  case ValueKind::Output:
    return outputs[spec.index];
  }
  return nullptr;
}

std::string FactModel::checkWeight(const WeightSpec &expected,
                                   const DLTensor &found) {
  std::string wrong = mismatch(found, expected.tensor, ordinal);
  if (!wrong.empty())
    return wrong;
  if (!isRowMajor(found))
    return "is not row-major (strides " +
           describeShape(found.strides, found.ndim) +
           "); weights are borrowed, so pass a contiguous one";
  if (!isAligned(found, expected.tensor.type))
    return "does not begin at a multiple of " +
           std::to_string(device::requiredAlignment(
               bytesOf(expected.tensor.type))) +
           " bytes";
  if (!expected.baked)
    return "";
  std::vector<char> bytes(expected.tensor.bytes());
  if (!device::copyToHost(bytes.data(), dataOf(found), bytes.size()))
    return std::string("could not be read: ") + device::lastError();
  uint64_t hash = fnv1a64(bytes.data(), bytes.size());
  if (hash != expected.hash)
    return "was compiled in with another value (hash " + hexadecimal(hash) +
           ", compiled for " + hexadecimal(expected.hash) +
           "); compile again with this one";
  return "";
}

/// Finds every weight that `tensors` names; reports everything wrong at once.
int FactModel::checkWeights(const FactNamedTensor *tensors, int64_t count,
                            bool needAll, std::vector<char *> &found) {
  std::map<std::string, uint32_t> positions;
  for (uint32_t i = 0; i < program.weights.size; ++i)
    positions[program.weights[i].tensor.name] = i;
  std::vector<bool> given(program.weights.size);
  std::vector<std::string> problems;
  for (int64_t i = 0; i < count; ++i) {
    if (!tensors || !tensors[i].name || !tensors[i].tensor) {
      problems.push_back("weight number " + std::to_string(i) +
                         " has no name or no tensor");
      continue;
    }
    std::string name = tensors[i].name;
    auto position = positions.find(name);
    if (position == positions.end()) {
      problems.push_back("'" + name + "' is no weight of this model");
      continue;
    }
    uint32_t index = position->second;
    if (given[index]) {
      problems.push_back("'" + name + "' is given twice");
      continue;
    }
    given[index] = true;
    std::string wrong = checkWeight(program.weights[index], *tensors[i].tensor);
    if (!wrong.empty())
      problems.push_back("'" + name + "' " + wrong);
    else
      found[index] = dataOf(*tensors[i].tensor);
  }
  for (uint32_t i = 0; needAll && i < program.weights.size; ++i) {
    const TensorSpec &weight = program.weights[i].tensor;
    if (!given[i])
      problems.push_back(std::string("'") + weight.name + "' is missing: " +
                         nameOf(weight.type) + " " +
                         describeShape(weight.shape, weight.rank));
  }
  if (problems.empty())
    return 0;
  std::string message = std::string(program.name) + ": " +
                        std::to_string(problems.size()) +
                        (problems.size() == 1 ? " problem" : " problems") +
                        " with the weights";
  for (const std::string &problem : problems)
    message += "\n  " + problem;
  return fail(message);
}

int FactModel::allocate() {
  uint64_t kernelBytes = 0;
  for (const KernelSpec &kernel : program.kernels)
    kernelBytes = std::max(kernelBytes, kernel.kernel->workspace_bytes);
  bool allocated = prepared.allocate(program.preparedBytes) &&
                   workspace.allocate(program.workspaceBytes) &&
                   kernelWorkspace.allocate(kernelBytes);
  for (const ConstantSpec &constant : program.constants) {
    constants.emplace_back();
    allocated = allocated && constants.back().allocate(constant.bytes) &&
                device::copyToDevice(constants.back().data(), constant.data,
                                     constant.bytes);
  }
  if (!allocated)
    return fail(std::string(program.name) + ": " + device::lastError());
  inputCopies.resize(program.inputs.size);
  inputs.resize(program.inputs.size);
  outputs.resize(program.outputs.size);
  return 0;
}

int FactModel::addSteps(const Table<StepSpec> &specs, bool atLoad,
                        std::vector<Step> &steps) {
  steps.reserve(specs.size);
  for (const StepSpec &spec : specs) {
    const KernelSpec &kernel = program.kernels[spec.kernel];
    steps.emplace_back(spec, *kernel.kernel);
    Step &step = steps.back();
    std::string wrong = step.instance.validate(spec.bufferCount);
    if (!wrong.empty())
      return fail(std::string("kernel '") + kernel.name + "' " + wrong);
    int32_t operand = kernel.kernel->packed_operand;
    if (!kernel.kernel->pack || operand < 0)
      continue;
    // A prepare step runs once per load in any case.
    uint32_t value = spec.buffers[operand];
    step.packEachRun = atLoad || !isFixed(value);
    if (step.packEachRun)
      continue;
    Buffer &buffer = packedWeights[{spec.kernel, value}];
    if (!buffer.allocate(kernel.kernel->packed_bytes))
      return fail(std::string(program.name) + ": " + device::lastError());
    step.packed = buffer.data();
  }
  return 0;
}

int FactModel::runSteps(std::vector<Step> &steps, void *stream) {
  for (Step &step : steps) {
    const FactKernel &kernel = step.instance.kernel();
    for (uint32_t i = 0; i < step.spec->bufferCount; ++i)
      step.buffers[i] = addressOf(step.spec->buffers[i]);
    bool good = true;
    if (step.packed) {
      void *&operand = step.buffers[kernel.packed_operand];
      if (step.packEachRun)
        good = step.instance.pack(operand, step.packed);
      operand = step.packed;
    }
    good = good &&
           step.instance.bind(step.buffers.data(), kernelWorkspace.data()) &&
           step.instance.launch(stream);
    if (!good)
      return fail(std::string(program.name) + ": kernel '" +
                  program.kernels[step.spec->kernel].name + "' (" +
                  program.kernels[step.spec->kernel].schedule +
                  "): " + device::lastError());
  }
  return 0;
}

/// Computes all that depends on weights alone. Synchronises the device: the
/// caller may have written the weights on any stream.
int FactModel::prepare() {
  if (!device::synchronize())
    return fail(std::string(program.name) + ": " + device::lastError());
  if (int code = runSteps(prepareSteps, nullptr))
    return code;
  std::map<char *, bool> done;
  for (Step &step : programSteps) {
    if (!step.packed || step.packEachRun || done[step.packed])
      continue;
    done[step.packed] = true;
    uint32_t value =
        step.spec->buffers[step.instance.kernel().packed_operand];
    if (!step.instance.pack(addressOf(value), step.packed))
      return fail(std::string(program.name) + ": " + device::lastError());
  }
  if (!device::synchronize())
    return fail(std::string(program.name) + ": " + device::lastError());
  return 0;
}

int FactModel::create(const FactNamedTensor *tensors, int64_t count) {
  // The model lives where its weights are.
  ordinal = device::currentOrdinal();
  if (ordinal < 0)
    return fail(std::string(program.name) + ": " + device::lastError());
  for (int64_t i = 0; tensors && i < count; ++i)
    if (tensors[i].tensor && static_cast<int32_t>(
                                 tensors[i].tensor->device.device_type) ==
                                 device::type()) {
      ordinal = tensors[i].tensor->device.device_id;
      break;
    }
  DeviceScope scope(ordinal);
  if (!scope)
    return fail(std::string(program.name) + ": " + device::lastError());
  weights.resize(program.weights.size);
  if (int code = checkWeights(tensors, count, /*needAll=*/true, weights))
    return code;
  if (int code = allocate())
    return code;
  if (int code = addSteps(program.prepare, /*atLoad=*/true, prepareSteps))
    return code;
  if (int code = addSteps(program.program, /*atLoad=*/false, programSteps))
    return code;
  // Operands packed before each launch share one buffer.
  uint64_t scratch = 0;
  for (std::vector<Step> *steps : {&prepareSteps, &programSteps})
    for (Step &step : *steps)
      if (step.packEachRun)
        scratch = std::max(scratch, step.instance.kernel().packed_bytes);
  if (!packScratch.allocate(scratch))
    return fail(std::string(program.name) + ": " + device::lastError());
  for (std::vector<Step> *steps : {&prepareSteps, &programSteps})
    for (Step &step : *steps)
      if (step.packEachRun)
        step.packed = packScratch.data();
  return prepare();
}

int FactModel::setWeights(const FactNamedTensor *tensors, int64_t count) {
  DeviceScope scope(ordinal);
  if (!scope)
    return fail(std::string(program.name) + ": " + device::lastError());
  std::vector<char *> changed = weights;
  if (int code = checkWeights(tensors, count, /*needAll=*/false, changed))
    return code;
  weights = std::move(changed);
  return prepare();
}

int FactModel::takeInput(uint32_t index, const DLTensor &tensor,
                         void *stream) {
  const TensorSpec &expected = program.inputs[index];
  std::string label =
      std::string(program.name) + ": input '" + expected.name + "' ";
  std::string wrong = mismatch(tensor, expected, ordinal);
  if (!wrong.empty())
    return fail(label + wrong);
  if (isRowMajor(tensor) && isAligned(tensor, expected.type)) {
    inputs[index] = dataOf(tensor);
    return 0;
  }
  if (expected.rank > device::maximumRank)
    return fail(label + "is not row-major, and its rank is above " +
                std::to_string(device::maximumRank));
  device::StridedTensor source;
  source.data = dataOf(tensor);
  source.elementBytes = bytesOf(expected.type);
  if (reinterpret_cast<uintptr_t>(source.data) % source.elementBytes != 0)
    return fail(label + "does not begin at a multiple of its element size");
  source.rank = expected.rank;
  int64_t rowMajor = 1;
  for (uint32_t i = expected.rank; i-- > 0;) {
    source.shape[i] = expected.shape[i];
    source.strides[i] = tensor.strides ? tensor.strides[i] : rowMajor;
    rowMajor *= expected.shape[i];
  }
  Buffer &copy = inputCopies[index];
  if (!copy.allocate(expected.bytes()) ||
      !device::copyStrided(copy.data(), source, stream))
    return fail(label + "could not be copied to row-major order: " +
                device::lastError());
  inputs[index] = copy.data();
  return 0;
}

int FactModel::takeOutput(uint32_t index, const DLTensor &tensor) {
  const TensorSpec &expected = program.outputs[index];
  std::string label =
      std::string(program.name) + ": output '" + expected.name + "' ";
  std::string wrong = mismatch(tensor, expected, ordinal);
  if (!wrong.empty())
    return fail(label + wrong);
  if (!isRowMajor(tensor))
    return fail(label + "is not row-major (strides " +
                describeShape(tensor.strides, tensor.ndim) + ")");
  if (!isAligned(tensor, expected.type))
    return fail(label + "does not begin at a multiple of " +
                std::to_string(
                    device::requiredAlignment(bytesOf(expected.type))) +
                " bytes");
  outputs[index] = dataOf(tensor);
  // Kernels write results while they read inputs.
  for (uint32_t i = 0; i < program.inputs.size; ++i)
    if (outputs[index] < inputs[i] + program.inputs[i].bytes() &&
        inputs[i] < outputs[index] + expected.bytes())
      return fail(label + "overlaps input '" + program.inputs[i].name + "'");
  return 0;
}

int FactModel::run(DLTensor *const *inputTensors, int64_t inputCount,
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
    return fail(std::string(program.name) + ": " + device::lastError());
  for (uint32_t i = 0; i < program.inputs.size; ++i)
    if (int code = takeInput(i, *inputTensors[i], stream))
      return code;
  for (uint32_t i = 0; i < program.outputs.size; ++i)
    if (int code = takeOutput(i, *outputTensors[i]))
      return code;
  return runSteps(programSteps, stream);
}

//===----------------------------------------------------------------------===//
// The C interface: no exception leaves it
//===----------------------------------------------------------------------===//

template <typename Call> static int guarded(Call call) {
  try {
    return call();
  } catch (const std::exception &problem) {
    return fail(std::string(theProgram.name) + ": " + problem.what());
  }
}

static const char *describe() { return theProgram.description; }

static void destroy(FactModel *model) {
  if (!model)
    return;
  DeviceScope scope(model->ordinal);
  // Kernels of the last run may still use the workspace.
  device::synchronize();
  delete model;
}

static FactModel *create(const FactNamedTensor *weights, int64_t count) {
  FactModel *model = nullptr;
  int code = guarded([&] {
    std::unique_ptr<FactModel> made = std::make_unique<FactModel>(theProgram);
    if (int problem = made->create(weights, count))
      return problem;
    model = made.release();
    return 0;
  });
  return code == 0 ? model : nullptr;
}

static int setWeights(FactModel *model, const FactNamedTensor *weights,
                      int64_t count) {
  if (!model)
    return fail(std::string(theProgram.name) + ": the model is null");
  return guarded([&] { return model->setWeights(weights, count); });
}

static int run(FactModel *model, DLTensor *const *inputs, int64_t inputCount,
               DLTensor *const *outputs, int64_t outputCount, void *stream) {
  if (!model)
    return fail(std::string(theProgram.name) + ": the model is null");
  return guarded([&] {
    return model->run(inputs, inputCount, outputs, outputCount, stream);
  });
}

static const char *lastError() { return lastFailure.c_str(); }

extern "C" const FactLibrary *fact_library(void) {
  static const FactLibrary library = {
      FACT_LIBRARY_ABI, describe, create, setWeights, run, destroy, lastError};
  return &library;
}
