//===- DemandTest.cpp - Speed of light against counting elements ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis counts is never above what a kernel has to read, compute
// and write, and as a rule equal to it. ElementOracle says what that is.
//
//===----------------------------------------------------------------------===//

#include "ElementOracle.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace fact;
using namespace fact::test;

namespace {
class Demand : public testing::Test {
protected:
  Demand() { context.loadDialect<FactDialect, func::FuncDialect>(); }
  MLIRContext context;

  /// Both counts of the one `fact.fused` of a function with this body.
  void expectExact(const std::string &arguments, const std::string &types,
                   const std::string &body, const std::string &results) {
    std::string inputs;
    for (char c : arguments)
      inputs += c == '%' ? std::string("%_") : std::string(1, c);
    std::string text = "func.func @main(" + with(inputs, types) + ") -> (" +
                       results + ") {\n  %r:" + std::to_string(count(results)) +
                       " = fact.fused \"any\" ins(" + inputs + " : " + types +
                       ") {\n  ^bb0(" + with(arguments, types) + "):\n" + body +
                       "\n  } : " + results + "\n  return " + all(results) +
                       " : " + results + "\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    module->walk([&](FusedOp fused) {
      SpeedOfLight light = getSpeedOfLight(fused);
      ElementOracle oracle(fused);
      EXPECT_EQ(light.bytes, oracle.bytes) << text;
      EXPECT_EQ(light.scalarFlops, oracle.scalarFlops) << text;
      EXPECT_EQ(light.getFlops() - light.scalarFlops, oracle.matrixFlops)
          << text;
    });
  }

private:
  static std::vector<std::string> split(const std::string &list) {
    SmallVector<StringRef> parts;
    StringRef(list).split(parts, ", ");
    return {parts.begin(), parts.end()};
  }
  static size_t count(const std::string &list) { return split(list).size(); }
  static std::string with(const std::string &names, const std::string &types) {
    std::string text;
    for (auto [name, type] : llvm::zip_equal(split(names), split(types)))
      text += (text.empty() ? "" : ", ") + name + ": " + type;
    return text;
  }
  static std::string all(const std::string &results) {
    std::string text;
    for (size_t i = 0; i < count(results); ++i)
      text += (i ? ", %r#" : "%r#") + std::to_string(i);
    return text;
  }
};
} // namespace

static std::string attention(int64_t queries, int64_t keys,
                             const std::string &words) {
  std::string q = std::to_string(queries), k = std::to_string(keys);
  return "%o = fact.attention %q, %k, %v " + words +
         " scale 1.0 : (tensor<2x4x" + q + "x8xf32>, tensor<2x2x" + k +
         "x8xf32>, tensor<2x2x" + k + "x6xf32>) -> tensor<2x4x" + q +
         "x6xf32>\n";
}

TEST_F(Demand, CausalAttention) {
  for (auto [queries, keys] : {std::pair(4, 60), std::pair(60, 4),
                               std::pair(16, 16), std::pair(1, 9)}) {
    std::string q = std::to_string(queries), k = std::to_string(keys);
    std::string types = "tensor<2x4x" + q + "x8xf32>, tensor<2x2x" + k +
                        "x8xf32>, tensor<2x2x" + k + "x6xf32>";
    std::string result = "tensor<2x4x" + q + "x6xf32>";
    for (const char *words : {"causal", ""})
      expectExact("%q, %k, %v", types,
                  attention(queries, keys, words) + "fact.yield %o : " + result,
                  result);
  }
}

TEST_F(Demand, QueriesThatAreNotWanted) {
  std::string types =
      "tensor<2x4x16x8xf32>, tensor<2x2x12x8xf32>, tensor<2x2x12x6xf32>";
  for (const char *words : {"causal", ""})
    for (const char *slice :
         {"dim 2 start 3 : (tensor<2x4x16x6xf32>) -> tensor<2x4x2x6xf32>",
          "dim 2 start 1 step 4 : (tensor<2x4x16x6xf32>) -> "
          "tensor<2x4x4x6xf32>",
          "dim 1 start 1 : (tensor<2x4x16x6xf32>) -> tensor<2x1x16x6xf32>",
          "dim 3 start 2 : (tensor<2x4x16x6xf32>) -> tensor<2x4x16x2xf32>"}) {
      std::string result = StringRef(slice).rsplit("-> ").second.str();
      expectExact("%q, %k, %v", types,
                  attention(16, 12, words) + "%s = fact.slice %o " + slice +
                      "\nfact.yield %s : " + result,
                  result);
    }
}

TEST_F(Demand, MasksOfAttention) {
  for (const char *mask : {"2x4x16x12", "2x1x16x12", "1x4x16x12", "16x12",
                           "1x1x1x12", "2x1x1x12", "12", "16x1"})
    for (const char *words : {"causal", ""}) {
      std::string type = std::string("tensor<") + mask + "xf32>";
      std::string body = attention(16, 12, "mask %m " + std::string(words));
      body.insert(body.find(") ->"), ", " + type);
      expectExact("%q, %k, %v, %m",
                  "tensor<2x4x16x8xf32>, tensor<2x2x12x8xf32>, "
                  "tensor<2x2x12x6xf32>, " +
                      type,
                  body + "fact.yield %o : tensor<2x4x16x6xf32>",
                  "tensor<2x4x16x6xf32>");
    }
}

TEST_F(Demand, SlicesAfterPointwiseOps) {
  expectExact("%x, %y", "tensor<4x8x6xf32>, tensor<8x1xf32>", R"(
    %0 = fact.add %x, %y : (tensor<4x8x6xf32>, tensor<8x1xf32>) -> tensor<4x8x6xf32>
    %1 = fact.relu %0 : (tensor<4x8x6xf32>) -> tensor<4x8x6xf32>
    %2 = fact.slice %1 dim 1 start 7 : (tensor<4x8x6xf32>) -> tensor<4x1x6xf32>
    fact.yield %2 : tensor<4x1x6xf32>)",
              "tensor<4x1x6xf32>");
}

TEST_F(Demand, OneArgumentReadTwice) {
  // Halves that are apart, the same half twice, and parts that overlap.
  for (int start : {8, 0, 4})
    expectExact("%x", "tensor<4x16xf32>",
                R"(
      %0 = fact.slice %x dim 1 start 0 : (tensor<4x16xf32>) -> tensor<4x8xf32>
      %1 = fact.slice %x dim 1 start )" +
                    std::to_string(start) +
                    R"( : (tensor<4x16xf32>) -> tensor<4x8xf32>
      %2 = fact.mul %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      fact.yield %2 : tensor<4x8xf32>)",
                "tensor<4x8xf32>");
}

TEST_F(Demand, SeveralResults) {
  expectExact("%x, %w", "tensor<6x16xf32>, tensor<8x16xf32>", R"(
    %0 = fact.matmul %x, %w transpose_b : (tensor<6x16xf32>, tensor<8x16xf32>) -> tensor<6x8xf32>
    %1 = fact.slice %0 dim 1 start 2 : (tensor<6x8xf32>) -> tensor<6x3xf32>
    %2 = fact.slice %0 dim 1 start 6 : (tensor<6x8xf32>) -> tensor<6x2xf32>
    %3 = fact.exp %2 : (tensor<6x2xf32>) -> tensor<6x2xf32>
    fact.yield %1, %3 : tensor<6x3xf32>, tensor<6x2xf32>)",
              "tensor<6x3xf32>, tensor<6x2xf32>");
}

TEST_F(Demand, OpsThatSayNothing) {
  // An op that may need nothing of its operands adds nothing to a lower bound.
  auto module = parseSourceString<ModuleOp>(R"(
    fact.weight @x : tensor<64x8xf32>
    %x = fact.get_weight @x : tensor<64x8xf32>
    %0 = fact.fused "any" ins(%x : tensor<64x8xf32>) {
    ^bb0(%a: tensor<64x8xf32>):
      %1 = builtin.unrealized_conversion_cast %a : tensor<64x8xf32> to tensor<8xf32>
      fact.yield %1 : tensor<8xf32>
    } : tensor<8xf32>)",
                                            &context);
  ASSERT_TRUE(module);
  SpeedOfLight light = getSpeedOfLight(*module->getOps<FusedOp>().begin());
  EXPECT_EQ(light.bytes, 8 * 4);
  EXPECT_EQ(light.getFlops(), 0);
}

//===----------------------------------------------------------------------===//
// Random regions
//===----------------------------------------------------------------------===//

namespace {
/// Grows a region of random ops on small tensors.
class Grower {
public:
  Grower(MLIRContext *context, unsigned seed)
      : random(seed), builder(context), loc(builder.getUnknownLoc()),
        module(ModuleOp::create(loc)) {
    builder.setInsertionPointToEnd(module->getBody());
  }

  FusedOp grow() {
    body = new Block();
    builder.setInsertionPointToEnd(body);
    SmallVector<int64_t> shape;
    for (size_t rank = 1 + pick(4); shape.size() < rank;)
      shape.push_back(1 + pick(6));
    Value value = argument(shape), other;
    for (int i = 0, ops = 2 + pick(6); i < ops; ++i) {
      value = apply(value);
      if (pick(4) == 0)
        other = value;
    }
    SmallVector<Value> results = {value};
    if (other && other != value)
      results.push_back(other);
    YieldOp::create(builder, loc, results);
    builder.setInsertionPointToEnd(module->getBody());
    auto fused = FusedOp::create(builder, loc, ValueRange(results).getTypes(),
                                 "any", inputs(), StrategyAttr(), Attribute(),
                                 Attribute(), IntegerAttr());
    fused.getBody().push_back(body);
    return fused;
  }

private:
  int64_t pick(int64_t count) { return int64_t(random() % count); }
  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }
  Value argument(ArrayRef<int64_t> shape) {
    return body->addArgument(type(shape), loc);
  }

  /// A value of each argument's type to stand outside.
  SmallVector<Value> inputs() {
    SmallVector<Value> values;
    for (BlockArgument argument : body->getArguments()) {
      OperationState state(loc, GetWeightOp::getOperationName());
      GetWeightOp::build(builder, state, argument.getType(),
                         FlatSymbolRefAttr::get(builder.getContext(), "w"));
      values.push_back(builder.create(state)->getResult(0));
    }
    return values;
  }

  Value apply(Value value) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    int64_t rank = shape.size(), dim = pick(rank);
    switch (pick(11)) {
    case 0: {
      SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(rank));
      std::shuffle(dims.begin(), dims.end(), random);
      SmallVector<int64_t> permuted;
      for (int64_t i : dims)
        permuted.push_back(shape[i]);
      return PermuteOp::create(builder, loc, type(permuted), value, dims);
    }
    case 1:
    case 2: {
      int64_t step = 1 + pick(3), start = pick(shape[dim]);
      shape[dim] = 1 + pick((shape[dim] - 1 - start) / step + 1);
      return SliceOp::create(builder, loc, type(shape), value, dim, start,
                             step);
    }
    case 3: {
      // Merge two dimensions, or split one.
      if (rank > 1 && pick(2)) {
        dim = pick(rank - 1);
        shape[dim] *= shape[dim + 1];
        shape.erase(shape.begin() + dim + 1);
      } else {
        for (int64_t factor : {2, 3, 5})
          if (shape[dim] % factor == 0) {
            shape[dim] /= factor;
            shape.insert(shape.begin() + dim + pick(2), factor);
            break;
          }
      }
      return ReshapeOp::create(builder, loc, type(shape), value);
    }
    case 4: {
      if (shape[dim] == 1)
        shape[dim] = 1 + pick(4);
      else if (rank < 5)
        shape.insert(shape.begin(), 1 + pick(3));
      return ExpandOp::create(builder, loc, type(shape), value);
    }
    case 5:
      return ExpOp::create(builder, loc, type(shape), value);
    case 6: {
      SmallVector<int64_t> other(ArrayRef(shape).take_back(1 + pick(rank)));
      if (pick(2))
        other[pick(other.size())] = 1;
      return AddOp::create(builder, loc, type(shape), value, argument(other));
    }
    case 7: {
      SmallVector<int64_t> other = shape;
      other[dim] = 1 + pick(3);
      Value second = argument(other);
      shape[dim] += other[dim];
      return ConcatOp::create(builder, loc, type(shape),
                              ValueRange{value, second}, dim);
    }
    case 8:
      return SoftmaxOp::create(builder, loc, type(shape), value, dim);
    case 9: {
      SmallVector<int64_t> reduced = shape;
      reduced[dim] = 1;
      return ReduceOp::create(builder, loc, type(reduced), ReduceKind::sum,
                              value, ArrayRef<int64_t>(dim), /*keep=*/true);
    }
    default: {
      if (rank < 2)
        return value;
      SmallVector<int64_t> weight = {shape.back(), 1 + pick(4)};
      shape.back() = weight.back();
      return MatmulOp::create(builder, loc, type(shape), value,
                              argument(weight), false, false);
    }
    }
  }

  std::mt19937 random;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  Block *body = nullptr;
};
} // namespace

TEST_F(Demand, RandomRegions) {
  int exact = 0;
  const int tried = 3000;
  for (int seed = 0; seed < tried; ++seed) {
    Grower grower(&context, seed);
    FusedOp fused = grower.grow();
    ASSERT_TRUE(succeeded(verify(fused)));
    SpeedOfLight light = getSpeedOfLight(fused);
    ElementOracle oracle(fused);
    std::string text;
    llvm::raw_string_ostream(text) << "seed " << seed << ":\n" << fused;
    ASSERT_LE(light.bytes, oracle.bytes) << text;
    ASSERT_LE(light.scalarFlops, oracle.scalarFlops) << text;
    ASSERT_LE(light.getFlops() - light.scalarFlops, oracle.matrixFlops) << text;
    exact += light.bytes == oracle.bytes &&
             light.scalarFlops == oracle.scalarFlops &&
             light.getFlops() - light.scalarFlops == oracle.matrixFlops;
  }
  EXPECT_GT(exact, tried * 99 / 100);
}
