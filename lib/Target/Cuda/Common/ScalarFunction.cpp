//===- ScalarFunction.cpp - A pointwise graph as one scalar function ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScalarFunction.h"
#include "fact/Analysis/AbsoluteError.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// From ops on tensors to ops on scalars
//===----------------------------------------------------------------------===//

/// Whether a condition is that a value is a number.
static bool isNumberCheck(Value condition, Value value) {
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getPredicate() == arith::CmpFPredicate::OEQ &&
         compare.getLhs() == value && compare.getRhs() == value;
}

namespace {
/// `x == x ? (y == y ? extreme(x, y) : x) : y`, which ignores NaN, is one
/// instruction.
template <typename Extreme, typename Numeric>
struct IgnoreNan : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp select,
                                PatternRewriter &rewriter) const override {
    auto inner = select.getTrueValue().getDefiningOp<arith::SelectOp>();
    auto extreme =
        inner ? inner.getTrueValue().getDefiningOp<Extreme>() : nullptr;
    if (!extreme)
      return failure();
    Value x = inner.getFalseValue(), y = select.getFalseValue();
    bool isOfBoth = (extreme.getLhs() == x && extreme.getRhs() == y) ||
                    (extreme.getLhs() == y && extreme.getRhs() == x);
    if (!isOfBoth || !isNumberCheck(select.getCondition(), x) ||
        !isNumberCheck(inner.getCondition(), y))
      return failure();
    rewriter.replaceOpWithNewOp<Numeric>(select, x, y);
    return success();
  }
};
} // namespace

namespace fact {
/// Builds the scalar function of a pointwise graph.
class ScalarBuilder {
public:
  ScalarBuilder(MLIRContext *context, const ScalarFunction::Options &options,
                EmitError emitError)
      : options(options), emitError(emitError), builder(context),
        loc(builder.getUnknownLoc()) {
    context->getOrLoadDialect<func::FuncDialect>();
    result.function =
        func::FuncOp::create(loc, "scalar", builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(result.function->addEntryBlock());
  }

  FailureOr<ScalarFunction> build(ArrayRef<Value> results,
                                  ArrayRef<int64_t> indexSpace) {
    FailureOr<PointwiseGraph> graph = readGraph(results, indexSpace);
    if (failed(graph))
      return failure();
    for (Value value : options.leading)
      addArgument({value,
                   {value, 0, SmallVector<int64_t>(indexSpace),
                    rowMajorStrides(indexSpace)}});
    SmallVector<Value> leaves, scalars;
    SmallVector<bool> fromLeading;
    for (const PointwiseGraph::Leaf &leaf : graph->getLeaves()) {
      if (leaf.isAnchor && failed(checkAnchor(leaf)))
        return failure();
      leaves.push_back(leaf.isAnchor ? getLeading(leaf.value)
                                     : addArgument(leaf));
    }
    for (const PointwiseGraph::Node &node : graph->getNodes()) {
      SmallVector<Value> operands;
      bool isFromLeading = !node.op && graph->getLeaves()[node.leaf].isAnchor;
      for (unsigned operand : node.operands) {
        operands.push_back(scalars[operand]);
        isFromLeading |= fromLeading[operand];
      }
      fromLeading.push_back(isFromLeading);
      if (isa_and_nonnull<ConcatOp>(node.op))
        scalars.push_back(selectPart(operands, node.ends));
      else
        scalars.push_back(node.op ? compute(node.op, operands, isFromLeading)
                                  : leaves[node.leaf]);
    }
    SmallVector<Value> returned;
    for (auto [i, node] : llvm::enumerate(graph->getResults()))
      returned.push_back(i < options.firstStored
                             ? scalars[node]
                             : leaveRounding(scalars[node], results[i]));
    for (ScalarFunction::Argument &argument : result.arguments)
      for (PointwiseGraph::Index &index : argument.indices) {
        returned.push_back(scalars[index.node]);
        index.node = returned.size() - 1;
      }
    func::ReturnOp::create(builder, loc, returned);
    simplify();
    return std::move(result);
  }

private:
  FailureOr<PointwiseGraph> readGraph(ArrayRef<Value> results,
                                      ArrayRef<int64_t> indexSpace) {
    auto isLeading = [&](Value value, const StridedView *) {
      return llvm::is_contained(options.leading, value);
    };
    PointwiseGraph::Options reads;
    reads.isAnchor = isLeading;
    // Row kernels hand over what they normalized.
    reads.appliesNormWeights = true;
    if (options.readsGathersAndConcats) {
      reads.readsGathers = true;
      reads.readsConcats = true;
    }
    return PointwiseGraph::read(results, indexSpace, reads, emitError);
  }

  /// What is rounded to the type that it is stored in is rounded there alone.
  static Value leaveRounding(Value scalar, Value stored) {
    auto widened = scalar.getDefiningOp<arith::ExtFOp>();
    auto rounded =
        widened ? widened.getIn().getDefiningOp<arith::TruncFOp>() : nullptr;
    Type element = cast<RankedTensorType>(stored.getType()).getElementType();
    bool same = rounded && rounded.getType() == element &&
                rounded.getIn().getType() == scalar.getType();
    return same ? rounded.getIn() : scalar;
  }

  Value addArgument(const ScalarFunction::Argument &argument) {
    result.arguments.push_back(argument);
    Type element =
        cast<RankedTensorType>(argument.value.getType()).getElementType();
    return result.function->getBody().addArgument(
        argument.isCoordinate ? builder.getI32Type() : getComputeType(element),
        loc);
  }

  /// The part of a concatenation that the coordinate, the first operand, is in.
  Value selectPart(MutableArrayRef<Value> operands, ArrayRef<int64_t> ends) {
    Value coordinate = operands.front();
    MutableArrayRef<Value> parts = operands.drop_front();
    matchPrecision(parts);
    Value selected = parts.back();
    for (size_t i = parts.size() - 1; i-- > 0;) {
      Value end = arith::ConstantOp::create(builder, loc,
                                            builder.getI32IntegerAttr(ends[i]));
      Value isBefore = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, coordinate, end);
      selected =
          arith::SelectOp::create(builder, loc, isBefore, parts[i], selected);
    }
    return selected;
  }

  Value getLeading(Value value) {
    return result.function->getArgument(llvm::find(options.leading, value) -
                                        options.leading.begin());
  }

  /// Whether each element of the view is that of its row.
  bool isOnePerRow(const StridedView &view) {
    if (view.shape.size() != options.rowStrides.size())
      return false;
    for (auto [size, stride, rowStride] :
         llvm::zip_equal(view.shape, view.strides, options.rowStrides))
      if (size != 1 && stride != rowStride)
        return false;
    return true;
  }

  /// The kernel has a leading value at the current point, and nowhere else.
  LogicalResult checkAnchor(const PointwiseGraph::Leaf &leaf) {
    bool isInPlace = llvm::is_contained(options.rowValues, leaf.value)
                         ? isOnePerRow(leaf.view)
                         : leaf.view.isRowMajor();
    if (leaf.view.offset == 0 && isInPlace)
      return success();
    Operation *op = leaf.value.getDefiningOp();
    return emitError() << "a view moves the elements of the '"
                       << (op ? op->getName().getStringRef()
                              : StringRef("argument"))
                       << "' that the kernel computes";
  }

  Value compute(Operation *op, SmallVector<Value> operands,
                bool isFromLeading) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return materialize(constant);
    if (auto norm = dyn_cast<NormOp>(op))
      return scaleAndShift(norm, operands);
    if (!isa<CastOp>(op))
      matchPrecision(operands);
    if (isa<DivOp>(op))
      if (Value product = multiplyByReciprocal(operands[0], operands[1]))
        return product;
    auto pointwise = cast<PointwiseOpInterface>(op);
    bool isGelu = options.fastGeluOfLeading && isFromLeading && isa<GeluOp>(op);
    bool isFast = (options.fast || isGelu) &&
                  toleratesAbsoluteError(op->getResult(0), isGelu);
    if (!isFast)
      return pointwise.buildScalar(builder, loc, operands);
    Value fast = pointwise.buildFastScalar(builder, loc, operands);
    // Functions of which Math.cuh, and not the dialect, has a cheap form.
    if (Operation *math = fast.getDefiningOp();
        isa_and_nonnull<math::Log1pOp, math::PowFOp, math::SqrtOp>(math))
      math->setAttr("fastmath",
                    arith::FastMathFlagsAttr::get(builder.getContext(),
                                                  arith::FastMathFlags::afn));
    return fast;
  }

  /// A quotient by a constant as PyTorch computes it on a GPU. A division has a
  /// branch, after which the compiler computes again what it has. Null where
  /// the reciprocal is not a normal number.
  Value multiplyByReciprocal(Value dividend, Value divisor) {
    FloatAttr constant;
    if (!divisor.getType().isF32() ||
        !matchPattern(divisor, m_Constant(&constant)))
      return {};
    APFloat reciprocal = APFloat::getOne(APFloat::IEEEsingle());
    reciprocal.divide(constant.getValue(), APFloat::rmNearestTiesToEven);
    if (!reciprocal.isNormal() || !constant.getValue().isNormal())
      return {};
    Value factor = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(divisor.getType(), reciprocal));
    return arith::MulFOp::create(builder, loc, dividend, factor);
  }

  /// Marks extremes that a row's values alone decide, divisions of others by
  /// such values, and several divisions by one value.
  void markSharedValues() {
    llvm::SmallPtrSet<Value, 8> shared;
    for (auto [value, argument] :
         llvm::zip(options.leading, result.function->getArguments()))
      if (llvm::is_contained(options.rowValues, value))
        shared.insert(argument);
    auto isShared = [&](Value value) { return shared.contains(value); };
    llvm::SmallDenseMap<Value, unsigned> divisors;
    for (auto divide : result.function->getBody().getOps<arith::DivFOp>())
      ++divisors[divide.getRhs()];
    for (Operation &op : result.function->getBody().front()) {
      bool isOfRow =
          llvm::any_of(op.getOperands(), isShared) &&
          llvm::all_of(op.getOperands(), [&](Value operand) {
            return isShared(operand) || matchPattern(operand, m_Constant());
          });
      if (isOfRow)
        shared.insert_range(op.getResults());
      bool divides =
          isa<arith::DivFOp>(op) &&
          (isShared(op.getOperand(1)) || divisors.lookup(op.getOperand(1)) > 1);
      if (isOfRow ? isa<arith::MaximumFOp, arith::MinimumFOp>(op) : divides)
        op.setAttr(sharedValueName, builder.getUnitAttr());
    }
  }

  /// A norm's weight and bias, applied to the normalized value.
  Value scaleAndShift(NormOp norm, ArrayRef<Value> operands) {
    Value scalar = operands.front();
    if (norm.getWeight())
      scalar = arith::MulFOp::create(builder, loc, scalar, operands[1]);
    if (norm.getBias())
      scalar = arith::AddFOp::create(builder, loc, scalar, operands.back());
    return scalar;
  }

  /// Converts float operands to the narrowest of their types: a scalar operand
  /// may be wider than the tensors whose arithmetic it joins.
  void matchPrecision(MutableArrayRef<Value> operands) {
    Type narrowest;
    for (Value operand : operands)
      if (isa<FloatType>(operand.getType()) &&
          (!narrowest || operand.getType().getIntOrFloatBitWidth() <
                             narrowest.getIntOrFloatBitWidth()))
        narrowest = operand.getType();
    for (Value &operand : operands) {
      if (!isa<FloatType>(operand.getType()) || operand.getType() == narrowest)
        continue;
      // Constants round here: folding keeps only exact conversions.
      FloatAttr constant;
      if (matchPattern(operand, m_Constant(&constant)))
        operand = arith::ConstantOp::create(
            builder, loc,
            builder.getFloatAttr(narrowest, constant.getValueAsDouble()));
      else
        operand = arith::TruncFOp::create(builder, loc, narrowest, operand);
    }
  }

  /// A constant of equal elements.
  Value materialize(ConstantOp constant) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    Type type = getComputeType(elements.getElementType());
    if (auto floating = dyn_cast<FloatType>(type)) {
      APFloat number = elements.getSplatValue<APFloat>();
      bool losesInfo;
      number.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                     &losesInfo);
      return arith::ConstantOp::create(builder, loc,
                                       builder.getFloatAttr(type, number));
    }
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type, elements.getSplatValue<APInt>()));
  }

  /// Folds constants and removes what is computed twice or not used; unused
  /// arguments stay.
  void simplify() {
    func::FuncOp function = *result.function;
    Operation *end = function.getBody().front().getTerminator();
    function.setType(builder.getFunctionType(
        function.getBody().getArgumentTypes(), end->getOperandTypes()));
    RewritePatternSet patterns(builder.getContext());
    patterns.add<IgnoreNan<arith::MinimumFOp, arith::MinNumFOp>,
                 IgnoreNan<arith::MaximumFOp, arith::MaxNumFOp>>(
        builder.getContext());
    (void)applyPatternsGreedily(function, std::move(patterns));
    IRRewriter rewriter(builder.getContext());
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    markSharedValues();
  }

  const ScalarFunction::Options &options;
  EmitError emitError;
  OpBuilder builder;
  Location loc;
  ScalarFunction result;
};
} // namespace fact

FailureOr<ScalarFunction> ScalarFunction::get(ArrayRef<Value> results,
                                              ArrayRef<int64_t> indexSpace,
                                              const Options &options,
                                              EmitError emitError) {
  return ScalarBuilder(results.front().getContext(), options, emitError)
      .build(results, indexSpace);
}

SmallVector<unsigned> ScalarFunction::getArgumentsOf(unsigned result) const {
  SmallVector<unsigned> found;
  SmallVector<Value> work{
      getFunction().getBody().front().getTerminator()->getOperand(result)};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value))
      found.push_back(argument.getArgNumber());
    else
      llvm::append_range(work, value.getDefiningOp()->getOperands());
  }
  return found;
}

bool ScalarFunction::isIdentity(unsigned index) const {
  Block &body = getFunction().getBody().front();
  return arguments.size() == 1 &&
         body.getTerminator()->getOperand(index) == body.getArgument(0);
}

void ScalarFunction::printFunctor(raw_ostream &os, StringRef name,
                                  ArrayRef<std::string> argumentNames,
                                  unsigned index) const {
  Block &body = getFunction().getBody().front();
  Value value = body.getTerminator()->getOperand(index);
  ScalarPrinter printer(os, "    ");
  os << "struct " << name << " {\n  FACT_DEVICE "
     << getScalarName(value.getType()) << " apply(";
  llvm::interleave(
      llvm::zip_equal(body.getArguments(), argumentNames),
      [&](auto argument) {
        os << getScalarName(std::get<0>(argument).getType()) << ' '
           << std::get<1>(argument);
        printer.setName(std::get<0>(argument), std::get<1>(argument));
      },
      [&] { os << ",\n"
               << std::string(25, ' '); });
  os << ") {\n";
  printer.printSlice(value);
  os << "    return " << printer.getName(value) << ";\n  }\n};\n";
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

double fact::getSlots(Operation &op) {
  bool fast = allows(&op, arith::FastMathFlags::afn) ||
              allows(&op, arith::FastMathFlags::arcp);
  bool wide =
      llvm::any_of(op.getResultTypes(), [](Type type) { return type.isF64(); });
  double slots =
      TypeSwitch<Operation *, double>(&op)
          .Case<arith::ConstantOp, func::ReturnOp>([](auto) { return 0; })
          .Case([&](arith::DivFOp) { return fast ? 10 : 16; })
          .Case([&](math::ExpOp) { return fast ? 9 : 14; })
          .Case([&](math::LogOp) { return fast ? 9 : 25; })
          .Case<math::SinOp, math::CosOp>([](auto) { return 28; })
          .Case([&](math::TanhOp) { return fast ? 8 : 28; })
          .Case([&](math::ErfOp) { return fast ? 24 : 29; })
          .Case<math::RsqrtOp, math::SqrtOp>(
              [&](auto) { return fast ? 8 : 16; })
          .Case([&](math::PowFOp) { return fast ? 40 : 75; })
          .Case([&](math::Log1pOp) { return fast ? 14 : 32; })
          .Default([](Operation *) { return 1; });
  return wide ? 2 * slots : slots;
}

double ScalarFunction::getCost(size_t hoisted) const {
  Block &body = getFunction().getBody().front();
  llvm::DenseSet<Value> once;
  for (BlockArgument argument : body.getArguments().take_front(hoisted))
    once.insert(argument);
  double slots = 0;
  for (Operation &op : body) {
    bool isOnce = llvm::all_of(op.getOperands(), [&](Value operand) {
      return once.contains(operand);
    });
    if (isOnce)
      once.insert_range(op.getResults());
    else
      slots += getSlots(op);
  }
  return slots;
}
