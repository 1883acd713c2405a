//===- Bands.cpp - Matrices that are zero outside of a band ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Bands.h"
#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Dialect/Fact/Placement.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

static int64_t limit(int64_t bound) {
  return std::clamp(bound, -Band::none, Band::none);
}

Band Band::intersect(const Band &other) const {
  return {std::max(lower, other.lower), std::min(upper, other.upper)};
}

Band Band::unite(const Band &other) const {
  if (isEmpty() || other.isEmpty())
    return isEmpty() ? other : *this;
  return {std::min(lower, other.lower), std::max(upper, other.upper)};
}

Band Band::multiply(const Band &other) const {
  bool hasLower = lower > -none && other.lower > -none;
  bool hasUpper = upper < none && other.upper < none;
  return {hasLower ? limit(lower + other.lower) : -none,
          hasUpper ? limit(upper + other.upper) : none};
}

Band Band::shift(int64_t columns) const {
  return {lower > -none ? limit(lower + columns) : -none,
          upper < none ? limit(upper + columns) : none};
}

std::optional<Band> Band::complement() const {
  if (upper >= none && lower > -none)
    return Band{-none, lower - 1};
  if (lower <= -none && upper < none)
    return Band{upper + 1, none};
  return std::nullopt;
}

double Band::countElements(int64_t rows, int64_t columns) const {
  double count = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = std::max<int64_t>(row + lower, 0);
    int64_t end = std::min(row + upper + 1, columns);
    count += double(std::max<int64_t>(end - begin, 0));
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether a value has matrices of more than one row and column.
static bool hasMatrices(Value value) {
  ArrayRef<int64_t> shape = getShape(value);
  return shape.size() >= 2 && shape.back() > 1 && shape[shape.size() - 2] > 1;
}

namespace {
/// Finds the smallest band of all nonzero elements, in row-major order.
class BandFinder {
public:
  explicit BandFinder(ArrayRef<int64_t> shape)
      : rows(shape[shape.size() - 2]), columns(shape.back()) {
    for (int64_t extent : shape.drop_back(2))
      matrices *= extent;
  }

  void add(bool isNonzero) {
    if (isNonzero) {
      band.lower = std::min(band.lower, column - row);
      band.upper = std::max(band.upper, column - row);
      ++nonzeros;
    }
    if (++column < columns)
      return;
    column = 0;
    row = row + 1 < rows ? row + 1 : 0;
  }

  bool isEmpty() const { return nonzeros == 0; }
  bool isExact() const {
    return double(nonzeros) == matrices * band.countElements(rows, columns);
  }
  /// Bounds at a corner of the matrix are none.
  Band get() const {
    return {band.lower <= 1 - rows ? -Band::none : band.lower,
            band.upper >= columns - 1 ? Band::none : band.upper};
  }

private:
  int64_t rows, columns, row = 0, column = 0, nonzeros = 0;
  double matrices = 1;
  Band band{Band::none, -Band::none};
};
} // namespace

//===----------------------------------------------------------------------===//
// Nonzero elements
//===----------------------------------------------------------------------===//

Band BandAnalysis::getNonzero(Value value) { return get(value).band; }

std::optional<Band> BandAnalysis::getTrue(Value value) {
  const Known &band = get(value);
  if (!getElementTypeOrSelf(value.getType()).isInteger(1) || !band.isExact ||
      !band.band.isBounded())
    return std::nullopt;
  return band.band;
}

const BandAnalysis::Known &BandAnalysis::get(Value value) {
  auto place = known.find(value);
  if (place != known.end())
    return place->second;
  Known band;
  if (hasMatrices(value))
    band = compute(value);
  if (!band.band.isBounded())
    band = Known();
  return known[value] = std::move(band);
}

BandAnalysis::Known BandAnalysis::getOperand(Operation *op, unsigned number) {
  Value operand = op->getOperand(number);
  if (!hasMatrices(operand) ||
      getShape(operand).take_back(2) != getShape(op->getResult(0)).take_back(2))
    return {};
  return get(operand);
}

/// Ops with f(0) = 0.
static bool keepsZero(Operation *op) {
  return isa<NegOp, AbsOp, SignOp, FloorOp, CeilOp, RoundOp, Expm1Op, Log1pOp,
             SqrtOp, SinOp, ErfOp, TanhOp, ReluOp, SiluOp, MishOp, GeluOp,
             CastOp>(op);
}

BandAnalysis::Known BandAnalysis::computeSelected(SelectOp select) {
  Known condition = getOperand(select, 0);
  for (unsigned zero : {2u, 1u}) {
    if (getSplatConstant(select->getOperand(zero)) != 0.0)
      continue;
    Known chosen = getOperand(select, 3 - zero);
    std::optional<Band> where = condition.band;
    if (zero == 1)
      where = condition.isExact ? condition.band.complement() : std::nullopt;
    if (where && condition.band.isBounded()) {
      chosen.band = chosen.band.intersect(*where);
      llvm::append_range(chosen.weights, condition.weights);
    }
    chosen.isExact = false;
    return chosen;
  }
  return {};
}

BandAnalysis::Known BandAnalysis::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto fused = dyn_cast<FusedOp>(argument.getOwner()->getParentOp());
    if (!fused)
      return {};
    SmallVector<Band> bands = getOperandBands(fused);
    if (!bands.empty())
      return {bands[argument.getArgNumber()],
              getElementTypeOrSelf(value.getType()).isInteger(1)};
    return get(fused->getOperand(argument.getArgNumber()));
  }
  Operation *op = value.getDefiningOp();
  if (isa<FusedOp, PrepareOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return get(op->getRegion(0).front().getTerminator()->getOperand(number));
  }
  ArrayRef<int64_t> shape = getShape(value);
  if (isa<ConstantOp, GetWeightOp, CompareOp>(op)) {
    BandFinder finder(shape);
    Known band;
    auto constant = dyn_cast<ConstantOp>(op);
    auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                          : DenseElementsAttr();
    if (dense && dense.isSplat())
      return {};
    if (dense && dense.getElementType().isInteger(1)) {
      for (bool element : dense.getValues<bool>())
        finder.add(element);
    } else {
      FailureOr<KnownTensor> tensor = evaluateConstant(value);
      if (failed(tensor))
        return {};
      for (double element : tensor->elements)
        finder.add(element != 0);
      band.weights.assign(tensor->weights.begin(), tensor->weights.end());
    }
    // Zeros are data that is not there yet, not a mask.
    if (finder.isEmpty())
      return {};
    band.band = finder.get();
    band.isExact = finder.isExact();
    // A buffer is a mask if its band is full; others may get other values.
    if (!band.weights.empty() && !band.isExact)
      return {};
    return band;
  }
  if (auto select = dyn_cast<SelectOp>(op))
    return computeSelected(select);
  if (isa<MulOp, AndOp, AddOp, SubOp, DivOp>(op)) {
    Known left = getOperand(op, 0), right = getOperand(op, 1);
    if (isa<DivOp>(op))
      return {left.band, false, left.weights};
    Band band = isa<MulOp, AndOp>(op) ? left.band.intersect(right.band)
                                      : left.band.unite(right.band);
    llvm::append_range(left.weights, right.weights);
    return {band, false, left.weights};
  }
  if (keepsZero(op)) {
    Known band = getOperand(op, 0);
    band.isExact &= isa<NegOp, CastOp>(op) &&
                    getElementTypeOrSelf(value.getType()).isInteger(1) ==
                        getElementTypeOrSelf(op->getOperand(0)).isInteger(1);
    return band;
  }
  if (isa<ReshapeOp, ExpandOp>(op))
    return getOperand(op, 0);
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    ArrayRef<int64_t> dims = permute.getDims();
    int64_t rank = dims.size();
    ArrayRef<int64_t> last = dims.take_back(2);
    if (last[0] + last[1] != 2 * rank - 3 ||
        std::min(last[0], last[1]) < rank - 2)
      return {};
    Known band = get(permute.getOperand());
    if (last[0] > last[1])
      band.band = band.band.transpose();
    return band;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    if (slice.getStep() != 1)
      return {};
    Known band = get(slice.getOperand());
    int64_t dim = slice.getDim(), start = slice.getStart(), rank = shape.size();
    if (dim >= rank - 2)
      band.band = band.band.shift(dim == rank - 1 ? -start : start);
    return band;
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    // What is behind padded rows is not read.
    std::optional<Placement> placement = Placement::get(concat);
    if (!placement || placement->start != 0)
      return {};
    return get(placement->value);
  }
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    Known left = get(matmul.getLhs()), right = get(matmul.getRhs());
    if (matmul.getTransposeA())
      left.band = left.band.transpose();
    if (matmul.getTransposeB())
      right.band = right.band.transpose();
    llvm::append_range(left.weights, right.weights);
    return {left.band.multiply(right.band), false, left.weights};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Used elements
//===----------------------------------------------------------------------===//

/// Whether a pointwise op may make a NaN or an infinity of any number.
static bool mayBeUndefined(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<DivOp, FmodOp>(op))
    return use.getOperandNumber() == 1;
  return isa<PowOp, LogOp, Log1pOp, SqrtOp, RsqrtOp, ReciprocalOp>(op);
}

Band BandAnalysis::getUsedBy(OpOperand &use, bool selects) {
  Operation *op = use.getOwner();
  if (op->getNumResults() != 1 || !hasMatrices(use.get()))
    return {};
  Value result = op->getResult(0);
  bool keepsMatrices =
      getShape(use.get()).take_back(2) == getShape(result).take_back(2);
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    ArrayRef<int64_t> dims = permute.getDims();
    int64_t rank = dims.size();
    if (dims[rank - 1] == rank - 2 && dims[rank - 2] == rank - 1)
      return getUsed(result, selects).transpose();
    return dims[rank - 1] == rank - 1 && dims[rank - 2] == rank - 2
               ? getUsed(result, selects)
               : Band();
  }
  if (!keepsMatrices || !(isa<PointwiseOpInterface, ReshapeOp>(op)))
    return {};
  Band used = getUsed(result, selects || mayBeUndefined(use));
  if (auto select = dyn_cast<SelectOp>(op); select && use.getOperandNumber()) {
    Known condition = getOperand(op, 0);
    if (!condition.band.isBounded())
      return used;
    if (use.getOperandNumber() == 1)
      return used.intersect(condition.band);
    std::optional<Band> rest =
        condition.isExact ? condition.band.complement() : std::nullopt;
    return rest ? used.intersect(*rest) : used;
  }
  if (isa<MulOp>(op) && !selects)
    return used.intersect(getOperand(op, 1 - use.getOperandNumber()).band);
  return used;
}

Band BandAnalysis::getUsed(Value value, bool selects) {
  auto &known = knownUsed[selects];
  auto place = known.find(value);
  if (place != known.end())
    return place->second;
  Band used{Band::none, -Band::none};
  for (OpOperand &use : value.getUses())
    used = used.unite(getUsedBy(use, selects));
  return known[value] = used.isEmpty() ? Band() : used;
}

ProductBands ProductBands::get(MatmulOp matmul, bool foldsBatches) {
  BandAnalysis analysis;
  auto getFactor = [&](Value factor, bool isTransposed) {
    Band band = analysis.getNonzero(factor);
    return isTransposed ? band.transpose() : band;
  };
  ProductBands bands;
  bands.rhs = getFactor(matmul.getRhs(), matmul.getTransposeB());
  if (foldsBatches)
    return bands;
  bands.lhs = getFactor(matmul.getLhs(), matmul.getTransposeA());
  // What a product of two triangles does not reach is 0.
  Band used = analysis.getUsed(matmul.getResult())
                  .intersect(analysis.getNonzero(matmul.getResult()));
  if (!used.isEmpty())
    bands.result = used;
  return bands;
}

//===----------------------------------------------------------------------===//
// Marks of kernels
//===----------------------------------------------------------------------===//

static constexpr StringLiteral bandsName = "fact.bands";

/// One pair of bounds for each operand.
SmallVector<Band> fact::getOperandBands(FusedOp fused) {
  auto bounds = fused->getAttrOfType<DenseI64ArrayAttr>(bandsName);
  SmallVector<Band> bands;
  if (!bounds || size_t(bounds.size()) != 2 * fused.getInputs().size())
    return bands;
  for (int64_t i = 0; i < bounds.size(); i += 2)
    bands.push_back({bounds[i], bounds[i + 1]});
  return bands;
}

void fact::setOperandBands(FusedOp fused, ArrayRef<Band> bands) {
  fused->removeAttr(bandsName);
  if (llvm::none_of(bands, [](const Band &band) { return band.isBounded(); }))
    return;
  SmallVector<int64_t> bounds;
  for (const Band &band : bands)
    bounds.append({band.lower, band.upper});
  fused->setAttr(bandsName, DenseI64ArrayAttr::get(fused.getContext(), bounds));
}
