//===- Version.cpp - The version of FACT ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/Version.h"

const char *fact::getVersion() {
  return
#include "Version.inc"
      ;
}
