//===- ReferenceTest.cpp - Ops that the reference does not know -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Target/Reference.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;

namespace {
/// An op of another dialect that is new to the compiler.
using NewOp = UnrealizedConversionCastOp;

struct NewTensorOp : TensorOpInterface::ExternalModel<NewTensorOp, NewOp> {
  SmallVector<ElementSets> getDemand(Operation *op,
                                     const ElementSets &result) const {
    return {result};
  }
  double getFlops(Operation *op, const ElementSets &result) const {
    return result.count();
  }
};

struct NewRowOp : RowOpInterface::ExternalModel<NewRowOp, NewOp> {
  SmallVector<int64_t> getRowDims(Operation *op) const { return {1}; }
  int64_t getRowLength(Operation *op) const { return 8; }
  RowArithmetic getArithmetic(Operation *op) const { return {}; }
  ScaleEffect getScaleEffect(Operation *op, ArrayRef<double>) const {
    return {};
  }
};

struct NewContraction
    : ContractionOpInterface::ExternalModel<NewContraction, NewOp> {
  ProblemExtents getProblemExtents(Operation *op) const { return {}; }
  int64_t getSumLength(Operation *op) const { return 8; }
  OperandRole getOperandRole(Operation *op, unsigned) const {
    return OperandRole::Data;
  }
  bool allowsTf32(Operation *op) const { return false; }
  double getOperandScale(Operation *op, unsigned) const { return 1; }
  bool averages(Operation *op) const { return false; }
  ScaleEffect getScaleEffect(Operation *op, ArrayRef<double>) const {
    return {};
  }
};

constexpr StringLiteral refusal =
    "'builtin.unrealized_conversion_cast' op has no reference";

/// The error of a reference for a region with the op.
std::string getError(MLIRContext &context) {
  context.loadDialect<FactDialect>();
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(R"(
    fact.weight @x : tensor<4x8xf32>
    %x = fact.get_weight @x : tensor<4x8xf32>
    %0 = fact.fused "generic" ins(%x : tensor<4x8xf32>) {
    ^bb0(%a: tensor<4x8xf32>):
      %1 = builtin.unrealized_conversion_cast %a : tensor<4x8xf32> to tensor<4x8xf32>
      fact.yield %1 : tensor<4x8xf32>
    } : tensor<4x8xf32>)",
                                            &context);
  if (!module)
    return "does not parse: " + error;
  FusedOp fused = *module->getOps<FusedOp>().begin();
  KernelCode code;
  EXPECT_TRUE(failed(emitReference(fused, "reference", code)));
  return error;
}
} // namespace

TEST(Reference, RefusesOpsWithoutInterfaces) {
  MLIRContext context;
  EXPECT_EQ(getError(context), refusal);
}

TEST(Reference, RefusesRowOpsItDoesNotKnow) {
  MLIRContext context;
  NewOp::attachInterface<NewTensorOp, NewRowOp>(context);
  EXPECT_EQ(getError(context), refusal);
}

TEST(Reference, RefusesContractionsItDoesNotKnow) {
  MLIRContext context;
  NewOp::attachInterface<NewTensorOp, NewContraction>(context);
  EXPECT_EQ(getError(context), refusal);
}
