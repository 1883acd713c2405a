//===- PackedGemm.cpp - Several products of one lhs as one GEMM -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackedGemm.h"
#include <cmath>

using namespace mlir;
using namespace fact;

LogicalResult PackedGemmAnalysis::readWeights() {
  if (getRate() == MatrixRate::F64)
    return emitError() << "takes f16, bf16 or f32 operands, not f64";
  if (!region.reductions.empty())
    return emitError() << "takes 'fact.reduce' after one product, not after "
                       << region.products.size();
  for (const ContractionRegion::Product &product : region.products) {
    FailureOr<MatrixTensor> weight = getWeight(product);
    if (failed(weight))
      return failure();
    weights.push_back(*weight);
  }
  return success();
}

/// The kernel copies whole rows of a weight [N, K].
FailureOr<MatrixTensor>
PackedGemmAnalysis::getWeight(const ContractionRegion::Product &product) {
  RankedTensorType type = getTensorType(product.matmul.getRhs());
  FailureOr<MatrixTensor> tensor = failure();
  if (product.matmul.getTransposeB() && type.getRank() == 2)
    tensor = MatrixTensor::get(dropBatches(product.rhs),
                               getBuffer(product.rhs.base));
  if (failed(tensor) || tensor->kind != MatrixTensor::ColumnMajor)
    return emitError() << "a weight must be a matrix [N, K] with contiguous "
                          "rows under 'transpose_b', not "
                       << type;
  if (product.n % 8 || region.k % 8)
    return emitError() << "needs N and K to be multiples of 8, not "
                       << product.n << " and " << region.k;
  // The kernel declares its packed operands in a mask of 32 bits.
  if (tensor->buffer >= 32)
    return emitError() << "a weight must be one of the first 32 operands, not "
                          "number "
                       << tensor->buffer;
  if (failed(requireAlignment(*tensor, "a weight")))
    return failure();
  return tensor;
}

FailureOr<PackedGemmAnalysis::Epilogue>
PackedGemmAnalysis::getEpilogue(const ContractionRegion::Result &result,
                                ArrayRef<Value> leading) {
  Type element = getTensorType(result.yielded).getElementType();
  if (!isa<FloatType>(element) || element.isF64())
    return emitError() << "the result must be f16, bf16 or f32, not "
                       << result.yielded.getType();
  Value value;
  FailureOr<MatrixTensor> tensor = getResult(result, value);
  if (failed(tensor))
    return failure();
  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  options.fastGeluOfLeading = getRate() == MatrixRate::TF32;
  options.leading = SmallVector<Value>(leading);
  FailureOr<ScalarFunction> function =
      ScalarFunction::get({value}, {region.m, result.n}, options, emitError);
  if (failed(function))
    return failure();
  Epilogue epilogue{*tensor, {}, std::move(*function)};
  for (const ScalarFunction::Argument &argument :
       epilogue.function.getArguments().drop_front(leading.size())) {
    FailureOr<MatrixTensor> operand = getOperand(argument);
    if (failed(operand))
      return failure();
    if (llvm::any_of(weights, [&](const MatrixTensor &weight) {
          return weight.buffer == operand->buffer;
        }))
      return emitError() << "the epilogue reads a weight, of which the kernel "
                            "has only the packed copy";
    epilogue.operands.push_back(*operand);
  }
  return std::move(epilogue);
}

SpaceAttrInterface fact::getPackedGemmSpace(MLIRContext *context,
                                            MatrixRate rate, int64_t m,
                                            int64_t n,
                                            const MachineDescription &machine) {
  using K = KernelSchedule;
  auto space = [&](ArrayRef<Extents> tiles, ArrayRef<Extents> clusters,
                   ArrayRef<int64_t> swizzles) {
    return Sm90GemmAttr::getSpace(context, getTiles(tiles, rate), clusters,
                                  {K::cooperative, K::pingpong}, swizzles);
  };
  // Small tiles where large ones would leave multiprocessors idle.
  double tiles = std::ceil(m / 128.0) * std::ceil(n / 128.0);
  if (tiles < 2 * machine.multiprocessors)
    return space({{128, 128, 64}, {128, 64, 64}, {64, 128, 64}, {64, 64, 64}},
                 {{1, 1}, {2, 1}}, {1});
  // A strict product has twice the accumulators.
  if (rate == MatrixRate::F32)
    return space({{128, 128, 64}, {64, 128, 64}, {128, 64, 64}},
                 {{2, 1}, {1, 2}}, {1, 4});
  return space({{128, 256, 64}, {256, 128, 64}, {128, 192, 64}, {128, 128, 64}},
               {{2, 1}, {1, 2}}, {1, 4, 8});
}
