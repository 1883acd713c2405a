//===- Migrate.cpp - Entries of older formats -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "fact/Registry/EntryFile.h"
#include "fact/Tuning/Files.h"
#include <cstdio>

namespace fact {
namespace registry {

namespace fs = std::filesystem;
using tuning::Failure;

/// Gives an entry the one problem that it may be, and says what became of it.
static void migrate(Entry &entry, const std::set<Problem> &problems) {
  std::vector<const Problem *> found;
  for (const Problem &problem : problems)
    if (problem.mayBe(entry.problem))
      found.push_back(&problem);
  std::string id = entry.getId();
  if (found.size() == 1) {
    entry.problem = *found.front();
    std::printf("%s -> %s (%s)\n", id.c_str(), entry.getId().c_str(),
                entry.problem.ops.c_str());
    return;
  }
  std::printf("%s stays: ", id.c_str());
  if (found.empty())
    std::puts("no bundle has its problem");
  for (const Problem *problem : found)
    std::printf("%s%s", problem == found.front() ? "may be " : " or ",
                problem->ops.c_str());
  if (!found.empty())
    std::puts("");
}

int migrate(const Options &options) {
  if (options.arguments.empty())
    throw Failure("migrate expects bundles of the modules that were measured");
  std::set<Problem> problems;
  for (const std::string &bundle : options.arguments)
    for (Problem &problem : readProblems(bundle))
      problems.insert(std::move(problem));
  fs::path folder = getWritableLayer(options.to);
  std::vector<fs::path> files;
  if (Error error = listFiles(folder, files); !error.empty())
    throw Failure(error);
  for (const fs::path &file : files) {
    auto change = [&](std::vector<Entry> &entries) {
      for (Entry &entry : entries)
        if (entry.problem.format != Problem::currentFormat)
          migrate(entry, problems);
    };
    fs::path name = file.parent_path().filename() / file.filename();
    if (Error error = updateFile(folder, name, change); !error.empty())
      throw Failure(error);
  }
  return 0;
}

} // namespace registry
} // namespace fact
