//===- Output.h - Tables and JSON of fact-registry --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TOOLS_FACTREGISTRY_OUTPUT_H
#define FACT_TOOLS_FACTREGISTRY_OUTPUT_H

#include "fact/Registry/Registry.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fact {
namespace registry {

using Json = nlohmann::ordered_json;

/// By a pattern of printf.
std::string format(const char *pattern, double value);
std::string formatTime(double us);
/// "93%", or "-" if there is none.
std::string formatShare(double share);
/// "1 entry", "2 entries".
std::string count(size_t number, const std::string &one,
                  const std::string &several);

/// Prints rows under a heading, with columns as wide as their content.
void printTable(const std::vector<std::string> &heading,
                const std::vector<std::vector<std::string>> &rows);

Json toJson(const Entry &entry);
void printJson(const Json &json);

} // namespace registry
} // namespace fact

#endif // FACT_TOOLS_FACTREGISTRY_OUTPUT_H
