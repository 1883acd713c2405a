//===- TorchCall.h - One torch op on its way into FACT ------------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//
//
// What the converters of single ops share: arguments read and checked by name,
// and the few FACT ops that most of them build.
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

/// A parameter or buffer that the module's ops name.
struct Weight {
  mlir::Location loc;
  RankedTensorType type;
  mlir::ElementsAttr value;
};
using WeightTable = llvm::MapVector<mlir::StringAttr, Weight>;

/// What torch values became. A value that could not be converted is null, and
/// what uses it is passed over: its error has been reported.
struct ValueTable {
  llvm::DenseMap<Value, Value> tensors;
  llvm::DenseMap<Value, SmallVector<Value>> lists;
};

/// The builtin tensor type of a torch tensor: sizes and element type known, the
/// element type one of FACT's; null, with `reason`, where there is none.
RankedTensorType convertTensorType(Type type, std::string &reason);

RankedTensorType typeOf(Value tensor);
Type elementOf(Value tensor);
int64_t rankOf(Value tensor);

/// One torch op: its arguments, its results, and a builder in its place.
/// Arguments are numbered as in the op's schema and named as there, so that an
/// error says which one is not supported and what would be.
class TorchCall {
public:
  TorchCall(Operation *op, mlir::OpBuilder &builder, ValueTable &values,
            WeightTable &weights)
      : op(op), builder(builder), values(values), weights(weights) {}

  Operation *getOperation() { return op; }
  mlir::Location getLoc() { return op->getLoc(); }
  WeightTable &getWeights() { return weights; }
  mlir::OpBuilder &getBuilder() { return builder; }

  /// The op's name; that of the attribute for `torch.operator`.
  static StringRef getName(Operation *op);
  StringRef getName() { return getName(op); }

  //===--------------------------------------------------------------------===//
  // Arguments
  //===--------------------------------------------------------------------===//

  /// Whether an argument is `None`, or left out.
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
  /// These leave `result` as it is for `None`.
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
  /// `result` is one of the tensor's own where the argument is `None`.
  LogicalResult optionalDimensionOf(Value tensor, unsigned index,
                                    StringRef name, int64_t &result);
  /// A number as a 0-d constant that stands beside elements of a type.
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
  /// A dimension of a tensor of `rank`, counted from the front; 0 of a 0-d
  /// tensor, as PyTorch has it.
  LogicalResult dimension(unsigned index, StringRef name, int64_t rank,
                          int64_t &result);
  /// A dimension that `tensor` has, of which ops take parts.
  LogicalResult dimensionOf(Value tensor, unsigned index, StringRef name,
                            int64_t &result);
  /// Dimensions from the front in ascending order; all of them for `None` and
  /// for an empty list.
  LogicalResult dimensions(unsigned index, StringRef name, int64_t rank,
                           SmallVectorImpl<int64_t> &result);
  /// The constant behind an argument, or null.
  mlir::Attribute constantOf(unsigned index);

  /// `'torch.aten.name' ...`
  InFlightDiagnostic emitError();
  /// `argument 'dim' of 'torch.aten.name' ...`
  InFlightDiagnostic emitArgumentError(StringRef name);

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// The type a result will have; the driver has checked that there is one.
  RankedTensorType getResultType(unsigned index = 0);
  Type getResultElement() { return getResultType().getElementType(); }
  /// Gives the results their values; a null value where one is not computed,
  /// which is an error if something uses it.
  LogicalResult replace(ValueRange results);
  /// Gives a result that is a list its values.
  LogicalResult replaceWithList(ArrayRef<Value> list);

  //===--------------------------------------------------------------------===//
  // Building
  //===--------------------------------------------------------------------===//

  template <typename Op, typename... Args> Value create(Args &&...args) {
    return Op::create(builder, getLoc(), std::forward<Args>(args)...)
        .getResult();
  }
  template <typename Op> Value unary(Value x) {
    return create<Op>(typeOf(x), x);
  }
  template <typename Op> Value binary(Value x, Value y) {
    return create<Op>(broadcastType({x, y}, commonElement(x, y)), x, y);
  }
  /// A binary op of a tensor and a number.
  template <typename Op> Value binary(Value x, double y) {
    return binary<Op>(x, scalarConstant(y, elementOf(x)));
  }
  Value select(Value condition, Value x, Value y);
  /// (x and y), (x or y), (either x or y), (not x) of booleans.
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
  /// A 0-d constant beside elements of a type: PyTorch computes 16-bit tensors
  /// with scalars in f32.
  Value scalarConstant(double value, Type element);
  Value cast(Value tensor, Type element);
  Value reshape(Value tensor, ArrayRef<int64_t> shape);
  Value expand(Value tensor, ArrayRef<int64_t> shape);
  Value permute(Value tensor, ArrayRef<int64_t> dims);
  Value slice(Value tensor, int64_t dim, int64_t start, int64_t size,
              int64_t step = 1);
  /// Tensors one after the other; one alone is itself.
  Value concat(ArrayRef<Value> tensors, int64_t dim);
  /// The slices of `dim` that `indices` name.
  Value gather(Value tensor, Value indices, int64_t dim);
  Value reduce(ReduceKind kind, Value tensor, ArrayRef<int64_t> dims,
               bool keep);

private:
  /// A scalar may be wider than the tensor beside it, and never decides.
  static Type commonElement(Value x, Value y) {
    bool narrower = elementOf(y).getIntOrFloatBitWidth() <
                    elementOf(x).getIntOrFloatBitWidth();
    return elementOf(narrower && !rankOf(x) ? y : x);
  }
  RankedTensorType broadcastType(ValueRange operands, Type element);
  /// Whether `tensor` has the dimension; otherwise the op is an error, which
  /// `replace` returns.
  bool hasDimension(Value tensor, int64_t dim);

  /// An error was reported while the op's result was built.
  bool isMalformed = false;
  Operation *op;
  mlir::OpBuilder &builder;
  ValueTable &values;
  WeightTable &weights;
};

/// Converts one op, or says why not.
using Converter = LogicalResult (*)(TorchCall &);
/// The supported ops, by name without `torch.`.
using ConverterTable = llvm::StringMap<Converter>;

/// Supported ops whose names are almost that of an unsupported one, such as
/// another overload; most often there is none.
SmallVector<StringRef> findSimilarOps(StringRef name,
                                      const ConverterTable &table);

/// The product of tensors of rank 2 or more, whose leading dimensions broadcast.
Value multiplyMatrices(TorchCall &call, Value x, Value y,
                       bool transposeB = false);
/// `self` to the power `other`, of integers.
LogicalResult convertIntegerPower(TorchCall &call);

void populateActivationConverters(ConverterTable &table);
void populateConstantConverters(ConverterTable &table);
void populateContractionConverters(ConverterTable &table);
void populateEinsumConverters(ConverterTable &table);
void populateIndexingConverters(ConverterTable &table);
void populateIntegerConverters(ConverterTable &table);
void populatePointwiseConverters(ConverterTable &table);
void populateRowConverters(ConverterTable &table);
void populateViewConverters(ConverterTable &table);
} // namespace torchtofact
} // namespace fact

#endif // FACT_LIB_CONVERSION_TORCHTOFACT_TORCHCALL_H
