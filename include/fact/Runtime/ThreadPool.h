//===- ThreadPool.h - Runs the tiles of host kernels ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pool per process image. The caller takes part in the work and never waits
// for a worker that has not started, so a call is correct with any number of
// workers, in a forked child (which has none), from within a tile, and from
// several threads at once (a call that finds the pool taken runs alone).
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_THREADPOOL_H
#define FACT_RUNTIME_THREADPOOL_H

#include <cstdint>
#include <type_traits>

namespace fact {
namespace runtime {

/// Threads of a parallelFor, including the caller: FACT_NUM_THREADS, else
/// OMP_NUM_THREADS, else the processors available to this process.
int threadCount();

/// The measured cost of a repeated call. A call that ends before another thread
/// could help stays on the caller's thread.
struct CallCost {
  /// Per index; negative while unknown.
  double nanoseconds = -1;
};

/// Calls `body(context, i, thread)` for every i in [0, count), in any order.
/// `thread` is below threadCount() and unique among concurrent calls; the
/// caller's is 0. `cost` belongs to the caller and to this body.
void parallelFor(int64_t count,
                 void (*body)(void *context, int64_t index, int thread),
                 void *context, CallCost *cost = nullptr);

/// The same for `body(index, thread)`.
template <typename Body>
void parallelForThreads(int64_t count, Body &&body, CallCost *cost = nullptr) {
  parallelFor(
      count,
      [](void *context, int64_t index, int thread) {
        (*static_cast<std::remove_reference_t<Body> *>(context))(index, thread);
      },
      const_cast<void *>(static_cast<const void *>(&body)), cost);
}

/// The same for `body(index)`.
template <typename Body> void parallelFor(int64_t count, Body &&body) {
  parallelFor(
      count,
      [](void *context, int64_t index, int) {
        (*static_cast<std::remove_reference_t<Body> *>(context))(index);
      },
      const_cast<void *>(static_cast<const void *>(&body)));
}

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_THREADPOOL_H
