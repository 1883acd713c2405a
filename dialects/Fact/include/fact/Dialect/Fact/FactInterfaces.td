//===- FactInterfaces.td - Interfaces of ops and spaces -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_FACTINTERFACES_TD
#define FACT_DIALECT_FACT_FACTINTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def PointwiseOpInterface : OpInterface<"PointwiseOpInterface"> {
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
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
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
