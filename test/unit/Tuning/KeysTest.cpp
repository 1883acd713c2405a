//===- KeysTest.cpp - When a result is known again ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "TestBundle.h"

using namespace fact::tuning;

namespace {

/// A tuned bundle with a runtime of its own and a tree of headers beside it.
class Keys : public testing::Test {
protected:
  Keys() {
    fs::remove(bundle.folder() / "runtime");
    fs::copy(TestBundle::source() / "lib/Runtime", bundle.folder() / "runtime");
    createFolder(headers());
    writeFile(headers() / "cutlass.h", "");
    writeFile(headers() / "scale.h", "#define SCALE 2\n");
    Json &compile = bundle.json["commands"]["compile"];
    compile.insert(compile.begin() + 1, "-I{cutlass}/include");
    bundle.addSource(
        "good", "#include \"cutlass/scale.h\"\n" +
                    TestBundle::kernelSource("axpy_0", "float",
                                             "y[i] = SCALE * x[i] + w[i];"));
  }

  fs::path headers() const {
    return bundle.folder() / "cutlass/include/cutlass";
  }

  Outcome tune(std::vector<std::string> options) {
    options.insert(options.end(),
                   {"--cutlass", (bundle.folder() / "cutlass").string()});
    return bundle.tune(options);
  }

  /// Whether the only candidate's result is.
  bool isKnown() {
    EXPECT_TRUE(tune({"--list"}).succeeded()) << bundle.log;
    return bundle.log.find("not tried") == std::string::npos;
  }

  /// Whether it is while `file` has another line.
  bool isKnownWithout(const fs::path &file) {
    std::string text = readFile(file);
    writeFile(file, text + "// another line\n");
    bool known = isKnown();
    writeFile(file, text);
    return known;
  }

  bool isKnownWith(const char *variable) {
    setenv(variable, "/nowhere", 1);
    bool known = isKnown();
    unsetenv(variable);
    return known;
  }

  TestBundle bundle;
};

TEST_F(Keys, WhatResultsDependOn) {
  EXPECT_FALSE(isKnown());
  ASSERT_TRUE(tune({"--no-link"}).succeeded()) << bundle.log;
  EXPECT_TRUE(isKnown());
  // The verifier.
  fs::path runtime = bundle.folder() / "runtime";
  EXPECT_FALSE(isKnownWithout(runtime / "Verification.cpp"));
  EXPECT_FALSE(isKnownWithout(runtime / "WorkerJob.h"));
  // CUTLASS.
  EXPECT_FALSE(isKnownWithout(headers() / "scale.h"));
  // What the kernel is called with.
  bundle.candidates()[0]["sizes"] = {7};
  EXPECT_FALSE(isKnown());
  bundle.candidates()[0].erase("sizes");
  // What compilers take from the environment.
  EXPECT_FALSE(isKnownWith("CPLUS_INCLUDE_PATH"));
  EXPECT_FALSE(isKnownWith("CPATH"));
  // Parts of the library that no measurement runs.
  EXPECT_TRUE(isKnownWithout(runtime / "Safetensors.cpp"));
  EXPECT_TRUE(isKnownWith("FACT_UNRELATED"));
  EXPECT_TRUE(isKnown());
}

TEST(Environment, TreesAreReadWhenTheyChange) {
  TemporaryFolder folder;
  setenv("FACT_CACHE_DIR", (folder.path / "cache").c_str(), 1);
  fs::path tree = folder.path / "tree";
  createFolder(tree / "a");
  writeFile(tree / "a/x.h", "1");
  std::string first = hashOfTree(tree);
  EXPECT_EQ(first, ContentHash().addFolder(tree).text());
  // What is kept is used as long as no file was written.
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder.path / "cache/trees")) {
    std::string text = readFile(entry.path());
    writeFile(entry.path(), text.substr(0, text.find(' ')) + " kept\n");
  }
  EXPECT_EQ(hashOfTree(tree), "kept");
  writeFile(tree / "a/x.h", "2");
  EXPECT_EQ(hashOfTree(tree), ContentHash().addFolder(tree).text());
  EXPECT_NE(hashOfTree(tree), first);
  setenv("FACT_CACHE_DIR", FACT_TEST_CACHE, 1);
}

TEST(Environment, FlagsThatNvccInherits) {
  std::string before = inheritedFlags(true);
  setenv("NVCC_APPEND_FLAGS", "-lineinfo", 1);
  EXPECT_NE(inheritedFlags(true), before);
  EXPECT_EQ(inheritedFlags(false).find("NVCC"), std::string::npos);
  unsetenv("NVCC_APPEND_FLAGS");
  EXPECT_EQ(inheritedFlags(true), before);
}

// Builds of one version for two processors, which compile the same objects.
TEST(Environment, CompilersByTheirVersions) {
  auto nvcc = [](const std::string &made, const std::string &version) {
    return identifyCompiler("nvcc: NVIDIA (R) Cuda compiler driver\n"
                            "Copyright (c) 2005-2025 NVIDIA Corporation\n"
                            "Built on " +
                            made +
                            "\n"
                            "Cuda compilation tools, release 13.0, " +
                            version + "\n");
  };
  EXPECT_EQ(nvcc("Wed_Aug_20_01:57:39_PM_PDT_2025", "V13.0.88"),
            nvcc("Wed_Aug_20_01:58:59_PM_PDT_2025", "V13.0.88"));
  EXPECT_NE(nvcc("", "V13.0.88"), nvcc("", "V13.0.89"));
  EXPECT_EQ(
      identifyCompiler("g++ (Debian 12.2.0-14) 12.2.0\n"
                       "Copyright (C) 2022 Free Software Foundation, Inc.\n"
                       "This is free software; see the source for copying "
                       "conditions.  There is NO\n"
                       "warranty; not even for MERCHANTABILITY.\n\n"),
      "g++ (Debian 12.2.0-14) 12.2.0");
}

TEST(Environment, TheHostCompilerOfNvcc) {
  EXPECT_EQ(hostCompilerOf({"nvcc", "-c"}), "g++");
  EXPECT_EQ(hostCompilerOf({"nvcc", "-ccbin", "clang++"}), "clang++");
  EXPECT_EQ(hostCompilerOf({"nvcc", "--compiler-bindir=/usr/bin"}),
            "/usr/bin/g++");
  setenv("NVCC_CCBIN", "g++-12", 1);
  EXPECT_EQ(hostCompilerOf({"nvcc", "-c"}), "g++-12");
  setenv("NVCC_APPEND_FLAGS", "-O3 -ccbin=g++-13", 1);
  EXPECT_EQ(hostCompilerOf({"nvcc", "-c"}), "g++-13");
  unsetenv("NVCC_APPEND_FLAGS");
  unsetenv("NVCC_CCBIN");
}

} // namespace
