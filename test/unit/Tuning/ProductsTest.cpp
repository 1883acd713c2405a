//===- ProductsTest.cpp - Plain products rank a kernel's candidates -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "TestBundle.h"

using namespace fact::tuning;

namespace {

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

using Positions = std::vector<size_t>;

/// A kernel of objects "a", "b", ... with several candidates each; "-" is a
/// fallback.
Kernel makeKernel(const std::string &objects) {
  Kernel kernel;
  for (char object : objects) {
    Candidate &candidate = kernel.candidates.emplace_back();
    candidate.source = std::string(1, object);
    candidate.fallback = object == '-';
  }
  return kernel;
}

Positions firstOf(const Ranking &ranking) {
  return {ranking.order.begin(), ranking.order.begin() + ranking.first};
}

TEST(Ranking, IsTheCompilersWithoutTimes) {
  Options options;
  options.candidates = 2;
  Ranking ranking = rank(makeKernel("-abacb"), options, {});
  EXPECT_EQ(ranking.order, (Positions{1, 2, 3, 5, 4, 0}));
  // Each object with all of its candidates.
  EXPECT_EQ(firstOf(ranking), (Positions{1, 2, 3, 5}));
}

TEST(Ranking, HasTheFastestProductsFirst) {
  Options options;
  Kernel kernel = makeKernel("aaabbbcccddd-");
  ProductTimes times = {{0, 9},  {1, 10}, {2, 11}, {3, 30}, {4, 8},   {5, 31},
                        {6, 40}, {7, 5},  {8, 6},  {9, 99}, {10, 98}, {11, 97}};
  // The two fastest objects with their two fastest candidates, and those of the
  // compiler's first choice.
  Ranking ranking = rank(kernel, options, times);
  EXPECT_EQ(firstOf(ranking), (Positions{7, 8, 4, 3, 0, 1}));
  EXPECT_EQ(ranking.order,
            (Positions{7, 8, 4, 3, 0, 1, 6, 5, 2, 11, 10, 9, 12}));
  options.best = 1;
  EXPECT_EQ(firstOf(rank(kernel, options, times)), (Positions{7, 8, 0, 1}));
  options.best = 2;
  options.candidates = 1;
  EXPECT_EQ(firstOf(rank(kernel, options, times)), (Positions{7, 8}));
}

TEST(Ranking, LeavesWhatHasNoProductToPredictions) {
  Options options;
  options.candidates = 3;
  // "b" has no product and is among the first three objects; "e" is not.
  Kernel kernel = makeKernel("abcde");
  Ranking ranking = rank(kernel, options, {{0, 1}, {2, 3}, {3, 2}});
  EXPECT_EQ(firstOf(ranking), (Positions{0, 3, 1}));
  EXPECT_EQ(ranking.order, (Positions{0, 3, 1, 2, 4}));
}

//===----------------------------------------------------------------------===//
// With the real fact-tune
//===----------------------------------------------------------------------===//

/// Five candidates, of which predictions have the first two tried, with
/// products that spin for a while. The fourth is the fastest.
class ProductBundle : public TestBundle {
public:
  ProductBundle() {
    Json products = Json::array();
    for (int spins : {2000, 2000, 2000, 10, 2000}) {
      size_t index = addCandidate("schedule " + std::to_string(products.size()),
                                  "float p = 2 * x[i]; y[i] = p + w[i];");
      std::string symbol = "product_" + std::to_string(index);
      std::string path = "kernels/axpy/" + symbol + ".cpp";
      if (index == 3)
        // Shares the object of the one before it.
        path = "kernels/axpy/product_2.cpp";
      else if (index == 2)
        write(path, "#include \"fact/Runtime/Kernel.h\"\n"
                    "#include <unistd.h>\n"
                    "namespace two {\n" +
                        spin("product_2", 2000) + "}\nnamespace three {\n" +
                        spin("product_3", 10) + "}\n");
      else
        write(path, spin(symbol, spins));
      products.push_back({{"key", candidates()[index]["key"]},
                          {"source", path},
                          {"symbol", symbol}});
    }
    kernel()["product"] = {
        {"operands", {0, 1}},
        {"result", {{"type", "f32"}, {"shape", {rows, columns}}}},
        {"candidates", products}};
  }

  static std::string spin(const std::string &symbol, int spins) {
    return kernelSource(symbol, "float",
                        "y[i] = x[i]; for (volatile int n = 0; n < " +
                            std::to_string(spins) + "; n = n + 1) {}");
  }

  bool says(const std::string &text) const {
    return log.find(text) != std::string::npos;
  }

  const std::vector<std::string> options = {"--candidates", "2", "--best", "1",
                                            "--no-link"};
};

using Statuses = std::vector<std::string>;

TEST(Products, DecideWhatIsCompiled) {
  ProductBundle bundle;
  // As predicted while they are not there.
  ASSERT_TRUE(bundle.tune(bundle.options).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (Statuses{"ok", "ok", "", "", ""}));
  EXPECT_FALSE(bundle.says("ranked")) << bundle.log;

  ASSERT_TRUE(bundle.tune({"--products"}).succeeded()) << bundle.log;
  EXPECT_TRUE(bundle.says("objects   4 compiled, 0 from")) << bundle.log;
  fs::remove(bundle.folder() / "tuning.sqlite");
  ASSERT_TRUE(bundle.tune(bundle.options).succeeded()) << bundle.log;
  EXPECT_TRUE(bundle.says("5 products in ")) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (Statuses{"ok", "", "", "ok", ""}));

  // They are known now, and compiled.
  ASSERT_TRUE(bundle.tune(bundle.options).succeeded()) << bundle.log;
  EXPECT_FALSE(bundle.says("ranked")) << bundle.log;
  EXPECT_FALSE(bundle.says("tried #")) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (Statuses{"ok", "", "", "ok", ""}));
  ASSERT_TRUE(bundle.tune({"--products"}).succeeded()) << bundle.log;
  EXPECT_TRUE(bundle.says("objects   0 compiled, 4 from")) << bundle.log;

  // Without them on request.
  ASSERT_TRUE(bundle.tune({"--best", "0", "--candidates", "2", "--no-link"})
                  .succeeded())
      << bundle.log;
  EXPECT_EQ(bundle.statuses(), (Statuses{"ok", "ok", "", "", ""}));
}

TEST(Products, ThatFailDecideNothing) {
  ProductBundle bundle;
  bundle.write("kernels/axpy/product_1.cpp",
               TestBundle::kernelSource("product_1", "float",
                                        "*(volatile int *)nullptr = 0;"));
  // One that cannot be compiled has no time.
  bundle.write("kernels/axpy/product_4.cpp", "no C++");
  ASSERT_TRUE(bundle.tune({"--products"}).succeeded()) << bundle.log;
  EXPECT_TRUE(bundle.says("product-4    FAILED: ")) << bundle.log;
  ASSERT_TRUE(bundle.tune(bundle.options).succeeded()) << bundle.log;
  EXPECT_TRUE(bundle.says("products     crash: ")) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (Statuses{"ok", "ok", "", "", ""}));
}

TEST(Products, AreCheckedWhenTheBundleIsRead) {
  ProductBundle bundle;
  bundle.kernel()["product"]["operands"] = {0, 2};
  EXPECT_FALSE(bundle.tune({"--list"}).succeeded());
  EXPECT_TRUE(bundle.says("$.kernels[0].product.operands: expected positions "
                          "of the kernel's 2 operands, found 2"))
      << bundle.log;
  bundle.kernel()["product"]["operands"] = {0, 1};
  bundle.kernel()["product"]["candidates"][1]["key"] = "another";
  EXPECT_FALSE(bundle.tune({"--list"}).succeeded());
  EXPECT_TRUE(
      bundle.says("$.kernels[0].product.candidates[1]: expected the key of a "
                  "candidate of the kernel, found \"another\""))
      << bundle.log;
}

} // namespace
