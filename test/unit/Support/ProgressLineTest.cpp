//===- ProgressLineTest.cpp - Lines in pipes, and none elsewhere ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/ProgressLine.h"
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace fact;

namespace {

/// A pipe that FACT_PROGRESS_FD names.
class ProgressLineTest : public testing::Test {
protected:
  ProgressLineTest() {
    EXPECT_EQ(pipe(ends), 0);
    setenv("FACT_PROGRESS_FD", std::to_string(ends[1]).c_str(), 1);
  }
  ~ProgressLineTest() override {
    unsetenv("FACT_PROGRESS_FD");
    for (int end : ends)
      close(end);
  }

  std::string readAll() {
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string text(1 << 17, '\0');
    ssize_t size = read(ends[0], text.data(), text.size());
    text.resize(size < 0 ? 0 : size_t(size));
    return text;
  }

  int ends[2];
};

TEST_F(ProgressLineTest, SharesThatAreKnownOrNot) {
  ProgressLine line(/*isLent=*/true);
  ASSERT_TRUE(line.hasPipe());
  EXPECT_FALSE(line.hasTerminal());
  line.show(0.25, "tuning");
  line.show(std::nullopt, "writing");
  line.clear();
  EXPECT_EQ(readAll(), "0.250 tuning\n- writing\n");
  EXPECT_FALSE(line.isDrawn());
}

TEST_F(ProgressLineTest, OnlyToolsOfALentPipeSeeIt) {
  ProgressLine lent(/*isLent=*/true);
  EXPECT_EQ(fcntl(ends[1], F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(std::getenv("FACT_PROGRESS_FD"), std::to_string(ends[1]));
  ProgressLine own(/*isLent=*/false);
  EXPECT_TRUE(own.hasPipe());
  EXPECT_EQ(fcntl(ends[1], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(std::getenv("FACT_PROGRESS_FD"), nullptr);
}

TEST_F(ProgressLineTest, AReaderThatHasGone) {
  ProgressLine line(/*isLent=*/true);
  close(ends[0]);
  // This process ignores no signal, and goes on.
  line.show(0.5, "nobody reads this");
  EXPECT_FALSE(line.hasPipe());
  line.show(0.6, "nor this");
  ends[0] = open("/dev/null", O_RDONLY);
}

TEST_F(ProgressLineTest, AReaderThatIsSlow) {
  ProgressLine line(/*isLent=*/true);
  std::string text(1000, 'x');
  for (int i = 0; i < 1000; ++i)
    line.show(std::nullopt, text);
  EXPECT_TRUE(line.hasPipe());
  // Lines are whole.
  std::string seen = readAll();
  EXPECT_EQ(seen.size() % 1003, 0u);
  line.show(1, "the end");
  EXPECT_EQ(readAll(), "1.000 the end\n");
}

TEST(ProgressLine, DescriptorsThatAreNone) {
  for (const char *number : {"", "1", "x", "987654", "-3"}) {
    setenv("FACT_PROGRESS_FD", number, 1);
    EXPECT_FALSE(ProgressLine(/*isLent=*/true).hasPipe()) << number;
  }
  unsetenv("FACT_PROGRESS_FD");
}

TEST(ProgressLine, Seconds) {
  EXPECT_EQ(formatSeconds(0), "0:00");
  EXPECT_EQ(formatSeconds(9.2), "0:10");
  EXPECT_EQ(formatSeconds(130), "2:10");
  EXPECT_EQ(formatSeconds(3730), "1:02:10");
}

} // namespace
