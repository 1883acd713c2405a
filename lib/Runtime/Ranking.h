//===- Ranking.h - Times candidates that are not verified -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_RANKING_H
#define FACT_LIB_RUNTIME_RANKING_H

namespace fact {
namespace runtime {

/// Times candidates of one problem one after the other, on the same operands
/// and without a reference. The jobs differ in the candidate and its sizes. The
/// times only order other candidates, which are verified, so a few launches
/// have to do, and fewer of what is slow. Reports "us", by job.
[[noreturn]] void rankCandidates(const char *const *jobs, int count);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_RANKING_H
