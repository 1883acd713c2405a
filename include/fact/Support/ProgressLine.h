//===- ProgressLine.h - What a program is doing, for people -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_SUPPORT_PROGRESSLINE_H
#define FACT_SUPPORT_PROGRESSLINE_H

#include <optional>
#include <string>

namespace fact {

/// "2:10", "1:02:10".
std::string formatSeconds(double seconds);

/// What a program is doing: lines of "SHARE TEXT" in a pipe whose number is in
/// FACT_PROGRESS_FD, or the last line of a terminal. SHARE is between 0 and 1,
/// or "-" where it is unknown. Elsewhere nothing is written.
class ProgressLine {
public:
  /// isLent: tools that this process starts write to the pipe after it.
  /// Otherwise no child sees it.
  explicit ProgressLine(bool isLent);

  bool hasPipe() const { return pipe >= 0; }
  /// Whether standard output is a terminal, and there is no pipe.
  bool hasTerminal() const { return isTerminal && !hasPipe(); }
  bool isDrawn() const { return drawn; }

  void show(std::optional<double> share, const std::string &text);
  /// Removes the line from the terminal, before something else is printed.
  void clear();

private:
  bool isTerminal = false, drawn = false;
  /// -1 if there is none.
  int pipe = -1;
};

} // namespace fact

#endif // FACT_SUPPORT_PROGRESSLINE_H
