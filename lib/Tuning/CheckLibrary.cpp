//===- CheckLibrary.cpp - What is linked is what was verified -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Databases, caches and build folders only suggest what to link. The kernels of
// the linked library are verified once more, in the library itself, before it
// is renamed to its final name.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// Compiles the winners whose objects are missing: a result from an earlier run
/// may have outlived them.
void Tuner::ensureWinnerObjects() {
  for (bool complete = false; !complete;) {
    complete = true;
    std::vector<std::pair<Search *, Attempt>> failed;
    for (Search *each : linked) {
      const Kernel &kernel = each->kernel();
      size_t index = static_cast<size_t>(each->result.winner);
      const Candidate &candidate = kernel.candidates[index];
      if (candidate.source.empty() || isFreshObject(kernel, index))
        continue;
      fs::path log = buildLogOf(kernel, index);
      fs::path aside = objectOf(kernel, index);
      aside.replace_extension(".partial.o");
      Command command = compileCommand(candidate, aside, log, true);
      auto done = [=, &failed](const Outcome &outcome, bool isCached) {
        if (outcome.succeeded()) {
          adoptObject(each->kernel(), index, aside);
          reportObject(each->kernel(), "#" + std::to_string(index), outcome,
                       isCached);
          return;
        }
        std::error_code absent;
        fs::remove(aside, absent);
        failed.emplace_back(each, compileFailure(outcome, log));
      };
      compile(objectKey(candidate, true), command, aside, done);
    }
    runScheduled();
    for (auto &[search, attempt] : failed) {
      replaceWinner(*search, attempt);
      complete = false;
    }
  }
}

/// Builds the reference of every kernel. References that are objects already
/// are linked into one library.
void Tuner::buildReferences() {
  Words objects, link;
  std::set<std::string> symbols;
  ContentHash hash;
  for (Search *search : linked) {
    const KernelSource &reference = search->kernel().reference;
    if (reference.source.empty()) {
      if (symbols.insert(reference.symbol).second)
        objects.push_back(reference.object.string());
      link.insert(link.end(), reference.link.begin(), reference.link.end());
      hash.add(stampOf(reference));
    } else if (search->reference == Search::NotBuilt)
      buildReference(*search);
  }
  runScheduled();
  for (Search *search : linked)
    if (!search->error.empty())
      throw Failure("kernel '" + search->kernel().name +
                    "' cannot be verified: " + search->error);
  fs::path library = build / "references.so",
           stamp = build / "references.stamp";
  if (objects.empty() || isFresh(stamp, hash.text(), {library}))
    return;
  fs::path aside = build / "references.partial.so";
  runLinker(linkCommand(objects, link, aside, build / "references.log"),
            "the references");
  fs::rename(aside, library);
  writeStamp(stamp, hash.text(), {library});
}

/// The random values of a program's argument: those that all of its readers are
/// verified with.
static std::string fillOf(const Bundle &bundle, runtime::ValueKind kind,
                          uint32_t index, const Tensor &tensor) {
  bool uniform = !runtime::isFloat(tensor.type);
  double low = 0, high = 2, scale = 1, factors = 0;
  bool first = true;
  for (const std::vector<Step> *steps : {&bundle.prepare, &bundle.program})
    for (const Step &step : *steps)
      for (size_t i = 0; i < step.operands.size(); ++i) {
        const Value &value = bundle.values[bundle.wholeOf(step.operands[i])];
        if (value.kind != kind || value.index != index)
          continue;
        const Operand &operand = bundle.kernels[step.kernel].operands[i];
        scale = std::min(scale, operand.scale);
        if (operand.factors > 0)
          factors =
              factors ? std::min(factors, operand.factors) : operand.factors;
        if (!operand.uniform)
          continue;
        uniform = true;
        low = first ? operand.low : std::max(low, operand.low);
        high = first ? operand.high : std::min(high, operand.high);
        first = false;
      }
  std::ostringstream text;
  text.precision(17);
  if (uniform)
    text << "uniform " << low << ' ' << std::max(high, low + 1);
  else if (factors > 0)
    text << "factors " << factors;
  else
    text << "normal " << scale;
  return text.str();
}

std::string describeArguments(const Bundle &bundle, std::string &why) {
  std::string text;
  for (uint32_t i = 0; i < bundle.inputs.size(); ++i)
    text += "input " +
            fillOf(bundle, runtime::ValueKind::Input, i, bundle.inputs[i]) +
            "\n";
  for (uint32_t i = 0; i < bundle.weights.size(); ++i) {
    const Weight &weight = bundle.weights[i];
    if (weight.baked && weight.data.empty()) {
      why = "the bundle lacks the value of the baked weight '" + weight.name +
            "'";
      return "kernels\n";
    }
    text +=
        "weight " +
        (weight.baked ? "file " + weight.data.string()
                      : fillOf(bundle, runtime::ValueKind::Weight, i, weight)) +
        "\n";
  }
  return text;
}

/// Runs the worker on all kernels and the program, or on one kernel.
WorkerReport Tuner::runCheck(const fs::path &library, int only) {
  std::string text;
  for (Search *search : linked) {
    const Kernel &kernel = search->kernel();
    fs::path job = buildFolder(kernel) / "library.job";
    fs::path reference = kernel.reference.source.empty()
                             ? build / "references.so"
                             : buildFolder(kernel) / "reference.so";
    writeFile(job, jobOf(kernel, static_cast<size_t>(search->result.winner),
                         reference, library));
    text += "kernel " + job.string() + "\n";
  }
  std::string why;
  text += only >= 0 ? "only " + std::to_string(only) + "\n"
                    : describeArguments(shipped, why);
  if (!why.empty())
    std::printf("check     kernels only: %s\n", why.c_str());
  fs::path check = build / "library.check";
  writeFile(check, text);
  double kernels = only >= 0 ? 1 : static_cast<double>(linked.size() + 1);
  for (int tries = 0;;) {
    Command command = workerCommand(
        {workerPath.string(), "--check", library.string(), check.string()},
        build / "check.log", options.runTimeout * kernels);
    command.delaySeconds = secondsBeforeTry(tries);
    WorkerReport report = readReport(runChecked(command));
    if (!report.disturbed)
      return report;
    if (++tries == disturbedTries)
      throw Failure(
          "the linked library cannot be verified with the free memory: " +
          report.detail + ", " + std::to_string(tries) +
          " times\n  end programs that use memory; finished "
          "attempts are kept");
  }
}

void Tuner::takeChoices(const WorkerReport &report) {
  for (const auto &[number, choice] : report.values["choices"].items()) {
    Search &search = *linked.at(std::stoul(number));
    Attempt &winner =
        *search.result.attempts[static_cast<size_t>(search.result.winner)];
    if (!winner.choice.empty())
      throw Failure("kernel '" + search.kernel().name +
                    "' was linked with a choice, but the library lacks it; "
                    "compile the model again");
    winner.choice = choiceIn(choice);
  }
}

bool Tuner::checkLibrary(const fs::path &library) {
  auto begin = std::chrono::steady_clock::now();
  buildReferences();
  WorkerReport report = runCheck(library, -1);
  if (report.status == "unchosen") {
    takeChoices(report);
    return false;
  }
  fs::path log = build / "check.log";
  // Verifies the kernel alone, since its neighbors may have caused the failure.
  if (report.status != "ok" && report.kernel >= 0) {
    report = runCheck(library, report.kernel);
    if (report.status == "ok")
      report = runCheck(library, -1);
  } else if (report.died)
    report = runCheck(library, -1);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  seconds.check += elapsed.count();
  if (report.status == "ok") {
    if (report.values.contains("steps"))
      std::printf("check     %d of %d steps against references, the library "
                  "against its steps\n",
                  report.values.value("compared", 0),
                  report.values.value("steps", 0));
    return true;
  }
  if (report.kernel < 0)
    throw Failure((report.phase == "program"
                       ? "the linked library does not compute its program: "
                       : "the linked library cannot be loaded: ") +
                  report.detail + "\n  see " + log.string());
  Search &search = *linked.at(static_cast<size_t>(report.kernel));
  if (report.status == "worker_error" || report.status == "reference_error")
    throw Failure("kernel '" + search.kernel().name +
                  "' of the linked library cannot be verified: " +
                  report.detail + "\n  see " + log.string());
  if (report.died)
    askMachine();
  Attempt attempt;
  attempt.status = report.status;
  attempt.detail = "in the linked library, " + report.detail;
  attempt.transient = report.status == "stale_choice";
  attempt.log = log.string();
  replaceWinner(search, attempt);
  return false;
}

} // namespace tuning
} // namespace fact
