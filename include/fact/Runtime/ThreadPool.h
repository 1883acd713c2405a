//===- ThreadPool.h - Runs the tiles of host kernels ------------*- C++ -*-===//
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

namespace fact {
namespace runtime {

/// Threads that take part in a parallelFor, the caller included:
/// FACT_NUM_THREADS, else OMP_NUM_THREADS, else the processors this process may
/// use.
int threadCount();

/// Calls `body(context, i)` for every i in [0, count), in any order.
void parallelFor(int64_t count, void (*body)(void *context, int64_t index),
                 void *context);

template <typename Body> void parallelFor(int64_t count, Body &&body) {
  parallelFor(
      count,
      [](void *context, int64_t index) {
        (*static_cast<Body *>(context))(index);
      },
      const_cast<void *>(static_cast<const void *>(&body)));
}

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_THREADPOOL_H
