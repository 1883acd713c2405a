//===- HostRowsTest.cpp - Host kernels of rows ----------------------------===//
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

//===----------------------------------------------------------------------===//
// rowwise
//===----------------------------------------------------------------------===//

TEST(Rowwise, Norms) {
  for (const std::string &type : types)
    for (const char *kind : {"layer", "rms"})
      for (int64_t columns : {1, 7, 33, 768}) {
        std::string x = tensor({3, 5, columns}, type),
                    w = tensor({columns}, type);
        checkRegion("rowwise", {x, x, w, w},
                    formatv("%0 = fact.add %a0, %a1 : ({1}, {1}) -> {1}\n"
                            "%1 = fact.norm {0} %0 weight %a2 bias %a3 eps "
                            "1.0e-05 : ({1}, {2}, {2}) -> {1}\n"
                            "fact.yield %0, %1 : {1}, {1}",
                            kind, T(x), T(w))
                        .str(),
                    {x, x});
      }
}

TEST(Rowwise, NormOverTwoDimensionsWithoutWeights) {
  checkRegion("rowwise", {"4x6x10xf32"}, R"(
    %0 = fact.norm layer %a0 eps 1.0e-05 dims 2 : (tensor<4x6x10xf32>) -> tensor<4x6x10xf32>
    fact.yield %0 : tensor<4x6x10xf32>)",
              {"4x6x10xf32"});
}

TEST(Rowwise, Softmax) {
  for (const std::string &type : types)
    for (int64_t columns : {1, 7, 33, 5000}) {
      std::string x = tensor({9, columns}, type);
      checkRegion("rowwise", {x, x},
                  formatv("%c = fact.constant dense<0.25> : tensor<{1}>\n"
                          "%0 = fact.mul %a0, %c : ({0}, tensor<{1}>) -> {0}\n"
                          "%1 = fact.softmax %0 dim 1 : {0}\n"
                          "%2 = fact.mul %1, %a1 : ({0}, {0}) -> {0}\n"
                          "fact.yield %2, %0 : {0}, {0}",
                          T(x), type)
                      .str(),
                  {x, x});
    }
}

TEST(Rowwise, Places) {
  // Rectified rows have many smallest elements, of which the first counts; rows
  // of one element and rows shorter than a register are all ends.
  for (const std::string &type : types)
    for (int64_t columns : {1, 3, 35, 64}) {
      std::string x = tensor({6, columns}, type);
      checkRegion(
          "rowwise", {x},
          formatv(
              "%0 = fact.relu %a0 : ({0}) -> {0}\n"
              "%1 = fact.reduce argmin %0 dims [1] : ({0}) -> tensor<6xi64>\n"
              "fact.yield %1 : tensor<6xi64>",
              T(x))
              .str(),
          {"6xi64"});
      checkRegion("rowwise", {x},
                  formatv("%0 = fact.reduce argmax %a0 dims [1] keep : ({0}) "
                          "-> tensor<6x1xi64>\n"
                          "fact.yield %0 : tensor<6x1xi64>",
                          T(x))
                      .str(),
                  {"6x1xi64"});
    }
  // The root of a negative number is NaN, which is the extreme of both.
  for (const char *kind : {"argmax", "argmin"})
    checkRegion(
        "rowwise", {"20x9xf32"},
        formatv("%0 = fact.sqrt %a0 : (tensor<20x9xf32>) -> tensor<20x9xf32>\n"
                "%1 = fact.reduce {0} %0 dims [1] : (tensor<20x9xf32>) -> "
                "tensor<20xi64>\n"
                "fact.yield %1 : tensor<20xi64>",
                kind)
            .str(),
        {"20xi64"});
}

TEST(Rowwise, Reductions) {
  for (const char *kind : {"sum", "mean", "max", "min", "prod"}) {
    SCOPED_TRACE(kind);
    checkRegion(
        "rowwise", {"5x6x35xf32"},
        formatv("%0 = fact.mul %a0, %a0 : (tensor<5x6x35xf32>, "
                "tensor<5x6x35xf32>) -> tensor<5x6x35xf32>\n"
                "%1 = fact.reduce {0} %0 dims [2] : (tensor<5x6x35xf32>) -> "
                "tensor<5x6xf32>\n"
                "%2 = fact.exp %1 : (tensor<5x6xf32>) -> tensor<5x6xf32>\n"
                "fact.yield %2 : tensor<5x6xf32>",
                kind)
            .str(),
        {"5x6xf32"}, 0.2);
  }
  // x / sum(|x|), with the reduction used along the row.
  checkRegion("rowwise", {"5x35xbf16"}, R"(
    %0 = fact.abs %a0 : (tensor<5x35xbf16>) -> tensor<5x35xbf16>
    %1 = fact.reduce sum %0 dims [1] keep : (tensor<5x35xbf16>) -> tensor<5x1xbf16>
    %2 = fact.div %a0, %1 : (tensor<5x35xbf16>, tensor<5x1xbf16>) -> tensor<5x35xbf16>
    fact.yield %2, %1 : tensor<5x35xbf16>, tensor<5x1xbf16>)",
              {"5x35xbf16", "5x1xbf16"});
  checkRegion("rowwise", {"4x3x5xf64"}, R"(
    %0 = fact.reduce mean %a0 dims [0, 1, 2] : (tensor<4x3x5xf64>) -> tensor<f64>
    fact.yield %0 : tensor<f64>)",
              {"f64"});
}

// Rows that are adjacent in memory, of any number: fewer than a register holds,
// and a few more than a vector has lanes.
TEST(Rowwise, RowsInLanes) {
  for (const std::string &type : {"f32", "bf16", "f64"})
    for (int64_t inner : {3, 37, 130}) {
      if (type != "f32" && inner != 37)
        continue;
      std::string x = tensor({2, 70, inner}, type),
                  rows = tensor({2, inner, 70}, type),
                  each = tensor({2, inner}, type), w = tensor({70}, type),
                  places = tensor({2, inner}, "i64");
      SCOPED_TRACE(x);
      std::string begin = formatv(
          "%p = fact.permute %a0 [0, 2, 1] : ({0}) -> {1}\n", T(x), T(rows));
      for (const char *kind : {"sum", "mean", "max", "min", "prod"})
        checkRegion("rowwise", {x, each},
                    begin +
                        formatv("%0 = fact.reduce {2} %p dims [2] : ({0}) "
                                "-> {1}\n"
                                "%1 = fact.add %0, %a1 : ({1}, {1}) -> {1}\n"
                                "fact.yield %1 : {1}",
                                T(rows), T(each), kind)
                            .str(),
                    {each}, 0.2);
      for (const char *kind : {"argmax", "argmin"})
        checkRegion("rowwise", {x},
                    begin + formatv("%0 = fact.sqrt %p : ({0}) -> {0}\n"
                                    "%1 = fact.reduce {2} %0 dims [2] : ({0}) "
                                    "-> {1}\n"
                                    "fact.yield %1 : {1}",
                                    T(rows), T(places), kind)
                                .str(),
                    {places});
      checkRegion("rowwise", {x},
                  begin +
                      formatv("%0 = fact.softmax %p dim 2 : {1}\n"
                              "%1 = fact.mul %0, %p : ({1}, {1}) -> {1}\n"
                              "%2 = fact.permute %1 [0, 2, 1] : ({1}) -> {0}\n"
                              "fact.yield %2 : {0}",
                              T(x), T(rows))
                          .str(),
                  {x});
      for (const char *kind : {"layer", "rms"})
        checkRegion(
            "rowwise", {x, w, w},
            begin + formatv("%0 = fact.norm {2} %p weight %a1 bias %a2 "
                            "eps 1.0e-05 : ({1}, {3}, {3}) -> {1}\n"
                            "%1 = fact.permute %0 [0, 2, 1] : ({1}) -> {0}\n"
                            "fact.yield %1 : {0}",
                            T(x), T(rows), kind, T(w))
                        .str(),
            {x});
    }
}

// Rows that are shorter than a vector: lanes are of several rows, whether the
// elements of a row are neighbors in memory, those of its input are not, or
// those of its result are not.
TEST(Rowwise, ShortRowsInLanes) {
  for (const std::string &type : {"f32", "bf16"})
    for (int64_t columns : {3, 7}) {
      if (type != "f32" && columns != 3)
        continue;
      std::string x = tensor({2, 37, columns}, type),
                  apart = tensor({2, columns, 37}, type),
                  w = tensor({columns}, type);
      SCOPED_TRACE(x);
      for (bool readsApart : {false, true})
        for (bool writesApart : {false, true}) {
          std::string begin = formatv(
              readsApart ? "%p = fact.permute %a0 [0, 2, 1] : ({1}) -> {0}\n"
                         : "%p = fact.reshape %a0 : ({0}) -> {0}\n",
              T(x), T(apart));
          std::string end = formatv(
              writesApart ? "%r = fact.permute %0 [0, 2, 1] : ({0}) -> {1}\n"
                            "fact.yield %r : {1}"
                          : "fact.yield %0 : {0}",
              T(x), T(apart));
          std::string input = readsApart ? apart : x;
          std::string result = writesApart ? apart : x;
          checkRegion(
              "rowwise", {input},
              begin +
                  formatv("%0 = fact.softmax %p dim 2 : {0}\n", T(x)).str() +
                  end,
              {result});
          if (readsApart != writesApart)
            continue;
          checkRegion("rowwise", {input, w},
                      begin +
                          formatv("%0 = fact.norm layer %p weight %a1 eps "
                                  "1.0e-05 : ({0}, {1}) -> {0}\n",
                                  T(x), T(w))
                              .str() +
                          end,
                      {result});
        }
    }
}

// Matrix times vector: several rows in one loop, where the last ones are shared
// with the loop before; and, transposed, panels of adjacent rows, whose columns
// are a multiple of a panel's or not.
TEST(Rowwise, MatrixTimesVector) {
  for (const std::string &type : types)
    for (auto [rows, columns] :
         {std::pair<int64_t, int64_t>{1, 37}, {3, 64}, {4, 7}, {9, 1031}}) {
      std::string x = tensor({rows, columns}, type),
                  v = tensor({1, columns}, type), y = tensor({rows, 1}, type);
      for (const char *kind : {"sum", "max"})
        checkRegion("rowwise", {x, v, y},
                    formatv("%0 = fact.mul %a0, %a1 : ({0}, {1}) -> {0}\n"
                            "%1 = fact.reduce {3} %0 dims [1] keep : ({0}) -> "
                            "{2}\n"
                            "%2 = fact.add %1, %a2 : ({2}, {2}) -> {2}\n"
                            "fact.yield %2 : {2}",
                            T(x), T(v), T(y), kind)
                        .str(),
                    {y});
    }
}

TEST(Rowwise, VectorTimesMatrix) {
  for (const std::string &type : {"f32", "bf16", "f64"})
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{2100, 15},
                                 {2100, 19},
                                 {1037, 600},
                                 {300, 16}}) {
      if (type != "f32" && columns != 19)
        continue;
      std::string x = tensor({columns, rows}, type),
                  t = tensor({rows, columns}, type),
                  v = tensor({1, columns}, type), y = tensor({rows}, type);
      for (const char *kind : {"sum", "mean", "max", "min"})
        checkRegion("rowwise", {x, v, y},
                    formatv("%t = fact.permute %a0 [1, 0] : ({0}) -> {1}\n"
                            "%0 = fact.mul %t, %a1 : ({1}, {2}) -> {1}\n"
                            "%1 = fact.reduce {4} %0 dims [1] : ({1}) -> {3}\n"
                            "%2 = fact.add %1, %a2 : ({3}, {3}) -> {3}\n"
                            "fact.yield %2 : {3}",
                            T(x), T(t), T(v), T(y), kind)
                        .str(),
                    {y});
    }
}

// What all rows share would be computed for each of them.
TEST(Rowwise, LeavesWhatAllRowsShare) {
  auto plans = [](const char *op) {
    RegionText region(
        "rowwise", {"300x400xf32", "1x400xf32"},
        formatv("%0 = fact.{0} %a1 : (tensor<1x400xf32>) -> tensor<1x400xf32>\n"
                "%1 = fact.mul %a0, %0 : (tensor<300x400xf32>, "
                "tensor<1x400xf32>) -> tensor<300x400xf32>\n"
                "%2 = fact.reduce sum %1 dims [1] : (tensor<300x400xf32>) -> "
                "tensor<300xf32>\n"
                "fact.yield %2 : tensor<300xf32>",
                op)
            .str(),
        {"300xf32"});
    return bool(HostPlanOf(region.get()));
  };
  EXPECT_FALSE(plans("tanh"));
  // Rows of several batches share it, but not those of one.
  RegionText batches("rowwise", {"9x100x400xf32", "100x400xf32"}, R"(
    %0 = fact.tanh %a1 : (tensor<100x400xf32>) -> tensor<100x400xf32>
    %1 = fact.mul %a0, %0 : (tensor<9x100x400xf32>, tensor<100x400xf32>) -> tensor<9x100x400xf32>
    %2 = fact.reduce sum %1 dims [2] : (tensor<9x100x400xf32>) -> tensor<9x100xf32>
    fact.yield %2 : tensor<9x100xf32>)",
                     {"9x100xf32"});
  EXPECT_FALSE(bool(HostPlanOf(batches.get())));
  RegionText casts("rowwise", {"300x400xbf16", "1x400xbf16"}, R"(
    %0 = fact.cast %a1 : (tensor<1x400xbf16>) -> tensor<1x400xf32>
    %1 = fact.cast %a0 : (tensor<300x400xbf16>) -> tensor<300x400xf32>
    %2 = fact.mul %1, %0 : (tensor<300x400xf32>, tensor<1x400xf32>) -> tensor<300x400xf32>
    %3 = fact.reduce sum %2 dims [1] : (tensor<300x400xf32>) -> tensor<300xf32>
    fact.yield %3 : tensor<300xf32>)",
                   {"300xf32"});
  EXPECT_TRUE(bool(HostPlanOf(casts.get())));
}

// Dimensions that have others between them: in segments of whole vectors;
// others would be copied.
TEST(Rowwise, SegmentsOfRows) {
  for (const char *kind : {"sum", "mean", "max", "argmin"})
    for (const std::string &type : types) {
      std::string result = kind == std::string("argmin") ? "i64" : type;
      checkRegion("rowwise", {tensor({3, 5, 2, 128}, type)},
                  formatv(R"(
    %0 = fact.permute %a0 [1, 2, 0, 3] : (tensor<3x5x2x128x{0}>) -> tensor<5x2x3x128x{0}>
    %1 = fact.reduce {1} %0 dims [2, 3] : (tensor<5x2x3x128x{0}>) -> tensor<5x2x{2}>
    fact.yield %1 : tensor<5x2x{2}>)",
                          type, kind, result)
                      .str(),
                  {tensor({5, 2}, result)});
    }
}

TEST(Rowwise, Integers) {
  for (const char *kind : {"sum", "prod", "max", "min", "argmax", "argmin"})
    for (const std::string x : {"6x35xi64", "6x3xi32"}) {
      std::string result =
          kind[0] == 'a' || x == "6x35xi64" ? "6xi64" : "6xi32";
      checkRegion("rowwise", {x},
                  formatv("%0 = fact.add %a0, %a0 : ({0}, {0}) -> {0}\n"
                          "%1 = fact.reduce {1} %0 dims [1] : ({0}) -> {2}\n"
                          "fact.yield %1 : {2}",
                          T(x), kind, T(result))
                      .str(),
                  {result}, 4.0);
    }
  for (const char *kind : {"max", "min", "argmax", "argmin"}) {
    std::string result = kind[0] == 'a' ? "6xi64" : "6xi1";
    checkRegion(
        "rowwise", {"6x35xi1"},
        formatv("%0 = fact.reduce {0} %a0 dims [1] : (tensor<6x35xi1>) -> {1}\n"
                "fact.yield %0 : {1}",
                kind, T(result))
            .str(),
        {result});
  }
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

// Rows of whole vectors, with a remainder, and shorter than one; neighboring
// rows in the lanes of a vector.
TEST(Scan, AnyDimension) {
  struct {
    const char *kind, *type;
    int64_t dim;
  } scans[] = {{"sum", "3x37x5xf32", 1}, {"sum", "2x3xf32", 1},
               {"sum", "5x64xbf16", 1},  {"prod", "4x100xf32", 0},
               {"prod", "2x19xf32", 1},  {"max", "3x37xf32", 1},
               {"min", "3x6x2xf64", 1},  {"max", "4x45xi64", 1},
               {"sum", "130xi32", 0},    {"sum", "7x101xf32", 1},
               {"sum", "4x9xf16", 1},    {"prod", "9x40xbf16", 1}};
  for (auto [kind, type, dim] : scans)
    checkRegion("scan", {type},
                formatv("%0 = fact.scan {0} %a0 dim {1} : {2}\n"
                        "fact.yield %0 : {2}",
                        kind, dim, T(type))
                    .str(),
                {type});
}

// Running maxima with their places, of rows and of columns: a scan of what is
// made of another scan, and several results.
TEST(Scan, SeveralInOnePass) {
  for (auto [type, dim, place] : {std::tuple{"4x45xf32", 1, "1x45xi64"},
                                  std::tuple{"21x70xbf16", 0, "21x1xi64"},
                                  std::tuple{"2x7x3xf64", 1, "7x1xi64"}}) {
    std::string shape = llvm::StringRef(type).rsplit('x').first.str();
    std::string mask = shape + "xi1", places = shape + "xi64";
    checkRegion("scan", {type, place},
                formatv(R"(
    %x = fact.neg %a0 : ({0}) -> {0}
    %0 = fact.scan max %x dim {1} : {0}
    %1 = fact.compare eq %x, %0 : ({0}, {0}) -> {2}
    %2 = fact.constant dense<-1> : tensor<i64>
    %3 = fact.select %1, %a1, %2 : ({2}, {4}, tensor<i64>) -> {3}
    %4 = fact.scan max %3 dim {1} : {3}
    %5 = fact.scan sum %x dim {1} : {0}
    %6 = fact.sub %5, %x : ({0}, {0}) -> {0}
    fact.yield %0, %4, %6 : {0}, {3}, {0})",
                        T(type), dim, T(mask), T(places), T(place))
                    .str(),
                {type, places, type});
  }
}

// Products of more than eight f32 exceed the range of f64, and 0 times that is
// NaN.
TEST(Scan, ProductsBehindAZero) {
  std::string numbers = "0.0";
  for (int i = 1; i < 64; ++i)
    numbers += ", 1.0e30";
  checkRegion("scan", {"3x64xf32"},
              formatv(R"(
    %c = fact.constant dense<[{0}]> : tensor<64xf32>
    %0 = fact.mul %a0, %c : (tensor<3x64xf32>, tensor<64xf32>) -> tensor<3x64xf32>
    %1 = fact.scan prod %0 dim 1 : tensor<3x64xf32>
    fact.yield %1 : tensor<3x64xf32>)",
                      numbers)
                  .str(),
              {"3x64xf32"});
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

// Updates of one element, of vectors with a remainder, of the first and of the
// last dimension; repeated indices, and some that are out of range.
TEST(Scatter, AnyDimension) {
  struct {
    const char *kind, *source, *indices, *updates;
    int64_t dim;
  } scatters[] = {{"set", "9x37xf32", "20xi64", "20x37xf32", 0},
                  {"sum", "9x37xbf16", "20xi32", "20x37xbf16", 0},
                  {"sum", "3x7x5xf32", "40xi64", "3x40x5xf32", 1},
                  {"sum", "3xf32", "7x40xi64", "7x40xf32", 0},
                  {"prod", "2x7xf32", "4xi64", "2x4xf32", 1},
                  {"max", "4x8xf16", "2x3xi64", "4x2x3xf16", 1},
                  {"min", "8x70xi64", "9xi64", "9x70xi64", 0},
                  {"set", "5x6xi1", "3xi64", "5x3xi1", 1},
                  {"set", "5x6xf64", "i64", "5xf64", 1}};
  for (auto [kind, source, indices, updates, dim] : scatters)
    checkRegion("scatter", {source, indices, updates},
                formatv("%0 = fact.scatter {0} %a0, %a1, %a2 dim {1} : ({2}, "
                        "{3}, {4}) -> {2}\nfact.yield %0 : {2}",
                        kind, dim, T(source), T(indices), T(updates))
                    .str(),
                {source}, 4.0);
}

// Neighbors that go to one place: an index of a whole row, and one of all.
TEST(Scatter, ManyUpdatesOfOnePlace) {
  for (const char *kind : {"sum", "max", "set"})
    checkRegion("scatter", {"32xf32", "4x1xi64", "4x37xf32"},
                formatv(R"(
    %0 = fact.expand %a1 : (tensor<4x1xi64>) -> tensor<4x37xi64>
    %1 = fact.scatter {0} %a0, %0, %a2 dim 0 : (tensor<32xf32>, tensor<4x37xi64>, tensor<4x37xf32>) -> tensor<32xf32>
    fact.yield %1 : tensor<32xf32>)",
                        kind)
                    .str(),
                {"32xf32"}, 3.0);
  checkRegion("scatter", {"5xf32", "64xf32"}, R"(
    %0 = fact.constant dense<3> : tensor<64xi64>
    %1 = fact.scatter sum %a0, %0, %a1 dim 0 : (tensor<5xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<5xf32>
    fact.yield %1 : tensor<5xf32>)",
              {"5xf32"});
}

// Integers that no double is equal to.
TEST(Scatter, SmallestOfLargeIntegers) {
  checkRegion("scatter", {"4xi64", "4xi64"}, R"(
    %0 = fact.constant dense<9223372036854775807> : tensor<9xi64>
    %1 = fact.scatter min %0, %a0, %a1 dim 0 : (tensor<9xi64>, tensor<4xi64>, tensor<4xi64>) -> tensor<9xi64>
    fact.yield %1 : tensor<9xi64>)",
              {"9xi64"}, 3.0);
}

// Source, indices and updates are computed where they are needed.
TEST(Scatter, OfComputedValues) {
  checkRegion("scatter", {"24xf32", "4x3xi64", "4x1xi64", "4x3xf32"}, R"(
    %0 = fact.neg %a0 : (tensor<24xf32>) -> tensor<24xf32>
    %1 = fact.abs %a1 : (tensor<4x3xi64>) -> tensor<4x3xi64>
    %2 = fact.add %1, %a2 : (tensor<4x3xi64>, tensor<4x1xi64>) -> tensor<4x3xi64>
    %3 = fact.exp %a3 : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %4 = fact.scatter sum %0, %2, %3 dim 0 : (tensor<24xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<24xf32>
    fact.yield %4 : tensor<24xf32>)",
              {"24xf32"}, 3.0);
  checkRegion("scatter", {"4x3xi64"}, R"(
    %z = fact.constant dense<0> : tensor<i64>
    %0 = fact.expand %z : (tensor<i64>) -> tensor<5x33xi64>
    %u = fact.constant dense<1> : tensor<i64>
    %1 = fact.expand %u : (tensor<i64>) -> tensor<4x3x33xi64>
    %2 = fact.scatter sum %0, %a0, %1 dim 0 : (tensor<5x33xi64>, tensor<4x3xi64>, tensor<4x3x33xi64>) -> tensor<5x33xi64>
    fact.yield %2 : tensor<5x33xi64>)",
              {"5x33xi64"}, 3.0);
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

// Short rows, long ones, few places of long ones, the first places in turn, and
// the last place alone.
TEST(Sort, AnyRows) {
  struct {
    const char *type;
    int64_t dim, count;
    const char *places, *last;
  } sorts[] = {{"3x37x5xf32", 1, 20, "3x20x5xi64", "3x1x5xi64"},
               {"3x70x2xf32", 1, 70, "3x70x2xi64", "3x1x2xi64"},
               {"4x129xi64", 1, 8, "4x8xi64", "4x1xi64"},
               {"2x300xf32", 1, 70, "2x70xi64", "2x1xi64"},
               {"64xbf16", 0, 64, "64xi64", "1xi64"},
               {"5x33xf32", 1, 2, "5x2xi64", "5x1xi64"},
               {"3x61x3xi32", 1, 8, "3x8x3xi64", "3x1x3xi64"},
               {"2x40xi1", 1, 7, "2x7xi64", "2x1xi64"},
               {"2x1000xbf16", 1, 1, "2x1xi64", "2x1xi64"},
               {"2x21xi1", 1, 21, "2x21xi64", "2x1xi64"},
               {"2x90xf64", 1, 90, "2x90xi64", "2x1xi64"}};
  for (auto [type, dim, count, places, last] : sorts)
    for (const char *order : {"", "descending "}) {
      std::string sort =
          formatv("%0 = fact.argsort %a0 dim {0} {1}count {2} : ({3}) -> {4}\n",
                  dim, order, count, T(type), T(places));
      checkRegion("sort", {type},
                  formatv("{0}fact.yield %0 : {1}", sort, T(places)).str(),
                  {places});
      checkRegion("sort", {type},
                  formatv("{0}%1 = fact.slice %0 dim {1} start {2} : ({3}) -> "
                          "{4}\nfact.yield %1 : {4}",
                          sort, dim, count - 1, T(places), T(last))
                      .str(),
                  {last});
    }
}

//===----------------------------------------------------------------------===//
// Throughput: printed, not asserted
//===----------------------------------------------------------------------===//

TEST(Throughput, Norm) {
  double time =
      checkRegion("rowwise", {"4096x768xf32", "768xf32", "768xf32"}, R"(
    %1 = fact.norm layer %a0 weight %a1 bias %a2 eps 1.0e-05 : (tensor<4096x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<4096x768xf32>
    fact.yield %1 : tensor<4096x768xf32>)",
                  {"4096x768xf32"}, 1.0, true);
  std::printf("norm 4096x768 f32: %.1f GB/s\n",
              2.0 * 4096 * 768 * 4 / time * 1e-3);
}
