//===- BundleTest.cpp - What the reader accepts and how it refuses --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Bundle.h"
#include "TestBundle.h"
#include "fact/Tuning/Tuner.h"
#include <functional>

using namespace fact::tuning;

namespace {

class BundleTest : public testing::Test {
protected:
  BundleTest() { bundle.addCandidate("plain", "y[i] = 2 * x[i] + w[i];"); }

  std::string failure() {
    bundle.save();
    try {
      readBundle(bundle.folder());
    } catch (const Failure &problem) {
      return problem.what();
    }
    return "no failure";
  }

  TestBundle bundle;
};

TEST_F(BundleTest, ReadsTheSample) {
  bundle.save();
  Bundle read = readBundle(bundle.folder());
  EXPECT_EQ(read.name, "sample");
  EXPECT_FALSE(read.target.cuda);
  ASSERT_EQ(read.kernels.size(), 1u);
  EXPECT_TRUE(read.kernels[0].used);
  EXPECT_EQ(read.kernels[0].fixedOperands, (std::vector<bool>{false, true}));
  EXPECT_EQ(read.kernels[0].referenceType(0), fact::runtime::ElementType::F64);
  EXPECT_EQ(read.inputs[0].text(), "f32 [64, 33]");
}

/// What the compiler writes, fact-tune reads: one description is both.
TEST_F(BundleTest, WritesWhatItReads) {
  bundle.json["magic"] = "fact-bundle";
  bundle.json["signature"] = "{}";
  bundle.json["target"] = {{"kind", "host"},
                           {"arch", "native"},
                           {"machine", "here"},
                           {"cpu",
                            {{"architecture", "x86_64"},
                             {"name", "x86-64-v3"},
                             {"features", {"avx2", "fma"}}}}};
  bundle.json["weights"][0]["baked"] = "fnv1a64:0123456789abcdef";
  bundle.json["weights"][0]["data"] = "weight.bin";
  bundle.json["constants"] = {
      {{"type", "f32"}, {"shape", {2}}, {"data", "constant.bin"}}};
  bundle.json["workspace_bytes"] = 1024;
  bundle.json["values"].push_back(
      {{"kind", "workspace"}, {"offset", 256}, {"bytes", 768}});
  bundle.kernel()["problem"] = {{"format", 2},
                                {"dtype", "f32"},
                                {"ops", "mul,add"},
                                {"extents", {{"elements", 2112}}},
                                {"example", "00_basic_gemm"}};
  bundle.kernel()["strategy"] = {{"kind", "adapt"},
                                 {"entry", "pointwise/f32/native#0123456789"}};
  bundle.kernel()["priority"] = -3;
  bundle.kernel()["operands"][0].update(Json{{"scale", 0.25},
                                             {"large", 1024},
                                             {"negative", 160},
                                             {"mask", true},
                                             {"avoid", {"nan", "+inf"}}});
  bundle.kernel()["operands"][1].update(
      Json{{"scale", 1}, {"large", 0}, {"middle", 4}});
  bundle.kernel()["results"][0]["tolerance"].update(
      Json{{"large", 0.125}, {"rows", 33}});
  bundle.kernel()["results"][0]["undecided"] = true;
  bundle.candidates()[0].update(
      Json{{"flags", {"-O2"}}, {"link", {"-lm"}}, {"repeatable", false}});
  bundle.write("weight.bin", std::string(64 * 33 * 4, 'w'));
  bundle.write("constant.bin", "12345678");
  bundle.save();
  std::string text = printBundle(readBundle(bundle.folder()));
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json(bundle.json));
  // The same bytes each time.
  bundle.write("bundle.json", text);
  EXPECT_EQ(printBundle(readBundle(bundle.folder())), text);
}

TEST_F(BundleTest, MeasurementsOutliveAnAgentsDecisions) {
  auto hash = [&] {
    bundle.save();
    return readBundle(bundle.folder()).kernels[0].hash;
  };
  std::string before = hash();
  bundle.kernel()["priority"] = 7;
  bundle.kernel()["strategy"] = {{"kind", "new"}};
  EXPECT_EQ(hash(), before);
  bundle.kernel()["sol_us"] = 2;
  EXPECT_NE(hash(), before);
}

TEST_F(BundleTest, ExpandsCommands) {
  bundle.save();
  Bundle read = readBundle(bundle.folder());
  Words words = read.expand({"cc", "-I{bundle}/include", "{flags}", "{source}",
                             "{inputs}", "{link}", "-o{output}"},
                            "a b.cpp", {"1.o", "2.o"}, {"-f", "-g"}, {}, "out");
  Words expected = {"cc",      "-I" + read.folder.string() + "/include",
                    "-f",      "-g",
                    "a b.cpp", "1.o",
                    "2.o",     "-oout"};
  EXPECT_EQ(words, expected);
}

TEST_F(BundleTest, NoBundle) {
  TemporaryFolder empty;
  try {
    readBundle(empty.path);
    FAIL();
  } catch (const Failure &problem) {
    EXPECT_NE(std::string(problem.what()).find("is not a bundle"),
              std::string::npos);
  }
}

TEST_F(BundleTest, SaysWhereAndWhatWouldBeRight) {
  struct Case {
    std::function<void(Json &)> damage;
    const char *message;
  };
  const Case cases[] = {
      {[](Json &j) { j["format"] = 1; }, "$.format: this fact-tune reads"},
      {[](Json &j) { j.erase("inputs"); }, "$: 'inputs' is missing"},
      {[](Json &j) { j["name"] = "a-b"; },
       "$.name: expected a C identifier, found \"a-b\""},
      {[](Json &j) { j["target"]["kind"] = "tpu"; },
       "$.target.kind: expected \"cuda\" or \"host\", found \"tpu\""},
      {[](Json &j) { j["inputs"][0]["type"] = "float"; },
       "$.inputs[0].type: expected one of f64"},
      {[](Json &j) { j["inputs"][0]["shape"][1] = -3; },
       "$.inputs[0].shape[1]: expected an integer of 0 or more, found -3"},
      {[](Json &j) { j["weights"][0]["baked"] = "md5:0"; },
       "$.weights[0].baked: expected \"fnv1a64:\""},
      {[](Json &j) { j["values"][1]["index"] = 4; },
       "$.values[1]: 'index' is 4, but there are 1 weights"},
      {[](Json &j) {
         j["values"][1] = {{"kind", "workspace"}, {"offset", 8}, {"bytes", 0}};
       },
       "$.values[1]: expected an 'offset' that is a multiple of 256, found 8"},
      {[](Json &j) {
         j["values"][1] = {
             {"kind", "workspace"}, {"offset", 256}, {"bytes", 9}};
       },
       "$.values[1]: ends at byte 265, but the bundle has 0 bytes of "
       "workspace"},
      {[](Json &j) { j["program"][0]["kernel"] = "gemm"; },
       "$.program[0].kernel: unknown kernel \"gemm\""},
      {[](Json &j) { j["program"][0]["operands"] = {0}; },
       "$.program[0].operands: kernel \"axpy\" has 2 operands, found 1"},
      {[](Json &j) { j["program"][0]["operands"][1] = 9; },
       "$.program[0].operands[1]: is 9, but there are 3 values"},
      {[](Json &j) { j["program"][0]["operands"][1] = uint64_t(1) << 32; },
       "$.program[0].operands[1]: expected an index of 32 bits"},
      {[](Json &j) { j["values"][0]["kind"] = "stack"; },
       "$.values[0].kind: expected \"input\", \"weight\", \"constant\", "
       "\"prepared\", \"workspace\", \"output\" or \"part\", found \"stack\""},
      {[](Json &j) { j["weights"].push_back(j["weights"][0]); },
       "$.weights[1]: duplicate name \"w\""},
      {[](Json &j) {
         Json &candidates = j["kernels"][0]["candidates"];
         candidates.push_back(Json(candidates[0]));
       },
       "$.kernels[0].candidates[1]: duplicate key \"plain\""},
      {[](Json &j) { j["kernels"][0]["operands"][0]["avoid"] = {"zero"}; },
       "$.kernels[0].operands[0].avoid[0]: expected \"nan\", "},
      {[](Json &j) { j["kernels"][0]["sol_us"] = -1; },
       "$.kernels[0].sol_us: expected a number of 0 or more, found -1"},
      {[](Json &j) { j["kernels"][0]["strategy"] = {{"kind", "guess"}}; },
       "$.kernels[0].strategy.kind: expected \"reuse\", \"adapt\" or \"new\", "
       "found \"guess\""},
      {[](Json &j) { j["kernels"][0]["priority"] = 0.5; },
       "$.kernels[0].priority: expected an integer of 64 bits, found 0.5"},
      {[](Json &j) { j["kernels"][0]["problem"] = {{"dtype", "f32"}}; },
       "$.kernels[0].problem: 'ops' is missing"},
      {[](Json &j) { j["program"][0]["results"] = {1}; },
       "'program' may write only workspace and outputs"},
      {[](Json &j) { j["kernels"][0]["operands"][0]["shape"] = {2}; },
       "$.program[0].operands[0]: this value has 8448 bytes"},
      {[](Json &j) { j["kernels"][0]["operands"][0]["type"] = "i32"; },
       "an integer operand needs \"fill\""},
      {[](Json &j) { j["kernels"][0]["candidates"] = Json::array(); },
       "expected at least one candidate"},
      {[](Json &j) {
         j["kernels"][0]["candidates"][0]["source"] = "kernels/none.cpp";
       },
       "$.kernels[0].candidates[0].source: no such file: "},
      {[](Json &j) { j["kernels"][0]["candidates"][0].erase("source"); },
       "expected one of 'source' and 'object'"},
      {[](Json &j) { j["commands"]["compile"] = {"cc"}; },
       "$.commands.compile: no word contains {flags}"},
      {[](Json &j) { j["program"] = Json::array(); },
       "no step writes output 'y'"},
  };
  Json good = bundle.json;
  for (const Case &each : cases) {
    bundle.json = good;
    each.damage(bundle.json);
    EXPECT_NE(failure().find(each.message), std::string::npos)
        << failure() << "\nexpected: " << each.message;
  }
  bundle.json = good;
  EXPECT_EQ(failure(), "no failure");
}

TEST_F(BundleTest, PathsStayInside) {
  TemporaryFolder outside;
  writeFile(outside.path / "secret", "12345678");
  fs::create_symlink(outside.path / "secret", bundle.folder() / "link.bin");
  fs::create_symlink(outside.path, bundle.folder() / "folder");
  bundle.write("constant.bin", "12345678");
  fs::create_symlink("constant.bin", bundle.folder() / "inside.bin");
  fs::path up = fs::path("..") / outside.path.filename() / "secret";
  for (const std::string &path :
       {(outside.path / "secret").string(), up.string(),
        "kernels/../" + up.string(), std::string("kernels/../constant.bin"),
        (bundle.folder() / "constant.bin").string(), std::string(),
        std::string("constant.bin\0", 13)}) {
    bundle.json["constants"] = {
        {{"type", "f32"}, {"shape", {2}}, {"data", path}}};
    EXPECT_NE(failure().find("$.constants[0].data: expected a path inside of "
                             "the bundle"),
              std::string::npos)
        << path << ": " << failure();
  }
  for (const char *path : {"link.bin", "folder/secret"}) {
    bundle.json["constants"] = {
        {{"type", "f32"}, {"shape", {2}}, {"data", path}}};
    EXPECT_NE(failure().find("which is outside of the bundle"),
              std::string::npos)
        << path << ": " << failure();
  }
  bundle.json["constants"] = {
      {{"type", "f32"}, {"shape", {2}}, {"data", "inside.bin"}}};
  EXPECT_EQ(failure(), "no failure");
  // Sources and objects are paths of the same kind.
  bundle.candidates()[0]["source"] = "../kernel.cpp";
  EXPECT_NE(failure().find("expected a path inside"), std::string::npos);
}

TEST_F(BundleTest, LimitsOfJson) {
  auto failureOf = [&](const std::string &text) -> std::string {
    bundle.write("bundle.json", text);
    try {
      readBundle(bundle.folder());
    } catch (const Failure &problem) {
      return problem.what();
    }
    return "no failure";
  };
  for (const std::string &open : {std::string("["), std::string("{\"a\":")}) {
    std::string deep = "{\"format\": ";
    for (int i = 0; i < 2000000; ++i)
      deep += open;
    // An unfinished text, and a whole one.
    EXPECT_NE(failureOf(deep).find("bundle.json: "), std::string::npos);
    deep += "0";
    for (int i = 0; i < 2000000; ++i)
      deep += open == "[" ? "]" : "}";
    EXPECT_NE(failureOf(deep + "}").find("is nested deeper than 32 levels"),
              std::string::npos);
  }
  bundle.json["inputs"][0]["shape"] = std::vector<int>(65, 1);
  EXPECT_NE(failure().find("expected at most 64 extents, found 65"),
            std::string::npos);
  bundle.json["inputs"][0]["shape"] = {0, uint64_t(1) << 63};
  EXPECT_NE(failure().find("$.inputs[0].shape[1]: is larger than 2^48"),
            std::string::npos);
}

TEST_F(BundleTest, NamesAndKeys) {
  bundle.json["weights"][0]["name"] = std::string("w\0x", 3);
  EXPECT_NE(failure().find("$.weights[0].name: expected a name without zero "
                           "bytes, found \"w\\u0000x\""),
            std::string::npos)
      << failure();
  bundle.json["weights"][0]["name"] = "w";
  bundle.candidates()[0]["key"] = "a\x1b[2J";
  EXPECT_NE(failure().find("expected text without control characters"),
            std::string::npos)
      << failure();
  // What is quoted moves no cursor.
  bundle.candidates()[0]["key"] = "plain";
  bundle.json["inputs"][0]["type"] = "f\x1b[2J\xc2\x9b";
  EXPECT_NE(failure().find("found \"f\\x1b[2J\\xc2\\x9b\""), std::string::npos)
      << failure();
}

TEST_F(BundleTest, ConstantsHaveTheirSize) {
  bundle.json["constants"] = {
      {{"type", "f32"}, {"shape", {4}}, {"data", "constant.bin"}}};
  bundle.write("constant.bin", "12345678");
  EXPECT_NE(failure().find("has 8 bytes; f32 [4] has 16"), std::string::npos);
}

TEST(Spills, FoundInPtxasOutput) {
  EXPECT_EQ(findSpills("    0 bytes stack frame, 0 bytes spill stores, 0 bytes "
                       "spill loads\nptxas info    : Used 168 registers\n"),
            "");
  EXPECT_EQ(findSpills("ptxas info\n    8 bytes stack frame, 12 bytes spill "
                       "stores, 16 bytes spill loads\n"),
            "8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads");
  EXPECT_NE(findSpills("ptxas info    : (C7510) Potential Performance Loss: "
                       "wgmma.mma_async instructions are serialized\n"),
            "");
}

TEST(Warnings, FoundInALine) {
  EXPECT_EQ(findWarnings("$ nvcc -Xptxas -v -Wno-warning\n"), "");
  EXPECT_EQ(
      findWarnings("ptxas info    : Used 40 registers, used 1 barriers\n"
                   "a.cu(3): warning #177-D: variable \"x\" is unused\n"
                   "b.cu(9): warning #177-D: variable \"x\" is unused\n"
                   "1 warning generated.\n"
                   "    8 bytes stack frame, 12 bytes spill stores, 16 bytes "
                   "spill loads\n"
                   "ptxas info    : Used 168 registers\n"),
      "168 registers; 8 bytes stack frame, 12 bytes spill stores, 16 bytes "
      "spill loads; warning #177-D: variable \"x\" is unused");
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "warning: " + std::to_string(i) + "\n";
  EXPECT_EQ(findWarnings(many).size(), 300u);
}

} // namespace
