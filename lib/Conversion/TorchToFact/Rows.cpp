//===- Rows.cpp - Reductions, softmax and norms ---------------------------===//

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static Value reduce(TorchCall &call, ReduceKind kind, Value x,
                    ArrayRef<int64_t> dims, bool keep) {
  if (dims.empty())
    return x;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(typeOf(x).getShape())) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
    else if (keep)
      shape.push_back(1);
  }
  return call.create<ReduceOp>(typeOf(x).clone(ArrayRef<int64_t>(shape)), kind,
                               x, dims, keep);
}

/// Over all elements: `sum(x)`, `max(x)`.
template <ReduceKind kind>
static LogicalResult convertReduceAll(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  return call.replace(reduce(call, kind, call.cast(x, call.getResultElement()),
                             dims, /*keep=*/false));
}

/// Over a list of dimensions: `sum(x, dims, keepdim)`. A `dtype` is the
/// result's element type, to which elements are cast first.
template <ReduceKind kind> static LogicalResult convertReduce(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      (!call.isNone(2) && failed(call.boolean(2, "keepdim", keep))))
    return failure();
  return call.replace(
      reduce(call, kind, call.cast(x, call.getResultElement()), dims, keep));
}

/// The variance over `dims` with `correction` fewer elements in the divisor, or
/// its square root.
static LogicalResult buildVariance(TorchCall &call, bool root, Value x,
                                   ArrayRef<int64_t> dims, double correction,
                                   bool keep) {
  double count = 1;
  for (int64_t dim : dims)
    count *= typeOf(x).getDimSize(dim);
  if (count <= correction)
    return call.emitError() << "subtracts " << correction << " from a count of "
                            << count << " elements";
  Value mean = reduce(call, ReduceKind::mean, x, dims, /*keep=*/true);
  Value centred = call.binary<SubOp>(x, mean);
  Value squares = call.binary<MulOp>(centred, centred);
  Value variance = reduce(call, ReduceKind::mean, squares, dims, keep);
  if (correction != 0)
    variance = call.binary<MulOp>(
        variance,
        call.scalarConstant(count / (count - correction), elementOf(x)));
  return call.replace(root ? call.unary<SqrtOp>(variance) : variance);
}

/// `var.correction(x, dims, correction, keepdim)`
template <bool root>
static LogicalResult convertVarianceCorrection(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  double correction = 1;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      (!call.isNone(2) && failed(call.number(2, "correction", correction))) ||
      (!call.isNone(3) && failed(call.boolean(3, "keepdim", keep))))
    return failure();
  return buildVariance(call, root, x, dims, correction, keep);
}

/// `var.dim(x, dims, unbiased, keepdim)`
template <bool root> static LogicalResult convertVarianceDim(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  bool unbiased = true, keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensions(1, "dim", rankOf(x), dims)) ||
      (!call.isNone(2) && failed(call.boolean(2, "unbiased", unbiased))) ||
      (!call.isNone(3) && failed(call.boolean(3, "keepdim", keep))))
    return failure();
  return buildVariance(call, root, x, dims, unbiased ? 1 : 0, keep);
}

/// `var(x, unbiased)`
template <bool root> static LogicalResult convertVarianceAll(TorchCall &call) {
  Value x;
  bool unbiased = true;
  if (failed(call.tensor(0, "self", x)) ||
      (!call.isNone(1) && failed(call.boolean(1, "unbiased", unbiased))))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  return buildVariance(call, root, x, dims, unbiased ? 1 : 0, /*keep=*/false);
}

/// `linalg_vector_norm(x, ord, dims, keepdim)` of order 2.
static LogicalResult convertVectorNorm(TorchCall &call) {
  Value x;
  double order = 2;
  SmallVector<int64_t> dims;
  bool keep = false;
  if (failed(call.tensor(0, "self", x)) ||
      (!call.isNone(1) && failed(call.number(1, "ord", order))) ||
      failed(call.dimensions(2, "dim", rankOf(x), dims)) ||
      (!call.isNone(3) && failed(call.boolean(3, "keepdim", keep))))
    return failure();
  if (order != 2)
    return call.emitArgumentError("ord") << "is " << order << ", and must be 2";
  x = call.cast(x, call.getResultElement());
  Value squares = call.binary<MulOp>(x, x);
  return call.replace(
      call.unary<SqrtOp>(reduce(call, ReduceKind::sum, squares, dims, keep)));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// The operand in the result's element type, and the dimension.
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
  return call.replace(call.create<SoftmaxOp>(typeOf(x), x, dim));
}

/// `d - log(sum(exp(d)))` with `d = x - max(x)`.
static LogicalResult convertLogSoftmax(TorchCall &call) {
  Value x;
  int64_t dim;
  if (failed(softmaxOperands(call, x, dim)))
    return failure();
  Value max = reduce(call, ReduceKind::max, x, dim, /*keep=*/true);
  Value shifted = call.binary<SubOp>(x, max);
  Value sum = reduce(call, ReduceKind::sum, call.unary<ExpOp>(shifted), dim,
                     /*keep=*/true);
  return call.replace(call.binary<SubOp>(shifted, call.unary<LogOp>(sum)));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static LogicalResult buildNorm(TorchCall &call, NormKind kind, Value bias,
                               double eps) {
  Value x, weight;
  SmallVector<int64_t> normalised;
  if (failed(call.tensor(0, "input", x)) ||
      failed(call.integers(1, "normalized_shape", normalised)) ||
      failed(call.optionalTensor(2, "weight", weight)))
    return failure();
  if (normalised.empty() ||
      ArrayRef(normalised).size() > typeOf(x).getShape().size() ||
      typeOf(x).getShape().take_back(normalised.size()) != ArrayRef(normalised))
    return call.emitArgumentError("normalized_shape")
           << "is [" << ArrayRef(normalised)
           << "], and must be the last sizes of " << x.getType();
  x = call.cast(x, call.getResultElement());
  auto norm = NormOp::create(call.getBuilder(), call.getLoc(), typeOf(x), kind,
                             x, weight, bias, llvm::APFloat(eps),
                             static_cast<uint64_t>(normalised.size()));
  return call.replace(norm.getResult());
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

/// `rms_norm(input, normalized_shape, weight, eps)`: without an `eps`, the
/// machine epsilon of the type that PyTorch computes in.
static LogicalResult convertRmsNorm(TorchCall &call) {
  double eps = call.getResultElement().isF64()
                   ? std::numeric_limits<double>::epsilon()
                   : std::numeric_limits<float>::epsilon();
  if (!call.isNone(3) && failed(call.number(3, "eps", eps)))
    return failure();
  return buildNorm(call, NormKind::rms, /*bias=*/{}, eps);
}

void torchtofact::populateRowConverters(ConverterTable &table) {
  table["aten.sum"] = convertReduceAll<ReduceKind::sum>;
  table["aten.sum.dim_IntList"] = convertReduce<ReduceKind::sum>;
  table["aten.mean"] = convertReduceAll<ReduceKind::mean>;
  table["aten.mean.dim"] = convertReduce<ReduceKind::mean>;
  table["aten.max"] = convertReduceAll<ReduceKind::max>;
  table["aten.max.dim"] = convertReduce<ReduceKind::max>;
  table["aten.amax"] = convertReduce<ReduceKind::max>;
  table["aten.min"] = convertReduceAll<ReduceKind::min>;
  table["aten.min.dim"] = convertReduce<ReduceKind::min>;
  table["aten.amin"] = convertReduce<ReduceKind::min>;
  table["aten.var"] = convertVarianceAll</*root=*/false>;
  table["aten.var.dim"] = convertVarianceDim</*root=*/false>;
  table["aten.var.correction"] = convertVarianceCorrection</*root=*/false>;
  table["aten.std"] = convertVarianceAll</*root=*/true>;
  table["aten.std.dim"] = convertVarianceDim</*root=*/true>;
  table["aten.std.correction"] = convertVarianceCorrection</*root=*/true>;
  table["aten.linalg_vector_norm"] = convertVectorNorm;

  table["aten.softmax.int"] = convertSoftmax;
  table["aten._softmax"] = convertSoftmax;
  table["aten.log_softmax.int"] = convertLogSoftmax;
  table["aten._log_softmax"] = convertLogSoftmax;

  table["aten.layer_norm"] = convertLayerNorm;
  table["aten.native_layer_norm"] = convertLayerNorm;
  table["aten.rms_norm"] = convertRmsNorm;
  table["aten._fused_rms_norm"] = convertRmsNorm;
}
