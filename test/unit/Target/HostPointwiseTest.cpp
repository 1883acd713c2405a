//===- HostPointwiseTest.cpp - Host pointwise kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each test emits every schedule of a default space, runs it, and compares it
// with the reference that the naive lowering makes from the same region.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "TypeTexts.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace fact::test;
using llvm::formatv;

/// One result for each function of `names`, on `value`.
static std::string applyAll(std::initializer_list<const char *> names,
                            const std::string &value, const std::string &x,
                            std::vector<std::string> &results) {
  std::string body, yielded, yieldedTypes;
  for (const char *name : names) {
    body += formatv("%{0} = fact.{0} {1} : ({2}) -> {2}\n", name, value, T(x));
    yielded += (yielded.empty() ? "%" : ", %") + std::string(name);
    yieldedTypes += (yieldedTypes.empty() ? "" : ", ") + T(x);
    results.push_back(x);
  }
  return body + "fact.yield " + yielded + " : " + yieldedTypes;
}

TEST(Pointwise, EveryFunction) {
  for (const std::string &type : types) {
    std::string x = tensor({13, 37}, type);
    for (double scale : {0.01, 1.0, 10.0}) {
      std::vector<std::string> results;
      std::string body =
          applyAll({"neg", "abs", "sin", "cos", "erf", "tanh", "sigmoid",
                    "relu", "silu", "mish", "softplus", "gelu"},
                   "%a0", x, results);
      checkRegion("pointwise", {x}, body, results, scale);
    }
  }
}

TEST(Pointwise, Exponential) {
  for (double scale : {0.01, 1.0, 10.0})
    checkRegion("pointwise", {"1000xf32"}, R"(
      %0 = fact.exp %a0 : (tensor<1000xf32>) -> tensor<1000xf32>
      fact.yield %0 : tensor<1000xf32>)",
                {"1000xf32"}, scale);
}

// Angles that vectors reduce, and others, which libm does.
TEST(Pointwise, Angles) {
  for (double scale : {1.0, 1000.0, 4000.0, 1e7}) {
    std::vector<std::string> results;
    std::string body = applyAll({"sin", "cos"}, "%a0", "1003xf32", results);
    checkRegion("pointwise", {"1003xf32"}, body, results, scale);
  }
}

// Remainders of quotients that are small, of more digits than f32 has, and
// none.
TEST(Pointwise, Remainders) {
  for (double scale : {1.0, 1e5})
    checkRegion("pointwise", {"40x37xf32", "37xf32"}, R"(
      %c = fact.constant dense<0.75> : tensor<f32>
      %z = fact.constant dense<0x7F800000> : tensor<f32>
      %s = fact.constant dense<0.0009765625> : tensor<f32>
      %0 = fact.fmod %a0, %a1 : (tensor<40x37xf32>, tensor<37xf32>) -> tensor<40x37xf32>
      %1 = fact.fmod %a0, %c : (tensor<40x37xf32>, tensor<f32>) -> tensor<40x37xf32>
      %3 = fact.fmod %a0, %s : (tensor<40x37xf32>, tensor<f32>) -> tensor<40x37xf32>
      %4 = fact.fmod %a0, %z : (tensor<40x37xf32>, tensor<f32>) -> tensor<40x37xf32>
      fact.yield %0, %1, %3, %4 : tensor<40x37xf32>, tensor<40x37xf32>, tensor<40x37xf32>, tensor<40x37xf32>)",
                {"40x37xf32", "40x37xf32", "40x37xf32", "40x37xf32"}, scale);
}

// Rows of every length up to two vectors, and some more.
TEST(Pointwise, Ends) {
  for (int64_t columns : {1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 33, 63, 67}) {
    std::string x = tensor({3, columns}, "f32"), bias = tensor({3, 1}, "f32");
    checkRegion("pointwise", {x, bias},
                formatv("%0 = fact.add %a0, %a1 : ({0}, {1}) -> {0}\n"
                        "fact.yield %0 : {0}",
                        T(x), T(bias))
                    .str(),
                {x});
  }
}

TEST(Pointwise, PositiveFunctions) {
  for (double scale : {0.1, 1.0, 100.0}) {
    std::vector<std::string> results;
    std::string body = applyAll({"log", "sqrt", "rsqrt", "reciprocal"},
                                "%positive", "500xf32", results);
    checkRegion("pointwise", {"500xf32"},
                "%c = fact.constant dense<0.001> : tensor<f32>\n"
                "%0 = fact.abs %a0 : (tensor<500xf32>) -> tensor<500xf32>\n"
                "%positive = fact.add %0, %c : (tensor<500xf32>, tensor<f32>) "
                "-> tensor<500xf32>\n" +
                    body,
                results, scale);
  }
}

TEST(Pointwise, BroadcastsAndSeveralResults) {
  checkRegion("pointwise", {"4x5x6xf32", "5x1xf32", "6xf32"}, R"(
    %0 = fact.add %a0, %a1 : (tensor<4x5x6xf32>, tensor<5x1xf32>) -> tensor<4x5x6xf32>
    %1 = fact.mul %0, %a2 : (tensor<4x5x6xf32>, tensor<6xf32>) -> tensor<4x5x6xf32>
    %2 = fact.compare lt %0, %1 : (tensor<4x5x6xf32>, tensor<4x5x6xf32>) -> tensor<4x5x6xi1>
    %3 = fact.select %2, %0, %1 : (tensor<4x5x6xi1>, tensor<4x5x6xf32>, tensor<4x5x6xf32>) -> tensor<4x5x6xf32>
    fact.yield %3, %2 : tensor<4x5x6xf32>, tensor<4x5x6xi1>)",
              {"4x5x6xf32", "4x5x6xi1"});
}

TEST(Pointwise, PermutedCopies) {
  checkRegion("pointwise", {"3x7x4x10xbf16"}, R"(
    %0 = fact.permute %a0 [0, 2, 1, 3] : (tensor<3x7x4x10xbf16>) -> tensor<3x4x7x10xbf16>
    %1 = fact.reshape %0 : (tensor<3x4x7x10xbf16>) -> tensor<12x70xbf16>
    fact.yield %1 : tensor<12x70xbf16>)",
              {"12x70xbf16"});
  checkRegion("pointwise", {"33x17xf32"}, R"(
    %0 = fact.permute %a0 [1, 0] : (tensor<33x17xf32>) -> tensor<17x33xf32>
    fact.yield %0 : tensor<17x33xf32>)",
              {"17x33xf32"});
  // Blocks that end beyond a multiple of their size, along both dimensions, and
  // another dimension between them.
  for (const std::string &type : {"f32", "bf16", "f64", "i64"})
    checkRegion(
        "pointwise", {tensor({2, 21, 3, 37}, type), tensor({37, 3, 21}, type)},
        formatv("%0 = fact.permute %a0 [0, 3, 2, 1] : ({0}) -> {1}\n"
                "%1 = fact.mul %0, %a1 : ({1}, {2}) -> {1}\n"
                "fact.yield %1 : {1}",
                T(tensor({2, 21, 3, 37}, type)),
                T(tensor({2, 37, 3, 21}, type)), T(tensor({37, 3, 21}, type)))
            .str(),
        {tensor({2, 37, 3, 21}, type)}, 4.0);
  checkRegion("pointwise", {"4x70xf32", "4x70xi1"}, R"(
    %0 = fact.permute %a0 [1, 0] : (tensor<4x70xf32>) -> tensor<70x4xf32>
    %1 = fact.permute %a1 [1, 0] : (tensor<4x70xi1>) -> tensor<70x4xi1>
    fact.yield %0, %1 : tensor<70x4xf32>, tensor<70x4xi1>)",
              {"70x4xf32", "70x4xi1"});
}

// Elements that are a few places apart, up to the last one of a tensor, and
// results whose elements take turns.
TEST(Pointwise, SmallSteps) {
  for (const std::string &type : {"f32", "bf16", "f64", "i1"})
    for (int64_t step : {2, 3, 4, 5})
      for (int64_t columns : {7, 130}) {
        int64_t whole = (columns - 1) * step + 1;
        std::string x = tensor({3, whole}, type);
        std::string part = tensor({3, columns}, type);
        checkRegion("pointwise", {x},
                    formatv("%0 = fact.slice %a0 dim 1 start 0 step {0} : "
                            "({1}) -> {2}\nfact.yield %0 : {2}",
                            step, T(x), T(part))
                        .str(),
                    {part});
        // The same as pieces of pairs, of which a result has some.
        std::string body, inputs, types;
        std::string piece = tensor({3, columns, 1}, type);
        std::vector<std::string> operands;
        for (int64_t i = 0; i < step; ++i) {
          operands.push_back(part);
          body += formatv("%{0} = fact.reshape %a{0} : ({1}) -> {2}\n", i,
                          T(part), T(piece));
          inputs += (i ? ", %" : "%") + std::to_string(i);
          types += (i ? ", " : "") + T(piece);
        }
        std::string joined = tensor({3, columns, step}, type);
        checkRegion("pointwise", operands,
                    body + formatv("%r = fact.concat {0} dim 2 : ({1}) -> {2}"
                                   "\nfact.yield %r : {2}",
                                   inputs, types, T(joined))
                               .str(),
                    {joined});
      }
}

// A last dimension of a few elements, whose neighbors lie in other places.
TEST(Pointwise, ShortRows) {
  for (int64_t count : {2, 3, 4, 5})
    for (int64_t columns : {7, 8, 35}) {
      std::string x = tensor({2, count, columns}, "f32");
      std::string y = tensor({2, columns, count}, "f32");
      std::string each = tensor({count}, "f32"),
                  row = tensor({columns, 1}, "f32");
      checkRegion("pointwise", {x, each, row},
                  formatv("%0 = fact.permute %a0 [0, 2, 1] : ({0}) -> {1}\n"
                          "%1 = fact.mul %0, %a1 : ({1}, {2}) -> {1}\n"
                          "%2 = fact.add %1, %a2 : ({1}, {3}) -> {1}\n"
                          "%3 = fact.compare lt %1, %2 : ({1}, {1}) -> {4}\n"
                          "fact.yield %2, %3 : {1}, {4}",
                          T(x), T(y), T(each), T(row),
                          T(tensor({2, columns, count}, "i1")))
                      .str(),
                  {y, tensor({2, columns, count}, "i1")});
    }
}

TEST(Pointwise, SlicesAndExpansion) {
  // Rotary halves: x[..., :8] * cos - x[..., 8:] * sin.
  checkRegion("pointwise", {"2x3x5x16xf32", "5x8xf32", "5x8xf32"}, R"(
    %0 = fact.slice %a0 dim 3 start 0 : (tensor<2x3x5x16xf32>) -> tensor<2x3x5x8xf32>
    %1 = fact.slice %a0 dim 3 start 8 : (tensor<2x3x5x16xf32>) -> tensor<2x3x5x8xf32>
    %2 = fact.mul %0, %a1 : (tensor<2x3x5x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5x8xf32>
    %3 = fact.mul %1, %a2 : (tensor<2x3x5x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5x8xf32>
    %4 = fact.sub %2, %3 : (tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
    fact.yield %4 : tensor<2x3x5x8xf32>)",
              {"2x3x5x8xf32"});
  checkRegion("pointwise", {"3x1x5xi64"}, R"(
    %0 = fact.expand %a0 : (tensor<3x1x5xi64>) -> tensor<3x4x5xi64>
    fact.yield %0 : tensor<3x4x5xi64>)",
              {"3x4x5xi64"});
}

TEST(Pointwise, GathersRows) {
  // An embedding, and what is added to it.
  for (const std::string &type : types)
    checkRegion("pointwise",
                {tensor({9, 21}, type), "2x7xi64", tensor({7, 21}, type)},
                formatv(R"(
    %i = fact.abs %a1 : (tensor<2x7xi64>) -> tensor<2x7xi64>
    %0 = fact.gather %a0, %i dim 0 : (tensor<9x21x{0}>, tensor<2x7xi64>) -> tensor<2x7x21x{0}>
    %1 = fact.add %0, %a2 : (tensor<2x7x21x{0}>, tensor<7x21x{0}>) -> tensor<2x7x21x{0}>
    fact.yield %1 : tensor<2x7x21x{0}>)",
                        type)
                    .str(),
                {tensor({2, 7, 21}, type)});
}

TEST(Pointwise, GathersColumns) {
  // Each element of a row has its own index; those outside give 0.
  checkRegion("pointwise", {"5x19xi64", "40xi32"}, R"(
    %0 = fact.gather %a0, %a1 dim 1 : (tensor<5x19xi64>, tensor<40xi32>) -> tensor<5x40xi64>
    fact.yield %0 : tensor<5x40xi64>)",
              {"5x40xi64"}, 4.0);
  // Of views, and seen through views.
  checkRegion("pointwise", {"4x6x11xf32", "3xi64"}, R"(
    %i = fact.abs %a1 : (tensor<3xi64>) -> tensor<3xi64>
    %t = fact.permute %a0 [2, 0, 1] : (tensor<4x6x11xf32>) -> tensor<11x4x6xf32>
    %0 = fact.gather %t, %i dim 1 : (tensor<11x4x6xf32>, tensor<3xi64>) -> tensor<11x3x6xf32>
    %1 = fact.permute %0 [1, 2, 0] : (tensor<11x3x6xf32>) -> tensor<3x6x11xf32>
    %2 = fact.slice %1 dim 2 start 1 step 2 : (tensor<3x6x11xf32>) -> tensor<3x6x5xf32>
    fact.yield %2 : tensor<3x6x5xf32>)",
              {"3x6x5xf32"});
}

TEST(Pointwise, GathersByIndicesOfAllRows) {
  // Four rows at a time and the rest one by one, each with a remainder of
  // columns; some indices are out of range.
  for (const char *type : {"i64", "i32", "i8"})
    for (int64_t rows : {2, 4, 7, 13}) {
      std::string x = tensor({rows, 3, 19}, type),
                  y = tensor({rows, 3, 43}, type), i = "43xi64";
      checkRegion(
          "pointwise", {x, i, y},
          formatv("%0 = fact.gather %a0, %a1 dim 2 : ({0}, {1}) -> {2}\n"
                  "%1 = fact.add %0, %a2 : ({2}, {2}) -> {2}\n"
                  "fact.yield %1 : {2}",
                  T(x), T(i), T(y))
              .str(),
          {y}, 8.0);
    }
  // Floats by indices in range that other elements of the row share, and a
  // value of all rows beside them.
  for (const std::string &type : types) {
    std::string x = tensor({9, 37}, type), i = "37xi64", b = tensor({37}, type);
    checkRegion("pointwise", {x, i, b},
                formatv("%c = fact.constant dense<36> : tensor<i64>\n"
                        "%p = fact.abs %a1 : ({1}) -> {1}\n"
                        "%i = fact.minimum %p, %c : ({1}, tensor<i64>) -> {1}\n"
                        "%0 = fact.gather %a0, %i dim 1 : ({0}, {1}) -> {0}\n"
                        "%e = fact.tanh %a2 : ({2}) -> {2}\n"
                        "%1 = fact.mul %0, %e : ({0}, {2}) -> {0}\n"
                        "fact.yield %1 : {0}",
                        T(x), T(i), T(b))
                    .str(),
                {x}, 16.0);
  }
}

// Two rows and two columns of each pixel, as interpolations read them: reads of
// the same columns share a table.
TEST(Pointwise, GathersOfNeighboringRowsAndColumns) {
  for (const std::string &type : types)
    checkRegion("pointwise", {tensor({3, 9, 21}, type), "18xi64", "43xi64"},
                formatv(R"(
    %c8 = fact.constant dense<8> : tensor<i64>
    %c20 = fact.constant dense<20> : tensor<i64>
    %y0 = fact.abs %a1 : (tensor<18xi64>) -> tensor<18xi64>
    %y = fact.minimum %y0, %c8 : (tensor<18xi64>, tensor<i64>) -> tensor<18xi64>
    %v = fact.sub %c8, %y : (tensor<i64>, tensor<18xi64>) -> tensor<18xi64>
    %x0 = fact.abs %a2 : (tensor<43xi64>) -> tensor<43xi64>
    %x = fact.minimum %x0, %c20 : (tensor<43xi64>, tensor<i64>) -> tensor<43xi64>
    %u = fact.sub %c20, %x : (tensor<i64>, tensor<43xi64>) -> tensor<43xi64>
    %0 = fact.gather %a0, %y dim 1 : (tensor<3x9x21x{0}>, tensor<18xi64>) -> tensor<3x18x21x{0}>
    %1 = fact.gather %a0, %v dim 1 : (tensor<3x9x21x{0}>, tensor<18xi64>) -> tensor<3x18x21x{0}>
    %2 = fact.gather %0, %x dim 2 : (tensor<3x18x21x{0}>, tensor<43xi64>) -> tensor<3x18x43x{0}>
    %3 = fact.gather %1, %x dim 2 : (tensor<3x18x21x{0}>, tensor<43xi64>) -> tensor<3x18x43x{0}>
    %4 = fact.gather %0, %u dim 2 : (tensor<3x18x21x{0}>, tensor<43xi64>) -> tensor<3x18x43x{0}>
    %5 = fact.sub %2, %3 : (tensor<3x18x43x{0}>, tensor<3x18x43x{0}>) -> tensor<3x18x43x{0}>
    %6 = fact.mul %5, %4 : (tensor<3x18x43x{0}>, tensor<3x18x43x{0}>) -> tensor<3x18x43x{0}>
    fact.yield %6, %2 : tensor<3x18x43x{0}>, tensor<3x18x43x{0}>)",
                        type)
                    .str(),
                {tensor({3, 18, 43}, type), tensor({3, 18, 43}, type)}, 16.0);
}

TEST(Pointwise, GathersByComparisons) {
  // The second index depends on a float, as those of a binary search do.
  for (const std::string &type : types) {
    std::string s = tensor({3}, type), x = tensor({5, 37}, type),
                i = "5x37xi64";
    checkRegion(
        "pointwise", {s, x},
        formatv(
            "%o = fact.constant dense<1> : {2}\n"
            "%z = fact.constant dense<0> : {2}\n"
            "%0 = fact.gather %a0, %o dim 0 : ({0}, {2}) -> {1}\n"
            "%1 = fact.compare ge %0, %a1 : ({1}, {1}) -> tensor<5x37xi1>\n"
            "%2 = fact.select %1, %z, %o : (tensor<5x37xi1>, {2}, {2}) -> {2}\n"
            "%3 = fact.add %2, %o : ({2}, {2}) -> {2}\n"
            "%4 = fact.gather %a0, %3 dim 0 : ({0}, {2}) -> {1}\n"
            "fact.yield %4 : {1}",
            T(s), T(x), T(i))
            .str(),
        {x});
  }
}

/// "[last, ..., 1, 0]".
static std::string countDown(int64_t count) {
  std::string text;
  for (int64_t i = count; i-- > 0;)
    text += std::to_string(i) + (i ? ", " : "");
  return "[" + text + "]";
}

TEST(Pointwise, GathersOfGathers) {
  // Both dimensions reversed: runs that count down, with a remainder.
  for (const std::string &type : types)
    checkRegion("pointwise", {tensor({5, 75}, type)},
                formatv(R"(
    %r = fact.constant dense<{1}> : tensor<5xi64>
    %c = fact.constant dense<{2}> : tensor<75xi64>
    %0 = fact.gather %a0, %r dim 0 : (tensor<5x75x{0}>, tensor<5xi64>) -> tensor<5x75x{0}>
    %1 = fact.gather %0, %c dim 1 : (tensor<5x75x{0}>, tensor<75xi64>) -> tensor<5x75x{0}>
    fact.yield %1 : tensor<5x75x{0}>)",
                        type, countDown(5), countDown(75))
                    .str(),
                {tensor({5, 75}, type)});
  // An index of an index, and two that neighbors do not share; those outside
  // give 0.
  checkRegion("pointwise", {"40xi64", "40xi32", "40xi64"}, R"(
    %0 = fact.gather %a0, %a1 dim 0 : (tensor<40xi64>, tensor<40xi32>) -> tensor<40xi64>
    %1 = fact.gather %0, %a2 dim 0 : (tensor<40xi64>, tensor<40xi64>) -> tensor<40xi64>
    fact.yield %1 : tensor<40xi64>)",
              {"40xi64"}, 20.0);
  checkRegion("pointwise", {"6x7xi64", "6x40xi64", "40xi64"}, R"(
    %s = fact.reshape %a0 : (tensor<6x7xi64>) -> tensor<42xi64>
    %0 = fact.gather %s, %a1 dim 0 : (tensor<42xi64>, tensor<6x40xi64>) -> tensor<6x40xi64>
    %1 = fact.gather %0, %a2 dim 1 : (tensor<6x40xi64>, tensor<40xi64>) -> tensor<6x40xi64>
    fact.yield %1 : tensor<6x40xi64>)",
              {"6x40xi64"}, 20.0);
}

/// "[i, j, ...]" of a function of the column.
static std::string listIndices(int64_t count, int64_t (*of)(int64_t, int64_t)) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(of(i, count));
  return "[" + text + "]";
}

TEST(Pointwise, GathersInRuns) {
  // Reflected, rolled, folded, and with one index out of range: several runs up
  // and down, which begin and end between vectors, in short and long rows.
  using Index = int64_t (*)(int64_t, int64_t);
  const Index indices[] = {
      [](int64_t i, int64_t n) { return i < 3 ? 3 - i : i - 3; },
      [](int64_t i, int64_t n) { return (i + 21) % n; },
      [](int64_t i, int64_t n) { return i < n / 2 ? i : n - i; },
      [](int64_t i, int64_t n) { return i == 40 ? n : n - 1 - i; }};
  for (auto [columns, type] : {std::pair(67, "i32"), std::pair(301, "i64")})
    for (Index index : indices) {
      std::string x = tensor({5, columns}, type), i = tensor({columns}, "i64");
      checkRegion("pointwise", {x},
                  formatv("%i = fact.constant dense<{2}> : {1}\n"
                          "%0 = fact.gather %a0, %i dim 1 : ({0}, {1}) -> {0}\n"
                          "fact.yield %0 : {0}",
                          T(x), T(i), listIndices(columns, index))
                      .str(),
                  {x});
    }
  // Rows that share them four at a time, and values beside them.
  for (const std::string &type : types) {
    std::string x = tensor({9, 70}, type), y = tensor({9, 66}, type);
    std::string list =
        listIndices(66, [](int64_t i, int64_t) { return i < 3 ? 3 - i : i; });
    checkRegion(
        "pointwise", {x, y},
        formatv(
            "%i = fact.constant dense<{2}> : tensor<66xi64>\n"
            "%0 = fact.gather %a0, %i dim 1 : ({0}, tensor<66xi64>) -> {1}\n"
            "%1 = fact.exp %0 : ({1}) -> {1}\n"
            "%2 = fact.sub %1, %a1 : ({1}, {1}) -> {1}\n"
            "fact.yield %2 : {1}",
            T(x), T(y), list)
            .str(),
        {y});
  }
}

TEST(Pointwise, GathersFromPartsOfOneTensor) {
  checkRegion("pointwise", {"20xi64", "40xi64"}, R"(
    %s = fact.slice %a0 dim 0 start 0 : (tensor<20xi64>) -> tensor<4xi64>
    %0 = fact.gather %s, %a1 dim 0 : (tensor<4xi64>, tensor<40xi64>) -> tensor<40xi64>
    %1 = fact.gather %a0, %a1 dim 0 : (tensor<20xi64>, tensor<40xi64>) -> tensor<40xi64>
    %f = fact.constant dense<4> : tensor<i64>
    %2 = fact.compare lt %a1, %f : (tensor<40xi64>, tensor<i64>) -> tensor<40xi1>
    %3 = fact.select %2, %0, %1 : (tensor<40xi1>, tensor<40xi64>, tensor<40xi64>) -> tensor<40xi64>
    fact.yield %3 : tensor<40xi64>)",
              {"40xi64"}, 16.0);
}

static void checkRotary(const std::string &type, const char *order,
                        const std::string &angle) {
  std::string x = "2x3x5x16x" + type, y = "2x5x3x16x" + type;
  checkRegion(
      "pointwise", {x, angle, angle},
      formatv("%0 = fact.rotary %a0, %a1, %a2 {0} : ({1}, {2}, {2}) -> {1}\n"
              "%1 = fact.permute %0 [0, 2, 1, 3] : ({1}) -> {3}\n"
              "fact.yield %1 : {3}",
              order, T(x), T(angle), T(y))
          .str(),
      {y});
}

TEST(Pointwise, Rotary) {
  for (const char *order : {"", "interleaved"}) {
    for (const char *angle : {"5x16xf32", "2x1x5x16xf32", "5x1xf32", "f32"})
      checkRotary("f32", order, angle);
    checkRotary("bf16", order, "5x16xbf16");
    checkRotary("f16", order, "5x16xf16");
  }
}

TEST(Pointwise, Concatenations) {
  checkRegion("pointwise", {"4x3xbf16", "4x5xbf16"}, R"(
    %e = fact.exp %a1 : (tensor<4x5xbf16>) -> tensor<4x5xbf16>
    %0 = fact.concat %a0, %e, %a0 dim 1 : (tensor<4x3xbf16>, tensor<4x5xbf16>, tensor<4x3xbf16>) -> tensor<4x11xbf16>
    fact.yield %0 : tensor<4x11xbf16>)",
              {"4x11xbf16"});
  // In more tiles than one, into a permuted result, beside another result.
  checkRegion("pointwise", {"700x33xf32", "200x33xf32"}, R"(
    %0 = fact.concat %a0, %a1 dim 0 : (tensor<700x33xf32>, tensor<200x33xf32>) -> tensor<900x33xf32>
    %1 = fact.permute %0 [1, 0] : (tensor<900x33xf32>) -> tensor<33x900xf32>
    %2 = fact.neg %a0 : (tensor<700x33xf32>) -> tensor<700x33xf32>
    fact.yield %1, %2 : tensor<33x900xf32>, tensor<700x33xf32>)",
              {"33x900xf32", "700x33xf32"});
}

TEST(Pointwise, Bits) {
  for (const char *type : {"i8", "i32", "i64"})
    checkRegion("pointwise", {tensor({50}, type), tensor({50}, type)},
                formatv(R"(
    %0 = fact.and %a0, %a1 : ({0}, {0}) -> {0}
    %1 = fact.xor %0, %a1 : ({0}, {0}) -> {0}
    %2 = fact.or %1, %a0 : ({0}, {0}) -> {0}
    %3 = fact.shift_left %a0, %a1 : ({0}, {0}) -> {0}
    %4 = fact.shift_right %a0, %a1 : ({0}, {0}) -> {0}
    fact.yield %2, %3, %4 : {0}, {0}, {0})",
                        T(tensor({50}, type)))
                    .str(),
                {tensor({50}, type), tensor({50}, type), tensor({50}, type)},
                40.0);
}

TEST(Pointwise, Booleans) {
  std::string type = "50xi1";
  checkRegion("pointwise", {type, type}, R"(
    %0 = fact.maximum %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %1 = fact.minimum %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %2 = fact.compare lt %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %3 = fact.compare ge %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %4 = fact.add %a0, %a1 : (tensor<50xi1>, tensor<50xi1>) -> tensor<50xi1>
    %5 = fact.sign %a0 : (tensor<50xi1>) -> tensor<50xi1>
    fact.yield %0, %1, %2, %3, %4, %5 : tensor<50xi1>, tensor<50xi1>, tensor<50xi1>, tensor<50xi1>, tensor<50xi1>, tensor<50xi1>)",
              {type, type, type, type, type, type});
}

TEST(Pointwise, Casts) {
  checkRegion("pointwise", {"40xf32", "40xi1", "40xi32"}, R"(
    %0 = fact.cast %a0 : (tensor<40xf32>) -> tensor<40xbf16>
    %1 = fact.cast %0 : (tensor<40xbf16>) -> tensor<40xf32>
    %2 = fact.cast %a1 : (tensor<40xi1>) -> tensor<40xf32>
    %3 = fact.cast %a2 : (tensor<40xi32>) -> tensor<40xf32>
    %4 = fact.add %1, %2 : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %5 = fact.add %4, %3 : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %6 = fact.cast %5 : (tensor<40xf32>) -> tensor<40xf16>
    fact.yield %5, %6 : tensor<40xf32>, tensor<40xf16>)",
              {"40xf32", "40xf16"});
}

TEST(Pointwise, Scalar) {
  checkRegion("pointwise", {"f32"}, R"(
    %0 = fact.exp %a0 : (tensor<f32>) -> tensor<f32>
    fact.yield %0 : tensor<f32>)",
              {"f32"});
}

// Concatenations along two dimensions, what is computed of both, slices across
// their parts, and operands that broadcast along one of them.
TEST(Pointwise, ComputesPartsOfConcatenations) {
  checkRegion("pointwise", {"9x1xf32", "9x20xf32", "21xf32", "9x1xf32"}, R"(
      %0 = fact.concat %a0, %a1 dim 1 : (tensor<9x1xf32>, tensor<9x20xf32>) -> tensor<9x21xf32>
      %1 = fact.slice %0 dim 0 start 2 : (tensor<9x21xf32>) -> tensor<5x21xf32>
      %2 = fact.neg %1 : (tensor<5x21xf32>) -> tensor<5x21xf32>
      %3 = fact.slice %0 dim 0 start 0 : (tensor<9x21xf32>) -> tensor<2x21xf32>
      %4 = fact.slice %0 dim 0 start 7 : (tensor<9x21xf32>) -> tensor<2x21xf32>
      %5 = fact.concat %3, %2, %4 dim 0 : (tensor<2x21xf32>, tensor<5x21xf32>, tensor<2x21xf32>) -> tensor<9x21xf32>
      %6 = fact.add %5, %a2 : (tensor<9x21xf32>, tensor<21xf32>) -> tensor<9x21xf32>
      %7 = fact.mul %6, %0 : (tensor<9x21xf32>, tensor<9x21xf32>) -> tensor<9x21xf32>
      %8 = fact.sub %7, %a3 : (tensor<9x21xf32>, tensor<9x1xf32>) -> tensor<9x21xf32>
      %9 = fact.slice %8 dim 1 start 0 : (tensor<9x21xf32>) -> tensor<9x7xf32>
      fact.yield %8, %9 : tensor<9x21xf32>, tensor<9x7xf32>)",
              {"9x21xf32", "9x7xf32"});
}
