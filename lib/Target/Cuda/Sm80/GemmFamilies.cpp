//===- GemmFamilies.cpp - Regions as GEMMs through mma.sync ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction and the pointwise ops after it, and two contractions of one lhs
// that pointwise ops combine. Tensors may have any strides and element types.
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "GemmTensors.h"

using namespace mlir;
using namespace fact;

namespace {
using sm80::Gemm;

class GemmAnalysis : GemmTensors {
public:
  using GemmTensors::GemmTensors;

  FailureOr<Gemm> run() {
    if (!region.reductions.empty())
      return emitError() << "takes no 'fact.reduce' of a product";
    FailureOr<MatrixTensor> a = getLhs();
    if (failed(a))
      return failure();
    Gemm gemm{getRate(),
              region.m,
              region.products.front().n,
              region.k,
              region.batches,
              *a,
              {},
              {},
              {},
              {}};
    for (const ContractionRegion::Product &product : region.products) {
      FailureOr<MatrixTensor> b = getRhs(product);
      if (failed(b))
        return failure();
      gemm.factors.push_back(*b);
    }
    SmallVector<Value> values;
    if (failed(makeEpilogue(gemm, values)))
      return failure();
    // cuBLAS takes matrices in either order.
    auto isTaken = [](const MatrixTensor &matrix) {
      return matrix.isMatrix() && matrix.kind != MatrixTensor::StridedMatrix;
    };
    gemm.isPlain = isOnlyProduct(values) && isTaken(gemm.a) &&
                   isTaken(gemm.factors.front()) &&
                   isTaken(gemm.results.front());
    if (gemm.rate == MatrixRate::F64 && !gemm.isPlain)
      return emitError() << "a product of f64 runs in cuBLAS, without an "
                            "epilogue";
    return std::move(gemm);
  }

private:
  /// Also adds the values that are stored to `values`.
  LogicalResult makeEpilogue(Gemm &gemm, SmallVector<Value> &values) {
    for (const ContractionRegion::Result &result : region.results) {
      FailureOr<MatrixTensor> tensor = getResult(result, values.emplace_back());
      if (failed(tensor))
        return failure();
      gemm.results.push_back(*tensor);
    }
    if (gemm.rate == MatrixRate::F64)
      return success();
    ScalarFunction::Options options;
    options.fast = hasOnly16BitResults(fused);
    options.fastGeluOfLeading = getRate() == MatrixRate::TF32;
    for (const ContractionRegion::Product &product : region.products)
      options.leading.push_back(product.matmul.getResult());
    FailureOr<ScalarFunction> function =
        ScalarFunction::get(values, getIndexSpace(), options, emitError);
    if (failed(function))
      return failure();
    for (const ScalarFunction::Argument &argument :
         function->getArguments().drop_front(options.leading.size())) {
      FailureOr<MatrixTensor> operand = getOperand(argument);
      if (failed(operand))
        return failure();
      gemm.operands.push_back(*operand);
    }
    gemm.epilogue = std::move(*function);
    return success();
  }
};

/// Plans regions of one kind.
class GemmFamily : public Family {
public:
  GemmFamily(const Rule &rule, ContractionRegion::Kind kind,
             std::vector<const ScheduleKind *> scheduleKinds)
      : Family(rule, "sm_80", std::move(scheduleKinds)), kind(kind) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    return makePlan<sm80::GemmPlan>(fused, machine,
                                    Gemm::read(fused, kind, emitError));
  }

private:
  ContractionRegion::Kind kind;
};

class GemmEpilogueFamily : public GemmFamily {
public:
  GemmEpilogueFamily()
      : GemmFamily(gemmEpilogueRule, ContractionRegion::Kind::Single,
                   {&Sm80GemmAttr::kind, &CublasGemmAttr::kind}) {}
};

class GatedGemmFamily : public GemmFamily {
public:
  GatedGemmFamily()
      : GemmFamily(gatedGemmRule, ContractionRegion::Kind::Gated,
                   {&Sm80GemmAttr::kind}) {}
};
} // namespace

FailureOr<Gemm> Gemm::read(FusedOp fused, ContractionRegion::Kind kind,
                           EmitError emitError) {
  return readFolded<GemmAnalysis>(fused, kind, emitError, Addressing::Any);
}

void fact::registerSm80Families(DialectRegistry &registry) {
  registerFamily<GemmEpilogueFamily>(registry);
  registerFamily<GatedGemmFamily>(registry);
}
