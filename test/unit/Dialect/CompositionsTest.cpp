//===- CompositionsTest.cpp - Fast forms inside of expressions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fast form has an absolute error, which a logarithm or a quotient of it
// turns into any error. Which forms a region uses is `toleratesAbsoluteError`'s
// decision; here the expression that comes of it is evaluated at all 65,536
// values of each 16-bit type, each instruction as wrong as it may be.
//
//===----------------------------------------------------------------------===//

#include "ScalarEvaluator.h"
#include "fact/Analysis/AbsoluteError.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace fact;
using namespace fact::test;

namespace {
using Real = long double;

struct Composition {
  const char *name;
  /// Ops on %x; `T` is the tensor type, %r the result.
  const char *text;
  Real (*definition)(Real x);
  /// How many ops are to be approximated in spite of all.
  unsigned approximated;
  /// Errors beyond half of the last place: of 1, or of |x|.
  double slack = 0;
  bool ofArgument = false;
};
} // namespace

static Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

// tanh.approx is right to 2^-11, half of it to 2^-12; lg2.approx near 1 to
// 2^-22, and its argument to 2^-24.
static constexpr double tanhError = 0x1.01p-12, logError = 0x1.8p-22;

static const Composition compositions[] = {
    {"log of sigmoid",
     "%0 = fact.sigmoid %x : (T) -> T\n%r = fact.log %0 : (T) -> T",
     [](Real x) { return std::log(sigmoid(x)); }, 1, logError},
    {"reciprocal of tanh",
     "%0 = fact.tanh %x : (T) -> T\n%r = fact.reciprocal %0 : (T) -> T",
     [](Real x) { return 1 / std::tanh(x); }, 1},
    {"quotient of sigmoids",
     "%0 = fact.sigmoid %x : (T) -> T\n%1 = fact.neg %x : (T) -> T\n"
     "%2 = fact.sigmoid %1 : (T) -> T\n%r = fact.div %0, %2 : (T, T) -> T",
     [](Real x) { return sigmoid(x) / sigmoid(-x); }, 1},
    {"reciprocal square root of exp",
     "%0 = fact.exp %x : (T) -> T\n%r = fact.rsqrt %0 : (T) -> T",
     [](Real x) { return 1 / std::sqrt(std::exp(x)); }, 1},
    {"log of exp", "%0 = fact.exp %x : (T) -> T\n%r = fact.log %0 : (T) -> T",
     [](Real x) { return std::log(std::exp(x)); }, 1, logError},
    {"log of softplus",
     "%0 = fact.softplus %x : (T) -> T\n%r = fact.log %0 : (T) -> T",
     [](Real x) {
       return std::log(x > 0 ? x + std::log1p(std::exp(-x))
                             : std::log1p(std::exp(x)));
     },
     1, logError},
    {"log of a multiple of sigmoid",
     "%0 = fact.sigmoid %x : (T) -> T\n"
     "%1 = fact.constant dense<2.0> : tensor<f32>\n"
     "%2 = fact.mul %0, %1 : (T, tensor<f32>) -> T\n"
     "%r = fact.log %2 : (T) -> T",
     [](Real x) { return std::log(2 * sigmoid(x)); }, 1, logError},
    {"comparison of sigmoid",
     "%0 = fact.sigmoid %x : (T) -> T\n"
     "%1 = fact.constant dense<0.0> : tensor<4xTYPE>\n"
     "%2 = fact.compare gt %0, %1 : (T, T) -> tensor<4xi1>\n"
     "%r = fact.select %2, %x, %1 : (tensor<4xi1>, T, T) -> T",
     [](Real x) { return x; }, 0},
    // These stay fast.
    {"gate",
     "%0 = fact.sigmoid %x : (T) -> T\n%r = fact.mul %0, %x : (T, T) -> T",
     [](Real x) { return x * sigmoid(x); }, 1, tanhError, true},
    {"sum",
     "%0 = fact.sigmoid %x : (T) -> T\n%r = fact.add %0, %x : (T, T) -> T",
     [](Real x) { return x + sigmoid(x); }, 1, tanhError},
    {"activation of an activation",
     "%0 = fact.tanh %x : (T) -> T\n%r = fact.silu %0 : (T) -> T",
     [](Real x) { return std::tanh(x) * sigmoid(std::tanh(x)); }, 2,
     5 * tanhError},
    {"half",
     "%0 = fact.sigmoid %x : (T) -> T\n"
     "%1 = fact.constant dense<2.0> : tensor<f32>\n"
     "%r = fact.div %0, %1 : (T, tensor<f32>) -> T",
     [](Real x) { return sigmoid(x) / 2; }, 2, tanhError},
};

static double decode(const llvm::fltSemantics &semantics, unsigned bits) {
  return llvm::APFloat(semantics, llvm::APInt(16, bits)).convertToDouble();
}

namespace {
/// A region of 16-bit floats, and the scalars that its kernel would compute.
class Expression {
public:
  Expression(MLIRContext &context, const Composition &test,
             const std::string &element)
      : builder(&context) {
    std::string type = "tensor<4x" + element + ">", text = test.text;
    auto replace = [&](StringRef word, const std::string &by) {
      for (size_t at = 0; (at = text.find(word.str(), at)) != std::string::npos;
           at += by.size())
        text.replace(at, word.size(), by);
    };
    replace("TYPE", element);
    replace("(T", "(" + type);
    replace(", T", ", " + type);
    replace("-> T", "-> " + type);
    module = parseSourceString<ModuleOp>(
        "%a = builtin.unrealized_conversion_cast to " + type +
            "\n%f = fact.fused \"pointwise\" ins(%a : " + type +
            ") {\n^bb0(%x: " + type + "):\n" + text +
            "\nfact.yield %r : " + type + "\n} : " + type,
        ParserConfig(&context));
    if (module)
      build(*module->getOps<FusedOp>().begin());
  }

  Lanes run(const Lanes &x, Machine machine, unsigned &approximated) {
    ScalarEvaluator evaluator(machine);
    evaluator.set(block.getArgument(0), x);
    Lanes lanes = evaluator.run(result);
    approximated = evaluator.getApproximated();
    return lanes;
  }

  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  Block block;
  Value result;

private:
  void build(FusedOp fused) {
    Location loc = builder.getUnknownLoc();
    Type f32 = builder.getF32Type();
    builder.setInsertionPointToEnd(&block);
    IRMapping scalars;
    scalars.map(fused.getBody().getArgument(0), block.addArgument(f32, loc));
    for (Operation &op : fused.getBodyOps()) {
      Value value = op.getResult(0);
      if (auto constant = dyn_cast<ConstantOp>(op)) {
        APFloat number = cast<DenseElementsAttr>(constant.getValue())
                             .getSplatValue<APFloat>();
        bool lossy;
        number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                       &lossy);
        scalars.map(value, arith::ConstantOp::create(
                               builder, loc, builder.getFloatAttr(f32, number))
                               .getResult());
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(scalars.lookup(operand));
      auto pointwise = cast<PointwiseOpInterface>(op);
      scalars.map(value, toleratesAbsoluteError(value)
                             ? pointwise.buildFastScalar(builder, loc, operands)
                             : pointwise.buildScalar(builder, loc, operands));
    }
    result = scalars.lookup(fused.getYield()->getOperand(0));
  }
};

struct Format {
  const char *name;
  int bits, lowest;
  const llvm::fltSemantics &(*semantics)();
};
} // namespace

static const Format formats[] = {{"bf16", 8, -126, llvm::APFloat::BFloat},
                                 {"f16", 11, -14, llvm::APFloat::IEEEhalf}};

TEST(Compositions, ApproximationsStayBelowTheRounding) {
  MLIRContext context;
  context.loadDialect<FactDialect, arith::ArithDialect, math::MathDialect>();
  for (const Format &format : formats)
    for (const Composition &test : compositions) {
      Expression expression(context, test, format.name);
      ASSERT_TRUE(expression.result) << test.name;
      Lanes inputs;
      for (unsigned bits = 0; bits < 65536; ++bits) {
        double x = decode(format.semantics(), bits);
        // Beyond, f32 itself has no intermediate value to go on with.
        if (std::fabs(x) <= 80 && (x == 0 || std::fabs(x) >= 0x1p-100))
          inputs.push_back(x);
      }
      unsigned count = 0;
      for (unsigned upwards = 0; upwards == 0 || upwards < 1u << count;
           ++upwards) {
        Lanes found = expression.run(inputs, {true, upwards}, count);
        EXPECT_EQ(count, test.approximated) << test.name;
        for (size_t i = 0; i < inputs.size(); ++i) {
          Real exact = test.definition(inputs[i]);
          if (std::isinf(exact) || std::fabs(exact) >= 0x1p127) {
            ASSERT_GE(std::fabs(found[i]), 0x1p126) << test.name;
            continue;
          }
          double size = std::fabs(double(exact));
          int exponent = size == 0 ? format.lowest
                                   : std::max(std::ilogb(size), format.lowest);
          double scale = test.ofArgument ? std::fabs(inputs[i]) : 1;
          double allowed = 0.5 * std::ldexp(1.0, exponent - format.bits + 1) +
                           test.slack * scale;
          ASSERT_LE(std::fabs(double(exact - found[i])), allowed)
              << test.name << " of " << format.name << " at " << inputs[i]
              << ": " << found[i] << " and not " << double(exact)
              << ", directions " << upwards;
        }
      }
    }
}
