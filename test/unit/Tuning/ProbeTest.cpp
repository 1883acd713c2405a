//===- ProbeTest.cpp - What a machine reaches, and shares of it -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"
#include "fact/Tuning/Ceilings.h"
#include <cmath>

using namespace fact::tuning;

namespace {

constexpr char report[] = R"({"status": "ok", "launch_seconds": 2e-6,
  "ceilings": [
    {"figure": "bandwidth", "threads": 4, "cold": 9e9, "sustained": 8e9},
    {"figure": "bandwidth", "threads": 4, "cold": 1e10, "sustained": 7e9},
    {"figure": "matrix_flops_32", "threads": 4, "cold": 1e11, "sustained": 5e10},
    {"figure": "scalar_flops", "threads": 4, "cold": 2e11, "sustained": 4e11},
    {"figure": "bandwidth", "threads": 1, "cold": 3e9, "sustained": 3e9}]})";

Kernel makeKernel(double bytes, std::map<std::string, double> flops) {
  Kernel kernel;
  kernel.bytes = bytes;
  kernel.flopsByType = std::move(flops);
  return kernel;
}

TEST(Ceilings, AreTheBestOfTheLoadsOfOneFigure) {
  Ceilings ceilings = readProbe("a machine", report);
  EXPECT_EQ(ceilings.rates.at("bandwidth").cold, 1e10);
  EXPECT_EQ(ceilings.rates.at("bandwidth").sustained, 8e9);
  EXPECT_EQ(ceilings.oneThread.size(), 1u);
  EXPECT_EQ(ceilings.oneThread.at("bandwidth").cold, 3e9);
  EXPECT_EQ(ceilings.launchSeconds, 2e-6);
}

TEST(Ceilings, BoundTheTimeOfAKernel) {
  Ceilings ceilings = readProbe("a machine", report);
  // By memory, by arithmetic of two units one after the other.
  EXPECT_DOUBLE_EQ(
      ceilings.getMicroseconds(makeKernel(1e6, {{"scalar_flops", 4e5}})), 100);
  EXPECT_DOUBLE_EQ(ceilings.getMicroseconds(makeKernel(
                       1e6, {{"scalar_flops", 4e7}, {"matrix_flops_32", 1e7}})),
                   200);
  // A unit that was not probed, and work that is not known.
  EXPECT_EQ(
      ceilings.getMicroseconds(makeKernel(1e6, {{"matrix_flops_64", 1e7}})), 0);
  EXPECT_EQ(ceilings.getMicroseconds(makeKernel(1e6, {})), 0);
  EXPECT_EQ(ceilings.getMicroseconds(makeKernel(0, {{"scalar_flops", 1}})), 0);
}

TEST(Ceilings, AreKeptPerMachine) {
  TemporaryFolder cache;
  setenv("FACT_CACHE_DIR", cache.path.c_str(), 1);
  Ceilings ceilings = readProbe("a machine", report);
  fs::path file = ceilingsFile("a machine");
  EXPECT_FALSE(findCeilings("a machine"));
  createFolder(file.parent_path());
  writeFile(file, print(ceilings));
  ASSERT_TRUE(findCeilings("a machine"));
  EXPECT_EQ(print(*findCeilings("a machine")), print(ceilings));
  EXPECT_FALSE(findCeilings("another machine"));
  // A broken file, and that of another machine, say nothing.
  writeFile(file, "{\"format\": 1");
  EXPECT_FALSE(findCeilings("a machine"));
  ceilings.machine = "another machine";
  writeFile(file, print(ceilings));
  EXPECT_FALSE(findCeilings("a machine"));
}

TEST(Ceilings, OfAMalformedReportAreAnError) {
  EXPECT_THROW(readProbe("a machine", "{}"), Failure);
  EXPECT_THROW(readProbe("a machine", R"({"ceilings": [],
                                          "launch_seconds": 1})"),
               Failure);
}

/// The real probe of this processor.
TEST(Probe, MeasuresTheHostAndReportsShares) {
  TestBundle bundle;
  bundle.addCandidate("plain", "float p = 2 * x[i]; y[i] = p + w[i];");
  bundle.kernel()["flops_by_type"] = {{"scalar_flops", 2.0 * 64 * 33}};
  // Apart from other tests, which see no ceilings.
  TemporaryFolder cache;
  setenv("FACT_CACHE_DIR", cache.path.c_str(), 1);
  setenv("FACT_OBJECTS_DIR", FACT_TEST_CACHE "/objects", 1);
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  EXPECT_FALSE(bundle.report().contains("ceilings"));
  EXPECT_FALSE(bundle.report()["kernels"][0].contains("ceiling_us"));

  ASSERT_TRUE(bundle
                  .tune({"--probe", "--probe-seconds", "0.01", "--probe-bytes",
                         "4000000"})
                  .succeeded())
      << bundle.log;
  EXPECT_NE(bundle.log.find("bandwidth"), std::string::npos) << bundle.log;
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  unsetenv("FACT_OBJECTS_DIR");
  Json tuned = bundle.report();
  for (const char *name : {"bandwidth", "matrix_flops_16", "matrix_flops_32",
                           "matrix_flops_64", "scalar_flops"}) {
    ASSERT_TRUE(tuned["ceilings"]["rates"].contains(name)) << name;
    Json rate = tuned["ceilings"]["rates"][name];
    // No core does less than 0.1 or more than 1000 GFLOP/s, or GB/s; machines
    // have up to 1000.
    for (const char *regime : {"cold", "sustained"}) {
      EXPECT_GT(rate[regime].get<double>(), 1e7) << name;
      EXPECT_LT(rate[regime].get<double>(), 1e15) << name;
    }
  }
  if (tuned["ceilings"].contains("one_thread")) {
    double rate = tuned["ceilings"]["one_thread"]["matrix_flops_32"]["cold"];
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e12);
  }
  Json kernel = tuned["kernels"][0];
  double share = kernel["ceiling_share"];
  EXPECT_GT(share, 0);
  EXPECT_NEAR(share,
              kernel["ceiling_us"].get<double>() / kernel["us"].get<double>(),
              1e-6 * share);
}

} // namespace
