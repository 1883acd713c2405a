//===- Profile.h - Times of the steps of a model ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With FACT_PROFILE set, an instance waits for the device after each step and
// notes the time. When it is destroyed it writes a table to standard error
// (FACT_PROFILE=1), or JSON to the file that FACT_PROFILE names.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_RUNTIME_PROFILE_H
#define FACT_LIB_RUNTIME_PROFILE_H

#include "fact/Runtime/Program.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

class Profile {
public:
  /// Null if FACT_PROFILE is not set.
  static std::unique_ptr<Profile> create(const Program &program) {
    const char *target = std::getenv("FACT_PROFILE");
    if (!target || !*target || std::strcmp(target, "0") == 0)
      return nullptr;
    return std::unique_ptr<Profile>(new Profile(program, target));
  }

  ~Profile() {
    if (std::strcmp(target.c_str(), "1") == 0)
      writeTable();
    else
      writeJson();
  }

  void begin() { started = Clock::now(); }

  /// Records the end of a step; all earlier work has ended too.
  void end(uint32_t step) {
    std::chrono::duration<double, std::micro> elapsed = Clock::now() - started;
    // Enough for a median, with bounded memory.
    if (times[step].size() < 1000)
      times[step].push_back(elapsed.count());
  }

private:
  using Clock = std::chrono::steady_clock;

  Profile(const Program &program, const char *target)
      : program(program), target(target), times(program.program.size) {}

  static double median(std::vector<double> values) {
    if (values.empty())
      return 0;
    auto middle =
        values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  const KernelSpec &kernelOf(uint32_t step) const {
    return program.kernels[program.program[step].kernel];
  }

  void writeTable() const {
    double total = 0;
    for (const std::vector<double> &each : times)
      total += median(each);
    std::fprintf(stderr, "%s, microseconds of each step (median of %zu)\n",
                 program.name, times.empty() ? 0 : times[0].size());
    for (uint32_t i = 0; i < program.program.size; ++i)
      std::fprintf(stderr, "%10.1f %5.1f%%  %-24s %s\n", median(times[i]),
                   total > 0 ? 100 * median(times[i]) / total : 0.0,
                   kernelOf(i).name, kernelOf(i).schedule);
    std::fprintf(stderr, "%10.1f 100.0%%  all steps\n", total);
  }

  void writeJson() const {
    FILE *file = std::fopen(target.c_str(), "w");
    if (!file) {
      std::fprintf(stderr, "FACT_PROFILE: cannot write %s\n", target.c_str());
      return;
    }
    std::fprintf(file, "{\"steps\": [");
    for (uint32_t i = 0; i < program.program.size; ++i)
      std::fprintf(file, "%s\n  {\"kernel\": \"%s\", \"us\": %.3f}",
                   i ? "," : "", kernelOf(i).name, median(times[i]));
    std::fprintf(file, "\n]}\n");
    std::fclose(file);
  }

  const Program &program;
  std::string target;
  /// Times per step of the program, one per run.
  std::vector<std::vector<double>> times;
  Clock::time_point started;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_PROFILE_H
