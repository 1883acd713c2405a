//===- Registry.cpp - Layers of entries, and lookup -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Registry/EntryFile.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <tuple>

namespace fact {
namespace registry {

namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Merges `lower` into `upper` if `upper` has no accepted schedule, except for
/// the schedules that failed there.
static void layOver(Entry &upper, Entry lower) {
  if (upper.getBest())
    return;
  auto failedAbove = [&](const Schedule &schedule) {
    return std::any_of(upper.schedules.begin(), upper.schedules.end(),
                       [&](const Schedule &known) {
                         return known.key == schedule.key &&
                                known.status == Status::Failed;
                       });
  };
  lower.schedules.erase(std::remove_if(lower.schedules.begin(),
                                       lower.schedules.end(), failedAbove),
                        lower.schedules.end());
  merge(upper, lower);
}

Registry Registry::load(const std::vector<fs::path> &layers, const Warn &warn) {
  auto say = [&](const std::string &text) {
    if (warn)
      warn(text);
  };
  Registry registry;
  std::map<Problem, Entry> uppermost;
  for (const fs::path &layer : layers) {
    std::vector<fs::path> files;
    if (Error error = listFiles(layer, files); !error.empty())
      say(error);
    for (const fs::path &file : files) {
      std::vector<Entry> entries;
      if (Error error = readFile(layer, file, entries); !error.empty())
        say(error);
      for (Entry &entry : entries) {
        auto [place, isNew] = uppermost.try_emplace(entry.problem, entry);
        if (!isNew)
          layOver(place->second, std::move(entry));
      }
    }
  }
  for (auto &[problem, entry] : uppermost)
    registry.entries.push_back(std::move(entry));
  return registry;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

/// The distance of two sets of extents; none if names differ or one extent is
/// more than twice the other.
static std::optional<double>
getDistance(const std::map<std::string, int64_t> &a,
            const std::map<std::string, int64_t> &b) {
  if (a.empty() || a.size() != b.size())
    return std::nullopt;
  double distance = 0;
  for (auto left = a.begin(), right = b.begin(); left != a.end();
       ++left, ++right) {
    int64_t low = std::min(left->second, right->second);
    int64_t high = std::max(left->second, right->second);
    // In integers, so that exactly twice is within.
    if (left->first != right->first || low < 1 || high - low > low)
      return std::nullopt;
    distance += std::log2(static_cast<double>(high) / static_cast<double>(low));
  }
  return distance;
}

std::vector<Match> Registry::find(const Problem &problem) const {
  // Not the same, other ops, another type, the distance, the id: smaller is
  // better.
  using Rank = std::tuple<bool, bool, bool, double, std::string>;
  std::vector<std::pair<Rank, Match>> ranked;
  for (const Entry &entry : entries) {
    const Problem &known = entry.problem;
    if (known.rule != problem.rule ||
        known.architecture != problem.architecture ||
        !isConvertible(known.dtype, problem.dtype) ||
        !known.hasSameStructure(problem))
      continue;
    std::optional<double> distance =
        getDistance(known.extents, problem.extents);
    if (!distance)
      continue;
    Relation relation = known == problem ? Relation::Reuse : Relation::Adapt;
    ranked.push_back(
        {Rank(known != problem, !known.hasSameOps(problem),
              known.dtype != problem.dtype, *distance, entry.getId()),
         Match{&entry, relation, *distance}});
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<Match> matches;
  for (const auto &[rank, match] : ranked)
    matches.push_back(match);
  return matches;
}

std::optional<Reached>
Registry::findBestShare(const std::string &rule,
                        const std::string &architecture) const {
  std::optional<Reached> best;
  for (const Entry &entry : entries) {
    if (entry.problem.rule != rule ||
        entry.problem.architecture != architecture)
      continue;
    for (const Schedule &schedule : entry.schedules)
      if (schedule.status == Status::Accepted &&
          schedule.solShare > (best ? best->solShare : 0))
        best = Reached{schedule.solShare, schedule.machine};
  }
  return best;
}

const Entry *Registry::lookup(const std::string &id) const {
  for (const Entry &entry : entries)
    if (entry.getId() == id)
      return &entry;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

static std::string getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

fs::path getUserFolder() {
  if (std::string folder = getVariable("FACT_PATTERNS"); !folder.empty())
    return folder;
  // The XDG base directory specification ignores relative paths.
  if (fs::path data = getVariable("XDG_DATA_HOME"); data.is_absolute())
    return data / "fact" / "patterns";
  if (fs::path home = getVariable("HOME"); home.is_absolute())
    return home / ".local" / "share" / "fact" / "patterns";
  return {};
}

/// share/fact/patterns under `root`, or empty.
static fs::path findPatterns(const fs::path &root) {
  std::error_code code;
  fs::path folder = root / "share" / "fact" / "patterns";
  return fs::is_directory(folder, code) ? folder : fs::path();
}

fs::path getBuiltinFolder() {
  std::error_code code;
  fs::path program = fs::read_symlink("/proc/self/exe", code);
  fs::path folder = findPatterns(program.parent_path().parent_path());
  // In another project's program, FACT is a plug-in or a shared library.
  Dl_info info;
  if (!folder.empty() ||
      !dladdr(reinterpret_cast<const void *>(&findPatterns), &info) ||
      !info.dli_fname)
    return folder;
  // Of a prefix: lib/fact-plugin.so, or lib/aarch64-linux-gnu/fact-plugin.so.
  fs::path root = fs::weakly_canonical(info.dli_fname, code).parent_path();
  for (int i = 0; i < 2 && folder.empty(); ++i) {
    root = root.parent_path();
    folder = findPatterns(root);
  }
  return folder;
}

std::vector<fs::path> getDefaultLayers() {
  std::vector<fs::path> layers;
  for (const fs::path &folder : {getUserFolder(), getBuiltinFolder()})
    if (!folder.empty())
      layers.push_back(folder);
  return layers;
}

} // namespace registry
} // namespace fact
