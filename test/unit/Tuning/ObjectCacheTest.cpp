//===- ObjectCacheTest.cpp - A kernel compiles once -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/ObjectCache.h"
#include "TestBundle.h"

using namespace fact::tuning;

namespace {

const char correct[] = "y[i] = 2 * x[i] + w[i];";

std::vector<fs::path> filesIn(const fs::path &folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    files.push_back(entry.path());
  return files;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(ObjectCache, KeepsTheObjectAndWhatItsCompilerSaid) {
  TemporaryFolder folder;
  ObjectCache cache(folder.path / "a/b");
  fs::path object = folder.path / "x.o", found = folder.path / "y.o";
  EXPECT_FALSE(cache.find("key", found));
  std::string bytes("\0\n binary \xff", 11);
  writeFile(object, bytes);
  cache.keep("key", object, "two\nlines\n");
  EXPECT_EQ(cache.find("key", found), "two\nlines\n");
  EXPECT_EQ(readFile(found), bytes);
  EXPECT_FALSE(cache.find("another", found));
  cache.forget("key");
  EXPECT_FALSE(cache.find("key", found));
  EXPECT_FALSE(ObjectCache("").find("key", found));
}

TEST(ObjectCache, DamagedEntriesAreNotUsed) {
  TemporaryFolder folder;
  ObjectCache cache(folder.path / "cache");
  fs::path object = folder.path / "x.o";
  writeFile(object, "content");
  for (int damage = 0; damage < 3; ++damage) {
    cache.keep("key", object, "messages");
    fs::path entry = filesIn(folder.path / "cache").front();
    std::string text = readFile(entry);
    if (damage == 0)
      text.back() ^= 1;
    else if (damage == 1)
      text.pop_back();
    else
      text.clear();
    writeFile(entry, text);
    EXPECT_FALSE(cache.find("key", object)) << damage;
    EXPECT_TRUE(filesIn(folder.path / "cache").empty()) << damage;
  }
}

TEST(ObjectCache, TheOldestGoFirst) {
  TemporaryFolder folder;
  ObjectCache cache(folder.path / "cache");
  fs::path object = folder.path / "x.o";
  writeFile(object, std::string(1000, 'x'));
  auto age = [&](const char *key, int days) {
    cache.keep(key, object, "");
    fs::last_write_time(folder.path / "cache" / (std::string(key) + ".object"),
                        fs::file_time_type::clock::now() -
                            std::chrono::hours(24 * days));
  };
  for (const char *key : {"new", "used", "old"})
    age(key, key[0] == 'n' ? 1 : key[0] == 'u' ? 20 : 10);
  age("forgotten", 31);
  writeFile(folder.path / "cache/notes.txt", "not an entry");
  cache.trim();
  EXPECT_FALSE(cache.find("forgotten", object));
  EXPECT_TRUE(cache.find("used", object));
  // Two fit. The one that was just used is newer than the others.
  cache.trim(2300);
  EXPECT_TRUE(cache.find("used", object));
  EXPECT_TRUE(cache.find("new", object));
  EXPECT_FALSE(cache.find("old", object));
  EXPECT_TRUE(fs::exists(folder.path / "cache/notes.txt"));
}

/// Two bundles with the same kernel, under other names and at other places.
class Twins : public testing::Test {
protected:
  Twins() : second(first.mark) {
    for (TestBundle *bundle : {&first, &second})
      bundle->addCandidate("good", std::string(correct) +
                                       "\n#warning its rows are odd\n");
    second.json["name"] = "other";
  }

  static size_t compiled(const TestBundle &bundle) {
    return bundle.report()["objects"]["compiled"];
  }

  TestBundle first, second;
};

// The generated tables of a library are always compiled.
constexpr size_t tables = 1;

TEST_F(Twins, ShareObjects) {
  ASSERT_TRUE(first.tune().succeeded()) << first.log;
  EXPECT_TRUE(contains(first.log, "compiled #0")) << first.log;
  EXPECT_GE(compiled(first), tables + 2);
  ASSERT_TRUE(second.tune().succeeded()) << second.log;
  EXPECT_TRUE(contains(second.log, "cached #0")) << second.log;
  EXPECT_EQ(compiled(second), tables) << second.log;
  EXPECT_TRUE(contains(second.log, "objects   1 compiled, ")) << second.log;
  // What the compiler said is known without it.
  Json attempt = second.report()["kernels"][0]["attempts"][0];
  EXPECT_TRUE(contains(attempt["detail"], "its rows are odd")) << attempt;

  // A bundle that is written again keeps nothing but its measurements.
  fs::remove_all(second.folder() / "build");
  ASSERT_TRUE(second.tune({"--retune"}).succeeded()) << second.log;
  EXPECT_EQ(compiled(second), tables) << second.log;

  // The cache can be switched off.
  fs::remove_all(second.folder() / "build/axpy");
  ASSERT_TRUE(second.tune({"--retune", "--objects", "none"}).succeeded());
  EXPECT_TRUE(contains(second.log, "compiled #0")) << second.log;
  EXPECT_TRUE(contains(second.log, "from no folder")) << second.log;
}

TEST_F(Twins, AnyDifferenceIsAnotherObject) {
  ASSERT_TRUE(first.tune({"--no-link"}).succeeded()) << first.log;
  auto isCompiled = [&] {
    fs::remove_all(second.folder() / "build/axpy");
    EXPECT_TRUE(second.tune({"--no-link", "--retune"}).succeeded())
        << second.log;
    return contains(second.log, "compiled #0");
  };
  EXPECT_FALSE(isCompiled());
  second.candidates()[0]["flags"] = {"-DNOTHING"};
  EXPECT_TRUE(isCompiled());
  second.candidates()[0].erase("flags");
  fs::path source = second.folder() / "kernels/axpy/0.cpp";
  writeFile(source, readFile(source) + "// " + second.folder().string());
  EXPECT_TRUE(isCompiled());
}

TEST_F(Twins, AnObjectThatDoesNotLinkIsCompiled) {
  // A folder of its own: other tests run beside this one.
  TemporaryFolder objects;
  std::string folder = objects.path.string();
  ASSERT_TRUE(first.tune({"--no-link", "--objects", folder}).succeeded())
      << first.log;
  // What another machine may have compiled for other libraries.
  fs::path candidate;
  for (const fs::path &entry : filesIn(objects.path))
    if (contains(readFile(entry), "its rows are odd"))
      candidate = entry;
  ASSERT_FALSE(candidate.empty());
  fs::path broken = second.folder() / "broken.o";
  writeFile(broken, "not an object");
  ObjectCache(objects.path).keep(candidate.stem().string(), broken, "");
  ASSERT_TRUE(second.tune({"--no-link", "--objects", folder}).succeeded())
      << second.log;
  EXPECT_TRUE(contains(second.log, "cached #0")) << second.log;
  EXPECT_TRUE(contains(second.log, "compiled #0")) << second.log;
}

TEST_F(Twins, CompiledHereMeasuredThere) {
  ASSERT_TRUE(first.tune({"--compile-only"}).succeeded()) << first.log;
  EXPECT_TRUE(contains(first.log, "compiled #0")) << first.log;
  EXPECT_TRUE(contains(first.log, "compiled reference")) << first.log;
  EXPECT_FALSE(fs::exists(first.folder() / "tuning.json"));
  ASSERT_TRUE(second.tune().succeeded()) << second.log;
  EXPECT_EQ(compiled(second), tables) << second.log;
  EXPECT_FALSE(
      second.tune({"--compile-only", "--objects", "none"}).succeeded());
  EXPECT_TRUE(contains(second.log, "name one with --objects")) << second.log;
}

TEST_F(Twins, ProcessesShareTheFolder) {
  first.save();
  second.save();
  Scheduler both(2, false);
  for (TestBundle *bundle : {&first, &second})
    both.build(bundle->tuneCommand({"--no-link"}),
               [bundle](const Outcome &outcome) {
                 EXPECT_TRUE(outcome.succeeded())
                     << readFile(bundle->folder() / "fact-tune.log");
               });
  both.run();
}

TEST_F(Twins, AreTunedTogether) {
  TestBundle wrong, broken;
  wrong.addCandidate("wrong", "y[i] = 0;");
  wrong.save();
  broken.write("bundle.json", "{");
  second.save();
  Outcome outcome =
      first.tune({second.folder(), wrong.folder(), broken.folder()});
  EXPECT_EQ(outcome.code, 1);
  for (TestBundle *bundle : {&first, &second})
    EXPECT_EQ(bundle->report()["kernels"][0]["schedule"], "good");
  EXPECT_TRUE(fs::exists(second.folder() / "other.so"));
  // One of the two compiled the kernel.
  EXPECT_EQ(compiled(first) + compiled(second), 2 * tables + 2) << first.log;
  std::string place = wrong.folder().string() + ": kernel 'axpy' has no";
  EXPECT_TRUE(contains(first.log, "error: " + place)) << first.log;
  EXPECT_FALSE(fs::exists(wrong.folder() / "tuning.json"));
  for (const char *line : {"FAILED", "ok", "objects   "})
    EXPECT_TRUE(contains(first.log, line)) << line << "\n" << first.log;

  EXPECT_FALSE(first.tune({first.folder()}).succeeded());
  EXPECT_TRUE(contains(first.log, "is given twice")) << first.log;
  EXPECT_FALSE(first.tune({second.folder(), "-o", "x.so"}).succeeded());
  EXPECT_TRUE(contains(first.log, "-o and --only are for one")) << first.log;
}

} // namespace
