//===- Worker.cpp - Verifies and times one candidate ----------------------===//
//
// A process that fact-tune may kill at any time:
//
//   worker JOB         verify and time one candidate
//   worker --machine   say what machine this is
//   worker --check SO  load a finished library and read its description
//
// It prints one JSON object a line: {"phase": ...} as it goes, so that the
// parent knows where a crash or a hang happened, and {"phase": "done",
// "status": ...} last.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "WorkerJob.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Measure.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace fact::runtime;

namespace {

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

struct Times {
  double median, low, high;
  size_t runs;
};

/// The median and its 95% interval by order statistics: no assumption about
/// how times are distributed.
Times summarise(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  size_t count = samples.size();
  double half = 0.98 * std::sqrt(static_cast<double>(count));
  double middle = static_cast<double>(count) / 2;
  auto at = [&](double position) {
    double last = static_cast<double>(count - 1);
    return samples[static_cast<size_t>(
        std::min(last, std::max(0.0, std::floor(position))))];
  };
  double median = count % 2
                      ? samples[count / 2]
                      : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
  return {median, at(middle - half), at(middle + half), count};
}

/// Runs until the median is known to 2%, at most 100 times, and for no longer
/// than `seconds`, in which the emptying of caches counts.
Times measureCandidate(TestedKernel &candidate, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto launch = [&](void *stream) { return candidate.launchTimed(stream); };
  std::vector<double> warmup, samples;
  // Where there is nothing to choose, the figure is for the report alone.
  int batch = seconds < 0.1 ? 3 : 9;
  if (!measure::time(batch / 3, launch, warmup))
    deviceFailed("crash");
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(seconds));
  for (;;) {
    if (!measure::time(batch, launch, samples))
      deviceFailed("crash");
    Times times = summarise(samples);
    bool known = times.high - times.low <= 0.02 * times.median;
    if (known || times.runs >= 100 || Clock::now() > end)
      return times;
  }
}

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

const FactKernel *load(const KernelPath &kernel, const char *status) {
  void *library = dlopen(kernel.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    reject(status, dlerror());
  void *symbol = dlsym(library, kernel.symbol.c_str());
  if (!symbol)
    reject(status, kernel.path + " does not export '" + kernel.symbol + "'");
  return static_cast<const FactKernel *>(symbol);
}

[[noreturn]] void runJob(const char *path) {
  Job job = readJob(path);
  Verifier verifier(job);
  TestedKernel reference(*load(job.reference, "reference_error"), job,
                         "reference_error");
  verifier.prepareTrial(0, reference);
  reportPhase("reference");

  TestedKernel candidate(*load(job.candidate, "link_error"), job, "crash");
  reportPhase("loaded");
  for (int trial = 0; trial < job.trials; ++trial) {
    if (trial > 0)
      verifier.prepareTrial(trial, reference);
    verifier.check(trial, candidate);
  }
  reportPhase("verified");

  Times times = measureCandidate(candidate, job.seconds);
  verifier.checkAgain();
  reportPhase("timed");
  finish("ok", ", \"us\": " + number(times.median) + ", \"us_low\": " +
                   number(times.low) + ", \"us_high\": " + number(times.high) +
                   ", \"runs\": " + std::to_string(times.runs) +
                   ", \"norm_error\": " + number(verifier.errors.norm) +
                   ", \"element_error\": " + number(verifier.errors.element));
}

[[noreturn]] void describeMachine() {
  std::string machine = device::fingerprint();
  if (machine.empty())
    deviceFailed("worker_error");
  finish("ok", ", \"machine\": " + quoted(machine));
}

[[noreturn]] void checkLibrary(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    reject("link_error", dlerror());
  using Entry = const FactLibrary *(*)();
  Entry entry = reinterpret_cast<Entry>(dlsym(library, "fact_library"));
  if (!entry)
    reject("link_error", "fact_library is not exported");
  const FactLibrary *table = entry();
  if (table->abi != FACT_LIBRARY_ABI || !table->describe())
    reject("link_error", "the library's table is of another ABI");
  finish("ok", "");
}

} // namespace

int main(int argc, char **argv) {
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  openReport();
  try {
    if (argc == 2 && std::strcmp(argv[1], "--machine") == 0)
      describeMachine();
    if (argc == 3 && std::strcmp(argv[1], "--check") == 0)
      checkLibrary(argv[2]);
    if (argc == 2)
      runJob(argv[1]);
    reject("worker_error", "usage: worker JOB | --machine | --check LIBRARY");
  } catch (const std::exception &problem) {
    reject("worker_error", problem.what());
  }
}
