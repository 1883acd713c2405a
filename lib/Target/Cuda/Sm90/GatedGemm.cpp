//===- GatedGemm.cpp - Two products of one operand, combined --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first half of a gated MLP: two matmuls with the same lhs and weights of
// the same type, then a graph of pointwise ops that makes one result of both
// products and of biases or other operands. It runs as one GEMM of twice the
// width, whose epilogue has both products of an element at hand.
//
//===----------------------------------------------------------------------===//

#include "PackedGemm.h"

using namespace mlir;
using namespace fact;

namespace {
/// A region as a gated GEMM: everything but the schedule.
struct GatedGemm {
  int64_t m, n, k;
  MatrixTensor a, gate, up, result;
  SmallVector<MatrixTensor> operands;
  ScalarFunction combine;
};

class GatedGemmAnalysis : PackedGemmAnalysis {
public:
  GatedGemmAnalysis(FusedOp fused, EmitError emitError)
      : PackedGemmAnalysis(fused, emitError) {}

  FailureOr<GatedGemm> run() {
    if (failed(findProducts()))
      return failure();
    int64_t k = gate.getK(), n = gate.getN(),
            m = gate.getType().getNumElements() / n;
    FailureOr<MatrixTensor> a = getLhs(gate);
    FailureOr<MatrixTensor> gateWeight = getWeight(gate);
    FailureOr<MatrixTensor> upWeight = getWeight(up);
    if (failed(a) || failed(gateWeight) || failed(upWeight))
      return failure();
    if (fused.getNumResults() != 1)
      return emitError() << "needs exactly one result, not "
                         << fused.getNumResults();

    SmallVector<int64_t> space{m, n};
    Value value;
    FailureOr<MatrixTensor> result = getResult(0, space, value);
    if (failed(result))
      return failure();
    ScalarFunction::Options options;
    options.fast = true;
    options.leading = {gate.getResult(), up.getResult()};
    FailureOr<ScalarFunction> combine =
        ScalarFunction::get({value}, space, options, emitError);
    if (failed(combine))
      return failure();
    FailureOr<SmallVector<MatrixTensor>> operands = getOperands(*combine, 2);
    if (failed(operands))
      return failure();
    return GatedGemm{m,         n,       k,         *a, *gateWeight,
                     *upWeight, *result, *operands, std::move(*combine)};
  }

private:
  LogicalResult findProducts() {
    auto matmuls =
        llvm::to_vector(fused.getBody().front().getOps<MatmulOp>());
    if (matmuls.size() != 2)
      return emitError() << "needs exactly two 'fact.matmul', not "
                         << matmuls.size();
    gate = matmuls[0];
    up = matmuls[1];
    if (failed(checkProducts(matmuls)))
      return failure();
    if (gate.getRhs() == up.getRhs() ||
        gate.getRhs().getType() != up.getRhs().getType() ||
        gate.getType() != up.getType())
      return emitError() << "needs two weights of the same type, not "
                         << gate.getRhs().getType() << " and "
                         << up.getRhs().getType();
    // The order does not matter; that the gate is what an activation reads only
    // makes the names true.
    if (isActivated(up) && !isActivated(gate))
      std::swap(gate, up);
    return success();
  }

  static bool isActivated(MatmulOp matmul) {
    return llvm::any_of(matmul->getUsers(), [](Operation *user) {
      return user->getNumOperands() == 1 && isa<PointwiseOpInterface>(user);
    });
  }

  MatmulOp gate, up;
};

class GatedGemmPlan : public Sm90GemmPlan {
public:
  GatedGemmPlan(const Family &family, FusedOp fused,
                const MachineDescription &machine, GatedGemm gemm)
      : Sm90GemmPlan(family, fused, machine), gemm(std::move(gemm)) {}

  SpaceAttrInterface getSpace() const override {
    // Tiles are those of the product of twice the width.
    return getPackedGemmSpace(fused.getContext(), gemm.m, 2 * gemm.n, machine);
  }
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override {
    Limits limits = getPackedGemmLimits();
    // The tile is that of both products together.
    limits.tileColumns = 32;
    return checkGemm(cast<Sm90GemmAttr>(schedule), limits, emitError);
  }

private:
  GatedGemm gemm;
};

class GatedGemmFamily : public Family {
public:
  GatedGemmFamily()
      : Family(gatedGemmRule, "sm_90a", {&Sm90GemmAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    return makePlan<GatedGemmPlan>(fused, machine,
                                   GatedGemmAnalysis(fused, emitError).run());
  }
};
} // namespace

double GatedGemmPlan::predict(ScheduleAttr schedule) const {
  double m = gemm.m, n = gemm.n, k = gemm.k;
  double weightBytes = 2 * 2 * n * k;
  // Two accumulators share one evaluation and one store.
  GemmWork work{gemm.m, 2 * gemm.n, gemm.k, 1, 0, 0, 0};
  work.epilogueBytes = countMatrixBytes(gemm.operands, gemm.m, gemm.n);
  work.bytes = 2 * (m * k + m * n) + weightBytes + work.epilogueBytes;
  work.slots = 4 + (gemm.combine.getCost() + 4.0 * gemm.operands.size()) / 2;
  return 1e6 * predictGemm(work, cast<Sm90GemmAttr>(schedule), machine);
}

LogicalResult GatedGemmPlan::emit(ArrayRef<KernelVariant> variants,
                                  KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "GatedGemm.cuh");
  gemm.combine.printFunctor(os, "Combine",
                            getArgumentNames(gemm.combine, {"gate", "up"}));
  os << "\nusing Kernel = GatedGemm<\n    Problem<" << gemm.m << ", " << gemm.n
     << ", " << gemm.k << ">,\n    " << gemm.a << ",\n    " << gemm.gate
     << ",\n    " << gemm.up << ",\n    ";
  printOperands(os, gemm.operands);
  os << ",\n    Combine,\n    " << gemm.result << ",\n    ";
  printSchedule(os, cast<Sm90GemmAttr>(schedule));
  os << ">;\n";
  printGemmVariants(os, variants);
  return success();
}

void fact::registerGatedGemmFamily(DialectRegistry &registry) {
  registerFamily<GatedGemmFamily>(registry);
}
