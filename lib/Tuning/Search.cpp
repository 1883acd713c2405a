//===- Search.cpp - One kernel's search -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include <algorithm>
#include <cstdio>
#include <utility>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

AttemptKey Tuner::keyOf(const Kernel &kernel,
                        const Candidate &candidate) const {
  AttemptKey key;
  key.kernelHash = kernel.hash;
  key.candidate = candidate.key;
  key.candidateHash =
      ContentHash().add(stampOf(candidate)).add(verifierHash).text();
  key.machine = machine;
  key.compiler = compiler;
  return key;
}

void progress(const Kernel &kernel, const std::string &what,
              const std::string &text) {
  std::printf("%-28s %-12s %s\n", kernel.name.c_str(), what.c_str(),
              text.c_str());
  std::fflush(stdout);
}

std::string format(const char *pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

void Tuner::scheduleBuild(const Search &search, Command command,
                          Scheduler::Callback done) {
  command.priority = search.kernel().priority;
  scheduler->build(std::move(command), std::move(done));
}

/// Starts the next batch; usually there is only one.
void Tuner::tryNext(Search &search) {
  size_t end = selectBatch(search.kernel(), search.ranking, search.next);
  std::vector<size_t> batch(search.ranking.begin() + search.next,
                            search.ranking.begin() + end);
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

void Tuner::buildReference(Search &search) {
  const Kernel &kernel = search.kernel();
  // A reference that is an object is linked with each candidate, which saves a
  // command.
  if (kernel.reference.source.empty()) {
    search.reference = Search::Ready;
    return;
  }
  fs::path folder = buildFolder(kernel);
  fs::path object = folder / "reference.o";
  fs::path library = folder / "reference.so";
  fs::path stamp = folder / "reference.stamp";
  fs::path log = folder / "reference.log";
  std::string expected = stampOf(kernel.reference);
  auto ready = [this, &search] {
    search.reference = Search::Ready;
    for (size_t index : std::exchange(search.waiting, {}))
      measureCandidate(search, index);
  };
  if (isFresh(stamp, expected, {object, library})) {
    ready();
    return;
  }
  search.reference = Search::Building;
  auto broken = [&search, log](const Command &command, const Outcome &outcome) {
    checkEnvironment(command, outcome);
    search.reference = Search::Broken;
    search.error = "its reference cannot be built (" + outcome.text() +
                   "): " + mainMessage(log) + "\n      see " + log.string();
    progress(search.kernel(), "reference", "FAILED: " + mainMessage(log));
    for (size_t index : std::exchange(search.waiting, {})) {
      (void)index;
      --search.pending;
    }
  };
  auto linkIt = [=, &search] {
    fs::path aside = folder / "reference.partial.so";
    Command command = linkCommand({object.string()},
                                  search.kernel().reference.link, aside, log);
    scheduleBuild(search, command, [=, &search](const Outcome &outcome) {
      if (!outcome.succeeded()) {
        broken(command, outcome);
        return;
      }
      fs::rename(aside, library);
      writeStamp(stamp, expected, {object, library});
      ready();
      (void)search;
    });
  };
  fs::path aside = folder / "reference.partial.o";
  Command command = compileCommand(kernel.reference, aside, log, false);
  writeFile(log, "$ " + command.text() + "\n");
  scheduleBuild(search, command, [=](const Outcome &outcome) {
    if (!outcome.succeeded()) {
      broken(command, outcome);
      return;
    }
    fs::rename(aside, object);
    linkIt();
  });
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
  fs::path folder = buildFolder(kernel);
  fs::path log = buildLogOf(kernel, index);
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
    writeFile(log, "");
    linkCandidate(search, built);
    return;
  }
  if (isFreshObject(kernel, built)) {
    linkCandidate(search, built);
    return;
  }
  fs::path aside = folder / (std::to_string(built) + ".partial.o");
  Command command = compileCommand(candidate, aside, log, true);
  writeFile(log, "$ " + command.text() + "\n");
  scheduleBuild(search, command, [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    if (!outcome.succeeded()) {
      std::error_code absent;
      fs::remove(aside, absent);
      failBuild(search, built, compileFailure(outcome, log));
      return;
    }
    adoptObject(search.kernel(), built, aside);
    progress(search.kernel(), "compiled #" + std::to_string(built),
             format("%.1f s", outcome.seconds));
    search.compileSeconds[built] = outcome.seconds;
    linkCandidate(search, built);
  });
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

/// Ends a batch. Without a result, starts the next one; after the last, accepts
/// candidates that spill.
void Tuner::conclude(Search &search) {
  for (const std::optional<Attempt> &attempt : search.result.attempts)
    if (attempt && attempt->status == "ok")
      return;
  if (search.reference == Search::Broken)
    return;
  if (search.next < search.ranking.size()) {
    tryNext(search);
    return;
  }
  if (search.spills.empty() || search.spillsTried)
    return;
  search.spillsTried = true;
  search.pending = search.spills.size();
  if (search.reference == Search::NotBuilt)
    buildReference(search);
  for (const auto &entry : search.spills)
    buildCandidate(search, entry.first);
}

} // namespace tuning
} // namespace fact
