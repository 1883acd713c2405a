//===- Samples.h - Problems and entries for tests ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_PATTERNS_SAMPLES_H
#define FACT_TEST_UNIT_PATTERNS_SAMPLES_H

#include "TestBundle.h"
#include "fact/Registry/EntryFile.h"

namespace fact {
namespace registry {

using tuning::TemporaryFolder;

inline Problem sampleProblem(int64_t m = 4096,
                             const std::string &dtype = "bf16",
                             const std::string &ops = "matmul,add") {
  return {"gemm_epilogue",
          dtype,
          "sm_90a",
          ops,
          {{"m", m}, {"n", 1024}, {"k", 512}, {"batch", 1}, {"tensors", 1}}};
}

/// The sample as a file of format 1 has it.
inline Problem sampleFormat1() {
  Problem problem = sampleProblem();
  problem.format = 1;
  return problem;
}

inline Schedule accepted(double us, int swizzle = 1,
                         const std::string &machine = "NVIDIA H200") {
  Schedule schedule;
  schedule.key = "sm90_gemm<tile = 128x128x64, cluster = 2x1, kernel = "
                 "pingpong, swizzle = " +
                 std::to_string(swizzle) + ">";
  schedule.status = Status::Accepted;
  schedule.us = us;
  schedule.solShare = 0.75;
  schedule.error = 0.00166;
  schedule.machine = machine;
  schedule.versions = {{"fact", "0.1.0"}};
  schedule.date = "2026-11-15";
  return schedule;
}

inline Schedule failed(const std::string &reason, int swizzle = 1) {
  Schedule schedule = accepted(1, swizzle);
  schedule.status = Status::Failed;
  schedule.us = schedule.solShare = 0;
  schedule.error.reset();
  schedule.reason = reason;
  return schedule;
}

inline Entry sampleEntry(const Problem &problem,
                         const std::vector<Schedule> &schedules) {
  Entry entry;
  entry.problem = problem;
  entry.schedules = schedules;
  return entry;
}

/// Writes entries as they are, merged with nothing.
inline void writeLayer(const std::filesystem::path &layer,
                       const std::vector<Entry> &entries) {
  ASSERT_EQ(addEntries(layer, entries), "");
}

} // namespace registry
} // namespace fact

#endif // FACT_TEST_UNIT_PATTERNS_SAMPLES_H
