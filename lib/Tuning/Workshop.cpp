//===- Workshop.cpp - What the bundles of a run share ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Workshop.h"
#include "Search.h"
#include <algorithm>
#include <sched.h>
#include <unistd.h>
#include <utility>

namespace fact {
namespace tuning {

/// Compiling a CUTLASS kernel takes 3 to 4 GB.
unsigned defaultJobs(bool cuda) {
  cpu_set_t allowed;
  long processors = sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                        ? CPU_COUNT(&allowed)
                        : sysconf(_SC_NPROCESSORS_ONLN);
  if (cuda) {
    double gigabytes = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
                       static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e9;
    // Leaves one processor to concurrent measurements.
    processors = std::min(processors - 1, static_cast<long>(gigabytes / 4));
  }
  return static_cast<unsigned>(std::max(1l, processors));
}

static std::string firstLine(const Command &command) {
  return "$ " + command.text() + "\n";
}

/// The compiler's messages in its log, after the line with the command.
static std::string messagesIn(const std::string &log) {
  size_t end = log.find('\n');
  return end == std::string::npos ? "" : log.substr(end + 1);
}

void Workshop::compile(Compile compile) {
  if (compile.key.empty() || !objects.isOn()) {
    writeFile(compile.command.log, firstLine(compile.command));
    scheduler.build(std::move(compile.command),
                    [done = std::move(compile.done)](const Outcome &outcome) {
                      done(outcome, false);
                    });
    return;
  }
  if (std::optional<std::string> messages =
          objects.find(compile.key, compile.object)) {
    writeFile(compile.command.log, firstLine(compile.command) + *messages);
    Outcome outcome;
    outcome.kind = Outcome::Exited;
    compile.done(outcome, true);
    return;
  }
  std::vector<Compile> &compiles = underWay[compile.key];
  compiles.push_back(std::move(compile));
  if (compiles.size() > 1)
    return;
  const Compile &first = compiles.front();
  writeFile(first.command.log, firstLine(first.command));
  scheduler.build(first.command,
                  [this, key = first.key](const Outcome &outcome) {
                    finish(key, outcome);
                  });
}

void Workshop::finish(const std::string &key, const Outcome &outcome) {
  std::vector<Compile> compiles = std::move(underWay[key]);
  underWay.erase(key);
  const Compile &first = compiles.front();
  std::string messages = messagesIn(readLog(first.command.log));
  if (outcome.succeeded())
    objects.keep(key, first.object, messages);
  first.done(outcome, false);
  for (size_t i = 1; i < compiles.size(); ++i) {
    Compile &other = compiles[i];
    // The object is in the cache now. If it could not be kept, this one is
    // compiled.
    if (outcome.succeeded()) {
      compile(std::move(other));
      continue;
    }
    writeFile(other.command.log, firstLine(other.command) + messages);
    other.done(outcome, true);
  }
}

} // namespace tuning
} // namespace fact
