//===- RunFuzzer.cpp - Any tensors as arguments of a library --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = x + w, all of them f32 [3, 4]
//
// Bytes describe the tensors that `create`, `set_weights` and `run` are given.
// A call fails with a message and writes nothing, or does what it should: with
// strides of any kind, wherever the tensors lie. Descriptions are true: what
// they say is memory is memory.
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

using namespace fact::runtime;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static constexpr int64_t rows = 3, columns = 4, elements = rows * columns;

static void addTile(int64_t row, void *const *buffers, void *) {
  auto *x = static_cast<const float *>(buffers[0]);
  auto *w = static_cast<const float *>(buffers[1]);
  auto *y = static_cast<float *>(buffers[2]);
  for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
    y[i] = x[i] + w[i];
}

static FactKernel makeAdd() {
  FactKernel kernel = {};
  kernel.abi = FACT_KERNEL_ABI;
  kernel.buffer_count = 3;
  kernel.tiles = rows;
  kernel.tile = addTile;
  kernel.packed_operand = -1;
  return kernel;
}
static const FactKernel add = makeAdd();
static const int64_t shape[] = {rows, columns};
static const TensorSpec inputs[] = {{"x", ElementType::F32, 2, shape}};
static const TensorSpec outputs[] = {{"y", ElementType::F32, 2, shape}};
static const WeightSpec weights[] = {
    {{"w", ElementType::F32, 2, shape}, false, 0}};
static const ValueSpec values[] = {{ValueKind::Input, 0, 0},
                                   {ValueKind::Weight, 0, 0},
                                   {ValueKind::Output, 0, 0}};
static const KernelSpec kernels[] = {{"add", "rows", &add}};
static const uint32_t buffers[] = {0, 1, 2};
static const StepSpec steps[] = {{0, 2, 3, buffers}};

const Program fact::runtime::theProgram = {
    "sample",     "{}",         {inputs, 1}, {outputs, 1},
    {weights, 1}, {nullptr, 0}, {values, 3}, {kernels, 1},
    {nullptr, 0}, {steps, 1},   0,           0,
    nullptr,      {nullptr, 0}};

//===----------------------------------------------------------------------===//
// Tensors from bytes
//===----------------------------------------------------------------------===//

namespace {
class Bytes {
public:
  Bytes(const uint8_t *data, size_t size) : data(data), size(size) {}

  /// 0 when there are none left.
  uint8_t next() { return at < size ? data[at++] : 0; }
  /// Mostly what is right.
  bool isOdd() { return next() % 8 == 7; }
  int64_t integer() {
    int64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value = int64_t(uint64_t(value) << 8 | next());
    return value;
  }

private:
  const uint8_t *data;
  size_t size, at = 0;
};

constexpr size_t memoryBytes = 1024;
constexpr int maximumRank = 12;

/// A tensor within `memory`.
struct Tensor {
  Tensor(Bytes &bytes, char *memory) {
    tensor.data = bytes.isOdd() ? nullptr : memory + 4 * bytes.next();
    tensor.byte_offset = bytes.isOdd() ? bytes.next() : 0;
    tensor.device = {kDLCPU, 0};
    // In C every number is one of an enumeration.
    if (int32_t type = bytes.next(); bytes.isOdd()) {
      std::memcpy(&tensor.device.device_type, &type, sizeof(type));
      tensor.device.device_id = int8_t(bytes.next());
    }
    tensor.dtype = {kDLFloat, 32, 1};
    if (bytes.isOdd())
      tensor.dtype = {uint8_t(bytes.next() % 8), bytes.next(), bytes.next()};
    tensor.ndim = bytes.isOdd() ? int(bytes.next() % 16) - 3 : 2;
    for (int i = 0; i < maximumRank; ++i)
      extents[i] = i < 2 ? shape[i] : 1;
    if (bytes.isOdd())
      extents[bytes.next() % 2] = extent(bytes);
    tensor.shape = bytes.isOdd() ? nullptr : extents;
    strides[0] = columns;
    strides[1] = 1;
    tensor.strides = nullptr;
    if (bytes.next() % 2) {
      for (int i = 0; i < maximumRank; ++i)
        strides[i] = bytes.isOdd() ? extent(bytes) : bytes.next() % 32;
      tensor.strides = strides;
    }
  }

  static int64_t extent(Bytes &bytes) {
    return bytes.isOdd() ? bytes.integer() : int8_t(bytes.next());
  }

  /// Where element i is, if the description is one that could be accepted.
  std::optional<__int128> offsetOf(int64_t i) const {
    if (!tensor.data || !tensor.shape || tensor.ndim != 2 ||
        extents[0] != rows || extents[1] != columns)
      return std::nullopt;
    __int128 index = tensor.strides ? __int128(i / columns) * strides[0] +
                                          __int128(i % columns) * strides[1]
                                    : i;
    return static_cast<char *>(tensor.data) - origin +
           __int128(tensor.byte_offset) + 4 * index;
  }

  /// Whether all that it describes is memory.
  bool isTrue(char *memory) {
    origin = memory;
    for (int64_t i = 0; i < elements; ++i)
      if (auto offset = offsetOf(i);
          offset && (*offset < 0 || *offset + 4 > __int128(memoryBytes)))
        return false;
    return true;
  }

  float read(const std::vector<char> &memory, int64_t i) const {
    float value;
    std::memcpy(&value, memory.data() + size_t(*offsetOf(i)), 4);
    return value;
  }

  DLTensor tensor = {};
  int64_t extents[maximumRank], strides[maximumRank];
  char *origin = nullptr;
};
} // namespace

static void check(bool right) {
  if (!right)
    std::abort();
}

/// Every failure says something.
static void checkFailed() { check(*fact_library()->last_error()); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const FactLibrary *library = fact_library();
  Bytes bytes(data, size);
  // One block each, so that the sanitizer sees what lies beyond.
  std::vector<char> memory(memoryBytes), weightMemory(memoryBytes);
  for (size_t i = 0; i < memoryBytes / 4; ++i) {
    float value = float(i), weight = float(1000 * i);
    std::memcpy(memory.data() + 4 * i, &value, 4);
    std::memcpy(weightMemory.data() + 4 * i, &weight, 4);
  }

  Tensor w(bytes, weightMemory.data());
  if (!w.isTrue(weightMemory.data()))
    return 0;
  static const char *const names[] = {"w", "x", "", nullptr};
  FactNamedTensor named[2] = {{names[bytes.isOdd() ? bytes.next() % 4 : 0],
                               bytes.isOdd() ? nullptr : &w.tensor},
                              {"w", &w.tensor}};
  int64_t count = bytes.isOdd() ? int(bytes.next() % 4) - 1 : 1;
  FactModel *model =
      library->create(bytes.isOdd() ? nullptr : named, count > 2 ? 2 : count);
  if (!model) {
    checkFailed();
    return 0;
  }
  if (bytes.next() % 4 == 1 && library->set_weights(model, named, 1) != 0)
    checkFailed();

  Tensor x(bytes, memory.data()), y(bytes, memory.data());
  if (x.isTrue(memory.data()) && y.isTrue(memory.data())) {
    const std::vector<char> before = memory;
    DLTensor *in[] = {bytes.isOdd() ? nullptr : &x.tensor, &x.tensor};
    DLTensor *out[] = {bytes.isOdd() ? nullptr : &y.tensor, &y.tensor};
    int64_t inputCount = bytes.isOdd() ? int(bytes.next() % 4) - 1 : 1;
    int64_t outputCount = bytes.isOdd() ? int(bytes.next() % 4) - 1 : 1;
    int code =
        library->run(model, bytes.isOdd() ? nullptr : in, inputCount,
                     bytes.isOdd() ? nullptr : out, outputCount, nullptr);
    if (code != 0) {
      checkFailed();
      check(memory == before);
    } else {
      std::vector<char> expected = before;
      for (int64_t i = 0; i < elements; ++i) {
        float value = x.read(before, i) + w.read(weightMemory, i);
        std::memcpy(expected.data() + size_t(*y.offsetOf(i)), &value, 4);
      }
      check(memory == expected);
    }
  }
  library->destroy(model);
  return 0;
}
