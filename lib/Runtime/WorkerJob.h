//===- WorkerJob.h - What a worker is asked to do ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job is a file; each line is a keyword and its arguments. The arguments of a
// tensor come in any order, with `shape` last:
//
//   reference SYMBOL PATH
//   candidate SYMBOL PATH
//   operand TYPE [fixed] [normal SCALE | uniform LOW HIGH | factors SPREAD]
//           [large MAGNITUDE] [negative|middle MAGNITUDE] [mask] [wide]
//           [outside] [avoid CLASS]... [read BEGIN END PITCH]
//           [band LOWER UPPER] shape N...
//   result TYPE REFERENCE_TYPE norm X element X [large X] [rows N] [undecided]
//          [written N] [spare BEGIN END PITCH] shape N...
//   unrepeatable     two runs may differ by the tolerance
//   sizes N...       what the candidate is called with, if it takes sizes
//   choice HEX       what the candidate uses; without it, the candidate chooses
//   expected PATH    results of the reference are kept here, per trial
//   seed N
//   seconds S        0: verify, do not time
//   sustained        what takes long is timed without pauses (Timing.h)
//
// docs/bundle.md says what the words of operands and results mean. After its
// own results a reference has an f32 result for each one that is `undecided`:
// how far rounding alone may move an element, infinite where it is not to be
// compared.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_WORKERJOB_H
#define FACT_LIB_RUNTIME_WORKERJOB_H

#include "fact/Runtime/Kernel.h"
#include "fact/Runtime/Measure.h"
#include "fact/Runtime/Table.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

struct Tensor {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  /// Elements of a result that the kernel may write, and that nobody reads.
  Columns spare = {};

  uint64_t elements() const {
    uint64_t count = 1;
    for (int64_t extent : shape)
      count *= static_cast<uint64_t>(extent);
    return count;
  }
  uint64_t bytes() const { return elements() * bytesOf(type); }
  /// Elements per row: trailing dimensions, enough of them for a scale.
  uint64_t row() const {
    uint64_t count = 1;
    for (size_t i = shape.size(); i-- > 0 && count < 16;)
      count *= static_cast<uint64_t>(shape[i]);
    return count ? count : 1;
  }
};

/// Values that an operand may not hold, because the region or the target does
/// not define the result.
struct Avoided {
  bool nan = false, positiveInfinity = false, negativeInfinity = false;
  bool denormal = false, largest = false;
  /// Rows of one value, whose differences are rounding errors.
  bool equal = false;
};

/// Elements [i, j] of the last two dimensions with j - i below `lower` or above
/// `upper` are 0. Booleans are true elsewhere.
struct Band {
  int64_t lower = 0, upper = 0;
};

struct Operand : Tensor {
  Fill fill;
  std::optional<Band> band;
  /// A weight in every use, so its packing is not timed.
  bool fixed = false;
  /// The factor of the trial with large values; 0: none.
  double large = 0;
  /// The magnitude of its values where scores are strongly negative; 0:
  /// positive.
  double negative = 0;
  /// Only the second third is negative.
  bool middle = false;
  /// A summand of scores: -infinity hides a key.
  bool mask = false;
  /// Integers of any size; indices out of range.
  bool wide = false, outside = false;
  Avoided avoided;
};

struct Result : Tensor {
  ElementType referenceType = ElementType::F32;
  Tolerance tolerance;
  /// Added to the tolerance if operands are large.
  double large = 0;
  bool undecided = false;
  /// How many elements the kernel writes, if not all: the others are left as
  /// they are, and the reference has NaN there.
  uint64_t written = 0;

  uint64_t unwritten() const { return written ? elements() - written : 0; }
};

struct KernelPath {
  std::string symbol;
  std::string path;
};

struct Job {
  KernelPath reference, candidate;
  /// The sizes that the candidate is called with.
  std::vector<int64_t> sizes;
  /// The candidate's choice of FactKernel::choice_bytes, or empty.
  std::vector<unsigned char> choice;
  /// Empty if the reference runs each time.
  std::string expected;
  std::vector<Operand> operands;
  std::vector<Result> results;
  bool repeatable = true;
  uint64_t seed = 0;
  double seconds = 0.2;
  bool sustained = false;

  Table<int64_t> sizeTable() const {
    return {sizes.data(), static_cast<uint32_t>(sizes.size())};
  }

  /// The results of the reference: wide results, then their doubts.
  std::vector<Tensor> referenceResults() const;
  /// The position among those of the doubt of an `undecided` result.
  size_t doubtPosition(size_t result) const;
};

/// Rejects the job if it cannot be read.
Job readJob(const char *path);

/// Loads a kernel; rejects the job with `status` if there is none.
const FactKernel &loadKernel(const KernelPath &kernel, const char *status);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_WORKERJOB_H
