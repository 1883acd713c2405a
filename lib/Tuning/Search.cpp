//===- Search.cpp - One kernel's search -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <utility>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

AttemptKey Tuner::keyOf(const std::string &hash,
                        const Candidate &candidate) const {
  AttemptKey key;
  key.kernelHash = hash;
  key.candidate = candidate.key;
  ContentHash content;
  content.add(stampOf(candidate)).add(verifierHash);
  for (int64_t size : candidate.sizes)
    content.add(std::to_string(size));
  // A processor has one regime.
  if (options.sustained && bundle.target.cuda)
    content.add("sustained");
  key.candidateHash = content.text();
  key.machine = machine;
  key.compiler = compiler;
  return key;
}

void Tuner::progress(const Kernel &kernel, const std::string &what,
                     const std::string &text) const {
  std::printf("%-28s %-12s %s\n", (label + kernel.name).c_str(), what.c_str(),
              text.c_str());
  std::fflush(stdout);
}

void Tuner::reportObject(const Kernel &kernel, const std::string &name,
                         const Outcome &outcome, bool isCached) const {
  progress(kernel, (isCached ? "cached " : "compiled ") + name,
           isCached ? "" : format("%.1f s", outcome.seconds));
}

std::string format(const char *pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

void Tuner::scheduleBuild(const Search &search, Command command,
                          Scheduler::Callback done) {
  command.priority = search.kernel().priority;
  shop.scheduler.build(std::move(command), guarded(std::move(done)));
}

/// Starts the next batch; usually there is only one.
void Tuner::tryNext(Search &search) {
  std::vector<size_t> &order = search.ranking.order;
  size_t end = search.next == 0 ? search.ranking.first
                                : selectBatch(search.kernel(), order,
                                              search.next, options.candidates);
  std::vector<size_t> batch(order.begin() + search.next, order.begin() + end);
  search.next = end;
  search.pending += batch.size();
  for (size_t index : batch)
    tryCandidate(search, index);
}

void Tuner::tryCandidate(Search &search, size_t index) {
  const Candidate &candidate = search.kernel().candidates[index];
  if (!options.retune) {
    std::optional<Attempt> known =
        database->find(keyOf(search.kernel(), candidate));
    // compute-sanitizer needs the candidate's library.
    bool usable = !options.sanitize || !known || known->status != "ok" ||
                  canRun(search.kernel(), index);
    if (known && !known->transient && usable) {
      if (known->status == "spills")
        search.spills[index] = known->detail;
      finishAttempt(search, index, *known, /*reused=*/true);
      return;
    }
  }
  if (search.reference == Search::NotBuilt)
    buildReference(search);
  buildCandidate(search, index);
}

/// A file of the reference in a kernel's build folder.
static fs::path referenceFile(const fs::path &folder, const char *suffix) {
  return folder / (std::string("reference") + suffix);
}

void Tuner::buildReference(Search &search) {
  const Kernel &kernel = search.kernel();
  // A reference that is an object is linked with each candidate, which saves a
  // command.
  if (kernel.reference.source.empty()) {
    search.reference = Search::Ready;
    return;
  }
  fs::path folder = buildFolder(kernel);
  fs::path object = referenceFile(folder, ".o");
  if (isFresh(referenceFile(folder, ".stamp"), stampOf(kernel.reference),
              {object, referenceFile(folder, ".so")})) {
    finishReference(search);
    return;
  }
  search.reference = Search::Building;
  fs::path aside = referenceFile(folder, ".partial.o");
  Command command = compileCommand(kernel.reference, aside,
                                   referenceFile(folder, ".log"), false);
  command.priority = kernel.priority;
  compile(objectKey(kernel.reference, false), command, aside,
          [=, &search](const Outcome &outcome, bool) {
            if (!outcome.succeeded()) {
              failReference(search, outcome);
              return;
            }
            fs::rename(aside, object);
            linkReference(search);
          });
}

void Tuner::linkReference(Search &search) {
  const KernelSource &reference = search.kernel().reference;
  fs::path folder = buildFolder(search.kernel());
  fs::path object = referenceFile(folder, ".o");
  fs::path aside = referenceFile(folder, ".partial.so");
  Command command = linkCommand({object.string()}, reference.link, aside,
                                referenceFile(folder, ".log"));
  scheduleBuild(search, command, [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    if (!outcome.succeeded()) {
      failReference(search, outcome);
      return;
    }
    fs::path library = referenceFile(folder, ".so");
    fs::rename(aside, library);
    writeStamp(referenceFile(folder, ".stamp"),
               stampOf(search.kernel().reference), {object, library});
    finishReference(search);
  });
}

void Tuner::finishReference(Search &search) {
  search.reference = Search::Ready;
  for (size_t index : std::exchange(search.waiting, {}))
    measureCandidate(search, index);
}

void Tuner::failReference(Search &search, const Outcome &outcome) {
  fs::path log = referenceFile(buildFolder(search.kernel()), ".log");
  search.reference = Search::Broken;
  search.error = "its reference cannot be built (" + outcome.text() +
                 "): " + mainMessage(log) + "\n      see " + log.string();
  progress(search.kernel(), "reference", "FAILED: " + mainMessage(log));
  search.pending -= std::exchange(search.waiting, {}).size();
}

/// The verdict on a candidate whose compiler failed. A compiler that was killed
/// or timed out gives none.
Attempt compileFailure(const Outcome &outcome, const fs::path &log) {
  Attempt attempt;
  attempt.log = log.string();
  attempt.compileSeconds = outcome.seconds;
  attempt.status = "compile_error";
  if (outcome.kind == Outcome::TimedOut) {
    attempt.status = "compile_timeout";
    attempt.detail = outcome.text();
    attempt.transient = true;
  } else if (outcome.kind == Outcome::Signaled) {
    attempt.detail = "the compiler was ended by " + outcome.text() +
                     "; too many --jobs for this machine's memory?";
    attempt.transient = true;
  } else {
    attempt.detail = mainMessage(log);
    // nvcc reports a killed child by its own exit status.
    attempt.transient = contains(readLog(log), "Killed") ||
                        contains(readLog(log), "died due to signal 9");
  }
  return attempt;
}

void Tuner::buildCandidate(Search &search, size_t index) {
  const Kernel &kernel = search.kernel();
  const Candidate &candidate = kernel.candidates[index];
  size_t built = builtAs(kernel, index);
  fs::path object = objectOf(kernel, index);
  if (isFresh(libraryStampOf(kernel, built), stampOf(kernel, built),
              {object, libraryOf(kernel, index)})) {
    finishBuild(search, index);
    return;
  }
  std::vector<size_t> &waiting = search.building[built];
  waiting.push_back(index);
  if (waiting.size() > 1)
    return;
  if (candidate.source.empty()) {
    writeFile(buildLogOf(kernel, index), "");
    linkCandidate(search, built);
    return;
  }
  if (isFreshObject(kernel, built)) {
    linkCandidate(search, built);
    return;
  }
  compileCandidate(search, built);
}

void Tuner::compileCandidate(Search &search, size_t built) {
  const Kernel &kernel = search.kernel();
  const Candidate &candidate = kernel.candidates[built];
  fs::path log = buildLogOf(kernel, built);
  fs::path aside = buildFolder(kernel) / (std::to_string(built) + ".partial.o");
  Command command = compileCommand(candidate, aside, log, true);
  command.priority = kernel.priority;
  auto done = [=, &search](const Outcome &outcome, bool isCached) {
    if (!outcome.succeeded()) {
      std::error_code absent;
      fs::remove(aside, absent);
      failBuild(search, built, compileFailure(outcome, log));
      return;
    }
    adoptObject(search.kernel(), built, aside);
    if (isCached)
      search.cached.insert(built);
    reportObject(search.kernel(), "#" + std::to_string(built), outcome,
                 isCached);
    search.compileSeconds[built] = outcome.seconds;
    linkCandidate(search, built);
  };
  compile(objectKey(candidate, true), command, aside, done);
}

/// `built` cannot be built, so no candidate that waits for it can be tried.
void Tuner::failBuild(Search &search, size_t built, Attempt attempt) {
  for (size_t index : std::exchange(search.building[built], {})) {
    finishAttempt(search, index, attempt);
    attempt.compileSeconds = 0;
  }
}

void Tuner::linkCandidate(Search &search, size_t built) {
  const Kernel &kernel = search.kernel();
  const Candidate &candidate = kernel.candidates[built];
  fs::path folder = buildFolder(kernel);
  fs::path log = buildLogOf(kernel, built);
  fs::path aside = folder / (std::to_string(built) + ".partial.so");
  fs::path library = libraryOf(kernel, built);
  Words inputs{objectOf(kernel, built).string()}, link = candidate.link;
  if (kernel.reference.source.empty()) {
    inputs.push_back(kernel.reference.object.string());
    link.insert(link.end(), kernel.reference.link.begin(),
                kernel.reference.link.end());
  }
  Command command = linkCommand(inputs, link, aside, log);
  scheduleBuild(search, command, [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    if (outcome.kind == Outcome::Exited && outcome.code != 0 &&
        search.cached.erase(built)) {
      // An object from another machine may need a library that is not here.
      shop.objects.forget(objectKey(search.kernel().candidates[built], true));
      compileCandidate(search, built);
      return;
    }
    if (!outcome.succeeded()) {
      Attempt attempt;
      attempt.log = log.string();
      attempt.compileSeconds = search.compileSeconds[built];
      attempt.status = "link_error";
      attempt.transient = outcome.kind != Outcome::Exited;
      attempt.detail = attempt.transient ? outcome.text() : mainMessage(log);
      failBuild(search, built, attempt);
      return;
    }
    fs::rename(aside, library);
    writeStamp(libraryStampOf(search.kernel(), built),
               stampOf(search.kernel(), built),
               {objectOf(search.kernel(), built), library});
    for (size_t index : std::exchange(search.building[built], {}))
      finishBuild(search, index);
  });
}

void Tuner::finishBuild(Search &search, size_t index) {
  fs::path log = buildLogOf(search.kernel(), index);
  std::string spills = findSpills(readLog(log));
  if (!spills.empty() && !search.spillsTried) {
    search.spills[index] = spills;
    Attempt attempt;
    attempt.log = log.string();
    attempt.compileSeconds = search.compileSeconds[index];
    attempt.status = "spills";
    attempt.detail = spills;
    finishAttempt(search, index, attempt);
    return;
  }
  if (search.reference == Search::Ready)
    measureCandidate(search, index);
  else if (search.reference == Search::Broken)
    --search.pending;
  else
    search.waiting.push_back(index);
}

void Tuner::finishAttempt(Search &search, size_t index, Attempt attempt,
                          bool reused) {
  const Kernel &kernel = search.kernel();
  attempt.kernel = kernel.name;
  if (!reused)
    database->record(keyOf(kernel, kernel.candidates[index]), attempt);
  std::string text = attempt.status;
  if (attempt.status == "ok") {
    text = format("%.4g us", attempt.us);
    if (kernel.solUs > 0 && attempt.us > 0)
      text += format(" (%.1f%% of the speed of light)",
                     100 * kernel.solUs / attempt.us);
  } else
    text += ": " + attempt.detail;
  progress(kernel, (reused ? "known #" : "tried #") + std::to_string(index),
           text);
  search.result.attempts[index] = std::move(attempt);
  search.result.reused[index] = reused;
  --search.pending;
  if (search.pending == 0)
    conclude(search);
}

/// What fails in this many schedules fails in all: a mistake of the family.
static constexpr size_t failuresOfAFamily = 8;

/// Ends a batch. With a result, searches near it, then measures the best again.
/// Without one, starts the next one; after the last, or many that failed,
/// accepts candidates that spill; then tries the fallback.
void Tuner::conclude(Search &search) {
  size_t failures = 0;
  for (const std::optional<Attempt> &attempt : search.result.attempts) {
    if (attempt && attempt->status == "ok") {
      if (!searchOn(search))
        measureFinals(search);
      return;
    }
    failures += attempt && attempt->status != "spills";
  }
  if (search.reference == Search::Broken)
    return;
  const std::vector<size_t> &ranking = search.ranking.order;
  auto isFallback = [&](size_t place) {
    return search.kernel().candidates[ranking[place]].fallback;
  };
  if (failures >= failuresOfAFamily && isFallback(ranking.size() - 1))
    while (search.next < ranking.size() && !isFallback(search.next))
      ++search.next;
  bool acceptsSpills = !search.spills.empty() && !search.spillsTried;
  if (search.next < ranking.size() &&
      (!isFallback(search.next) || !acceptsSpills)) {
    tryNext(search);
    return;
  }
  if (!acceptsSpills)
    return;
  search.spillsTried = true;
  search.pending = search.spills.size();
  if (search.reference == Search::NotBuilt)
    buildReference(search);
  for (const auto &entry : search.spills)
    buildCandidate(search, entry.first);
}

//===----------------------------------------------------------------------===//
// Compiling alone
//===----------------------------------------------------------------------===//

void Tuner::compileIntoCache(const Kernel &kernel, const KernelSource &source,
                             bool isCandidate, const std::string &name) {
  if (source.source.empty())
    return;
  createFolder(buildFolder(kernel));
  fs::path object = buildFolder(kernel) / (name + ".partial.o");
  Command command = compileCommand(
      source, object, buildFolder(kernel) / (name + ".log"), isCandidate);
  command.priority = kernel.priority;
  // Candidates are numbers.
  std::string shown = (std::isdigit(name[0]) ? "#" : "") + name;
  auto done = [=, &kernel](const Outcome &outcome, bool isCached) {
    std::error_code absent;
    fs::remove(object, absent);
    if (outcome.succeeded())
      reportObject(kernel, shown, outcome, isCached);
    else
      progress(kernel, shown, "FAILED: " + mainMessage(command.log));
  };
  compile(objectKey(source, isCandidate), command, object, done);
}

void Tuner::findTools() {
  if (!compiler.empty())
    return;
  compiler = findCompiler();
  findEnvironment();
  printTools();
}

void Tuner::compileAll() {
  findTools();
  for (const auto &names :
       {workerSources(bundle.target.cuda), librarySources(bundle.target.cuda)})
    compileRuntime(runtimePaths(bundle, names), "the runtime");
  for (const Kernel &kernel : bundle.kernels) {
    if (!isWanted(kernel))
      continue;
    if (!options.noCheck)
      compileIntoCache(kernel, kernel.reference, false, "reference");
    Ranking ranking = rankCandidates(kernel);
    std::set<size_t> objects;
    for (size_t i = 0; i < ranking.first; ++i)
      if (size_t index = builtAs(kernel, ranking.order[i]);
          objects.insert(index).second)
        compileIntoCache(kernel, kernel.candidates[index], true,
                         std::to_string(index));
  }
}

} // namespace tuning
} // namespace fact
