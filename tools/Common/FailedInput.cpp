//===- FailedInput.cpp - The command that repeats a failure ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FailedInput.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;
using namespace fact;

FailedInput *FailedInput::create(StringRef tool) {
  SmallString<128> file;
  if (sys::fs::getPotentiallyUniqueTempFileName(tool, "mlir", file))
    return nullptr;
  return new FailedInput(file.str().str());
}

void FailedInput::setCommand(ArrayRef<std::string> words) {
  std::string text = "to repeat the failure:";
  raw_string_ostream stream(text);
  for (StringRef word : words) {
    stream << " ";
    sys::printArg(stream, word, /*Quote=*/false);
  }
  stream << "\n";
  // A handler runs once, and a crash that was recovered from has run its own.
  if (line.empty())
    sys::AddSignalHandler(
        [](void *input) { static_cast<FailedInput *>(input)->printIfSaved(); },
        this);
  line = std::move(text);
}

void FailedInput::save(mlir::ModuleOp module) const {
  int descriptor = -1;
  if (sys::fs::openFileForWrite(file, descriptor, sys::fs::CD_CreateNew,
                                sys::fs::OF_None, /*Mode=*/0600))
    return;
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  stream << "\n";
  stream.close();
  if (!stream.has_error())
    return;
  stream.clear_error();
  (void)sys::fs::remove(file);
}

bool FailedInput::isSaved() const { return ::access(file.c_str(), F_OK) == 0; }

void FailedInput::printIfSaved() {
  if (line.empty() || !isSaved())
    return;
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  line.clear();
}

std::vector<std::string> fact::getLoadOptions(int argc, char **argv) {
  std::vector<std::string> options;
  for (int i = 1; i < argc; ++i) {
    StringRef word = argv[i];
    if (!word.starts_with("-") || !word.ltrim('-').starts_with("load-"))
      continue;
    options.push_back(word.str());
    if (!word.contains('=') && i + 1 < argc)
      options.push_back(argv[++i]);
  }
  return options;
}
