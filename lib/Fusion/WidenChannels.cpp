//===- WidenChannels.cpp - Channels as a target's loads need them ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WidenChannels.h"
#include "Prepared.h"
#include "WindowProducts.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Analysis/WindowedView.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Rules.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

namespace {
/// A product whose rows are windows.
struct WindowProduct {
  MatmulOp matmul;
  WindowsOp windows;
  WindowedView view;
  int64_t elementBytes;
  bool hasGroups;

  /// None for what kernels do not read without a copy however many channels
  /// there are.
  static std::optional<WindowProduct> get(Operation *op);

  int64_t countTaps() const { return llvm::product_of(view.kernel); }
  /// The filters that a kernel can store, by multiples of `unit` bytes. Where
  /// the pixels of an image are such a multiple, it stores any number of them
  /// with channels first. Those of groups are stored beside each other.
  int64_t getWidenedFilters(int64_t unit);
};

/// How windows reach the matrix units.
struct Form {
  /// The channels of a pixel, and the filters, with zeros.
  int64_t channels, filters;
  /// Whether the taps of a row are joined, and if so the pixels of a row.
  bool joinsTaps = false;
  int64_t rowPixels = 0;
};
} // namespace

std::optional<WindowProduct> WindowProduct::get(Operation *op) {
  auto matmul = dyn_cast<MatmulOp>(op);
  if (!matmul || matmul.getTransposeA() || !matmul.getTransposeB())
    return std::nullopt;
  auto windows = skipReshapes(matmul.getLhs()).getDefiningOp<WindowsOp>();
  FailureOr<WindowedView> view = WindowedView::get(matmul.getLhs());
  if (!windows || failed(view))
    return std::nullopt;
  Type element = typeOf(matmul.getLhs()).getElementType();
  size_t rank = windows.getKernel().size();
  bool hasGroups =
      llvm::product_of(typeOf(matmul.getRhs()).getShape().drop_back(2)) != 1;
  int64_t bytes = getStorageBytes(element);
  if (!fitsMatrixUnits(matmul) || rank + hasGroups > 3 ||
      size_t(windows.getDim()) + rank + 1 !=
          typeOf(windows.getOperand()).getShape().size())
    return std::nullopt;
  return WindowProduct{matmul, windows, std::move(*view), bytes, hasGroups};
}

/// Whether pointwise ops and then a permute follow a product.
static bool isPermuted(Operation *op) {
  while (op->hasOneUse()) {
    op = *op->user_begin();
    if (isa<PermuteOp>(op))
      return true;
    if (!isa<PointwiseOpInterface, ReshapeOp>(op))
      return false;
  }
  return false;
}

int64_t WindowProduct::getWidenedFilters(int64_t unit) {
  int64_t filters = matmul.getN();
  bool storesAny =
      hasGroups || (isPermuted(matmul) &&
                    llvm::product_of(view.counts) * elementBytes % unit == 0);
  return storesAny ? filters
                   : int64_t(llvm::alignTo(filters * elementBytes, unit)) /
                         elementBytes;
}

/// The least pixels of a row whose bytes are a multiple of `unit`, if these
/// have as many windows as the padded row; else 0.
static int64_t getRowPixels(const WindowProduct &of, int64_t channels,
                            int64_t unit) {
  WindowsOp windows = of.windows;
  int64_t dim = windows.getDim() + windows.getKernel().size() - 1;
  int64_t pixels = typeOf(windows.getOperand()).getDimSize(dim);
  while (pixels * channels * of.elementBytes % unit)
    ++pixels;
  int64_t windowsOfRow =
      (pixels - of.view.kernel.back()) / of.view.strides.back() + 1;
  return windowsOfRow == of.view.counts.back() ? pixels : 0;
}

/// The fastest form; none where windows are better copied, or read as they are.
/// The figures are from convolutions that were measured on an H200: TMA takes
/// 4.5 cycles for a line of up to 128 bytes, and where lines overlap about 8
/// for the first and 3 for each next to it; windows that are copied element by
/// element cost four passes of 4 bytes through memory, and two more where K
/// must be filled up.
static std::optional<Form>
chooseForm(WindowProduct &of, const MachineDescription &machine, int64_t unit) {
  const WindowedView &view = of.view;
  int64_t channels = view.getChannels(), bytes = of.elementBytes;
  int64_t present = of.matmul.getN(), filters = of.getWidenedFilters(unit);
  // Few channels are a line for each tap, if zeros are between the rows.
  bool isRead = channels * bytes % unit == 0 && filters == present;
  if (isRead && (channels * bytes > 2 * unit || view.zeros.back() == 0))
    return std::nullopt;
  if (of.hasGroups && present * bytes % unit)
    return std::nullopt;
  double rows = view.getRows(), taps = of.countTaps();
  double pixels = llvm::product_of(ArrayRef(view.image.shape).drop_back());
  // The copy of the image is a kernel for its channels, and one for the zeros
  // at the ends of rows. Another leaves out the filters that were added.
  auto predict = [&](int64_t widened, int kernels, double lines,
                     double cycles) {
    double copied = kernels ? pixels * (channels + widened) : 0;
    if (filters != present) {
      copied += rows * (filters + present);
      ++kernels;
    }
    double loads =
        rows * lines * cycles / (machine.multiprocessors * machine.clock);
    return kernels * machine.launchSeconds +
           copied * bytes / machine.bandwidth + loads;
  };
  int64_t depth = of.countTaps() * channels;
  double passes = depth * bytes % unit ? 6 : 4;
  double least = 0.8 * ((passes / 2 - 1) * machine.launchSeconds +
                        rows * depth * 4 * passes / machine.bandwidth);
  // Threads that have rows of their own multiply few filters without a copy.
  if (present <= filterLimit && channels * bytes < unit)
    least = std::min(least, rows * depth * (present + 6) /
                                (50 * machine.multiprocessors * machine.clock));
  if (isRead)
    least = predict(channels, /*kernels=*/0, taps, 4.5);
  std::optional<Form> best;
  auto consider = [&](Form form, double seconds) {
    if (seconds >= least)
      return;
    least = seconds;
    best = form;
  };
  int64_t widened = llvm::alignTo(channels * bytes, unit) / bytes;
  // Short lines of many groups cost more than their copies.
  if (of.hasGroups && widened * bytes < 2 * unit)
    return std::nullopt;
  consider({widened, filters},
           predict(widened, widened != channels,
                   taps * llvm::divideCeil(widened * bytes, 128), 4.5));
  if (widened == channels && !isRead)
    return best;
  int64_t kernel = view.kernel.back(), step = view.strides.back();
  if (of.hasGroups || kernel == 1 || view.dilations.back() != 1 ||
      view.counts.back() == 1)
    return best;
  // Windows, and the filters of their rows, begin at multiples of the unit.
  int64_t joined = channels;
  while (step * joined * bytes % unit || kernel * joined * bytes % unit)
    ++joined;
  double lines = llvm::divideCeil(kernel * joined * bytes, 128);
  if (int64_t rowPixels = getRowPixels(of, joined, unit))
    consider({joined, filters, /*joinsTaps=*/true, rowPixels},
             predict(joined, 1 + (joined != channels), taps / kernel,
                     5 + 3 * lines));
  return best;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
class Widener : public ImplicitLocOpBuilder {
public:
  Widener(WindowProduct &of, const Form &form)
      : ImplicitLocOpBuilder(of.matmul.getLoc(), of.matmul), of(of),
        form(form) {}

  /// The product of the form.
  Value multiply();

private:
  Value multiply(const IRMapping &factors);
  Value addZeros(Value value, int64_t dim, int64_t low, int64_t high) {
    return fact::addZeros(*this, value, dim, low, high);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return reshapeTo(*this, value, shape);
  }
  Value getWindows();
  Value widenFilters(Value filters);

  WindowProduct &of;
  const Form &form;
};
} // namespace

/// The windows of the widened image.
Value Widener::getWindows() {
  int64_t dim = of.windows.getDim(), rank = of.windows.getKernel().size();
  int64_t last = dim + rank;
  BareImage image = BareImage::get(of.windows.getOperand(), dim, last);
  auto &[value, low, high] = image;
  value =
      addZeros(value, last, 0, form.channels - typeOf(value).getDimSize(last));
  SmallVector<int64_t> kernel(of.windows.getKernel());
  SmallVector<int64_t> strides(of.windows.getStrides());
  if (form.joinsTaps) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    int64_t after = form.rowPixels - low[last - 1] - shape[last - 1];
    value = addZeros(value, last - 1, low[last - 1], after);
    low[last - 1] = high[last - 1] = 0;
    shape[last - 1] = form.rowPixels * form.channels;
    shape[last] = 1;
    value = reshape(value, shape);
    kernel.back() *= form.channels;
    strides.back() *= form.channels;
  }
  for (int64_t i = dim; i < last; ++i)
    value = addZeros(value, i, low[i], high[i]);
  return WindowsOp::create(*this, value, dim, kernel, strides,
                           of.windows.getDilations());
}

Value Widener::widenFilters(Value filters) {
  SmallVector<int64_t> shape(typeOf(filters).getShape());
  int64_t taps = of.countTaps(), channels = of.view.getChannels();
  SmallVector<int64_t> split(shape);
  split.back() = taps;
  split.push_back(channels);
  Value widened = addZeros(reshape(filters, split), split.size() - 1, 0,
                           form.channels - channels);
  shape.back() = taps * form.channels;
  int64_t dim = shape.size() - 2;
  return addZeros(reshape(widened, shape), dim, 0, form.filters - shape[dim]);
}

/// The product, without the filters that were added.
Value Widener::multiply(const IRMapping &factors) {
  MatmulOp matmul = of.matmul;
  RankedTensorType type = matmul.getType();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = form.filters;
  IRMapping mapping = factors;
  auto product = cast<MatmulOp>(clone(*matmul, mapping));
  product.getResult().setType(type.clone(shape));
  if (form.filters == matmul.getN())
    return product;
  return SliceOp::create(*this, type, product, shape.size() - 1, /*start=*/0,
                         /*step=*/1);
}

Value Widener::multiply() {
  MatmulOp matmul = of.matmul;
  Value windows = getWindows();
  SmallVector<int64_t> shape(typeOf(matmul.getLhs()).getShape());
  shape.back() = of.countTaps() * form.channels;
  IRMapping mapping;
  mapping.map(matmul.getLhs(), reshape(windows, shape));

  Value filters = prepare(*this, matmul.getRhs(),
                          [&](Value weights) { return widenFilters(weights); });
  if (!filters)
    filters = widenFilters(matmul.getRhs());
  mapping.map(matmul.getRhs(), filters);
  return multiply(mapping);
}

void fact::widenChannels(Block &block, const Target &target) {
  int64_t unit = getPixelUnit(target);
  if (!unit)
    return;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    std::optional<WindowProduct> product = WindowProduct::get(&op);
    if (!product)
      continue;
    std::optional<Form> form = chooseForm(*product, target.getMachine(), unit);
    if (!form)
      continue;
    op.getResult(0).replaceAllUsesWith(Widener(*product, *form).multiply());
    eraseUnused(&op);
  }
}
