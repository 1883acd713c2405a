//===- Worker.cpp - Verifies and times one candidate ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that fact-tune may kill at any time:
//
//   worker JOB                    verify and time one candidate
//   worker --machine [ARCHITECTURE FEATURE...]
//                                 say what machine this is, and whether its
//                                 processor has these features
//   worker --check LIBRARY CHECK  verify a linked library (LibraryCheck.h)
//   worker --race RACE            time libraries in turn (LibraryCheck.h)
//   worker --finals JOB...        time verified candidates of a kernel in turn
//   worker --rank JOB...          time candidates of one problem (Ranking.h)
//
// It prints one JSON object per line: {"phase": ...} as it goes, so that the
// parent knows where a crash or a hang happened, and {"phase": "done",
// "status": ...} last.
//
//===----------------------------------------------------------------------===//

#include "LibraryCheck.h"
#include "Ranking.h"
#include "Timing.h"
#include "Verification.h"
#include "WorkerJob.h"
#include "WorkerReport.h"
#include "fact/Runtime/Cpu.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Program.h"
#include "fact/Runtime/dlpack/dlpack.h"
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <exception>
#include <fstream>
#include <new>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace fact::runtime;

namespace {

//===----------------------------------------------------------------------===//
// Modes
//===----------------------------------------------------------------------===//

/// Runs all trials. Returns those that were verified, and the largest errors.
/// The candidate's choice becomes the job's.
std::vector<VerifiedTrial> verify(Job &job, const FactKernel *&candidate,
                                  Errors &errors) {
  Verifier verifier(job);
  TestedKernel reference(loadKernel(job.reference, "reference_error"), {}, job,
                         job.referenceResults().size(), "reference_error");
  verifier.prepareTrial(0, reference);
  reportPhase("reference");

  candidate = &loadKernel(job.candidate, "link_error");
  TestedKernel tested(*candidate, job.sizeTable(), job, job.results.size(),
                      "crash");
  job.choice = tested.usedChoice();
  reportPhase("loaded");
  for (size_t trial = 0; trial < verifier.trialCount(); ++trial) {
    if (trial > 0)
      verifier.prepareTrial(trial, reference);
    verifier.check(tested);
  }
  reportPhase("verified");
  errors = verifier.errors;
  return verifier.verified;
}

[[noreturn]] void runJob(const char *path) {
  Job job = readJob(path);
  const FactKernel *candidate = nullptr;
  Errors errors;
  std::vector<VerifiedTrial> verified = verify(job, candidate, errors);
  std::string figures = ", \"seed\": " + std::to_string(job.seed) +
                        ", \"norm_error\": " + number(errors.norm) +
                        ", \"element_error\": " + number(errors.element);
  if (!job.choice.empty())
    figures += ", \"choice\": " + hexadecimal(job.choice);
  if (job.seconds > 0) {
    TimedKernel timed(*candidate, job, verified);
    Times times = timed.measure(job.seconds);
    reportPhase("timed");
    figures += ", \"us\": " + number(times.median) +
               ", \"us_low\": " + number(times.low) +
               ", \"us_high\": " + number(times.high) +
               ", \"runs\": " + std::to_string(times.runs) +
               timed.describeLoad();
  }
  finish("ok", figures);
}

/// Normal trials are verified again, since timed launches are compared with
/// them; the others were when the candidates were measured alone.
[[noreturn]] void runFinals(const char *const *paths, int count) {
  std::deque<Job> jobs;
  std::deque<TimedKernel> kernels;
  for (int i = 0; i < count; ++i) {
    Job &job = jobs.emplace_back(readJob(paths[i]));
    Verifier verifier(job);
    TestedKernel reference(loadKernel(job.reference, "reference_error"), {},
                           job, job.referenceResults().size(),
                           "reference_error");
    const FactKernel &candidate = loadKernel(job.candidate, "link_error");
    TestedKernel tested(candidate, job.sizeTable(), job, job.results.size(),
                        "crash");
    for (size_t trial = 0; trial < verifier.trialCount(); ++trial) {
      if (!verifier.isNormal(trial))
        continue;
      verifier.prepareTrial(trial, reference);
      reportPhase("loaded");
      verifier.check(tested);
    }
    job.choice = tested.usedChoice();
    kernels.emplace_back(candidate, job, verifier.verified);
  }
  double longest = 0;
  for (TimedKernel &kernel : kernels)
    longest = std::max(longest, kernel.tryOut(/*runs=*/3));
  for (TimedKernel &kernel : kernels)
    kernel.settle(longest);
  reportPhase("verified");
  finish("ok", describeRace(race(kernels.size(), [&](size_t i) {
           return kernels[i].sample();
         })));
}

/// ", features 0123456789abcdef": processors of one model name may have
/// different features, as in virtual machines.
std::string processorFeatures() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.compare(0, 5, "flags") == 0 ||
        line.compare(0, 8, "Features") == 0) {
      char text[40];
      std::snprintf(
          text, sizeof(text), ", features %016llx",
          static_cast<unsigned long long>(fnv1a64(line.data(), line.size())));
      return text;
    }
  return "";
}

/// ", cublasLt 130100": the version that a kernel would load.
std::string vendorLibrary() {
  for (int major = 20; major >= 11; --major) {
    std::string name = "libcublasLt.so." + std::to_string(major);
    void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      continue;
    if (void *version = dlsym(library, "cublasLtGetVersion"))
      return ", cublasLt " +
             std::to_string(reinterpret_cast<size_t (*)()>(version)());
  }
  return "";
}

/// `needed` is an architecture and features, or empty.
[[noreturn]] void describeMachine(const char *const *needed, int count) {
  std::string missing;
  if (count > 0)
    missing = describeMissingCpu(needed[0], needed + 1, count - 1);
  if (!missing.empty())
    reject("worker_error", missing);
  std::string machine = device::fingerprint();
  if (machine.empty())
    deviceFailed("worker_error");
  machine += device::type() == kDLCPU ? processorFeatures() : vendorLibrary();
  finish("ok", ", \"machine\": " + quoted(machine));
}

} // namespace

static void limit(int resource, rlim_t value) {
  rlimit limits = {};
  if (getrlimit(resource, &limits) != 0)
    return;
  limits.rlim_cur = std::min(value, limits.rlim_max);
  setrlimit(resource, &limits);
}

/// Limits what a broken candidate may use: no core files, no file larger than
/// those that a worker writes, and on the host no more memory than there is, so
/// that an allocation fails before the system kills a process. (CUDA and
/// sanitizers reserve far more addresses than they use.)
static void limitResources() {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, rlim_t(1) << 30);
  std::signal(SIGXFSZ, SIG_IGN);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (device::type() == kDLCPU)
    limit(RLIMIT_AS, static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<rlim_t>(sysconf(_SC_PAGESIZE)));
#endif
}

int main(int argc, char **argv) {
  limitResources();
  openReport();
  try {
    if (argc >= 2 && std::strcmp(argv[1], "--machine") == 0)
      describeMachine(argv + 2, argc - 2);
    if (argc == 4 && std::strcmp(argv[1], "--check") == 0)
      checkLibrary(argv[2], argv[3]);
    if (argc == 3 && std::strcmp(argv[1], "--race") == 0)
      raceLibraries(argv[2]);
    if (argc >= 3 && std::strcmp(argv[1], "--finals") == 0)
      runFinals(argv + 2, argc - 2);
    if (argc >= 3 && std::strcmp(argv[1], "--rank") == 0)
      rankCandidates(argv + 2, argc - 2);
    if (argc == 2)
      runJob(argv[1]);
    reject("worker_error",
           "usage: worker JOB | --machine | --check LIBRARY CHECK | --race "
           "RACE | --finals JOB... | --rank JOB...");
  } catch (const std::bad_alloc &) {
    reject("out_of_memory", "out of memory in the worker");
  } catch (const std::exception &problem) {
    reject("worker_error", problem.what());
  }
}
