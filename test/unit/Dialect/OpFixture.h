//===- OpFixture.h - Ops to ask through their interfaces --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_DIALECT_OPFIXTURE_H
#define FACT_TEST_UNIT_DIALECT_OPFIXTURE_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"
#include <numeric>

namespace fact::test {
/// Ops of a module, and sets of elements of their results.
class OpFixture : public testing::Test {
protected:
  OpFixture() : builder(&context), loc(builder.getUnknownLoc()) {
    context.loadDialect<FactDialect>();
    module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
  }

  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, builder.getF32Type());
  }
  mlir::Value argument(llvm::ArrayRef<int64_t> shape) {
    return mlir::UnrealizedConversionCastOp::create(builder, loc, type(shape),
                                                    mlir::ValueRange())
        .getResult(0);
  }

  static ElementSets whole(llvm::ArrayRef<int64_t> shape) {
    ElementSets sets;
    sets.add(ElementSet::whole(shape));
    return sets;
  }
  /// The elements in a range of each dimension: (first, count).
  static ElementSets box(llvm::ArrayRef<std::pair<int64_t, int64_t>> ranges,
                         llvm::ArrayRef<int64_t> shape) {
    Box box;
    for (auto [first, count] : ranges)
      box.push_back(Coordinates::range(first, count));
    ElementSets sets;
    sets.add(flatten(box, shape));
    return sets;
  }

  /// How many elements of each operand are needed.
  static std::vector<double> counts(TensorOpInterface op,
                                    const ElementSets &result) {
    std::vector<double> counts;
    for (const ElementSets &sets : op.getDemand(result))
      counts.push_back(sets.count());
    return counts;
  }
  /// The positions of a set, ascending.
  static std::vector<int64_t> positions(const ElementSets &sets) {
    std::vector<int64_t> all;
    for (const ElementSet &set : sets.getSets()) {
      std::vector<int64_t> own{set.offset};
      for (const fact::Run &run : set.runs) {
        std::vector<int64_t> next;
        for (int64_t position : own)
          for (int64_t i = 0; i < run.count; ++i)
            next.push_back(position + i * run.stride);
        own = std::move(next);
      }
      all.insert(all.end(), own.begin(), own.end());
    }
    llvm::sort(all);
    return all;
  }
  static std::vector<int64_t> range(int64_t first, int64_t count) {
    std::vector<int64_t> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace fact::test

#endif // FACT_TEST_UNIT_DIALECT_OPFIXTURE_H
