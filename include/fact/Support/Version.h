//===- Version.h - The version of FACT --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_SUPPORT_VERSION_H
#define FACT_SUPPORT_VERSION_H

namespace fact {

/// The version that this was built from, a different one for each commit:
/// "0.1.0.dev210+g767cbf1". python/fact/version.py says how it is made.
const char *getVersion();

} // namespace fact

#endif // FACT_SUPPORT_VERSION_H
