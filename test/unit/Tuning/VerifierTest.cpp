//===- VerifierTest.cpp - Candidates that only a trap finds ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"

using namespace fact::tuning;

namespace {

using Statuses = std::vector<std::string>;

const char correct[] = "y[i] = 2 * x[i] + w[i];";

std::string after(const std::string &body) { return correct + (" " + body); }

/// Launches are counted from 1.
std::string counting(const std::string &body) {
  return "static int launch = 0; if (row == 0 && i == 0) ++launch; " + body;
}

/// Launches before the timed ones: three normal trials, special values, NaN,
/// large and equal values, twice each.
constexpr int verified = 14;

const char headers[] = "#include <cmath>\n#include <cstring>\n";

size_t addMutant(TestBundle &bundle, const std::string &key,
                 const std::string &body) {
  std::string symbol = "axpy_" + std::to_string(bundle.candidates().size());
  return bundle.addSource(
      key, headers + TestBundle::kernelSource(symbol, "float", body));
}

/// Every candidate but the last is wrong.
void expectOnlyTheLastIsGood(TestBundle &bundle,
                             const std::vector<std::string> &options = {}) {
  std::vector<std::string> words = {"--candidates", "100"};
  words.insert(words.end(), options.begin(), options.end());
  ASSERT_TRUE(bundle.tune(words).succeeded()) << bundle.log;
  Statuses statuses = bundle.statuses();
  for (size_t i = 0; i + 1 < statuses.size(); ++i)
    EXPECT_EQ(statuses[i], "wrong") << bundle.candidates()[i]["key"] << "\n"
                                    << bundle.log;
  EXPECT_EQ(statuses.back(), "ok") << bundle.log;
}

TEST(Verifier, SpecialAndLargeOperands) {
  TestBundle bundle;
  const std::pair<const char *, const char *> mutants[] = {
      {"beyond 12",
       "if (std::fabs(x[i]) > 12 && std::fabs(x[i]) < 1e6f) y[i] = 0;"},
      {"NaN", "if (std::isnan(x[i])) y[i] = 0;"},
      {"infinity", "if (std::isinf(w[i])) y[i] = 0;"},
      {"negative infinity", "if (x[i] == -INFINITY) y[i] = INFINITY;"},
      {"NaN for infinity", "if (x[i] == INFINITY) y[i] = NAN;"},
      {"negative zero",
       "if (x[i] == 0 && std::signbit(x[i])) y[i] = w[i] + 1;"},
      {"denormal", "if (x[i] != 0 && std::fabs(x[i]) < 1e-38f) y[i] += 1;"},
      {"largest", "if (std::fabs(x[i]) > 1e38f) y[i] = 0;"},
      {"unwritten for NaN", nullptr},
      {"equal operands", "if (x[i] == w[i]) y[i] = 0;"},
  };
  for (auto [key, body] : mutants)
    addMutant(bundle, key,
              body ? after(body)
                   : "if (!std::isnan(x[i])) y[i] = 2 * x[i] + w[i];");
  addMutant(bundle, "good", correct);
  expectOnlyTheLastIsGood(bundle, {"--seed", "17"});
  for (const char *part : {"(special values, seed 17)", "(large values, seed",
                           "seed      17", "(NaN, seed 17)"})
    EXPECT_NE(bundle.log.find(part), std::string::npos) << part << "\n"
                                                        << bundle.log;
  EXPECT_EQ(bundle.report()["seed"], 17);
}

/// Operands differ between runs, unless a seed says which they are.
TEST(Verifier, Seeds) {
  TestBundle bundle;
  addMutant(bundle, "good", correct);
  unsetenv("FACT_SEED");
  std::vector<uint64_t> seeds;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
    seeds.push_back(bundle.report()["seed"]);
  }
  EXPECT_NE(seeds[0], seeds[1]);
  setenv("FACT_SEED", "23", 1);
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.report()["seed"], 23);
  setenv("FACT_SEED", "many", 1);
  EXPECT_EQ(bundle.tune().code, 1);
  EXPECT_NE(bundle.log.find("FACT_SEED expects a whole number, found 'many'"),
            std::string::npos)
      << bundle.log;
  unsetenv("FACT_SEED");
  EXPECT_EQ(bundle.tune({"--seed", "-1"}).code, 1);
  EXPECT_NE(bundle.log.find("--seed expects a whole number, found '-1'"),
            std::string::npos)
      << bundle.log;
}

/// Where the reference is NaN or infinite, so is the candidate.
TEST(Verifier, ClassesOfTheReference) {
  TestBundle bundle;
  std::string quotient = "y[i] = x[i] / (w[i] > 0.5 ? 0 : w[i]);";
  bundle.write("kernels/axpy/reference.cpp",
               TestBundle::kernelSource("axpy_reference", "double", quotient));
  const std::pair<const char *, const char *> mutants[] = {
      {"garbage", "if (w[i] > 0.5f) y[i] = 12345;"},
      {"other sign", "if (w[i] > 0.5f) y[i] = -y[i];"},
      {"NaN", "if (w[i] > 0.5f) y[i] = NAN;"},
      {"nothing", nullptr},
  };
  for (auto [key, body] : mutants)
    addMutant(bundle, key,
              body ? quotient + body : "if (!(w[i] > 0.5f)) " + quotient);
  addMutant(bundle, "good", quotient);
  expectOnlyTheLastIsGood(bundle);
}

/// Each timed launch is held to the verified one.
TEST(Verifier, TimedLaunches) {
  TestBundle bundle;
  auto launches = [&](int from, int to) {
    return counting(after("if (launch >= " + std::to_string(verified + from) +
                          " && launch <= " + std::to_string(verified + to) +
                          " && i == 99) y[i] += 0.25f;"));
  };
  addMutant(
      bundle, "nothing after the verified launches",
      counting("if (launch <= " + std::to_string(verified) + ") " + correct));
  addMutant(bundle, "nothing after a while",
            counting("if (launch <= " + std::to_string(verified + 6) + ") " +
                     correct));
  addMutant(bundle, "wrong in the first", launches(1, 1));
  addMutant(bundle, "wrong in some", launches(5, 9));
  addMutant(bundle, "keeps the result of an address",
            "static float kept[64 * 33]; "
            "static int launch[64]; "
            "if (i % 33 == 0) ++launch[row]; "
            "if (launch[row] <= " +
                std::to_string(verified + 1) +
                ") { y[i] = 2 * x[i] + w[i]; kept[i] = y[i]; "
                "} else y[i] = kept[i];");
  addMutant(bundle, "good", correct);
  expectOnlyTheLastIsGood(bundle);
  EXPECT_NE(bundle.log.find("timed launches, operands of trial "),
            std::string::npos)
      << bundle.log;
}

/// A race below the tolerance is a race.
TEST(Verifier, RunsAgreeBitForBit) {
  // An infinity has no neighbor within the tolerance.
  std::string lastBit =
      counting(after("if (i == 7 && launch % 2 && std::isfinite(y[i])) "
                     "y[i] = std::nextafterf(y[i], 0.0f);"));
  TestBundle bundle;
  addMutant(bundle, "last bit", lastBit);
  addMutant(bundle, "good", correct);
  expectOnlyTheLastIsGood(bundle);
  EXPECT_NE(bundle.log.find("second run against the first"), std::string::npos)
      << bundle.log;
  // Unless the family says that it adds in any order.
  TestBundle declared;
  addMutant(declared, "last bit", lastBit);
  declared.candidates()[0]["repeatable"] = false;
  ASSERT_TRUE(declared.tune().succeeded()) << declared.log;
}

/// Where runs may differ, the last timed launch of a batch is not the only one
/// that is looked at.
TEST(Verifier, TimedLaunchesThatMayDiffer) {
  TestBundle bundle;
  // Does nothing in the first two launches of a batch. A launch that others are
  // compared with starts from other bytes.
  addMutant(bundle, "nothing in some",
            "static int launch = 0, since = 0; static bool idle = false; "
            "if (i == 0) { unsigned found; std::memcpy(&found, y, 4); "
            "since = found == 0x55555555u ? 0 : since + 1; "
            "idle = ++launch > " +
                std::to_string(verified) +
                " && (since == 1 || since == 2); } if (row != 0 || !idle) " +
                correct);
  bundle.candidates()[0]["repeatable"] = false;
  addMutant(bundle, "good", correct);
  bundle.candidates()[1]["repeatable"] = false;
  expectOnlyTheLastIsGood(bundle);
  EXPECT_NE(bundle.log.find("of batch 1, result 0: differs from that of "
                            "another launch"),
            std::string::npos)
      << bundle.log;
}

/// On the host a tensor is aligned to its elements.
TEST(Verifier, Alignment) {
  TestBundle bundle;
  for (const char *pointer : {"x", "w", "y"})
    addMutant(bundle, std::string("aligned ") + pointer,
              after(std::string("if (reinterpret_cast<uintptr_t>(") + pointer +
                    ") % 8 && i == 5) y[i] = 0;"));
  addMutant(bundle, "good", correct);
  expectOnlyTheLastIsGood(bundle);
}

/// A result has its own tolerance, whatever the others have.
TEST(Verifier, ToleranceOfEachResult) {
  TestBundle bundle;
  auto source = [](const std::string &symbol, const std::string &type,
                   const std::string &second) {
    std::string text =
        TestBundle::kernelSource(symbol, type,
                                 type + " *z = static_cast<" + type +
                                     " *>(buffers[3]); "
                                     "y[i] = double(2 * x[i]) + w[i]; z[i] = " +
                                     second + ";");
    text.replace(text.rfind("ABI, 3"), 6, "ABI, 4");
    return text;
  };
  bundle.write("kernels/axpy/reference.cpp",
               source("axpy_reference", "double", "x[i] - double(2 * w[i])"));
  bundle.addSource("loose",
                   source("axpy_0", "float", "(x[i] - 2 * w[i]) * 1.001f"));
  bundle.addSource("good", source("axpy_1", "float", "x[i] - 2 * w[i]"));
  Json second = bundle.kernel()["results"][0];
  bundle.kernel()["results"][0]["tolerance"] = {{"norm", 0.01},
                                                {"element", 0.01}};
  bundle.kernel()["results"].push_back(second);
  bundle.json["outputs"].push_back(bundle.json["outputs"][0]);
  bundle.json["outputs"][1]["name"] = "z";
  bundle.json["values"].push_back({{"kind", "output"}, {"index", 1}});
  bundle.json["program"][0]["results"] = {2, 3};
  expectOnlyTheLastIsGood(bundle);
  EXPECT_NE(bundle.log.find("result 1: "), std::string::npos) << bundle.log;
}

/// Booleans are exact, but where the reference says that rounding decides.
TEST(Verifier, UndecidedElements) {
  auto make = [](TestBundle &bundle, const std::string &margin) {
    auto source = [](const std::string &symbol, const std::string &body,
                     int buffers) {
      std::string text = TestBundle::kernelSource(symbol, "uint8_t", body);
      text.replace(text.rfind("ABI, 3"), 6, "ABI, " + std::to_string(buffers));
      return headers + text;
    };
    std::string decides =
        "double d = double(2 * x[i]) + w[i]; y[i] = d > 0; "
        "static_cast<float *>(buffers[3])[i] = std::fabs(d) < " +
        margin + " ? HUGE_VALF : 0;";
    bundle.write("kernels/axpy/reference.cpp",
                 source("axpy_reference", decides, 4));
    std::string right = "y[i] = 2 * x[i] + w[i] > 0;";
    bundle.addSource(
        "one wrong",
        source("axpy_0", right + " if (i == 500) y[i] = !y[i];", 3));
    bundle.addSource("an hundredth of the range wrong",
                     source("axpy_1", "y[i] = 2 * x[i] + w[i] > 0.02f;", 3));
    bundle.addSource("wrong where it is undecided",
                     source("axpy_2", "y[i] = 2 * x[i] + w[i] > 1e-4f;", 3));
    Json flag = {{"type", "i1"}, {"shape", {64, 33}}};
    Json result = flag;
    result["tolerance"] = {{"norm", 0}, {"element", 0}};
    result["undecided"] = true;
    bundle.kernel()["results"] = {result};
    bundle.json["outputs"][0].update(flag);
  };
  TestBundle bundle;
  make(bundle, "1e-3");
  expectOnlyTheLastIsGood(bundle, {"--seed", "3"});
  // A reference that decides nothing verifies nothing.
  TestBundle hopeless;
  make(hopeless, "1e9");
  EXPECT_EQ(hopeless.tune().code, 1);
  EXPECT_NE(hopeless.log.find("rounding decides more than a tenth"),
            std::string::npos)
      << hopeless.log;
}

/// Rows of an attention have their own scale.
TEST(Verifier, RowsOfDifferentScale) {
  TestBundle bundle;
  std::string rows = "y[i] = (double(2 * x[i]) + w[i]) / (row + 1);";
  bundle.write("kernels/axpy/reference.cpp",
               TestBundle::kernelSource("axpy_reference", "double", rows));
  bundle.kernel()["results"][0]["tolerance"] = {
      {"norm", 0.01}, {"element", 0.01}, {"rows", 33}};
  addMutant(bundle, "last row off by a tenth",
            rows + " if (row == 63) y[i] *= 1.1f;");
  addMutant(bundle, "good", rows);
  expectOnlyTheLastIsGood(bundle);
}

// A row may have one element that is not masked, a sum which may cancel.
TEST(Verifier, MaskedRows) {
  TestBundle bundle;
  auto masked = [](const std::string &sum) {
    return "y[i] = i % 33 != 5 ? -1 : " + sum + ";";
  };
  bundle.write("kernels/axpy/reference.cpp",
               TestBundle::kernelSource("axpy_reference", "double",
                                        masked("double(2 * x[i]) + w[i]")));
  bundle.kernel()["results"][0]["tolerance"] = {{"norm", 0.01},
                                                {"element", 0.01}};
  addMutant(bundle, "large",
            masked("2 * x[i] + w[i] * (std::fabs(x[i]) > 12 ? 1.1f : 1)"));
  addMutant(bundle, "good",
            masked("2 * x[i] + w[i] * (std::fabs(w[i]) < 1e6f ? 1.001f : 1)"));
  for (const char *seed : {"1", "2", "3"})
    expectOnlyTheLastIsGood(bundle, {"--no-link", "--retune", "--seed", seed});
}

// The terms of one sum may cancel; its error is relative to what such sums are.
TEST(Verifier, OneNumber) {
  TestBundle bundle;
  auto sum = [](const std::string &type) {
    std::string text = "if (i == 0) y[0] = ";
    for (int64_t i = 0; i < 8; ++i)
      text += (i ? " + " : "") + type + "(x[" + std::to_string(i) + "] / 8)";
    return text + ";";
  };
  bundle.write(
      "kernels/axpy/reference.cpp",
      TestBundle::kernelSource("axpy_reference", "double", sum("double")));
  Json &result = bundle.kernel()["results"][0];
  result["tolerance"] = {{"norm", 0x1p-22}, {"element", 0x1p-22}};
  result["shape"] = bundle.json["outputs"][0]["shape"] = {1};
  for (Json &operand : bundle.kernel()["operands"])
    operand["large"] = 1000;
  addMutant(bundle, "seven terms",
            sum("float") + " if (i == 0) y[0] -= x[7] / 8;");
  addMutant(bundle, "good", sum("float"));
  for (const char *seed : {"1", "2", "3", "4", "5"})
    expectOnlyTheLastIsGood(bundle, {"--no-link", "--retune", "--seed", seed});
}

} // namespace
