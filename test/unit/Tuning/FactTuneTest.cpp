//===- FactTuneTest.cpp - fact-tune on real host bundles ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"
#include "fact/Runtime/Library.h"
#include <algorithm>
#include <csignal>
#include <dlfcn.h>
#include <sys/wait.h>

using namespace fact::tuning;

namespace {

const char correct[] = "y[i] = 2 * x[i] + w[i];";

std::string slow(const std::string &body) {
  return body + " for (volatile int n = 0; n < 300; ++n) {}";
}

/// Seconds that a good candidate needs at most.
#ifdef FACT_TEST_SANITIZE
constexpr char runTimeout[] = "10";
#else
constexpr char runTimeout[] = "2";
#endif

void setLauncher(TestBundle &bundle, const std::string &script) {
  bundle.write("launcher", "#!/bin/sh\n" + script + "exec \"$@\"\n");
  fs::permissions(bundle.folder() / "launcher", fs::perms::owner_all);
}

/// Adds candidates that fail in one way each, and says how.
std::vector<std::string> addBadCandidates(TestBundle &bundle) {
  std::vector<std::string> statuses;
  auto add = [&](const char *status, const char *key, const char *body) {
    bundle.addCandidate(key, body);
    statuses.push_back(status);
  };
  add("hang", "hang", "for (;;) usleep(1000);");
  add("crash", "crash", "*(volatile int *)8 = 1;");
  add("wrong", "one wrong element",
      "y[i] = 2 * x[i] + w[i]; if (i == 1234) y[i] += 0.01f;");
  add("wrong", "zeros", "y[i] = 0;");
  add("wrong", "out of bounds",
      "y[i] = 2 * x[i] + w[i]; if (i == 2111) y[i + 5] = 1;");
  add("wrong", "unwritten", "if (i != 77) y[i] = 2 * x[i] + w[i];");
  add("wrong", "writes its operand",
      "y[i] = 2 * x[i] + w[i]; const_cast<float *>(x)[i] = 0;");
  add("wrong", "not the same twice",
      "static int calls = 0; y[i] = 2 * x[i] + w[i]; "
      "if (i == 5 && ++calls == 4) y[i] += 1;");
  add("compile_error", "does not compile", "y[i] = nonsense;");
  add("compile_timeout", "compile hangs", correct);
  bundle.addSource("undefined symbol",
                   "extern \"C\" { extern int nowhere; } int *p = &nowhere;\n" +
                       TestBundle::kernelSource("axpy_10", "float", correct));
  statuses.push_back("link_error");
  std::string other = TestBundle::kernelSource("axpy_11", "float", correct);
  other.replace(other.rfind("FACT_KERNEL_ABI, 3"), 15, "99");
  bundle.addSource("another ABI", other);
  statuses.push_back("crash");
  return statuses;
}

TEST(FactTune, SurvivesBadCandidatesAndPicksTheFastestGoodOne) {
  TestBundle bundle;
  std::vector<std::string> expected = addBadCandidates(bundle);
  bundle.addCandidate("slow", slow(correct));
  size_t good = bundle.addCandidate(
      "good", std::string(correct) + "\n#warning its rows are odd\n");
  expected.insert(expected.end(), {"ok", "ok"});
  // A compiler that never ends for one source.
  setLauncher(bundle, "case \"$*\" in *axpy/9.cpp*) sleep 100;; esac\n");
  std::vector<std::string> options = {
      "--candidates",      "20",
      "--compile-timeout", "3",
      "--run-timeout",     runTimeout,
      "--launcher",        (bundle.folder() / "launcher").string()};

  Outcome outcome = bundle.tune(options);
  ASSERT_TRUE(outcome.succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(), expected);
  Json kernel = bundle.report()["kernels"][0];
  EXPECT_EQ(kernel["candidate"], good);
  EXPECT_EQ(kernel["schedule"], "good");
  EXPECT_GT(kernel["us"], 0);
  EXPECT_LE(kernel["us_low"], kernel["us"]);
  EXPECT_GE(kernel["us_high"], kernel["us"]);
  EXPECT_EQ(kernel["failures"]["wrong"], 6);
  // What the compiler said of it is kept, of good ones too.
  for (const Json &attempt : kernel["attempts"])
    if (attempt["candidate"] == good)
      EXPECT_NE(attempt["detail"].get<std::string>().find("its rows are odd"),
                std::string::npos);

  // Details name the place and the signal.
  for (const char *part :
       {"SIGSEGV", "while verifying", "wrote outside result 0",
        "the first at [37, 13]", "unwritten", "wrote to operand 0",
        "second run against the first", "undeclared identifier 'nonsense'",
        "nowhere", "kernel ABI 99", "found nan"})
    EXPECT_NE(bundle.log.find(part), std::string::npos) << part << "\n"
                                                        << bundle.log;

  // A second run measures nothing, and compiles what ran out of time.
  setLauncher(bundle, "");
  outcome = bundle.tune(options);
  ASSERT_TRUE(outcome.succeeded()) << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 13);
  std::replace(expected.begin(), expected.end(), std::string("compile_timeout"),
               std::string("ok"));
  EXPECT_EQ(bundle.statuses(), expected);
}

TEST(FactTune, LibraryThroughTheCInterface) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  fs::path output = bundle.folder() / "out/model.so";
  ASSERT_TRUE(bundle.tune({"-o", output.string()}).succeeded()) << bundle.log;
  EXPECT_TRUE(fs::exists(bundle.folder() / "out/sample.h"));
  EXPECT_FALSE(fs::exists(output.string() + ".partial"));
  // The same measurements give the same bytes, wherever they are linked.
  fs::path again = bundle.folder() / "again/model.so";
  fs::remove_all(bundle.folder() / "build");
  ASSERT_TRUE(bundle.tune({"-o", again.string()}).succeeded()) << bundle.log;
  EXPECT_TRUE(readFile(output) == readFile(again));

  void *handle = dlopen(output.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_EQ(dlsym(handle, "axpy_0"), nullptr) << "kernels are not exported";
  EXPECT_NE(dlsym(handle, "sample_create"), nullptr);
  auto entry =
      reinterpret_cast<const FactLibrary *(*)()>(dlsym(handle, "fact_library"));
  ASSERT_NE(entry, nullptr);
  const FactLibrary *library = entry();
  Json description = Json::parse(library->describe());
  EXPECT_EQ(description["kernels"][0]["schedule"], "good");
  EXPECT_EQ(description["kernels"][0]["rule"], "pointwise");
  EXPECT_EQ(description["versions"]["fact"], "test");
  EXPECT_EQ(description["abi"]["library"], FACT_LIBRARY_ABI);
  for (const char *fact : {"machine", "compiler", "target"})
    EXPECT_FALSE(description[fact].empty()) << fact;
  EXPECT_EQ(description["inputs"][0]["shape"],
            Json({TestBundle::rows, TestBundle::columns}));

  constexpr size_t count = TestBundle::rows * TestBundle::columns;
  std::vector<float> x(count), w(count), y(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = static_cast<float>(i);
    w[i] = 0.5f;
  }
  int64_t shape[] = {TestBundle::rows, TestBundle::columns};
  auto tensor = [&](std::vector<float> &data) {
    DLTensor result = {};
    result.data = data.data();
    result.device = {kDLCPU, 0};
    result.ndim = 2;
    result.dtype = {kDLFloat, 32, 1};
    result.shape = shape;
    return result;
  };
  DLTensor tx = tensor(x), tw = tensor(w), ty = tensor(y);
  FactNamedTensor weights[] = {{"w", &tw}};
  FactModel *model = library->create(weights, 1);
  ASSERT_NE(model, nullptr) << library->last_error();
  DLTensor *inputs[] = {&tx}, *outputs[] = {&ty};
  ASSERT_EQ(library->run(model, inputs, 1, outputs, 1, nullptr), 0);
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(y[i], 2 * x[i] + 0.5f);
  library->destroy(model);

  // The header is C, and complete beside the runtime's.
  bundle.write("use.c", "#include \"out/sample.h\"\nint main(void) { return "
                        "sample_create != 0 ? 0 : 1; }\n");
  Command compile;
  compile.words = {FACT_TEST_COMPILER,
                   "-x",
                   "c",
                   "-std=c99",
                   "-fsyntax-only",
                   "-I" + (bundle.folder() / "include").string(),
                   (bundle.folder() / "use.c").string()};
  EXPECT_TRUE(runCommand(compile).succeeded());
}

TEST(FactTune, ConstantsAndPreparedValuesReachTheLibrary) {
  // y = 2 x + p where p = 2 c + w, computed at load.
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  constexpr size_t count = TestBundle::rows * TestBundle::columns;
  std::vector<float> constant(count, 0.25f);
  bundle.write("c.bin", std::string(reinterpret_cast<char *>(constant.data()),
                                    count * sizeof(float)));
  bundle.json["constants"] = {
      {{"type", "f32"}, {"shape", {64, 33}}, {"data", "c.bin"}}};
  bundle.json["prepared_bytes"] = 8448 + 256;
  bundle.json["values"].push_back({{"kind", "constant"}, {"index", 0}});
  bundle.json["values"].push_back(
      {{"kind", "prepared"}, {"offset", 256}, {"bytes", 8448}});
  bundle.json["prepare"] = {
      {{"kernel", "axpy"}, {"operands", {3, 1}}, {"results", {4}}}};
  bundle.json["program"][0]["operands"] = {0, 4};
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
  void *handle =
      dlopen((bundle.folder() / "sample.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const FactLibrary *library = reinterpret_cast<const FactLibrary *(*)()>(
      dlsym(handle, "fact_library"))();
  std::vector<float> x(count, 1), w(count, 3), y(count);
  int64_t shape[] = {64, 33};
  DLTensor tensors[3] = {};
  float *data[] = {x.data(), w.data(), y.data()};
  for (int i = 0; i < 3; ++i)
    tensors[i] = {data[i], {kDLCPU, 0}, 2, {kDLFloat, 32, 1},
                  shape,   nullptr,     0};
  FactNamedTensor weights[] = {{"w", &tensors[1]}};
  FactModel *model = library->create(weights, 1);
  ASSERT_NE(model, nullptr) << library->last_error();
  DLTensor *inputs[] = {&tensors[0]}, *outputs[] = {&tensors[2]};
  ASSERT_EQ(library->run(model, inputs, 1, outputs, 1, nullptr), 0);
  for (float value : y)
    ASSERT_EQ(value, 2 * 1 + (2 * 0.25f + 3));
  library->destroy(model);
}

TEST(FactTune, NoCandidateLeft) {
  TestBundle bundle;
  bundle.addCandidate("zeros", "y[i] = 0;");
  bundle.addCandidate("crash", "*(volatile int *)8 = 1;");
  Outcome outcome = bundle.tune();
  EXPECT_EQ(outcome.code, 1);
  for (const char *part :
       {"error: kernel 'axpy' has no candidate left", "#0 zeros",
        "wrong: ", "#1 crash", "SIGSEGV", "build/axpy/1.run.log"})
    EXPECT_NE(bundle.log.find(part), std::string::npos) << bundle.log;
  EXPECT_FALSE(fs::exists(bundle.folder() / "sample.so"));
  EXPECT_FALSE(fs::exists(bundle.folder() / "tuning.json"));
}

TEST(FactTune, GoesDownTheListWhenTheFirstFail) {
  TestBundle bundle;
  bundle.addCandidate("zeros", "y[i] = 0;");
  bundle.addCandidate("also zeros", "y[i] = 0 * x[i];");
  bundle.addCandidate("good", correct);
  bundle.addCandidate("never needed", correct);
  ASSERT_TRUE(bundle.tune({"--candidates=1"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(),
            (std::vector<std::string>{"wrong", "wrong", "ok", ""}));
}

/// Candidates that name one source are one compile, and count as one.
TEST(FactTune, CandidatesOfOneSource) {
  TestBundle bundle;
  std::string text = TestBundle::kernelSource("axpy_0", "float", correct);
  text += "extern \"C\" const FactKernel axpy_1 = axpy_0;\n";
  bundle.addSource("one", text);
  bundle.addSource("other", "");
  bundle.candidates()[1]["source"] = bundle.candidates()[0]["source"];
  bundle.addCandidate("not tried", correct);
  Outcome outcome = bundle.tune({"--candidates", "1"});
  ASSERT_TRUE(outcome.succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"ok", "ok", ""}));
  EXPECT_NE(bundle.log.find("compiled #0"), std::string::npos) << bundle.log;
  EXPECT_EQ(bundle.log.find("compiled #1"), std::string::npos) << bundle.log;
}

TEST(FactTune, TooFast) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  bundle.kernel()["sol_us"] = 1e9;
  EXPECT_EQ(bundle.tune().code, 1);
  EXPECT_NE(bundle.log.find("too_fast"), std::string::npos) << bundle.log;
  EXPECT_NE(bundle.log.find("is not this machine"), std::string::npos);
}

TEST(FactTune, BadReference) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  bundle.addCandidate("also good", slow(correct));
  bundle.write("kernels/axpy/reference.cpp",
               TestBundle::kernelSource("axpy_reference", "double",
                                        "*(volatile int *)8 = 1;"));
  EXPECT_EQ(bundle.tune().code, 1);
  EXPECT_NE(bundle.log.find("cannot be verified: its reference fails: SIGSEGV"),
            std::string::npos)
      << bundle.log;
}

/// Where the reference is never finite, candidates are not either, and write.
TEST(FactTune, NothingIsFinite) {
  TestBundle bundle;
  bundle.write("kernels/axpy/reference.cpp",
               TestBundle::kernelSource("axpy_reference", "double",
                                        "y[i] = __builtin_nan(\"\");"));
  bundle.addCandidate("finite", "y[i] = i == 77 ? 1 : __builtin_nanf(\"\");");
  bundle.addCandidate("unwritten", "if (i != 77) y[i] = __builtin_nanf(\"\");");
  bundle.addCandidate("good", "y[i] = __builtin_nanf(\"\");");
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(),
            (std::vector<std::string>{"wrong", "wrong", "ok"}));
  EXPECT_NE(bundle.log.find("1 of 2112 elements are NaN, infinite or unwritten "
                            "where the reference is not, or vice versa"),
            std::string::npos)
      << bundle.log;
}

/// A function that has values at positive numbers alone is compared there.
TEST(FactTune, OperandsWhereTheReferenceIsFinite) {
  TestBundle bundle;
  std::string domain = "bool inside = true; for (int j = 0; j < 33; ++j) "
                       "inside = inside && x[row * 33 + j] > 0; ";
  bundle.write("kernels/axpy/reference.cpp",
               TestBundle::kernelSource("axpy_reference", "double",
                                        domain +
                                            "y[i] = inside ? double(2 * x[i]) "
                                            ": __builtin_nan(\"\");"));
  bundle.addCandidate("never finite", "y[i] = __builtin_nanf(\"\");");
  auto within = [&](const std::string &value) {
    return domain + "y[i] = inside ? " + value + " : __builtin_nanf(\"\");";
  };
  bundle.addCandidate("wrong", within("3 * x[i]"));
  bundle.addCandidate("good", within("2 * x[i]"));
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(),
            (std::vector<std::string>{"wrong", "wrong", "ok"}));
}

TEST(FactTune, ResumesAfterAKill) {
  TestBundle bundle;
  for (int i = 0; i < 4; ++i)
    bundle.addCandidate("good " + std::to_string(i), slow(correct));
  bundle.save();
  writeFile(bundle.folder() / "fact-tune.log", "");
  std::vector<std::string> words = bundle.tuneCommand({"--candidates=4"}).words;
  pid_t child = fork();
  if (child == 0) {
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (!freopen((bundle.folder() / "fact-tune.log").c_str(), "w", stdout))
      _exit(1);
    execv(arguments[0], arguments.data());
    _exit(1);
  }
  // Two attempts, whichever: the order is that in which compilers finish.
  auto countAttempts = [&] {
    std::string log = readFile(bundle.folder() / "fact-tune.log");
    int count = 0;
    for (size_t at = log.find("tried #"); at != std::string::npos;
         at = log.find("tried #", at + 1))
      ++count;
    return count;
  };
  for (int i = 0; i < 30000 && countAttempts() < 2; ++i)
    usleep(10000);
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(fs::exists(bundle.folder() / "sample.so"));

  ASSERT_TRUE(bundle.tune({"--candidates=4"}).succeeded()) << bundle.log;
  EXPECT_GE(bundle.report()["kernels"][0]["reused"], 2);
  EXPECT_EQ(bundle.report()["kernels"][0]["tried"], 4);
  EXPECT_TRUE(fs::exists(bundle.folder() / "sample.so"));
  // Objects that went away are made again for the winner alone.
  fs::remove_all(bundle.folder() / "build/axpy");
  ASSERT_TRUE(bundle.tune({"--candidates=4"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 4);
}

TEST(FactTune, RetuneListDryRunAndOnly) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  ASSERT_TRUE(bundle.tune({"--dry-run"}).succeeded()) << bundle.log;
  EXPECT_NE(bundle.log.find("axpy/0.cpp -o"), std::string::npos) << bundle.log;
  ASSERT_TRUE(bundle.tune({"--list"}).succeeded()) << bundle.log;
  EXPECT_NE(bundle.log.find("not tried"), std::string::npos) << bundle.log;
  ASSERT_TRUE(bundle.tune({"--only", "axpy"}).succeeded()) << bundle.log;
  EXPECT_FALSE(fs::exists(bundle.folder() / "sample.so"));
  ASSERT_TRUE(bundle.tune({"--no-link"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 1);
  ASSERT_TRUE(bundle.tune({"--no-link", "--retune"}).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 0);
  EXPECT_EQ(bundle.tune({"--only", "gemm"}).code, 1);
  EXPECT_NE(bundle.log.find("the bundle has axpy"), std::string::npos);
  EXPECT_EQ(bundle.tune({"--candidates", "many"}).code, 1);
  EXPECT_NE(bundle.log.find("expects a number"), std::string::npos);
  EXPECT_EQ(bundle.tune({"--regime", "hot"}).code, 1);
  EXPECT_NE(bundle.log.find("expects paced or sustained, found 'hot'"),
            std::string::npos);
}

TEST(FactTune, MissingCompilerAndFullDisk) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  Json good = bundle.json;
  bundle.json["commands"]["compile"][0] = "no-such-compiler";
  EXPECT_EQ(bundle.tune().code, 1);
  EXPECT_NE(bundle.log.find("cannot run 'no-such-compiler': No such file"),
            std::string::npos)
      << bundle.log;
  bundle.json = good;
  EXPECT_EQ(bundle.tune({"--launcher", "no-such-launcher -x"}).code, 1);
  EXPECT_NE(bundle.log.find("cannot run 'no-such-launcher'"), std::string::npos)
      << bundle.log;
  bundle.write("full", "#!/bin/sh\necho 'fatal error: No space left on device' "
                       ">&2\nexit 1\n");
  fs::permissions(bundle.folder() / "full", fs::perms::owner_all);
  EXPECT_EQ(
      bundle.tune({"--launcher", (bundle.folder() / "full").string()}).code, 1);
  EXPECT_NE(bundle.log.find("No space left on device while running"),
            std::string::npos)
      << bundle.log;
  // None of this was held against the candidate.
  ASSERT_TRUE(bundle.tune({"--launcher", "env -u NOTHING"}).succeeded())
      << bundle.log;
}

TEST(FactTune, PackedOperandsBooleansAndSixteenBits) {
  // A kernel with a packed operand and an i1 result, in bf16.
  TestBundle bundle;
  std::string common = R"(#include "fact/Runtime/Kernel.h"
#include "fact/Runtime/ElementType.h"
using namespace fact::runtime;
static float at(const void *p, int64_t i) {
  return bfloat16ToFloat(static_cast<const uint16_t *>(p)[i]);
}
)";
  bundle.write("kernels/axpy/reference.cpp", common + R"(
static void tile(int64_t row, void *const *b, void *) {
  for (int64_t i = row * 33; i < (row + 1) * 33; ++i) {
    float v = at(b[0], i) + at(b[1], i);
    static_cast<float *>(b[2])[i] = v;
    static_cast<uint8_t *>(b[3])[i] = v > 0;
  }
}
extern "C" const FactKernel axpy_reference = {
  FACT_KERNEL_ABI, 4, 0, 0, nullptr, nullptr, 64, tile, -1, 0, 0, 0, nullptr};
)");
  auto candidate = [&](const char *boolean) {
    return common + R"(
static void pack(int64_t row, void *const *b, void *packed) {
  for (int64_t i = row * 33; i < (row + 1) * 33; ++i)
    static_cast<float *>(packed)[64 * 33 - 1 - i] = at(b[1], i);
}
static void tile(int64_t row, void *const *b, void *) {
  for (int64_t i = row * 33; i < (row + 1) * 33; ++i) {
    float v = at(b[0], i) + static_cast<const float *>(b[1])[64 * 33 - 1 - i];
    static_cast<uint16_t *>(b[2])[i] = floatToBfloat16(v);
    static_cast<uint8_t *>(b[3])[i] = )" +
           boolean + R"(;
  }
}
extern "C" const FactKernel axpy_)" +
           std::to_string(bundle.candidates().size()) +
           R"( = {FACT_KERNEL_ABI, 4, 0, 0, nullptr, nullptr, 64, tile,
  1, 0, 64 * 33 * 4, 64, pack};
)";
  };
  bundle.addSource("good", candidate("v > 0"));
  bundle.addSource("wrong boolean", candidate("v > 0 && i != 40"));
  Json wide = {{"type", "bf16"}, {"shape", {64, 33}}};
  Json flag = {{"type", "i1"}, {"shape", {64, 33}}};
  bundle.kernel()["operands"] = {wide, wide};
  Json wideResult = wide, flagResult = flag;
  wideResult["tolerance"] = {{"norm", 0.004}, {"element", 0.01}};
  flagResult["tolerance"] = {{"norm", 0}, {"element", 0}};
  bundle.kernel()["results"] = {wideResult, flagResult};
  bundle.json["inputs"][0]["type"] = "bf16";
  bundle.json["weights"][0]["type"] = "bf16";
  bundle.json["outputs"][0]["type"] = "bf16";
  bundle.json["outputs"].push_back({{"name", "positive"}});
  bundle.json["outputs"][1].update(flag);
  bundle.json["values"].push_back({{"kind", "output"}, {"index", 1}});
  bundle.json["program"][0]["results"] = {2, 3};
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"ok", "wrong"}));
}

} // namespace
