//===- Output.cpp - Tables and JSON of fact-registry ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Output.h"
#include <algorithm>
#include <cstdio>

namespace fact {
namespace registry {

std::string format(const char *pattern, double value) {
  char text[40];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

std::string count(size_t number, const std::string &one,
                  const std::string &several) {
  return std::to_string(number) + " " + (number == 1 ? one : several);
}

std::string formatTime(double us) { return format("%.4g", us); }

std::string formatShare(double share) {
  return share > 0 ? format("%.0f%%", 100 * share) : "-";
}

void printTable(const std::vector<std::string> &heading,
                const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths(heading.size());
  auto measure = [&](const std::vector<std::string> &row) {
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  };
  measure(heading);
  std::for_each(rows.begin(), rows.end(), measure);
  auto print = [&](const std::vector<std::string> &row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size())
        line += std::string(widths[i] - row[i].size() + 2, ' ');
    }
    std::puts(line.c_str());
  };
  print(heading);
  std::for_each(rows.begin(), rows.end(), print);
}

static Json toJson(const Schedule &schedule) {
  Json json = {{"key", schedule.key}, {"status", getName(schedule.status)}};
  if (schedule.status == Status::Accepted) {
    json["us"] = schedule.us;
    json["sol_share"] = schedule.solShare;
    if (schedule.usLow > 0 && schedule.usHigh > 0)
      json.update({{"us_low", schedule.usLow}, {"us_high", schedule.usHigh}});
    if (schedule.runs > 0)
      json["runs"] = schedule.runs;
  } else {
    json["reason"] = schedule.reason;
  }
  if (schedule.error)
    json["error"] = *schedule.error;
  json["machine"] = schedule.machine;
  json["versions"] = schedule.versions;
  json["date"] = schedule.date;
  return json;
}

Json toJson(const Entry &entry) {
  const Problem &problem = entry.problem;
  Json json = {{"id", entry.getId()},
               {"format", problem.format},
               {"rule", problem.rule},
               {"dtype", problem.dtype},
               {"architecture", problem.architecture},
               {"ops", problem.ops},
               {"extents", problem.extents},
               {"status", getName(entry.getStatus())}};
  if (!entry.example.empty())
    json["example"] = entry.example;
  if (!entry.file.empty())
    json["file"] = entry.file.string();
  json["schedules"] = Json::array();
  for (const Schedule &schedule : entry.schedules)
    json["schedules"].push_back(toJson(schedule));
  for (const Gain &gain : entry.gains)
    json["gains"].push_back({{"form", gain.form},
                             {"against", gain.against},
                             {"ratio", gain.ratio},
                             {"ratio_low", gain.low},
                             {"ratio_high", gain.high},
                             {"machine", gain.machine},
                             {"date", gain.date}});
  return json;
}

void printJson(const Json &json) { std::puts(json.dump(2).c_str()); }

} // namespace registry
} // namespace fact
