//===- VerifierNumber.h - How strict verification is ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_RUNTIME_VERIFIERNUMBER_H
#define FACT_RUNTIME_VERIFIERNUMBER_H

namespace fact {
namespace runtime {

/// Raised whenever verification refuses what it has accepted before. Bundles
/// carry it among their versions and the registry keeps it with what it learns
/// from them: evidence of a higher number beats that of a lower one.
///
/// 1: three trials of normally distributed values against a wide reference.
/// 2: special values, each result's own tolerance, results of timed launches.
inline constexpr int verifierNumber = 2;

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_VERIFIERNUMBER_H
