//===- RegistryTest.cpp - Layers, and what is found in them ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Samples.h"
#include <cmath>

using namespace fact::registry;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> warnings;

Registry load(const std::vector<fs::path> &layers) {
  warnings.clear();
  return Registry::load(
      layers, [](const std::string &text) { warnings.push_back(text); });
}

TEST(Problem, IdsAreStable) {
  // Strategies in saved IR name entries by these.
  EXPECT_EQ(sampleFormat1().getId(), "gemm_epilogue/bf16/sm_90a#6a43bb17d6");
  EXPECT_EQ(sampleProblem().getId(), "gemm_epilogue/bf16/sm_90a#d4c52cceb4");
  EXPECT_NE(sampleProblem(8192).getId(), sampleProblem().getId());
  EXPECT_NE(sampleProblem(4096, "bf16", "matmul").getId(),
            sampleProblem().getId());
  EXPECT_EQ(sampleProblem().getExtentsText(),
            "batch=1 k=512 m=4096 n=1024 tensors=1");
}

TEST(Problem, OlderFormatsSayLess) {
  auto withOps = [](const char *ops) {
    return sampleProblem(4096, "bf16", ops);
  };
  Problem known = sampleFormat1();
  EXPECT_NE(withOps("matmul,add"), known);
  EXPECT_TRUE(withOps("matmul.nt,add").hasSameOps(known));
  EXPECT_TRUE(known.hasSameOps(withOps("matmul.nt,add")));
  EXPECT_FALSE(withOps("matmul.nt,add,add").hasSameOps(known));
  EXPECT_FALSE(withOps("matmul.nt,add").hasSameOps(withOps("matmul.nn,add")));

  EXPECT_TRUE(withOps("matmul.nt,add").mayBe(known));
  EXPECT_TRUE(withOps("matmul.nn,add").mayBe(known));
  EXPECT_FALSE(withOps("matmul.nt").mayBe(known));
  EXPECT_FALSE(sampleProblem(8192, "bf16", "matmul.nt,add").mayBe(known));
  EXPECT_FALSE(sampleProblem(4096, "f16", "matmul.nt,add").mayBe(known));
  EXPECT_FALSE(known.mayBe(known));
}

TEST(Problem, Convertible) {
  EXPECT_TRUE(isConvertible("f16", "bf16"));
  EXPECT_TRUE(isConvertible("bf16", "f16"));
  EXPECT_TRUE(isConvertible("f32", "f32"));
  EXPECT_FALSE(isConvertible("f32", "bf16"));
  EXPECT_FALSE(isConvertible("f64", "f32"));
  EXPECT_FALSE(isConvertible("i8", "i1"));
}

TEST(Registry, TheUpperLayerHidesTheLower) {
  TemporaryFolder upper, lower;
  writeLayer(upper.path, {sampleEntry(sampleProblem(), {accepted(20)})});
  writeLayer(lower.path, {sampleEntry(sampleProblem(), {accepted(10)}),
                          sampleEntry(sampleProblem(8192), {accepted(30)})});
  Registry registry = load({upper.path, lower.path});
  EXPECT_TRUE(warnings.empty());
  ASSERT_EQ(registry.getEntries().size(), 2u);
  const Entry *entry = registry.lookup(sampleProblem().getId());
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->getBest()->us, 20);
  EXPECT_EQ(entry->file, upper.path / "gemm_epilogue/bf16-sm_90a.json");
  EXPECT_TRUE(registry.lookup(sampleProblem(8192).getId()));
  EXPECT_FALSE(registry.lookup("gemm_epilogue/bf16/sm_90a#0000000000"));
}

TEST(Registry, WhatFailedHidesNothingElse) {
  TemporaryFolder upper, lower;
  writeLayer(upper.path, {sampleEntry(sampleProblem(), {failed("spills", 1)})});
  writeLayer(lower.path, {sampleEntry(sampleProblem(),
                                      {accepted(10, 1), accepted(20, 2)})});
  Registry registry = load({upper.path, lower.path});
  ASSERT_EQ(registry.getEntries().size(), 1u);
  const Entry &entry = registry.getEntries().front();
  EXPECT_EQ(entry.getStatus(), Status::Accepted);
  ASSERT_EQ(entry.schedules.size(), 2u);
  EXPECT_EQ(entry.getBest()->us, 20);
  EXPECT_EQ(entry.schedules[1].status, Status::Failed);
}

TEST(Registry, NoFolderIsNoEntry) {
  TemporaryFolder folder;
  Registry registry = load({folder.path / "nowhere", folder.path});
  EXPECT_TRUE(warnings.empty());
  EXPECT_TRUE(registry.getEntries().empty());
  EXPECT_TRUE(registry.find(sampleProblem()).empty());
}

TEST(Registry, ABrokenFileIsNamedAndSkipped) {
  TemporaryFolder folder;
  writeLayer(folder.path, {sampleEntry(sampleProblem(), {accepted(10)})});
  fs::path broken = folder.path / "gemm_epilogue/f16-sm_90a.json";
  fact::tuning::writeFile(broken, "{\"format\": 1,");
  // A folder, and a pipe nobody writes to, named like files.
  fs::create_directory(folder.path / "gemm_epilogue/f32-host.json");
  ASSERT_EQ(mkfifo((folder.path / "gemm_epilogue/f64-host.json").c_str(), 0600),
            0);
  fs::create_symlink(folder.path / "nowhere",
                     folder.path / "gemm_epilogue/i8-host.json");
  // What belongs elsewhere, and what is none of ours.
  fs::create_directory(folder.path / "rowwise");
  fs::copy_file(folder.path / "gemm_epilogue/bf16-sm_90a.json",
                folder.path / "rowwise/bf16-sm_90a.json");
  fact::tuning::writeFile(folder.path / "gemm_epilogue/README.md", "#");
  fact::tuning::writeFile(folder.path / "schema.json", "{}");

  Registry registry = load({folder.path});
  EXPECT_EQ(registry.getEntries().size(), 1u);
  ASSERT_EQ(warnings.size(), 5u);
  EXPECT_EQ(warnings[0].find(broken.string() + ": parse error at line 1"), 0u)
      << warnings[0];
  EXPECT_NE(warnings[1].find("f32-host.json: is not a file"),
            std::string::npos);
  EXPECT_NE(warnings[2].find("f64-host.json: is not a file"),
            std::string::npos);
  EXPECT_NE(warnings[3].find("i8-host.json: No such file"), std::string::npos);
  EXPECT_EQ(warnings[4],
            (folder.path / "rowwise/bf16-sm_90a.json").string() +
                ": holds what belongs into " +
                (folder.path / "gemm_epilogue/bf16-sm_90a.json").string());
}

TEST(Registry, EntriesOfFormat1AreNearAndNeverTheSame) {
  TemporaryFolder folder;
  Problem problem = sampleProblem(4096, "bf16", "matmul.nt,add");
  writeLayer(folder.path, {sampleEntry(sampleFormat1(), {accepted(10)}),
                           sampleEntry(sampleProblem(), {accepted(20)})});
  auto find = [&](const Problem &problem) {
    std::vector<std::string> found;
    Registry registry = load({folder.path});
    for (const Match &match : registry.find(problem))
      found.push_back(getName(match.relation) + std::string(" ") +
                      std::to_string(match.entry->problem.format) + " " +
                      match.entry->problem.ops);
    return found;
  };
  // Its ops are known as far as format 1 goes; those of the other are not.
  EXPECT_EQ(find(problem), (std::vector<std::string>{"adapt 1 matmul,add",
                                                     "adapt 2 matmul,add"}));
  // Even where the words are the same.
  EXPECT_EQ(
      find(sampleProblem()),
      (std::vector<std::string>{"reuse 2 matmul,add", "adapt 1 matmul,add"}));
  writeLayer(folder.path, {sampleEntry(problem, {accepted(30)})});
  EXPECT_EQ(find(problem).front(), "reuse 2 matmul.nt,add");
}

TEST(Registry, FindsTheNearestFirst) {
  TemporaryFolder folder;
  auto add = [&](const Problem &problem) {
    writeLayer(folder.path, {sampleEntry(problem, {accepted(10)})});
  };
  add(sampleProblem(4096));
  add(sampleProblem(5000));
  add(sampleProblem(8192));
  add(sampleProblem(8193)); // more than twice
  add(sampleProblem(2048)); // exactly half
  add(sampleProblem(2047));
  add(sampleProblem(4096, "f16"));
  add(sampleProblem(4096, "f32"));
  add(sampleProblem(4096, "bf16", "matmul"));
  add(sampleProblem(4096, "f16", "matmul"));
  add(sampleProblem(4096, "bf16", "matmul.nn.banded")); // half of the work
  add(sampleProblem(4096, "bf16", "matmul.nt.mirrored"));
  Problem host = sampleProblem(4096);
  host.architecture = "host";
  Schedule onHost = accepted(10);
  onHost.key = "host_gemm<micro = 8x8>";
  writeLayer(folder.path, {sampleEntry(host, {onHost})});
  Problem gated = sampleProblem(4096);
  gated.rule = "gated_gemm";
  add(gated);
  Problem rows = sampleProblem(4096, "bf16", "softmax");
  rows.extents = {{"rows", 4096}, {"columns", 1024}, {"tensors", 1}};
  add(rows);

  Registry registry = load({folder.path});
  auto describe = [](const Match &match) {
    const Problem &problem = match.entry->problem;
    return std::string(getName(match.relation)) + " " + problem.dtype + " " +
           problem.ops + " " + std::to_string(problem.extents.at("m"));
  };
  std::vector<std::string> found;
  std::vector<Match> matches = registry.find(sampleProblem(4096));
  for (const Match &match : matches)
    found.push_back(describe(match));
  std::vector<std::string> expected = {
      "reuse bf16 matmul,add 4096", "adapt bf16 matmul,add 5000",
      "adapt bf16 matmul,add 2048", "adapt bf16 matmul,add 8192",
      "adapt f16 matmul,add 4096",  "adapt bf16 matmul 4096",
      "adapt f16 matmul 4096"};
  // 2048 and 8192 are equally far: the order of their ids.
  if (sampleProblem(8192).getId() < sampleProblem(2048).getId())
    std::swap(expected[2], expected[3]);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(matches[0].distance, 0);
  EXPECT_NEAR(matches[1].distance, std::log2(5000.0 / 4096), 1e-12);
  EXPECT_EQ(matches[3].distance, 1);
}

TEST(Registry, WithoutExtentsNothingMatches) {
  TemporaryFolder folder;
  writeLayer(folder.path, {sampleEntry(sampleProblem(), {accepted(10)})});
  Problem unknown = sampleProblem();
  unknown.extents.clear();
  EXPECT_TRUE(load({folder.path}).find(unknown).empty());
  unknown.extents = {
      {"m", 0}, {"n", 1}, {"k", 1}, {"batch", 1}, {"tensors", 1}};
  EXPECT_TRUE(load({folder.path}).find(unknown).empty());
}

TEST(Registry, StatusAndBest) {
  Entry entry = sampleEntry(sampleProblem(), {failed("hang", 8)});
  EXPECT_EQ(entry.getStatus(), Status::Failed);
  EXPECT_EQ(entry.getBest(), nullptr);
  entry.schedules.push_back(accepted(12, 2));
  entry.schedules.push_back(accepted(11, 4));
  EXPECT_EQ(entry.getStatus(), Status::Accepted);
  EXPECT_EQ(entry.getBest()->us, 11);
  EXPECT_EQ(Entry().getStatus(), Status::Pending);
}

/// Sets a variable while it lives.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    const char *old = std::getenv(name);
    if (old)
      before = old;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> before;
};

TEST(Registry, TheUsersFolder) {
  Variable home("HOME", "/home/somebody");
  Variable own("FACT_PATTERNS", nullptr), data("XDG_DATA_HOME", nullptr);
  EXPECT_EQ(getUserFolder(), "/home/somebody/.local/share/fact/patterns");
  {
    Variable relative("XDG_DATA_HOME", "data");
    EXPECT_EQ(getUserFolder(), "/home/somebody/.local/share/fact/patterns");
    Variable absolute("XDG_DATA_HOME", "/data");
    EXPECT_EQ(getUserFolder(), "/data/fact/patterns");
    Variable named("FACT_PATTERNS", "here");
    EXPECT_EQ(getUserFolder(), "here");
  }
  Variable nobody("HOME", nullptr);
  EXPECT_EQ(getUserFolder(), "");
}

} // namespace
