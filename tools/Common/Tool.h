//===- Tool.h - Common parts of the tools -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TOOLS_COMMON_TOOL_H
#define FACT_TOOLS_COMMON_TOOL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fact {

/// Sets the text of `--version`, makes a full disk an error rather than a
/// signal, and ends the process with its parent if the parent requests it.
void initTool(llvm::StringRef name);

/// Declares `--load-dialect-plugin`, as mlir-opt has it, for a tool that does
/// not.
void declarePluginOption();
/// Whether this tool has MLIR as a shared library, which plug-ins share with
/// it.
bool canLoadPlugins();
/// Registers the plug-ins that were loaded.
void registerPlugins(mlir::DialectRegistry &registry);

/// Escapes control characters, so that neither a name nor a source line moves
/// the cursor of a terminal. Colors are LLVM's own.
class PrintableStream : public llvm::raw_ostream {
public:
  explicit PrintableStream(llvm::raw_ostream &stream)
      : llvm::raw_ostream(/*unbuffered=*/true), stream(stream) {
    enable_colors(stream.colors_enabled());
  }

  bool is_displayed() const override { return stream.is_displayed(); }
  bool has_colors() const override { return stream.has_colors(); }
  llvm::raw_ostream &changeColor(enum Colors color, bool bold,
                                 bool background) override {
    stream.changeColor(color, bold, background);
    return *this;
  }
  llvm::raw_ostream &resetColor() override {
    stream.resetColor();
    return *this;
  }
  llvm::raw_ostream &reverseColor() override {
    stream.reverseColor();
    return *this;
  }

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return written; }

  llvm::raw_ostream &stream;
  uint64_t written = 0;
};

/// Runs a tool so that the file of its `-o` is written completely or not at
/// all.
int runWithOutputAside(int argc, char **argv,
                       llvm::function_ref<bool(int, char **)> tool);

} // namespace fact

#endif // FACT_TOOLS_COMMON_TOOL_H
