//===- LibraryCheck.cpp - A linked library against references -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LibraryCheck.h"
#include "ProgramCheck.h"
#include "ProgramRace.h"
#include "Verification.h"
#include "WorkerJob.h"
#include "WorkerReport.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <algorithm>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

namespace {

struct Check {
  /// The libraries of a race.
  std::vector<std::string> libraries;
  /// Job files, in the order of the library's kernels.
  std::vector<std::string> kernels;
  /// The only kernel to verify; -1 for all.
  int64_t only = -1;
  bool program = true;
  bool sustained = false;
  /// The largest difference between the results of the libraries of a race;
  /// negative: they are not compared.
  double agreement = -1;
  std::vector<Argument> inputs, weights;
};

bool readArgument(const std::string &text, Argument &argument) {
  std::istringstream words(text);
  std::string kind;
  words >> kind >> std::ws;
  if (kind == "file")
    return static_cast<bool>(std::getline(words, argument.path));
  if (kind == "factors")
    argument.fill.values = Fill::Values::Factors;
  if (kind == "factors")
    return static_cast<bool>(words >> argument.fill.high);
  if (kind == "uniform")
    argument.fill.values = Fill::Values::Uniform;
  if (kind == "uniform")
    return static_cast<bool>(words >> argument.fill.low >> argument.fill.high);
  return kind == "normal" && words >> argument.fill.scale;
}

Check readCheck(const char *path) {
  std::ifstream file(path);
  if (!file)
    reject("worker_error", std::string("cannot read ") + path);
  Check check;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string keyword, rest;
    words >> keyword >> std::ws;
    std::getline(words, rest);
    if (keyword == "kernel" && !rest.empty())
      check.kernels.push_back(rest);
    else if (keyword == "library" && !rest.empty())
      check.libraries.push_back(rest);
    else if (keyword == "only" && !rest.empty())
      check.only = std::stoll(rest);
    else if (keyword == "agreement" && !rest.empty())
      check.agreement = std::stod(rest);
    else if (keyword == "kernels")
      check.program = false;
    else if (keyword == "sustained")
      check.sustained = true;
    else if (Argument argument; (keyword == "input" || keyword == "weight") &&
                                readArgument(rest, argument))
      (keyword == "input" ? check.inputs : check.weights).push_back(argument);
    else
      reject("worker_error",
             std::string(path) + ": cannot read '" + line + "'");
  }
  return check;
}

template <typename Function>
Function *find(void *library, const char *path, const char *symbol) {
  void *address = dlsym(library, symbol);
  if (!address)
    reject("link_error", std::string(path) + " does not export " + symbol);
  return reinterpret_cast<Function *>(address);
}

/// Verifies a kernel as a measurement does, without the timing, with the
/// library's own choice.
void verifyKernel(Job job, const KernelSpec &spec) {
  job.choice.assign(spec.choice.begin(), spec.choice.end());
  Verifier verifier(job);
  TestedKernel reference(loadKernel(job.reference, "reference_error"), {}, job,
                         job.referenceResults().size(), "reference_error");
  verifier.prepareTrial(0, reference);
  reportPhase("reference");
  TestedKernel tested(*spec.kernel, spec.sizes, job, job.results.size(),
                      "crash");
  reportPhase("loaded");
  for (size_t trial = 0; trial < verifier.trialCount(); ++trial) {
    if (trial > 0)
      verifier.prepareTrial(trial, reference);
    verifier.check(tested);
  }
}

const Program &load(const char *path, const FactLibrary *&table) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    reject("link_error", dlerror());
  table = find<const FactLibrary *()>(library, path, "fact_library")();
  if (table->abi != FACT_LIBRARY_ABI || !table->describe())
    reject("link_error", "the library's table has another ABI");
  return *find<const Program *()>(library, path, "fact_library_program")();
}

/// If kernels of the library lack choices, reports what they choose and ends:
/// the library must be linked again.
void completeChoices(const Program &program) {
  std::string choices;
  for (uint32_t i = 0; i < program.kernels.size; ++i) {
    const KernelSpec &spec = program.kernels[i];
    if (spec.kernel->abi != FACT_KERNEL_ABI || spec.kernel->choice_bytes == 0 ||
        !spec.kernel->choose || spec.choice.size > 0)
      continue;
    reportPhase(("kernel " + std::to_string(i)).c_str());
    reportPhase("loaded");
    choices += (choices.empty() ? "" : ", ") + quoted(std::to_string(i)) +
               ": " + hexadecimal(choose(*spec.kernel));
  }
  if (!choices.empty())
    finish("unchosen", ", \"choices\": {" + choices + "}");
}

/// Ends the worker if programs differ by more than is allowed.
void requireAgreement(const std::vector<double> &differences, double allowed) {
  if (*std::max_element(differences.begin(), differences.end()) <= allowed)
    return;
  std::ostringstream text;
  text << "the results differ by ";
  for (double each : differences)
    text << each << ", ";
  text << "on inputs whose means are 0, 1, 10 and 100 deviations from zero; "
          "allowed is "
       << allowed;
  reject("wrong", text.str());
}

} // namespace

void checkLibrary(const char *path, const char *checkPath) {
  const FactLibrary *library = nullptr;
  const Program &program = load(path, library);
  Check check = readCheck(checkPath);
  if (check.kernels.size() != program.kernels.size)
    reject("link_error",
           "the library has " + std::to_string(program.kernels.size) +
               " kernels; expected " + std::to_string(check.kernels.size()));
  completeChoices(program);
  for (uint32_t i = 0; i < program.kernels.size; ++i) {
    if (check.only >= 0 && check.only != i)
      continue;
    reportPhase(("kernel " + std::to_string(i)).c_str());
    verifyKernel(readJob(check.kernels[i].c_str()), program.kernels[i]);
  }
  if (check.only >= 0 || !check.program)
    finish("ok", "");
  reportPhase("program");
  if (check.inputs.size() != program.inputs.size ||
      check.weights.size() != program.weights.size)
    reject("worker_error", "the check and the library differ in inputs or "
                           "weights");
  ProgramCheck programCheck{check.inputs, check.weights, {}};
  for (const std::string &job : check.kernels)
    programCheck.jobs.push_back(readJob(job.c_str()));
  uint64_t compared = checkProgram(*library, program, programCheck);
  finish("ok", ", \"compared\": " + std::to_string(compared) + ", \"steps\": " +
                   std::to_string(program.prepare.size + program.program.size));
}

void raceLibraries(const char *path) {
  Check check = readCheck(path);
  std::vector<Racer> racers;
  for (const std::string &file : check.libraries) {
    Racer &racer = racers.emplace_back();
    racer.program = &load(file.c_str(), racer.library);
    if (check.inputs.size() != racer.program->inputs.size ||
        check.weights.size() != racer.program->weights.size)
      reject("worker_error", file + " has other inputs or weights");
  }
  if (racers.empty())
    reject("worker_error", std::string(path) + " names no library");
  reportPhase("loaded");
  if (check.agreement >= 0)
    requireAgreement(compareFarMeans(racers, check.inputs, check.weights),
                     check.agreement);
  finish("ok",
         racePrograms(racers, check.inputs, check.weights, check.sustained));
}

} // namespace runtime
} // namespace fact
