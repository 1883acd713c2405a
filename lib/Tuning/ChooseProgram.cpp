//===- ChooseProgram.cpp - The program that ships -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums of the kernels' times say which programs could be the fastest. The
// best few are linked and timed whole, in turn: a kernel alone has another
// clock, another cache and no neighbors. The fastest ships.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// How many programs are timed whole, beside the one as fused.
static constexpr size_t mostPrograms = 4;
/// Programs whose parts add up to more than this, over the best, are not timed.
static constexpr double sumMargin = 1.05;

double Tuner::timeOf(uint32_t kernel) const {
  for (const auto &search : searches)
    if (&search->kernel() == &bundle.kernels[kernel] &&
        search->result.winner >= 0)
      return search->result.best().us;
  return std::numeric_limits<double>::infinity();
}

double Tuner::sumOf(const Bundle &program) const {
  double us = 0;
  for (const Step &step : program.program)
    us += timeOf(step.kernel);
  return us;
}

void Tuner::setProgram(const Forms &forms) {
  shipped = applyAlternatives(bundle, forms);
  linked.clear();
  for (const auto &search : searches)
    if (!options.only.empty() ||
        shipped
            .kernels[static_cast<size_t>(&search->kernel() -
                                         bundle.kernels.data())]
            .used)
      linked.push_back(search.get());
}

void Tuner::takeKernels(TuningResult &result) const {
  result.kernels.clear();
  result.others.clear();
  for (const auto &search : searches) {
    bool ships =
        std::find(linked.begin(), linked.end(), search.get()) != linked.end();
    (ships ? result.kernels : result.others).push_back(search->result);
  }
}

Race Tuner::racePrograms(const std::vector<Forms> &programs) {
  std::string why, text = describeArguments(bundle, why);
  if (!why.empty()) {
    std::printf("programs  not timed: %s\n", why.c_str());
    return {};
  }
  fs::path folder = build / "programs";
  createFolder(folder);
  Race race;
  std::vector<fs::path> libraries;
  for (const Forms &forms : programs) {
    setProgram(forms);
    ensureWinnerObjects();
    TuningResult program;
    takeKernels(program);
    program.machine = machine;
    program.compiler = compiler;
    fs::path library = folder / (std::to_string(race.programs.size()) + ".so");
    linkLibrary(program, library, library);
    libraries.push_back(library);
    ProgramTime &entry = race.programs.emplace_back();
    entry.name = describeForms(bundle, forms);
    entry.steps = shipped.program.size();
    entry.workspaceBytes = shipped.workspaceBytes;
    entry.sumUs = sumOf(shipped);
  }
  return timeLibraries(libraries, text, race) ? race : Race();
}

bool Tuner::timeLibraries(const std::vector<fs::path> &libraries,
                          const std::string &arguments, Race &race) {
  fs::path file = build / "programs.race";
  std::string text;
  for (const fs::path &library : libraries)
    text += "library " + library.string() + "\n";
  if (options.sustained)
    text += "sustained\n";
  writeFile(file, text + arguments);
  Command command = workerCommand(
      {workerPath.string(), "--race", file.string()}, build / "programs.log",
      options.runTimeout * static_cast<double>(libraries.size()));
  WorkerReport report = readReport(runChecked(command));
  if (report.status != "ok" ||
      report.values["times"].size() != race.programs.size()) {
    std::printf("programs  not timed: %s: %s; see %s\n", report.status.c_str(),
                report.detail.c_str(), command.log.c_str());
    return false;
  }
  race.rounds = report.values.value("rounds", size_t(0));
  race.conditions = conditionsIn(report.values);
  for (size_t i = 0; i < race.programs.size(); ++i) {
    const nlohmann::json &times = report.values["times"][i];
    ProgramTime &entry = race.programs[i];
    entry.us = times.value("us", 0.0);
    entry.usLow = times.value("us_low", 0.0);
    entry.usHigh = times.value("us_high", 0.0);
    entry.ratio = times.value("ratio", 1.0);
    entry.ratioLow = times.value("ratio_low", 1.0);
    entry.ratioHigh = times.value("ratio_high", 1.0);
  }
  return true;
}

/// Of the programs that are surely faster than that as fused, the fastest; else
/// the one as fused, which has the fewest steps.
Forms Tuner::chooseByRace(TuningResult &result) {
  auto timeOfKernel = [this](uint32_t kernel) { return timeOf(kernel); };
  std::vector<Forms> programs = {{}};
  std::vector<double> sums = {sumOf(bundle)};
  for (const RankedForms &ranked :
       rankForms(bundle, timeOfKernel, mostPrograms))
    if (!ranked.forms.empty()) {
      programs.push_back(ranked.forms);
      sums.push_back(sumOf(applyAlternatives(bundle, ranked.forms)));
    }
  double limit = sumMargin * *std::min_element(sums.begin(), sums.end());
  for (size_t i = programs.size(); i-- > 1;)
    if (sums[i] > limit)
      programs.erase(programs.begin() + static_cast<std::ptrdiff_t>(i));
  if (programs.size() == 1)
    return {};
  result.race = racePrograms(programs);
  std::vector<ProgramTime> &times = result.race.programs;
  if (times.empty())
    return {};
  size_t best = 0;
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i].ratioHigh < 1 && times[i].ratio < times[best].ratio)
      best = i;
  times[best].ships = true;
  return programs[best];
}

void Tuner::ablate(const Forms &chosen, TuningResult &result) {
  std::vector<Forms> programs = {chosen};
  std::vector<Ablation> ablations;
  auto formOf = [](const Alternative *alternative) {
    return alternative ? alternative->form : std::string("fused");
  };
  for (uint32_t kernel = 0; kernel < bundle.kernels.size(); ++kernel) {
    const Alternative *ships = nullptr, *other = nullptr;
    for (const Alternative *alternative : chosen)
      if (alternative->kernel == kernel)
        ships = alternative;
    // The form of least time among those that do not ship.
    double best =
        ships ? timeOf(kernel) : std::numeric_limits<double>::infinity();
    for (const Alternative &alternative : bundle.alternatives) {
      double us = 0;
      for (const Step &step : alternative.steps)
        us += timeOf(step.kernel);
      if (alternative.kernel != kernel || &alternative == ships || us >= best)
        continue;
      other = &alternative;
      best = us;
    }
    if (!std::isfinite(best))
      continue;
    Forms &forms = programs.emplace_back();
    for (const Alternative *alternative : chosen)
      if (alternative != ships)
        forms.push_back(alternative);
    if (other)
      forms.push_back(other);
    Ablation &ablation = ablations.emplace_back();
    ablation.kernel = bundle.kernels[kernel].name;
    ablation.form = formOf(ships);
    ablation.other = formOf(other);
  }
  if (ablations.empty())
    return;
  Race race = racePrograms(programs);
  if (race.programs.empty())
    return;
  for (size_t i = 0; i < ablations.size(); ++i) {
    const ProgramTime &time = race.programs[i + 1];
    ablations[i].ratio = time.ratio;
    ablations[i].ratioLow = time.ratioLow;
    ablations[i].ratioHigh = time.ratioHigh;
  }
  result.ablations = std::move(ablations);
}

Race Tuner::raceLibraries(const Contender &standing,
                          const Contender &challenger,
                          std::optional<double> agreement) {
  Race race;
  for (const Contender *each : {&standing, &challenger}) {
    ProgramTime &entry = race.programs.emplace_back();
    entry.name = each->name;
    entry.steps = each->program.program.size();
    entry.workspaceBytes = each->program.workspaceBytes;
  }
  std::string why, arguments = describeArguments(bundle, why);
  if (!why.empty()) {
    std::printf("%-9s not timed: %s\n", challenger.name, why.c_str());
    return {};
  }
  if (agreement) {
    // Six decimals would round what is allowed in f32 to 0.
    char line[64];
    std::snprintf(line, sizeof(line), "agreement %.9g\n", *agreement);
    arguments += line;
  }
  if (!timeLibraries({standing.library, challenger.library}, arguments, race))
    return {};
  race.programs[race.programs[1].ratioHigh < 1 ? 1 : 0].ships = true;
  return race;
}

Race Tuner::raceGroupings(const fs::path &agents, const Bundle &rules,
                          const fs::path &rulesLibrary) {
  // The agent has to be faster.
  return raceLibraries({"rules", rules, rulesLibrary},
                       {"agent", shipped, agents});
}

/// Roundings of steps are independent, so their squares add up.
static double getAgreement(const Bundle &program) {
  double largest = 0;
  for (const Step &step : program.program)
    for (const Result &result : program.kernels[step.kernel].results)
      largest = std::max(largest, result.norm);
  return largest * std::sqrt(static_cast<double>(program.program.size()));
}

Race Tuner::raceFolded(const fs::path &library, const Bundle &folded,
                       const fs::path &foldedLibrary) {
  return raceLibraries({"apart", shipped, library},
                       {"folded", folded, foldedLibrary}, getAgreement(bundle));
}

void Tuner::chooseProgram(TuningResult &result) {
  setProgram({});
  if (bundle.alternatives.empty() || !measuresAlternatives())
    return;
  auto start = std::chrono::steady_clock::now();
  Forms forms = chooseByRace(result);
  if (options.ablate)
    ablate(forms, result);
  setProgram(forms);
  seconds.programs =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
}

} // namespace tuning
} // namespace fact
