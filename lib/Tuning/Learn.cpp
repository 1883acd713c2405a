//===- Learn.cpp - From measurements to entries ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Learn.h"
#include "fact/Registry/EntryFile.h"
#include "fact/Runtime/Text.h"
#include "fact/Tuning/BoundedJson.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Ceilings.h"
#include "fact/Tuning/Database.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace fact {
namespace registry {

namespace fs = std::filesystem;
using tuning::Failure;
using Json = nlohmann::ordered_json;

/// Of a tuning.json.
static constexpr int maximumDepth = 16;

namespace {

/// One attempt, wherever it was written down.
struct Attempt {
  std::string key, status, detail, machine, compiler, date;
  std::map<std::string, std::string> versions;
  double us = 0, usLow = 0, usHigh = 0;
  int64_t runs = 0;
  std::optional<double> error;
};

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::vector<std::string> split(const std::string &text,
                               const std::string &separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos;
       begin = end + separator.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

/// The machine without what an update changes; that becomes versions.
std::string splitMachine(const std::string &text,
                         std::map<std::string, std::string> &versions) {
  std::string machine;
  for (const std::string &part : split(text, ", ")) {
    size_t space = part.find(' ');
    std::string word = part.substr(0, space);
    if (space != std::string::npos && (word == "driver" || word == "runtime"))
      versions["cuda_" + word] = part.substr(space + 1);
    else if (space != std::string::npos && word == "cublasLt")
      versions["cublaslt"] = part.substr(space + 1);
    else if (word != "features")
      machine += (machine.empty() ? "" : ", ") + part;
  }
  return machine;
}

/// "nvcc 13.0.88", "Debian clang version 22.1.8 (1~deb12u1)"
std::string shortenCompiler(const std::string &text) {
  for (const std::string &part : split(text, "; ")) {
    size_t version = part.find(", V");
    if (part.find("release ") != std::string::npos &&
        version != std::string::npos)
      return "nvcc " + part.substr(version + 3);
  }
  return split(text, "; ").front();
}

/// One printable line without the places of this machine.
std::string toLine(std::string text, const fs::path &bundle) {
  const std::string folder = bundle.string() + "/";
  for (size_t at; (at = text.find(folder)) != std::string::npos;)
    text.erase(at, folder.size());
  std::string line;
  for (unsigned char c : text) {
    bool isSpace = c <= ' ' || c == 0x7f;
    if (isSpace && (line.empty() || line.back() == ' '))
      continue;
    line += isSpace ? ' ' : c >= 0x80 ? '?' : static_cast<char>(c);
  }
  while (!line.empty() && line.back() == ' ')
    line.pop_back();
  return line.size() > 300 ? line.substr(0, 297) + "..." : line;
}

double round(double value, int digits) {
  if (value == 0 || !std::isfinite(value))
    return value;
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

//===----------------------------------------------------------------------===//
// Where attempts are
//===----------------------------------------------------------------------===//

std::map<std::string, std::string> readVersions(const Json &json) {
  std::map<std::string, std::string> versions;
  if (json.is_object())
    for (const auto &[name, version] : json.items())
      if (version.is_string())
        versions[name] = version;
  return versions;
}

/// Attempts by kernel name.
using Attempts = std::map<std::string, std::vector<Attempt>>;

Attempts readDatabase(const tuning::Bundle &bundle, const fs::path &file) {
  Attempts attempts;
  tuning::Database database(file);
  // The tuner may know more versions than the compiler did.
  std::map<std::string, std::string> versions = bundle.versions;
  std::error_code code;
  if (fs::path report = bundle.folder / "tuning.json";
      fs::exists(report, code)) {
    std::string ignored;
    Json json = tuning::parseBounded<Json>(tuning::readFile(report),
                                           maximumDepth, ignored);
    if (json.is_object() && json.contains("versions"))
      versions.merge(readVersions(json["versions"]));
  }
  for (const tuning::Kernel &kernel : bundle.kernels) {
    std::vector<tuning::Database::Row> rows = database.list(kernel.hash);
    // Of a machine's times, those of the newest regime: others do not compare.
    std::map<std::string, std::string> regimes;
    for (const tuning::Database::Row &row : rows)
      if (const auto &regime = row.attempt.conditions.regime; !regime.empty())
        regimes[row.key.machine] = regime;
    for (const tuning::Database::Row &row : rows) {
      const std::string &regime = row.attempt.conditions.regime;
      if (row.attempt.transient ||
          (!regime.empty() && regime != regimes[row.key.machine]))
        continue;
      Attempt attempt;
      attempt.key = row.key.candidate;
      attempt.status = row.attempt.status;
      attempt.detail = row.attempt.detail;
      attempt.machine = row.key.machine;
      attempt.compiler = row.key.compiler;
      attempt.date = row.date;
      attempt.versions = versions;
      attempt.us = row.attempt.us;
      attempt.usLow = row.attempt.usLow;
      attempt.usHigh = row.attempt.usHigh;
      attempt.runs = row.attempt.runs;
      attempt.error = row.attempt.normError;
      attempts[kernel.name].push_back(std::move(attempt));
    }
  }
  return attempts;
}

/// Names are numbers: another version of a model may use them otherwise.
void requireSameKernel(const tuning::Bundle &bundle, const Json &reported,
                       const fs::path &file) {
  double sol = reported.at("sol_us");
  for (const tuning::Kernel &kernel : bundle.kernels)
    if (reported.at("name") == kernel.name &&
        std::abs(sol - kernel.solUs) <= 0.01 * kernel.solUs)
      return;
  throw Failure(file.string() + " is not of this bundle, which has no kernel " +
                reported.at("name").dump() + " with a speed of light of " +
                std::to_string(sol) + " us");
}

Attempts readReport(const tuning::Bundle &bundle, const fs::path &file,
                    const std::string &date) {
  Attempts attempts;
  try {
    std::string problem;
    Json report = tuning::parseBounded<Json>(tuning::readFile(file),
                                             maximumDepth, problem);
    if (report.is_discarded())
      throw Failure(file.string() + ": " + runtime::escapeControls(problem));
    if (report.at("name") != bundle.name ||
        report.at("target") != Json::parse(bundle.target.text()))
      throw Failure(file.string() + " is of " + report.at("name").dump() +
                    " for " + report.at("target").dump() +
                    ", and the bundle of \"" + bundle.name + "\" for " +
                    bundle.target.text());
    std::string day = report.value("date", date);
    if (day.empty())
      throw Failure(file.string() + " has no date; name its day with --date");
    // Those of the program, and those that were tuned for its alternatives.
    Json kernels = report.at("kernels");
    for (const Json &other : report.value("others", Json::array()))
      kernels.push_back(other);
    for (const Json &kernel : kernels) {
      requireSameKernel(bundle, kernel, file);
      for (const Json &item : kernel.at("attempts")) {
        Attempt attempt;
        attempt.key = item.at("schedule");
        attempt.status = item.at("status");
        if (item.value("transient", false))
          continue;
        attempt.detail = item.value("detail", "");
        attempt.machine = report.at("machine");
        attempt.compiler = report.at("compiler");
        attempt.date = day;
        attempt.versions = readVersions(report.value("versions", Json()));
        attempt.us = item.value("us", 0.0);
        attempt.usLow = item.value("us_low", 0.0);
        attempt.usHigh = item.value("us_high", 0.0);
        attempt.runs = item.value("runs", int64_t(0));
        if (item.contains("norm_error"))
          attempt.error = item.at("norm_error").get<double>();
        else if (item.at("candidate") == kernel.value("candidate", -1))
          attempt.error = kernel.at("norm_error").get<double>();
        attempts[kernel.at("name")].push_back(std::move(attempt));
      }
    }
  } catch (const nlohmann::json::exception &problem) {
    throw Failure(file.string() +
                  " is not a report of fact-tune: " + problem.what());
  }
  return attempts;
}

Attempts readAttempts(const tuning::Bundle &bundle,
                      const LearnOptions &options) {
  if (!options.results.empty())
    return readReport(bundle, options.results, options.date);
  std::error_code code;
  if (fs::path file = bundle.folder / "tuning.sqlite"; fs::exists(file, code))
    return readDatabase(bundle, file);
  if (fs::path file = bundle.folder / "tuning.json"; fs::exists(file, code))
    return readReport(bundle, file, options.date);
  throw Failure(bundle.folder.string() +
                " was not tuned: it has neither "
                "tuning.sqlite nor tuning.json; run fact-tune first");
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

Problem readProblem(const tuning::Bundle &bundle,
                    const tuning::Kernel &kernel) {
  if (!kernel.problem)
    throw Failure("bundle.json does not say what problem " + kernel.name +
                  " is; write the bundle again with this fact-compile");
  Problem problem;
  problem.format = kernel.problem->format;
  problem.rule = kernel.rule;
  problem.architecture = bundle.target.architecture;
  problem.dtype = kernel.problem->dtype;
  problem.ops = kernel.problem->ops;
  problem.extents = kernel.problem->extents;
  return problem;
}

Schedule getSchedule(const Attempt &attempt, const tuning::Bundle &bundle,
                     const tuning::Kernel &kernel,
                     const LearnOptions &options) {
  Schedule schedule;
  schedule.key = attempt.key;
  schedule.date = attempt.date;
  schedule.versions = attempt.versions;
  schedule.versions["compiler"] = shortenCompiler(attempt.compiler);
  schedule.machine = splitMachine(attempt.machine, schedule.versions);
  for (const auto &[name, version] : options.versions)
    schedule.versions[name] = version;
  if (attempt.status == "ok") {
    schedule.status = Status::Accepted;
    schedule.us = round(attempt.us, 6);
    schedule.solShare = round(kernel.solUs / attempt.us, 4);
    // The interval of a final is that of its ratio to another candidate.
    if (attempt.usLow > 0 && attempt.usHigh > 0) {
      schedule.usLow = std::min(round(attempt.usLow, 4), schedule.us);
      schedule.usHigh = std::max(round(attempt.usHigh, 4), schedule.us);
    }
    schedule.runs = attempt.runs;
    if (attempt.error)
      schedule.error = round(*attempt.error, 4);
  } else {
    schedule.status = Status::Failed;
    std::string detail = toLine(attempt.detail, bundle.folder);
    schedule.reason = attempt.status + (detail.empty() ? "" : ": " + detail);
  }
  return schedule;
}

/// Whether an attempt says something about the kernel's family: a fallback is
/// of another one.
bool isMeasured(const tuning::Kernel &kernel, const Attempt &attempt) {
  if (attempt.status == "untuned")
    return false;
  return std::none_of(kernel.candidates.begin(), kernel.candidates.end(),
                      [&](const tuning::Candidate &candidate) {
                        return candidate.fallback &&
                               candidate.key == attempt.key;
                      });
}

/// What --ablate found, by kernel name, in the report of the results.
std::map<std::string, std::vector<Gain>>
readGains(const tuning::Bundle &bundle, const LearnOptions &options) {
  std::map<std::string, std::vector<Gain>> gains;
  fs::path file =
      options.results.empty() ? bundle.folder / "tuning.json" : options.results;
  std::error_code code;
  if (!fs::exists(file, code))
    return gains;
  std::string ignored;
  Json report =
      tuning::parseBounded<Json>(tuning::readFile(file), maximumDepth, ignored);
  if (!report.is_object())
    return gains;
  try {
    std::map<std::string, std::string> versions;
    for (const Json &item : report.value("ablations", Json::array())) {
      Gain gain;
      gain.form = item.at("form");
      gain.against = item.at("other");
      gain.ratio = round(item.at("ratio"), 5);
      gain.low = std::min(round(item.at("ratio_low"), 5), gain.ratio);
      gain.high = std::max(round(item.at("ratio_high"), 5), gain.ratio);
      gain.machine = splitMachine(report.at("machine"), versions);
      gain.date = report.value("date", options.date);
      gains[item.at("kernel")].push_back(std::move(gain));
    }
  } catch (const nlohmann::json::exception &problem) {
    throw Failure(file.string() +
                  " is not a report of fact-tune: " + problem.what());
  }
  return gains;
}

} // namespace

std::vector<Entry> learn(const fs::path &folder, const LearnOptions &options) {
  tuning::Bundle bundle = tuning::readBundle(folder);
  Attempts attempts = readAttempts(bundle, options);
  std::map<std::string, std::vector<Gain>> gains = readGains(bundle, options);
  std::vector<Entry> entries;
  for (const tuning::Kernel &kernel : bundle.kernels) {
    Entry entry;
    for (const Attempt &attempt : attempts[kernel.name]) {
      if (!isMeasured(kernel, attempt) ||
          (attempt.status == "ok" && !isPossibleTime(attempt.us, kernel.solUs)))
        continue;
      Schedule schedule = getSchedule(attempt, bundle, kernel, options);
      entry.schedules.push_back(std::move(schedule));
    }
    if (entry.schedules.empty())
      continue;
    entry.problem = readProblem(bundle, kernel);
    entry.example = kernel.problem->example;
    entry.gains = gains[kernel.name];
    // In the order of entries: the fastest first.
    merge(entry, Entry());
    keepFastest(entry, options.keep);
    if (Error error = checkEntry(entry); !error.empty())
      throw Failure(kernel.name + " has no place in the registry: " + error);
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    throw Failure(bundle.folder.string() + " has no measurements of its "
                                           "kernels; run fact-tune first");
  return merge(entries, {});
}

std::vector<Problem> readProblems(const fs::path &folder) {
  tuning::Bundle bundle = tuning::readBundle(folder);
  std::vector<Problem> problems;
  for (const tuning::Kernel &kernel : bundle.kernels)
    problems.push_back(readProblem(bundle, kernel));
  return problems;
}

std::vector<Measurements> readMeasurements(const fs::path &folder,
                                           const fs::path &results,
                                           std::string &error) {
  std::vector<Measurements> all;
  try {
    tuning::Bundle bundle = tuning::readBundle(folder);
    LearnOptions options;
    options.results = results;
    // Only entries need a day.
    options.date = "1970-01-01";
    Attempts attempts = readAttempts(bundle, options);
    std::map<std::string, std::vector<Gain>> gains = readGains(bundle, options);
    std::map<std::string, std::optional<tuning::Ceilings>> probed;
    for (const tuning::Kernel &kernel : bundle.kernels) {
      Measurements measurements;
      measurements.kernel = kernel.name;
      measurements.problem = readProblem(bundle, kernel);
      measurements.solUs = kernel.solUs;
      measurements.flops = kernel.flops;
      measurements.bytes = kernel.bytes;
      measurements.gains = gains[kernel.name];
      for (const Attempt &attempt : attempts[kernel.name]) {
        if (!isMeasured(kernel, attempt))
          continue;
        measurements.attempts.push_back({attempt.key, attempt.status,
                                         toLine(attempt.detail, bundle.folder),
                                         attempt.us});
        auto [ceilings, isNew] = probed.try_emplace(attempt.machine);
        if (isNew)
          ceilings->second = tuning::findCeilings(attempt.machine);
        if (ceilings->second)
          measurements.ceilingUs = ceilings->second->getMicroseconds(kernel);
      }
      all.push_back(std::move(measurements));
    }
  } catch (const std::exception &problem) {
    error = problem.what();
    all.clear();
  }
  return all;
}

const Measurements::Attempt *Measurements::getBest() const {
  const Attempt *best = nullptr;
  for (const Attempt &attempt : attempts)
    if (attempt.isAccepted() && (!best || attempt.us < best->us))
      best = &attempt;
  return best;
}

GroupingRace readGroupingRace(const fs::path &bundle) {
  GroupingRace race;
  try {
    std::string ignored;
    Json report = tuning::parseBounded<Json>(
        tuning::readFile(bundle / "tuning.json"), maximumDepth, ignored);
    for (const Json &each : report.value("groupings", Json::array())) {
      std::string name = each.at("program");
      (name == "rules" ? race.rulesUs : race.us) = each.at("us");
      if (each.at("ships"))
        race.ships = name;
      if (name == "rules")
        continue;
      race.ratio = each.at("ratio");
      race.low = each.at("ratio_low");
      race.high = each.at("ratio_high");
    }
  } catch (const std::exception &) {
    return {};
  }
  return race;
}

} // namespace registry
} // namespace fact
