//===- Commands.h - The commands of fact-registry ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TOOLS_FACTREGISTRY_COMMANDS_H
#define FACT_TOOLS_FACTREGISTRY_COMMANDS_H

#include "fact/Tuning/Learn.h"
#include <set>
#include <string>
#include <vector>

namespace fact {
namespace registry {

struct Options {
  std::string command;
  std::vector<std::string> arguments;
  /// Replace the default layers; the first is uppermost.
  std::vector<std::filesystem::path> layers;
  std::string rule, dtype, architecture;
  bool json = false;

  // add, migrate
  std::filesystem::path to;
  LearnOptions learn;

  // verify
  bool schedules = false;

  // prune
  std::set<Status> statuses;
  bool superseded = false, keepGiven = false, dryRun = false;
};

/// The commands return the exit status: 0, or 1 if something was found (a
/// broken file, a difference). Failures are thrown as tuning::Failure.
int list(const Options &options);
int show(const Options &options);
int add(const Options &options);
int verify(const Options &options);
int diff(const Options &options);
int prune(const Options &options);
int migrate(const Options &options);

/// Where changes go: the user's folder unless another is named.
std::filesystem::path getWritableLayer(const std::filesystem::path &named);

} // namespace registry
} // namespace fact

#endif // FACT_TOOLS_FACTREGISTRY_COMMANDS_H
