//===- StepCheck.h - One step against its reference -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_STEPCHECK_H
#define FACT_LIB_RUNTIME_STEPCHECK_H

#include "WorkerJob.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Program.h"
#include <map>
#include <memory>
#include <vector>

namespace fact {
namespace runtime {

/// Memory of the device, which the last owner releases.
using Memory = std::shared_ptr<char>;
Memory allocateMemory(uint64_t bytes);
std::vector<char> readMemory(const void *data, uint64_t bytes);

/// A kernel with its scratch memory.
class Runner {
public:
  /// `status` is that of a worker whose kernel fails.
  Runner(const FactKernel &kernel, Table<int64_t> sizes, uint32_t buffers,
         const char *status);

  void run(std::vector<void *> buffers);

private:
  KernelInstance instance;
  const char *status;
  Memory workspace, packed;
  bool packs = false;
};

/// Compares results of steps with those of the kernels' references on the same
/// operands.
class StepCheck {
public:
  /// One job per kernel.
  StepCheck(const Program &program, const std::vector<Job> &jobs)
      : program(program), jobs(jobs) {}

  /// Whether all operands are of moderate size, for which tolerances are: a
  /// wider reference overflows later.
  bool isWithinRange(const StepSpec &step, const std::vector<void *> &buffers);

  /// Rejects the library if a result is wrong.
  void compare(const StepSpec &step, const std::vector<void *> &buffers);

private:
  void compareResult(const StepSpec &step, size_t index,
                     const std::vector<void *> &buffers,
                     const std::vector<Memory> &expected, Runner &reference);

  const Program &program;
  const std::vector<Job> &jobs;
  std::map<uint32_t, std::unique_ptr<Runner>> references;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_STEPCHECK_H
