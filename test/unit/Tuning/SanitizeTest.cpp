//===- SanitizeTest.cpp - Winners under compute-sanitizer -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neither a GPU nor the tool is here. A stand-in for nvcc makes the worker of
// host sources, and one for compute-sanitizer writes what the real one would.
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"
#include "fact/Tuning/Tuner.h"
#include <sys/stat.h>

using namespace fact::tuning;

namespace {

TEST(Sanitizer, NoErrors) {
  EXPECT_EQ(findSanitizerError("========= COMPUTE-SANITIZER\n"
                               "========= ERROR SUMMARY: 0 errors\n"),
            "");
  EXPECT_EQ(findSanitizerError("========= COMPUTE-SANITIZER\n"
                               "========= RACECHECK SUMMARY: 0 hazards "
                               "displayed (0 errors, 0 warnings)\n"),
            "");
}

TEST(Sanitizer, WarningsAreNoErrors) {
  EXPECT_EQ(
      findSanitizerError(
          "========= COMPUTE-SANITIZER\n"
          "========= Warning: Race reported between Write access at f+0x10\n"
          "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 "
          "warning)\n"),
      "");
}

TEST(Sanitizer, TheFirstErrorIsNamed) {
  EXPECT_EQ(
      findSanitizerError("========= COMPUTE-SANITIZER\n"
                         "========= Invalid __global__ write of size 4 bytes\n"
                         "=========     at fact::row_kernel+0x90\n"
                         "========= Invalid __global__ read of size 2 bytes\n"
                         "========= ERROR SUMMARY: 2 errors\n"),
      "Invalid __global__ write of size 4 bytes");
  EXPECT_EQ(
      findSanitizerError(
          "========= COMPUTE-SANITIZER\n"
          "========= Warning: Race reported between Write access at f+0x10\n"
          "========= Error: Race reported between Write access at g+0x20\n"
          "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 "
          "warning)\n"),
      "Error: Race reported between Write access at g+0x20");
}

TEST(Sanitizer, AToolThatDidNotRunSaysNothing) {
  EXPECT_EQ(findSanitizerError(""), std::nullopt);
  EXPECT_EQ(findSanitizerError("========= COMPUTE-SANITIZER\n"
                               "========= Error: Device not supported\n"),
            std::nullopt);
}

class Sanitize : public testing::Test {
protected:
  Sanitize() {
    bundle.json["target"] = {{"kind", "cuda"}, {"arch", "sm_90a"}};
    // Always in one place, so that what it compiles is found in the cache.
    fs::path nvcc = fs::path(FACT_TEST_CACHE) / "tools" / "nvcc";
    script(nvcc, R"(#!/bin/bash
# Sources for the GPU become those for the host.
words=() text=
while [ $# -gt 0 ]; do
  case $1 in
  --version) echo "nvcc: a stand-in"; exit ;;
  -Xcompiler | -Xptxas | -Xlinker) shift ;;
  */CudaDevice.cu) text='#include "HostDevice.cpp"
#include "ThreadPool.cpp"' ;;
  */CudaLoad.cu) text='// HostMeasure.cpp has it.' ;;
  */CudaMeasure.cu) text='#include "HostMeasure.cpp"' ;;
  *) words+=("$1") ;;
  esac
  shift
done
compiler=(COMPILER -std=c++17 -O1 -ffp-contract=off -fPIC -IRUNTIME)
[ -z "$text" ] && exec "${compiler[@]}" "${words[@]}"
echo "$text" | "${compiler[@]}" "${words[@]}" -x c++ -
)");
    bundle.json["commands"] = {
        {"compile",
         {nvcc.string(), "{flags}", "-c", "{source}", "-o", "{output}"}},
        {"link",
         {nvcc.string(), "-shared", "{inputs}", "{link}", "-o", "{output}"}},
        {"link_program",
         {nvcc.string(), "{inputs}", "{link}", "-o", "{output}"}}};
    path = std::getenv("PATH");
    setenv("PATH", (tools().string() + ":" + path).c_str(), 1);
    bundle.addCandidate("first", "y[i] = 2 * x[i] + w[i];");
  }
  ~Sanitize() override { setenv("PATH", path.c_str(), 1); }

  fs::path tools() const { return bundle.folder() / "tools"; }

  static void script(const fs::path &file, std::string text) {
    auto replaceAll = [&](const std::string &from, const std::string &to) {
      for (size_t at; (at = text.find(from)) != std::string::npos;)
        text.replace(at, from.size(), to);
    };
    replaceAll("RUNTIME", (TestBundle::source() / "lib/Runtime").string());
    replaceAll("COMPILER", FACT_TEST_COMPILER);
    createFolder(file.parent_path());
    // Tests run side by side: another may be executing it right now.
    fs::path aside = file;
    aside += "." + std::to_string(getpid());
    writeFile(aside, text);
    chmod(aside.c_str(), 0755);
    fs::rename(aside, file);
  }

  /// A compute-sanitizer that runs the worker, and finds something in jobs of
  /// the given tool and candidate.
  void writeTool(const std::string &tool, const std::string &candidate,
                 const std::string &finding) {
    script(tools() / "compute-sanitizer", R"(#!/bin/bash
tool=$2 log=$8 job=${10}
shift 8
"$@" || exit
if [ "$tool" = ")" + tool + R"(" ] && grep -q "candidate )" +
                                              candidate + R"( " "$job"; then
  echo "========= )" + finding + R"(" > "$log"
  echo "========= ERROR SUMMARY: 1 error" >> "$log"
  exit 97
fi
echo "========= ERROR SUMMARY: 0 errors" > "$log"
)");
  }

  /// With time for a machine that compiles other things too.
  Outcome tune(const std::vector<std::string> &options) {
    bundle.save();
    Command command = bundle.tuneCommand(options);
    command.timeoutSeconds = 600;
    writeFile(command.log, "");
    Outcome outcome = runCommand(command);
    bundle.log = readFile(command.log);
    return outcome;
  }

  void expectLog(const std::string &part) {
    EXPECT_NE(bundle.log.find(part), std::string::npos) << part << "\n"
                                                        << bundle.log;
  }

  TestBundle bundle;
  std::string path;
};

TEST_F(Sanitize, WinnersPassAllTools) {
  writeTool("none", "none", "");
  ASSERT_TRUE(tune({"--sanitize", "--no-link"}).succeeded()) << bundle.log;
  Json expected = {"memcheck", "racecheck", "initcheck", "synccheck"};
  EXPECT_EQ(bundle.report()["kernels"][0]["sanitized"], expected);
  expectLog("racecheck #0");
  // What the database knows is run again, for its objects are there.
  ASSERT_TRUE(tune({"--sanitize", "--no-link"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["sanitized"], expected);
  expectLog("known #0");
  // And where they are not, it is built again.
  fs::remove_all(bundle.folder() / "build" / "axpy");
  ASSERT_TRUE(tune({"--sanitize", "--no-link"}).succeeded()) << bundle.log;
  expectLog("racecheck #0");
}

TEST_F(Sanitize, AFindingRejectsTheWinner) {
  writeTool("racecheck", "axpy_0", "Error: Race reported between threads");
  // Right, and slower.
  bundle.addCandidate("second", "usleep(20); y[i] = 2 * x[i] + w[i];");
  ASSERT_TRUE(tune({"--sanitize", "--no-link"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"wrong", "ok"}));
  Json kernel = bundle.report()["kernels"][0];
  EXPECT_EQ(kernel["schedule"], "second");
  EXPECT_EQ(kernel["attempts"][0]["detail"],
            "compute-sanitizer, racecheck: Error: Race reported between "
            "threads");
  std::string log = readFile(kernel["attempts"][0]["log"].get<std::string>());
  EXPECT_NE(log.find("Race reported between threads"), std::string::npos);
}

TEST_F(Sanitize, NothingIsLeft) {
  writeTool("memcheck", "axpy_0", "Invalid __global__ read of size 4 bytes");
  EXPECT_FALSE(tune({"--sanitize", "--no-link"}).succeeded());
  expectLog("has no candidate left");
  expectLog("memcheck: Invalid __global__ read of size 4 bytes");
}

TEST_F(Sanitize, AToolThatCannotRun) {
  script(tools() / "compute-sanitizer",
         "#!/bin/bash\necho 'Error: Device not supported' >&2\nexit 1\n");
  EXPECT_FALSE(tune({"--sanitize", "--no-link"}).succeeded());
  expectLog("compute-sanitizer --tool memcheck does not work here");
  expectLog("Device not supported");
}

TEST_F(Sanitize, NoTool) {
  if (fs::exists("/usr/local/cuda/bin/compute-sanitizer"))
    GTEST_SKIP() << "this machine has one, wherever PATH points";
  // The compiler is named by its path, and bash is wherever it was.
  setenv("PATH", "/nowhere", 1);
  EXPECT_FALSE(tune({"--sanitize"}).succeeded());
  expectLog("compute-sanitizer was found neither on PATH nor in CUDA_HOME/bin");
}

TEST_F(Sanitize, HostBundles) {
  TestBundle host;
  host.addCandidate("first", "y[i] = 2 * x[i] + w[i];");
  EXPECT_FALSE(host.tune({"--sanitize"}).succeeded());
  EXPECT_NE(host.log.find("compute-sanitizer checks CUDA kernels"),
            std::string::npos)
      << host.log;
}

} // namespace
