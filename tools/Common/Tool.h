//===- Tool.h - What fact-compile, fact-opt and fact-translate share -*- C++
//-*-===//

#ifndef FACT_TOOLS_COMMON_TOOL_H
#define FACT_TOOLS_COMMON_TOOL_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace fact {

/// Sets what `--version` prints, makes a full disk an error rather than a
/// signal, and ends the process with its parent where the parent asks for it.
void initTool(llvm::StringRef name);

/// Asks programs that this process starts to end with it.
void endChildrenWithThisProcess();

/// Runs a tool whose `-o` names a file so that the file appears whole or not at
/// all.
int runWithOutputAside(int argc, char **argv,
                       llvm::function_ref<bool(int, char **)> tool);

} // namespace fact

#endif // FACT_TOOLS_COMMON_TOOL_H
