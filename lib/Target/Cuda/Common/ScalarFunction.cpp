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

namespace {
/// A step from a value's own indices to those of a value made from it.
struct Step {
  enum Kind { View, Broadcast, Reshape } kind;
  Operation *view = nullptr;
  SmallVector<int64_t> shape = {};

  FailureOr<StridedView> apply(const StridedView &from) const {
    if (kind == Broadcast)
      return from.broadcastTo(shape);
    if (kind == Reshape)
      return from.reshape(shape);
    return cast<ViewOpInterface>(view).applyView(from);
  }
};

using Path = SmallVector<Step>;

std::string getKey(Value value, const Path &path) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << value.getAsOpaquePointer();
  for (const Step &step : path) {
    os << '/' << int(step.kind) << step.view << ':';
    llvm::interleave(step.shape, os, "x");
  }
  return key;
}
} // namespace

namespace fact {
/// Builds the scalar function from its results down to what it reads.
class ScalarBuilder {
public:
  ScalarBuilder(MLIRContext *context, const ScalarFunction::Options &options,
                EmitError emitError)
      : options(options), emitError(emitError), builder(context),
        loc(builder.getUnknownLoc()) {
    context->getOrLoadDialect<func::FuncDialect>();
    result.function = func::FuncOp::create(loc, "scalar",
                                           builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(result.function->addEntryBlock());
  }

  FailureOr<ScalarFunction> build(ArrayRef<Value> results,
                                  ArrayRef<int64_t> indexSpace) {
    for (Value value : options.leading)
      addArgument(value, getIndexSpaceView(value, indexSpace));
    SmallVector<Value> scalars;
    for (Value value : results) {
      Path path;
      if (getShape(value) != indexSpace)
        path.push_back({Step::Reshape, nullptr,
                        SmallVector<int64_t>(indexSpace)});
      FailureOr<Value> scalar = evaluate(value, path);
      if (failed(scalar))
        return failure();
      scalars.push_back(*scalar);
    }
    func::ReturnOp::create(builder, loc, scalars);
    simplify();
    return std::move(result);
  }

private:
  static ArrayRef<int64_t> getShape(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  static Type getElement(Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  }
  static StridedView getIndexSpaceView(Value value, ArrayRef<int64_t> shape) {
    return {value, 0, SmallVector<int64_t>(shape), rowMajorStrides(shape)};
  }

  BlockArgument addArgument(Value value, const StridedView &view) {
    result.arguments.push_back({value, view});
    return result.function->getBody().addArgument(
        getComputeType(getElement(value)), loc);
  }

  FailureOr<Value> evaluate(Value value, const Path &path) {
    std::string key = getKey(value, path);
    if (auto known = scalars.find(key); known != scalars.end())
      return known->second;
    FailureOr<Value> scalar = compute(value, path);
    if (succeeded(scalar))
      scalars[key] = *scalar;
    return scalar;
  }

  FailureOr<Value> compute(Value value, const Path &path) {
    if (llvm::is_contained(options.leading, value))
      return readLeading(value, path);
    Operation *op = value.getDefiningOp();
    if (!op || (options.readsGathers && isa<GatherOp>(op)))
      return read(value, path);
    if (isa<ViewOpInterface>(op)) {
      Path longer = path;
      longer.push_back({Step::View, op});
      return evaluate(op->getOperand(0), longer);
    }
    if (auto constant = dyn_cast<ConstantOp>(op))
      return materialise(constant);
    auto pointwise = dyn_cast<PointwiseOpInterface>(op);
    if (!pointwise)
      return emitError() << "'" << op->getName()
                         << "' is not a pointwise op or a view";
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> scalar = evaluateAs(operand, getShape(value), path);
      if (failed(scalar))
        return failure();
      operands.push_back(*scalar);
    }
    if (!isa<CastOp>(op))
      matchPrecision(operands);
    return options.fast && toleratesAbsoluteError(value)
               ? pointwise.buildFastScalar(builder, loc, operands)
               : pointwise.buildScalar(builder, loc, operands);
  }

  /// A scalar operand may be wider than the tensors beside it, whose arithmetic
  /// it joins.
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

  /// `value` broadcast to the shape of its user.
  FailureOr<Value> evaluateAs(Value value, ArrayRef<int64_t> shape,
                              Path path) {
    if (getShape(value) != shape)
      path.push_back({Step::Broadcast, nullptr, SmallVector<int64_t>(shape)});
    return evaluate(value, path);
  }

  FailureOr<StridedView> getView(Value value, const Path &path) {
    StridedView view = StridedView::identity(value);
    for (const Step &step : llvm::reverse(path)) {
      FailureOr<StridedView> next = step.apply(view);
      if (failed(next))
        return emitError() << "an operand of type " << value.getType()
                           << " is reshaped in a way that strides cannot say";
      view = *next;
    }
    return view;
  }

  FailureOr<Value> read(Value value, const Path &path) {
    FailureOr<StridedView> view = getView(value, path);
    if (failed(view))
      return failure();
    // Sizes of 1 may carry any stride.
    for (auto [size, stride] : llvm::zip_equal(view->shape, view->strides))
      if (size == 1)
        stride = 0;
    for (auto [i, argument] : llvm::enumerate(result.arguments))
      if (argument.value == value && argument.view.offset == view->offset &&
          argument.view.strides == view->strides)
        return Value(result.function->getArgument(i));
    return Value(addArgument(value, *view));
  }

  /// Whether element (row, column) of the view is element `row`.
  static bool isOnePerRow(const StridedView &view) {
    return view.shape.size() == 2 &&
           (view.shape[0] == 1 || view.strides[0] == 1) &&
           (view.shape[1] == 1 || view.strides[1] == 0);
  }

  /// A value at hand; a norm's weight and bias are ours to apply.
  FailureOr<Value> readLeading(Value value, const Path &path) {
    FailureOr<StridedView> view = getView(value, path);
    if (failed(view))
      return failure();
    bool isInPlace = llvm::is_contained(options.rowValues, value)
                         ? isOnePerRow(*view)
                         : view->isRowMajor();
    if (view->offset != 0 || !isInPlace)
      return emitError() << "a view moves the elements of the '"
                         << (value.getDefiningOp()
                                 ? value.getDefiningOp()->getName().getStringRef()
                                 : StringRef("argument"))
                         << "' that the kernel computes";
    unsigned position = llvm::find(options.leading, value) -
                        options.leading.begin();
    Value scalar = result.function->getArgument(position);
    auto norm = value.getDefiningOp<NormOp>();
    if (!norm)
      return scalar;
    if (norm.getWeight()) {
      FailureOr<Value> weight =
          evaluateAs(norm.getWeight(), getShape(value), path);
      if (failed(weight))
        return failure();
      scalar = arith::MulFOp::create(builder, loc, scalar, *weight);
    }
    if (norm.getBias()) {
      FailureOr<Value> bias = evaluateAs(norm.getBias(), getShape(value), path);
      if (failed(bias))
        return failure();
      scalar = arith::AddFOp::create(builder, loc, scalar, *bias);
    }
    return scalar;
  }

  FailureOr<Value> materialise(ConstantOp constant) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !elements.isSplat())
      return emitError() << "a constant with different elements must be an "
                            "operand of the kernel";
    Type type = getComputeType(elements.getElementType());
    if (auto floating = dyn_cast<FloatType>(type)) {
      APFloat number = elements.getSplatValue<APFloat>();
      bool losesInfo;
      number.convert(floating.getFloatSemantics(),
                     APFloat::rmNearestTiesToEven, &losesInfo);
      return Value(arith::ConstantOp::create(
          builder, loc, builder.getFloatAttr(type, number)));
    }
    return Value(arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type, elements.getSplatValue<APInt>())));
  }

  /// Folds, shares and removes; the arguments stay as they are.
  void simplify() {
    func::FuncOp function = *result.function;
    Operation *end = function.getBody().front().getTerminator();
    function.setType(builder.getFunctionType(
        function.getBody().getArgumentTypes(), end->getOperandTypes()));
    (void)applyPatternsGreedily(function, FrozenRewritePatternSet());
    IRRewriter rewriter(builder.getContext());
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
  }

  const ScalarFunction::Options &options;
  EmitError emitError;
  OpBuilder builder;
  Location loc;
  ScalarFunction result;
  llvm::StringMap<Value> scalars;
};
} // namespace fact

FailureOr<ScalarFunction> ScalarFunction::get(ArrayRef<Value> results,
                                              ArrayRef<int64_t> indexSpace,
                                              const Options &options,
                                              EmitError emitError) {
  return ScalarBuilder(results.front().getContext(), options, emitError)
      .build(results, indexSpace);
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
      [&] { os << ",\n" << std::string(25, ' '); });
  os << ") {\n";
  printer.printSlice(value);
  os << "    return " << printer.getName(value) << ";\n  }\n};\n";
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Issue slots of one op, where an ordinary instruction is 1 and the special
/// function unit, which is an eighth as wide, 8.
static double getSlots(Operation &op) {
  bool fast = allows(&op, arith::FastMathFlags::afn) ||
              allows(&op, arith::FastMathFlags::arcp);
  bool wide = llvm::any_of(op.getResultTypes(),
                           [](Type type) { return type.isF64(); });
  double slots =
      TypeSwitch<Operation *, double>(&op)
          .Case<arith::ConstantOp, func::ReturnOp>([](auto) { return 0; })
          .Case([&](arith::DivFOp) { return fast ? 10 : 40; })
          .Case<math::ExpOp, math::LogOp>([&](auto) { return fast ? 9 : 14; })
          .Case([&](math::TanhOp) { return fast ? 8 : 34; })
          .Case([&](math::ErfOp) { return fast ? 24 : 38; })
          .Case<math::RsqrtOp, math::SqrtOp>(
              [&](auto) { return fast ? 8 : 16; })
          .Case<math::SinOp, math::CosOp, math::PowFOp, math::Log1pOp>(
              [](auto) { return 40; })
          .Default([](Operation *) { return 1; });
  return wide ? 2 * slots : slots;
}

double ScalarFunction::getCost() const {
  double slots = 0;
  for (Operation &op : getFunction().getBody().front())
    slots += getSlots(op);
  return slots;
}
