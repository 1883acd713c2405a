//===- ScalarsTest.cpp - What each pointwise op computes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both definitions of each op, over all 65,536 values of each 16-bit type (a
// grid of pairs for ops of two operands), against a definition of its own.
//
//   exact          f32 and f64: a few units in the last place of that type
//   fast           f32, for 16-bit results: a quarter of their last place
//   approximated   the same with each instruction of a GPU as wrong as it may
//                  be: half of the last place
//
// Where an op cannot promise this, its entry in the table says what is true.
//
//===----------------------------------------------------------------------===//

#include "ScalarEvaluator.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace fact;
using namespace fact::test;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using Real = long double;
using Definition = Real (*)(Real x, Real y);

/// Errors beyond those of the last place. They are absolute, as parts of the
/// largest intermediate: of 1, or of |x| where the result is x times a
/// difference of numbers near 1.
struct Slack {
  enum Of { one, argument } of = one;
  double exact = 0, fast = 0, approximated = 0;
  /// Of the result, where the machine's error exceeds half of the last place of
  /// f16 but not of bf16.
  double relative = 0;
  /// Operands for which the machine promises nothing.
  bool (*excluded)(Real x, Real y) = nullptr;
};

struct Case {
  const char *name;
  /// The op on %x and %y; `T` is the tensor type.
  const char *text;
  unsigned operands;
  Definition definition;
  Slack slack = {};
};
} // namespace

static Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
static Real softplus(Real x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
static Real largest(Real x, Real y) {
  return std::isnan(x) ? x : std::isnan(y) ? y : x > y ? x : y;
}
static Real smallest(Real x, Real y) {
  return std::isnan(x) ? x : std::isnan(y) ? y : x < y ? x : y;
}
/// As PyTorch: -inf times 0 is not a number.
static Real gelu(Real x) { return x * std::erfc(-x / std::sqrt(Real(2))) / 2; }
static Real geluTanh(Real x) {
  Real inner =
      std::sqrt(2 / std::acos(Real(-1))) * (x + Real(0.044715) * x * x * x);
  // 1 + tanh(z) = 2 sigmoid(2 z)
  return x * sigmoid(2 * inner);
}

static bool isDenormal(Real x, Real) {
  return x != 0 && std::fabs(x) < 0x1p-126;
}

// Rounding of the constant 1 in 1 + tanh, 1 + erf and 1 + exp.
static constexpr double cancellation = 0x1p-23;
// tanh.approx is right to 2^-11 of its result, and x (1 + tanh) / 2 to 2^-12 of
// x. For bf16 that is an eighth of half a last place where x > 0, and more than
// the result itself far to the left, where the result is small against x. For
// f16 it is half a last place at best.
static constexpr double halfOfTanh = 0x1.01p-12;

static const Case cases[] = {
    {"neg", "fact.neg %x : (T) -> T", 1, [](Real x, Real) { return -x; }},
    {"abs", "fact.abs %x : (T) -> T", 1,
     [](Real x, Real) { return std::fabs(x); }},
    {"exp", "fact.exp %x : (T) -> T", 1,
     [](Real x, Real) { return std::exp(x); }},
    // The machine takes denormals for 0, and near 1 is right to 2^-22.
    {"log",
     "fact.log %x : (T) -> T",
     1,
     [](Real x, Real) { return std::log(x); },
     {Slack::one, 0, 0, 0x1p-22, 0, isDenormal}},
    {"expm1", "fact.expm1 %x : (T) -> T", 1,
     [](Real x, Real) { return std::expm1(x); }},
    {"log1p", "fact.log1p %x : (T) -> T", 1,
     [](Real x, Real) { return std::log1p(x); }},
    {"sign", "fact.sign %x : (T) -> T", 1,
     [](Real x, Real) { return Real((x > 0) - (x < 0)); }},
    {"floor", "fact.floor %x : (T) -> T", 1,
     [](Real x, Real) { return std::floor(x); }},
    {"ceil", "fact.ceil %x : (T) -> T", 1,
     [](Real x, Real) { return std::ceil(x); }},
    {"round", "fact.round %x : (T) -> T", 1,
     [](Real x, Real) { return std::nearbyint(x); }},
    {"sqrt", "fact.sqrt %x : (T) -> T", 1,
     [](Real x, Real) { return std::sqrt(x); }},
    {"rsqrt",
     "fact.rsqrt %x : (T) -> T",
     1,
     [](Real x, Real) { return 1 / std::sqrt(x); },
     {Slack::one, 0, 0, 0, 0, isDenormal}},
    {"reciprocal",
     "fact.reciprocal %x : (T) -> T",
     1,
     [](Real x, Real) { return 1 / x; },
     {Slack::one, 0, 0, 0, 0, isDenormal}},
    {"sin", "fact.sin %x : (T) -> T", 1,
     [](Real x, Real) { return std::sin(x); }},
    {"cos", "fact.cos %x : (T) -> T", 1,
     [](Real x, Real) { return std::cos(x); }},
    {"erf", "fact.erf %x : (T) -> T", 1,
     [](Real x, Real) { return std::erf(x); }},
    {"tanh",
     "fact.tanh %x : (T) -> T",
     1,
     [](Real x, Real) { return std::tanh(x); },
     {Slack::one, 0, 0, 0, 0x1.01p-11}},
    {"sigmoid",
     "fact.sigmoid %x : (T) -> T",
     1,
     [](Real x, Real) { return sigmoid(x); },
     {Slack::one, 0, cancellation, halfOfTanh}},
    {"relu", "fact.relu %x : (T) -> T", 1,
     [](Real x, Real) { return largest(x, 0); }},
    {"silu",
     "fact.silu %x : (T) -> T",
     1,
     [](Real x, Real) { return x * sigmoid(x); },
     {Slack::argument, 0, cancellation, halfOfTanh}},
    {"mish",
     "fact.mish %x : (T) -> T",
     1,
     [](Real x, Real) { return x * std::tanh(softplus(x)); },
     {Slack::argument}},
    {"softplus", "fact.softplus %x : (T) -> T", 1,
     [](Real x, Real) { return softplus(x); }},
    // x (1 + erf(x)), as in PyTorch.
    {"gelu",
     "fact.gelu %x : (T) -> T",
     1,
     [](Real x, Real) { return gelu(x); },
     {Slack::argument, cancellation, cancellation, 5e-7}},
    {"gelu tanh",
     "fact.gelu %x approximate tanh : (T) -> T",
     1,
     [](Real x, Real) { return geluTanh(x); },
     {Slack::argument, cancellation, cancellation, halfOfTanh}},
    {"clamp", "fact.clamp %x min -0.5 max 0.75 : (T) -> T", 1,
     [](Real x, Real) { return smallest(largest(x, -0.5), 0.75); }},
    {"clamp from below", "fact.clamp %x min -0.5 : (T) -> T", 1,
     [](Real x, Real) { return largest(x, -0.5); }},
    {"clamp from above", "fact.clamp %x max 0.75 : (T) -> T", 1,
     [](Real x, Real) { return smallest(x, 0.75); }},
    {"clamp to nothing", "fact.clamp %x min 0.75 max -0.5 : (T) -> T", 1,
     [](Real x, Real) { return std::isnan(x) ? x : Real(-0.5); }},
    {"cast", "fact.cast %x : (T) -> tensor<4xf32>", 1,
     [](Real x, Real) { return x; }},
    {"cast to bf16", "fact.cast %x : (T) -> tensor<4xbf16>", 1,
     [](Real x, Real) { return roundTo(x, 8, -126); }},
    {"cast to boolean", "fact.cast %x : (T) -> tensor<4xi1>", 1,
     [](Real x, Real) { return Real(x != 0); }},

    {"add", "fact.add %x, %y : (T, T) -> T", 2,
     [](Real x, Real y) { return x + y; }},
    {"sub", "fact.sub %x, %y : (T, T) -> T", 2,
     [](Real x, Real y) { return x - y; }},
    {"mul", "fact.mul %x, %y : (T, T) -> T", 2,
     [](Real x, Real y) { return x * y; }},
    // The quotient of __fdividef is 0 or NaN for divisors above 2^126.
    {"div",
     "fact.div %x, %y : (T, T) -> T",
     2,
     [](Real x, Real y) { return x / y; },
     {Slack::one, 0, 0, 0, 0,
      [](Real, Real y) { return isDenormal(y, 0) || std::fabs(y) > 0x1p126; }}},
    {"maximum", "fact.maximum %x, %y : (T, T) -> T", 2, largest},
    {"minimum", "fact.minimum %x, %y : (T, T) -> T", 2, smallest},
    {"fmod", "fact.fmod %x, %y : (T, T) -> T", 2,
     [](Real x, Real y) { return std::fmod(x, y); }},
    {"pow", "fact.pow %x, %y : (T, T) -> T", 2,
     [](Real x, Real y) { return std::pow(x, y); }},
    {"eq", "fact.compare eq %x, %y : (T, T) -> tensor<4xi1>", 2,
     [](Real x, Real y) { return Real(x == y); }},
    {"ne", "fact.compare ne %x, %y : (T, T) -> tensor<4xi1>", 2,
     [](Real x, Real y) { return Real(x != y); }},
    {"lt", "fact.compare lt %x, %y : (T, T) -> tensor<4xi1>", 2,
     [](Real x, Real y) { return Real(x < y); }},
    {"le", "fact.compare le %x, %y : (T, T) -> tensor<4xi1>", 2,
     [](Real x, Real y) { return Real(x <= y); }},
    {"gt", "fact.compare gt %x, %y : (T, T) -> tensor<4xi1>", 2,
     [](Real x, Real y) { return Real(x > y); }},
    {"ge", "fact.compare ge %x, %y : (T, T) -> tensor<4xi1>", 2,
     [](Real x, Real y) { return Real(x >= y); }},
    {"select", "fact.select %c, %x, %y : (tensor<4xi1>, T, T) -> T", 2,
     [](Real x, Real y) { return std::signbit(x) ? x : y; }},
};

//===----------------------------------------------------------------------===//
// Definitions, inputs and bounds
//===----------------------------------------------------------------------===//

namespace {
/// A floating-point type by its significand and its smallest exponent.
struct Format {
  const char *name;
  int bits, lowest;
  const llvm::fltSemantics &(*semantics)();

  double lastPlace(double value) const {
    int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
    return std::ldexp(1.0, exponent - (bits - 1));
  }
};
const Format bf16{"bf16", 8, -126, llvm::APFloat::BFloat};
const Format f16{"f16", 11, -14, llvm::APFloat::IEEEhalf};
const Format f32{"f32", 24, -126, llvm::APFloat::IEEEsingle};
const Format f64{"f64", 53, -1022, llvm::APFloat::IEEEdouble};

enum class Form { exact, fast };

/// An op of the table and one of its definitions on values of `compute`.
class Scalar {
public:
  Scalar(MLIRContext &context, const Case &test, const std::string &element,
         Type compute, Form form)
      : builder(&context) {
    std::string text = test.text;
    for (size_t at = 0; (at = text.find('T', at)) != std::string::npos;)
      text.replace(at, 1, "tensor<4x" + element + ">");
    std::string operands;
    for (auto [name, type] :
         {std::pair("%x", element), {"%y", element}, {"%c", std::string("i1")}})
      operands += std::string(name) +
                  " = builtin.unrealized_conversion_cast to tensor<4x" + type +
                  ">\n";
    module = parseSourceString<ModuleOp>(operands + "%r = " + text,
                                         ParserConfig(&context));
    if (!module)
      return;
    op = cast<PointwiseOpInterface>(module->getBody()->back());
    for (Value operand : op->getOperands()) {
      Type type = cast<RankedTensorType>(operand.getType()).getElementType();
      block.addArgument(isa<FloatType>(type) ? compute : like(compute, type),
                        builder.getUnknownLoc());
    }
    builder.setInsertionPointToEnd(&block);
    Location loc = builder.getUnknownLoc();
    result = form == Form::exact
                 ? op.buildScalar(builder, loc, block.getArguments())
                 : op.buildFastScalar(builder, loc, block.getArguments());
  }

  Lanes run(const Lanes &x, const Lanes &y, Machine machine,
            unsigned *approximated = nullptr) {
    ScalarEvaluator evaluator(machine);
    auto arguments = block.getArguments();
    if (arguments.size() == 3) {
      Lanes condition;
      for (double value : x)
        condition.push_back(std::signbit(value));
      evaluator.set(arguments[0], condition);
      arguments = arguments.drop_front();
    }
    evaluator.set(arguments[0], x);
    if (arguments.size() == 2)
      evaluator.set(arguments[1], y);
    Lanes lanes = evaluator.run(result);
    if (approximated)
      *approximated = evaluator.getApproximated();
    return lanes;
  }

  static Type like(Type shape, Type element) {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }

  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  PointwiseOpInterface op;
  Block block;
  Value result;
};

/// All values of a type, or a grid of pairs, and what they become.
struct Inputs {
  Lanes x, y;
  std::vector<Real> exact;

  void define(Definition definition) {
    for (size_t i = 0; i < x.size(); ++i)
      exact.push_back(definition(x[i], y.empty() ? 0 : y[i]));
  }
};
} // namespace

static double decode(const Format &format, unsigned bits) {
  llvm::APFloat value(format.semantics(), llvm::APInt(16, bits));
  return value.convertToDouble();
}

static Inputs makeInputs(const Format &format, const Case &test) {
  Inputs inputs;
  Lanes all;
  for (unsigned bits = 0; bits < 65536; ++bits)
    all.push_back(decode(format, bits));
  if (test.operands == 1) {
    inputs.x = std::move(all);
    inputs.define(test.definition);
    return inputs;
  }
  // Every 277th pattern reaches all exponents with many significands.
  Lanes some = {0.0, -0.0, 1, -1, 2, -2, 3, 0.5, INFINITY, -INFINITY, NAN};
  for (unsigned bits = 0; bits < 65536; bits += 277)
    some.push_back(all[bits]);
  for (double x : some)
    for (double y : some) {
      inputs.x.push_back(x);
      inputs.y.push_back(y);
    }
  inputs.define(test.definition);
  return inputs;
}

namespace {
/// What an error is measured with.
struct Bound {
  /// So many parts of the last place of results in this format.
  const Format &format;
  double parts;
  /// The type of the arithmetic.
  const Format &compute;
  /// Of the machine's scale and of the result.
  double slack = 0, relative = 0;
  bool (*excluded)(Real x, Real y) = nullptr;
};

class ScalarsTest : public ::testing::Test {
protected:
  ScalarsTest() {
    context.loadDialect<FactDialect, arith::ArithDialect, math::MathDialect>();
  }

  /// Reports the worst of the values that are too far from the definition.
  void check(const Case &test, const Inputs &inputs, const Lanes &found,
             const Bound &bound, const std::string &what) {
    double worst = 0;
    size_t at = 0, wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      double x = inputs.x[i], y = inputs.y.empty() ? 0 : inputs.y[i];
      if (bound.excluded && bound.excluded(x, y))
        continue;
      double scale = test.slack.of == Slack::argument ? std::fabs(x) : 1;
      double excess = getExcess(bound, scale, inputs.exact[i], found[i]);
      wrong += excess > 1;
      if (excess > worst) {
        worst = excess;
        at = i;
      }
    }
    if (!wrong)
      return;
    std::string second =
        inputs.y.empty() ? "" : " and " + std::to_string(inputs.y[at]);
    ADD_FAILURE() << test.name << ", " << what << ": " << wrong << " of "
                  << found.size() << " values are too far off, the worst by "
                  << worst << " times: at " << inputs.x[at] << second
                  << " it is " << found[at] << " and should be "
                  << double(inputs.exact[at]);
  }

  /// The error as a multiple of what is allowed.
  static double getExcess(const Bound &bound, double scale, Real exact,
                          double found) {
    if (std::isnan(exact) || std::isnan(found))
      return std::isnan(exact) && std::isnan(found) ? 0 : INFINITY;
    // Too large for the type of the arithmetic.
    if (std::fabs(exact) >= std::ldexp(Real(1), 2 - bound.compute.lowest))
      exact = std::copysign(Real(INFINITY), exact);
    if (std::isinf(exact) || std::isinf(found))
      return exact == found ? 0 : INFINITY;
    double size = std::fabs(double(exact));
    double allowed = bound.parts * bound.format.lastPlace(size) +
                     bound.slack * scale + bound.relative * size +
                     // Denormals of the arithmetic may be lost.
                     std::ldexp(std::max(scale, 1.0), bound.compute.lowest);
    return std::fabs(double(exact - found)) / allowed;
  }

  MLIRContext context;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// A new op needs an entry above.
TEST_F(ScalarsTest, EveryPointwiseOpIsDefinedHere) {
  // On integers alone, and exact: test/Dialect/Fact/canonicalize.mlir.
  std::set<std::string> known{"fact.and", "fact.or", "fact.xor",
                              "fact.shift_left", "fact.shift_right"};
  for (const Case &test : cases)
    known.insert(
        StringRef(test.text).take_until([](char c) { return c == ' '; }).str());
  unsigned count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!name.hasInterface<PointwiseOpInterface>())
      continue;
    ++count;
    EXPECT_TRUE(known.count(name.getStringRef().str()))
        << name.getStringRef().str() << " has no definition in this test";
  }
  EXPECT_EQ(count, known.size());
}

TEST_F(ScalarsTest, ExactFormsAreExactInF32) {
  for (const Format &format : {bf16, f16})
    for (const Case &test : cases) {
      Scalar scalar(context, test, format.name, Float32Type::get(&context),
                    Form::exact);
      ASSERT_TRUE(scalar.result) << test.text;
      Inputs inputs = makeInputs(format, test);
      Bound bound{f32, 4, f32, test.slack.exact};
      check(test, inputs, scalar.run(inputs.x, inputs.y, {}), bound,
            std::string("exact form of ") + format.name);
    }
}

TEST_F(ScalarsTest, ExactFormsAreExactInF64) {
  for (const Case &test : cases) {
    Scalar scalar(context, test, "f64", Float64Type::get(&context),
                  Form::exact);
    ASSERT_TRUE(scalar.result) << test.text;
    Inputs inputs = makeInputs(f16, test);
    // A cast has the precision of its result.
    bool narrow = StringRef(test.text) == "fact.cast %x : (T) -> tensor<4xf32>";
    Bound bound{narrow ? f32 : f64, 4, f64, test.slack.exact * 0x1p-29};
    check(test, inputs, scalar.run(inputs.x, inputs.y, {}), bound,
          "exact form of f64");
  }
}

TEST_F(ScalarsTest, FastFormsAreFarBelowTheRounding) {
  for (const Format &format : {bf16, f16})
    for (const Case &test : cases) {
      Scalar scalar(context, test, format.name, Float32Type::get(&context),
                    Form::fast);
      ASSERT_TRUE(scalar.result) << test.text;
      Inputs inputs = makeInputs(format, test);
      Bound bound{format, 0.25, f32, test.slack.fast};
      check(test, inputs, scalar.run(inputs.x, inputs.y, {}), bound,
            std::string("fast form of ") + format.name);
    }
}

/// All combinations of the directions in which instructions err.
TEST_F(ScalarsTest, ApproximateInstructionsStayBelowTheRounding) {
  for (const Format &format : {bf16, f16})
    for (const Case &test : cases) {
      Scalar scalar(context, test, format.name, Float32Type::get(&context),
                    Form::fast);
      ASSERT_TRUE(scalar.result) << test.text;
      Inputs inputs = makeInputs(format, test);
      Bound bound{format,
                  0.5,
                  f32,
                  test.slack.approximated,
                  format.bits == f16.bits ? test.slack.relative : 0,
                  test.slack.excluded};
      unsigned count = 0;
      for (unsigned upwards = 0; upwards == 0 || upwards < 1u << count;
           ++upwards) {
        Lanes found = scalar.run(inputs.x, inputs.y, {true, upwards}, &count);
        if (!count)
          break;
        check(test, inputs, found, bound,
              std::string("approximated form of ") + format.name +
                  ", directions " + std::to_string(upwards));
      }
    }
}

/// Targets build definitions on vectors too.
TEST_F(ScalarsTest, DefinitionsTakeVectors) {
  for (const Case &test : cases)
    for (Form form : {Form::exact, Form::fast}) {
      Type vector = VectorType::get(8, Float32Type::get(&context));
      Scalar scalar(context, test, "bf16", vector, form);
      ASSERT_TRUE(scalar.result) << test.text;
      EXPECT_TRUE(isa<VectorType>(scalar.result.getType())) << test.text;
      for (Operation &op : scalar.block)
        EXPECT_TRUE(succeeded(verify(&op))) << test.text;
    }
}

/// Arithmetic on indices is exact.
TEST_F(ScalarsTest, IntegersAreIntegers) {
  Inputs inputs;
  for (int x = -9; x <= 9; ++x)
    for (int y = -9; y <= 9; ++y) {
      inputs.x.push_back(x);
      inputs.y.push_back(y);
    }
  std::set<std::string> taken = {
      "neg",     "abs",    "add",  "sub",  "mul",          "maximum",
      "minimum", "eq",     "ne",   "lt",   "le",           "gt",
      "ge",      "select", "relu", "cast", "cast to bf16", "cast to boolean"};
  for (const char *type : {"i32", "i64"})
    for (const Case &test : cases) {
      if (!taken.count(test.name))
        continue;
      inputs.exact.clear();
      inputs.define(test.definition);
      Scalar scalar(context, test, type, Float32Type::get(&context),
                    Form::exact);
      ASSERT_TRUE(scalar.result) << test.text;
      check(test, inputs, scalar.run(inputs.x, inputs.y, {}), {f64, 0, f32},
            std::string("form of ") + type);
    }
}
