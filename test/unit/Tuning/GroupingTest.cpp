//===- GroupingTest.cpp - The agent's grouping against the rules' ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"
#include "fact/Support/PathLock.h"
#include <thread>

using namespace fact::tuning;

namespace {

constexpr char quick[] = "float p = 2 * x[i]; y[i] = p + w[i];";
constexpr char slow[] = "float p = 2 * x[i]; y[i] = p + w[i]; "
                        "for (volatile int n = 0; n < 300; n = n + 1) {}";

/// A bundle that has the rules' grouping beside its own.
struct Groupings {
  Groupings(const char *agentBody, const char *rulesBody) {
    agent.addCandidate("agents", agentBody);
    rules.addCandidate("rules", rulesBody);
    agent.addBeside(rules, "rules");
  }

  Json shipping() const {
    Json report = agent.report();
    for (const Json &each : report["groupings"])
      if (each["ships"])
        return each["program"];
    return nullptr;
  }

  TestBundle agent, rules;
};

TEST(Grouping, TheRulesShipUnlessTheAgentsIsFaster) {
  Groupings worse(slow, quick);
  ASSERT_TRUE(worse.agent.tune().succeeded()) << worse.agent.log;
  EXPECT_EQ(worse.shipping(), "rules") << worse.agent.log;
  EXPECT_TRUE(worse.agent.ships("rules"));
  EXPECT_FALSE(worse.agent.ships("agents"));
  EXPECT_LT(worse.agent.report()["groupings"][0]["us"],
            worse.agent.report()["groupings"][1]["us"]);
  // The report of each bundle is of its own kernels.
  EXPECT_EQ(worse.agent.report()["kernels"][0]["schedule"], "agents");
  Json other =
      Json::parse(readFile(worse.agent.folder() / "rules/tuning.json"));
  EXPECT_EQ(other["kernels"][0]["schedule"], "rules");

  // Without other programs, the one of the bundle.
  ASSERT_TRUE(worse.agent.tune({"--no-alternatives"}).succeeded());
  EXPECT_FALSE(worse.agent.report().contains("groupings"));
  EXPECT_TRUE(worse.agent.ships("agents"));
}

TEST(Grouping, TheAgentsShipsIfItIsFaster) {
  Groupings better(quick, slow);
  ASSERT_TRUE(better.agent.tune().succeeded()) << better.agent.log;
  EXPECT_EQ(better.shipping(), "agent") << better.agent.log;
  EXPECT_TRUE(better.agent.ships("agents"));
}

/// Whoever links to the same file removes what others left beside it.
TEST(Grouping, NoLibraryIsReplacedWhileAnotherLinks) {
  Groupings worse(slow, quick);
  fs::path folder = worse.agent.folder(), log = folder / "fact-tune.log";
  worse.agent.write("launcher", "#!/bin/sh\ncase \"$*\" in *--race*) echo > " +
                                    (folder / "racing").string() +
                                    "; while [ ! -e " +
                                    (folder / "locked").string() +
                                    " ]; do sleep 0.02; done;; esac\n"
                                    "exec \"$@\"\n");
  fs::permissions(folder / "launcher", fs::perms::owner_all);
  bool waited = false;
  std::thread other([&] {
    fact::PathLock lock;
    EXPECT_TRUE(waitForText(folder / "racing", "\n"));
    EXPECT_EQ(lock.acquire(folder / "sample.so", "test"), "");
    worse.agent.write("locked", "");
    waited = waitForText(log, "waiting for test");
    EXPECT_TRUE(worse.agent.ships("agents"));
  });
  Outcome outcome =
      worse.agent.tune({"--run-launcher", (folder / "launcher").string()});
  other.join();
  EXPECT_TRUE(outcome.succeeded()) << worse.agent.log;
  EXPECT_TRUE(waited) << worse.agent.log;
  EXPECT_EQ(worse.shipping(), "rules") << worse.agent.log;
  EXPECT_TRUE(worse.agent.ships("rules"));
}

TEST(Grouping, RulesThatFailAreAWarning) {
  Groupings broken(quick, "y[i] = 0;");
  ASSERT_TRUE(broken.agent.tune().succeeded()) << broken.agent.log;
  EXPECT_NE(broken.agent.log.find("the rules' grouping does not take part"),
            std::string::npos)
      << broken.agent.log;
  EXPECT_TRUE(broken.agent.ships("agents"));
}

} // namespace
