//===- Learn.h - From measurements to entries -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_LEARN_H
#define FACT_TUNING_LEARN_H

#include "fact/Registry/Registry.h"

namespace fact {
namespace registry {

struct LearnOptions {
  /// A tuning.json that fact-tune wrote for the bundle, maybe elsewhere. Empty:
  /// the bundle's tuning.sqlite, or its tuning.json where that is all there is.
  std::filesystem::path results;
  /// The day of results that do not say it: "2026-11-15".
  std::string date;
  /// Versions beside those that the results name, as in {"commit", "0123abc"}.
  std::map<std::string, std::string> versions;
  /// Accepted schedules of each kernel and machine, the fastest first.
  size_t keep = 5;
};

/// What tuning a bundle has taught: an entry for each kernel that was tried,
/// with its fastest schedules and all that failed. Throws tuning::Failure.
std::vector<Entry> learn(const std::filesystem::path &bundle,
                         const LearnOptions &options);

/// The problems of a bundle's kernels. Throws tuning::Failure.
std::vector<Problem> readProblems(const std::filesystem::path &bundle);

/// All attempts of one kernel of a bundle, the oldest first.
struct Measurements {
  struct Attempt {
    std::string key, status, detail;
    double us = 0;
    bool isAccepted() const { return status == "ok" && us > 0; }
  };
  std::string kernel;
  Problem problem;
  /// The least time at published peaks, and at the rates that the machine was
  /// seen to reach (fact-tune --probe; 0: not probed).
  double solUs = 0, ceilingUs = 0;
  /// The least that it computes and moves.
  double flops = 0, bytes = 0;
  std::vector<Attempt> attempts;
  /// What its form gains in the whole program, if that was ablated.
  std::vector<Gain> gains;

  /// The least time that can be hoped for on the machine.
  double getLeastUs() const { return ceilingUs > 0 ? ceilingUs : solUs; }
  /// The fastest accepted attempt, or null.
  const Attempt *getBest() const;
};

/// What fact-tune measured of a bundle, from its database or from `results`, a
/// tuning.json. Throws nothing: empty and `error` when there is nothing.
std::vector<Measurements> readMeasurements(const std::filesystem::path &bundle,
                                           const std::filesystem::path &results,
                                           std::string &error);

/// The times of whole programs with an agent's grouping and with the rules', in
/// turn.
struct GroupingRace {
  /// 0: there was no race.
  double us = 0, rulesUs = 0;
  /// The agent's time over the rules', and its 95% interval.
  double ratio = 1, low = 1, high = 1;
  /// Whose program was linked: "agent" or "rules".
  std::string ships;
};

/// What the tuning.json of a bundle says about its grouping. Throws nothing.
GroupingRace readGroupingRace(const std::filesystem::path &bundle);

} // namespace registry
} // namespace fact

#endif // FACT_TUNING_LEARN_H
