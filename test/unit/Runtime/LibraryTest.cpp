//===- LibraryTest.cpp - The C interface over a hand-written program ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   p = 2 * w          at load
//   t = x + p          p packed once at load
//   y = t * c + mask   t packed before each launch
//
//===----------------------------------------------------------------------===//

#include "fact/Runtime/Library.h"
#include "SafetensorsWriter.h"
#include "fact/Runtime/Program.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace fact::runtime;

namespace {

constexpr int64_t rows = 4, columns = 6, elements = rows * columns;

std::atomic<int> weightPacks{0}, valuePacks{0}, doublings{0};
/// Makes the next packing fail, as a device does that has no memory left.
std::atomic<bool> failPacking{false};

const float *in(void *const *buffers, int i) {
  return static_cast<const float *>(buffers[i]);
}
float *out(void *const *buffers, int i) {
  return static_cast<float *>(buffers[i]);
}

void doubleTile(int64_t row, void *const *buffers, void *) {
  ++doublings;
  for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
    out(buffers, 1)[i] = 2 * in(buffers, 0)[i];
}

/// Packed operands are stored backwards, so that an unpacked one would show.
template <int operand, std::atomic<int> &counter>
void packBackwards(int64_t, void *const *buffers, void *packed) {
  if (failPacking.exchange(false))
    throw std::runtime_error("nothing left");
  ++counter;
  for (int64_t i = 0; i < elements; ++i)
    static_cast<float *>(packed)[elements - 1 - i] = in(buffers, operand)[i];
}

void addTile(int64_t row, void *const *buffers, void *) {
  for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
    out(buffers, 2)[i] = in(buffers, 0)[i] + in(buffers, 1)[elements - 1 - i];
}

void scaleTile(int64_t row, void *const *buffers, void *) {
  for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
    out(buffers, 3)[i] = in(buffers, 0)[elements - 1 - i] * in(buffers, 1)[0] +
                         in(buffers, 2)[i % 2];
}

/// A kernel for the host whose tiles are rows, with operand `packed` packed
/// unless it is -1.
FactKernel rowKernel(uint32_t buffers, decltype(FactKernel::tile) tile,
                     int32_t packed = -1,
                     decltype(FactKernel::pack) pack = nullptr) {
  FactKernel kernel = {};
  kernel.abi = FACT_KERNEL_ABI;
  kernel.buffer_count = buffers;
  kernel.tiles = rows;
  kernel.tile = tile;
  kernel.packed_operand = packed;
  kernel.packed_bytes = pack ? elements * 4 : 0;
  kernel.pack_tiles = pack ? 1 : 0;
  kernel.pack = pack;
  return kernel;
}

const FactKernel doubleKernel = rowKernel(2, doubleTile);
const FactKernel addKernel =
    rowKernel(3, addTile, 1, packBackwards<1, weightPacks>);
const FactKernel scaleKernel =
    rowKernel(4, scaleTile, 0, packBackwards<0, valuePacks>);

const int64_t shape[] = {rows, columns};
const int64_t maskShape[] = {2};
const TensorSpec inputs[] = {{"x", ElementType::F32, 2, shape}};
const TensorSpec outputs[] = {{"y", ElementType::F32, 2, shape}};
const float maskValue[] = {0.0f, 1.0f};
/// FNV-1a 64 over the eight bytes of maskValue.
constexpr uint64_t maskHash = 0xaa7ae932298bb4c8ull;
const WeightSpec weights[] = {
    {{"w", ElementType::F32, 2, shape}, false, 0},
    {{"mask", ElementType::F32, 1, maskShape}, true, maskHash}};
const float constant[] = {3.0f};
const ConstantSpec constants[] = {{constant, sizeof(constant)}};
const ValueSpec values[] = {
    {ValueKind::Input, 0, 0},    {ValueKind::Weight, 0, 0},
    {ValueKind::Prepared, 0, 0}, {ValueKind::Workspace, 0, 256},
    {ValueKind::Constant, 0, 0}, {ValueKind::Weight, 1, 0},
    {ValueKind::Output, 0, 0}};
const KernelSpec kernels[] = {{"double", "rows", &doubleKernel},
                              {"add", "rows", &addKernel},
                              {"scale", "rows", &scaleKernel}};
const uint32_t doubleBuffers[] = {1, 2};
const uint32_t addBuffers[] = {0, 2, 3};
const uint32_t scaleBuffers[] = {3, 4, 5, 6};
const StepSpec prepareSteps[] = {{0, 1, 2, doubleBuffers}};
const StepSpec programSteps[] = {{1, 2, 3, addBuffers},
                                 {2, 3, 4, scaleBuffers}};

} // namespace

const Program fact::runtime::theProgram = {"sample",
                                           "{\"name\": \"sample\"}",
                                           {inputs, 1},
                                           {outputs, 1},
                                           {weights, 2},
                                           {constants, 1},
                                           {values, 7},
                                           {kernels, 3},
                                           {prepareSteps, 1},
                                           {programSteps, 2},
                                           512,
                                           256,
                                           nullptr,
                                           {nullptr, 0}};

namespace {

struct TestTensor {
  explicit TestTensor(std::vector<int64_t> extents, float first = 0)
      : shape(std::move(extents)) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    for (int64_t i = 0; i < count; ++i)
      data.push_back(first + static_cast<float>(i));
    tensor.data = data.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape.data();
    tensor.strides = nullptr;
    tensor.byte_offset = 0;
  }
  TestTensor(const TestTensor &) = delete;

  std::vector<int64_t> shape, strides;
  std::vector<float> data;
  DLTensor tensor;
};

class LibraryTest : public testing::Test {
protected:
  LibraryTest() {
    mask.data = {0.0f, 1.0f};
    mask.tensor.data = mask.data.data();
  }
  ~LibraryTest() override { library->destroy(model); }

  void create() {
    FactNamedTensor named[] = {{"w", &w.tensor}, {"mask", &mask.tensor}};
    model = library->create(named, 2);
    ASSERT_NE(model, nullptr) << library->last_error();
  }
  int run() {
    DLTensor *in[] = {&x.tensor}, *result[] = {&y.tensor};
    return library->run(model, in, 1, result, 1, nullptr);
  }
  void expectError(const std::string &part) {
    EXPECT_NE(std::string(library->last_error()).find(part), std::string::npos)
        << library->last_error();
  }
  void expectResult(const std::vector<float> &input) {
    for (int64_t i = 0; i < elements; ++i)
      ASSERT_EQ(y.data[i], (input[i] + 2 * w.data[i]) * 3 + float(i % 2)) << i;
  }

  const FactLibrary *library = fact_library();
  FactModel *model = nullptr;
  TestTensor x{{rows, columns}, 100}, y{{rows, columns}}, w{{rows, columns}, 7};
  TestTensor mask{{2}};
};

TEST_F(LibraryTest, MaskHash) {
  EXPECT_EQ(fnv1a64(maskValue, sizeof(maskValue)), maskHash);
  EXPECT_EQ(fnv1a64("", 0), 0xcbf29ce484222325ull);
  EXPECT_EQ(fnv1a64("a", 1), 0xaf63dc4c8601ec8cull);
}

TEST_F(LibraryTest, RunsAndPacksWeightsOnce) {
  create();
  int weightBefore = weightPacks, valueBefore = valuePacks;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(run(), 0) << library->last_error();
    expectResult(x.data);
  }
  EXPECT_EQ(weightPacks, weightBefore);
  EXPECT_EQ(valuePacks, valueBefore + 3);
}

TEST_F(LibraryTest, Profile) {
  std::string path = testing::TempDir() + "profile.json";
  setenv("FACT_PROFILE", path.c_str(), 1);
  create();
  unsetenv("FACT_PROFILE");
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  library->destroy(model);
  model = nullptr;
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("\"kernel\": \"add\", \"us\": "), std::string::npos)
      << text;
}

TEST_F(LibraryTest, SetWeightsPreparesAgain) {
  create();
  TestTensor other({rows, columns}, -50);
  int before = doublings;
  FactNamedTensor named[] = {{"w", &other.tensor}};
  ASSERT_EQ(library->set_weights(model, named, 1), 0) << library->last_error();
  EXPECT_EQ(doublings, before + rows);
  w.data = other.data;
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  FactNamedTensor wrong[] = {{"v", &other.tensor}};
  EXPECT_NE(library->set_weights(model, wrong, 1), 0);
  expectError("unknown weight 'v'");
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
}

/// `w` is prepared and packed, so a change in place does not reach kernels.
TEST_F(LibraryTest, WatchedWeightsMayChangeInPlace) {
  create();
  ASSERT_EQ(library->watch_weights(model, 1), 0);
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  int before = doublings;
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(doublings, before) << "prepared again without a change";
  // Any element; a sign, an exponent, the last bit.
  for (size_t i = 0; i < w.data.size(); ++i)
    for (uint32_t bit : {31u, 30u, 23u, 0u}) {
      uint32_t bits;
      std::memcpy(&bits, &w.data[i], sizeof(bits));
      bits ^= 1u << bit;
      std::memcpy(&w.data[i], &bits, sizeof(bits));
      ASSERT_EQ(run(), 0) << library->last_error();
      expectResult(x.data);
    }
  // Signs of two elements, whose bits are the highest of their words.
  w.data[1] = -w.data[1];
  w.data[17] = -w.data[17];
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  std::swap(w.data[2], w.data[18]);
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  // The compiler relied on the mask.
  mask.data[0] = 5;
  EXPECT_NE(run(), 0);
  expectError("'mask' has another value than the one compiled in");
  mask.data[0] = 0;
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  ASSERT_EQ(library->watch_weights(model, 0), 0);
  std::vector<float> old = w.data;
  w.data[3] += 1;
  ASSERT_EQ(run(), 0);
  w.data = old;
  expectResult(x.data);
}

TEST_F(LibraryTest, DestroyBesideRunningCalls) {
  for (int round = 0; round < 50; ++round) {
    create();
    std::atomic<bool> started{false};
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    float expected = (x.data[0] + 2 * w.data[0]) * 3;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        TestTensor result({rows, columns});
        DLTensor *in[] = {&x.tensor}, *out[] = {&result.tensor};
        while (library->run(model, in, 1, out, 1, nullptr) == 0) {
          started = true;
          if (result.data[0] != expected)
            ++wrong;
        }
        std::string message = library->last_error();
        if (message.find("was destroyed") == std::string::npos)
          ++wrong;
      });
    while (!started)
      std::this_thread::yield();
    library->destroy(model);
    // No call reads weights any more.
    std::vector<float> before = w.data;
    std::fill(w.data.begin(), w.data.end(), -1.0f);
    for (std::thread &thread : threads)
      thread.join();
    w.data = before;
    EXPECT_EQ(wrong, 0);
  }
  EXPECT_NE(run(), 0);
  expectError("the model does not belong to this library, or was destroyed");
  model = nullptr;
}

TEST_F(LibraryTest, AFailedSwapLeavesTheOldWeights) {
  create();
  TestTensor other({rows, columns}, -50);
  FactNamedTensor named[] = {{"w", &other.tensor}};
  failPacking = true;
  EXPECT_NE(library->set_weights(model, named, 1), 0);
  expectError("nothing left");
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  // One of two is wrong: neither is taken.
  TestTensor wrong({3});
  FactNamedTensor both[] = {{"w", &other.tensor}, {"mask", &wrong.tensor}};
  EXPECT_NE(library->set_weights(model, both, 2), 0);
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  EXPECT_EQ(library->set_weights(model, named, 1), 0);
  w.data = other.data;
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
}

TEST_F(LibraryTest, LoadsAFile) {
  SafetensorsWriter file;
  file.add("w", "F32", {rows, columns}, w.data);
  file.add("mask", "F32", {2}, mask.data);
  file.add("of another model", "F8_E4M3", {4}, std::vector<char>(4));
  model = library->load(file.write().c_str());
  ASSERT_NE(model, nullptr) << library->last_error();
  ASSERT_EQ(run(), 0);
  expectResult(x.data);

  // Part of the weights, from another file, at an odd address.
  TestTensor other({rows, columns}, -50);
  SafetensorsWriter part;
  part.add("odd", "U8", {1}, std::vector<char>(1));
  part.add("w", "F32", {rows, columns}, other.data);
  ASSERT_EQ(library->load_weights(model, part.write().c_str()), 0)
      << library->last_error();
  w.data = other.data;
  ASSERT_EQ(run(), 0);
  expectResult(x.data);

  // From memory again: the file's are let go.
  TestTensor third({rows, columns}, 5);
  FactNamedTensor named[] = {{"w", &third.tensor}};
  ASSERT_EQ(library->set_weights(model, named, 1), 0);
  w.data = third.data;
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
}

TEST_F(LibraryTest, AFileOfOtherWeights) {
  SafetensorsWriter file;
  file.add("w", "BF16", {rows, columns}, std::vector<int16_t>(elements));
  file.add("mask.", "F32", {2}, mask.data);
  std::string path = file.write();
  EXPECT_EQ(library->load(path.c_str()), nullptr);
  expectError("3 problems with the weights in '" + path + "'");
  expectError("'w' has type BF16; expected F32");
  expectError("'mask' is missing: f32 [2]");
  expectError("unknown weight 'mask.' (F32 [2])");

  create();
  EXPECT_NE(library->load_weights(model, path.c_str()), 0);
  expectError("'w' has type BF16; expected F32");
  SafetensorsWriter flat;
  flat.add("w", "F32", {elements}, w.data);
  EXPECT_NE(library->load_weights(model, flat.write().c_str()), 0);
  expectError("'w' has shape [24]; expected [4, 6]");
  SafetensorsWriter baked;
  baked.add("mask", "F32", {2}, std::vector<float>{0, 2});
  EXPECT_NE(library->load_weights(model, baked.write().c_str()), 0);
  expectError("'mask' has another value than the one compiled in");
  SafetensorsWriter strange;
  strange.add("v", "F32", {1}, std::vector<float>{1});
  EXPECT_NE(library->load_weights(model, strange.write().c_str()), 0);
  expectError("it holds no weight of this model");
  EXPECT_NE(library->load_weights(model, "/nowhere/w.safetensors"), 0);
  expectError("cannot open '/nowhere/w.safetensors': No such file");
  EXPECT_NE(library->load_weights(model, nullptr), 0);
  expectError("the path is null");
  EXPECT_EQ(library->load(nullptr), nullptr);
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
}

TEST_F(LibraryTest, ErrorsStayWithTheirInstance) {
  create();
  FactNamedTensor named[] = {{"w", &w.tensor}, {"mask", &mask.tensor}};
  FactModel *second = library->create(named, 2);
  ASSERT_NE(second, nullptr);
  EXPECT_STREQ(library->error(model), "");
  x.shape[0] = 5;
  std::thread([&] { EXPECT_NE(run(), 0); }).join();
  x.shape[0] = rows;
  // Made by another thread, seen by this one, and only of the first.
  EXPECT_NE(std::string(library->error(model)).find("shape [5, 6]"),
            std::string::npos);
  EXPECT_STREQ(library->error(second), "");
  ASSERT_EQ(run(), 0);
  EXPECT_STREQ(library->error(model), "");
  library->destroy(second);
}

TEST_F(LibraryTest, SeparateInstancesInSeparateThreads) {
  SafetensorsWriter file;
  file.add("w", "F32", {rows, columns}, w.data);
  file.add("mask", "F32", {2}, mask.data);
  std::string path = file.write();
  std::atomic<int> wrong{0};
  auto work = [&](int number) {
    TestTensor in({rows, columns}, static_cast<float>(number)),
        result({rows, columns}), own({rows, columns}, 10.0f * number);
    FactModel *mine = library->load(path.c_str());
    for (int i = 0; mine && i < 50; ++i) {
      FactNamedTensor named[] = {{"w", i % 2 ? &w.tensor : &own.tensor}};
      DLTensor *inputs[] = {&in.tensor}, *outputs[] = {&result.tensor};
      if (library->set_weights(mine, named, 1) != 0 ||
          library->run(mine, inputs, 1, outputs, 1, nullptr) != 0)
        ++wrong;
      const std::vector<float> &used = i % 2 ? w.data : own.data;
      for (int64_t e = 0; e < elements; ++e)
        wrong +=
            result.data[e] != (in.data[e] + 2 * used[e]) * 3 + float(e % 2);
      // A failure of one thread is none of the others'.
      wrong += library->run(mine, inputs, 0, outputs, 1, nullptr) == 0;
      wrong += *library->error(mine) == '\0';
    }
    wrong += mine == nullptr;
    library->destroy(mine);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(LibraryTest, InstancesAreIndependent) {
  create();
  TestTensor other({rows, columns}, 1000);
  FactNamedTensor named[] = {{"w", &other.tensor}, {"mask", &mask.tensor}};
  FactModel *second = library->create(named, 2);
  ASSERT_NE(second, nullptr);
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
  library->destroy(second);
  ASSERT_EQ(run(), 0);
  expectResult(x.data);
}

TEST_F(LibraryTest, StridedInputsAreCopied) {
  create();
  std::vector<float> rowMajor = x.data;
  TestTensor transposed({columns, rows});
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      transposed.data[c * rows + r] = rowMajor[r * columns + c];
  x.strides = {1, rows};
  x.tensor.strides = x.strides.data();
  x.tensor.data = transposed.data.data();
  ASSERT_EQ(run(), 0) << library->last_error();
  expectResult(rowMajor);
  // Broadcast by strides of 0.
  x.strides = {0, 1};
  ASSERT_EQ(run(), 0) << library->last_error();
  std::vector<float> repeated(elements);
  for (int64_t i = 0; i < elements; ++i)
    repeated[i] = transposed.data[i % columns];
  expectResult(repeated);
}

TEST_F(LibraryTest, ByteOffset) {
  create();
  std::vector<float> shifted(elements + 3, -1);
  std::copy(x.data.begin(), x.data.end(), shifted.begin() + 3);
  x.tensor.data = shifted.data();
  x.tensor.byte_offset = 12;
  ASSERT_EQ(run(), 0) << library->last_error();
  expectResult(x.data);
}

TEST_F(LibraryTest, CreateListsEveryProblem) {
  TestTensor wrongShape({rows, 5});
  TestTensor unknown({1});
  FactNamedTensor named[] = {{"w", &wrongShape.tensor},
                             {"stranger", &unknown.tensor}};
  EXPECT_EQ(library->create(named, 2), nullptr);
  expectError("3 problems with the weights");
  expectError("'w' has shape [4, 5]; expected [4, 6]");
  expectError("unknown weight 'stranger'");
  expectError("'mask' is missing: f32 [2]");
}

TEST_F(LibraryTest, CreateRefusesWhatItCannotBorrow) {
  auto expectRefusal = [&](const std::string &part) {
    FactNamedTensor named[] = {{"w", &w.tensor}, {"mask", &mask.tensor}};
    EXPECT_EQ(library->create(named, 2), nullptr);
    expectError(part);
  };
  w.tensor.dtype = {kDLBfloat, 16, 1};
  expectRefusal("'w' has type bf16; expected f32");
  w.tensor.dtype = {kDLFloat, 32, 1};
  w.tensor.device = {kDLCUDA, 1};
  expectRefusal("'w' is on cuda:1; expected cpu:0");
  w.tensor.device = {kDLCPU, 0};
  w.strides = {1, 4};
  w.tensor.strides = w.strides.data();
  expectRefusal("'w' is not row-major (strides [1, 4])");
  w.tensor.strides = nullptr;
  w.tensor.data = nullptr;
  expectRefusal("'w' has no data");
  w.tensor.data = w.data.data();
  w.tensor.byte_offset = 2;
  expectRefusal("'w' does not begin at a multiple of 4 bytes");
  w.tensor.byte_offset = 0;
  mask.data[0] = 0.5f;
  expectRefusal("'mask' has another value than the one compiled in");
  FactNamedTensor twice[] = {{"w", &w.tensor}, {"w", &w.tensor}};
  EXPECT_EQ(library->create(twice, 2), nullptr);
  expectError("duplicate weight 'w'");
  EXPECT_EQ(library->create(nullptr, 2), nullptr);
  expectError("weight 0 has no name or no tensor");
  FactNamedTensor nameless[] = {{nullptr, &w.tensor}};
  EXPECT_EQ(library->create(nameless, 1), nullptr);
  expectError("weight 0 has no name or no tensor");
}

TEST_F(LibraryTest, RunChecksItsArguments) {
  create();
  DLTensor *in[] = {&x.tensor}, *result[] = {&y.tensor};
  EXPECT_NE(library->run(nullptr, in, 1, result, 1, nullptr), 0);
  expectError("the model is null");
  EXPECT_NE(library->run(model, in, 1, result, 0, nullptr), 0);
  expectError("got 1 inputs and 0 outputs; expected 1 and 1");
  DLTensor *none[] = {nullptr};
  EXPECT_NE(library->run(model, none, 1, result, 1, nullptr), 0);
  expectError("input 'x' is null");
  EXPECT_NE(library->run(model, in, 1, none, 1, nullptr), 0);
  expectError("output 'y' is null");
  x.shape[0] = 5;
  EXPECT_NE(run(), 0);
  expectError("input 'x' has shape [5, 6]; expected [4, 6], since a library is "
              "for the sizes that it was compiled with");
  x.shape[0] = rows;
  x.tensor.shape = nullptr;
  EXPECT_NE(run(), 0);
  expectError("input 'x' has no shape (a null pointer); expected [4, 6]");
  x.tensor.shape = x.shape.data();
  x.tensor.ndim = -1;
  EXPECT_NE(run(), 0);
  expectError("input 'x' has shape []; expected [4, 6]");
  x.tensor.ndim = 2;
  x.tensor.data = nullptr;
  EXPECT_NE(run(), 0);
  expectError("input 'x' has no data (a null pointer)");
  x.tensor.data = x.data.data();
  EXPECT_NE(library->run(model, nullptr, 1, result, 1, nullptr), 0);
  expectError("input 'x' is null");
  x.tensor.dtype.bits = 64;
  EXPECT_NE(run(), 0);
  expectError("input 'x' has type f64; expected f32");
  x.tensor.dtype.bits = 32;
  x.tensor.device = {kDLCUDA, 0};
  EXPECT_NE(run(), 0);
  expectError("input 'x' is on cuda:0; expected cpu:0");
  x.tensor.device = {kDLCPU, 0};
  y.strides = {1, rows};
  y.tensor.strides = y.strides.data();
  EXPECT_NE(run(), 0);
  expectError("output 'y' is not row-major");
  y.tensor.strides = nullptr;
  y.tensor.data = x.data.data() + 1;
  EXPECT_NE(run(), 0);
  expectError("output 'y' overlaps input 'x'");
  y.tensor.data = w.data.data() + elements - 1;
  EXPECT_NE(run(), 0);
  expectError("output 'y' overlaps weight 'w'");
  y.tensor.data = mask.data.data() - 1;
  EXPECT_NE(run(), 0);
  expectError("output 'y' overlaps weight 'mask'");
  y.tensor.data = y.data.data();
  EXPECT_EQ(run(), 0);
}

TEST_F(LibraryTest, Describes) {
  EXPECT_EQ(library->abi, FACT_LIBRARY_ABI);
  EXPECT_EQ(library->bytes, sizeof(FactLibrary));
  EXPECT_NE(std::string(library->describe()).find("sample"), std::string::npos);
  int64_t count = 0;
  const FactTensorInfo *info = library->inputs(&count);
  ASSERT_EQ(count, 1);
  EXPECT_STREQ(info[0].name, "x");
  EXPECT_EQ(info[0].ndim, 2);
  EXPECT_EQ(info[0].shape[1], columns);
  EXPECT_EQ(info[0].bytes, elements * sizeof(float));
  EXPECT_EQ(info[0].dtype.code, kDLFloat);
  EXPECT_EQ(info[0].dtype.bits, 32);
  EXPECT_STREQ(library->outputs(nullptr)[0].name, "y");
  info = library->weights(&count);
  ASSERT_EQ(count, 2);
  EXPECT_FALSE(info[0].baked);
  EXPECT_TRUE(info[1].baked);
  EXPECT_EQ(library->device_type(), kDLCPU);
  // Workspace, prepared, one constant, a packed weight, scratch for a value.
  EXPECT_EQ(library->memory_bytes(), 512u + 256 + 4 + 2 * elements * 4);
  library->destroy(nullptr);
}

} // namespace
