//===- LearnTest.cpp - What tuning a real bundle teaches ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Learn.h"
#include "Samples.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Database.h"
#include <ctime>

using namespace fact::registry;
using fact::tuning::Failure;
using fact::tuning::Json;
using fact::tuning::TestBundle;
using fact::tuning::writeFile;
namespace fs = std::filesystem;

namespace {

/// Three good candidates, and one that is wrong.
struct TunedBundle : TestBundle {
  TunedBundle() {
    const char correct[] = "y[i] = 2 * x[i] + w[i];";
    auto slower = [&](int loops) {
      return correct + std::string(" for (volatile int n = 0; n < ") +
             std::to_string(loops) + "; ++n) {}";
    };
    addCandidate("host_rows<grain = 1>", slower(1000));
    addCandidate("host_rows<grain = 2>", correct);
    addCandidate("host_rows<grain = 4>", slower(300));
    addCandidate("host_rows<grain = 8>", "y[i] = 0;");
    kernel()["problem"] = {
        {"format", 2},
        {"dtype", "f32"},
        {"ops", "mul,add"},
        {"example", "05_batched_gemm"},
        {"extents", {{"elements", rows * columns}, {"tensors", 3}}}};
  }
};

std::string whyNot(const fs::path &bundle, const LearnOptions &options = {}) {
  try {
    learn(bundle, options);
    return "";
  } catch (const Failure &failure) {
    return failure.what();
  }
}

void expectLearned(const std::vector<Entry> &entries) {
  ASSERT_EQ(entries.size(), 1u);
  const Entry &entry = entries[0];
  EXPECT_EQ(entry.problem.rule, "pointwise");
  EXPECT_EQ(entry.problem.dtype, "f32");
  EXPECT_EQ(entry.problem.format, 2);
  EXPECT_EQ(entry.example, "05_batched_gemm");
  EXPECT_EQ(entry.problem.architecture, "native");
  EXPECT_EQ(entry.problem.getExtentsText(), "elements=2112 tensors=3");
  ASSERT_EQ(entry.schedules.size(), 4u);
  EXPECT_EQ(entry.schedules[0].key, "host_rows<grain = 2>");
  EXPECT_EQ(entry.schedules[1].key, "host_rows<grain = 4>");
  EXPECT_EQ(entry.schedules[2].key, "host_rows<grain = 1>");
  for (int i : {0, 1, 2}) {
    EXPECT_EQ(entry.schedules[i].status, Status::Accepted);
    EXPECT_TRUE(entry.schedules[i].error);
    EXPECT_GT(entry.schedules[i].solShare, 0);
    EXPECT_GT(entry.schedules[i].runs, 0);
    EXPECT_GT(entry.schedules[i].usLow, 0);
    EXPECT_LE(entry.schedules[i].usLow, entry.schedules[i].us);
    EXPECT_GE(entry.schedules[i].usHigh, entry.schedules[i].us);
  }
  const Schedule &bad = entry.schedules[3];
  EXPECT_EQ(bad.status, Status::Failed);
  EXPECT_EQ(bad.reason.find("wrong: "), 0u) << bad.reason;
  EXPECT_EQ(bad.versions.at("fact"), "test");
  EXPECT_FALSE(bad.versions.at("compiler").empty());
  EXPECT_FALSE(bad.machine.empty());
  std::time_t now = std::time(nullptr);
  char today[16];
  std::strftime(today, sizeof(today), "%Y", std::gmtime(&now));
  EXPECT_EQ(bad.date.substr(0, 4), today);
}

TEST(Learn, FromTheDatabaseAndFromTheReport) {
  TunedBundle bundle;
  EXPECT_NE(whyNot(bundle.folder()).find("is not a bundle"), std::string::npos);
  bundle.save();
  EXPECT_NE(whyNot(bundle.folder()).find("was not tuned"), std::string::npos);

  ASSERT_TRUE(bundle.tune({"--no-link", "--candidates=6"}).succeeded())
      << bundle.log;
  expectLearned(learn(bundle.folder(), {}));
  LearnOptions few;
  few.keep = 1;
  few.versions = {{"commit", "0123abc"}};
  std::vector<Entry> entries = learn(bundle.folder(), few);
  ASSERT_EQ(entries[0].schedules.size(), 2u);
  EXPECT_EQ(entries[0].schedules[0].versions.at("commit"), "0123abc");

  // Times of another regime than the newest one do not compare with it.
  fs::path copy = bundle.folder() / "copy.sqlite";
  fs::copy(bundle.folder() / "tuning.sqlite", copy);
  {
    fact::tuning::Database database(bundle.folder() / "tuning.sqlite");
    std::string hash =
        fact::tuning::readBundle(bundle.folder()).kernels[0].hash;
    for (const char *regime : {"paced", "sustained"})
      for (fact::tuning::Database::Row row : database.list(hash)) {
        bool slow = row.key.candidate == "host_rows<grain = 1>";
        row.attempt.conditions.regime = regime;
        if (row.attempt.status == "ok" &&
            (slow || std::string(regime) == "paced"))
          database.record(row.key, row.attempt);
      }
  }
  entries = learn(bundle.folder(), {});
  ASSERT_EQ(entries[0].schedules.size(), 2u);
  EXPECT_EQ(entries[0].schedules[0].key, "host_rows<grain = 1>");
  EXPECT_EQ(entries[0].schedules[1].status, Status::Failed);
  fs::remove(bundle.folder() / "tuning.sqlite");
  fs::rename(copy, bundle.folder() / "tuning.sqlite");

  // The report says the same, here and elsewhere.
  fs::remove(bundle.folder() / "tuning.sqlite");
  expectLearned(learn(bundle.folder(), {}));
  Json report = bundle.report();
  TemporaryFolder elsewhere;
  LearnOptions brought;
  brought.results = elsewhere.path / "tuning.json";
  writeFile(brought.results, report.dump());
  fs::remove(bundle.folder() / "tuning.json");
  expectLearned(learn(bundle.folder(), brought));

  // What --ablate found is a gain of the kernel's form.
  EXPECT_TRUE(learn(bundle.folder(), brought)[0].gains.empty());
  Json ablated = report;
  ablated["ablations"] = {{{"kernel", "axpy"},
                           {"form", "fused"},
                           {"other", "apart"},
                           {"ratio", 1.25},
                           {"ratio_low", 1.2},
                           {"ratio_high", 1.3}}};
  writeFile(brought.results, ablated.dump());
  std::vector<Gain> gains = learn(bundle.folder(), brought)[0].gains;
  ASSERT_EQ(gains.size(), 1u);
  EXPECT_EQ(gains[0].form + " " + gains[0].against, "fused apart");
  EXPECT_EQ(gains[0].ratio, 1.25);
  EXPECT_EQ(gains[0].date, report["date"]);
  EXPECT_EQ(gains[0].machine.find("features"), std::string::npos);

  // A GPU's libraries are versions, under names that entries may have.
  Json device = report;
  device["machine"] = "NVIDIA H200, sm_90, driver 13000, cublasLt 130100";
  writeFile(brought.results, device.dump());
  std::vector<Entry> onDevice = learn(bundle.folder(), brought);
  ASSERT_EQ(onDevice.size(), 1u);
  EXPECT_EQ(onDevice[0].schedules[0].machine, "NVIDIA H200, sm_90");
  EXPECT_EQ(onDevice[0].schedules[0].versions.at("cublaslt"), "130100");
  EXPECT_FALSE(onDevice[0].schedules[0].versions.count("cublasLt"));

  // One of another model, one without a day, one that is none.
  Json other = report;
  other["name"] = "another";
  writeFile(brought.results, other.dump());
  EXPECT_NE(whyNot(bundle.folder(), brought).find("is of \"another\""),
            std::string::npos);
  other = report;
  other["kernels"][0]["sol_us"] = 1;
  writeFile(brought.results, other.dump());
  EXPECT_NE(whyNot(bundle.folder(), brought).find("is not of this bundle"),
            std::string::npos);
  report.erase("date");
  writeFile(brought.results, report.dump());
  EXPECT_NE(whyNot(bundle.folder(), brought).find("name its day with --date"),
            std::string::npos);
  brought.date = "2026-11-15";
  EXPECT_EQ(learn(bundle.folder(), brought)[0].schedules[0].date, "2026-11-15");
  brought.date = "yesterday";
  EXPECT_NE(whyNot(bundle.folder(), brought).find("has no place"),
            std::string::npos);
  writeFile(brought.results, "[]");
  EXPECT_NE(whyNot(bundle.folder(), brought).find("is not a report"),
            std::string::npos);

  // A bundle of an older compiler.
  writeFile(brought.results, report.dump());
  bundle.kernel().erase("problem");
  bundle.save();
  EXPECT_NE(whyNot(bundle.folder(), brought).find("does not say what problem"),
            std::string::npos);
}

TEST(Learn, FromAKernelOfWhichNothingWorked) {
  TestBundle bundle;
  bundle.addCandidate("host_rows<grain = 1>", "y[i] = 0;");
  bundle.addCandidate("host_rows<grain = 2>", "y[i] = nonsense;");
  bundle.kernel()["problem"] = {
      {"dtype", "f32"},
      {"ops", "mul,add"},
      {"extents", {{"elements", 2112}, {"tensors", 3}}}};
  EXPECT_FALSE(bundle.tune({"--no-link"}).succeeded());
  std::vector<Entry> entries = learn(bundle.folder(), {});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].getStatus(), Status::Failed);
  ASSERT_EQ(entries[0].schedules.size(), 2u);
  for (const Schedule &schedule : entries[0].schedules)
    if (schedule.key == "host_rows<grain = 2>") {
      EXPECT_EQ(schedule.reason.find("compile_error: "), 0u) << schedule.reason;
      EXPECT_NE(schedule.reason.find("nonsense"), std::string::npos);
      EXPECT_EQ(schedule.reason.find(bundle.folder().string()),
                std::string::npos);
    }
}

} // namespace
