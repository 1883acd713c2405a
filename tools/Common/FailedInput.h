//===- FailedInput.h - The command that repeats a failure -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TOOLS_COMMON_FAILEDINPUT_H
#define FACT_TOOLS_COMMON_FAILEDINPUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace fact {

/// The file that the input of a failure is saved to, and the command that
/// repeats the failure: printed once the file exists, also by the handler of
/// signals.
class FailedInput {
public:
  /// Chooses a file in the temporary folder, and writes nothing. The result is
  /// never freed, for the handler of signals; null without such a folder.
  static FailedInput *create(llvm::StringRef tool);

  llvm::StringRef getFile() const { return file; }
  bool isSaved() const;

  /// From now on, the command is printed after a crash too.
  void setCommand(llvm::ArrayRef<std::string> words);

  /// Writes a module to the file, which nobody else can read or replace; not
  /// if it exists, or if it cannot be written whole.
  void save(mlir::ModuleOp module) const;

  /// Prints once, and allocates nothing: the heap may be what is broken.
  void printIfSaved();

private:
  explicit FailedInput(std::string file) : file(std::move(file)) {}

  std::string file, line;
};

/// The words of a command line that load plug-ins.
std::vector<std::string> getLoadOptions(int argc, char **argv);

} // namespace fact

#endif // FACT_TOOLS_COMMON_FAILEDINPUT_H
