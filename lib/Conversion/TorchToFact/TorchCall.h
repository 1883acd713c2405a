//===- TorchCall.h - One torch op on its way into FACT ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the converters of single ops: reads and checks arguments by name,
// and builds the FACT ops that most converters need.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_CONVERSION_TORCHTOFACT_TORCHCALL_H
#define FACT_LIB_CONVERSION_TORCHTOFACT_TORCHCALL_H

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Torch/Torch.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace fact {
namespace torchtofact {
using mlir::ArrayRef;
using mlir::failed;
using mlir::failure;
using mlir::InFlightDiagnostic;
using mlir::isa;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::SmallVector;
using mlir::SmallVectorImpl;
using mlir::StringRef;
using mlir::succeeded;
using mlir::success;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// A parameter or buffer that the module uses.
struct Weight {
  mlir::Location loc;
  RankedTensorType type;
  mlir::ElementsAttr value;
};
using WeightTable = llvm::MapVector<mlir::StringAttr, Weight>;

/// The converted values. A value that could not be converted is null, and its
/// users are skipped: the error has been reported.
struct ValueTable {
  llvm::DenseMap<Value, Value> tensors;
  llvm::DenseMap<Value, SmallVector<Value>> lists;
};

/// The builtin tensor type of a torch tensor with static sizes and an element
/// type of FACT; null, with a `reason`, if there is none.
RankedTensorType convertTensorType(Type type, std::string &reason);

RankedTensorType typeOf(Value tensor);
Type elementOf(Value tensor);
int64_t rankOf(Value tensor);

/// One torch op: its arguments, its results, and a builder in its place.
/// Arguments have the numbers and names of the op's schema, so that errors can
/// name them.
class TorchCall {
public:
  TorchCall(Operation *op, mlir::OpBuilder &builder, ValueTable &values,
            WeightTable &weights)
      : op(op), builder(builder), values(values), weights(weights) {}

  Operation *getOperation() { return op; }
  mlir::Location getLoc() { return op->getLoc(); }
  WeightTable &getWeights() { return weights; }
  mlir::OpBuilder &getBuilder() { return builder; }

  /// The op's name; for `torch.operator`, that of its attribute.
  static StringRef getName(Operation *op);
  StringRef getName() { return getName(op); }

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  /// Whether an argument is `None` or missing.
  bool isNone(unsigned index);
  LogicalResult tensor(unsigned index, StringRef name, Value &result);
  /// A null value for `None`.
  LogicalResult optionalTensor(unsigned index, StringRef name, Value &result);
  LogicalResult tensors(unsigned index, StringRef name,
                        SmallVectorImpl<Value> &result);
  /// A list with null values for `None`.
  LogicalResult optionalTensors(unsigned index, StringRef name,
                                SmallVectorImpl<Value> &result);
  LogicalResult integer(unsigned index, StringRef name, int64_t &result);
  LogicalResult integers(unsigned index, StringRef name,
                         SmallVectorImpl<int64_t> &result);
  LogicalResult number(unsigned index, StringRef name, double &result);
  LogicalResult boolean(unsigned index, StringRef name, bool &result);
  LogicalResult string(unsigned index, StringRef name, StringRef &result);
  /// These do not change `result` for `None`.
  LogicalResult optionalInteger(unsigned index, StringRef name,
                                int64_t &result) {
    return isNone(index) ? success() : integer(index, name, result);
  }
  LogicalResult optionalNumber(unsigned index, StringRef name, double &result) {
    return isNone(index) ? success() : number(index, name, result);
  }
  LogicalResult optionalBoolean(unsigned index, StringRef name, bool &result) {
    return isNone(index) ? success() : boolean(index, name, result);
  }
  LogicalResult optionalDimension(unsigned index, StringRef name, int64_t rank,
                                  int64_t &result) {
    return isNone(index) ? success() : dimension(index, name, rank, result);
  }
  /// For `None`, `result` must be a dimension of the tensor.
  LogicalResult optionalDimensionOf(Value tensor, unsigned index,
                                    StringRef name, int64_t &result);
  /// A number as a 0-d constant that can be an operand beside elements of
  /// `element`.
  LogicalResult scalar(unsigned index, StringRef name, Type element,
                       Value &result);
  /// Whether an argument is a number rather than a tensor.
  bool isNumber(unsigned index) { return constantOf(index) != nullptr; }
  /// A tensor or a number as a tensor of `element`.
  LogicalResult operand(unsigned index, StringRef name, Type element,
                        Value &result);
  /// Argument 0 in the result's element type.
  LogicalResult operand(Value &result) {
    return operand(0, "self", getResultElement(), result);
  }
  /// A dimension of a tensor of `rank`, counted from the front. A 0-d tensor
  /// has dimension 0, as in PyTorch.
  LogicalResult dimension(unsigned index, StringRef name, int64_t rank,
                          int64_t &result);
  /// A dimension that `tensor` must have, for ops that select along it.
  LogicalResult dimensionOf(Value tensor, unsigned index, StringRef name,
                            int64_t &result);
  /// Dimensions counted from the front, in ascending order; all of them for
  /// `None` or an empty list.
  LogicalResult dimensions(unsigned index, StringRef name, int64_t rank,
                           SmallVectorImpl<int64_t> &result);
  /// The constant that defines an argument, or null.
  mlir::Attribute constantOf(unsigned index);

  /// `'torch.aten.name' ...`
  InFlightDiagnostic emitError();
  /// `argument 'dim' of 'torch.aten.name' ...`
  InFlightDiagnostic emitArgumentError(StringRef name);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// The converted type of a result; the driver has checked that there is one.
  RankedTensorType getResultType(unsigned index = 0);
  Type getResultElement() { return getResultType().getElementType(); }
  /// Sets the results' values. A null value means not computed, which is an
  /// error if the result is used.
  LogicalResult replace(ValueRange results);
  /// The same for values that only lack the declared shape.
  LogicalResult replaceReshaped(ArrayRef<Value> results);
  /// Sets the values of a result that is a list.
  LogicalResult replaceWithList(ArrayRef<Value> list);

  //===--------------------------------------------------------------------===//
  // Building
  //===--------------------------------------------------------------------===//

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, getLoc(), std::forward<Args>(args)...)
        .getResult();
  }
  /// Builds an op whose result type follows from its operands and attributes.
  /// If these do not fit, emits an error, and `replace` fails.
  template <typename Op, typename... Args> Value infer(Args &&...args) {
    // Builders that infer the type themselves abort if they cannot.
    Type unknown = builder.getNoneType();
    return setInferredType(
        Op::create(builder, getLoc(), unknown, std::forward<Args>(args)...));
  }
  template <typename Op> Value unary(Value x) { return infer<Op>(x); }
  template <typename Op> Value binary(Value x, Value y) {
    return infer<Op>(x, y);
  }
  /// A binary op on a tensor and a number.
  template <typename Op> Value binary(Value x, double y) {
    return binary<Op>(x, scalarConstant(y, elementOf(x)));
  }
  Value select(Value condition, Value x, Value y);
  /// The minimum or maximum; of a NaN and a number, the number.
  template <typename Op> Value ignoreNan(Value x, Value y) {
    Value extreme = binary<Op>(x, y);
    if (!mlir::isa<mlir::FloatType>(elementOf(x)))
      return extreme;
    Value isX = compare(Predicate::eq, x, x),
          isY = compare(Predicate::eq, y, y);
    return select(isX, select(isY, extreme, x), y);
  }
  /// Boolean and, or, exclusive or, not.
  Value logicalAnd(Value x, Value y) { return select(x, y, x); }
  Value logicalOr(Value x, Value y) { return select(x, x, y); }
  Value logicalXor(Value x, Value y) { return compare(Predicate::ne, x, y); }
  Value logicalNot(Value x) {
    return compare(Predicate::eq, x, constant(0, elementOf(x)));
  }
  Value compare(Predicate predicate, Value x, Value y);
  Value compare(Predicate predicate, Value x, double y) {
    return compare(predicate, x, scalarConstant(y, elementOf(x)));
  }
  /// A 0-d constant, or a splat of `shape`.
  Value constant(double value, Type element, ArrayRef<int64_t> shape = {});
  /// A 0-d constant for a pointwise op on elements of `element`: PyTorch
  /// combines 16-bit tensors with scalars in f32.
  Value scalarConstant(double value, Type element);
  Value cast(Value tensor, Type element);
  Value reshape(Value tensor, ArrayRef<int64_t> shape);
  Value expand(Value tensor, ArrayRef<int64_t> shape);
  Value permute(Value tensor, ArrayRef<int64_t> dims);
  Value slice(Value tensor, int64_t dim, int64_t start, int64_t size,
              int64_t step = 1);
  /// Concatenates tensors; a single one is returned as it is.
  Value concat(ArrayRef<Value> tensors, int64_t dim);
  /// Selects the slices of `dim` at `indices`.
  Value gather(Value tensor, Value indices, int64_t dim);
  Value reduce(ReduceKind kind, Value tensor, ArrayRef<int64_t> dims,
               bool keep);

private:
  /// Infers the type of an op's result and returns the result. If it cannot be
  /// inferred, the result has the type of operand 0.
  Value setInferredType(mlir::InferTypeOpInterface built);
  /// Whether `tensor` has the dimension; if not, emits an error, and `replace`
  /// fails.
  bool hasDimension(Value tensor, int64_t dim);

  /// An error was emitted while the result was built.
  bool isMalformed = false;
  Operation *op;
  mlir::OpBuilder &builder;
  ValueTable &values;
  WeightTable &weights;
};

/// Converts one op, or emits an error.
using Converter = LogicalResult (*)(TorchCall &);
/// The supported ops, by name without `torch.`.
using ConverterTable = llvm::StringMap<Converter>;

/// Supported ops with a name similar to that of an unsupported one, such as
/// another overload; usually none.
SmallVector<StringRef> findSimilarOps(StringRef name,
                                      const ConverterTable &table);

/// Multiplies tensors of rank 2 or more, whose leading dimensions broadcast.
Value multiplyMatrices(TorchCall &call, Value x, Value y,
                       bool transposeB = false, bool inConvolution = false);
/// Integer `self` to the power `other`.
LogicalResult convertIntegerPower(TorchCall &call);

void populateActivationConverters(ConverterTable &table);
void populateConstantConverters(ConverterTable &table);
void populateContractionConverters(ConverterTable &table);
void populateConvolutionConverters(ConverterTable &table);
void populateEinsumConverters(ConverterTable &table);
void populateIndexingConverters(ConverterTable &table);
void populateIntegerConverters(ConverterTable &table);
void populatePointwiseConverters(ConverterTable &table);
void populateRowConverters(ConverterTable &table);
void populateScanConverters(ConverterTable &table);
void populateScatterConverters(ConverterTable &table);
void populateViewConverters(ConverterTable &table);
} // namespace torchtofact
} // namespace fact

#endif // FACT_LIB_CONVERSION_TORCHTOFACT_TORCHCALL_H
