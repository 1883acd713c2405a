//===- WorkerJob.h - What a worker is asked to do ---------------*- C++ -*-===//
//
// A job is a file of lines, a keyword and words:
//
//   reference SYMBOL PATH
//   candidate SYMBOL PATH
//   operand TYPE fixed|fresh normal SCALE shape N...
//   operand TYPE fixed|fresh uniform LOW HIGH shape N...
//   result TYPE REFERENCE_TYPE shape N...
//   tolerance NORM ELEMENT MISMATCH
//   expected PATH    where results of the reference are kept, one file a trial
//   trials N
//   seconds S
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_WORKERJOB_H
#define FACT_LIB_RUNTIME_WORKERJOB_H

#include "fact/Runtime/Measure.h"
#include <cstdint>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

struct Tensor {
  ElementType type = ElementType::F32;
  ElementType referenceType = ElementType::F32;
  std::vector<int64_t> shape;
  Fill fill;
  /// The operand is a weight in every use, so packing it is not timed.
  bool fixed = false;

  uint64_t elements() const {
    uint64_t count = 1;
    for (int64_t extent : shape)
      count *= static_cast<uint64_t>(extent);
    return count;
  }
  uint64_t bytes() const { return elements() * bytesOf(type); }
  uint64_t referenceBytes() const {
    return elements() * bytesOf(referenceType);
  }
};

struct KernelPath {
  std::string symbol;
  std::string path;
};

struct Job {
  KernelPath reference, candidate;
  /// Empty when the reference runs each time.
  std::string expected;
  std::vector<Tensor> operands, results;
  Tolerance tolerance;
  int trials = 3;
  double seconds = 0.2;
};

/// Rejects the job when it cannot be read.
Job readJob(const char *path);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_WORKERJOB_H
