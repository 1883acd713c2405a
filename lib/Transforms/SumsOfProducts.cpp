//===- SumsOfProducts.cpp - Products of which only sums are read ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum or a mean is distributed over sums, differences and products with what
// does not vary over the reduced dimensions, down to matrix products and other
// leaves. Of a product, each reduced dimension belongs to one of the factors.
//
//===----------------------------------------------------------------------===//

#include "SumsOfProducts.h"
#include "Matchers.h"
#include "fact/Analysis/ReadThrough.h"

using namespace mlir;
using namespace fact;

namespace {
/// A product whose factors are reduced before they are multiplied.
struct ReducedProduct {
  /// How the reduced factors are multiplied. A dot product of rows is a
  /// pointwise product in f32 and a sum over the last dimension; the matrix
  /// among the factors is read once, so it should have contiguous rows, and not
  /// be a 16-bit weight that would be widened at load.
  enum class Form { rowsOfLhs, rowsOfRhs, product, swappedProduct };

  MatmulOp op;
  Form form = Form::product;
  /// Reduced dimensions of the factors, and those of the product that both
  /// factors have. `lhs` and `rhs` are not both empty.
  SmallVector<int64_t> ofLhs, ofRhs, rest;

  static std::optional<ReducedProduct> get(MatmulOp op, ArrayRef<int64_t> dims);

private:
  /// Assigns a dimension of the product.
  void assign(int64_t dim);
  void chooseForm();
};

/// The dimension of an operand that broadcasts along dimension `dim` of a
/// tensor of rank `rank`; -1 if it has size 1 there, or no such dimension.
int64_t alignDim(Value operand, int64_t dim, int64_t rank) {
  int64_t own = dim - (rank - typeOf(operand).getRank());
  return own >= 0 && shapeOf(operand)[own] != 1 ? own : -1;
}

void ReducedProduct::assign(int64_t dim) {
  int64_t rank = op.getType().getRank();
  int64_t lhsRank = typeOf(op.getLhs()).getRank();
  int64_t rhsRank = typeOf(op.getRhs()).getRank();
  if (dim == rank - 1)
    return ofRhs.push_back(rhsRank - (op.getTransposeB() ? 2 : 1));
  if (dim == rank - 2)
    return ofLhs.push_back(lhsRank - (op.getTransposeA() ? 1 : 2));
  int64_t lhs = alignDim(op.getLhs(), dim, rank);
  int64_t rhs = alignDim(op.getRhs(), dim, rank);
  if (rhs == -1)
    ofLhs.push_back(lhs);
  else if (lhs == -1)
    ofRhs.push_back(rhs);
  else
    rest.push_back(dim);
}

/// The shape of a factor after its reduction.
SmallVector<int64_t> getReducedShape(Value factor, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(shapeOf(factor));
  for (int64_t dim : dims)
    shape[dim] = 1;
  return shape;
}

/// Whether the batches of `matrix` broadcast those of `vector`, and not the
/// other way around.
bool coversBatch(ArrayRef<int64_t> matrix, ArrayRef<int64_t> vector) {
  ArrayRef<int64_t> batch = matrix.drop_back(2);
  auto both = broadcastShapes({batch, vector.drop_back(2)});
  return both && llvm::product_of(*both) == llvm::product_of(batch);
}

void ReducedProduct::chooseForm() {
  SmallVector<int64_t> lhs = getReducedShape(op.getLhs(), ofLhs);
  SmallVector<int64_t> rhs = getReducedShape(op.getRhs(), ofRhs);
  bool isRow = lhs[lhs.size() - (op.getTransposeA() ? 1 : 2)] == 1;
  bool isColumn = rhs[rhs.size() - (op.getTransposeB() ? 2 : 1)] == 1;
  auto hasRows = [](Value factor, bool isTransposed, bool isVector) {
    return isVector || (!isTransposed && !isFunctionOfWeights(factor));
  };
  if (isColumn && coversBatch(lhs, rhs) &&
      hasRows(op.getLhs(), op.getTransposeA(), isRow))
    form = Form::rowsOfLhs;
  else if (isRow && coversBatch(rhs, lhs) &&
           hasRows(op.getRhs(), !op.getTransposeB(), isColumn))
    form = Form::rowsOfRhs;
  // The vectors of all batches are the rows of one matrix, as they are already
  // if it is the left factor that was reduced.
  else if (isColumn && !isRow &&
           llvm::product_of(ArrayRef<int64_t>(lhs).drop_back(2)) == 1)
    form = Form::swappedProduct;
}

std::optional<ReducedProduct> ReducedProduct::get(MatmulOp op,
                                                  ArrayRef<int64_t> dims) {
  // Convolutions stay: windows are elements many times over.
  if (skipReshapes(op.getLhs()).getDefiningOp<WindowsOp>() ||
      skipReshapes(op.getRhs()).getDefiningOp<WindowsOp>())
    return std::nullopt;
  ReducedProduct product{op, Form::product, {}, {}, {}};
  for (int64_t dim : dims)
    product.assign(dim);
  if (product.ofLhs.empty() && product.ofRhs.empty())
    return std::nullopt;
  llvm::sort(product.ofLhs);
  llvm::sort(product.ofRhs);
  product.chooseForm();
  return product;
}

/// Distributes one reduction. Values that are built are in the type that the
/// reduction is computed in, and keep reduced dimensions with size 1.
class Distribution {
public:
  Distribution(ReduceOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()) {}

  /// Whether some matrix product becomes smaller.
  bool reachesProduct(Value value, unsigned depth = 16);
  Value build(Value value);

private:
  SmallVector<int64_t> getOwnDims(Value value);
  std::optional<ReducedProduct> getProduct(Value value);
  SmallVector<OpOperand *, 2> getTerms(Value value);
  Value reduce(Value value, ArrayRef<int64_t> dims, ReduceKind kind);
  Value scale(Value value, int64_t count);
  Value buildProduct(const ReducedProduct &product);
  Value buildDotProduct(const ReducedProduct &product);

  ReduceOp op;
  OpBuilder &builder;
  Location loc;
};
} // namespace

/// The dimensions of `value`, or of what it broadcasts to, that are reduced and
/// over which it varies.
SmallVector<int64_t> Distribution::getOwnDims(Value value) {
  SmallVector<int64_t> dims;
  for (int64_t dim : op.getDims())
    if (int64_t own = alignDim(value, dim, typeOf(op.getOperand()).getRank());
        own != -1)
      dims.push_back(own);
  return dims;
}

std::optional<ReducedProduct> Distribution::getProduct(Value value) {
  auto matmul = value.getDefiningOp<MatmulOp>();
  if (!matmul || !matmul->hasOneUse())
    return std::nullopt;
  return ReducedProduct::get(matmul, getOwnDims(value));
}

/// The operands that the reduction goes on to; none of a leaf.
SmallVector<OpOperand *, 2> Distribution::getTerms(Value value) {
  Operation *term = value.getDefiningOp();
  if (!term || !value.hasOneUse())
    return {};
  if (isa<AddOp, SubOp>(term))
    return {&term->getOpOperand(0), &term->getOpOperand(1)};
  if (isa<NegOp>(term) || (isa<CastOp>(term) && isWidening(cast<CastOp>(term))))
    return {&term->getOpOperand(0)};
  if (isa<MulOp, DivOp>(term) && getOwnDims(term->getOperand(1)).empty())
    return {&term->getOpOperand(0)};
  if (isa<MulOp>(term) && getOwnDims(term->getOperand(0)).empty())
    return {&term->getOpOperand(1)};
  return {};
}

bool Distribution::reachesProduct(Value value, unsigned depth) {
  if (getProduct(value))
    return true;
  return depth && llvm::any_of(getTerms(value), [&](OpOperand *term) {
           return reachesProduct(term->get(), depth - 1);
         });
}

Value Distribution::reduce(Value value, ArrayRef<int64_t> dims,
                           ReduceKind kind) {
  if (dims.empty())
    return value;
  return ReduceOp::create(builder, loc, kind, value, dims, /*keep=*/true);
}

Value Distribution::scale(Value value, int64_t count) {
  if (count == 1)
    return value;
  return MulOp::create(
      builder, loc, value,
      makeScalar(builder, loc, count, typeOf(value).getElementType()));
}

static int64_t countOf(Value value, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= shapeOf(value)[dim];
  return count;
}

/// The sum over K of the elements of both factors, one of which is a vector in
/// each batch, in f32.
Value Distribution::buildDotProduct(const ReducedProduct &product) {
  MatmulOp matmul = product.op;
  bool isLhs = product.form == ReducedProduct::Form::rowsOfLhs;
  Value lhs = reduce(widen(builder, loc, matmul.getLhs()), product.ofLhs,
                     op.getKind());
  Value rhs = reduce(widen(builder, loc, matmul.getRhs()), product.ofRhs,
                     op.getKind());
  Value rows = isLhs ? lhs : rhs, vector = isLhs ? rhs : lhs;
  auto withLast = [&](Value value) {
    // [batch..., K, 1] to [batch..., 1, K].
    SmallVector<int64_t> shape(shapeOf(value));
    if (shape.back() == 1)
      std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
    return reshapeTo(builder, loc, value, shape);
  };
  bool isRow = isLhs ? matmul.getTransposeA() : !matmul.getTransposeB();
  Value elements =
      MulOp::create(builder, loc, isRow ? withLast(rows) : rows,
                    withLast(vector));
  Value sums = ReduceOp::create(builder, loc, ReduceKind::sum, elements,
                                typeOf(elements).getRank() - 1, /*keep=*/true);
  SmallVector<int64_t> shape(shapeOf(sums));
  if (!isLhs)
    std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  return reshapeTo(builder, loc, sums, shape);
}

Value Distribution::buildProduct(const ReducedProduct &product) {
  using Form = ReducedProduct::Form;
  MatmulOp matmul = product.op;
  Value result;
  if (product.form == Form::rowsOfLhs || product.form == Form::rowsOfRhs) {
    result = buildDotProduct(product);
  } else {
    // Rounded to 16 bits, a mean does not leave the range of its elements, as a
    // sum might.
    bool isNarrow =
        matmul.getType().getElementType().getIntOrFloatBitWidth() < 32;
    ReduceKind kind = isNarrow ? ReduceKind::mean : op.getKind();
    Value lhs = reduce(matmul.getLhs(), product.ofLhs, kind);
    Value rhs = reduce(matmul.getRhs(), product.ofRhs, kind);
    SmallVector<int64_t> shape(
        getReducedShape(matmul, getOwnDims(matmul.getResult())));
    for (int64_t dim : product.rest)
      shape[dim] = matmul.getType().getDimSize(dim);
    if (product.form == Form::swappedProduct) {
      // [batch..., K, 1], or transposed, to [batch..., 1, K].
      SmallVector<int64_t> row(shapeOf(rhs));
      row[row.size() - 2] = 1;
      row[row.size() - 1] = matmul.getK();
      result = MatmulOp::create(builder, loc, reshapeTo(builder, loc, rhs, row),
                                lhs, /*transpose_a=*/false,
                                /*transpose_b=*/!matmul.getTransposeA(),
                                matmul.getTf32());
    } else {
      result = MatmulOp::create(builder, loc, lhs, rhs, matmul.getTransposeA(),
                                matmul.getTransposeB(), matmul.getTf32());
    }
    result = widen(builder, loc, reshapeTo(builder, loc, result, shape));
    if (isNarrow && op.getKind() == ReduceKind::sum)
      result = scale(result, countOf(matmul.getLhs(), product.ofLhs) *
                                 countOf(matmul.getRhs(), product.ofRhs));
  }
  return reduce(result, product.rest, op.getKind());
}

Value Distribution::build(Value value) {
  Operation *term = value.getDefiningOp();
  SmallVector<OpOperand *, 2> terms = getTerms(value);
  if (!terms.empty()) {
    if (isa<CastOp>(term))
      return build(terms[0]->get());
    SmallVector<Value> operands;
    for (OpOperand &operand : term->getOpOperands())
      operands.push_back(llvm::is_contained(terms, &operand)
                             ? build(operand.get())
                             : widen(builder, loc, operand.get()));
    if (isa<NegOp>(term))
      return NegOp::create(builder, loc, operands[0]);
    if (isa<SubOp>(term))
      return SubOp::create(builder, loc, operands[0], operands[1]);
    if (isa<AddOp>(term))
      return AddOp::create(builder, loc, operands[0], operands[1]);
    if (isa<MulOp>(term))
      return MulOp::create(builder, loc, operands[0], operands[1]);
    return DivOp::create(builder, loc, operands[0], operands[1]);
  }
  Value reduced;
  if (std::optional<ReducedProduct> product = getProduct(value))
    reduced = buildProduct(*product);
  else
    reduced = reduce(widen(builder, loc, value), getOwnDims(value),
                     op.getKind());
  if (op.getKind() == ReduceKind::mean)
    return reduced;
  // A sum counts what is broadcast as often as it is.
  return scale(reduced, countOf(op.getOperand(), op.getDims()) /
                            countOf(value, getOwnDims(value)));
}

namespace {
struct DistributeReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if ((op.getKind() != ReduceKind::sum && op.getKind() != ReduceKind::mean) ||
        op.getOperand().getType().getNumElements() == 0)
      return failure();
    Distribution distribution(op, rewriter);
    if (!distribution.reachesProduct(op.getOperand()))
      return failure();
    Value result = distribution.build(op.getOperand());
    result = rewriter.createOrFold<CastOp>(
        op.getLoc(), typeOf(result).clone(op.getType().getElementType()),
        result);
    rewriter.replaceOp(op, reshapeTo(rewriter, op.getLoc(), result,
                                     op.getType().getShape()));
    return success();
  }
};
} // namespace

void fact::populateSumsOfProductsPatterns(RewritePatternSet &patterns) {
  patterns.add<DistributeReduction>(patterns.getContext());
}
