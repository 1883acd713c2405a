//===- Contractions.cpp - Matrix products and attention -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Integers have no matrix units: multiplies [batch..., M, N, K] elementwise
/// and sums over K.
static Value multiplyIntegers(TorchCall &call, Value x, Value y,
                              bool transposeB) {
  if (!transposeB) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(y)));
    std::swap(order[order.size() - 2], order[order.size() - 1]);
    y = call.permute(y, order);
  }
  SmallVector<int64_t> rows(typeOf(x).getShape());
  SmallVector<int64_t> columns(typeOf(y).getShape());
  rows.insert(rows.end() - 1, 1);
  columns.insert(columns.end() - 2, 1);
  Value products =
      call.binary<MulOp>(call.reshape(x, rows), call.reshape(y, columns));
  return call.reduce(ReduceKind::sum, products, {rankOf(products) - 1},
                     /*keep=*/false);
}

/// A product that PyTorch's precision of products does not reach.
static constexpr StringRef strictMatmul = "fact.strict_matmul";

/// Whether the product of f32 operands is one of TF32, as PyTorch has it.
static bool isTf32(TorchCall &call, Value factor, bool inConvolution) {
  return elementOf(factor).isF32() && !call.getName().ends_with(strictMatmul) &&
         allowsTf32(call.getOperation(), inConvolution);
}

Value torchtofact::multiplyMatrices(TorchCall &call, Value x, Value y,
                                    bool transposeB, bool inConvolution) {
  if (!isa<FloatType>(elementOf(x)))
    return multiplyIntegers(call, x, y, transposeB);
  return call.infer<MatmulOp>(x, y, /*transpose_a=*/false, transposeB,
                              isTf32(call, x, inConvolution));
}

/// PyTorch's product of any ranks: a 1-d operand is a row on the left and a
/// column on the right, and its dimension of size 1 is dropped from the result.
static Value multiplyAnyRank(TorchCall &call, Value x, Value y) {
  auto vectorSize = [](Value vector) { return typeOf(vector).getDimSize(0); };
  bool row = rankOf(x) == 1, column = rankOf(y) == 1;
  if (row)
    x = call.reshape(x, {1, vectorSize(x)});
  if (column)
    y = call.reshape(y, {vectorSize(y), 1});
  Value product = multiplyMatrices(call, x, y);
  if (!row && !column)
    return product;
  SmallVector<int64_t> shape(typeOf(product).getShape());
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return call.reshape(product, shape);
}

/// Reads an operand of the product in the result's element type.
static LogicalResult factor(TorchCall &call, unsigned index, StringRef name,
                            Value &result) {
  if (failed(call.tensor(index, name, result)))
    return failure();
  if (call.getResultElement().isInteger(1))
    return call.emitError() << "is not supported on booleans";
  if (!rankOf(result))
    return call.emitArgumentError(name) << "must have rank 1 or more";
  result = call.cast(result, call.getResultElement());
  return success();
}

static LogicalResult convertMatmul(TorchCall &call) {
  Value x, y;
  if (failed(factor(call, 0, "self", x)) || failed(factor(call, 1, "other", y)))
    return failure();
  return call.replace(multiplyAnyRank(call, x, y));
}

static LogicalResult convertOuter(TorchCall &call) {
  Value x, y;
  if (failed(factor(call, 0, "self", x)) || failed(factor(call, 1, "vec2", y)))
    return failure();
  Value column = call.reshape(x, {typeOf(x).getDimSize(0), 1});
  return call.replace(call.binary<MulOp>(column, y));
}

/// `input @ weight^T + bias`
static LogicalResult convertLinear(TorchCall &call) {
  Value x, weight, bias;
  if (failed(factor(call, 0, "input", x)) ||
      failed(factor(call, 1, "weight", weight)) ||
      failed(call.optionalTensor(2, "bias", bias)))
    return failure();
  Value product;
  if (rankOf(weight) == 1) {
    product = multiplyAnyRank(call, x, weight);
  } else if (rankOf(x) == 1) {
    Value row = call.reshape(x, {1, typeOf(x).getDimSize(0)});
    product =
        call.reshape(multiplyMatrices(call, row, weight, /*transposeB=*/true),
                     {typeOf(weight).getDimSize(0)});
  } else {
    product = multiplyMatrices(call, x, weight, /*transposeB=*/true);
  }
  if (bias)
    product = call.binary<AddOp>(product, call.cast(bias, elementOf(product)));
  return call.replace(product);
}

/// `beta * self + alpha * (first @ second)`; a `beta` of 0 ignores `self`.
static LogicalResult convertAddMatmul(TorchCall &call) {
  Type element = call.getResultElement();
  Value addend, x, y;
  double beta = 1, alpha = 1;
  if (failed(call.tensor(0, "self", addend)) ||
      failed(factor(call, 1, "mat1", x)) ||
      failed(factor(call, 2, "mat2", y)) ||
      (!call.isNone(3) && failed(call.number(3, "beta", beta))) ||
      (!call.isNone(4) && failed(call.number(4, "alpha", alpha))))
    return failure();
  auto scale = [&](Value value, double by) {
    return by == 1
               ? value
               : call.binary<MulOp>(value, call.scalarConstant(by, element));
  };
  Value product = scale(multiplyAnyRank(call, x, y), alpha);
  if (beta == 0)
    return call.replace(product);
  return call.replace(
      call.binary<AddOp>(product, scale(call.cast(addend, element), beta)));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// `[batch, heads, rows, columns]`: prepends dimensions of size 1, or merges
/// the leading dimensions.
static SmallVector<int64_t> toRankFour(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(std::max<int64_t>(0, 4 - shape.size()), 1);
  if (shape.size() > 4) {
    ArrayRef<int64_t> leading = shape.drop_back(3);
    result.push_back(llvm::product_of(leading));
    shape = shape.take_back(3);
  }
  llvm::append_range(result, shape);
  return result;
}

/// The mask as a summand of the scores, or null. A boolean mask is true for
/// keys that take part.
static LogicalResult convertMask(TorchCall &call, RankedTensorType query,
                                 Value &mask) {
  if (failed(call.optionalTensor(3, "attn_mask", mask)))
    return failure();
  if (!mask)
    return success();
  Type element = query.getElementType();
  if (elementOf(mask).isInteger(1))
    mask = call.select(
        mask, call.constant(0, element),
        call.constant(-std::numeric_limits<double>::infinity(), element));
  else if (!isa<FloatType>(elementOf(mask)))
    return call.emitArgumentError("attn_mask")
           << "has element type " << elementOf(mask)
           << ", but must be boolean or a float";
  mask = call.cast(mask, element);
  // Leading dimensions that are merged cannot broadcast one by one.
  if (query.getRank() > 4) {
    SmallVector<int64_t> shape(query.getShape().drop_back(2));
    llvm::append_range(shape, typeOf(mask).getShape().take_back(2));
    mask = call.expand(mask, shape);
  }
  if (rankOf(mask) > 4)
    mask = call.reshape(mask, toRankFour(typeOf(mask).getShape()));
  return success();
}

/// Broadcasts the batch of keys and values to the query's.
static Value matchBatch(TorchCall &call, Value keys, ArrayRef<int64_t> query) {
  SmallVector<int64_t> shape(query.drop_back(3));
  llvm::append_range(shape, typeOf(keys).getShape().take_back(3));
  return call.expand(keys, shape);
}

static LogicalResult convertAttention(TorchCall &call) {
  Value query, key, value, mask;
  double dropout = 0;
  bool causal = false, grouped = false;
  if (failed(factor(call, 0, "query", query)) ||
      failed(factor(call, 1, "key", key)) ||
      failed(factor(call, 2, "value", value)) ||
      failed(convertMask(call, typeOf(query), mask)) ||
      (!call.isNone(4) && failed(call.number(4, "dropout_p", dropout))) ||
      (!call.isNone(5) && failed(call.boolean(5, "is_causal", causal))) ||
      (!call.isNone(7) && failed(call.boolean(7, "enable_gqa", grouped))))
    return failure();
  ArrayRef<int64_t> shape = typeOf(query).getShape();
  if (dropout != 0)
    return call.emitArgumentError("dropout_p")
           << "is " << dropout << ", but must be 0; export after 'eval()'";
  for (Value operand : {query, key, value})
    if (rankOf(operand) < 2 || rankOf(operand) != rankOf(query))
      return call.emitError()
             << "has a query, key and value of ranks " << rankOf(query) << ", "
             << rankOf(key) << " and " << rankOf(value)
             << ", but they must be equal and 2 or more";
  double scale = 1 / std::sqrt(static_cast<double>(shape.back()));
  if (!call.isNone(6) && failed(call.number(6, "scale", scale)))
    return failure();
  if (shape.size() >= 4) {
    key = matchBatch(call, key, shape);
    value = matchBatch(call, value, shape);
  }
  for (Value *operand : {&query, &key, &value})
    *operand = call.reshape(*operand, toRankFour(typeOf(*operand).getShape()));

  // PyTorch's attention kernels for f32 are strict, whatever its precision of
  // products.
  Value attention = call.infer<AttentionOp>(query, key, value, mask,
                                            llvm::APFloat(scale), causal,
                                            /*tf32=*/false);
  return call.replace(call.reshape(attention, call.getResultType().getShape()));
}

void torchtofact::populateContractionConverters(ConverterTable &table) {
  for (StringRef name : {"matmul", "mm", "bmm", "mv", "dot", "vdot"})
    table[("aten." + name).str()] = convertMatmul;
  for (StringRef name : {"addmm", "baddbmm", "addmv"})
    table[("aten." + name).str()] = convertAddMatmul;
  table[strictMatmul] = convertMatmul;
  table["aten.linear"] = convertLinear;
  table["aten.outer"] = convertOuter;
  table["aten.scaled_dot_product_attention"] = convertAttention;
}
