//===- FactInterfaces.td - Interfaces of ops and spaces ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTINTERFACES_TD
#define FACT_DIALECT_FACT_FACTINTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def TensorOpInterface : OpInterface<"TensorOpInterface"> {
  let cppNamespace = "::fact";
  let description = [{
    An op that computes one tensor from others, and how much work that is. The
    interfaces of pointwise ops, views and row ops implement it for their ops.
  }];
  let methods = [
    InterfaceMethod<[{
        The elements of each operand that the elements `result` depend on: a
        lower bound.
      }],
      "::llvm::SmallVector<::fact::ElementSets>", "getDemand",
      (ins "const ::fact::ElementSets &":$result)>,
    InterfaceMethod<[{
        Floating-point operations to compute the elements `result`, for the
        speed of light: the products and sums of a contraction, or one operation
        per element for other ops.
      }],
      "double", "getFlops", (ins "const ::fact::ElementSets &":$result)>,
    InterfaceMethod<[{
        Builds the result of an op with an empty operand and a nonempty result:
        a sum over no elements is 0. Null if the op has no such result.
      }],
      "::mlir::Value", "buildFromEmpty", (ins "::mlir::OpBuilder &":$builder),
      "", [{ return ::mlir::Value(); }]>,
    InterfaceMethod<[{
        The op's name in problems of the registry: its mnemonic, and what else
        about it decides how fast it is, behind dots: "reduce.sum.columns".
      }],
      "std::string", "getProblemName", (ins), "",
      [{ return $_op->getName().stripDialect().str(); }]>
  ];
}

def PointwiseOpInterface
    : OpInterface<"PointwiseOpInterface", [TensorOpInterface]> {
  let cppNamespace = "::fact";
  let description = [{
    An op that computes each element of its result from one element of each
    operand. It is defined by one scalar expression in `arith` and `math`, which
    every target prints or lowers. The arguments of the expression are f32 (f64
    for f64 tensors, the integer type for integers and booleans), or vectors of
    these.
  }];
  let methods = [
    InterfaceMethod<"Builds the exact scalar definition.",
      "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$arguments)>,
    InterfaceMethod<[{
        Builds a definition that is cheap on a GPU and whose error is far below
        the rounding error of a 16-bit result. `fastmath<afn>` on a `math` op
        and `fastmath<arcp>` on a division allow the hardware's approximation.
      }],
      "::mlir::Value", "buildFastScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$arguments), "",
      [{ return $_op.buildScalar(builder, loc, arguments); }]>
  ];
  let extraTraitClassDeclaration = [{
    ::llvm::SmallVector<::fact::ElementSets>
    getDemand(const ::fact::ElementSets &result) {
      return ::fact::detail::getBroadcastDemand($_op, result);
    }
    double getFlops(const ::fact::ElementSets &result) {
      return result.count();
    }
  }];
}

def ViewOpInterface : OpInterface<"ViewOpInterface", [TensorOpInterface]> {
  let cppNamespace = "::fact";
  let description = [{
    An op with one operand whose result has elements of the operand, at other
    indices. The mapping is defined twice: kernels use `applyView`, references
    and analyses use `getSourceIndex`, and a test compares the two.
  }];
  let methods = [
    InterfaceMethod<[{
        The result as a strided view, given the operand as one. Fails if strides
        cannot express it.
      }],
      "::mlir::FailureOr<::fact::StridedView>", "applyView",
      (ins "const ::fact::StridedView &":$operand)>,
    InterfaceMethod<"The index in the operand of the result's element at `index`.",
      "::llvm::SmallVector<::mlir::AffineExpr>", "getSourceIndex",
      (ins "::llvm::ArrayRef<::mlir::AffineExpr>":$index)>,
    InterfaceMethod<[{
        `getSourceIndex` as functions of the result's dimensions, one function
        per dimension of the operand.
      }],
      "::llvm::SmallVector<::mlir::AffineExpr>", "getSourceExprs", (ins), "", [{
        ::llvm::SmallVector<::mlir::AffineExpr> index;
        for (int64_t i = 0; i < $_op.getType().getRank(); ++i)
          index.push_back(::mlir::getAffineDimExpr(i, $_op.getContext()));
        return $_op.getSourceIndex(index);
      }]>
  ];
  let extraTraitClassDeclaration = [{
    ::llvm::SmallVector<::fact::ElementSets>
    getDemand(const ::fact::ElementSets &result) {
      return ::fact::detail::getViewDemand($_op, result);
    }
    double getFlops(const ::fact::ElementSets &) { return 0; }
  }];
}

def ContractionOpInterface
    : OpInterface<"ContractionOpInterface", [TensorOpInterface]> {
  let cppNamespace = "::fact";
  let description = [{
    An op that sums products of its operands' elements, on the matrix units of a
    machine that has them. An operand that is computed in the same region is
    rounded to its storage type before it is multiplied.
  }];
  let methods = [
    InterfaceMethod<"The op's sizes by name, in problems of the registry.",
      "::fact::ProblemExtents", "getProblemExtents", (ins)>,
    InterfaceMethod<"The number of terms of the op's longest sums.",
      "int64_t", "getSumLength", (ins)>,
    InterfaceMethod<"The role of operand number `operand`.",
      "::fact::OperandRole", "getOperandRole", (ins "unsigned":$operand)>,
    InterfaceMethod<"Whether operands of f32 may be rounded to TF32.",
      "bool", "allowsTf32", (ins), "return $_op.getTf32();">,
    InterfaceMethod<[{
        The magnitude of the result for operands whose root mean squares are
        `operands`.
      }],
      "::fact::ScaleEffect", "getScaleEffect",
      (ins "::llvm::ArrayRef<double>":$operands)>,
    InterfaceMethod<[{
        The root mean square that random elements of operand number `operand`
        should have, so that results are near 1, where activation functions are
        not flat.
      }],
      "double", "getOperandScale", (ins "unsigned":$operand), "", [{
        return $_op.getOperandRole(operand) == ::fact::OperandRole::Weight
                   ? 1 / std::sqrt(double($_op.getSumLength()))
                   : 1.0;
      }]>,
    InterfaceMethod<[{
        Whether the op is an attention: a weighted average of values, whose
        weights are probabilities. For the tolerances of verification: the
        probabilities are rounded like computed operands, the number of values
        differs from row to row, and some kernels multiply masked values by 0.
      }],
      "bool", "averages", (ins), "", [{
        for (unsigned i = 0, e = $_op->getNumOperands(); i < e; ++i)
          if ($_op.getOperandRole(i) == ::fact::OperandRole::Key)
            return true;
        return false;
      }]>
  ];
}

def RowOpInterface : OpInterface<"RowOpInterface", [TensorOpInterface]> {
  let cppNamespace = "::fact";
  let description = [{
    An op that computes with whole rows of its first operand. A row is the set
    of elements whose coordinates differ only in the row dimensions. Each row
    yields one row of the result, or one element. Further operands have the
    shape of a row.
  }];
  let methods = [
    InterfaceMethod<"The row dimensions, ascending.",
      "::llvm::SmallVector<int64_t>", "getRowDims", (ins)>,
    InterfaceMethod<"The arithmetic on a row.",
      "::fact::RowArithmetic", "getArithmetic", (ins)>,
    InterfaceMethod<[{
        The magnitude of the result for operands whose root mean squares are
        `operands`.
      }],
      "::fact::ScaleEffect", "getScaleEffect",
      (ins "::llvm::ArrayRef<double>":$operands)>,
    InterfaceMethod<"The number of elements per row.",
      "int64_t", "getRowLength", (ins), "", [{
        auto type = ::mlir::cast<::mlir::RankedTensorType>(
            $_op->getOperand(0).getType());
        int64_t length = 1;
        for (int64_t dim : $_op.getRowDims())
          length *= type.getDimSize(dim);
        return length;
      }]>
  ];
  let extraTraitClassDeclaration = [{
    ::llvm::SmallVector<::fact::ElementSets>
    getDemand(const ::fact::ElementSets &result) {
      return ::fact::detail::getRowDemand($_op, result);
    }
    double getFlops(const ::fact::ElementSets &result) {
      return $_op.getDemand(result).front().count();
    }
  }];
}

def SpaceAttrInterface : AttrInterface<"SpaceAttrInterface"> {
  let cppNamespace = "::fact";
  let description = "A set of schedules to search, its points.";
  let methods = [
    InterfaceMethod<"All points of the space, legal or not, in a fixed order.",
      "std::vector<::fact::ScheduleAttr>", "enumerate", (ins)>
  ];
}

#endif // FACT_DIALECT_FACT_FACTINTERFACES_TD
