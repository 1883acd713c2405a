//===- Threads.h - Runs the tiles of a kernel on threads --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with the thread sanitizer, tiles run on threads that wait for
// nothing but their end, so that two tiles that share a byte are a race
// wherever they happen to run. Compiled without, they run one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TEST_UNIT_TARGET_THREADS_H
#define FACT_TEST_UNIT_TARGET_THREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace fact::test {
/// Threads that run tiles; each has a workspace of its own.
int countThreads();

/// Calls `body` once per thread.
void onEachThread(llvm::function_ref<void(int thread)> body);

/// Calls `body` once per tile.
void forEachTile(uint64_t tiles,
                 llvm::function_ref<void(uint64_t tile, int thread)> body);

/// Races that the sanitizer has reported in this process.
int countRaces();
} // namespace fact::test

#endif // FACT_TEST_UNIT_TARGET_THREADS_H
