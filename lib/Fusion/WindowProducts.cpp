//===- WindowProducts.cpp - To rewrite products of windows ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WindowProducts.h"
#include "fact/Analysis/WindowedView.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Rules.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace fact;

int64_t fact::getPixelUnit(const Target &target) {
  SmallVector<const Family *> families =
      target.getFamilies(gemmEpilogueRule.name);
  return families.empty() ? 0 : families.front()->getPixelBytes();
}

bool fact::fitsMatrixUnits(MatmulOp matmul) {
  Type element = typeOf(matmul.getLhs()).getElementType();
  return element.isF16() || element.isBF16() ||
         (element.isF32() && matmul.getTf32());
}

BareImage BareImage::get(Value value, int64_t first, int64_t last) {
  BareImage image{value, SmallVector<int64_t>(last, 0),
                  SmallVector<int64_t>(last, 0)};
  while (std::optional<ZeroPadding> padding =
             ZeroPadding::get(image.value.getDefiningOp())) {
    int64_t at = padding->dim;
    if (at < first || at >= last)
      break;
    image.low[at] += padding->low;
    image.high[at] += typeOf(image.value).getDimSize(at) - padding->low -
                      typeOf(padding->source).getDimSize(at);
    image.value = padding->source;
  }
  return image;
}

Value fact::addZeros(ImplicitLocOpBuilder &b, Value value, int64_t dim,
                     int64_t low, int64_t high) {
  auto zeros = [&](int64_t count) -> Value {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[dim] = count;
    auto type = typeOf(value).clone(shape);
    return ConstantOp::create(b, cast<ElementsAttr>(b.getZeroAttr(type)));
  };
  SmallVector<Value> inputs{value};
  if (low)
    inputs.insert(inputs.begin(), zeros(low));
  if (high)
    inputs.push_back(zeros(high));
  return inputs.size() == 1 ? value : ConcatOp::create(b, inputs, dim);
}

Value fact::reshapeTo(ImplicitLocOpBuilder &b, Value value,
                      ArrayRef<int64_t> shape) {
  return b.createOrFold<ReshapeOp>(typeOf(value).clone(shape), value);
}

void fact::eraseUnused(Operation *unused) {
  llvm::SetVector<Operation *> pending;
  pending.insert(unused);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!isOpTriviallyDead(op) || isa<PrepareOp>(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        pending.insert(producer);
    op->erase();
  }
}
