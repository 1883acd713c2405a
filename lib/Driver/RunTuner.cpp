//===- RunTuner.cpp - fact-tune as a process of the compiler --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunTuner.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <unistd.h>

using namespace mlir;
using namespace fact;

/// The environment without one variable.
static std::vector<StringRef> getEnvironmentWithout(StringRef variable) {
  std::vector<StringRef> environment;
  for (char **entry = environ; *entry; ++entry)
    if (StringRef(*entry).split('=').first != variable)
      environment.push_back(*entry);
  return environment;
}

LogicalResult fact::runTuner(ModuleOp module, StringRef tuner,
                             ArrayRef<std::string> arguments,
                             StringRef hidden) {
  llvm::ErrorOr<std::string> program =
      !llvm::sys::path::has_parent_path(tuner)
          ? llvm::sys::findProgramByName(tuner)
      : llvm::sys::fs::can_execute(tuner)
          ? llvm::ErrorOr<std::string>(tuner.str())
          : std::make_error_code(std::errc::no_such_file_or_directory);
  if (!program)
    return module.emitError("cannot find the tuner '")
           << tuner << "'; put it on the PATH or name it with --tuner";
  SmallVector<StringRef> words{*program};
  llvm::append_range(words, arguments);
  std::vector<StringRef> environment = getEnvironmentWithout(hidden);
  std::string error;
  int status =
      llvm::sys::ExecuteAndWait(*program, words, ArrayRef(environment), {},
                                /*SecondsToWait=*/0, /*MemoryLimit=*/0, &error);
  if (status == 0)
    return success();
  InFlightDiagnostic diagnostic = module.emitError("tuning failed");
  if (!error.empty())
    diagnostic << ": " << error;
  diagnostic.attachNote(UnknownLoc::get(module.getContext()))
      << "the bundle is complete; to try again: " << llvm::join(words, " ");
  return diagnostic;
}
