//===- RecordingsTest.cpp - Runs that replay a graph ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   p = 2 * w                                at load
//   y = ((a + p + b) * 4 + b) * 8 + b        nine kernels
//
// One kernel uses `a`, three use `b`, one of these `y`.
//
//===----------------------------------------------------------------------===//

#include "Recordings.h"
#include "FakeDevice.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include "gtest/gtest.h"
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace fact::runtime;

namespace {

constexpr int64_t elements = 8;

void add(int64_t, void *const *buffers, void *) {
  for (int64_t i = 0; i < elements; ++i)
    static_cast<float *>(buffers[2])[i] =
        static_cast<const float *>(buffers[0])[i] +
        static_cast<const float *>(buffers[1])[i];
}
void twice(int64_t, void *const *buffers, void *) {
  for (int64_t i = 0; i < elements; ++i)
    static_cast<float *>(buffers[1])[i] =
        2 * static_cast<const float *>(buffers[0])[i];
}

FactKernel oneTile(uint32_t buffers,
                   void (*tile)(int64_t, void *const *, void *)) {
  FactKernel kernel = {};
  kernel.abi = FACT_KERNEL_ABI;
  kernel.buffer_count = buffers;
  kernel.tiles = 1;
  kernel.tile = tile;
  kernel.packed_operand = -1;
  return kernel;
}
const FactKernel addKernel = oneTile(3, add);
const FactKernel twiceKernel = oneTile(2, twice);

const int64_t shape[] = {elements};
const TensorSpec inputs[] = {{"a", ElementType::F32, 1, shape},
                             {"b", ElementType::F32, 1, shape}};
const TensorSpec outputs[] = {{"y", ElementType::F32, 1, shape}};
const WeightSpec weights[] = {{{"w", ElementType::F32, 1, shape}, false, 0}};
enum : uint32_t { A, B, W, P, T, U, Y };
const ValueSpec values[] = {
    {ValueKind::Input, 0, 0},     {ValueKind::Input, 1, 0},
    {ValueKind::Weight, 0, 0},    {ValueKind::Prepared, 0, 0},
    {ValueKind::Workspace, 0, 0}, {ValueKind::Workspace, 0, 256},
    {ValueKind::Output, 0, 0}};
const KernelSpec kernels[] = {{"add", "fake", &addKernel},
                              {"twice", "fake", &twiceKernel}};
const uint32_t ofW[] = {W, P}, addA[] = {A, P, T}, addB[] = {T, B, U},
               addAgain[] = {U, B, T}, addLast[] = {U, B, Y}, toT[] = {U, T},
               toU[] = {T, U};
const StepSpec prepareSteps[] = {{1, 1, 2, ofW}};
const StepSpec programSteps[] = {
    {0, 2, 3, addA}, {0, 2, 3, addB},     {1, 1, 2, toT},
    {1, 1, 2, toU},  {0, 2, 3, addAgain}, {1, 1, 2, toU},
    {1, 1, 2, toT},  {1, 1, 2, toU},      {0, 2, 3, addLast}};

} // namespace

const Program fact::runtime::theProgram = {"sample",
                                           "{\"name\": \"sample\"}",
                                           {inputs, 2},
                                           {outputs, 1},
                                           {weights, 1},
                                           {nullptr, 0},
                                           {values, 7},
                                           {kernels, 2},
                                           {prepareSteps, 1},
                                           {programSteps, 9},
                                           512,
                                           256,
                                           nullptr,
                                           {nullptr, 0}};

namespace {

struct Vector {
  explicit Vector(float first) {
    for (int64_t i = 0; i < elements; ++i)
      data[i] = first + static_cast<float>(i);
    tensor = {data, {kDLCUDA, 0}, 1, {kDLFloat, 32, 1}, extents, nullptr, 0};
  }
  Vector(const Vector &) = delete;

  int64_t extents[1] = {elements};
  float data[elements];
  DLTensor tensor;
};

/// One set of arguments.
struct Call {
  explicit Call(float seed) : a(seed), b(10 * seed) {}

  int run(FactModel *model, void *stream = nullptr) {
    DLTensor *in[] = {&a.tensor, &b.tensor}, *out[] = {&y.tensor};
    return fact_library()->run(model, in, 2, out, 1, stream);
  }
  /// After the device has done its work.
  void expectResult(const Vector &w) {
    for (int64_t i = 0; i < elements; ++i) {
      float sum = a.data[i] + 2 * w.data[i] + b.data[i];
      ASSERT_EQ(y.data[i], (sum * 4 + b.data[i]) * 8 + b.data[i]) << i;
    }
  }

  Vector a, b, y{-1};
};

std::vector<std::unique_ptr<Call>> makeCalls(int count) {
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < count; ++i)
    calls.push_back(std::make_unique<Call>(static_cast<float>(i + 1)));
  return calls;
}

class RecordingsTest : public testing::Test {
protected:
  RecordingsTest() { model = create(); }
  ~RecordingsTest() override {
    library->destroy(model);
    fake::failing.clear();
  }

  FactModel *create() {
    FactNamedTensor named[] = {{"w", &w.tensor}};
    return library->create(named, 1);
  }
  void use(int setting) { ASSERT_EQ(library->use_graphs(model, setting), 0); }
  FactGraphInfo info() {
    FactGraphInfo found = {};
    EXPECT_EQ(library->graph_info(model, &found), 0);
    return found;
  }
  /// Runs, and expects the reason for launches; "" expects a replay.
  void run(Call &call, const std::string &reason, void *stream = nullptr) {
    ASSERT_EQ(call.run(model, stream), 0) << library->last_error();
    EXPECT_EQ(info().reason, reason);
  }
  void expectResults(const std::vector<std::unique_ptr<Call>> &calls) {
    fake::synchronize();
    for (const std::unique_ptr<Call> &call : calls)
      call->expectResult(w);
  }

  const FactLibrary *library = fact_library();
  FactModel *model = nullptr;
  Vector w{5};
};

TEST_F(RecordingsTest, AutomaticRecordsArgumentsThatComeBack) {
  Call call(1);
  EXPECT_EQ(info().setting, FACT_GRAPHS_AUTOMATIC);
  for (const char *reason : {"first", "moving", "moving", "", "", ""})
    run(call, reason);
  FactGraphInfo found = info();
  EXPECT_EQ(found.launched, 3);
  EXPECT_EQ(found.replayed, 3);
  EXPECT_EQ(found.recorded, 1);
  EXPECT_EQ(found.updated, 0);
  fake::synchronize();
  call.expectResult(w);
  // What the arguments hold is read by each replay.
  call.a.data[3] = 77;
  run(call, "");
  fake::synchronize();
  call.expectResult(w);
}

TEST_F(RecordingsTest, AutomaticKeepsSetsInTurn) {
  std::vector<std::unique_ptr<Call>> calls = makeCalls(6);
  for (int round = 0; round < 10; ++round)
    for (std::unique_ptr<Call> &call : calls)
      ASSERT_EQ(call->run(model), 0);
  expectResults(calls);
  FactGraphInfo found = info();
  EXPECT_EQ(found.recorded, 6);
  EXPECT_EQ(found.updated, 0);
  EXPECT_GE(found.replayed, 40);
}

/// More sets than graphs: updating one for each call would cost more than it
/// saves.
TEST_F(RecordingsTest, AutomaticLeavesManySetsInTurnAlone) {
  std::vector<std::unique_ptr<Call>> calls = makeCalls(12);
  for (int round = 0; round < 10; ++round)
    for (std::unique_ptr<Call> &call : calls)
      ASSERT_EQ(call->run(model), 0);
  expectResults(calls);
  FactGraphInfo found = info();
  EXPECT_EQ(found.recorded, int64_t(Recordings::maximumGraphs));
  EXPECT_EQ(found.updated, 0);
  EXPECT_GE(found.replayed, 8 * 6);
  // Graphs that no run needs any more make room.
  std::vector<std::unique_ptr<Call>> others = makeCalls(2);
  for (int round = 0; round < 40; ++round)
    for (std::unique_ptr<Call> &call : others)
      ASSERT_EQ(call->run(model), 0);
  expectResults(others);
  EXPECT_EQ(info().updated, 2);
  EXPECT_STREQ(info().reason, "");
}

TEST_F(RecordingsTest, AutomaticUpdatesWhereFewKernelsUseWhatMoved) {
  Call call(1);
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(call.run(model), 0);
  int64_t before = fake::binds;
  // One kernel of nine uses `a`.
  Vector other(50);
  std::swap(call.a.tensor.data, other.tensor.data);
  run(call, "");
  EXPECT_EQ(fake::binds, before + 1);
  EXPECT_EQ(info().updated, 1);
  fake::synchronize();
  for (int64_t i = 0; i < elements; ++i) {
    float sum = other.data[i] + 2 * w.data[i] + call.b.data[i];
    EXPECT_EQ(call.y.data[i], (sum * 4 + call.b.data[i]) * 8 + call.b.data[i]);
  }
  // Three kernels use `b`.
  Vector more(20);
  call.b.tensor.data = more.data;
  run(call, "moving");
  fake::synchronize();
  EXPECT_EQ(info().updated, 1);
}

/// Replays that wait on the device keep the addresses that they were enqueued
/// with.
TEST_F(RecordingsTest, OnUpdatesTheGraphUsedLeastRecently) {
  use(FACT_GRAPHS_ON);
  std::vector<std::unique_ptr<Call>> calls = makeCalls(20);
  run(*calls[0], "first");
  for (std::unique_ptr<Call> &call : calls)
    run(*call, "");
  expectResults(calls);
  FactGraphInfo found = info();
  EXPECT_EQ(found.recorded, int64_t(Recordings::maximumGraphs));
  EXPECT_EQ(found.updated, 20 - int64_t(Recordings::maximumGraphs));
  EXPECT_EQ(found.replayed, 20);
}

TEST_F(RecordingsTest, OffLaunches) {
  use(FACT_GRAPHS_OFF);
  Call call(1);
  for (int i = 0; i < 5; ++i)
    run(call, "off");
  fake::synchronize();
  call.expectResult(w);
  EXPECT_NE(library->use_graphs(model, 3), 0);
  EXPECT_NE(std::string(library->last_error())
                .find("unknown setting of graphs 3; expected 0 (off), 1 (on) "
                      "or 2 (automatic)"),
            std::string::npos)
      << library->last_error();
  EXPECT_NE(library->graph_info(model, nullptr), 0);
  EXPECT_NE(library->use_graphs(nullptr, FACT_GRAPHS_ON), 0);
  EXPECT_EQ(info().setting, FACT_GRAPHS_OFF);
}

TEST_F(RecordingsTest, TheCallersCaptureGetsTheKernels) {
  use(FACT_GRAPHS_ON);
  Call call(1);
  run(call, "first");
  run(call, "");
  void *stream = fake::createStream();
  fake::beginCapture(stream);
  run(call, "captured", stream);
  fake::Work graph = fake::endCapture(stream);
  fake::synchronize();
  call.expectResult(w);
  EXPECT_EQ(graph.size(), 9u);
  call.a.data[0] = 33;
  fake::enqueue(graph);
  fake::synchronize();
  call.expectResult(w);
  run(call, "", stream);
  fake::synchronize();
  fact::runtime::device::destroyStream(stream);
}

TEST_F(RecordingsTest, FailuresFallBackToLaunches) {
  use(FACT_GRAPHS_ON);
  std::vector<std::unique_ptr<Call>> calls = makeCalls(30);
  run(*calls[0], "first");
  size_t next = 1;
  auto failAs = [&](const std::string &word) {
    fake::failing = word;
    run(*calls[next++], word);
    EXPECT_EQ(info().detail, "the fake fails to " + word);
    // It stays so, also when it would work again.
    fake::failing.clear();
    run(*calls[next++], word);
    use(FACT_GRAPHS_ON);
    run(*calls[next++], "");
    EXPECT_STREQ(info().detail, "");
  };
  failAs("capture");
  failAs("instantiate");
  failAs("launch");
  while (info().recorded < int64_t(Recordings::maximumGraphs))
    run(*calls[next++], "");
  failAs("update");
  calls.resize(next);
  expectResults(calls);
}

TEST_F(RecordingsTest, OtherWeightsUpdateTheGraphs) {
  use(FACT_GRAPHS_ON);
  std::vector<std::unique_ptr<Call>> calls = makeCalls(3);
  run(*calls[0], "first");
  for (std::unique_ptr<Call> &call : calls)
    run(*call, "");
  Vector other(500);
  FactNamedTensor named[] = {{"w", &other.tensor}};
  ASSERT_EQ(library->set_weights(model, named, 1), 0);
  std::swap(w.data, other.data);
  other.tensor.data = w.data;
  ASSERT_EQ(library->set_weights(model, named, 1), 0);
  for (int round = 0; round < 2; ++round)
    for (std::unique_ptr<Call> &call : calls)
      run(*call, "");
  expectResults(calls);
  EXPECT_EQ(info().recorded, 3);
  EXPECT_EQ(info().updated, 3);
}

TEST_F(RecordingsTest, DestroyWaitsForReplays) {
  Call call(1);
  FactModel *other = create();
  ASSERT_EQ(library->use_graphs(other, FACT_GRAPHS_ON), 0);
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(call.run(other), 0);
  library->destroy(other);
  call.expectResult(w);
}

TEST_F(RecordingsTest, InputsThatAreCopiedKeepTheirGraph) {
  use(FACT_GRAPHS_ON);
  Call call(1);
  std::vector<float> wide(2 * elements);
  for (int64_t i = 0; i < elements; ++i)
    wide[2 * i] = call.a.data[i];
  int64_t strides[] = {2};
  call.a.tensor.data = wide.data();
  call.a.tensor.strides = strides;
  run(call, "first");
  for (int i = 0; i < 3; ++i)
    run(call, "");
  fake::synchronize();
  call.expectResult(w);
  EXPECT_EQ(info().recorded, 1);
  EXPECT_EQ(info().updated, 0);
}

TEST_F(RecordingsTest, RepeatedCallsAllocateAndBindNothing) {
  ASSERT_GT(fake::allocations, 0) << "nothing is counted";
  for (int setting : {FACT_GRAPHS_OFF, FACT_GRAPHS_ON}) {
    use(setting);
    Call call(1);
    for (int i = 0; i < 4; ++i)
      ASSERT_EQ(call.run(model), 0);
    int64_t before = fake::allocations, bindsBefore = fake::binds;
    for (int i = 0; i < 10; ++i)
      call.run(model);
    EXPECT_EQ(fake::allocations, before) << setting;
    EXPECT_EQ(fake::binds - bindsBefore, setting == FACT_GRAPHS_ON ? 0 : 90);
    fake::synchronize();
  }
}

/// Each thread has an instance of its own, and all share one.
TEST_F(RecordingsTest, Threads) {
  use(FACT_GRAPHS_ON);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      FactModel *own = create();
      library->use_graphs(own,
                          number % 2 ? FACT_GRAPHS_ON : FACT_GRAPHS_AUTOMATIC);
      for (int round = 0; round < 50; ++round) {
        std::vector<std::unique_ptr<Call>> calls = makeCalls(3);
        for (size_t i = 0; i < calls.size(); ++i)
          EXPECT_EQ(calls[i]->run(i % 2 ? own : model), 0);
        expectResults(calls);
      }
      library->destroy(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
