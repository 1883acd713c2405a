//===- WorkersTest.cpp - Workers that the machine ends --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the machine does to a worker (memory, a lost device, load) is not held
// against the candidate that was measured.
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

using namespace fact::tuning;

namespace {

const char correct[] = "y[i] = 2 * x[i] + w[i];";

class Workers : public testing::Test {
protected:
  Workers() {
    bundle.addCandidate("first", correct);
    bundle.addCandidate("second", std::string(correct) +
                                      " for (volatile int n = 0; n < 300; ++n) "
                                      "{}");
  }

  void expectLog(const std::string &part) {
    EXPECT_NE(bundle.log.find(part), std::string::npos) << part << "\n"
                                                        << bundle.log;
  }

  /// Runs fact-tune with a launcher that does `script` in place of the first
  /// `times` measurements of candidate 0. `$last` is the worker's last word.
  Outcome tune(const std::string &script, int times,
               std::vector<std::string> options = {}) {
    std::string counter = (bundle.folder() / "counter").string();
    fs::remove(counter);
    bundle.write("launcher",
                 "#!/bin/sh\nfor last; do :; done\ncase $last in\n*/0.job)\n"
                 "  echo >> " +
                     counter + "\n  if [ $(wc -l < " + counter + ") -le " +
                     std::to_string(times) + " ]; then\n    " + script +
                     "\n  fi;;\nesac\nexec \"$@\"\n");
    fs::permissions(bundle.folder() / "launcher", fs::perms::owner_all);
    options.insert(options.end(),
                   {"--run-launcher", (bundle.folder() / "launcher").string()});
    return bundle.tune(options);
  }

  TestBundle bundle;
};

TEST_F(Workers, KilledTwice) {
  ASSERT_TRUE(tune("kill -KILL $$", 2).succeeded()) << bundle.log;
  expectLog("again #0     SIGKILL (Killed) while running the reference");
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"ok", "ok"}));
  EXPECT_EQ(bundle.report()["kernels"][0]["schedule"], "first");
}

TEST_F(Workers, AlwaysKilled) {
  ASSERT_TRUE(
      tune("echo '{\"phase\": \"loaded\"}'; kill -KILL $$", 99).succeeded())
      << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"killed", "ok"}));
  expectLog("killed: SIGKILL (Killed) while verifying, 4 times");
  // Nothing is held against it.
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"ok", "ok"}));
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 1);
  EXPECT_EQ(bundle.report()["kernels"][0]["schedule"], "first");
}

TEST_F(Workers, ASignalIsTriedAgain) {
  ASSERT_TRUE(
      tune("echo '{\"phase\": \"loaded\"}'; kill -SEGV $$", 1).succeeded())
      << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"ok", "ok"}));
  ASSERT_TRUE(
      tune("echo '{\"phase\": \"loaded\"}'; kill -SEGV $$", 2, {"--retune"})
          .succeeded())
      << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"crash", "ok"}));
}

TEST_F(Workers, ATimeoutIsTriedAgain) {
  std::string script = "echo '{\"phase\": \"loaded\"}'; exec sleep 60";
  ASSERT_TRUE(tune(script, 1, {"--run-timeout", "8"}).succeeded())
      << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"ok", "ok"}));
}

TEST_F(Workers, OutOfMemory) {
  std::string script = "echo '{\"phase\": \"done\", \"status\": "
                       "\"out_of_memory\", \"detail\": \"cudaMalloc: out of "
                       "memory\"}'; exit 0";
  ASSERT_TRUE(tune(script, 1).succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses(), (std::vector<std::string>{"ok", "ok"}));
  EXPECT_EQ(tune(script, 99, {"--retune"}).code, 1);
  expectLog("kernel 'axpy' cannot be verified with the free memory: "
            "cudaMalloc: out of memory, 4 times");
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
}

/// More operands than there are addresses: the worker says so itself.
TEST_F(Workers, MoreMemoryThanThereIs) {
  Json huge = {{"type", "f32"}, {"shape", {int64_t(1) << 44, 1}}};
  bundle.kernel()["operands"][0] = huge;
  bundle.json["inputs"][0].update(huge);
  EXPECT_EQ(bundle.tune().code, 1);
  expectLog("cannot be verified with the free memory: out of memory: ");
}

TEST_F(Workers, ALostDevice) {
  // Crashes, and from then on there is no device.
  std::string lost = (bundle.folder() / "lost").string();
  bundle.write("launcher",
               "#!/bin/sh\nfor last; do :; done\ncase $last in\n"
               "--machine) if [ -e " +
                   lost +
                   " ]; then echo '{\"phase\": \"done\", "
                   "\"status\": \"worker_error\", \"detail\": "
                   "\"no device\"}'; exit 0; fi;;\n*/0.job) touch " +
                   lost +
                   "; echo '{\"phase\": \"loaded\"}'; kill -SEGV "
                   "$$;;\nesac\nexec \"$@\"\n");
  fs::permissions(bundle.folder() / "launcher", fs::perms::owner_all);
  EXPECT_EQ(
      bundle.tune({"--run-launcher", (bundle.folder() / "launcher").string()})
          .code,
      1);
  expectLog("the measuring worker cannot use this machine: no device");
  ASSERT_TRUE(bundle.tune().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.statuses()[0], "ok");
}

} // namespace
