//===- Verification.h - A candidate against its reference -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_VERIFICATION_H
#define FACT_LIB_RUNTIME_VERIFICATION_H

#include "TestedKernel.h"
#include "Trials.h"
#include "WorkerJob.h"
#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// The largest errors over all trials.
struct Errors {
  double norm = 0;
  double element = 0;
};

/// Operands on which a candidate was right, with its results.
struct VerifiedTrial {
  Trial trial;
  int attempt;
  std::vector<uint64_t> resultSums;
};

/// Compares a candidate with its reference on random operands.
class Verifier {
public:
  explicit Verifier(const Job &job);

  size_t trialCount() const { return trials.size(); }
  bool isNormal(size_t trial) const {
    return trials[trial].kind == TrialKind::Normal;
  }

  /// Draws operands and runs the reference on them.
  void prepareTrial(size_t index, TestedKernel &reference);

  /// Runs twice into separate memory; compares with the reference, then the
  /// runs with each other.
  void check(TestedKernel &candidate);

  Errors errors;
  /// The normal trials, on which the candidate is timed.
  std::vector<VerifiedTrial> verified;

private:
  const Trial &trial() const { return trials[current]; }
  const float *doubtOf(size_t i) const;
  Tolerance toleranceOf(size_t i) const;
  void fill(const Trial &drawn, int attempt);
  void runReference(TestedKernel &reference);
  void drawScales(TestedKernel &reference);
  bool readExpected();
  void writeExpected();
  /// Whether the reference's results are worth comparing: enough of them are
  /// finite and not decided by rounding.
  bool referenceTells();
  void runInto(Buffers &results, TestedKernel &candidate, int byte);
  void expectNoStrayWrites(const Buffers &results,
                           const TestedKernel &candidate);
  void expectSame(const std::string &run, size_t i, const void *found);
  std::string betweenRuns(size_t i) const;
  [[noreturn]] void rejectWrong(const std::string &what) const;

  const Job &job;
  const std::vector<Trial> trials;
  const std::vector<Tensor> operandTensors, resultTensors, referenceTensors;
  /// Results of two runs; if memory is short, the second overwrites the first.
  Buffers operands, first, second, expected;

  // The current trial.
  size_t current = 0;
  int attempt = 0;
  bool tooUndecided = false;
  std::vector<uint64_t> sums;
  /// The rms of each result of the reference.
  std::vector<double> rms;
  /// That of several draws of random operands, for results of few elements;
  /// else 0.
  std::vector<double> drawnRms;

  // Found by the first trial.
  int domain = 0;
  std::vector<double> normalRms;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_VERIFICATION_H
