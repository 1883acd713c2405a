//===- TypesTest.cpp - ElementTypes.def and types of MLIR -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Types.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fact;
using runtime::ElementType;

namespace {
const ElementType allTypes[] = {
#define FACT_ELEMENT_TYPE(Type, ...) ElementType::Type,
#include "fact/Runtime/ElementTypes.def"
};

TEST(Types, RowsAreTypesOfMlir) {
  MLIRContext context;
  for (ElementType element : allTypes) {
    StringRef name = runtime::nameOf(element);
    SCOPED_TRACE(name.str());
    Type type = toType(&context, element);
    EXPECT_EQ(type, parseType(name, &context));
    EXPECT_EQ(findElementType(type), element);
    EXPECT_EQ(getElementName(type), name);
    EXPECT_EQ(getStorageBytes(type), runtime::bytesOf(element));
    EXPECT_EQ(getStorageBytes(RankedTensorType::get({3, 5}, type)),
              15 * runtime::bytesOf(element));
    EXPECT_EQ(isa<FloatType>(type), runtime::isFloat(element));
    EXPECT_EQ(isNarrowFloat(type), runtime::isNarrowFloat(element));
    EXPECT_EQ(getComputeType(type),
              toType(&context, runtime::computeTypeOf(element)));
    if (auto real = dyn_cast<FloatType>(type))
      EXPECT_EQ(real.getFPMantissaWidth(), runtime::digitsOf(element));
  }
}

TEST(Types, OthersAreInNoRow) {
  MLIRContext context;
  for (StringRef name : {"i16", "si32", "ui8", "index", "tf32"})
    EXPECT_FALSE(findElementType(parseType(name, &context))) << name.str();
}

TEST(Types, TheDialectTakesThoseOfTheTable) {
  MLIRContext context;
  context.loadDialect<FactDialect>();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  auto isTaken = [&](StringRef name) {
    std::string text = ("fact.weight @w : tensor<2x" + name +
                        ">\n%0 = fact.get_weight @w : "
                        "tensor<2x" +
                        name + ">")
                           .str();
    return bool(parseSourceString<ModuleOp>(text, &context));
  };
  for (ElementType element : allTypes)
    EXPECT_TRUE(isTaken(runtime::nameOf(element))) << runtime::nameOf(element);
  EXPECT_FALSE(isTaken("i16"));
  EXPECT_FALSE(isTaken("f8E4M3FN"));
}
} // namespace
