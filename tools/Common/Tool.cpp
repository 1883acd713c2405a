//===- Tool.cpp - What fact-compile, fact-opt and fact-translate share ----===//

#include "Tool.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>
#include <vector>

using namespace llvm;

/// fact-tune reads it too.
static constexpr const char *endWithParent = "FACT_END_WITH_PARENT";

void fact::initTool(StringRef name) {
  cl::SetVersionPrinter([name](raw_ostream &output) {
    output << name << " " << FACT_VERSION << ", LLVM " << LLVM_VERSION_STRING
           << "\n";
  });
  std::signal(SIGXFSZ, SIG_IGN);
  if (std::getenv(endWithParent))
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

void fact::endChildrenWithThisProcess() { setenv(endWithParent, "1", 1); }

int fact::runWithOutputAside(int argc, char **argv,
                             function_ref<bool(int, char **)> tool) {
  std::vector<std::string> words(argv, argv + argc);
  std::string output, aside;
  for (size_t i = 1; i < words.size(); ++i) {
    StringRef word = words[i];
    bool joined = word.consume_front("--o=") || word.consume_front("-o=");
    if (!joined && ((word != "-o" && word != "--o") || i + 1 == words.size()))
      continue;
    std::string &value = joined ? words[i] : words[++i];
    output = joined ? word.str() : value;
    // Devices and pipes have no aside.
    if (output == "-" ||
        (sys::fs::exists(output) && !sys::fs::is_regular_file(output)))
      break;
    aside = output + ".writing";
    value = (joined ? "-o=" : "") + aside;
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
    sys::fs::remove(aside);
    return 1;
  }
  if (!sys::fs::exists(aside))
    return 0; // --help and the like.
  if (std::error_code error = sys::fs::rename(aside, output)) {
    errs() << argv[0] << ": error: cannot write '" << output
           << "': " << error.message() << "\n";
    sys::fs::remove(aside);
    return 1;
  }
  return 0;
}
