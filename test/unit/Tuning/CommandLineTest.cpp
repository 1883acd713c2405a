//===- CommandLineTest.cpp - Words of a command ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/CommandLine.h"
#include "fact/Tuning/Files.h"
#include "gtest/gtest.h"

using namespace fact::tuning;

namespace {
/// The words as a program gets them.
struct Line {
  explicit Line(std::vector<std::string> text) : words(std::move(text)) {
    words.insert(words.begin(), "tool");
    for (std::string &word : words)
      pointers.push_back(word.data());
  }
  CommandLine read() {
    return CommandLine(static_cast<int>(pointers.size()), pointers.data(),
                       "tool", "1.2", "usage\n");
  }

  std::vector<std::string> words;
  std::vector<char *> pointers;
};

std::string whyNot(std::vector<std::string> words,
                   void (*take)(CommandLine &)) {
  Line line(std::move(words));
  CommandLine read = line.read();
  try {
    while (read.next())
      take(read);
  } catch (const Failure &failure) {
    return failure.what();
  }
  return "";
}
} // namespace

TEST(CommandLine, ValuesBesideAndInside) {
  Line line({"--a", "x", "--b=y=z", "-o", "f", "word", "a=b", ""});
  CommandLine read = line.read();
  ASSERT_TRUE(read.next());
  EXPECT_EQ(read.word(), "--a");
  EXPECT_TRUE(read.isOption());
  EXPECT_EQ(read.value(), "x");
  ASSERT_TRUE(read.next());
  EXPECT_EQ(read.word(), "--b");
  EXPECT_EQ(read.value(), "y=z");
  ASSERT_TRUE(read.next());
  EXPECT_EQ(read.value(), "f");
  for (const char *expected : {"word", "a=b", ""}) {
    ASSERT_TRUE(read.next());
    EXPECT_EQ(read.word(), expected);
    EXPECT_FALSE(read.isOption());
  }
  EXPECT_FALSE(read.next());
}

TEST(CommandLine, SaysWhatIsExpected) {
  auto value = [](CommandLine &line) { line.value(); };
  EXPECT_EQ(whyNot({"--a"}, value), "--a expects a value; see tool --help");
  EXPECT_EQ(whyNot({"--a="}, value), "--a expects a value; see tool --help");
  EXPECT_EQ(whyNot({"--a=b"}, [](CommandLine &line) { line.refuse(); }),
            "unknown option '--a'; see tool --help");
}

TEST(CommandLine, Numbers) {
  auto number = [](CommandLine &line) { line.number(); };
  auto count = [](CommandLine &line) { line.count(); };
  for (const char *good : {"1", "12", "1000000"}) {
    EXPECT_EQ(whyNot({"--n", good}, count), "");
    EXPECT_EQ(whyNot({"--n", good}, number), "");
  }
  EXPECT_EQ(whyNot({"--n", "0.5"}, number), "");
  for (const char *bad : {"0", "-1", "x", "3x", "inf", "nan"}) {
    std::string expected =
        std::string("--n expects a number above 0, found '") + bad + "'";
    EXPECT_EQ(whyNot({"--n", bad}, count), expected);
    EXPECT_EQ(whyNot({"--n", bad}, number), expected);
  }
  EXPECT_NE(whyNot({"--n", "1.5"}, count), "");
  EXPECT_NE(whyNot({"--n", "1000001"}, count), "");
}
