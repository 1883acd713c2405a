//===- Tool.cpp - Common parts of the tools -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"
#include "fact/Runtime/Text.h"
#include "fact/Support/ParentProcess.h"
#include "fact/Support/Version.h"
#include "fact/Support/WholeFile.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

using namespace llvm;

void fact::initTool(StringRef name) {
  cl::SetVersionPrinter([name](raw_ostream &output) {
    output << name << " " << getVersion() << ", LLVM " << LLVM_VERSION_STRING
           << "\n";
  });
  std::signal(SIGXFSZ, SIG_IGN);
  endWithParent();
}

static std::vector<mlir::DialectPlugin> &getPlugins() {
  static std::vector<mlir::DialectPlugin> plugins;
  return plugins;
}

/// A static tool has a definition of its own.
LLVM_ATTRIBUTE_WEAK bool fact::canLoadPlugins() { return true; }

void fact::declarePluginOption() {
  static cl::list<std::string> option(
      "load-dialect-plugin",
      cl::desc("Library with families, machines or dialects of its own "
               "(repeatable)"),
      cl::value_desc("library"), cl::callback([](const std::string &file) {
        if (!canLoadPlugins()) {
          WithColor::error() << "'" << file
                             << "' needs a tool that shares MLIR with it, and "
                                "this one has MLIR linked into it: build "
                                "FACT with LLVM's shared libraries\n";
          std::exit(1);
        }
        auto plugin = mlir::DialectPlugin::load(file);
        if (!plugin) {
          WithColor::error() << toString(plugin.takeError()) << "\n";
          std::exit(1);
        }
        getPlugins().push_back(*plugin);
      }));
}

void fact::registerPlugins(mlir::DialectRegistry &registry) {
  for (const mlir::DialectPlugin &plugin : getPlugins())
    plugin.registerDialectRegistryCallbacks(registry);
}

/// Line ends and tabs are kept.
void fact::PrintableStream::write_impl(const char *data, size_t size) {
  std::string text(data, size);
  for (size_t at = 0; at < size;) {
    size_t end = std::min(text.find_first_of("\n\t", at), size);
    stream << runtime::escapeControls(text.substr(at, end - at));
    if (end < size)
      stream << text[end];
    at = end + 1;
  }
  written += size;
}

/// The incomplete output file; static, for the handlers that run at exit.
static std::string &getAside() {
  static std::string *aside = new std::string;
  return *aside;
}

int fact::runWithOutputAside(int argc, char **argv,
                             function_ref<bool(int, char **)> tool) {
  std::vector<std::string> words(argv, argv + argc);
  std::string output, &aside = getAside();
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef word = words[i];
    bool joined = word.consume_front("--o=") || word.consume_front("-o=");
    if (!joined && ((word != "-o" && word != "--o") || i + 1 == words.size()))
      continue;
    std::string &value = joined ? words[i] : words[++i];
    output = joined ? word.str() : value;
    // Devices and pipes cannot be replaced by a rename.
    if (output == "-" ||
        (sys::fs::exists(output) && !sys::fs::is_regular_file(output)))
      break;
    aside = getUniqueName(output, partial).string();
    value = (joined ? "-o=" : "") + aside;
    // LLVM forgets the file once it is closed, but may still crash after that.
    sys::AddSignalHandler([](void *) { ::unlink(getAside().c_str()); },
                          nullptr);
    break;
  }
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  bool succeeded = tool(argc, pointers.data());
  if (aside.empty())
    return succeeded ? 0 : 1;
  if (!succeeded) {
    (void)sys::fs::remove(aside);
    return 1;
  }
  if (!sys::fs::exists(aside))
    return 0; // --help and the like.
  if (std::error_code error = sys::fs::rename(aside, output)) {
    errs() << argv[0] << ": error: cannot write '" << output
           << "': " << error.message() << "\n";
    (void)sys::fs::remove(aside);
    return 1;
  }
  return 0;
}
