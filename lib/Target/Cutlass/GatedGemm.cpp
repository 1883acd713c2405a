//===- GatedGemm.cpp - Two products of one operand, combined --------------===//
//
// The first half of a gated MLP: two matmuls with the same lhs and weights of
// the same type, then a graph of pointwise ops that makes one result of both
// products. It runs as one GEMM of twice the width, whose epilogue has both
// products of an element at hand.
//
//===----------------------------------------------------------------------===//

#include "Emission.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
/// A region as a gated GEMM: everything but the schedule.
struct GatedGemm {
  int64_t m, n, k;
  MatrixTensor a, gate, up, result;
  ScalarFunction combine;
};

class GatedGemmAnalysis {
public:
  GatedGemmAnalysis(FusedOp fused, EmitError emitError)
      : fused(fused), emitError(emitError) {}

  FailureOr<GatedGemm> run() {
    if (failed(requireStaticShapes(fused, emitError)) ||
        failed(findProducts()))
      return failure();
    int64_t k = gate.getK(), n = gate.getN(),
            m = gate.getType().getNumElements() / n;
    FailureOr<MatrixTensor> a = getLhs(m, k);
    FailureOr<MatrixTensor> gateWeight = getWeight(gate);
    FailureOr<MatrixTensor> upWeight = getWeight(up);
    if (failed(a) || failed(gateWeight) || failed(upWeight))
      return failure();

    SmallVector<int64_t> space{m, n};
    Value value;
    FailureOr<MatrixTensor> result = getResult(space, value);
    if (failed(result))
      return failure();
    ScalarFunction::Options options;
    options.fast = true;
    options.leading = {gate.getResult(), up.getResult()};
    FailureOr<ScalarFunction> combine =
        ScalarFunction::get({value}, space, options, emitError);
    if (failed(combine))
      return failure();
    if (combine->getArguments().size() > 2)
      return emitError() << "combines the two products alone, and the region "
                            "also reads an operand of type "
                         << combine->getArguments()[2].value.getType();
    return GatedGemm{m,         n,       k, *a, *gateWeight, *upWeight, *result,
                     std::move(*combine)};
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
    if (gate.getLhs() != up.getLhs() ||
        gate.getTransposeA() != up.getTransposeA())
      return emitError() << "both 'fact.matmul' must have the same lhs";
    if (gate.getRhs() == up.getRhs() ||
        gate.getRhs().getType() != up.getRhs().getType() ||
        gate.getType() != up.getType())
      return emitError() << "needs two weights of the same type, not "
                         << gate.getRhs().getType() << " and "
                         << up.getRhs().getType();
    Type element = gate.getLhs().getType().getElementType();
    if (!isFloat16(element))
      return emitError() << "takes f16 or bf16 operands, not " << element;
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

  FailureOr<StridedView> getArgumentView(Value value, StringRef name) {
    FailureOr<StridedView> view = StridedView::get(value);
    if (failed(view))
      return emitError() << name << " is reshaped in a way that strides cannot "
                                    "say";
    if (!isa<BlockArgument>(view->base))
      return emitError() << name << " must be an argument of the region, and is "
                         << "computed by '"
                         << view->base.getDefiningOp()->getName() << "'";
    return view;
  }

  /// TMA moves matrices whose strides are multiples of 16 bytes.
  FailureOr<MatrixTensor> requireTma(const MatrixTensor &tensor,
                                     StringRef name) {
    if (tensor.isAligned(16))
      return tensor;
    return emitError() << "strides and offset of " << name
                       << " must be multiples of 16 bytes, and a row has "
                       << tensor.leadingDimension << " elements of "
                       << tensor.element;
  }

  /// The lhs with all batches folded into its rows.
  FailureOr<MatrixTensor> getLhs(int64_t m, int64_t k) {
    FailureOr<StridedView> view = getArgumentView(gate.getLhs(), "the lhs");
    if (failed(view))
      return failure();
    if (gate.getTransposeA()) {
      auto order =
          llvm::to_vector(llvm::seq<int64_t>(0, view->shape.size()));
      std::swap(order[order.size() - 1], order[order.size() - 2]);
      view = view->permute(order);
    }
    view = view->reshape({m, k});
    FailureOr<MatrixTensor> tensor = failure();
    if (succeeded(view))
      tensor = MatrixTensor::get(*view, getBuffer(view->base));
    // A single row still has a leading dimension.
    if (succeeded(tensor) && tensor->kind == MatrixTensor::RowVector && m == 1)
      tensor = MatrixTensor{MatrixTensor::RowMajor, tensor->buffer,
                            tensor->element, k, 0, tensor->offset};
    if (failed(tensor) || !tensor->isMatrix())
      return emitError() << "the lhs must be one matrix with contiguous rows or "
                            "columns once its batches are folded into rows";
    return requireTma(*tensor, "the lhs");
  }

  /// A weight [N, K]: its rows are copied whole.
  FailureOr<MatrixTensor> getWeight(MatmulOp matmul) {
    FailureOr<StridedView> view = getArgumentView(matmul.getRhs(), "a weight");
    if (failed(view))
      return failure();
    FailureOr<MatrixTensor> tensor = failure();
    if (matmul.getTransposeB() && view->shape.size() == 2)
      tensor =
          MatrixTensor::get(view->permute({1, 0}), getBuffer(view->base));
    if (failed(tensor) || tensor->kind != MatrixTensor::ColumnMajor)
      return emitError() << "a weight must be a matrix [N, K] with contiguous "
                            "rows under 'transpose_b', not "
                         << matmul.getRhs().getType();
    if (matmul.getN() % 8 || matmul.getK() % 8)
      return emitError() << "needs N and K to be multiples of 8, not "
                         << matmul.getN() << " and " << matmul.getK();
    return requireTma(*tensor, "a weight");
  }

  FailureOr<MatrixTensor> getResult(ArrayRef<int64_t> space, Value &value) {
    if (fused.getNumResults() != 1)
      return emitError() << "needs exactly one result, not "
                         << fused.getNumResults();
    Value yielded = fused.getYield()->getOperand(0);
    RankedTensorType type = getTensorType(yielded);
    if (!isFloat16(type.getElementType()))
      return emitError() << "the result must be f16 or bf16, not " << type;
    if (type.getNumElements() != space[0] * space[1])
      return emitError() << "the result of type " << type
                         << " has not the size of the products";
    FailureOr<Destination> destination = getDestination(yielded, emitError);
    if (failed(destination))
      return failure();
    value = destination->value;
    FailureOr<StridedView> view = destination->view.reshape(space);
    int64_t buffer = getResultBuffer(fused, 0);
    FailureOr<MatrixTensor> tensor = failure();
    if (succeeded(view) && space[0] == 1)
      tensor = MatrixTensor{MatrixTensor::RowMajor, buffer,
                            type.getElementType(), space[1], 0, 0};
    else if (succeeded(view))
      tensor = MatrixTensor::get(*view, buffer);
    if (failed(tensor) || tensor->kind != MatrixTensor::RowMajor)
      return emitError() << "the result must have contiguous rows, and its "
                            "last views permute them";
    return requireTma(*tensor, "the result");
  }

  FusedOp fused;
  EmitError emitError;
  MatmulOp gate, up;
};

class GatedGemmRealiser : public GemmRealiser {
public:
  using GemmRealiser::GemmRealiser;

  StringRef getRule() const override { return "gated_gemm"; }

  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    if (failed(requireHopper(emitError)))
      return failure();
    return GatedGemmAnalysis(fused, emitError).run();
  }

  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override;
  double predictMicroseconds(FusedOp fused,
                             ScheduleAttrInterface schedule) const override;
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
  using K = KernelSchedule;
  auto space = [&](ArrayRef<Extents> tiles, ArrayRef<Extents> clusters,
                   ArrayRef<int64_t> swizzles) {
    return cast<SpaceAttrInterface>(Sm90GemmSpaceAttr::get(
        fused.getContext(), tiles, clusters,
        ArrayRef<K>{K::cooperative, K::pingpong}, swizzles));
  };
  // Tiles of the product of twice the width; small ones where large ones would
  // leave multiprocessors idle.
  double tiles = std::ceil(gemm->m / 128.0) * std::ceil(2 * gemm->n / 128.0);
  if (tiles < 2 * machine.multiprocessors)
    return space({{128, 128, 64}, {128, 64, 64}, {64, 128, 64}, {64, 64, 64}},
                 {{1, 1}, {2, 1}}, {1});
  return space(
      {{128, 256, 64}, {256, 128, 64}, {128, 192, 64}, {128, 128, 64}},
      {{2, 1}, {1, 2}}, {1, 4, 8});
}

double
GatedGemmRealiser::predictMicroseconds(FusedOp fused,
                                       ScheduleAttrInterface schedule) const {
  FailureOr<GatedGemm> gemm = analyse(fused);
  auto gemmSchedule = dyn_cast<Sm90GemmAttr>(schedule);
  if (failed(gemm) || !gemmSchedule)
    return INFINITY;
  double m = gemm->m, n = gemm->n, k = gemm->k;
  double weightBytes = 2 * 2 * n * k;
  // Two accumulators share one evaluation and one store.
  GemmWork work{gemm->m, 2 * gemm->n, gemm->k, 1};
  work.bytes = 2 * (m * k + m * n) + weightBytes;
  work.epilogueBytes = 0;
  work.slots = 4 + gemm->combine.getCost() / 2;
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
     << gemm->gate << ",\n    " << gemm->up << ",\n    Combine,\n    "
     << gemm->result << ",\n    ";
  printSchedule(os, gemmSchedule);
  os << ">;\n";
  printGemmVariants(os, variants);
  return success();
}

std::unique_ptr<Realiser>
fact::createGatedGemmRealiser(const MachineDescription &machine) {
  return std::make_unique<GatedGemmRealiser>(machine);
}
