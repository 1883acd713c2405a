//===- ParentProcess.h - Tools that end with their caller -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_SUPPORT_PARENTPROCESS_H
#define FACT_SUPPORT_PARENTPROCESS_H

namespace fact {

/// Ends this process by SIGTERM when the one that started it dies, if that one
/// has asked for it. Called first in main: from then on no death is missed.
void endWithParent();

/// Asks the tools that this process starts from now on to end with it.
void endChildrenWithThisProcess();

} // namespace fact

#endif // FACT_SUPPORT_PARENTPROCESS_H
