//===- Problems.cpp - What ops are in problems of the registry ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The layout of a matrix in memory, behind all views: 'n' where its rows are
/// contiguous, 't' where its columns are, 's' (strided) where neither are.
static char getLayout(Value matrix, bool isTransposed) {
  FailureOr<StridedView> view = StridedView::get(matrix);
  if (failed(view))
    return 's';
  ArrayRef<int64_t> shape = ArrayRef(view->shape).take_back(2);
  ArrayRef<int64_t> strides = ArrayRef(view->strides).take_back(2);
  // A vector is one row, whether it is written as a row or as a column.
  if (shape[0] == 1 || shape[1] == 1) {
    unsigned dim = shape[1] == 1 ? 0 : 1;
    return shape[dim] == 1 || strides[dim] == 1 ? 'n' : 's';
  }
  if (strides[0] != 1 && strides[1] != 1)
    return 's';
  return (strides[1] == 1) != isTransposed ? 'n' : 't';
}

std::string MatmulOp::getProblemName() {
  return std::string("matmul.") + getLayout(getLhs(), getTransposeA()) +
         getLayout(getRhs(), getTransposeB()) + (getTf32() ? ".tf32" : "");
}

ProblemExtents MatmulOp::getProblemExtents() {
  int64_t m = getM();
  int64_t batch = llvm::product_of(getType().getShape().drop_back(2));
  // Batches that share the rhs are rows of one product.
  if (llvm::product_of(getRhs().getType().getShape().drop_back(2)) == 1) {
    m *= batch;
    batch = 1;
  }
  return {{"m", m}, {"n", getN()}, {"k", getK()}, {"batch", batch}};
}

std::string AttentionOp::getProblemName() {
  std::string name = getMask()     ? "masked_attention"
                     : getCausal() ? "causal_attention"
                                   : "attention";
  return getTf32() ? name + ".tf32" : name;
}

ProblemExtents AttentionOp::getProblemExtents() {
  RankedTensorType query = getQuery().getType(), key = getKey().getType();
  return {{"batch", query.getDimSize(0)},  {"heads", query.getDimSize(1)},
          {"kv_heads", key.getDimSize(1)}, {"queries", query.getDimSize(2)},
          {"keys", key.getDimSize(2)},     {"head", query.getDimSize(3)}};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// How rows lie in memory, behind all views: "rows" where the elements of one
/// lie together, "columns" where equal elements of all rows do, else "mixed".
static StringRef getDirection(RowOpInterface op) {
  FailureOr<StridedView> view = StridedView::get(op->getOperand(0));
  if (failed(view))
    return "mixed";
  SmallVector<int64_t> rowDims = op.getRowDims();
  /// The smallest and the largest stride inside of a row, and between rows.
  struct {
    int64_t smallest = std::numeric_limits<int64_t>::max(), largest = 0;
  } inside, between;
  for (auto [dim, size, stride] : llvm::enumerate(view->shape, view->strides)) {
    if (size == 1)
      continue;
    auto &range = llvm::is_contained(rowDims, dim) ? inside : between;
    range.smallest = std::min(range.smallest, stride);
    range.largest = std::max(range.largest, stride);
  }
  return inside.largest <= between.smallest   ? "rows"
         : between.largest <= inside.smallest ? "columns"
                                              : "mixed";
}

/// `name`, and the direction where it is not the usual one.
static std::string addDirection(StringRef name, RowOpInterface op) {
  StringRef direction = getDirection(op);
  return direction == "rows" ? name.str() : (name + "." + direction).str();
}

std::string SoftmaxOp::getProblemName() {
  return addDirection("softmax", *this);
}

std::string NormOp::getProblemName() {
  return addDirection((stringifyNormKind(getKind()) + "_norm").str(), *this);
}

std::string ScanOp::getProblemName() {
  return ("scan." + stringifyScanKind(getKind()) + "." + getDirection(*this))
      .str();
}

std::string ArgsortOp::getProblemName() {
  return ("argsort." + getDirection(*this)).str();
}

std::string ReduceOp::getProblemName() {
  return ("reduce." + stringifyReduceKind(getKind()) + "." +
          getDirection(*this))
      .str();
}
