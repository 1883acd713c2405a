//===- GatedGemm.cpp - Two products of one operand, combined --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first half of a gated MLP: two matmuls with the same lhs and weights of
// the same type, then a graph of pointwise ops that computes one result from
// both products and from other operands, such as biases. It runs as one GEMM of
// twice the width; in its epilogue a thread holds both products of an element.
//
//===----------------------------------------------------------------------===//

#include "PackedGemm.h"

using namespace mlir;
using namespace fact;

namespace {
/// A gated GEMM without its schedule.
struct GatedGemm {
  MatrixRate rate;
  int64_t m, n, k;
  MatrixTensor a, gate, up, result;
  SmallVector<MatrixTensor> operands;
  ScalarFunction combine;
};

/// Whether an activation reads the product alone.
bool isActivated(MatmulOp matmul) {
  return llvm::any_of(matmul->getUsers(), [](Operation *user) {
    return user->getNumOperands() == 1 && isa<PointwiseOpInterface>(user);
  });
}

class GatedGemmAnalysis : PackedGemmAnalysis {
public:
  using PackedGemmAnalysis::PackedGemmAnalysis;

  FailureOr<GatedGemm> run() {
    if (failed(readWeights()))
      return failure();
    FailureOr<MatrixTensor> a = getLhs();
    if (failed(a))
      return failure();
    if (region.results.size() != 1)
      return emitError() << "must have one result, not "
                         << region.results.size();
    // The kernel is the same either way; the activated product is called the
    // gate.
    unsigned gate = 0, up = 1;
    if (isActivated(region.products[1].matmul) &&
        !isActivated(region.products[0].matmul))
      std::swap(gate, up);
    FailureOr<Epilogue> combine = getEpilogue(
        region.results.front(), {region.products[gate].matmul.getResult(),
                                 region.products[up].matmul.getResult()});
    if (failed(combine))
      return failure();
    return GatedGemm{getRate(),
                     region.m,
                     region.products.front().n,
                     region.k,
                     *a,
                     weights[gate],
                     weights[up],
                     combine->result,
                     combine->operands,
                     std::move(combine->function)};
  }
};

class GatedGemmPlan : public Sm90GemmPlan {
public:
  GatedGemmPlan(const Family &family, FusedOp fused,
                const MachineDescription &machine, GatedGemm gemm)
      : Sm90GemmPlan(family, fused, machine), gemm(std::move(gemm)) {}

  static FailureOr<GatedGemm> read(FusedOp fused, EmitError emitError) {
    return readProducts<GatedGemmAnalysis>(
        fused, ContractionRegion::Kind::Gated, emitError);
  }

  SpaceAttrInterface getSpace() const override {
    // A tile covers columns of both products.
    return getPackedGemmSpace(fused.getContext(), gemm.rate, gemm.m, 2 * gemm.n,
                              machine);
  }
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override {
    Limits limits = getPackedGemmLimits(gemm.rate);
    // A tile covers columns of both products.
    limits.tileColumns = 32;
    return checkGemm(cast<Sm90GemmAttr>(schedule), limits, emitError);
  }

private:
  GatedGemm gemm;
};

class GatedGemmFamily : public FamilyOf<GatedGemmPlan> {
public:
  GatedGemmFamily()
      : FamilyOf(gatedGemmRule, "sm_90a", {&Sm90GemmAttr::kind}) {}

  StringRef getLimits() const override {
    return "Exactly two matmul with different weights, and exactly one "
           "result, which reads both products. No reduce, and no other "
           "reader of the weights. Each weight is a matrix [N, K] under "
           "`transpose_b`, with N and K multiples of 8. The lhs comes "
           "from outside of the pattern, directly or through views; a lhs "
           "that the pattern would compute is of another pattern. Other "
           "operands as those of gemm_epilogue.";
  }
};
} // namespace

double GatedGemmPlan::predict(ScheduleAttr schedule) const {
  double m = gemm.m, n = gemm.n, k = gemm.k;
  double bytes = getStorageBytes(gemm.a.element);
  // The epilogue runs once per pair of accumulators.
  GemmWork work{gemm.rate, gemm.m, 2 * gemm.n, gemm.k, 1, 0, 0, 0};
  work.epilogueBytes = countMatrixBytes(gemm.operands, gemm.m, gemm.n);
  work.bytes = bytes * (m * k + 2 * n * k) +
               getStorageBytes(gemm.result.element) * m * n +
               work.epilogueBytes;
  work.slots = 4 + (gemm.combine.getCost() + 4.0 * gemm.operands.size()) / 2;
  return 1e6 * predictGemm(work, cast<Sm90GemmAttr>(schedule), machine);
}

LogicalResult GatedGemmPlan::emit(ArrayRef<KernelVariant> variants,
                                  KernelCode &code) const {
  llvm::raw_string_ostream os(code.text);
  SizeList sizes(SizeList::Arguments);
  printBeginning(os, variants.front(), sizes, "GatedGemm.cuh");
  gemm.combine.printFunctor(os, "Combine",
                            getArgumentNames(gemm.combine, {"gate", "up"}));
  os << "\nusing Kernel = GatedGemm<\n    ";
  printProblem(os, {gemm.m, gemm.n, gemm.k}, sizes);
  os << ",\n    ";
  printFactor(os, gemm.a, /*isLhs=*/true, sizes);
  for (const MatrixTensor *weight : {&gemm.gate, &gemm.up}) {
    os << ",\n    ";
    weight->print(os, sizes);
  }
  os << ",\n    ";
  printOperands(os, gemm.operands, sizes);
  os << ",\n    Combine,\n    ";
  gemm.result.print(os, sizes);
  os << ",\n    ";
  finishGemm(os, variants, gemm.rate, sizes, code);
  return success();
}

void fact::registerGatedGemmFamily(DialectRegistry &registry) {
  registerFamily<GatedGemmFamily>(registry);
}
