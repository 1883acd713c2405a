//===- Gemm.cpp - Families of matrix products -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One product and its epilogue; two products that results combine (a gated
// MLP); several products of one lhs that results read apart (queries, keys and
// values). All are one plan and one builder.
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
class GemmRealiser : public HostRealiser {
public:
  using HostRealiser::HostRealiser;

  std::vector<const ScheduleKind *> getScheduleKinds() const override {
    return {&HostGemmAttr::kind};
  }
  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    if (failed(requireStaticShapes(fused, emitError)))
      return failure();
    FailureOr<GemmPlan> plan = GemmPlan::get(fused, emitError);
    if (failed(plan))
      return failure();
    return checkFamily(*plan, emitError);
  }
  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttr schedule) const override;

protected:
  virtual LogicalResult checkFamily(const GemmPlan &plan,
                                    EmitError emitError) const = 0;
  LogicalResult build(KernelBuilder &b,
                      ScheduleAttr schedule) const override;
};

class GemmEpilogueRealiser : public GemmRealiser {
public:
  using GemmRealiser::GemmRealiser;
  StringRef getRule() const override { return "gemm_epilogue"; }

protected:
  LogicalResult checkFamily(const GemmPlan &plan,
                            EmitError emitError) const override {
    if (plan.products.size() > 1)
      return emitError() << "takes one 'fact.matmul', and there are more";
    return success();
  }
};

class GatedGemmRealiser : public GemmRealiser {
public:
  using GemmRealiser::GemmRealiser;
  StringRef getRule() const override { return "gated_gemm"; }

protected:
  LogicalResult checkFamily(const GemmPlan &plan,
                            EmitError emitError) const override {
    if (plan.products.size() != 2)
      return emitError() << "needs exactly two 'fact.matmul', not "
                         << plan.products.size();
    if (plan.segments.size() != 1)
      return emitError() << "needs a result that combines both products";
    MatmulOp gate = plan.products[0].matmul, up = plan.products[1].matmul;
    if (gate.getRhs() == up.getRhs() ||
        gate.getRhs().getType() != up.getRhs().getType())
      return emitError() << "needs two weights of the same type, not "
                         << gate.getRhs().getType() << " and "
                         << up.getRhs().getType();
    return success();
  }
};

class GroupedGemmRealiser : public GemmRealiser {
public:
  using GemmRealiser::GemmRealiser;
  StringRef getRule() const override { return "grouped_gemm"; }

protected:
  LogicalResult checkFamily(const GemmPlan &plan,
                            EmitError emitError) const override {
    if (plan.products.size() < 2)
      return emitError() << "needs two or more 'fact.matmul' of one lhs";
    if (plan.segments.size() != plan.products.size())
      return emitError() << "needs results that read one product each, and one "
                            "combines several";
    return success();
  }
};
} // namespace

LogicalResult GemmRealiser::build(KernelBuilder &b,
                                  ScheduleAttr schedule) const {
  FailureOr<GemmPlan> plan = GemmPlan::get(b.getFused(), noDiagnostic);
  auto gemm = dyn_cast<HostGemmAttr>(schedule);
  if (failed(plan) || !gemm)
    return failure();
  // The schedule lives in another context; its numbers are all that is used.
  buildGemm(b, *plan, gemm);
  return success();
}

//===----------------------------------------------------------------------===//
// Spaces and estimates
//===----------------------------------------------------------------------===//

SpaceAttrInterface GemmRealiser::getDefaultSpace(FusedOp fused) const {
  FailureOr<GemmPlan> plan = GemmPlan::get(fused, noDiagnostic);
  int64_t rows = succeeded(plan) ? plan->batchRows : 64;
  int64_t columns = succeeded(plan) ? plan->getColumns() : 64;
  // Most sums that registers hold beside a row of B and an element of A, and
  // enough of them to hide the latency of a multiplication.
  int64_t lanes = cpu.getVectorBytes() / 4;
  bool manyRegisters = cpu.getVectorRegisters() == 32;
  SmallVector<Extents> micro;
  if (rows < 4)
    micro = {Extents{rows, 4 * lanes}, Extents{rows, 8 * lanes}};
  else if (rows < 8)
    micro = {Extents{4, 2 * lanes},
             Extents{4, (manyRegisters ? 4 : 3) * lanes}};
  else if (cpu.getVectorBytes() == 64)
    micro = {Extents{12, 32}, Extents{8, 48}, Extents{6, 32}};
  else if (cpu.getVectorBytes() == 32)
    micro = {Extents{6, 16}, Extents{4, 24}, Extents{4, 16}};
  else if (manyRegisters)
    micro = {Extents{8, 12}, Extents{8, 8}, Extents{4, 16}};
  else
    micro = {Extents{4, 8}, Extents{6, 8}};
  // Multiples of every register tile; larger where one tile has little to do.
  int64_t tileRows =
      rows >= 48 ? 48 : std::max<int64_t>(ceilDivide(rows, 24) * 24, 24);
  int64_t wide = columns >= 384 ? 384 : 96;
  SmallVector<int64_t> rowSizes{tileRows};
  if (rows >= 96)
    rowSizes.push_back(96);
  return HostGemmAttr::getSpace(fused->getContext(), micro, rowSizes, {wide});
}

double GemmRealiser::predictMicroseconds(FusedOp fused,
                                         ScheduleAttr schedule) const {
  FailureOr<GemmPlan> plan = GemmPlan::get(fused, noDiagnostic);
  auto gemm = dyn_cast<HostGemmAttr>(schedule);
  if (failed(plan) || !gemm)
    return 0;
  double mr = gemm.getMicro()[0], nr = gemm.getMicro()[1];
  // Loads for each multiplication, and registers that do not suffice.
  double efficiency = 1 / (1 + 1 / mr + 1 / nr);
  double vectors = nr * getStorageBytes(plan->compute) / cpu.getVectorBytes();
  double registers = mr * vectors;
  if (registers + vectors + 1 > cpu.getVectorRegisters() || registers < 8)
    efficiency *= 0.6;
  double columns = 0;
  for (const GemmPlan::Segment &segment : plan->segments)
    columns += ceilDivide(segment.n, nr) * nr * segment.products.size();
  double padded =
      ceilDivide(plan->batchRows, mr) * mr * columns * plan->batches;
  // Each tile packs its rows of A again.
  double tiles = plan->hasReductions(/*ofRows=*/true)
                     ? 1
                     : ceilDivide(plan->getColumns(), gemm.getColumns());
  double packing = double(plan->rows) * plan->k * tiles;
  double flops =
      machine.getMatrixFlops(toElementType(plan->compute)) * efficiency;
  double seconds = 2 * padded * plan->k / flops + packing / machine.scalarFlops;
  return 1e6 * std::max(seconds, countBytes(fused) / machine.bandwidth);
}

std::unique_ptr<Realiser>
host::createGemmRealiser(const MachineDescription &machine) {
  return std::make_unique<GemmEpilogueRealiser>(machine);
}
std::unique_ptr<Realiser>
host::createGatedGemmRealiser(const MachineDescription &machine) {
  return std::make_unique<GatedGemmRealiser>(machine);
}
std::unique_ptr<Realiser>
host::createGroupedGemmRealiser(const MachineDescription &machine) {
  return std::make_unique<GroupedGemmRealiser>(machine);
}
