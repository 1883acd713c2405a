//===- GemmFamilies.cpp - Regions as GEMMs through mma.sync ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction and the pointwise ops after it, and two contractions of one lhs
// that pointwise ops combine. Tensors may have any strides and element types,
// and rows may be windows of images.
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
    FailureOr<MatrixTensor> a = region.windows ? getWindows() : getLhs();
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
    gemm.windows = region.windows;
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
    gemm.isPlain = isOnlyProduct(values) && !gemm.windows && isTaken(gemm.a) &&
                   isTaken(gemm.factors.front()) &&
                   isTaken(gemm.results.front());
    if (gemm.rate == MatrixRate::F64 && !gemm.isPlain)
      return emitError() << "a product of f64 runs in cuBLAS, without an "
                            "epilogue";
    return std::move(gemm);
  }

private:
  /// The image whose windows are the rows of A. Batches are its first
  /// dimension: groups of channels, or images.
  FailureOr<MatrixTensor> getWindows() {
    if (failed(requireWindows()))
      return failure();
    if (getRate() == MatrixRate::F64)
      return emitError() << "multiplies windows of f16, bf16 and f32, not f64";
    const StridedView &image = region.windows->image;
    if (region.batches != 1 && (region.windows->getBatchRank() == 0 ||
                                image.shape[0] != region.batches))
      return emitError() << "the " << region.batches
                         << " batches of windows must be the first dimension "
                            "of their images";
    // Elements that are copied one by one, and each looked for, are faster in a
    // kernel that copies the image first, but for few.
    constexpr int64_t few = 8;
    Type element = getTensorType(image.base).getElementType();
    if (image.shape.back() > few &&
        sm80::getVectorOfPixels(image) * getStorageBytes(element) < 4)
      return emitError() << "channels of windows must be contiguous and begin "
                            "at multiples of 4 bytes, or be at most "
                         << few;
    return MatrixTensor{MatrixTensor::StridedMatrix,
                        getBuffer(image.base),
                        element,
                        /*leadingDimension=*/0,
                        region.batches == 1 ? 0 : image.strides[0],
                        image.offset};
  }

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

/// Whether other families of a GPU read windows, by TMA. Beside them, these
/// kernels were not measured.
bool hasTma(const MachineDescription &machine) {
  return machine.architecture.ends_with("a");
}

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
                                    Gemm::read(fused, kind, emitError,
                                               /*windows=*/!hasTma(machine)));
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
                           EmitError emitError, bool windows) {
  if (windows && kind == ContractionRegion::Kind::Single) {
    // All images as rows, else as batches, as for channels that are stored
    // first.
    std::optional<ContractionRegion> refused;
    for (unsigned images : {0, 1}) {
      ContractionRegion::Options options;
      options.windows = true;
      options.batchDims = images;
      FailureOr<ContractionRegion> region =
          ContractionRegion::get(fused, options, Silence(fused));
      if (failed(region) || !region->windows)
        continue;
      FailureOr<Gemm> gemm =
          GemmAnalysis(fused, *region, Silence(fused), Addressing::Any).run();
      if (succeeded(gemm))
        return gemm;
      refused = std::move(*region);
    }
    if (refused)
      return GemmAnalysis(fused, *refused, emitError, Addressing::Any).run();
  }
  return readFolded<GemmAnalysis>(fused, kind, emitError, Addressing::Any);
}

void fact::registerSm80Families(DialectRegistry &registry) {
  registerFamily<GemmEpilogueFamily>(registry);
  registerFamily<GatedGemmFamily>(registry);
}
