//===- SumsOfProducts.cpp - Products of which only sums are read ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum or a mean is moved before views, and distributed over sums, differences
// and products with what does not vary over the reduced dimensions, down to
// matrix products and other leaves. Of a product, each reduced dimension
// belongs to one of the factors.
//
//===----------------------------------------------------------------------===//

#include "SumsOfProducts.h"
#include "Matchers.h"
#include "fact/Analysis/ReadThrough.h"

using namespace mlir;
using namespace fact;

namespace {
//===----------------------------------------------------------------------===//
// Reductions before views
//===----------------------------------------------------------------------===//

/// A sum or mean over whole dimensions, or over parts of the last one, as a
/// pool of the columns of a product is.
struct Reduction {
  ReduceKind kind;
  Value operand;
  /// Reduced dimensions, none of which has size 1.
  SmallVector<int64_t> dims;
  /// If not empty, `dims` is the last dimension, which has these parts, and
  /// those in `parts` are reduced.
  SmallVector<int64_t> sizes, parts;

  explicit Reduction(ReduceOp op);

  /// The elements that are reduced to one.
  int64_t getCount() const;
  /// What is left of a reduced dimension.
  int64_t getLeft() const {
    return sizes.empty() ? 1 : llvm::product_of(sizes) / getCount();
  }

  bool moveBefore(PermuteOp op);
  bool moveBefore(ReshapeOp op);
};

Reduction::Reduction(ReduceOp op)
    : kind(op.getKind()), operand(op.getOperand()) {
  for (int64_t dim : op.getDims())
    if (shapeOf(operand)[dim] != 1)
      dims.push_back(dim);
}

int64_t Reduction::getCount() const {
  int64_t count = 1;
  for (int64_t part : parts)
    count *= sizes[part];
  if (sizes.empty())
    for (int64_t dim : dims)
      count *= shapeOf(operand)[dim];
  return count;
}

bool Reduction::moveBefore(PermuteOp op) {
  for (int64_t &dim : dims)
    dim = op.getDims()[dim];
  llvm::sort(dims);
  operand = op.getOperand();
  return true;
}

/// Dimensions that become others are reduced together, but the last one may be
/// reduced in part.
bool Reduction::moveBefore(ReshapeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(operand);
  auto nextDim = [](ArrayRef<int64_t> shape, int64_t &dim) {
    while (shape[dim] == 1)
      ++dim;
    return dim++;
  };
  auto isReduced = [&](int64_t dim) { return llvm::is_contained(dims, dim); };
  int64_t source = 0, target = 0;
  SmallVector<int64_t> mapped;
  for (int64_t left = llvm::product_of(from); left > 1;) {
    SmallVector<int64_t> sources{nextDim(from, source)};
    SmallVector<int64_t> targets{nextDim(to, target)};
    int64_t before = from[sources[0]], after = to[targets[0]];
    while (before != after) {
      if (before < after)
        before *= from[sources.emplace_back(nextDim(from, source))];
      else
        after *= to[targets.emplace_back(nextDim(to, target))];
    }
    left /= before;
    if (llvm::none_of(targets, isReduced))
      continue;
    llvm::append_range(mapped, sources);
    if (llvm::all_of(targets, isReduced))
      continue;
    if (sources.size() != 1 || source != int64_t(from.size()))
      return false;
    for (auto [part, dim] : llvm::enumerate(targets)) {
      sizes.push_back(to[dim]);
      if (isReduced(dim))
        parts.push_back(part);
    }
  }
  if (!sizes.empty() && mapped.size() != 1)
    return false;
  dims = mapped;
  operand = op.getOperand();
  return true;
}

/// A view that a reduction was moved before, and its shape after the reduction.
struct ReducedView {
  Operation *op;
  SmallVector<int64_t> shape;
};

//===----------------------------------------------------------------------===//
// Products of reduced factors
//===----------------------------------------------------------------------===//

/// A product whose factors are reduced before they are multiplied.
struct ReducedProduct {
  /// How the reduced factors are multiplied. A dot product of rows is a
  /// pointwise product in f32 and a sum over the last dimension; the matrix
  /// among the factors is read once, so it should have contiguous rows, and not
  /// be a 16-bit weight that would be widened at load.
  enum class Form { rowsOfLhs, rowsOfRhs, product, swappedProduct };

  mutable MatmulOp op;
  Form form = Form::product;
  /// Reduced dimensions of the factors, and those of the product that both
  /// factors have. `ofLhs` and `ofRhs` are not both empty.
  SmallVector<int64_t> ofLhs, ofRhs, rest;

  /// Reduces dimensions of a product to size `left`.
  static std::optional<ReducedProduct> get(MatmulOp op, ArrayRef<int64_t> dims,
                                           int64_t left);

  bool isDotProduct() const {
    return form == Form::rowsOfLhs || form == Form::rowsOfRhs;
  }
  /// Whether the product rounds its factors: a reduced one has more digits than
  /// they have.
  bool rounds() const;
  /// The elements of both factors that become one of a reduced factor.
  int64_t countTerms(int64_t left) const;

private:
  /// Assigns a dimension of the product.
  void assign(int64_t dim);
  void chooseForm(int64_t left);
};

/// The dimension of an operand that broadcasts along dimension `dim` of a
/// tensor of rank `rank`; -1 if it has size 1 there, or no such dimension.
int64_t alignDim(Value operand, int64_t dim, int64_t rank) {
  int64_t own = dim - (rank - typeOf(operand).getRank());
  return own >= 0 && shapeOf(operand)[own] != 1 ? own : -1;
}

bool ReducedProduct::rounds() const {
  Type element = op.getType().getElementType();
  return op.getTf32() || element.getIntOrFloatBitWidth() < 32;
}

int64_t ReducedProduct::countTerms(int64_t left) const {
  int64_t count = 1;
  for (int64_t dim : ofLhs)
    count *= shapeOf(op.getLhs())[dim] / left;
  for (int64_t dim : ofRhs)
    count *= shapeOf(op.getRhs())[dim] / left;
  return count;
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

/// The shape of a tensor after the reduction of `dims` to size `left`.
SmallVector<int64_t> getReducedShape(Value tensor, ArrayRef<int64_t> dims,
                                     int64_t left) {
  SmallVector<int64_t> shape(shapeOf(tensor));
  for (int64_t dim : dims)
    shape[dim] = left;
  return shape;
}

/// Whether the batches of `matrix` broadcast those of `vector`, and not the
/// other way around.
bool coversBatch(ArrayRef<int64_t> matrix, ArrayRef<int64_t> vector) {
  ArrayRef<int64_t> batch = matrix.drop_back(2);
  auto both = broadcastShapes({batch, vector.drop_back(2)});
  return both && llvm::product_of(*both) == llvm::product_of(batch);
}

void ReducedProduct::chooseForm(int64_t left) {
  SmallVector<int64_t> lhs = getReducedShape(op.getLhs(), ofLhs, left);
  SmallVector<int64_t> rhs = getReducedShape(op.getRhs(), ofRhs, left);
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

std::optional<ReducedProduct>
ReducedProduct::get(MatmulOp op, ArrayRef<int64_t> dims, int64_t left) {
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
  product.chooseForm(left);
  // A reduced factor is not rounded, which takes two or three times the
  // operations of a product that rounds.
  if (product.rounds() && !product.isDotProduct() &&
      product.countTerms(left) < 4)
    return std::nullopt;
  return product;
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

/// Distributes one reduction. Values that are built are in the type that the
/// reduction is computed in, and keep reduced dimensions with what is left.
class Distribution {
public:
  Distribution(const Reduction &reduction, OpBuilder &builder, Location loc)
      : reduction(reduction), builder(builder), loc(loc) {}

  /// Whether some matrix product becomes smaller.
  bool reachesProduct(Value value, unsigned depth = 16);
  Value build(Value value);

private:
  SmallVector<int64_t> getOwnDims(Value value);
  std::optional<ReducedProduct> getProduct(Value value);
  SmallVector<OpOperand *, 2> getTerms(Value value);
  Value reduce(Value value, ArrayRef<int64_t> dims, ReduceKind kind);
  Value scale(Value value, int64_t count);
  int64_t countOf(Value value, ArrayRef<int64_t> dims);
  Value buildProduct(const ReducedProduct &product);
  Value buildDotProduct(const ReducedProduct &product);
  Value splitFactor(Value factor, int64_t dim, Type element);
  Value addParts(Value product, int64_t dim, Type element);
  Value buildMatrixProduct(const ReducedProduct &product);

  const Reduction &reduction;
  OpBuilder &builder;
  Location loc;
};
} // namespace

/// The dimensions of `value`, or of what it broadcasts to, that are reduced and
/// over which it varies.
SmallVector<int64_t> Distribution::getOwnDims(Value value) {
  SmallVector<int64_t> dims;
  int64_t rank = typeOf(reduction.operand).getRank();
  for (int64_t dim : reduction.dims)
    if (int64_t own = alignDim(value, dim, rank); own != -1)
      dims.push_back(own);
  return dims;
}

std::optional<ReducedProduct> Distribution::getProduct(Value value) {
  auto matmul = value.getDefiningOp<MatmulOp>();
  if (!matmul || !matmul->hasOneUse())
    return std::nullopt;
  return ReducedProduct::get(matmul, getOwnDims(value), reduction.getLeft());
}

/// The operands that the reduction goes on to; none of a leaf.
SmallVector<OpOperand *, 2> Distribution::getTerms(Value value) {
  Operation *term = value.getDefiningOp();
  if (!term || !value.hasOneUse())
    return {};
  if (isa<AddOp, SubOp>(term))
    return {&term->getOpOperand(0), &term->getOpOperand(1)};
  // From 16 bits to f32, in which products are computed; not to f64.
  bool isWidened = isa<CastOp>(term) && isWidening(cast<CastOp>(term)) &&
                   typeOf(value).getElementType().isF32();
  if (isa<NegOp>(term) || isWidened)
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
  if (reduction.sizes.empty())
    return ReduceOp::create(builder, loc, kind, value, dims, /*keep=*/true);
  // Splits the dimension.
  int64_t dim = dims.front();
  SmallVector<int64_t> shape(shapeOf(value)), parts;
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, reduction.sizes.begin(),
               reduction.sizes.end());
  for (int64_t part : reduction.parts)
    parts.push_back(dim + part);
  Value reduced = ReduceOp::create(builder, loc, kind,
                                   reshapeTo(builder, loc, value, shape), parts,
                                   /*keep=*/false);
  return reshapeTo(builder, loc, reduced,
                   getReducedShape(value, dims, reduction.getLeft()));
}

Value Distribution::scale(Value value, int64_t count) {
  if (count == 1)
    return value;
  return MulOp::create(
      builder, loc, value,
      makeScalar(builder, loc, count, typeOf(value).getElementType()));
}

/// The elements of `value` that a reduction of `dims` makes one of.
int64_t Distribution::countOf(Value value, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= shapeOf(value)[dim] / reduction.getLeft();
  return count;
}

/// The sum over K of the elements of both factors, one of which is a vector in
/// each batch, in f32.
Value Distribution::buildDotProduct(const ReducedProduct &product) {
  MatmulOp matmul = product.op;
  bool isLhs = product.form == ReducedProduct::Form::rowsOfLhs;
  Value lhs = reduce(widen(builder, loc, matmul.getLhs()), product.ofLhs,
                     reduction.kind);
  Value rhs = reduce(widen(builder, loc, matmul.getRhs()), product.ofRhs,
                     reduction.kind);
  Value rows = isLhs ? lhs : rhs, vector = isLhs ? rhs : lhs;
  auto withLast = [&](Value value) {
    // [batch..., K, 1] to [batch..., 1, K].
    SmallVector<int64_t> shape(shapeOf(value));
    if (shape.back() == 1)
      std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
    return reshapeTo(builder, loc, value, shape);
  };
  bool isRow = isLhs ? matmul.getTransposeA() : !matmul.getTransposeB();
  Value elements = MulOp::create(builder, loc, isRow ? withLast(rows) : rows,
                                 withLast(vector));
  Value sums = ReduceOp::create(builder, loc, ReduceKind::sum, elements,
                                typeOf(elements).getRank() - 1, /*keep=*/true);
  SmallVector<int64_t> shape(shapeOf(sums));
  if (!isLhs)
    std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  return reshapeTo(builder, loc, sums, shape);
}

/// What the second part of a factor is multiplied with, so that it is among the
/// normal numbers of f16 where the first one is.
static double getScale(Type element) { return element.isF16() ? 2048 : 1; }

/// An f32 factor of a 16-bit product as two rows or columns instead of one
/// along dimension `dim`: the factor rounded to 16 bits, and what that leaves
/// of it. Their sum has twice the digits.
Value Distribution::splitFactor(Value factor, int64_t dim, Type element) {
  SmallVector<int64_t> shape(shapeOf(factor));
  shape.insert(shape.begin() + dim, 1);
  Value whole = reshapeTo(builder, loc, factor, shape);
  auto rounded =
      CastOp::create(builder, loc, typeOf(whole).clone(element), whole);
  Value first = widen(builder, loc, rounded);
  Type f32 = builder.getF32Type();
  Value rest =
      MulOp::create(builder, loc, SubOp::create(builder, loc, whole, first),
                    makeScalar(builder, loc, getScale(element), f32));
  // Of an infinity nothing is left, not NaN.
  Value isExact = CompareOp::create(builder, loc, Predicate::eq, whole, first);
  Value second = SelectOp::create(builder, loc, isExact,
                                  makeScalar(builder, loc, 0, f32), rest);
  SmallVector<int64_t> ofParts(shape.size() - dim, 1);
  ofParts.front() = 2;
  auto isFirst = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          RankedTensorType::get(ofParts, builder.getI1Type()),
          ArrayRef<bool>{true, false}));
  Value parts = SelectOp::create(builder, loc, isFirst, first, second);
  shape = SmallVector<int64_t>(shapeOf(factor));
  shape[dim] *= 2;
  Value stacked = reshapeTo(builder, loc, parts, shape);
  return CastOp::create(builder, loc, typeOf(stacked).clone(element), stacked);
}

/// Adds the two parts along dimension `dim` of a product.
Value Distribution::addParts(Value product, int64_t dim, Type element) {
  SmallVector<int64_t> shape(shapeOf(product));
  shape[dim] /= 2;
  shape.insert(shape.begin() + dim, 2);
  Value parts = reshapeTo(builder, loc, product, shape);
  if (double scale = getScale(element); scale != 1) {
    SmallVector<int64_t> ofParts(shape.size() - dim, 1);
    ofParts.front() = 2;
    auto type = RankedTensorType::get(ofParts, builder.getF32Type());
    parts = MulOp::create(
        builder, loc, parts,
        ConstantOp::create(builder, loc,
                           DenseElementsAttr::get(
                               type, ArrayRef<float>{1, float(1 / scale)})));
  }
  return ReduceOp::create(builder, loc, ReduceKind::sum, parts, dim,
                          /*keep=*/false);
}

/// A product of matrices. TF32 would round the reduced factor, so it is
/// multiplied as f32; 16-bit products take it in two parts.
Value Distribution::buildMatrixProduct(const ReducedProduct &product) {
  MatmulOp matmul = product.op;
  Type element = matmul.getType().getElementType();
  bool isNarrow = element.getIntOrFloatBitWidth() < 32;
  // Rounded to 16 bits, a mean does not leave the range of its elements, as a
  // sum might.
  ReduceKind kind = isNarrow ? ReduceKind::mean : reduction.kind;
  auto reduceFactor = [&](Value factor, ArrayRef<int64_t> dims) {
    bool isWidened = isNarrow && !dims.empty();
    return reduce(isWidened ? widen(builder, loc, factor) : factor, dims, kind);
  };
  Value lhs = reduceFactor(matmul.getLhs(), product.ofLhs);
  Value rhs = reduceFactor(matmul.getRhs(), product.ofRhs);
  bool ofLhs = !product.ofLhs.empty(), ofRhs = !product.ofRhs.empty();
  bool transposeA = matmul.getTransposeA(), transposeB = matmul.getTransposeB();
  // [batch..., K, 1] or [batch..., 1, K] to [batch..., 1, K], so that the
  // batches can be rows of one matrix.
  auto asRow = [&](Value vector) {
    SmallVector<int64_t> row(shapeOf(vector));
    row[row.size() - 2] = 1;
    row[row.size() - 1] = matmul.getK();
    return reshapeTo(builder, loc, vector, row);
  };
  if (product.form == ReducedProduct::Form::swappedProduct) {
    std::swap(lhs, rhs);
    std::swap(ofLhs, ofRhs);
    transposeB = !transposeA;
    transposeA = true;
  }
  if (typeOf(lhs).getNumElements() ==
      llvm::product_of(shapeOf(lhs).drop_back(2)) * matmul.getK()) {
    lhs = asRow(lhs);
    transposeA = false;
  }
  if (isNarrow && ofLhs)
    lhs =
        splitFactor(lhs, typeOf(lhs).getRank() - (transposeA ? 1 : 2), element);
  if (isNarrow && ofRhs)
    rhs =
        splitFactor(rhs, typeOf(rhs).getRank() - (transposeB ? 2 : 1), element);
  Value result = MatmulOp::create(builder, loc, lhs, rhs, transposeA,
                                  transposeB, /*tf32=*/false);
  result = widen(builder, loc, result);
  int64_t rank = typeOf(result).getRank();
  if (isNarrow && ofRhs)
    result = addParts(result, rank - 1, element);
  if (isNarrow && ofLhs)
    result = addParts(result, rank - 2, element);
  SmallVector<int64_t> shape = getReducedShape(
      matmul, getOwnDims(matmul.getResult()), reduction.getLeft());
  for (int64_t dim : product.rest)
    shape[dim] = matmul.getType().getDimSize(dim);
  result = reshapeTo(builder, loc, result, shape);
  if (isNarrow && reduction.kind == ReduceKind::sum)
    result = scale(result, product.countTerms(reduction.getLeft()));
  return result;
}

Value Distribution::buildProduct(const ReducedProduct &product) {
  Value result = product.isDotProduct() ? buildDotProduct(product)
                                        : buildMatrixProduct(product);
  return reduce(result, product.rest, reduction.kind);
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
    reduced =
        reduce(widen(builder, loc, value), getOwnDims(value), reduction.kind);
  if (reduction.kind == ReduceKind::mean)
    return reduced;
  // A sum counts what is broadcast as often as it is.
  return scale(reduced,
               reduction.getCount() / countOf(value, getOwnDims(value)));
}

namespace {
struct DistributeReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Moves the reduction before views that nothing else reads.
  static void moveBeforeViews(Reduction &reduction,
                              SmallVectorImpl<ReducedView> &views) {
    while (reduction.operand.hasOneUse() && reduction.sizes.empty()) {
      ReducedView view{reduction.operand.getDefiningOp(),
                       getReducedShape(reduction.operand, reduction.dims, 1)};
      Reduction moved = reduction;
      auto permute = dyn_cast_or_null<PermuteOp>(view.op);
      auto reshape = dyn_cast_or_null<ReshapeOp>(view.op);
      if (!(permute && moved.moveBefore(permute)) &&
          !(reshape && moved.moveBefore(reshape)))
        return;
      reduction = moved;
      views.push_back(view);
    }
  }

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if ((op.getKind() != ReduceKind::sum && op.getKind() != ReduceKind::mean) ||
        op.getOperand().getType().getNumElements() == 0)
      return failure();
    Location loc = op.getLoc();
    Reduction reduction(op);
    SmallVector<ReducedView> views;
    moveBeforeViews(reduction, views);
    Distribution distribution(reduction, rewriter, loc);
    if (!distribution.reachesProduct(reduction.operand))
      return failure();
    Value result = distribution.build(reduction.operand);
    result = rewriter.createOrFold<CastOp>(
        loc, typeOf(result).clone(op.getType().getElementType()), result);
    for (const ReducedView &view : llvm::reverse(views)) {
      if (auto permute = dyn_cast<PermuteOp>(view.op))
        result = permuteTo(rewriter, loc, result, permute.getDims());
      else
        result = reshapeTo(rewriter, loc, result, view.shape);
    }
    rewriter.replaceOp(
        op, reshapeTo(rewriter, loc, result, op.getType().getShape()));
    return success();
  }
};
} // namespace

void fact::populateSumsOfProductsPatterns(RewritePatternSet &patterns) {
  patterns.add<DistributeReduction>(patterns.getContext());
}
