//===- CommandLine.h - Words of a command, one after the other --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_COMMANDLINE_H
#define FACT_TUNING_COMMANDLINE_H

#include <cstdint>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

/// Parses `--name value`, `--name=value` and other arguments, for programs that
/// do not link LLVM. Throws Failure.
class CommandLine {
public:
  /// `tool` is the program's name. `--help` prints `usage` and exits, and so
  /// does `--version`.
  CommandLine(int argc, char **argv, std::string tool, std::string version,
              std::string usage)
      : words(argv + 1, argv + argc), tool(std::move(tool)),
        version(std::move(version)), usage(std::move(usage)) {}

  /// Advances to the next argument; false at the end.
  bool next();

  /// "--name", without the value after `=`; or the argument.
  const std::string &word() const { return current; }
  bool isOption() const { return !current.empty() && current[0] == '-'; }

  /// The value of this option, which is not empty.
  std::string value();
  /// The value as a number above 0.
  double number();
  /// The same as a whole one, at most a million.
  size_t count();

  /// The same as a whole number of 64 bits, 0 included.
  uint64_t whole();
  /// The same for the text of an option or environment variable `name`.
  static uint64_t readWhole(const std::string &name, const std::string &text);

  /// Reports an unknown option.
  [[noreturn]] void refuse() const;

private:
  [[noreturn]] void expectNumber(const std::string &text) const;

  std::vector<std::string> words;
  size_t position = 0;
  std::string current, inlineValue;
  bool hasInline = false;
  std::string tool, version, usage;
};

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_COMMANDLINE_H
