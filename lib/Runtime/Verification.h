//===- Verification.h - A candidate against its reference -------*- C++ -*-===//

#ifndef FACT_LIB_RUNTIME_VERIFICATION_H
#define FACT_LIB_RUNTIME_VERIFICATION_H

#include "TestedKernel.h"
#include "WorkerJob.h"
#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// The largest over all trials.
struct Errors {
  double norm = 0;
  double element = 0;
};

/// Random operands, what the reference makes of them, and what a candidate
/// does.
class Verifier {
public:
  explicit Verifier(const Job &job);

  /// Fresh operands, and what the reference makes of them.
  void prepareTrial(int trial, TestedKernel &reference);

  /// Two runs into different memory: against the reference, then against each
  /// other.
  void check(int trial, TestedKernel &candidate);

  /// After the timed runs, which nothing separated: the result still stands.
  void checkAgain();

  Errors errors;

private:
  void fillOperands(int trial, int attempt);
  bool readExpected(int trial);
  void writeExpected(int trial, int attempt);
  /// Whether a result of the reference has enough finite elements to compare
  /// with; whether all of them do.
  bool referenceTells(size_t i);
  bool findWhatTells();
  void runInto(Buffers &results, TestedKernel &candidate, int otherByte);
  void expectNoStrayWrites(const std::string &where, const Buffers &results,
                           const TestedKernel &candidate);
  void expectSame(const std::string &where, size_t i, const void *found,
                  const void *wanted, ElementType wantedType);

  const Job &job;
  Buffers operands, first, second, expected;
  std::vector<uint64_t> sums;
  std::vector<bool> tells;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_VERIFICATION_H
