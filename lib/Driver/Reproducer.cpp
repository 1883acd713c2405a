//===- Reproducer.cpp - The command that repeats a failure ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reproducer.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fact;

/// Writes a module to a new file that nobody else can read or replace; empty on
/// failure.
static std::string save(ModuleOp module) {
  SmallString<128> file;
  int descriptor = -1;
  if (llvm::sys::fs::createTemporaryFile("fact-compile", "mlir", descriptor,
                                         file))
    return "";
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  module.print(stream, OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  stream.close();
  if (!stream.has_error())
    return file.str().str();
  stream.clear_error();
  return "";
}

LogicalResult Reproducer::run(StringRef stage,
                              function_ref<LogicalResult()> body) {
  if (command.empty())
    return body();
  OwningOpRef<ModuleOp> before = module.clone();
  LogicalResult result = failure();
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  recovery.DumpStackAndCleanupOnFailure = true;
  bool finished = recovery.RunSafely([&] { result = body(); });
  if (!finished || failed(result))
    print(stage, /*crashed=*/!finished, *before);
  return success(finished && succeeded(result));
}

void Reproducer::print(StringRef stage, bool crashed, ModuleOp before) {
  std::string file = save(before);
  if (file.empty())
    return;
  std::string words;
  llvm::raw_string_ostream stream(words);
  for (StringRef word : command) {
    stream << (words.empty() ? "" : " ");
    llvm::sys::printArg(stream, word == input ? file : word, /*Quote=*/false);
  }
  Location loc = UnknownLoc::get(module.getContext());
  if (crashed)
    emitError(loc) << "stage '" << stage << "' crashed";
  emitRemark(loc) << "to repeat stage '" << stage << "' alone: " << words;
}
