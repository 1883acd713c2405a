//===- TuningReport.cpp - What a run of fact-tune found -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BundleSchema.h"
#include "Search.h"
#include "fact/Tuning/LibraryWriter.h"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

namespace fact {
namespace tuning {

using Json = nlohmann::ordered_json;

std::string today() {
  std::time_t now = std::time(nullptr);
  char text[16] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// Returns whether any is known.
static bool addConditions(const Conditions &conditions, Json &entry) {
  if (!conditions.regime.empty())
    entry["regime"] = conditions.regime;
  if (conditions.megahertz > 0)
    entry["mhz"] = conditions.megahertz;
  if (conditions.watts > 0)
    entry["watts"] = conditions.watts;
  return !conditions.regime.empty() || conditions.megahertz > 0 ||
         conditions.watts > 0;
}

static Json describeAttempt(const KernelResult &result, size_t index) {
  const Attempt &attempt = *result.attempts[index];
  Json entry = {{"candidate", index},
                {"schedule", result.kernel->candidates[index].key},
                {"status", attempt.status}};
  if (attempt.us > 0)
    entry["us"] = attempt.us;
  if (attempt.status == "ok") {
    entry.update({{"us_low", attempt.usLow},
                  {"us_high", attempt.usHigh},
                  {"runs", attempt.runs}});
    addConditions(attempt.conditions, entry);
    entry["norm_error"] = attempt.normError;
    entry["element_error"] = attempt.elementError;
  }
  if (!attempt.detail.empty())
    entry["detail"] = attempt.detail;
  if (!attempt.choice.empty())
    entry["choice"] = attempt.choice;
  entry["log"] = attempt.log;
  entry["compile_seconds"] = attempt.compileSeconds;
  entry["measure_seconds"] = attempt.measureSeconds;
  entry["reused"] = static_cast<bool>(result.reused[index]);
  if (attempt.transient)
    entry["transient"] = true;
  return entry;
}

static Json describeKernel(const KernelResult &result,
                           const std::optional<Ceilings> &ceilings) {
  const Kernel &kernel = *result.kernel;
  Json failures = Json::object();
  Json attempts = Json::array();
  size_t reused = 0;
  for (size_t i = 0; i < result.attempts.size(); ++i) {
    const std::optional<Attempt> &attempt = result.attempts[i];
    if (!attempt)
      continue;
    reused += result.reused[i];
    if (attempt->status != "ok")
      failures[attempt->status] = failures.value(attempt->status, 0) + 1;
    attempts.push_back(describeAttempt(result, i));
  }
  Json entry = {{"name", kernel.name}, {"rule", kernel.rule}};
  if (kernel.strategy)
    entry["strategy"] = Json::parse(print(*kernel.strategy));
  if (kernel.priority)
    entry["priority"] = kernel.priority;
  // A kernel that only an alternative launches may have no winner.
  if (result.winner >= 0) {
    const Attempt &best = result.best();
    if (kernel.candidates[result.winner].fallback)
      entry["fallback"] = true;
    entry.update({{"candidate", result.winner},
                  {"schedule", kernel.candidates[result.winner].key},
                  {"us", best.us},
                  {"us_low", best.usLow},
                  {"us_high", best.usHigh},
                  {"runs", best.runs},
                  {"sol_us", kernel.solUs},
                  {"sol_share", best.us > 0 ? kernel.solUs / best.us : 0.0},
                  {"norm_error", best.normError},
                  {"element_error", best.elementError}});
    addConditions(best.conditions, entry);
    double ceilingUs = ceilings ? ceilings->getMicroseconds(kernel) : 0;
    if (ceilingUs > 0 && best.us > 0)
      entry.update(
          {{"ceiling_us", ceilingUs}, {"ceiling_share", ceilingUs / best.us}});
  }
  entry.update({{"candidates", kernel.candidates.size()},
                {"tried", attempts.size()},
                {"reused", reused},
                {"failures", failures},
                {"sanitized", result.sanitized},
                {"attempts", attempts}});
  return entry;
}

static Json describeProgram(const ProgramTime &program) {
  return {{"program", program.name},
          {"steps", program.steps},
          {"workspace_bytes", program.workspaceBytes},
          {"sum_us", program.sumUs},
          {"us", program.us},
          {"us_low", program.usLow},
          {"us_high", program.usHigh},
          {"ratio", program.ratio},
          {"ratio_low", program.ratioLow},
          {"ratio_high", program.ratioHigh},
          {"ships", program.ships}};
}

static Json describeAblation(const Ablation &ablation) {
  return {{"kernel", ablation.kernel},      {"form", ablation.form},
          {"other", ablation.other},        {"ratio", ablation.ratio},
          {"ratio_low", ablation.ratioLow}, {"ratio_high", ablation.ratioHigh}};
}

std::string writeTuningReport(const Bundle &bundle,
                              const TuningResult &result) {
  Json json;
  json["format"] = 1;
  json["name"] = bundle.name;
  json["target"] = Json::parse(bundle.target.text());
  json["versions"] = bundle.versions;
  json["machine"] = result.machine;
  json["compiler"] = result.compiler;
  json["seed"] = result.seed;
  json["date"] = today();
  if (!result.library.empty()) {
    json["library"] = result.library.string();
    json["header"] = result.header.string();
    json["checked"] = result.checked;
  }
  json["seconds"] = {{"worker", result.seconds.worker},
                     {"compile_and_measure", result.seconds.compileAndMeasure},
                     {"programs", result.seconds.programs},
                     {"link", result.seconds.link},
                     {"check", result.seconds.check},
                     {"total", result.seconds.total}};
  json["objects"] = {{"compiled", result.objects.compiled},
                     {"cached", result.objects.cached}};
  if (result.ceilings)
    json["ceilings"] = Json::parse(print(*result.ceilings));
  json["kernels"] = Json::array();
  for (const KernelResult &each : result.kernels)
    json["kernels"].push_back(describeKernel(each, result.ceilings));
  json["others"] = Json::array();
  for (const KernelResult &each : result.others)
    json["others"].push_back(describeKernel(each, result.ceilings));
  json["rounds"] = result.race.rounds;
  if (Json conditions = Json::object();
      addConditions(result.race.conditions, conditions))
    json["conditions"] = conditions;
  json["programs"] = Json::array();
  for (const ProgramTime &program : result.race.programs)
    json["programs"].push_back(describeProgram(program));
  auto addRace = [&](const char *name, const Race &race) {
    if (race.programs.empty())
      return;
    json[name] = Json::array();
    for (const ProgramTime &program : race.programs) {
      Json entry = describeProgram(program);
      entry.erase("sum_us");
      json[name].push_back(std::move(entry));
    }
  };
  addRace("groupings", result.groupings);
  addRace("folded", result.folded);
  json["ablations"] = Json::array();
  for (const Ablation &ablation : result.ablations)
    json["ablations"].push_back(describeAblation(ablation));
  return json.dump(2) + "\n";
}

static std::string shortened(const std::string &text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

/// Why a kernel is the fallback: its first candidate that failed.
static std::string describeFailure(const KernelResult &result) {
  for (const std::optional<Attempt> &attempt : result.attempts)
    if (attempt && attempt->status != "ok")
      return "its candidates failed, the first with " + attempt->status + ": " +
             attempt->detail + "; see " + attempt->log;
  return "it has no other candidates";
}

/// The kernels for which there is only the last resort: by their rule, or
/// because all other candidates failed.
static std::string describePlainKernels(const TuningResult &result,
                                        double total) {
  std::ostringstream names;
  double us = 0;
  for (const KernelResult &each : result.kernels) {
    bool isFallback = each.kernel->candidates[each.winner].fallback;
    if (!isFallback && each.kernel->rule != "generic")
      continue;
    us += each.best().us;
    names << (names.tellp() ? ", " : "") << each.kernel->name;
    if (isFallback)
      names << " (" << describeFailure(each) << ")";
  }
  if (!us)
    return "";
  char line[128];
  std::snprintf(line, sizeof(line),
                "%-26s %-8s %10.5g  %.0f%% of the sum: ", "in plain loops", "",
                us, 100 * us / total);
  return line + names.str() + "\n";
}

/// The programs that were timed whole, and what each form gains.
static std::string writePrograms(const TuningResult &result) {
  std::ostringstream out;
  char line[512];
  if (!result.race.programs.empty()) {
    std::snprintf(line, sizeof(line),
                  "\n%10s %10s %7s %15s %6s  %s (%zu rounds, in turn)\n", "us",
                  "sum", "ratio", "interval", "steps", "program",
                  result.race.rounds);
    out << line;
  }
  auto interval = [](double low, double high) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.3f..%.3f", low, high);
    return std::string(text);
  };
  for (const ProgramTime &each : result.race.programs) {
    std::snprintf(line, sizeof(line), "%10.5g %10.5g %7.3f %15s %6zu  %s%s\n",
                  each.us, each.sumUs, each.ratio,
                  interval(each.ratioLow, each.ratioHigh).c_str(), each.steps,
                  shortened(each.name, 300).c_str(),
                  each.ships ? ", ships" : "");
    out << line;
  }
  auto writeRace = [&](const char *what, const Race &race) {
    if (race.programs.empty())
      return;
    std::snprintf(line, sizeof(line),
                  "\n%10s %7s %15s %6s  %s (%zu rounds, in turn)\n", "us",
                  "ratio", "interval", "steps", what, race.rounds);
    out << line;
    for (const ProgramTime &each : race.programs) {
      std::snprintf(line, sizeof(line), "%10.5g %7.3f %15s %6zu  %s%s\n",
                    each.us, each.ratio,
                    interval(each.ratioLow, each.ratioHigh).c_str(), each.steps,
                    each.name.c_str(), each.ships ? ", ships" : "");
      out << line;
    }
  };
  writeRace("grouping", result.groupings);
  writeRace("norms", result.folded);
  if (!result.ablations.empty()) {
    std::snprintf(line, sizeof(line), "\n%-26s %-8s %-8s %8s %15s\n", "kernel",
                  "form", "against", "gain", "interval");
    out << line;
  }
  for (const Ablation &each : result.ablations) {
    std::snprintf(line, sizeof(line), "%-26s %-8s %-8s %+7.1f%% %15s\n",
                  shortened(each.kernel, 26).c_str(), each.form.c_str(),
                  each.other.c_str(), 100 * (each.ratio - 1),
                  interval(each.ratioLow, each.ratioHigh).c_str());
    out << line;
  }
  return out.str();
}

/// "87%", or "-" if the least time is not known.
static std::string shareOf(double leastUs, double us) {
  return leastUs > 0 && us > 0
             ? std::to_string(std::lround(100 * leastUs / us)) + "%"
             : "-";
}

/// "timed at 1410 to 1980 MHz, 230 to 690 W; over 1 ms: paced", of what is
/// known of the winners.
static std::string describeConditions(const TuningResult &result) {
  std::vector<double> clocks, watts;
  std::string regime;
  for (const KernelResult &each : result.kernels) {
    const Conditions &conditions = each.best().conditions;
    if (conditions.megahertz > 0)
      clocks.push_back(conditions.megahertz);
    if (conditions.watts > 0)
      watts.push_back(conditions.watts);
    if (!conditions.regime.empty())
      regime = conditions.regime;
  }
  std::string text;
  auto add = [&](std::vector<double> &values, const char *unit) {
    if (values.empty())
      return;
    auto [least, most] = std::minmax_element(values.begin(), values.end());
    text += (text.empty() ? " at " : ", ") + format("%.0f", *least);
    if (*most > *least)
      text += format(" to %.0f", *most);
    text += std::string(" ") + unit;
  };
  add(clocks, "MHz");
  add(watts, "W");
  if (!regime.empty())
    text += (text.empty() ? "" : ";") + (" over 1 ms: " + regime);
  return text.empty() ? text : "timed" + text + "\n";
}

std::string writeTable(const TuningResult &result) {
  std::ostringstream out;
  char line[512];
  std::snprintf(line, sizeof(line),
                "%-26s %-8s %10s %17s %6s %7s %9s %9s  %s\n", "kernel",
                "strategy", "us", "interval", "SOL", "ceiling", "error",
                "ok/tried", "schedule");
  out << "\n" << line;
  double total = 0;
  for (const KernelResult &each : result.kernels) {
    const Attempt &best = each.best();
    size_t tried = 0, good = 0;
    for (const std::optional<Attempt> &attempt : each.attempts) {
      tried += attempt.has_value();
      good += attempt && attempt->status == "ok";
    }
    double ceilingUs =
        result.ceilings ? result.ceilings->getMicroseconds(*each.kernel) : 0;
    char interval[40];
    std::snprintf(interval, sizeof(interval), "%.5g..%.5g", best.usLow,
                  best.usHigh);
    std::string counts = std::to_string(good) + "/" + std::to_string(tried);
    std::snprintf(
        line, sizeof(line), "%-26s %-8s %10.5g %17s %6s %7s %9.2g %9s  %s\n",
        shortened(each.kernel->name, 26).c_str(),
        each.kernel->strategy ? each.kernel->strategy->kind.c_str() : "-",
        best.us, interval, shareOf(each.kernel->solUs, best.us).c_str(),
        shareOf(ceilingUs, best.us).c_str(), best.normError, counts.c_str(),
        shortened(each.kernel->candidates[each.winner].key, 90).c_str());
    out << line;
    total += best.us;
  }
  std::snprintf(line, sizeof(line), "%-26s %-8s %10.5g\n",
                "sum, each kernel once", "", total);
  out << line << describeConditions(result)
      << describePlainKernels(result, total) << writePrograms(result);
  return out.str();
}

} // namespace tuning
} // namespace fact
