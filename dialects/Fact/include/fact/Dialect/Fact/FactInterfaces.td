//===- FactInterfaces.td - Interfaces of ops and spaces -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTINTERFACES_TD
#define FACT_DIALECT_FACT_FACTINTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def TensorOpInterface : OpInterface<"TensorOpInterface"> {
  let cppNamespace = "::fact";
  let description = [{
    An op that computes one tensor from others, and says how much work that is.
    Pointwise ops, views and row ops answer for their kind.
  }];
  let methods = [
    InterfaceMethod<[{
        The elements of each operand that the elements `result` depend on: no
        fewer than these.
      }],
      "::llvm::SmallVector<::fact::ElementSets>", "getDemand",
      (ins "const ::fact::ElementSets &":$result)>,
    InterfaceMethod<[{
        Floating-point operations that the elements `result` take, for the
        speed of light: those of a contraction's products and sums, and one per
        element of other ops.
      }],
      "double", "getFlops", (ins "const ::fact::ElementSets &":$result)>,
    InterfaceMethod<[{
        Builds the result where it has elements and an operand has none: a sum
        of nothing is 0. Null for an op that has no such result.
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
    operand. Its meaning is one scalar definition in `arith` and `math`, which
    every target prints or lowers. Arguments are f32 (f64 for f64 tensors, the
    integer type for integers and booleans), or vectors of those.
  }];
  let methods = [
    InterfaceMethod<"Builds the exact scalar definition.",
      "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$arguments)>,
    InterfaceMethod<[{
        Builds a definition whose error is far below the rounding of a 16-bit
        result, and that is cheap on a GPU. `fastmath<afn>` on a `math` op and
        `fastmath<arcp>` on a division allow the machine's approximation.
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
    An op with one operand that renames elements without computing. It says how
    twice: kernels read through `applyView`, references and analyses through
    `getSourceIndex`, and a test compares the two.
  }];
  let methods = [
    InterfaceMethod<[{
        The result's elements, where `operand` has the operand's. Fails where
        strides cannot say it.
      }],
      "::mlir::FailureOr<::fact::StridedView>", "applyView",
      (ins "const ::fact::StridedView &":$operand)>,
    InterfaceMethod<"The operand's element that the result has at `index`.",
      "::llvm::SmallVector<::mlir::AffineExpr>", "getSourceIndex",
      (ins "::llvm::ArrayRef<::mlir::AffineExpr>":$index)>,
    InterfaceMethod<[{
        `getSourceIndex` as functions of the result's dimensions, one for each
        dimension of the operand.
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
    An op that sums products of its operands' elements, on matrix units where a
    machine has them. An operand that a region computes is rounded to its
    storage type before it is multiplied.
  }];
  let methods = [
    InterfaceMethod<"The op's sizes by name, in problems of the registry.",
      "::fact::ProblemExtents", "getProblemExtents", (ins)>,
    InterfaceMethod<"Terms of the op's longest sums.",
      "int64_t", "getSumLength", (ins)>,
    InterfaceMethod<"What operand number `operand` is to the op.",
      "::fact::OperandRole", "getOperandRole", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
        How large the result is for operands whose root mean squares are
        `operands`.
      }],
      "::fact::ScaleEffect", "getScaleEffect",
      (ins "::llvm::ArrayRef<double>":$operands)>,
    InterfaceMethod<[{
        The root mean square of random elements of operand number `operand` that
        keeps results near 1, where activation functions are not flat.
      }],
      "double", "getOperandScale", (ins "unsigned":$operand), "", [{
        return $_op.getOperandRole(operand) == ::fact::OperandRole::Weight
                   ? 1 / std::sqrt(double($_op.getSumLength()))
                   : 1.0;
      }]>,
    InterfaceMethod<[{
        Whether the op averages values by their keys' scores. Probabilities are
        rounded as computed operands are, each row averages a number of values
        of its own, and some kernels multiply hidden values by 0.
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
    An op that computes with whole rows of its first operand: the elements whose
    coordinates differ only in some dimensions. The result has one row for each,
    or one element. Further operands have the shape of a row.
  }];
  let methods = [
    InterfaceMethod<"The dimensions of a row, ascending.",
      "::llvm::SmallVector<int64_t>", "getRowDims", (ins)>,
    InterfaceMethod<"What the op does with a row.",
      "::fact::RowArithmetic", "getArithmetic", (ins)>,
    InterfaceMethod<[{
        How large the result is for operands whose root mean squares are
        `operands`.
      }],
      "::fact::ScaleEffect", "getScaleEffect",
      (ins "::llvm::ArrayRef<double>":$operands)>,
    InterfaceMethod<"Elements of a row, which are the terms of the op's sums.",
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
  let description = "A set of schedules to search.";
  let methods = [
    InterfaceMethod<"All points of the space, legal or not, in a fixed order.",
      "std::vector<::fact::ScheduleAttr>", "enumerate", (ins)>
  ];
}

#endif // FACT_DIALECT_FACT_FACTINTERFACES_TD
