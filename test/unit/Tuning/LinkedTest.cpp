//===- LinkedTest.cpp - What is linked was verified -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Databases, caches, objects and headers change between runs: none of it ships
// a wrong library.
//
//===----------------------------------------------------------------------===//

#include "LinkedFixture.h"
#include "fact/Tuning/ContentHash.h"

using namespace fact::tuning;

namespace {

TEST_F(Linked, AnEditedDatabase) {
  bundle.addCandidate("zeros", "y[i] = 0;");
  bundle.addCandidate("good", correct);
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  execute("UPDATE attempts SET status = 'ok', us = 0.001 WHERE status = "
          "'wrong'");
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("refused #0   wrong: in the linked library, ");
  EXPECT_EQ(bundle.report()["kernels"][0]["schedule"], "good");
  EXPECT_EQ(bundle.report()["checked"], true);
  EXPECT_EQ(run(), 2.5f);
  // The stricter evidence stays.
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.log.find("refused"), std::string::npos) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"wrong", "ok"}));
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 2);
}

TEST_F(Linked, NothingElseIsLeft) {
  bundle.addCandidate("zeros", "y[i] = 0;");
  EXPECT_EQ(link().code, 1);
  execute("UPDATE attempts SET status = 'ok', us = 0.001");
  EXPECT_EQ(link().code, 1);
  expectLog("error: kernel 'axpy' has no candidate left");
  EXPECT_FALSE(fs::exists(library));
}

/// As after another checkout of CUTLASS with the same version.
TEST_F(Linked, AChangedHeader) {
  fs::path headers = bundle.folder() / "cutlass/include/cutlass";
  createFolder(headers);
  writeFile(headers / "cutlass.h", "");
  writeFile(headers / "version.h",
            "#define CUTLASS_MAJOR 4\n#define "
            "CUTLASS_MINOR 2\n#define CUTLASS_PATCH 0\n");
  writeFile(headers / "scale.h", "#define SCALE 2\n");
  bundle.json["commands"]["compile"].insert(
      bundle.json["commands"]["compile"].begin() + 1, "-I{cutlass}/include");
  bundle.addSource("good",
                   "#include \"cutlass/scale.h\"\n" +
                       TestBundle::kernelSource("axpy_0", "float",
                                                "y[i] = SCALE * x[i] + w[i];"));
  std::vector<std::string> options = {"--cutlass",
                                      (bundle.folder() / "cutlass").string()};
  ASSERT_TRUE(link(options).succeeded()) << bundle.log;
  EXPECT_EQ(run(), 2.5f);
  writeFile(headers / "scale.h", "#define SCALE 3\n");
  EXPECT_EQ(link(options).code, 1) << bundle.log;
  EXPECT_FALSE(fs::exists(library));
  fs::remove_all(bundle.folder() / "build");
  EXPECT_EQ(link(options).code, 1) << bundle.log;
  EXPECT_FALSE(fs::exists(library));
}

/// The compiler itself changed, and does not say so.
TEST_F(Linked, ACopyWithoutObjects) {
  bundle.addCandidate("good", "\n#ifdef OTHER\ny[i] = 0;\n#else\n" +
                                  std::string(correct) + "\n#endif\n");
  writeLauncher("exec \"$@\"");
  std::vector<std::string> options = {"--launcher",
                                      (bundle.folder() / "launcher").string()};
  ASSERT_TRUE(link(options).succeeded()) << bundle.log;
  fs::remove_all(bundle.folder() / "build");
  ASSERT_TRUE(link(options).succeeded()) << bundle.log;
  EXPECT_EQ(run(), 2.5f);
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 1);
  expectLog("cached #0");
  fs::remove_all(bundle.folder() / "build/axpy");
  writeLauncher("exec \"$@\" -DOTHER");
  options.insert(options.end(), {"--objects", "none"});
  EXPECT_EQ(link(options).code, 1) << bundle.log;
  expectLog("known #0");
  expectLog("refused #0   wrong: in the linked library, ");
  EXPECT_FALSE(fs::exists(library));
}

TEST_F(Linked, ACorruptedObject) {
  bundle.addCandidate("good", correct);
  bundle.addCandidate("slow", std::string(correct) +
                                  " for (volatile int n = 0; n < 300; ++n) {}");
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  ASSERT_EQ(bundle.report()["kernels"][0]["schedule"], "good");
  // An object of another source under the stamp of this one.
  fs::path object = bundle.folder() / "build/axpy/0.o";
  bundle.write("zeros.cpp",
               TestBundle::kernelSource("axpy_0", "float", "y[i] = 0;"));
  Command compile;
  compile.words = {FACT_TEST_COMPILER,
                   "-std=c++17",
                   "-fPIC",
                   "-I" + (bundle.folder() / "include").string(),
                   "-c",
                   (bundle.folder() / "zeros.cpp").string(),
                   "-o",
                   object.string()};
  ASSERT_TRUE(runCommand(compile).succeeded());
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("cached #0");
  EXPECT_EQ(run(), 2.5f);
  // And under a stamp that was made to match.
  ASSERT_TRUE(runCommand(compile).succeeded());
  fs::path stamp = bundle.folder() / "build/axpy/0.o.stamp";
  std::string text = readFile(stamp);
  writeFile(stamp, text.substr(0, text.find('\n') + 1) +
                       ContentHash().add(readFile(object)).text() + "\n");
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("refused #0   wrong: in the linked library, ");
  EXPECT_EQ(bundle.report()["kernels"][0]["schedule"], "slow");
  EXPECT_EQ(run(), 2.5f);
}

TEST_F(Linked, AWorkerThatDoesNotLink) {
  bundle.addCandidate("good", correct);
  bundle.json["commands"]["link_program"].push_back("-lno_such_library");
  EXPECT_EQ(link().code, 1);
  expectLog("error: cannot link the measuring worker (");
  expectLog("no_such_library");
  expectLog("the linker's messages are in " +
            (fs::canonical(bundle.folder()) / "build/worker.log").string());
}

TEST_F(Linked, AKernelThatCrashesInTheLibrary) {
  std::string marker = (bundle.folder() / "marker").string();
  bundle.addCandidate("crash", "if (row == 0 && access(\"" + marker +
                                   "\", F_OK) == 0) *(volatile int *)8 = 1; " +
                                   correct);
  bundle.addCandidate("slow", std::string(correct) +
                                  " for (volatile int n = 0; n < 300; ++n) {}");
  ASSERT_TRUE(link({"--no-link"}).succeeded()) << bundle.log;
  bundle.write("marker", "");
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("refused #0   crash: in the linked library, SIGSEGV");
  EXPECT_EQ(bundle.report()["kernels"][0]["schedule"], "slow");
  EXPECT_EQ(run(), 2.5f);
}

TEST_F(Linked, UntunedIsVerifiedToo) {
  bundle.addCandidate("zeros", "y[i] = 0;");
  bundle.addCandidate("good", correct);
  ASSERT_TRUE(link({"--untuned"}).succeeded()) << bundle.log;
  expectLog("refused #0   wrong");
  EXPECT_EQ(run(), 2.5f);
  ASSERT_TRUE(link({"--untuned", "--no-check"}).succeeded()) << bundle.log;
  expectLog("check     skipped: this library was not verified");
  EXPECT_EQ(bundle.report()["checked"], false);
  EXPECT_EQ(run(), 0);
}

/// y = 2 p + w with p = 2 q + w and q = 2 x + w, in workspace.
class Composed : public Linked {
protected:
  static constexpr uint64_t bytes = 8448;

  Composed() {
    bundle.json["workspace_bytes"] = 2 * bytes;
    bundle.json["values"].push_back(
        {{"kind", "workspace"}, {"offset", 0}, {"bytes", bytes}});
    bundle.json["values"].push_back(
        {{"kind", "workspace"}, {"offset", bytes}, {"bytes", bytes}});
    auto step = [](int operand, int result) {
      return Json{{"kernel", "axpy"},
                  {"operands", {operand, 1}},
                  {"results", {result}}};
    };
    bundle.json["program"] = {step(0, 3), step(3, 4), step(4, 2)};
  }
};

TEST_F(Composed, Right) {
  bundle.addCandidate("good", correct);
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("check     3 of 3 steps against references, the library against "
            "its steps");
  EXPECT_EQ(run(), 2 * (2 * 2.5f + 0.5f) + 0.5f);
}

TEST_F(Composed, StepsInAnotherOrder) {
  bundle.addCandidate("good", correct);
  std::swap(bundle.json["program"][0], bundle.json["program"][1]);
  EXPECT_EQ(link().code, 1);
  expectLog("$.program[0]: reads value 3, which no earlier step writes");
}

TEST_F(Composed, ValuesThatShareMemory) {
  bundle.addCandidate("good", correct);
  bundle.json["values"][4]["offset"] = bytes - 256;
  EXPECT_EQ(link().code, 1);
  expectLog("values 3 and 4 share memory while both are needed");
  EXPECT_FALSE(fs::exists(library));
}

TEST_F(Composed, AValueThatIsWrittenTwice) {
  bundle.addCandidate("good", correct);
  bundle.json["program"][1]["results"] = {3};
  EXPECT_EQ(link().code, 1);
  expectLog("$.program[1]: writes value 3, which an earlier step writes too");
}

/// Right by itself, where operands and results are far apart; wrong beside its
/// neighbors in the workspace.
TEST_F(Composed, AKernelThatMindsItsNeighbors) {
  bundle.addCandidate("good",
                      "y[i] = 2 * x[i] + w[i]; if (reinterpret_cast<const char "
                      "*>(y) - reinterpret_cast<const char *>(x) == 8448 && i "
                      "== 7) y[i] = 0;");
  EXPECT_EQ(link().code, 1);
  expectLog(
      "the linked library does not compute its program: output 'y' of "
      "the library: 1 of 2112 elements differ from what its steps compute");
  EXPECT_FALSE(fs::exists(library));
  ASSERT_TRUE(link({"--no-check"}).succeeded()) << bundle.log;
}

/// The same with p and q as parts of one value.
class Parts : public Composed {
protected:
  Parts() {
    bundle.addCandidate("good", correct);
    Json &values = bundle.json["values"];
    values[3]["bytes"] = 2 * bytes;
    values[4] = part(3, 0, bytes);
    values.push_back(part(3, bytes, bytes));
    bundle.json["program"][0]["results"] = {5};
    bundle.json["program"][1]["operands"] = {5, 1};
  }

  static Json part(uint32_t of, uint64_t offset, uint64_t size) {
    return {{"kind", "part"}, {"of", of}, {"offset", offset}, {"bytes", size}};
  }
};

TEST_F(Parts, Right) {
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("check     3 of 3 steps against references, the library against "
            "its steps");
  EXPECT_EQ(run(), 2 * (2 * 2.5f + 0.5f) + 0.5f);
}

TEST_F(Parts, OfAPart) {
  bundle.json["values"][5]["of"] = 4;
  EXPECT_EQ(link().code, 1);
  expectLog("$.values[5]: 'of' is 4; expected the position of an earlier value "
            "that is not a part");
}

TEST_F(Parts, BeyondTheWhole) {
  bundle.json["values"][5]["offset"] = bytes + 4;
  EXPECT_EQ(link().code, 1);
  expectLog("$.values[5]: ends at byte 16900, but value 3 has 16896");
}

TEST_F(Parts, NotAligned) {
  bundle.json["values"][5]["offset"] = bytes - 2;
  EXPECT_EQ(link().code, 1);
  expectLog("this value begins at byte 8446 of value 3; the kernel's result "
            "needs a multiple of 4");
}

TEST_F(Parts, ThatOverlap) {
  bundle.json["values"][5]["offset"] = bytes - 4;
  EXPECT_EQ(link().code, 1);
  expectLog("$.program[1]: writes value 4, which an earlier step writes too");
}

TEST_F(Parts, ReadBeforeTheyAreWritten) {
  bundle.json["program"][0]["operands"] = {4, 1};
  EXPECT_EQ(link().code, 1);
  expectLog("$.program[0]: reads value 4, which no earlier step writes");
}

TEST_F(Parts, SharedWithAnotherValue) {
  bundle.json["values"].push_back(
      {{"kind", "workspace"}, {"offset", bytes}, {"bytes", bytes}});
  bundle.json["program"][1]["results"] = {6};
  Json step = {{"kernel", "axpy"}, {"operands", {6, 1}}, {"results", {4}}};
  bundle.json["program"].insert(bundle.json["program"].begin() + 2, step);
  EXPECT_EQ(link().code, 1);
  expectLog("values 3 and 6 share memory while both are needed");
}

/// An index stays inside of what it names, and a baked weight has its value.
TEST_F(Linked, ArgumentsOfTheProgram) {
  bundle.addCandidate("good", correct);
  constexpr size_t count = TestBundle::rows * TestBundle::columns;
  std::vector<float> baked(count, 0.5f);
  std::string value(reinterpret_cast<char *>(baked.data()), count * 4);
  bundle.write("w.bin", value);
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char byte : value)
    hash = (hash ^ byte) * 0x100000001b3ull;
  char text[32];
  std::snprintf(text, sizeof(text), "fnv1a64:%016llx",
                static_cast<unsigned long long>(hash));
  bundle.json["weights"][0]["baked"] = text;
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("check     kernels only: the bundle lacks the value of the baked "
            "weight 'w'");
  bundle.json["weights"][0]["data"] = "w.bin";
  bundle.kernel()["operands"][0].update(
      Json{{"fill", "uniform"}, {"low", 3}, {"high", 4}});
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  expectLog("check     1 of 1 steps against references");
  EXPECT_NE(readFile(bundle.folder() / "build/library.check")
                .find("input uniform 3 4\nweight file "),
            std::string::npos);
}

} // namespace
