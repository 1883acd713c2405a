//===- PadRows.cpp - Rows that begin where kernels load them --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PadRows.h"
#include "ChangedKernel.h"
#include "Prepared.h"
#include "fact/Analysis/Bands.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Placement.h"
#include "fact/Dialect/Fact/RowPlaces.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Rules.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace fact;

/// TMA's unit, and the widest access of a thread.
static constexpr int64_t unit = 16;

/// Microseconds that are worth another padded tensor.
static constexpr double leastGain = 0.1;

/// Larger tensors are not worth the memory of a second one.
static constexpr int64_t mostBytes = int64_t(1) << 32;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The type with its rows rounded up to multiples of the unit.
static RankedTensorType getPadded(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  int64_t bytes = getStorageBytes(type.getElementType());
  shape.back() = int64_t(llvm::alignTo(shape.back() * bytes, unit)) / bytes;
  return type.clone(shape);
}

/// Whether a tensor has several rows of several floats each.
static bool hasRows(RankedTensorType type) {
  return type.hasStaticShape() && type.getRank() >= 2 &&
         isa<FloatType>(type.getElementType()) &&
         getStorageBytes(type.getElementType()) < unit / 2 &&
         type.getShape().back() > 1 && getStorageBytes(type) <= mostBytes &&
         llvm::product_of(type.getShape().drop_back()) > 1;
}

static bool isOdd(RankedTensorType type) {
  return hasRows(type) && getPadded(type) != type;
}

/// The value with its rows padded: what is behind them is not known.
static Value pad(OpBuilder &builder, Value value) {
  RankedTensorType type = typeOf(value), padded = getPadded(type);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = padded.getShape().back() - shape.back();
  Location loc = value.getLoc();
  auto rest = ub::PoisonOp::create(builder, loc, type.clone(shape));
  auto concat = ConcatOp::create(
      builder, loc, ValueRange{value, rest.getResult()}, type.getRank() - 1);
  Placement::markUnused(concat);
  return concat;
}

/// The value of type `type` whose padded form is `padded`.
static Value crop(OpBuilder &builder, Value padded, RankedTensorType type) {
  return SliceOp::create(builder, padded.getLoc(), type, padded,
                         type.getRank() - 1, /*start=*/0, /*step=*/1);
}

/// Lets a kernel write a result with padded rows.
static void padResult(FusedOp kernel, unsigned number) {
  Operation *yield = kernel.getYield();
  OpBuilder builder(yield);
  yield->setOperand(number, pad(builder, yield->getOperand(number)));
  kernel->getResult(number).setType(yield->getOperand(number).getType());
}

/// A pointwise kernel of `build(input)`.
static FusedOp makeCopy(OpBuilder &builder, Value input,
                        llvm::function_ref<Value(OpBuilder &, Value)> build) {
  Location loc = input.getLoc();
  // The type of the result is known once the region is there.
  auto kernel = FusedOp::create(builder, loc, TypeRange(input.getType()),
                                pointwiseRule.name, input, StrategyAttr(),
                                Attribute(), Attribute(), IntegerAttr());
  Block &body = kernel.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  Value built = build(inner, body.addArgument(input.getType(), loc));
  YieldOp::create(inner, loc, built);
  kernel->getResult(0).setType(built.getType());
  return kernel;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// A product's kernel and those around it with padded rows, beside the kernels
/// that they replace.
class Padding {
public:
  Padding(FusedOp product, const Fusibility &fusibility)
      : product(product), block(*product->getBlock()), fusibility(fusibility) {}

  /// What is padded beside the values that the product reads.
  struct Extent {
    bool weights, results;
  };
  /// Adds the kernels. Returns the microseconds that they gain; none if no
  /// family takes them, or if no row is padded.
  std::optional<double> add(Extent extent);
  void remove();
  /// Replaces the kernels. Returns that which replaces the product.
  FusedOp replace();

private:
  bool isPaddable(Value value) const;
  bool canWrite(Value value) const;
  void findValues(Extent extent);
  void findKernels();
  Value copyInput(Value value);
  bool addCopies();
  bool change(FusedOp kernel);
  void read(FusedOp kernel, unsigned number, Value whole,
            RankedTensorType part);
  bool copyOutputs();
  Value addCopy(OpBuilder builder, Value input,
                llvm::function_ref<Value(OpBuilder &, Value)> build);
  std::optional<double> predictGain() const;

  FusedOp product;
  Block &block;
  const Fusibility &fusibility;
  /// What is padded: by the kernels that write it, or by copies that only the
  /// product reads.
  llvm::SetVector<Value> written, copied;
  /// What it becomes.
  llvm::DenseMap<Value, Value> padded;
  /// Copies of slices that the product reads, by operand.
  llvm::DenseMap<unsigned, Value> slices;
  /// The kernels that change, in the order of the block, and their new forms.
  SmallVector<FusedOp> kernels, changed;
  /// Kernels that only copy; constants in place of weights, which are copied
  /// once the kernels are chosen; and outputs with the kernels that copy them.
  SmallVector<FusedOp> copies;
  SmallVector<std::pair<Value, ConstantOp>> weights;
  SmallVector<std::pair<Value, Value>> outputs;
};
} // namespace

/// The users of a value and of its reshapes, which are the same memory.
static SmallVector<Operation *> getReaders(Value value) {
  SmallVector<Operation *> readers;
  SmallVector<Value> pending{value};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (isa<ReshapeOp>(user))
        pending.push_back(user->getResult(0));
      else
        readers.push_back(user);
    }
  return readers;
}

/// Whether a kernel pads its operand and does nothing else.
static bool isPad(Operation *op) {
  auto fused = dyn_cast_if_present<FusedOp>(op);
  if (!fused || fused.getInputs().size() != 1)
    return false;
  std::optional<Placement> placement =
      Placement::get(fused.getYield()->getOperand(0));
  return placement && placement->start == 0 &&
         placement->value == fused.getBody().getArgument(0) &&
         fused.getResult(0).getType() ==
             getPadded(typeOf(fused.getInputs()[0]));
}

/// The padded copy that `fact.prepare` has of a weight, or null.
static Value findPrepared(Block &block, GetWeightOp weight) {
  for (auto prepare : block.getOps<PrepareOp>()) {
    Operation *yield = prepare.getBody().front().getTerminator();
    for (auto [yielded, result] :
         llvm::zip_equal(yield->getOperands(), prepare.getResults())) {
      Operation *kernel = yielded.getDefiningOp();
      auto source = isPad(kernel)
                        ? kernel->getOperand(0).getDefiningOp<GetWeightOp>()
                        : GetWeightOp();
      if (source && source->getAttrs() == weight->getAttrs())
        return result;
    }
  }
  return {};
}

/// The only part of an operand that a kernel reads, if it is a range of each
/// row that does not begin at a multiple of the unit; else null.
static SliceOp findShifted(BlockArgument argument) {
  auto slice = argument.hasOneUse() ? dyn_cast<SliceOp>(*argument.user_begin())
                                    : SliceOp();
  if (!slice || !hasRows(slice.getType()) || slice.getStep() != 1 ||
      int64_t(slice.getDim()) + 1 != slice.getType().getRank())
    return {};
  int64_t bytes = getStorageBytes(slice.getType().getElementType());
  return int64_t(slice.getStart()) * bytes % unit ? slice : SliceOp();
}

/// Whether all that write and read a value can do so at other strides.
bool Padding::isPaddable(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isOdd(type))
    return false;
  auto producer = value.getDefiningOp<FusedOp>();
  if (!producer)
    return isa<BlockArgument>(value) || canPrepare(value);
  unsigned number = cast<OpResult>(value).getResultNumber();
  return !Placement::get(producer.getYield()->getOperand(number)) &&
         llvm::all_of(getReaders(value), [&](Operation *reader) {
           return isa<FusedOp>(reader) || reader == block.getTerminator();
         });
}

/// Whether the kernel of a value can write it with padded rows.
bool Padding::canWrite(Value value) const {
  auto producer = value.getDefiningOp<FusedOp>();
  if (!producer)
    return false;
  OpBuilder builder(producer);
  auto clone = cast<FusedOp>(builder.clone(*producer));
  padResult(clone, cast<OpResult>(value).getResultNumber());
  bool isTaken = renewSpace(producer, clone, fusibility);
  clone->erase();
  return isTaken;
}

void Padding::findValues(Extent extent) {
  // Copies of slices read it as it is.
  llvm::SmallDenseSet<Value> shifted;
  for (auto [operand, argument] :
       llvm::zip_equal(product.getInputs(), product.getBody().getArguments()))
    if (findShifted(argument))
      shifted.insert(skipReshapes(operand));
  for (Value operand : product.getInputs()) {
    Value memory = skipReshapes(operand);
    if (!shifted.contains(memory) && isPaddable(memory) &&
        (extent.weights || !isFixed(memory)))
      (canWrite(memory) ? written : copied).insert(memory);
  }
  if (extent.results)
    written.insert_range(llvm::make_filter_range(
        product.getResults(), [&](Value value) { return isPaddable(value); }));
}

/// The kernels that write or read what kernels pad.
void Padding::findKernels() {
  llvm::SmallPtrSet<Operation *, 8> found{product};
  for (Value value : written) {
    found.insert(value.getDefiningOp());
    found.insert_range(getReaders(value));
  }
  for (auto kernel : block.getOps<FusedOp>())
    if (found.contains(kernel))
      kernels.push_back(kernel);
}

/// A pointwise kernel of `build(input)` and its result; null if there is none.
Value Padding::addCopy(OpBuilder builder, Value input,
                       llvm::function_ref<Value(OpBuilder &, Value)> build) {
  FusedOp kernel = makeCopy(builder, input, build);
  if (!renewSpace({}, kernel, fusibility)) {
    kernel->erase();
    return {};
  }
  copies.push_back(kernel);
  return kernel.getResult(0);
}

/// The padded copy of an input, or what stands for that of a weight.
Value Padding::copyInput(Value value) {
  OpBuilder builder(product);
  if (!canPrepare(value)) {
    for (Operation *user : value.getUsers())
      if (isPad(user) && user->isBeforeInBlock(product))
        return user->getResult(0);
    return addCopy(builder, value, pad);
  }
  Attribute zeros = builder.getZeroAttr(getPadded(typeOf(value)));
  auto constant =
      ConstantOp::create(builder, value.getLoc(), cast<ElementsAttr>(zeros));
  weights.push_back({value, constant});
  return constant;
}

/// Copies what the product reads and no kernel pads, and what begins between
/// units; false if there is no kernel for it.
bool Padding::addCopies() {
  for (Value value : copied) {
    Value copy = copyInput(value);
    if (!copy)
      return false;
    padded[value] = copy;
  }
  for (BlockArgument argument : product.getBody().getArguments()) {
    SliceOp slice = findShifted(argument);
    if (!slice)
      continue;
    unsigned number = argument.getArgNumber();
    auto build = [&](OpBuilder &builder, Value value) {
      IRMapping mapping;
      mapping.map(argument, value);
      Value part = builder.clone(*slice, mapping)->getResult(0);
      return isOdd(slice.getType()) ? pad(builder, part) : part;
    };
    slices[number] =
        addCopy(OpBuilder(product), product.getInputs()[number], build);
    if (!slices[number])
      return false;
  }
  return true;
}

static void changeBand(FusedOp kernel, unsigned number,
                       llvm::function_ref<Band(const Band &)> change) {
  SmallVector<Band> bands = getOperandBands(kernel);
  if (bands.empty())
    return;
  bands[number] = change(bands[number]);
  setOperandBands(kernel, bands);
}

/// Lets gathers of one element of each row, from the flattened elements of
/// rows of `size`, read those of padded rows. Returns whether there are no
/// other users.
static bool gatherPadded(ReshapeOp flat, Value whole, int64_t size) {
  auto isGather = [&](Operation *user) {
    auto gather = dyn_cast<GatherOp>(user);
    return gather && gather.getSource() == flat &&
           gather.getIndices().getType().getElementType().isInteger(64) &&
           getRowSize(gather) == size;
  };
  if (flat.getType().getRank() != 1 ||
      !llvm::all_of(flat->getUsers(), isGather))
    return false;
  int64_t padded = typeOf(whole).getShape().back();
  OpBuilder before(flat);
  Value source = ReshapeOp::create(
      before, flat.getLoc(),
      flat.getType().clone(typeOf(whole).getNumElements()), whole);
  for (Operation *user : llvm::make_early_inc_range(flat->getUsers())) {
    auto gather = cast<GatherOp>(user);
    ImplicitLocOpBuilder builder(gather.getLoc(), gather);
    RankedTensorType type = typeOf(gather.getIndices());
    auto number = [&](int64_t value) -> Value {
      auto scalar = RankedTensorType::get({}, type.getElementType());
      auto attribute = builder.getIntegerAttr(type.getElementType(), value);
      return ConstantOp::create(builder,
                                DenseElementsAttr::get(scalar, attribute));
    };
    // Index k is in row k, which begins so many elements later.
    Value indices = gather.getIndices();
    Value row = DivOp::create(builder, type, indices, number(size));
    Value moved = MulOp::create(builder, type, row, number(padded - size));
    indices = AddOp::create(builder, type, indices, moved);
    auto again = GatherOp::create(builder, gather.getType(), source, indices,
                                  gather.getDim());
    setRowSize(again, size);
    gather.replaceAllUsesWith(again.getResult());
    gather->erase();
  }
  return true;
}

/// Lets operand `number` be `whole`, the rows of which begin with those of a
/// value of type `part`.
void Padding::read(FusedOp kernel, unsigned number, Value whole,
                   RankedTensorType part) {
  BlockArgument argument = kernel.getBody().getArgument(number);
  auto type = cast<RankedTensorType>(argument.getType());
  // Other matrices have another band.
  if (type != part)
    changeBand(kernel, number, [](const Band &) { return Band(); });
  kernel->setOperand(number, whole);
  argument.setType(whole.getType());
  SmallVector<OpOperand *> cropping;
  for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
    auto flat = dyn_cast<ReshapeOp>(use.getOwner());
    if (flat && part != whole.getType() &&
        gatherPadded(flat, argument, part.getShape().back()))
      flat->erase();
    else
      cropping.push_back(&use);
  }
  if (cropping.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  Value cropped = argument;
  if (part != whole.getType())
    cropped = crop(builder, argument, part);
  if (type != part)
    cropped = ReshapeOp::create(builder, argument.getLoc(), type, cropped);
  for (OpOperand *use : cropping)
    use->set(cropped);
}

/// Adds the new form of a kernel; false if no family takes it.
bool Padding::change(FusedOp kernel) {
  OpBuilder builder(kernel);
  auto clone = cast<FusedOp>(builder.clone(*kernel));
  changed.push_back(clone);
  // The registry's advice is for rows that begin between units.
  if (auto strategy = kernel.getStrategyAttr();
      strategy && strategy.getKind() != StrategyKind::create) {
    clone.removeSpaceAttr();
    clone.removeStrategyAttr();
  }
  for (auto [i, operand] : llvm::enumerate(kernel.getInputs())) {
    Value memory = skipReshapes(operand);
    bool isRead = kernel == product || written.contains(memory);
    if (Value whole = isRead ? padded.lookup(memory) : Value())
      read(clone, i, whole, typeOf(memory));
  }
  if (kernel == product)
    for (auto [number, whole] : slices) {
      SliceOp slice = findShifted(clone.getBody().getArgument(number));
      RankedTensorType type = slice.getType();
      int64_t start = slice.getStart();
      changeBand(clone, number,
                 [&](const Band &band) { return band.shift(-start); });
      slice.replaceAllUsesWith(slice.getOperand());
      slice->erase();
      clone.getBody().getArgument(number).setType(type);
      read(clone, number, whole, type);
    }
  for (auto [i, result] : llvm::enumerate(kernel.getResults()))
    if (written.contains(result)) {
      padResult(clone, i);
      padded[result] = clone->getResult(i);
    }
  return renewSpace(kernel, clone, fusibility);
}

/// Copies the outputs among the padded values; false if no kernel can.
bool Padding::copyOutputs() {
  for (Value value : written) {
    if (!llvm::is_contained(getReaders(value), block.getTerminator()))
      continue;
    OpBuilder builder(value.getDefiningOp());
    Value copy =
        addCopy(builder, padded[value], [&](OpBuilder &inner, Value whole) {
          return crop(inner, whole, typeOf(value));
        });
    if (!copy)
      return false;
    outputs.push_back({value, copy});
  }
  return true;
}

std::optional<double> Padding::predictGain() const {
  double gain = 0;
  auto count = [&](ArrayRef<FusedOp> counted, double sign) {
    return llvm::all_of(counted, [&](FusedOp kernel) {
      std::optional<double> each = predictLaunch(kernel, fusibility);
      gain += sign * each.value_or(0);
      return each.has_value();
    });
  };
  if (!count(kernels, 1) || !count(changed, -1) || !count(copies, -1))
    return std::nullopt;
  return gain;
}

std::optional<double> Padding::add(Extent extent) {
  findValues(extent);
  findKernels();
  if (!addCopies() || (written.empty() && copied.empty() && slices.empty()) ||
      !llvm::all_of(kernels, [&](FusedOp each) { return change(each); }) ||
      !copyOutputs())
    return std::nullopt;
  return predictGain();
}

void Padding::remove() {
  // Readers first.
  for (ArrayRef<FusedOp> added : {ArrayRef(copies), ArrayRef(changed)})
    for (FusedOp kernel : llvm::reverse(added))
      kernel->dropAllReferences();
  for (ArrayRef<FusedOp> added : {ArrayRef(copies), ArrayRef(changed)})
    for (FusedOp kernel : added)
      kernel->erase();
  for (auto [weight, constant] : weights)
    constant->erase();
}

FusedOp Padding::replace() {
  FusedOp replacement;
  for (auto [value, copy] : outputs)
    value.replaceAllUsesWith(copy);
  for (auto [kernel, clone] : llvm::zip_equal(kernels, changed)) {
    for (auto [old, result] :
         llvm::zip_equal(kernel.getResults(), clone.getResults()))
      if (old.getType() == result.getType())
        old.replaceAllUsesWith(result);
    if (kernel == product)
      replacement = clone;
  }
  // The old kernels, and the reshapes that only they read.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (llvm::is_contained(kernels, &op) ||
        (isa<ReshapeOp>(op) && op.use_empty()))
      op.erase();
  for (auto [weight, constant] : weights) {
    OpBuilder builder(replacement);
    auto op = weight.getDefiningOp<GetWeightOp>();
    Value prepared = op ? findPrepared(block, op) : Value();
    if (!prepared)
      prepared = prepare(builder, weight, [&](Value value) -> Value {
        FusedOp kernel = makeCopy(builder, value, pad);
        (void)renewSpace({}, kernel, fusibility);
        return kernel.getResult(0);
      });
    constant.replaceAllUsesWith(prepared);
    constant->erase();
    if (op && op->use_empty())
      op->erase();
  }
  return replacement;
}

void fact::padRows(Block &block, const Fusibility &fusibility) {
  if (fusibility.getTarget().getMachine().isHost())
    return;
  for (Operation *op = &block.front(); op; op = op->getNextNode()) {
    auto product = dyn_cast<FusedOp>(op);
    if (!product || product.getBody().getOps<MatmulOp>().empty())
      continue;
    // Kernels pack some weights themselves, and write some rows as they are.
    std::optional<Padding::Extent> best;
    double most = 0;
    for (bool weights : {false, true})
      for (bool results : {false, true}) {
        Padding padding(product, fusibility);
        std::optional<double> gain = padding.add({weights, results});
        padding.remove();
        if (gain.value_or(0) <= most + leastGain)
          continue;
        most = *gain;
        best = {weights, results};
      }
    if (!best)
      continue;
    Padding padding(product, fusibility);
    (void)padding.add(*best);
    op = padding.replace();
  }
}
