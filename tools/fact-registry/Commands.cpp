//===- Commands.cpp - The commands of fact-registry -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "Output.h"
#include "fact/Registry/EntryFile.h"
#include "fact/Tuning/Files.h"
#include "fact/Tuning/Process.h"
#include <algorithm>
#include <cstdio>
#include <map>
#include <unistd.h>

namespace fact {
namespace registry {

namespace fs = std::filesystem;
using tuning::Failure;

static void warn(const std::string &text) {
  std::fprintf(stderr, "fact-registry: warning: %s\n", text.c_str());
}

static std::vector<fs::path> getLayers(const Options &options) {
  return options.layers.empty() ? getDefaultLayers() : options.layers;
}

fs::path getWritableLayer(const fs::path &named) {
  fs::path folder = named.empty() ? getUserFolder() : named;
  if (folder.empty())
    throw Failure("no user folder: set FACT_PATTERNS, or name a folder");
  return folder;
}

static void requireNoArguments(const Options &options) {
  if (!options.arguments.empty())
    throw Failure("'" + options.command + "' takes no arguments, found '" +
                  options.arguments.front() + "'");
}

static bool isSelected(const Options &options, const Entry &entry) {
  const Problem &problem = entry.problem;
  return (options.rule.empty() || options.rule == problem.rule) &&
         (options.dtype.empty() || options.dtype == problem.dtype) &&
         (options.architecture.empty() ||
          options.architecture == problem.architecture);
}

//===----------------------------------------------------------------------===//
// list, show
//===----------------------------------------------------------------------===//

int list(const Options &options) {
  requireNoArguments(options);
  Registry registry = Registry::load(getLayers(options), warn);
  Json json = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const Entry &entry : registry.getEntries()) {
    if (!isSelected(options, entry) ||
        (!options.statuses.empty() &&
         !options.statuses.count(entry.getStatus())))
      continue;
    if (options.json) {
      json.push_back(toJson(entry));
      continue;
    }
    const Schedule *best = entry.getBest();
    const Schedule &shown = best ? *best : entry.schedules.front();
    rows.push_back({entry.getId(), entry.problem.ops,
                    entry.problem.getExtentsText(), getName(entry.getStatus()),
                    best ? formatTime(best->us) : "-",
                    best ? formatShare(best->solShare) : "-",
                    std::to_string(entry.schedules.size()),
                    best ? shown.key : shown.reason});
  }
  if (options.json)
    printJson(json);
  else if (rows.empty())
    std::puts("no entries");
  else
    printTable({"id", "ops", "extents", "status", "us", "SOL", "tried",
                "best schedule"},
               rows);
  return 0;
}

/// The entry with this id; a prefix of the id or of its hash is enough.
static const Entry &resolve(const Registry &registry, const std::string &id) {
  const Entry *found = nullptr;
  std::string others;
  for (const Entry &entry : registry.getEntries()) {
    std::string full = entry.getId();
    if (full == id)
      return entry;
    if (full.compare(0, id.size(), id) != 0 &&
        full.compare(full.find('#') + 1, id.size(), id) != 0)
      continue;
    found = &entry;
    others += "\n  " + full;
  }
  if (!found)
    throw Failure("there is no entry '" + id + "'; see fact-registry list");
  if (others.find('\n', 1) != std::string::npos)
    throw Failure("'" + id + "' is the beginning of several ids:" + others);
  return *found;
}

static void printEntry(const Entry &entry) {
  const Problem &problem = entry.problem;
  std::printf("%s\n  ops       %s\n  extents   %s\n  status    %s\n",
              entry.getId().c_str(), problem.ops.c_str(),
              problem.getExtentsText().c_str(), getName(entry.getStatus()));
  if (!entry.example.empty())
    std::printf("  example   CUTLASS %s\n", entry.example.c_str());
  std::printf("  file      %s\n\n", entry.file.c_str());
  // Most schedules have the same origin: print each origin once, by number.
  std::vector<std::string> origins;
  auto getOrigin = [&](const Schedule &schedule) {
    std::string origin = schedule.date + ", " + schedule.machine;
    for (const auto &[name, version] : schedule.versions)
      origin += ", " + name + " " + version;
    auto place = std::find(origins.begin(), origins.end(), origin);
    size_t index = place - origins.begin();
    if (place == origins.end())
      origins.push_back(origin);
    return std::to_string(index + 1);
  };
  std::vector<std::vector<std::string>> rows;
  for (const Schedule &schedule : entry.schedules) {
    bool isAccepted = schedule.status == Status::Accepted;
    rows.push_back(
        {isAccepted ? formatTime(schedule.us) : getName(schedule.status),
         formatShare(schedule.solShare),
         schedule.error ? format("%.2g", *schedule.error) : "-",
         getOrigin(schedule),
         isAccepted ? schedule.key : schedule.key + ": " + schedule.reason});
  }
  printTable({"us", "SOL", "error", "from", "schedule"}, rows);
  std::puts("");
  for (size_t i = 0; i < origins.size(); ++i)
    std::printf("%zu: %s\n", i + 1, origins[i].c_str());
}

int show(const Options &options) {
  if (options.arguments.empty())
    throw Failure("show expects the id of an entry; see fact-registry list");
  Registry registry = Registry::load(getLayers(options), warn);
  Json json = Json::array();
  bool isFirst = true;
  for (const std::string &id : options.arguments) {
    const Entry &entry = resolve(registry, id);
    json.push_back(toJson(entry));
    if (options.json)
      continue;
    if (!isFirst)
      std::puts("");
    isFirst = false;
    printEntry(entry);
  }
  if (options.json)
    printJson(json);
  return 0;
}

//===----------------------------------------------------------------------===//
// add
//===----------------------------------------------------------------------===//

/// Entries of a tuned bundle, or of another registry.
static std::vector<Entry> readSource(const fs::path &source,
                                     const LearnOptions &options) {
  if (fs::exists(source / "bundle.json"))
    return learn(source, options);
  Registry registry = Registry::load({source}, warn);
  if (registry.getEntries().empty())
    throw Failure("'" + source.string() +
                  "' is neither a bundle nor a folder with entries");
  return registry.getEntries();
}

int add(const Options &options) {
  if (options.arguments.size() != 1)
    throw Failure("add expects one bundle or folder, found " +
                  std::to_string(options.arguments.size()));
  fs::path folder = getWritableLayer(options.to);
  std::vector<Entry> entries =
      readSource(options.arguments.front(), options.learn);
  if (Error error = addEntries(folder, entries); !error.empty())
    throw Failure(error);
  std::vector<std::vector<std::string>> rows;
  for (const Entry &entry : entries) {
    const Schedule *best = entry.getBest();
    size_t failed = std::count_if(
        entry.schedules.begin(), entry.schedules.end(),
        [](const Schedule &each) { return each.status == Status::Failed; });
    rows.push_back({entry.getId(), best ? formatTime(best->us) : "-",
                    std::to_string(entry.schedules.size() - failed),
                    std::to_string(failed), best ? best->key : "-"});
  }
  printTable({"id", "us", "accepted", "failed", "best schedule"}, rows);
  std::printf("\nadded to %s\n", folder.c_str());
  return 0;
}

//===----------------------------------------------------------------------===//
// verify
//===----------------------------------------------------------------------===//

/// fact-opt beside this program, or else on the PATH.
static std::string findCompiler() {
  std::error_code code;
  fs::path program = fs::read_symlink("/proc/self/exe", code);
  fs::path beside = program.parent_path() / "fact-opt";
  return !code && fs::exists(beside, code) ? beside.string() : "fact-opt";
}

/// Parses schedules with fact-opt; returns its errors by schedule.
static std::map<std::string, std::string>
parseSchedules(const std::set<std::string> &keys) {
  std::string pattern = (fs::temp_directory_path() / "fact.XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw Failure("cannot create a folder in " +
                  fs::temp_directory_path().string());
  fs::path folder = pattern;
  std::string text;
  std::vector<std::string> lines;
  for (const std::string &key : keys) {
    text += "#schedule = #fact." + key + "\n// -----\n";
    lines.push_back(key);
    lines.push_back("");
  }
  tuning::writeFile(folder / "schedules.mlir", text);
  tuning::Command command;
  command.words = {findCompiler(), "--split-input-file",
                   (folder / "schedules.mlir").string()};
  command.log = folder / "log";
  command.captureOutput = true;
  tuning::Outcome outcome = tuning::runCommand(command);
  std::string log =
      fs::exists(command.log) ? tuning::readFile(command.log) : "";
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (outcome.kind != tuning::Outcome::Exited)
    throw Failure("cannot run " + command.words.front() + ": " +
                  outcome.text() + "; build it, or leave out --schedules");

  // "<file>:<line>:<column>: error: <message>"
  std::map<std::string, std::string> refused;
  const std::string prefix = "schedules.mlir:", word = " error: ";
  for (size_t at = 0; (at = log.find(prefix, at)) != std::string::npos;) {
    at += prefix.size();
    size_t end = log.find('\n', at), message = log.find(word, at);
    size_t line = std::strtoul(log.c_str() + at, nullptr, 10);
    if (message < end && line >= 1 && line <= lines.size())
      refused.emplace(lines[line - 1], log.substr(message + word.size(),
                                                  end - message - word.size()));
  }
  if (outcome.code != 0 && refused.empty())
    throw Failure(command.words.front() + " failed: " + log);
  return refused;
}

int verify(const Options &options) {
  std::vector<fs::path> layers = getLayers(options);
  if (!options.arguments.empty()) {
    layers.assign(options.arguments.begin(), options.arguments.end());
    for (const fs::path &layer : layers)
      if (!fs::is_directory(layer))
        throw Failure("there is no folder '" + layer.string() + "'");
  }
  std::vector<std::string> broken;
  std::vector<Entry> all;
  size_t files = 0;
  for (const fs::path &layer : layers) {
    std::vector<fs::path> paths;
    if (Error error = listFiles(layer, paths); !error.empty())
      broken.push_back(error);
    for (const fs::path &file : paths) {
      std::vector<Entry> entries;
      if (Error error = readFile(layer, file, entries); !error.empty())
        broken.push_back(error);
      all.insert(all.end(), entries.begin(), entries.end());
      ++files;
    }
  }
  if (options.schedules) {
    std::set<std::string> keys;
    for (const Entry &entry : all)
      for (const Schedule &schedule : entry.schedules)
        keys.insert(schedule.key);
    std::map<std::string, std::string> refused = parseSchedules(keys);
    for (const Entry &entry : all)
      for (const Schedule &schedule : entry.schedules)
        if (auto found = refused.find(schedule.key); found != refused.end())
          broken.push_back(entry.file.string() + ": " + entry.getId() + ": '" +
                           schedule.key + "': " + found->second);
  }
  for (const std::string &each : broken)
    std::fprintf(stderr, "fact-registry: error: %s\n", each.c_str());
  std::printf("%s, %s, %s\n", count(files, "file", "files").c_str(),
              count(all.size(), "entry", "entries").c_str(),
              count(broken.size(), "error", "errors").c_str());
  return broken.empty() ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// diff
//===----------------------------------------------------------------------===//

static std::map<Problem, Entry> readLayer(const fs::path &layer) {
  std::map<Problem, Entry> entries;
  Registry registry = Registry::load({layer}, warn);
  for (const Entry &entry : registry.getEntries())
    entries.emplace(entry.problem, entry);
  return entries;
}

static std::string describeBest(const Entry &entry) {
  const Schedule *best = entry.getBest();
  return best ? formatTime(best->us) + " us " + best->key
              : getName(entry.getStatus());
}

int diff(const Options &options) {
  std::vector<fs::path> folders(options.arguments.begin(),
                                options.arguments.end());
  if (folders.empty())
    folders = {getBuiltinFolder(), getUserFolder()};
  else if (folders.size() != 2)
    throw Failure("diff expects two folders or none, found " +
                  std::to_string(folders.size()));
  else
    for (const fs::path &folder : folders)
      if (!fs::is_directory(folder))
        throw Failure("there is no folder '" + folder.string() + "'");
  std::map<Problem, Entry> first = readLayer(folders[0]),
                           second = readLayer(folders[1]);
  Json json = {{"only_first", Json::array()},
               {"only_second", Json::array()},
               {"changed", Json::array()}};
  std::string text;
  auto only = [&](const Entry &entry, const char *name, char sign) {
    json[name].push_back(toJson(entry));
    text += std::string(1, sign) + " " + entry.getId() + "  " +
            entry.problem.ops + "  " + entry.problem.getExtentsText() + "  " +
            describeBest(entry) + "\n";
  };
  for (const auto &[problem, entry] : first) {
    auto other = second.find(problem);
    if (other == second.end()) {
      only(entry, "only_first", '-');
    } else if (writeText({entry}) != writeText({other->second})) {
      json["changed"].push_back({{"id", entry.getId()},
                                 {"first", toJson(entry)},
                                 {"second", toJson(other->second)}});
      text += "~ " + entry.getId() + "  " + problem.ops + "  " +
              problem.getExtentsText() + "  " + describeBest(entry) + " -> " +
              describeBest(other->second) + "\n";
    }
  }
  for (const auto &[problem, entry] : second)
    if (!first.count(problem))
      only(entry, "only_second", '+');
  if (options.json)
    printJson(json);
  else
    std::fputs(text.c_str(), stdout);
  return text.empty() ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// prune
//===----------------------------------------------------------------------===//

/// Whether a lower layer has a schedule for the problem that is as fast on the
/// same machine.
static bool isSuperseded(const Entry &entry, const Registry &below) {
  const Schedule *best = entry.getBest();
  const Entry *other = below.lookup(entry.getId());
  return best && other &&
         std::any_of(other->schedules.begin(), other->schedules.end(),
                     [&](const Schedule &each) {
                       return each.status == Status::Accepted &&
                              each.machine == best->machine &&
                              each.us <= best->us;
                     });
}

/// Removes schedules from an entry.
static void prune(Entry &entry, const Options &options, const Registry &below) {
  auto isUnwanted = [&](const Schedule &schedule) {
    return options.statuses.count(schedule.status) != 0;
  };
  if (options.superseded && isSuperseded(entry, below)) {
    entry.schedules.clear();
    return;
  }
  entry.schedules.erase(std::remove_if(entry.schedules.begin(),
                                       entry.schedules.end(), isUnwanted),
                        entry.schedules.end());
  if (options.keepGiven)
    keepFastest(entry, options.learn.keep);
}

int prune(const Options &options) {
  requireNoArguments(options);
  if (options.statuses.empty() && !options.superseded && !options.keepGiven)
    throw Failure("prune expects what to remove: --status failed, --status "
                  "pending, --keep N or --superseded");
  if (options.statuses.count(Status::Accepted))
    throw Failure("prune --status takes failed or pending; --keep N leaves the "
                  "fastest accepted schedules");
  std::vector<fs::path> layers = getLayers(options);
  fs::path layer =
      getWritableLayer(options.layers.empty() ? fs::path() : layers.front());
  if (!layers.empty() && layers.front() == layer)
    layers.erase(layers.begin());
  Registry below = Registry::load(layers, warn);
  std::vector<fs::path> files;
  if (Error error = listFiles(layer, files); !error.empty())
    throw Failure(error);

  size_t removed = 0, emptied = 0;
  auto change = [&](std::vector<Entry> &entries) {
    std::vector<Entry> kept;
    for (Entry &entry : entries) {
      size_t before = entry.schedules.size();
      if (isSelected(options, entry))
        prune(entry, options, below);
      if (size_t gone = before - entry.schedules.size()) {
        std::printf("%s  %s  %s  %zu of %zu schedules\n", entry.getId().c_str(),
                    entry.problem.ops.c_str(),
                    entry.problem.getExtentsText().c_str(), gone, before);
        removed += gone;
      }
      if (entry.schedules.empty())
        ++emptied;
      else
        kept.push_back(std::move(entry));
    }
    entries = std::move(kept);
  };
  for (const fs::path &file : files) {
    std::vector<Entry> entries;
    if (Error error = readFile(layer, file, entries); !error.empty()) {
      warn(error);
      continue;
    }
    if (options.dryRun)
      change(entries);
    else if (Error error =
                 updateFile(layer, file.lexically_relative(layer), change);
             !error.empty())
      throw Failure(error);
  }
  std::printf("%s %s and %s\n", options.dryRun ? "would remove" : "removed",
              count(removed, "schedule", "schedules").c_str(),
              count(emptied, "entry", "entries").c_str());
  return 0;
}

} // namespace registry
} // namespace fact
