//===- Workshop.h - What the bundles of a run share -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_WORKSHOP_H
#define FACT_TUNING_WORKSHOP_H

#include "fact/Tuning/ObjectCache.h"
#include "fact/Tuning/Process.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

/// The compilers, the measuring queue and the compiled objects of a run of
/// fact-tune, whatever the number of bundles.
class Workshop {
public:
  Workshop(std::filesystem::path objects, unsigned jobs, bool measureAlone)
      : objects(std::move(objects)), scheduler(jobs, measureAlone) {}

  /// `isCached`: the object was not compiled for this call.
  using Compiled = std::function<void(const Outcome &, bool isCached)>;

  struct Compile {
    /// Identifies the object; empty: it is of no use to others.
    std::string key;
    /// Writes `object`.
    Command command;
    std::filesystem::path object;
    Compiled done;
  };

  /// Takes the object from the cache, or waits for a compiler that makes the
  /// same object, or starts one.
  void compile(Compile compile);

  ObjectCache objects;
  Scheduler scheduler;
  /// Bundles that have not failed. When the last one fails, the run ends.
  size_t bundles = 1;

private:
  void finish(const std::string &key, const Outcome &outcome);

  /// By key: the compile that runs, and those that wait for its object.
  std::map<std::string, std::vector<Compile>> underWay;
};

/// As many compilers as processors and memory allow.
unsigned defaultJobs(bool cuda);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_WORKSHOP_H
