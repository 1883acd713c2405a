//===- AlternativesTest.cpp - The program that ships is measured ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Alternatives.h"
#include "TestBundle.h"

using namespace fact::tuning;
using fact::runtime::ValueKind;

namespace {

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

Step makeStep(uint32_t kernel, std::vector<uint32_t> operands,
              std::vector<uint32_t> results) {
  Step step;
  step.kernel = kernel;
  step.operands = std::move(operands);
  step.results = std::move(results);
  return step;
}

Value makeValue(ValueKind kind, uint32_t index, uint64_t offset,
                uint64_t bytes) {
  Value value;
  value.kind = kind;
  value.index = index;
  value.offset = offset;
  value.bytes = bytes;
  return value;
}

Alternative makeAlternative(uint32_t kernel, const char *form,
                            std::vector<uint32_t> kernels) {
  Alternative alternative;
  alternative.kernel = kernel;
  alternative.form = form;
  for (uint32_t each : kernels)
    alternative.steps.push_back(makeStep(each, {}, {}));
  return alternative;
}

TEST(Alternatives, RanksChoicesByTheSumsOfTheirParts) {
  Bundle bundle;
  bundle.kernels.resize(8);
  // Kernel 0 is launched twice, kernel 1 once.
  for (uint32_t kernel : {0, 1, 0})
    bundle.program.push_back(makeStep(kernel, {}, {}));
  bundle.alternatives = {makeAlternative(0, "single", {2, 3}),
                         makeAlternative(0, "apart", {2, 4}),
                         makeAlternative(1, "apart", {5, 6}),
                         makeAlternative(1, "single", {5, 7})};
  std::vector<double> times = {10, 20, 4, 5, 7, 8, 11, 1.0 / 0.0};
  auto timeOf = [&](uint32_t kernel) { return times[kernel]; };
  std::vector<RankedForms> best = rankForms(bundle, timeOf, 3);
  ASSERT_EQ(best.size(), 3u);
  // 2 * 9 + 19, 2 * 9 + 20, 2 * 10 + 19.
  EXPECT_EQ(best[0].us, 37);
  EXPECT_EQ(best[0].forms,
            (Forms{&bundle.alternatives[0], &bundle.alternatives[2]}));
  EXPECT_EQ(best[1].us, 38);
  EXPECT_EQ(best[1].forms, Forms{&bundle.alternatives[0]});
  EXPECT_EQ(best[2].us, 39);
  EXPECT_EQ(best[2].forms, Forms{&bundle.alternatives[2]});
  // A kernel without a winner is in no forms.
  EXPECT_EQ(rankForms(bundle, timeOf, 100).size(), 6u);
}

/// The chosen steps get memory of their own, wherever they are launched; parts
/// of parts are parts of the whole.
TEST(Alternatives, PlansTheMemoryOfTheChosenProgram) {
  Bundle bundle;
  bundle.kernels.resize(4);
  bundle.values = {makeValue(ValueKind::Input, 0, 0, 1024),
                   makeValue(ValueKind::Workspace, 0, 0, 512),
                   makeValue(ValueKind::Part, 0, 256, 512),
                   makeValue(ValueKind::Output, 0, 0, 512)};
  bundle.workspaceBytes = 512;
  bundle.program = {makeStep(0, {2}, {1}), makeStep(0, {1}, {3})};
  Alternative alternative;
  alternative.kernel = 0;
  alternative.form = "apart";
  alternative.values = {makeValue(ValueKind::Input, 0, 0, 0),
                        makeValue(ValueKind::Part, 0, 128, 256),
                        makeValue(ValueKind::Workspace, 0, 0, 256),
                        makeValue(ValueKind::Output, 0, 0, 0)};
  alternative.steps = {makeStep(1, {1}, {2}), makeStep(2, {2, 0}, {3})};
  bundle.alternatives = {alternative};

  Bundle chosen = applyAlternatives(bundle, {&bundle.alternatives[0]});
  ASSERT_EQ(chosen.program.size(), 4u);
  EXPECT_EQ(chosen.program[0].kernel, 1u);
  EXPECT_EQ(chosen.program[3].kernel, 2u);
  EXPECT_FALSE(chosen.kernels[0].used);
  EXPECT_TRUE(chosen.kernels[1].used);
  const Value &part = chosen.values[chosen.program[0].operands[0]];
  EXPECT_EQ(part.kind, ValueKind::Part);
  EXPECT_EQ(chosen.values[part.index].kind, ValueKind::Input);
  EXPECT_EQ(part.offset, 256u + 128u);
  // The part of workspace that the second launch reads.
  const Value &second = chosen.values[chosen.program[2].operands[0]];
  EXPECT_EQ(second.index, chosen.program[1].results[0]);
  EXPECT_EQ(second.offset, 128u);
  // Each launch has its own temporary; all are placed.
  EXPECT_NE(chosen.program[0].results[0], chosen.program[2].results[0]);
  EXPECT_EQ(chosen.workspaceBytes, 768u);
  EXPECT_TRUE(chosen.alternatives.empty());
  // Without a forms, the program is that of the bundle.
  EXPECT_EQ(applyAlternatives(bundle, {}).program.size(), 2u);
}

/// Values of launches that may overlap in a graph share no memory; on the host,
/// and where that would take much, they do.
TEST(Alternatives, BranchesShareNoMemoryOnAGpu) {
  auto plan = [](bool cuda, uint64_t bytes) {
    Bundle bundle;
    bundle.kernels.resize(1);
    bundle.target.cuda = cuda;
    bundle.values = {makeValue(ValueKind::Input, 0, 0, bytes),
                     makeValue(ValueKind::Workspace, 0, 0, bytes),
                     makeValue(ValueKind::Workspace, 0, 0, bytes),
                     makeValue(ValueKind::Output, 0, 0, bytes),
                     makeValue(ValueKind::Output, 1, 0, bytes)};
    bundle.program = {makeStep(0, {0}, {1}), makeStep(0, {1}, {3}),
                      makeStep(0, {0}, {2}), makeStep(0, {2}, {4})};
    return applyAlternatives(bundle, {}).workspaceBytes;
  };
  EXPECT_EQ(plan(true, 512), 1024u);
  EXPECT_EQ(plan(false, 512), 512u);
  EXPECT_EQ(plan(true, uint64_t(32) << 20), uint64_t(32) << 20);
}

/// A step that could begin early, but is late in the program, still finds what
/// it reads.
TEST(Alternatives, ValuesAreKeptForLateReaders) {
  Bundle bundle;
  bundle.kernels.resize(1);
  bundle.target.cuda = true;
  bundle.values = {makeValue(ValueKind::Input, 0, 0, 512),
                   makeValue(ValueKind::Workspace, 0, 0, 512),
                   makeValue(ValueKind::Workspace, 0, 0, 512),
                   makeValue(ValueKind::Workspace, 0, 0, 512),
                   makeValue(ValueKind::Workspace, 0, 0, 512),
                   makeValue(ValueKind::Output, 0, 0, 512),
                   makeValue(ValueKind::Output, 1, 0, 512)};
  bundle.program = {makeStep(0, {0}, {1}), makeStep(0, {0}, {2}),
                    makeStep(0, {2}, {3}), makeStep(0, {3}, {4}),
                    makeStep(0, {1}, {5}), makeStep(0, {4}, {6})};
  Bundle planned = applyAlternatives(bundle, {});
  // The first value is read by the fifth step, after the last one is written.
  EXPECT_NE(planned.values[1].offset, planned.values[4].offset);
  // The last one may take the place of the second.
  EXPECT_EQ(planned.workspaceBytes, 3 * 512u);
}

//===----------------------------------------------------------------------===//
// fact-tune
//===----------------------------------------------------------------------===//

/// y = 2 x + w by one kernel, or by two.
class SplitBundle : public TestBundle {
public:
  SplitBundle(int fusedDelay, int splitDelay) {
    addCandidate("fused",
                 busy(fusedDelay) + "float p = 2 * x[i]; y[i] = p + w[i];");
    addKernel("twice", "2 * x[i]", splitDelay);
    addKernel("plus", "x[i] + w[i]", splitDelay);
    json["alternatives"] = {
        {{"kernel", "axpy"},
         {"form", "apart"},
         {"values",
          {{{"kind", "input"}, {"index", 0}},
           {{"kind", "input"}, {"index", 1}},
           {{"kind", "workspace"}, {"offset", 0}, {"bytes", 8448}},
           {{"kind", "output"}, {"index", 0}}}},
         {"steps",
          {{{"kernel", "twice"}, {"operands", {0, 1}}, {"results", {2}}},
           {{"kernel", "plus"}, {"operands", {2, 1}}, {"results", {3}}}}}}};
  }

  std::vector<std::string> shippedKernels() const {
    std::vector<std::string> names;
    Json tuned = report();
    for (const Json &kernel : tuned["kernels"])
      names.push_back(kernel["name"]);
    return names;
  }

private:
  static std::string busy(int loops) {
    return "for (volatile int n = 0; n < " + std::to_string(loops) +
           "; n = n + 1) {} ";
  }

  void addKernel(const std::string &name, const std::string &value, int delay) {
    createFolder(folder() / "kernels" / name);
    std::string reference = "kernels/" + name + "/reference.cpp",
                source = "kernels/" + name + "/0.cpp";
    write(reference, kernelSource(name + "_reference", "double",
                                  "float sum = " + value + "; y[i] = sum;"));
    write(source, kernelSource(name + "_0", "float",
                               busy(delay) + "y[i] = " + value + ";"));
    Json added = kernel();
    added["name"] = name;
    added["reference"] = {{"source", reference},
                          {"symbol", name + "_reference"}};
    added["candidates"] = {{{"key", "plain"},
                            {"source", source},
                            {"symbol", name + "_0"},
                            {"predicted_us", 1.0}}};
    json["kernels"].push_back(added);
  }
};

using Names = std::vector<std::string>;

TEST(Alternatives, SplitShipsWhereItWins) {
  SplitBundle bundle(/*fusedDelay=*/900, /*splitDelay=*/10);
  ASSERT_TRUE(bundle.tune({"--ablate"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.shippedKernels(), (Names{"twice", "plus"}));
  Json report = bundle.report();
  EXPECT_EQ(report["others"][0]["name"], "axpy");
  EXPECT_GE(report["rounds"], 20);
  ASSERT_EQ(report["programs"].size(), 2u);
  EXPECT_EQ(report["programs"][0]["program"], "as fused");
  EXPECT_EQ(report["programs"][1]["program"], "axpy apart");
  EXPECT_EQ(report["programs"][1]["ships"], true);
  EXPECT_EQ(report["programs"][1]["steps"], 2);
  EXPECT_EQ(report["programs"][1]["workspace_bytes"], 8448);
  EXPECT_LT(report["programs"][1]["ratio_high"], 1);
  // Switched off, the program takes longer.
  ASSERT_EQ(report["ablations"].size(), 1u);
  EXPECT_EQ(report["ablations"][0]["form"], "apart");
  EXPECT_EQ(report["ablations"][0]["other"], "fused");
  EXPECT_GT(report["ablations"][0]["ratio_low"], 1);
  // The library was verified, and describes what it runs.
  EXPECT_EQ(report["checked"], true);
  EXPECT_NE(bundle.log.find("2 of 2 steps against references"),
            std::string::npos)
      << bundle.log;

  // Without alternatives, the program as it was fused.
  ASSERT_TRUE(bundle.tune({"--no-alternatives"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.shippedKernels(), Names{"axpy"});
  EXPECT_TRUE(bundle.report()["programs"].empty());
  ASSERT_TRUE(bundle.tune({"--untuned"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.shippedKernels(), Names{"axpy"});
  EXPECT_FALSE(bundle.tune({"--untuned", "--ablate"}).succeeded());
}

TEST(Alternatives, FusedShipsWhereItWins) {
  SplitBundle bundle(/*fusedDelay=*/10, /*splitDelay=*/900);
  ASSERT_TRUE(bundle.tune({"--ablate"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.shippedKernels(), Names{"axpy"});
  Json report = bundle.report();
  EXPECT_EQ(report["others"].size(), 2u);
  // Its parts are so much slower that the whole is not timed, but for the
  // ablation.
  EXPECT_TRUE(report["programs"].empty());
  ASSERT_EQ(report["ablations"].size(), 1u);
  EXPECT_EQ(report["ablations"][0]["form"], "fused");
  EXPECT_EQ(report["ablations"][0]["other"], "apart");
  EXPECT_GT(report["ablations"][0]["ratio_low"], 1);
}

/// A kernel that only an alternative needs may fail.
TEST(Alternatives, BrokenAlternativesDoNotShip) {
  SplitBundle bundle(/*fusedDelay=*/900, /*splitDelay=*/10);
  bundle.write("kernels/plus/0.cpp",
               TestBundle::kernelSource("plus_0", "float", "y[i] = 0;"));
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.shippedKernels(), Names{"axpy"});
  EXPECT_TRUE(bundle.report()["programs"].empty());
}

TEST(Alternatives, AreChecked) {
  auto expectError = [](const std::function<void(Json &)> &change,
                        const std::string &message) {
    SplitBundle bundle(10, 10);
    change(bundle.json["alternatives"][0]);
    bundle.save();
    try {
      readBundle(bundle.folder());
      ADD_FAILURE() << "accepted, expected: " << message;
    } catch (const Failure &problem) {
      EXPECT_NE(std::string(problem.what()).find(message), std::string::npos)
          << problem.what();
    }
  };
  expectError([](Json &json) { json["kernel"] = "nothing"; },
              "unknown kernel \"nothing\"");
  expectError([](Json &json) { json["kernel"] = "plus"; },
              "no step launches this kernel");
  expectError([](Json &json) { json["steps"][0]["kernel"] = "axpy"; },
              "launches the kernel that it replaces");
  expectError([](Json &json) { json["values"][1]["index"] = 2; },
              "there are 2 operands");
  expectError([](Json &json) { json["values"][2]["bytes"] = 8447; },
              "multiple of 256");
  expectError([](Json &json) { json["values"][2]["bytes"] = 256; },
              "this value has 256 bytes");
  expectError(
      [](Json &json) {
        json["values"][0] = {{"kind", "weight"}, {"index", 0}};
      },
      "expected an input");
  expectError([](Json &json) { json["steps"][1]["operands"][0] = 7; },
              "uses value 7");
  expectError([](Json &json) { std::swap(json["steps"][0], json["steps"][1]); },
              "which no earlier step writes");
  expectError([](Json &json) { json["steps"].erase(1); },
              "no step writes output 'y'");
  expectError(
      [](Json &json) {
        json["steps"][0]["results"][0] = 3;
        json["steps"][1]["operands"][0] = 0;
      },
      "which an earlier step writes too");
  expectError(
      [](Json &json) {
        json["values"].push_back(
            {{"kind", "part"}, {"of", 0}, {"offset", 16}, {"bytes", 8448}});
        json["steps"][0]["operands"][0] = 4;
      },
      "a part ends at byte 8464");
}

} // namespace
