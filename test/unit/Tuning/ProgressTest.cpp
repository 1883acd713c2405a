//===- ProgressTest.cpp ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Progress.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace fact::tuning;

namespace {

/// Four of ten builds, 20 s each, two at a time; two of ten candidates, 3 s
/// each.
Workload makeLoad(bool measureAlone) {
  Workload load;
  load.builds = {/*ended=*/4, /*running=*/2, /*waiting=*/4, /*seconds=*/80};
  load.measurements = {/*ended=*/2, /*running=*/1, /*waiting=*/0,
                       /*seconds=*/6};
  load.jobs = 2;
  load.measureAlone = measureAlone;
  return load;
}

Progress makeProgress() {
  Progress progress;
  progress.tried = 2;
  progress.planned = 10;
  progress.kernels = 3;
  progress.timed = 1;
  progress.us = 50;
  progress.solUs = 20;
  return progress;
}

TEST(Progress, TimeLeft) {
  // Beside the builds on a GPU, after them on the host.
  TimeLeft left = estimateTimeLeft(makeProgress(), makeLoad(false));
  EXPECT_DOUBLE_EQ(left.seconds, 60);
  EXPECT_FALSE(left.atLeast);
  EXPECT_DOUBLE_EQ(estimateTimeLeft(makeProgress(), makeLoad(true)).seconds,
                   60 + 8 * 3);
  // Nothing was measured yet.
  Workload load = makeLoad(true);
  load.measurements = {};
  left = estimateTimeLeft(makeProgress(), load);
  EXPECT_DOUBLE_EQ(left.seconds, 60);
  EXPECT_TRUE(left.atLeast);
}

TEST(Progress, Text) {
  EXPECT_EQ(describe(makeProgress(), makeLoad(false)),
            "2 of 10 candidates, 2 compiling, 1 measuring, 1:00 left, best 50 "
            "us for 1 of 3 kernels (40.0% of the speed of light)");
  EXPECT_DOUBLE_EQ(findShareDone(makeProgress(), makeLoad(false)),
                   6.0 / (6 + 6 + 8));
  Workload load = makeLoad(false);
  load.builds.seconds *= 100;
  load.measurements = {};
  Progress progress = makeProgress();
  progress.timed = progress.kernels;
  EXPECT_EQ(describe(progress, load),
            "2 of 10 candidates, 2 compiling, more than 1:40:00 left, best 50 "
            "us (40.0% of the speed of light)");
  // The runtime is compiled before the first candidate.
  EXPECT_EQ(describe({}, makeLoad(false)),
            "4 of 10 objects, 2 compiling, 1 measuring, 1:00 left");
  EXPECT_EQ(findShareDone({}, {}), 0);
}

TEST(Progress, PipeOfAnotherProgram) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  setenv("FACT_PROGRESS_FD", std::to_string(ends[1]).c_str(), 1);
  ProgressDisplay display(makeProgress);
  // Commands of the run see no such pipe.
  EXPECT_EQ(std::getenv("FACT_PROGRESS_FD"), nullptr);
  Scheduler scheduler(2, false);
  scheduler.setObserver(&display);
  Command command;
  command.words = {"/bin/sh", "-c",
                   "sleep 0.1; ! test -e /proc/self/fd/" +
                       std::to_string(ends[1])};
  command.log = "/dev/null";
  Outcome ended;
  scheduler.build(command, [&](const Outcome &outcome) { ended = outcome; });
  scheduler.run();
  EXPECT_TRUE(ended.succeeded()) << ended.text();
  EXPECT_EQ(scheduler.getWorkload().builds.ended, 1u);
  EXPECT_GE(scheduler.getWorkload().builds.seconds, 0.1);
  char text[256] = "";
  ASSERT_GT(read(ends[0], text, sizeof(text) - 1), 0);
  // Another line follows on a busy machine.
  std::string line(text);
  EXPECT_EQ(line.substr(0, line.find('\n') + 1),
            "0.182 2 of 10 candidates, 1 compiling, best 50 "
            "us for 1 of 3 kernels (40.0% of the speed of light)\n");
  close(ends[0]);
  close(ends[1]);
}

} // namespace
