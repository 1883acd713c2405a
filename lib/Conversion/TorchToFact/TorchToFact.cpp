//===- TorchToFact.cpp - The conversion of torch-mlir's ops to FACT -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver: converts functions op by op through the table of converters. The
// new body is built beside the old one, so that one run reports all errors of a
// module and a failure leaves the module unchanged.
//
//===----------------------------------------------------------------------===//

#include "fact/Conversion/TorchToFact.h"
#include "TorchCall.h"
#include "fact/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fact {
#define GEN_PASS_DEF_CONVERTTORCHTOFACT
#include "fact/Conversion/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

static const ConverterTable &getConverters() {
  static const ConverterTable table = [] {
    ConverterTable table;
    populateActivationConverters(table);
    populateConstantConverters(table);
    populateContractionConverters(table);
    populateConvolutionConverters(table);
    populateEinsumConverters(table);
    populateIndexingConverters(table);
    populateIntegerConverters(table);
    populatePointwiseConverters(table);
    populateRowConverters(table);
    populateScanConverters(table);
    populateScatterConverters(table);
    populateViewConverters(table);
    return table;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static void reportUnsupported(Operation *op) {
  StringRef name = TorchCall::getName(op);
  InFlightDiagnostic diagnostic = mlir::emitError(op->getLoc())
                                  << "unsupported op '" << name << "'";
  name.consume_front("torch.");
  StringRef separator = "; a supported op of a similar name is ";
  for (StringRef known : findSimilarOps(name, getConverters())) {
    diagnostic << separator << "'torch." << known << "'";
    separator = " or ";
  }
}

/// Checks that tensor results have a builtin type; lists and scalars have none.
static LogicalResult checkResultTypes(Operation *op) {
  for (OpResult result : op->getResults()) {
    std::string reason;
    if (isa<torch::VTensorType>(result.getType()) && !result.use_empty() &&
        !convertTensorType(result.getType(), reason))
      return mlir::emitError(op->getLoc())
             << "result " << result.getResultNumber() << " of '"
             << TorchCall::getName(op) << "' " << reason;
  }
  return success();
}

static LogicalResult reportOtherSymbol(StringAttr name, const Weight &weight,
                                       Operation *other) {
  return (mlir::emitError(weight.loc)
          << "weight " << name << " has the name of another symbol; "
          << "rename it in the module")
             .attachNote(other->getLoc())
         << "the other symbol is here";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Converts one function; `commit` replaces its body.
class FunctionConversion {
public:
  FunctionConversion(func::FuncOp func, WeightTable &weights)
      : func(func), weights(weights), builder(func.getContext()) {}

  LogicalResult run();
  void commit();

private:
  LogicalResult convertSignature(Block &from, Block &to);
  LogicalResult convertOp(Operation *op);
  LogicalResult convertReturn(func::ReturnOp op);
  void poison(Operation *op);

  func::FuncOp func;
  WeightTable &weights;
  OpBuilder builder;
  ValueTable values;
  Region body;
};
} // namespace

/// The Python name of an argument or result.
static std::string nameOf(DictionaryAttr attributes, StringRef kind,
                          unsigned index) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kind << ' ';
  if (auto name =
          attributes ? attributes.getAs<StringAttr>("fact.name") : StringAttr())
    os << "'" << name.getValue() << "'";
  else
    os << index;
  return text;
}

LogicalResult FunctionConversion::convertSignature(Block &from, Block &to) {
  LogicalResult result = success();
  for (BlockArgument argument : from.getArguments()) {
    std::string reason;
    RankedTensorType type = convertTensorType(argument.getType(), reason);
    if (type) {
      values.tensors[argument] = to.addArgument(type, argument.getLoc());
      continue;
    }
    unsigned index = argument.getArgNumber();
    result = mlir::emitError(argument.getLoc())
             << nameOf(func.getArgAttrDict(index), "input", index) << ' '
             << reason;
    values.tensors[argument] = {};
  }
  return result;
}

/// Marks the results of an op that failed, so that their users are skipped.
void FunctionConversion::poison(Operation *op) {
  for (Value result : op->getResults()) {
    values.tensors[result] = {};
    values.lists[result].assign(1, Value());
  }
}

LogicalResult FunctionConversion::convertOp(Operation *op) {
  StringRef name = TorchCall::getName(op);
  name.consume_front("torch.");
  auto converter = getConverters().find(name);
  if (converter == getConverters().end()) {
    reportUnsupported(op);
    return failure();
  }
  if (failed(checkResultTypes(op)))
    return failure();
  TorchCall call(op, builder, values, weights);
  return converter->second(call);
}

LogicalResult FunctionConversion::convertReturn(func::ReturnOp op) {
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    Value value = values.tensors.lookup(operand);
    if (!value && !values.tensors.contains(operand))
      return mlir::emitError(op.getLoc())
             << nameOf(func.getResultAttrDict(index), "output", index)
             << " has type " << operand.getType()
             << "; only tensors are supported";
    if (!value)
      return failure();
    operands.push_back(value);
  }
  func::ReturnOp::create(builder, op.getLoc(), operands);
  return success();
}

LogicalResult FunctionConversion::run() {
  if (!func.getBody().hasOneBlock())
    return mlir::emitError(func.getLoc())
           << "function '" << func.getName()
           << "' has control flow; only straight-line code is supported";
  Block &from = func.getBody().front();
  // Torch ops are not registered, so any of them may end a block.
  if (!isa<func::ReturnOp>(from.back()))
    return mlir::emitError(from.back().getLoc())
           << "function '" << func.getName() << "' ends with '"
           << from.back().getName() << "', but must end with 'func.return'";
  Block &to = body.emplaceBlock();
  builder.setInsertionPointToEnd(&to);
  LogicalResult result = convertSignature(from, to);
  for (Operation &op : from) {
    if (auto returnOp = dyn_cast<func::ReturnOp>(op)) {
      if (failed(convertReturn(returnOp)))
        result = failure();
    } else if (failed(convertOp(&op))) {
      poison(&op);
      result = failure();
    }
  }
  return result;
}

void FunctionConversion::commit() {
  Block &block = body.front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  func.setFunctionType(
      FunctionType::get(func.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  func.getBody().takeBody(body);
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

TorchToFactTypeConverter::TorchToFactTypeConverter() {
  addConversion([](Type type) { return type; });
  addConversion([](torch::VTensorType type) -> Type {
    std::string reason;
    return convertTensorType(type, reason);
  });
}

namespace {
/// Converts any op of the table. Without a type converter: a list is whatever
/// has replaced it.
struct ConvertTorchOp : ConversionPattern {
  explicit ConvertTorchOp(MLIRContext *context)
      : ConversionPattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override;
};
} // namespace

/// What the operands, and the elements of operands that are lists, have become.
static ValueTable readOperands(Operation *op, ArrayRef<ValueRange> operands,
                               ConversionPatternRewriter &rewriter) {
  ValueTable values;
  auto setTensor = [&](Value from, Value to) {
    bool isConverted = to && isa<RankedTensorType>(to.getType());
    values.tensors[from] = isConverted ? to : Value();
  };
  for (auto [from, to] : llvm::zip_equal(op->getOperands(), operands)) {
    if (isa<torch::VTensorType>(from.getType())) {
      setTensor(from, to.size() == 1 ? to.front() : Value());
      continue;
    }
    if (!to.empty() && isa<RankedTensorType>(to.front().getType()))
      llvm::append_range(values.lists[from], to);
    Operation *list = from.getDefiningOp();
    if (!list || list->getName().getStringRef() != "torch.prim.ListConstruct")
      continue;
    for (Value element : list->getOperands())
      if (isa<torch::VTensorType>(element.getType()))
        setTensor(element, rewriter.getRemappedValue(element));
  }
  return values;
}

/// Declares a weight behind those that are declared, before all functions.
static LogicalResult declareWeight(OpBuilder &builder, ModuleOp module,
                                   StringAttr name, const Weight &weight) {
  Operation *other = SymbolTable::lookupSymbolIn(module, name);
  if (auto known = dyn_cast_or_null<WeightOp>(other);
      known && known.getType() == weight.type)
    return success();
  if (other)
    return reportOtherSymbol(name, weight, other);
  OpBuilder::InsertionGuard guard(builder);
  Block::iterator place = module.getBody()->begin();
  while (place != module.getBody()->end() && isa<WeightOp>(*place))
    ++place;
  builder.setInsertionPoint(module.getBody(), place);
  WeightOp::create(builder, weight.loc, name, TypeAttr::get(weight.type),
                   weight.value, /*baked=*/UnitAttr());
  return success();
}

LogicalResult
ConvertTorchOp::matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const {
  StringRef name = TorchCall::getName(op);
  if (!name.consume_front("torch."))
    return failure();
  auto converter = getConverters().find(name);
  auto module = op->getParentOfType<ModuleOp>();
  if (converter == getConverters().end() || !module)
    return rewriter.notifyMatchFailure(op, "unsupported op");
  ValueTable values = readOperands(op, operands, rewriter);
  WeightTable weights;
  TorchCall call(op, rewriter, values, weights);
  if (failed(checkResultTypes(op)) || failed(converter->second(call)))
    return failure();
  for (const auto &[symbol, weight] : weights)
    if (failed(declareWeight(rewriter, module, symbol, weight)))
      return failure();
  SmallVector<SmallVector<Value>> results;
  for (Value result : op->getResults()) {
    SmallVector<Value> &list = results.emplace_back();
    if (Value tensor = values.tensors.lookup(result))
      list.push_back(tensor);
    else
      list = values.lists.lookup(result);
  }
  rewriter.replaceOpWithMultiple(op, std::move(results));
  return success();
}

void fact::populateTorchToFactPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertTorchOp>(patterns.getContext());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Functions without torch ops are left alone.
static bool usesTorch(func::FuncOp func) {
  auto isTorch = [](Type type) {
    return isa<torch::TorchDialect>(type.getDialect());
  };
  if (func.isExternal())
    return false;
  if (llvm::any_of(func.getArgumentTypes(), isTorch) ||
      llvm::any_of(func.getResultTypes(), isTorch))
    return true;
  return func
      .walk([&](Operation *op) {
        return op->getName().getDialectNamespace() == "torch"
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Declares the weights before the functions, in the order of first use.
static LogicalResult declareWeights(ModuleOp module,
                                    const WeightTable &weights) {
  SymbolTable symbols(module);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  LogicalResult result = success();
  for (const auto &[name, weight] : weights) {
    if (Operation *other = symbols.lookup(name)) {
      result = reportOtherSymbol(name, weight, other);
      continue;
    }
    WeightOp::create(builder, weight.loc, name, TypeAttr::get(weight.type),
                     weight.value, /*baked=*/UnitAttr());
  }
  return result;
}

/// Prints the names in order, one per line.
static void printSupported(llvm::raw_ostream &os) {
  SmallVector<StringRef> names(getConverters().keys());
  llvm::sort(names);
  for (StringRef name : names)
    os << "torch." << name << '\n';
}

namespace {
struct ConvertTorchToFact
    : fact::impl::ConvertTorchToFactBase<ConvertTorchToFact> {
  using ConvertTorchToFactBase::ConvertTorchToFactBase;

  void runOnOperation() override {
    if (listSupported)
      return printSupported(llvm::outs());
    ModuleOp module = getOperation();
    WeightTable weights;
    SmallVector<std::unique_ptr<FunctionConversion>> conversions;
    bool failing = false;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (!usesTorch(func))
        continue;
      conversions.push_back(
          std::make_unique<FunctionConversion>(func, weights));
      failing |= failed(conversions.back()->run());
    }
    if (failing || failed(declareWeights(module, weights)))
      return signalPassFailure();
    for (auto &conversion : conversions)
      conversion->commit();
  }
};
} // namespace
