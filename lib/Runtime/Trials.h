//===- Trials.h - Operands that candidates are verified on ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_TRIALS_H
#define FACT_LIB_RUNTIME_TRIALS_H

#include "TestedKernel.h"
#include "WorkerJob.h"
#include <cstdint>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// Each kind of trial finds errors that the others miss.
enum class TrialKind : uint8_t {
  /// Normal values of several scales; buffers are 256-byte aligned.
  Normal,
  /// NaN, or infinities, zeros of both signs, denormals and largest values,
  /// among normal values. Most booleans are false; integers are at their
  /// bounds.
  Special,
  /// Far beyond the range of normal values; all booleans are true.
  Large,
  /// Rows of one value, ties; all booleans are false, all indices are equal.
  Ties,
  /// Values close to each other and far from 0, from which a mean is
  /// subtracted.
  Means,
  /// Scores far below 0, where padding of 0 would win.
  Negative,
};

/// The ratio of a large mean to the spread of the values around it.
constexpr double largeMean = 32;

struct Trial {
  TrialKind kind;
  int number;
  uint64_t seed;
  /// The scale of a normal trial.
  double scale;
  /// Whether the special values are NaN.
  bool plantsNan;
};

/// The kinds of trials that apply to the job's operands.
std::vector<Trial> planTrials(const Job &job);

/// "trial 4 (special values, seed 17)": the seed is the job's.
std::string describeTrial(const Trial &trial, const Job &job);

/// How many sets of operands are tried if the reference's results are not
/// finite enough.
constexpr int attempts = 5;

/// Moves the buffers to the trial's alignment and fills them. `domain` is the
/// attempt at which the reference was finite in normal trials.
void fillOperands(const Job &job, const Trial &trial, int domain, int attempt,
                  Buffers &operands);

/// Moves the buffers to the trial's alignment: the least that the ABI allows,
/// except in normal trials. `salt` distinguishes lists of tensors.
void placeResults(const std::vector<Tensor> &tensors, const Trial &trial,
                  uint64_t salt, Buffers &buffers);

/// A guarded buffer for each tensor.
Buffers allocateBuffers(const std::vector<Tensor> &tensors, int guard);
/// The bytes that they allocate.
uint64_t footprintOf(const std::vector<Tensor> &tensors);

/// A checksum per tensor; returns when all are computed.
std::vector<uint64_t> checksums(const std::vector<Tensor> &tensors,
                                const Buffers &buffers);
std::vector<Tensor> tensorsOf(const std::vector<Operand> &operands);
std::vector<Tensor> tensorsOf(const std::vector<Result> &results);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_TRIALS_H
