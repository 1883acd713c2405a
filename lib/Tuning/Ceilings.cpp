//===- Ceilings.cpp - What a machine was seen to reach --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Ceilings.h"
#include "Search.h"
#include <algorithm>
#include <cstdio>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

double Ceilings::getMicroseconds(const Kernel &kernel) const {
  auto secondsOf = [this](const std::string &name, double work) {
    auto found = rates.find(name);
    return found == rates.end() || found->second.best() <= 0
               ? std::numeric_limits<double>::infinity()
               : work / found->second.best();
  };
  double arithmetic = 0;
  for (const auto &[unit, flops] : kernel.flopsByType)
    if (flops > 0)
      arithmetic += secondsOf(unit, flops);
  double seconds = std::max(arithmetic, secondsOf("bandwidth", kernel.bytes));
  bool isKnown =
      std::isfinite(seconds) && kernel.bytes > 0 && !kernel.flopsByType.empty();
  return isKnown ? 1e6 * seconds : 0;
}

//===----------------------------------------------------------------------===//
// Reports of probes
//===----------------------------------------------------------------------===//

Ceilings readProbe(const std::string &machine, const std::string &report) {
  Ceilings ceilings;
  ceilings.machine = machine;
  ceilings.date = today();
  try {
    Json json = Json::parse(report);
    int most = 0;
    for (const Json &each : json.at("ceilings"))
      most = std::max(most, each.at("threads").get<int>());
    // Several loads have one figure; the best of them is the ceiling.
    for (const Json &each : json.at("ceilings")) {
      bool isWhole = each.at("threads") == most;
      Rate &rate =
          (isWhole ? ceilings.rates : ceilings.oneThread)[each.at("figure")];
      rate.cold = std::max(rate.cold, each.at("cold").get<double>());
      rate.sustained =
          std::max(rate.sustained, each.at("sustained").get<double>());
    }
    ceilings.launchSeconds = json.at("launch_seconds");
  } catch (const nlohmann::json::exception &problem) {
    throw Failure(std::string("the probe's report is malformed: ") +
                  problem.what());
  }
  if (ceilings.rates.empty())
    throw Failure("the probe reports no ceilings");
  return ceilings;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Json toJson(const std::map<std::string, Rate> &rates) {
  Json json = Json::object();
  for (const auto &[name, rate] : rates)
    json[name] = {{"cold", rate.cold}, {"sustained", rate.sustained}};
  return json;
}

static std::map<std::string, Rate> fromJson(const Json &json) {
  std::map<std::string, Rate> rates;
  for (const auto &[name, rate] : json.items())
    rates[name] = {rate.at("cold"), rate.at("sustained")};
  return rates;
}

std::string print(const Ceilings &ceilings) {
  Json json = {{"format", 1},
               {"machine", ceilings.machine},
               {"date", ceilings.date},
               {"launch_seconds", ceilings.launchSeconds},
               {"rates", toJson(ceilings.rates)}};
  if (!ceilings.oneThread.empty())
    json["one_thread"] = toJson(ceilings.oneThread);
  return json.dump(2) + "\n";
}

fs::path ceilingsFile(const std::string &machine) {
  fs::path cache = cacheFolder();
  return cache.empty() ? cache
                       : cache / "machines" /
                             (ContentHash().add(machine).text() + ".json");
}

std::optional<Ceilings> readCeilings(const fs::path &file) {
  std::error_code code;
  if (!fs::is_regular_file(file, code))
    return std::nullopt;
  try {
    Json json = Json::parse(readFile(file));
    Ceilings ceilings;
    ceilings.machine = json.at("machine");
    ceilings.date = json.at("date");
    ceilings.launchSeconds = json.at("launch_seconds");
    ceilings.rates = fromJson(json.at("rates"));
    if (json.contains("one_thread"))
      ceilings.oneThread = fromJson(json.at("one_thread"));
    if (json.at("format") != 1)
      return std::nullopt;
    return ceilings;
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

std::optional<Ceilings> findCeilings(const std::string &machine) {
  std::optional<Ceilings> found = readCeilings(ceilingsFile(machine));
  return found && found->machine == machine ? found : std::nullopt;
}

/// "3.92 TB/s", "39.7 GFLOP/s".
static std::string shown(const std::string &name, double rate) {
  const char *unit = name == "bandwidth" ? "B/s" : "FLOP/s";
  char text[40];
  bool isTera = rate >= 1e12;
  std::snprintf(text, sizeof(text), "%.4g %c%s", rate / (isTera ? 1e12 : 1e9),
                isTera ? 'T' : 'G', unit);
  return text;
}

std::string writeTable(const Ceilings &ceilings) {
  std::string out;
  char line[160];
  std::snprintf(line, sizeof(line), "%-20s %16s %16s", "ceiling", "cold",
                "sustained");
  out += line;
  if (!ceilings.oneThread.empty()) {
    std::snprintf(line, sizeof(line), " %16s %16s", "one thread", "sustained");
    out += line;
  }
  for (const auto &[name, rate] : ceilings.rates) {
    std::snprintf(line, sizeof(line), "\n%-20s %16s %16s", name.c_str(),
                  shown(name, rate.cold).c_str(),
                  shown(name, rate.sustained).c_str());
    out += line;
    auto alone = ceilings.oneThread.find(name);
    if (alone == ceilings.oneThread.end())
      continue;
    std::snprintf(line, sizeof(line), " %16s %16s",
                  shown(name, alone->second.cold).c_str(),
                  shown(name, alone->second.sustained).c_str());
    out += line;
  }
  std::snprintf(line, sizeof(line), "\n%-20s %13.3g us\n", "launch",
                1e6 * ceilings.launchSeconds);
  return out + line;
}

} // namespace tuning
} // namespace fact
