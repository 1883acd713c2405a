//===- Rows.cpp - Reductions, softmax and norms ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> allDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
}

/// Reduces all elements: `sum(x)`, `max(x)`.
template <ReduceKind kind>
static LogicalResult convertReduceAll(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  return call.replace(call.reduce(kind, call.cast(x, call.getResultElement()),
                                  allDims(x), /*keep=*/false));
}

/// Reduces a list of dimensions: `sum(x, dims, keepdim)`. A `dtype` is the
/// result's element type, to which elements are cast first.
template <ReduceKind kind> static LogicalResult convertReduce(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      failed(call.optionalBoolean(2, "keepdim", keep)))
    return failure();
  return call.replace(
      call.reduce(kind, call.cast(x, call.getResultElement()), dims, keep));
}

/// `max.dim` and `min.dim`, which return values and indices.
template <ReduceKind kind, ReduceKind place>
static LogicalResult convertExtreme(TorchCall &call) {
  Value x;
  int64_t dim;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimension(1, "dim", rankOf(x), dim)) ||
      failed(call.optionalBoolean(2, "keepdim", keep)))
    return failure();
  SmallVector<int64_t> dims(rankOf(x) ? 1 : 0, dim);
  return call.replace(
      {call.reduce(kind, x, dims, keep), call.reduce(place, x, dims, keep)});
}

/// `argmax(x, dim, keepdim)`; without `dim`, the index in the flattened tensor.
template <ReduceKind kind> static LogicalResult convertPlace(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      failed(call.optionalBoolean(2, "keepdim", keep)))
    return failure();
  return call.replace(call.reduce(kind, x, dims, keep));
}

/// `aminmax(x, dim, keepdim)`; `dim` is a keyword argument.
static LogicalResult convertMinMax(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      failed(call.optionalBoolean(2, "keepdim", keep)))
    return failure();
  return call.replace({call.reduce(ReduceKind::min, x, dims, keep),
                       call.reduce(ReduceKind::max, x, dims, keep)});
}

/// `any` and `all`: the maximum and the minimum of booleans.
template <ReduceKind kind>
static LogicalResult convertQuantifier(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      failed(call.optionalBoolean(2, "keepdim", keep)))
    return failure();
  if (!call.getResultElement().isInteger(1))
    return call.emitError() << "returns elements of " << call.getResultElement()
                            << "; only booleans are supported";
  // Without elements, `any` is false and `all` is true.
  for (int64_t dim : dims)
    if (!typeOf(x).getDimSize(dim))
      return call.replace(call.constant(kind == ReduceKind::min,
                                        call.getResultElement(),
                                        call.getResultType().getShape()));
  return call.replace(
      call.reduce(kind, call.cast(x, call.getResultElement()), dims, keep));
}

static LogicalResult convertCount(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)))
    return failure();
  Value isSet = call.cast(x, call.getBuilder().getI1Type());
  return call.replace(call.reduce(ReduceKind::sum,
                                  call.cast(isSet, call.getResultElement()),
                                  dims, /*keep=*/false));
}

//===----------------------------------------------------------------------===//
// Variances
//===----------------------------------------------------------------------===//

namespace {
/// The arguments that the overloads of `var`, `std`, `var_mean` and `std_mean`
/// have in common.
struct Variance {
  Value x;
  SmallVector<int64_t> dims;
  double correction = 1;
  bool keep = false;
};
} // namespace

/// The mean of squared deviations, with a divisor that is `correction` smaller;
/// its square root; and the mean itself.
static LogicalResult buildVariance(TorchCall &call, const Variance &of,
                                   bool root, bool withMean) {
  double count = 1;
  for (int64_t dim : of.dims)
    count *= typeOf(of.x).getDimSize(dim);
  Value mean = call.reduce(ReduceKind::mean, of.x, of.dims, /*keep=*/true);
  Value centered = call.binary<SubOp>(of.x, mean);
  Value squares = call.binary<MulOp>(centered, centered);
  Value result = call.reduce(ReduceKind::mean, squares, of.dims, of.keep);
  // With too few elements, divides by 0 as PyTorch does: NaN or infinity.
  if (of.correction != 0)
    result = call.binary<MulOp>(result,
                                count / std::max(0.0, count - of.correction));
  if (root)
    result = call.unary<SqrtOp>(result);
  if (!withMean)
    return call.replace(result);
  return call.replace(
      {result, call.reduce(ReduceKind::mean, of.x, of.dims, of.keep)});
}

/// `var.correction(x, dims, correction, keepdim)`
template <bool root, bool withMean>
static LogicalResult convertVarianceCorrection(TorchCall &call) {
  Variance of;
  if (failed(call.tensor(0, "self", of.x)) ||
      failed(call.dimensions(1, "dim", rankOf(of.x), of.dims)) ||
      failed(call.optionalNumber(2, "correction", of.correction)) ||
      failed(call.optionalBoolean(3, "keepdim", of.keep)))
    return failure();
  return buildVariance(call, of, root, withMean);
}

/// `var.dim(x, dims, unbiased, keepdim)`
template <bool root, bool withMean>
static LogicalResult convertVarianceDim(TorchCall &call) {
  Variance of;
  bool unbiased = true;
  if (failed(call.tensor(0, "self", of.x)) ||
      failed(call.dimensions(1, "dim", rankOf(of.x), of.dims)) ||
      failed(call.optionalBoolean(2, "unbiased", unbiased)) ||
      failed(call.optionalBoolean(3, "keepdim", of.keep)))
    return failure();
  of.correction = unbiased;
  return buildVariance(call, of, root, withMean);
}

/// `var(x, unbiased)`
template <bool root, bool withMean>
static LogicalResult convertVarianceAll(TorchCall &call) {
  Variance of;
  bool unbiased = true;
  if (failed(call.tensor(0, "self", of.x)) ||
      failed(call.optionalBoolean(1, "unbiased", unbiased)))
    return failure();
  of.dims = allDims(of.x);
  of.correction = unbiased;
  return buildVariance(call, of, root, withMean);
}

template <bool root, bool withMean>
static void addVariance(ConverterTable &table, const Twine &name) {
  table[("aten." + name).str()] = convertVarianceAll<root, withMean>;
  table[("aten." + name + ".dim").str()] = convertVarianceDim<root, withMean>;
  table[("aten." + name + ".correction").str()] =
      convertVarianceCorrection<root, withMean>;
}

/// `linalg_vector_norm(x, ord, dims, keepdim)`
static LogicalResult convertVectorNorm(TorchCall &call) {
  Value x;
  double order = 2;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.optionalNumber(1, "ord", order)) ||
      failed(call.dimensions(2, "dim", rankOf(x), dims)) ||
      failed(call.optionalBoolean(3, "keepdim", keep)))
    return failure();
  x = call.cast(x, call.getResultElement());
  if (order == 2) {
    Value squares = call.binary<MulOp>(x, x);
    return call.replace(
        call.unary<SqrtOp>(call.reduce(ReduceKind::sum, squares, dims, keep)));
  }
  Value magnitude = call.unary<AbsOp>(x);
  if (order == 1)
    return call.replace(call.reduce(ReduceKind::sum, magnitude, dims, keep));
  if (std::isinf(order))
    return call.replace(call.reduce(
        order > 0 ? ReduceKind::max : ReduceKind::min, magnitude, dims, keep));
  return call.emitArgumentError("ord")
         << "is " << order << ", but must be 1, 2, inf or -inf";
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Reads the operand, in the result's element type, and the dimension.
static LogicalResult softmaxOperands(TorchCall &call, Value &x, int64_t &dim) {
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimension(1, "dim", rankOf(x), dim)))
    return failure();
  if (!rankOf(x))
    return call.emitArgumentError("self") << "must have rank 1 or more";
  x = call.cast(x, call.getResultElement());
  return success();
}

static LogicalResult convertSoftmax(TorchCall &call) {
  Value x;
  int64_t dim;
  if (failed(softmaxOperands(call, x, dim)))
    return failure();
  return call.replace(call.infer<SoftmaxOp>(x, dim));
}

/// `d - log(sum(exp(d)))` with `d = x - max(x)`; of one element, it is d.
static LogicalResult convertLogSoftmax(TorchCall &call) {
  Value x;
  int64_t dim;
  if (failed(softmaxOperands(call, x, dim)))
    return failure();
  Value max = call.reduce(ReduceKind::max, x, dim, /*keep=*/true);
  Value shifted = call.binary<SubOp>(x, max);
  if (typeOf(shifted).getDimSize(dim) == 1)
    return call.replace(shifted);
  Value sum = call.reduce(ReduceKind::sum, call.unary<ExpOp>(shifted), dim,
                          /*keep=*/true);
  return call.replace(call.binary<SubOp>(shifted, call.unary<LogOp>(sum)));
}

/// `log(sum(exp(x)))`, shifted by the maximum if that is finite. Of one element
/// x, it is 0 + x.
static LogicalResult convertLogSumExp(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      failed(call.optionalBoolean(2, "keepdim", keep)))
    return failure();
  x = call.cast(x, call.getResultElement());
  if (typeOf(x).getNumElements() == call.getResultType().getNumElements())
    return call.replace(
        call.reshape(call.binary<AddOp>(x, call.constant(0, elementOf(x))),
                     call.getResultType().getShape()));
  Value largest = call.reduce(ReduceKind::max, x, dims, /*keep=*/true);
  Value isInfinite = call.compare(Predicate::eq, call.unary<AbsOp>(largest),
                                  std::numeric_limits<double>::infinity());
  Value shift =
      call.select(isInfinite, call.constant(0, elementOf(x)), largest);
  Value sum = call.reduce(ReduceKind::sum,
                          call.unary<ExpOp>(call.binary<SubOp>(x, shift)), dims,
                          /*keep=*/true);
  Value result = call.binary<AddOp>(call.unary<LogOp>(sum), shift);
  return call.replace(call.reshape(result, call.getResultType().getShape()));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static LogicalResult buildNorm(TorchCall &call, NormKind kind, Value bias,
                               double eps) {
  Value x, weight;
  SmallVector<int64_t> normalized;
  if (failed(call.tensor(0, "input", x)) ||
      failed(call.integers(1, "normalized_shape", normalized)) ||
      failed(call.optionalTensor(2, "weight", weight)))
    return failure();
  if (normalized.empty() ||
      ArrayRef(normalized).size() > typeOf(x).getShape().size() ||
      typeOf(x).getShape().take_back(normalized.size()) != ArrayRef(normalized))
    return call.emitArgumentError("normalized_shape")
           << "is [" << ArrayRef(normalized)
           << "], but must be the last sizes of " << x.getType();
  x = call.cast(x, call.getResultElement());
  return call.replace(
      call.infer<NormOp>(kind, x, weight, bias, llvm::APFloat(eps),
                         static_cast<uint64_t>(normalized.size())));
}

/// `layer_norm(input, normalized_shape, weight, bias, eps)`
static LogicalResult convertLayerNorm(TorchCall &call) {
  Value bias;
  double eps;
  if (failed(call.optionalTensor(3, "bias", bias)) ||
      failed(call.number(4, "eps", eps)))
    return failure();
  return buildNorm(call, NormKind::layer, bias, eps);
}

/// `rms_norm(input, normalized_shape, weight, eps)`: the default `eps` is the
/// machine epsilon of the type that PyTorch computes in.
static LogicalResult convertRmsNorm(TorchCall &call) {
  double eps = call.getResultElement().isF64()
                   ? std::numeric_limits<double>::epsilon()
                   : std::numeric_limits<float>::epsilon();
  if (!call.isNone(3) && failed(call.number(3, "eps", eps)))
    return failure();
  return buildNorm(call, NormKind::rms, /*bias=*/{}, eps);
}

/// Normalizes each group of channels, then scales and shifts each channel.
static LogicalResult buildGroupNorm(TorchCall &call, int64_t groups,
                                    unsigned weightIndex, double eps) {
  Value x, weight, bias;
  if (failed(call.operand(0, "input", call.getResultElement(), x)) ||
      failed(call.optionalTensor(weightIndex, "weight", weight)) ||
      failed(call.optionalTensor(weightIndex + 1, "bias", bias)))
    return failure();
  SmallVector<int64_t> shape(typeOf(x).getShape());
  if (shape.size() < 2 || groups < 1 || shape[1] % groups)
    return call.emitArgumentError("num_groups")
           << "is " << groups << ", but must divide the channels of "
           << x.getType();
  int64_t members =
      llvm::product_of(ArrayRef<int64_t>(shape).drop_front()) / groups;
  Value rows = call.reshape(x, {shape[0], groups, members});
  Value norm = call.infer<NormOp>(NormKind::layer, rows, /*weight=*/Value(),
                                  /*bias=*/Value(), llvm::APFloat(eps),
                                  /*dims=*/uint64_t(1));
  Value result = call.reshape(norm, shape);
  auto ofChannels = [&](Value vector) {
    SmallVector<int64_t> broadcast(shape.size() - 1, 1);
    broadcast.front() = shape[1];
    return call.reshape(call.cast(vector, elementOf(x)), broadcast);
  };
  if (weight)
    result = call.binary<MulOp>(result, ofChannels(weight));
  if (bias)
    result = call.binary<AddOp>(result, ofChannels(bias));
  return call.replace(result);
}

/// `group_norm(input, num_groups, weight, bias, eps)`
static LogicalResult convertGroupNorm(TorchCall &call) {
  int64_t groups;
  double eps = 1e-5;
  if (failed(call.integer(1, "num_groups", groups)) ||
      failed(call.optionalNumber(4, "eps", eps)))
    return failure();
  return buildGroupNorm(call, groups, /*weightIndex=*/2, eps);
}

/// `native_group_norm(input, weight, bias, N, C, HxW, group, eps)`
static LogicalResult convertNativeGroupNorm(TorchCall &call) {
  int64_t groups;
  double eps;
  if (failed(call.integer(6, "group", groups)) ||
      failed(call.number(7, "eps", eps)))
    return failure();
  return buildGroupNorm(call, groups, /*weightIndex=*/1, eps);
}

void torchtofact::populateRowConverters(ConverterTable &table) {
  table["aten.sum"] = convertReduceAll<ReduceKind::sum>;
  table["aten.sum.dim_IntList"] = convertReduce<ReduceKind::sum>;
  table["aten.mean"] = convertReduceAll<ReduceKind::mean>;
  table["aten.mean.dim"] = convertReduce<ReduceKind::mean>;
  table["aten.max"] = convertReduceAll<ReduceKind::max>;
  table["aten.max.dim"] = convertExtreme<ReduceKind::max, ReduceKind::argmax>;
  table["aten.amax"] = convertReduce<ReduceKind::max>;
  table["aten.min"] = convertReduceAll<ReduceKind::min>;
  table["aten.min.dim"] = convertExtreme<ReduceKind::min, ReduceKind::argmin>;
  table["aten.amin"] = convertReduce<ReduceKind::min>;
  table["aten.aminmax"] = convertMinMax;
  table["aten.argmax"] = convertPlace<ReduceKind::argmax>;
  table["aten.argmin"] = convertPlace<ReduceKind::argmin>;
  table["aten.prod"] = convertReduceAll<ReduceKind::prod>;
  table["aten.prod.dim_int"] = convertReduce<ReduceKind::prod>;
  for (StringRef overload : {"", ".dim", ".dims"}) {
    table[("aten.any" + overload).str()] = convertQuantifier<ReduceKind::max>;
    table[("aten.all" + overload).str()] = convertQuantifier<ReduceKind::min>;
  }
  table["aten.count_nonzero"] = convertCount;
  table["aten.count_nonzero.dim_IntList"] = convertCount;
  addVariance</*root=*/false, /*withMean=*/false>(table, "var");
  addVariance</*root=*/true, /*withMean=*/false>(table, "std");
  addVariance</*root=*/false, /*withMean=*/true>(table, "var_mean");
  addVariance</*root=*/true, /*withMean=*/true>(table, "std_mean");
  table["aten.linalg_vector_norm"] = convertVectorNorm;

  table["aten.softmax.int"] = convertSoftmax;
  table["aten._softmax"] = convertSoftmax;
  table["aten.log_softmax.int"] = convertLogSoftmax;
  table["aten._log_softmax"] = convertLogSoftmax;

  table["aten.logsumexp"] = convertLogSumExp;

  table["aten.layer_norm"] = convertLayerNorm;
  table["aten.native_layer_norm"] = convertLayerNorm;
  table["aten.group_norm"] = convertGroupNorm;
  table["aten.native_group_norm"] = convertNativeGroupNorm;
  table["aten.rms_norm"] = convertRmsNorm;
  table["aten._fused_rms_norm"] = convertRmsNorm;
}
