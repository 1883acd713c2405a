//===- RegionFixture.h - Regions to read, written as text -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_ANALYSIS_REGIONFIXTURE_H
#define FACT_TEST_UNIT_ANALYSIS_REGIONFIXTURE_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace fact::test {
class RegionFixture : public testing::Test {
protected:
  RegionFixture()
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          message = diagnostic.str();
        }) {
    context.loadDialect<FactDialect, mlir::func::FuncDialect>();
  }

  /// A region with arguments %0, %1, ... of these types. `body` ends with
  /// `fact.yield`.
  FusedOp parse(llvm::ArrayRef<std::string> types, const std::string &body) {
    std::string outer, inner, operands, list;
    for (size_t i = 0; i < types.size(); ++i) {
      std::string number = std::to_string(i), comma = i ? ", " : "";
      outer += comma + "%a" + number + ": " + types[i];
      inner += comma + "%" + number + ": " + types[i];
      operands += comma + "%a" + number;
      list += comma + types[i];
    }
    std::string results = llvm::StringRef(body)
                              .rsplit("fact.yield")
                              .second.split(" : ")
                              .second.str();
    std::string count = std::to_string(llvm::StringRef(results).count('<'));
    std::string text = "func.func @main(" + outer + ") {\n  %r:" + count +
                       " = fact.fused \"any\" ins(" + operands + " : " + list +
                       ") {\n  ^bb0(" + inner + "):\n" + body +
                       "\n  } : " + results + "\n  return\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    FusedOp fused;
    if (module)
      module->walk([&](FusedOp op) { fused = op; });
    EXPECT_TRUE(fused) << message << "\n" << text;
    return fused;
  }

  static mlir::Value yielded(FusedOp fused, unsigned index = 0) {
    return fused.getYield()->getOperand(index);
  }
  template <typename OpT> static OpT get(FusedOp fused) {
    return *fused.getBody().getOps<OpT>().begin();
  }

  /// What a reader gets to report with; `message` is the last report.
  EmitError report(FusedOp fused) {
    location = fused.getLoc();
    return emit;
  }

  static std::string strides(const StridedView &view) {
    std::string text = "+" + std::to_string(view.offset);
    for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides))
      text += " " + std::to_string(size) + ":" + std::to_string(stride);
    return text;
  }

  mlir::MLIRContext context;
  std::string message;

private:
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Location location = mlir::UnknownLoc::get(&context);
  std::function<mlir::InFlightDiagnostic()> emit = [this] {
    return mlir::emitError(location);
  };
};
} // namespace fact::test

#endif // FACT_TEST_UNIT_ANALYSIS_REGIONFIXTURE_H
