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
#include <cmath>

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

class GatedGemmRealiser : public GemmRealiser {
public:
  using GemmRealiser::GemmRealiser;

  StringRef getRule() const override { return "gated_gemm"; }
  std::vector<const ScheduleKind *> getScheduleKinds() const override {
    return {&Sm90GemmAttr::kind};
  }

  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    if (failed(requireHopper(emitError)))
      return failure();
    return GatedGemmAnalysis(fused, emitError).run();
  }

  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttr schedule) const override;
  LogicalResult emitVariants(FusedOp fused, ArrayRef<KernelVariant> variants,
                             KernelCode &code) const override;

private:
  FailureOr<GatedGemm> analyse(FusedOp fused) const {
    return GatedGemmAnalysis(fused, [&] { return fused.emitError(); }).run();
  }
};
} // namespace

SpaceAttrInterface GatedGemmRealiser::getDefaultSpace(FusedOp fused) const {
  FailureOr<GatedGemm> gemm = analyse(fused);
  if (failed(gemm))
    return {};
  // Tiles are those of the product of twice the width.
  return getPackedGemmSpace(fused.getContext(), gemm->m, 2 * gemm->n, machine);
}

double
GatedGemmRealiser::predictMicroseconds(FusedOp fused,
                                       ScheduleAttr schedule) const {
  FailureOr<GatedGemm> gemm = analyse(fused);
  auto gemmSchedule = dyn_cast<Sm90GemmAttr>(schedule);
  if (failed(gemm) || !gemmSchedule)
    return INFINITY;
  double m = gemm->m, n = gemm->n, k = gemm->k;
  double weightBytes = 2 * 2 * n * k;
  // Two accumulators share one evaluation and one store.
  GemmWork work{gemm->m, 2 * gemm->n, gemm->k, 1, 0, 0, 0};
  work.epilogueBytes = countMatrixBytes(gemm->operands, gemm->m, gemm->n);
  work.bytes = 2 * (m * k + m * n) + weightBytes + work.epilogueBytes;
  work.slots =
      4 + (gemm->combine.getCost() + 4.0 * gemm->operands.size()) / 2;
  return 1e6 * predictGemm(work, gemmSchedule, machine);
}

LogicalResult
GatedGemmRealiser::emitVariants(FusedOp fused, ArrayRef<KernelVariant> variants,
                                KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  FailureOr<GatedGemm> gemm = analyse(fused);
  if (failed(gemm))
    return failure();
  auto gemmSchedule = dyn_cast<Sm90GemmAttr>(schedule);
  if (!gemmSchedule)
    return fused.emitError("a gated GEMM runs with #fact.sm90_gemm, not ")
           << schedule;
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "GatedGemm.cuh");
  gemm->combine.printFunctor(
      os, "Combine", getArgumentNames(gemm->combine, {"gate", "up"}));
  os << "\nusing Kernel = GatedGemm<\n    Problem<" << gemm->m << ", "
     << gemm->n << ", " << gemm->k << ">,\n    " << gemm->a << ",\n    "
     << gemm->gate << ",\n    " << gemm->up << ",\n    ";
  printOperands(os, gemm->operands);
  os << ",\n    Combine,\n    " << gemm->result << ",\n    ";
  printSchedule(os, gemmSchedule);
  os << ">;\n";
  printGemmVariants(os, variants);
  return success();
}

std::unique_ptr<Realiser>
fact::createGatedGemmRealiser(const MachineDescription &machine) {
  return std::make_unique<GatedGemmRealiser>(machine);
}
