//===- MemoryPlan.cpp - The memory of an instance of a model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryPlan.h"
#include "fact/Runtime/Device.h"
#include <algorithm>
#include <set>

namespace fact {
namespace runtime {

static KernelInstance instantiate(const KernelSpec &kernel) {
  return KernelInstance(*kernel.kernel, kernel.sizes);
}

Packing packingOf(const Program &program, const StepSpec &step, bool atLoad) {
  Packing packing;
  // A prepare step runs once per load in any case. Inputs and outputs change
  // between calls, and workspace within one.
  bool fixed = !atLoad;
  KernelInstance instance = instantiate(program.kernels[step.kernel]);
  for (uint32_t operand : instance.packedOperands()) {
    if (operand >= step.bufferCount)
      return {}; // KernelInstance::validate says so.
    packing.values.push_back(step.buffers[operand]);
    ValueKind kind =
        program.values[program.wholeOf(step.buffers[operand])].kind;
    fixed =
        fixed && (kind == ValueKind::Weight || kind == ValueKind::Constant ||
                  kind == ValueKind::Prepared);
  }
  if (!packing.values.empty())
    packing.when = fixed ? Packing::Once : Packing::EachRun;
  return packing;
}

/// Adds the weights among the operands of a step.
static void addWeights(const Program &program, const uint32_t *values,
                       size_t count, std::set<uint32_t> &weights) {
  for (size_t i = 0; i < count; ++i) {
    const ValueSpec &value = program.values[program.wholeOf(values[i])];
    if (value.kind == ValueKind::Weight)
      weights.insert(value.index);
  }
}

MemoryPlan::MemoryPlan(const Program &program) {
  std::set<uint32_t> consumed;
  for (uint32_t i = 0; i < program.weights.size; ++i)
    if (program.weights[i].baked)
      consumed.insert(i);
  placeScratch(program);
  auto add = [&](const StepSpec &step, bool atLoad) {
    uint64_t bytes = instantiate(program.kernels[step.kernel]).packedBytes();
    Packing packing = packingOf(program, step, atLoad);
    uint32_t slot = static_cast<uint32_t>(slotBytes.size());
    if (atLoad)
      addWeights(program, step.buffers, step.operandCount, consumed);
    if (packing.when == Packing::Once)
      addWeights(program, packing.values.data(), packing.values.size(),
                 consumed);
    if (packing.when == Packing::EachRun)
      packScratch = std::max(packScratch, bytes);
    else if (packing.when == Packing::Once &&
             slots.emplace(std::make_pair(step.kernel, packing.values), slot)
                 .second)
      slotBytes.push_back(bytes);
  };
  for (const StepSpec &step : program.prepare)
    add(step, /*atLoad=*/true);
  for (const StepSpec &step : program.program)
    add(step, /*atLoad=*/false);
  consumedWeights.assign(consumed.begin(), consumed.end());
}

void MemoryPlan::placeScratch(const Program &program) {
  std::vector<uint64_t> bytes;
  for (const KernelSpec &kernel : program.kernels) {
    bytes.push_back(instantiate(kernel).workspaceBytes());
    kernelWorkspace = std::max(kernelWorkspace, bytes.back());
  }
  std::vector<uint32_t> smallestFirst;
  for (uint32_t step = 0; step < program.program.size; ++step) {
    scratch.push_back({0, bytes[program.program[step].kernel]});
    smallestFirst.push_back(step);
  }
  std::stable_sort(smallestFirst.begin(), smallestFirst.end(),
                   [&](uint32_t a, uint32_t b) {
                     return scratch[a].bytes < scratch[b].bytes;
                   });
  // A processor runs one step after the other, and finds shared memory in its
  // caches. What is too large for memory of its own lies behind the others.
  uint64_t end = 0, limit = program.cpuArchitecture ? 0 : mostSeparateScratch;
  for (uint32_t step : smallestFirst) {
    uint64_t rounded = (scratch[step].bytes + scratchAlignment - 1) /
                       scratchAlignment * scratchAlignment;
    scratch[step].offset = end;
    kernelWorkspace = std::max(kernelWorkspace, end + scratch[step].bytes);
    if (end + rounded <= limit)
      end += rounded;
  }
}

uint64_t MemoryPlan::total(const Program &program) const {
  uint64_t bytes = program.workspaceBytes + program.preparedBytes +
                   kernelWorkspace + packScratch;
  for (const ConstantSpec &constant : program.constants)
    bytes += constant.bytes;
  for (uint64_t each : slotBytes)
    bytes += each;
  return bytes;
}

} // namespace runtime
} // namespace fact
