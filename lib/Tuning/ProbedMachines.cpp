//===- ProbedMachines.cpp - The machines whose ceilings are known ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/ProbedMachines.h"
#include <algorithm>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

std::vector<Ceilings> listProbedMachines() {
  std::vector<Ceilings> all;
  fs::path folder = ceilingsFile("").parent_path();
  std::error_code code;
  if (folder.empty())
    return all;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    // A copy under another name is of no machine.
    std::optional<Ceilings> found = readCeilings(entry->path());
    if (found && ceilingsFile(found->machine) == entry->path())
      all.push_back(std::move(*found));
  }
  std::sort(all.begin(), all.end(), [](const Ceilings &a, const Ceilings &b) {
    return a.machine < b.machine;
  });
  return all;
}

} // namespace tuning
} // namespace fact
