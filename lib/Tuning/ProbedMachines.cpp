//===- ProbedMachines.cpp - The machines whose ceilings are known ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/ProbedMachines.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <nlohmann/json.hpp>

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
    try {
      nlohmann::json json = nlohmann::json::parse(readFile(entry->path()));
      if (auto found = findCeilings(json.at("machine").get<std::string>()))
        all.push_back(std::move(*found));
    } catch (const std::exception &) {
    }
  }
  std::sort(all.begin(), all.end(), [](const Ceilings &a, const Ceilings &b) {
    return a.machine < b.machine;
  });
  return all;
}

} // namespace tuning
} // namespace fact
