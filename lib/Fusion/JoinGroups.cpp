//===- JoinGroups.cpp - Groups of a convolution as one product ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "JoinGroups.h"
#include "Prepared.h"
#include "WindowProducts.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Products of groups
//===----------------------------------------------------------------------===//

namespace {
/// Windows [groups, images, places..., taps..., channels] times filters
/// [groups, filters, taps and channels]; or pixels [groups, ..., channels],
/// without windows.
struct GroupedProduct {
  MatmulOp matmul;
  WindowsOp windows;
  BareImage image;
  int64_t groups, filters, channels, taps, rows, bytes;

  static std::optional<GroupedProduct> get(Operation *op);

  int64_t getRank() { return windows ? windows.getKernel().size() : 0; }
  runtime::ElementType getType() {
    return *findElementType(typeOf(matmul.getLhs()).getElementType());
  }
};
} // namespace

std::optional<GroupedProduct> GroupedProduct::get(Operation *op) {
  auto matmul = dyn_cast<MatmulOp>(op);
  if (!matmul || matmul.getTransposeA() || !matmul.getTransposeB() ||
      !canPrepare(matmul.getRhs()))
    return std::nullopt;
  ArrayRef<int64_t> lhs = typeOf(matmul.getLhs()).getShape();
  ArrayRef<int64_t> rhs = typeOf(matmul.getRhs()).getShape();
  if (!fitsMatrixUnits(matmul) || lhs.size() != 3 || rhs.size() != 3 ||
      lhs[0] != rhs[0] || rhs[0] == 1)
    return std::nullopt;
  Value rows = skipReshapes(matmul.getLhs());
  GroupedProduct product{matmul,
                         rows.getDefiningOp<WindowsOp>(),
                         BareImage{rows, {}, {}},
                         rhs[0],
                         rhs[1],
                         /*channels=*/rhs[2],
                         /*taps=*/1,
                         lhs[1],
                         getStorageBytes(typeOf(rows).getElementType())};
  ArrayRef<int64_t> shape = typeOf(rows).getShape();
  if (shape.front() != product.groups)
    return std::nullopt;
  // Only a permute puts groups first that lie beside each other.
  if (!product.windows)
    return rows.getDefiningOp<PermuteOp>() && shape.back() == product.channels
               ? std::optional(product)
               : std::nullopt;
  size_t rank = product.getRank();
  product.taps = llvm::product_of(product.windows.getKernel());
  product.channels = shape.back();
  if (product.windows.getDim() != 2 || shape.size() != 2 * rank + 3 ||
      product.taps * product.channels != lhs[2])
    return std::nullopt;
  product.image = BareImage::get(product.windows.getOperand(), /*first=*/2,
                                 /*last=*/2 + rank);
  return product;
}

/// Seconds with `joined` groups in each product; none where no kernel would
/// read their windows in place. The figures are from convolutions that were
/// measured on an H200: products of windows reach 0.6 of the peak, tiles have
/// at least 64 filters, and TMA takes 4.5 cycles for a line of 128 bytes. With
/// several products of windows, images are copied between zeros and results are
/// put beside each other.
static std::optional<double> predict(GroupedProduct &of, int64_t joined,
                                     const MachineDescription &machine,
                                     int64_t unit) {
  constexpr int64_t line = 128, tile = 64;
  double products = of.groups / joined;
  // Channels are filled up to what TMA reads.
  int64_t pixel = llvm::alignTo(joined * of.channels * of.bytes, unit);
  int64_t filters = joined * of.filters;
  bool isOne = products == 1;
  if (!isOne &&
      (of.getRank() + 1 > 3 || pixel < 2 * unit || filters * of.bytes % unit))
    return std::nullopt;
  double lines = llvm::divideCeil(pixel, line);
  double flops = 2.0 * of.rows * products * llvm::alignTo(filters, tile) *
                 of.taps * lines * (line / of.bytes);
  double multiplying =
      flops / (0.6 * machine.getMatrixFlops(of.getType(), /*tf32=*/true));
  double loading = products * of.rows * of.taps * lines * 4.5 /
                   (machine.multiprocessors * machine.clock);
  double moved = products * filters * of.taps * joined * of.channels * of.bytes;
  bool copies = of.windows && !isOne;
  if (copies)
    moved += 2.0 * of.bytes *
             (typeOf(of.image.value).getNumElements() +
              double(of.rows) * of.groups * of.filters);
  return std::max(multiplying, loading) + moved / machine.bandwidth +
         (copies ? 3 : 1) * machine.launchSeconds;
}

/// How many groups to join: 1 leaves the product as it is. Windows that no
/// kernel reads in place would be copied, in four passes of 4 bytes. Threads
/// multiply narrow pixels at about 10 ps for a filter (on an H200).
static int64_t chooseJoined(GroupedProduct &of,
                            const MachineDescription &machine, int64_t unit) {
  double copying =
      16.0 * of.rows * of.groups * of.taps * of.channels / machine.bandwidth +
      3 * machine.launchSeconds;
  double apart = of.windows ? copying
                            : 10e-12 * of.rows * of.groups * of.filters +
                                  machine.launchSeconds;
  double least = predict(of, 1, machine, unit).value_or(apart);
  int64_t best = 1;
  for (int64_t joined = 2; joined <= of.groups; ++joined) {
    if (of.groups % joined)
      continue;
    std::optional<double> seconds = predict(of, joined, machine, unit);
    if (!seconds || *seconds >= least)
      continue;
    least = *seconds;
    best = joined;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
class Joiner : public ImplicitLocOpBuilder {
public:
  Joiner(GroupedProduct &of, int64_t joined)
      : ImplicitLocOpBuilder(of.matmul.getLoc(), of.matmul), of(of),
        joined(joined), products(of.groups / joined) {}

  /// The results of all groups, as the product has them.
  Value multiply();

private:
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return reshapeTo(*this, value, shape);
  }
  /// Puts dimension `from` where dimension `to` is.
  Value move(Value value, int64_t from, int64_t to);
  Value getWindows();
  Value spread(Value filters);
  /// The shape with the dimension of products before it, if there are several.
  SmallVector<int64_t> ofProducts(ArrayRef<int64_t> shape) const;

  GroupedProduct &of;
  const int64_t joined, products;
};
} // namespace

Value Joiner::move(Value value, int64_t from, int64_t to) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return createOrFold<PermuteOp>(value, order);
}

SmallVector<int64_t> Joiner::ofProducts(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> result;
  if (products > 1)
    result.push_back(products);
  llvm::append_range(result, shape);
  return result;
}

/// The pixels that have the channels of all joined groups, or windows of them.
Value Joiner::getWindows() {
  ArrayRef<int64_t> image =
      typeOf(of.image.value).getShape().drop_front().drop_back();
  SmallVector<int64_t> split = ofProducts({joined});
  int64_t first = split.size() - 1, last = first + image.size();
  llvm::append_range(split, image);
  split.push_back(of.channels);
  Value value = move(reshape(of.image.value, split), first, last);
  SmallVector<int64_t> shape = ofProducts(image);
  shape.push_back(joined * of.channels);
  value = reshape(value, shape);
  if (!of.windows)
    return value;
  for (int64_t i = 0; i < of.getRank(); ++i)
    value = addZeros(*this, value, first + 1 + i, of.image.low[2 + i],
                     of.image.high[2 + i]);
  return WindowsOp::create(*this, value, first + 1, of.windows.getKernel(),
                           of.windows.getStrides(), of.windows.getDilations());
}

/// Filters with zeros for the channels of the other groups: each filter once
/// for each group, times one or zero.
Value Joiner::spread(Value filters) {
  filters =
      reshape(filters, {products, joined, of.filters, of.taps, 1, of.channels});
  Type element = typeOf(filters).getElementType();
  SmallVector<APFloat> ones(
      joined * joined,
      APFloat::getZero(cast<FloatType>(element).getFloatSemantics()));
  for (int64_t i = 0; i < joined; ++i)
    ones[i * joined + i] =
        APFloat::getOne(cast<FloatType>(element).getFloatSemantics());
  auto type = RankedTensorType::get({joined, 1, 1, joined, 1}, element);
  Value own = ConstantOp::create(*this, DenseElementsAttr::get(type, ones));
  return reshape(
      MulOp::create(*this, filters, own),
      ofProducts({joined * of.filters, of.taps * joined * of.channels}));
}

Value Joiner::multiply() {
  Value windows = getWindows();
  // [images, places...] of one product, as of ungrouped convolutions, and
  // [products, rows] of several.
  SmallVector<int64_t> rows{of.rows};
  if (products == 1)
    rows = llvm::to_vector(typeOf(windows).getShape().drop_back(
        of.windows ? of.getRank() + 1 : 1));
  auto withColumns = [&](std::initializer_list<int64_t> columns) {
    SmallVector<int64_t> shape = ofProducts(rows);
    llvm::append_range(shape, columns);
    return shape;
  };
  Value filters = prepare(*this, of.matmul.getRhs(),
                          [&](Value weights) { return spread(weights); });
  IRMapping mapping;
  mapping.map(of.matmul.getLhs(),
              reshape(windows, withColumns({of.taps * joined * of.channels})));
  mapping.map(of.matmul.getRhs(), filters);
  auto product = cast<MatmulOp>(clone(*of.matmul, mapping));
  product.getResult().setType(
      of.matmul.getType().clone(withColumns({joined * of.filters})));
  // The groups before their rows, as they were.
  Value result = reshape(product, withColumns({joined, of.filters}));
  int64_t first = products > 1;
  result = move(result, first + rows.size(), first);
  return reshape(result, of.matmul.getType().getShape());
}

void fact::joinGroups(Block &block, const Target &target) {
  int64_t unit = getPixelUnit(target);
  if (!unit)
    return;
  bool changed = false;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<GroupedProduct> product = GroupedProduct::get(&op);
    if (!product)
      continue;
    int64_t joined = chooseJoined(*product, target.getMachine(), unit);
    if (joined == 1)
      continue;
    op.getResult(0).replaceAllUsesWith(Joiner(*product, joined).multiply());
    eraseUnused(&op);
    changed = true;
  }
  if (!changed)
    return;
  // The views of groups and those that undo them.
  RewritePatternSet views(block.getParentOp()->getContext());
  ReshapeOp::getCanonicalizationPatterns(views, views.getContext());
  PermuteOp::getCanonicalizationPatterns(views, views.getContext());
  (void)applyPatternsGreedily(block.getParentOp(), std::move(views));
}
