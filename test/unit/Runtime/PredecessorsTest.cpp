//===- PredecessorsTest.cpp - Which steps have to follow which ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Predecessors.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <deque>
#include <random>

using namespace fact::runtime;

namespace {

using Order = std::vector<std::vector<uint32_t>>;

FactKernel makeKernel(uint64_t scratch = 0) {
  FactKernel kernel = {};
  kernel.abi = FACT_KERNEL_ABI;
  kernel.packed_operand = -1;
  kernel.workspace_bytes = scratch;
  return kernel;
}

FactKernel makePackingKernel() {
  FactKernel kernel = makeKernel();
  kernel.packed_operand = 0;
  kernel.packed_bytes = 64;
  return kernel;
}

/// A program whose tables are in the making.
struct Sample {
  uint32_t add(ValueKind kind, uint32_t index, uint64_t offset,
               uint64_t bytes) {
    values.push_back({kind, index, offset, bytes});
    return static_cast<uint32_t>(values.size()) - 1;
  }
  uint32_t input() { return add(ValueKind::Input, 0, 0, 64); }
  uint32_t workspace(uint64_t offset, uint64_t bytes = 64) {
    return add(ValueKind::Workspace, 0, offset, bytes);
  }
  uint32_t output(uint32_t index, uint64_t bytes = 64) {
    return add(ValueKind::Output, index, 0, bytes);
  }
  uint32_t part(uint32_t whole, uint64_t offset, uint64_t bytes) {
    return add(ValueKind::Part, whole, offset, bytes);
  }
  void step(std::vector<uint32_t> operands, std::vector<uint32_t> results,
            uint32_t kernel = 0) {
    uint32_t count = static_cast<uint32_t>(operands.size());
    buffers.push_back(std::move(operands));
    buffers.back().insert(buffers.back().end(), results.begin(), results.end());
    steps.push_back({kernel, count,
                     static_cast<uint32_t>(buffers.back().size()),
                     buffers.back().data()});
  }
  Order predecessors() const {
    Program program = {};
    program.values = {values.data(), static_cast<uint32_t>(values.size())};
    program.kernels = {kernels.data(), static_cast<uint32_t>(kernels.size())};
    program.program = {steps.data(), static_cast<uint32_t>(steps.size())};
    program.workspaceBytes = 1024;
    program.cpuArchitecture = cpuArchitecture;
    return findPredecessors(program, MemoryPlan(program));
  }

  FactKernel plain = makeKernel(), small = makeKernel(100),
             large = makeKernel(MemoryPlan::mostSeparateScratch),
             packing = makePackingKernel();
  std::vector<WrittenSpec> left = {{0, 32, 64}}, right = {{32, 64, 64}},
                           middle = {{16, 48, 64}};
  std::vector<KernelSpec> kernels = {
      {"plain", "", &plain},
      {"small", "", &small},
      {"large", "", &large},
      {"packing", "", &packing},
      {"left", "", &plain, {}, {}, {left.data(), 1}},
      {"right", "", &plain, {}, {}, {right.data(), 1}},
      {"middle", "", &plain, {}, {}, {middle.data(), 1}}};
  std::vector<ValueSpec> values;
  std::deque<std::vector<uint32_t>> buffers;
  std::vector<StepSpec> steps;
  const char *cpuArchitecture = nullptr;
};

TEST(Predecessors, BranchesAreApart) {
  Sample sample;
  uint32_t x = sample.input(), a = sample.workspace(0),
           b = sample.workspace(64), y = sample.output(0);
  sample.step({x}, {a});
  sample.step({x}, {b});
  sample.step({a}, {y});
  sample.step({y, b}, {sample.output(1)});
  EXPECT_EQ(sample.predecessors(), (Order{{}, {}, {0}, {2, 1}}));
}

/// What another step follows already is not named again.
TEST(Predecessors, AreTheNearest) {
  Sample sample;
  uint32_t x = sample.input(), a = sample.workspace(0),
           b = sample.workspace(64), y = sample.output(0);
  sample.step({x}, {a});
  sample.step({a}, {b});
  sample.step({a, b}, {y});
  EXPECT_EQ(sample.predecessors(), (Order{{}, {0}, {1}}));
}

/// Memory is written again when those that read it have read it.
TEST(Predecessors, MemoryThatIsSharedOrdersSteps) {
  Sample sample;
  uint32_t x = sample.input(), a = sample.workspace(0), y = sample.output(0),
           again = sample.workspace(32), z = sample.output(1);
  sample.step({x}, {a});
  sample.step({a}, {y});
  sample.step({x}, {again});
  sample.step({again}, {z});
  EXPECT_EQ(sample.predecessors(), (Order{{}, {0}, {1}, {2}}));
}

TEST(Predecessors, PartsOfAValueAreApart) {
  Sample sample;
  uint32_t x = sample.input(), whole = sample.workspace(0, 128),
           first = sample.part(whole, 0, 64),
           second = sample.part(whole, 64, 64),
           both = sample.part(whole, 32, 64), y = sample.output(0, 128),
           left = sample.part(y, 0, 64), right = sample.part(y, 64, 64);
  sample.step({x}, {first});
  sample.step({x}, {second});
  sample.step({first}, {left});
  sample.step({both}, {right});
  EXPECT_EQ(sample.predecessors(), (Order{{}, {}, {0}, {1, 0}}));
}

/// Little scratch memory is each step's own, but not on the host.
TEST(Predecessors, ScratchMemoryThatIsSharedOrdersSteps) {
  Sample sample;
  uint32_t x = sample.input();
  sample.step({x}, {sample.output(0)}, 1);
  sample.step({x}, {sample.output(1)}, 1);
  EXPECT_EQ(sample.predecessors(), (Order{{}, {}}));
  sample.cpuArchitecture = "any";
  EXPECT_EQ(sample.predecessors(), (Order{{}, {0}}));
  sample.cpuArchitecture = nullptr;
  sample.step({x}, {sample.output(2)}, 2);
  sample.step({x}, {sample.output(3)}, 2);
  EXPECT_EQ(sample.predecessors(), (Order{{}, {}, {}, {2}}));
}

/// All operands that are packed on each run are packed into one memory.
TEST(Predecessors, PackedOperandsOrderSteps) {
  Sample sample;
  uint32_t x = sample.input();
  sample.step({x}, {sample.output(0)}, 3);
  sample.step({x}, {sample.output(1)}, 0);
  sample.step({x}, {sample.output(2)}, 3);
  EXPECT_EQ(sample.predecessors(), (Order{{}, {}, {0}}));
}

/// Kernels that write other columns of one tensor do not wait for each other;
/// who reads it waits for all.
TEST(Predecessors, ColumnsOfATensorAreApart) {
  Sample sample;
  uint32_t x = sample.input(), a = sample.workspace(0, 512),
           y = sample.output(0);
  sample.step({x}, {a}, 4);
  sample.step({x}, {a}, 5);
  sample.step({a}, {y});
  sample.step({x}, {a}, 4);
  EXPECT_EQ(sample.predecessors(), (Order{{}, {}, {1, 0}, {2}}));
  // Others overlap the columns of both.
  Sample other;
  uint32_t z = other.input(), b = other.workspace(0, 512);
  other.step({z}, {b}, 4);
  other.step({z}, {b}, 5);
  other.step({z}, {b}, 6);
  other.step({z}, {b}, 5);
  EXPECT_EQ(other.predecessors(), (Order{{}, {}, {1, 0}, {2}}));
}

/// What each element of memory holds after a program that writes numbers made
/// of what it reads, with its steps in some order.
std::vector<uint64_t> run(const Sample &sample,
                          const std::vector<uint32_t> &order) {
  std::vector<uint64_t> memory(64 + 16);
  for (uint32_t number : order) {
    const StepSpec &step = sample.steps[number];
    uint64_t sum = number + 1;
    for (uint32_t i = 0; i < step.bufferCount; ++i) {
      const ValueSpec &value = sample.values[step.buffers[i]];
      uint64_t begin = value.kind == ValueKind::Output ? 64 + value.index
                                                       : value.offset,
               end = begin + value.bytes;
      for (uint64_t at = begin; value.kind != ValueKind::Input && at < end;
           ++at)
        if (i < step.operandCount)
          sum = (sum ^ memory[at]) * 0x100000001b3ull;
        else
          memory[at] = sum;
    }
  }
  return memory;
}

/// Any order that respects the predecessors computes the same.
TEST(Predecessors, AllowOnlyOrdersThatComputeTheSame) {
  std::mt19937 random(7);
  size_t unordered = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Sample sample;
    std::vector<uint32_t> pool = {sample.input()};
    for (int i = 0; i < 12; ++i)
      pool.push_back(sample.workspace(random() % 56, 1 + random() % 8));
    for (uint32_t i = 0; i < 4; ++i)
      pool.push_back(sample.output(i, 1));
    for (int i = 0; i < 24; ++i)
      sample.step({pool[random() % pool.size()], pool[random() % pool.size()]},
                  {pool[1 + random() % (pool.size() - 1)]});
    Order predecessors = sample.predecessors();
    std::vector<uint32_t> plain, other;
    std::vector<bool> done(predecessors.size());
    for (uint32_t i = 0; i < predecessors.size(); ++i)
      plain.push_back(i);
    while (other.size() < plain.size()) {
      std::vector<uint32_t> next;
      for (uint32_t i : plain)
        if (!done[i] &&
            std::all_of(predecessors[i].begin(), predecessors[i].end(),
                        [&](uint32_t before) { return done[before]; }))
          next.push_back(i);
      unordered += next.size() > 1;
      other.push_back(next[random() % next.size()]);
      done[other.back()] = true;
    }
    EXPECT_EQ(run(sample, other), run(sample, plain)) << "trial " << trial;
  }
  EXPECT_GT(unordered, 200u);
}

} // namespace
