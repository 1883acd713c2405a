//===- CommandOptions.h - The command line of fact-tune ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TOOLS_FACT_TUNE_COMMANDOPTIONS_H
#define FACT_TOOLS_FACT_TUNE_COMMANDOPTIONS_H

#include "fact/Tuning/Tuner.h"

/// The options of the tuner, and those of the command alone.
struct CommandOptions : fact::tuning::Options {
  /// Keeps the measurements out of the user's registry.
  bool noLearn = false;
};

/// Reads the command line and the environment. Throws a Failure that says what
/// is wrong with them; --help and --version end the program.
CommandOptions parseOptions(int argc, char **argv);

#endif // FACT_TOOLS_FACT_TUNE_COMMANDOPTIONS_H
