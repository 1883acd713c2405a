//===- PriorityTest.cpp - An agent's decisions reach the tuner ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"
#include <sstream>

using namespace fact::tuning;

namespace {

/// A model of several kernels that compute the same.
class Priority : public testing::Test {
protected:
  Priority() { bundle.addCandidate("plain", "y[i] = 2 * x[i] + w[i];"); }

  /// Adds a kernel with an output of its own.
  Json &addKernel(const std::string &name) {
    Json kernel = bundle.kernel();
    kernel["name"] = name;
    kernel.erase("strategy");
    kernel.erase("priority");
    Json &candidate = kernel["candidates"][0];
    std::string symbol = name + "_0", path = "kernels/" + symbol + ".cpp";
    candidate["symbol"] = symbol;
    candidate["source"] = path;
    bundle.write(path, TestBundle::kernelSource(symbol, "float",
                                                "y[i] = 2 * x[i] + w[i];"));
    Json output = bundle.json["outputs"][0];
    output["name"] = "output_" + name;
    size_t index = bundle.json["outputs"].size();
    bundle.json["outputs"].push_back(output);
    size_t value = bundle.json["values"].size();
    bundle.json["values"].push_back({{"kind", "output"}, {"index", index}});
    bundle.json["program"].push_back(
        {{"kernel", name}, {"operands", {0, 1}}, {"results", {value}}});
    bundle.json["kernels"].push_back(kernel);
    return bundle.json["kernels"].back();
  }

  /// The kernels of the lines about `what`, in their order.
  std::vector<std::string> order(const std::string &what) {
    std::vector<std::string> kernels;
    std::istringstream lines(bundle.log);
    std::string line, kernel, event;
    while (std::getline(lines, line))
      if (std::istringstream(line) >> kernel >> event && event == what)
        kernels.push_back(kernel);
    return kernels;
  }

  TestBundle bundle;
};

TEST_F(Priority, LargerOnesAreCompiledAndMeasuredFirst) {
  bundle.kernel()["priority"] = 1;
  addKernel("second")["priority"] = 5;
  addKernel("third");
  addKernel("fourth")["priority"] = 5;
  addKernel("fifth")["priority"] = -2;
  ASSERT_TRUE(bundle.tune({"--no-link", "--jobs=1"}).succeeded()) << bundle.log;
  // Equal ones in the order of the bundle.
  std::vector<std::string> expected = {"second", "fourth", "axpy", "third",
                                       "fifth"};
  EXPECT_EQ(order("compiled"), expected) << bundle.log;
  EXPECT_EQ(order("tried"), expected) << bundle.log;
  // The report has the order of the bundle.
  Json report = bundle.report()["kernels"];
  EXPECT_EQ(report[0]["name"], "axpy");
  EXPECT_EQ(report[1]["priority"], 5);
  EXPECT_FALSE(report[2].contains("priority"));
}

TEST_F(Priority, StrategiesAreReported) {
  bundle.kernel()["strategy"] = {{"kind", "adapt"},
                                 {"entry", "pointwise/f32/native#0123456789"}};
  addKernel("second")["strategy"] = {{"kind", "new"}};
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  EXPECT_NE(bundle.log.find("\naxpy                       adapt "),
            std::string::npos)
      << bundle.log;
  EXPECT_NE(bundle.log.find("\nsecond                     new "),
            std::string::npos)
      << bundle.log;
  Json report = bundle.report()["kernels"];
  EXPECT_EQ(report[0]["strategy"]["kind"], "adapt");
  EXPECT_EQ(report[0]["strategy"]["entry"], "pointwise/f32/native#0123456789");
  EXPECT_EQ(report[1]["strategy"], (Json{{"kind", "new"}}));
  ASSERT_TRUE(bundle.tune({"--list"}).succeeded()) << bundle.log;
  EXPECT_NE(bundle.log.find("strategy adapt pointwise/f32/native#0123456789"),
            std::string::npos)
      << bundle.log;
}

TEST_F(Priority, MeasurementsAreKnownAtAnyPriority) {
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  bundle.kernel()["priority"] = 3;
  bundle.kernel()["strategy"] = {{"kind", "reuse"}, {"entry", "some#0"}};
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  EXPECT_EQ(order("known"), std::vector<std::string>{"axpy"}) << bundle.log;
}

} // namespace
