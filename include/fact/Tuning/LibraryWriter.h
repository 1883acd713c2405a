//===- LibraryWriter.h - Generated sources of a library ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_LIBRARYWRITER_H
#define FACT_TUNING_LIBRARYWRITER_H

#include "fact/Tuning/Tuner.h"
#include <string>

namespace fact {
namespace tuning {

/// library.cpp: the program's tables, and the functions under its own prefix.
std::string writeLibrarySource(const Bundle &bundle,
                               const TuningResult &result);

/// <name>.h: what a C or C++ program includes.
std::string writeLibraryHeader(const Bundle &bundle);

/// The linker's version script: which symbols are exported.
std::string writeExports(const Bundle &bundle);

/// tuning.json.
std::string writeTuningReport(const Bundle &bundle, const TuningResult &result);

/// For the terminal.
std::string writeTable(const TuningResult &result);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_LIBRARYWRITER_H
