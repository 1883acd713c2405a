//===- fact-tune.cpp - Tunes and links bundles ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the candidates of a bundle, verifies and times each in a process
// that may crash or hang, and links the winners into one library. Several
// bundles share compilers, compiled objects and the device.
//
//===----------------------------------------------------------------------===//

#include "CommandOptions.h"
#include "fact/Registry/EntryFile.h"
#include "fact/Support/ParentProcess.h"
#include "fact/Support/PathLock.h"
#include "fact/Support/WholeFile.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Files.h"
#include "fact/Tuning/Learn.h"
#include "fact/Tuning/LibraryWriter.h"
#include "fact/Tuning/Process.h"
#include "fact/Tuning/Progress.h"
#include "fact/Tuning/Tuner.h"
#include "fact/Tuning/Workshop.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

using namespace fact::tuning;

static void checkOnly(const Bundle &bundle, const Options &options) {
  if (options.only.empty())
    return;
  std::string names;
  for (const Kernel &kernel : bundle.kernels) {
    if (kernel.name == options.only)
      return;
    names += (names.empty() ? "" : ", ") + kernel.name;
  }
  throw Failure("--only: unknown kernel '" + options.only +
                "'; the bundle has " + names);
}

/// The version, "4.2.0", from CUTLASS's header; empty if it is not there.
static std::string readCutlassVersion(const std::filesystem::path &cutlass) {
  std::filesystem::path file = cutlass / "include/cutlass/version.h";
  if (!std::filesystem::exists(file))
    return "";
  std::string text = readFile(file), version;
  for (const char *part : {"MAJOR", "MINOR", "PATCH"}) {
    std::string name = std::string("#define CUTLASS_") + part + " ";
    size_t at = text.find(name);
    if (at == std::string::npos)
      return "";
    at += name.size();
    version += (version.empty() ? "" : ".") +
               text.substr(at, text.find_first_not_of("0123456789", at) - at);
  }
  return version;
}

/// Locates the bundle's `{cutlass}`, if it uses one.
static void locateCutlass(Bundle &bundle, const Options &options) {
  bool needed = false;
  for (const std::string &word : bundle.compile)
    needed |= word.find("{cutlass}") != std::string::npos;
  if (!needed)
    return;
  const char *variable = std::getenv("FACT_CUTLASS_DIR");
  bundle.cutlass = !options.cutlass.empty() ? options.cutlass
                   : variable               ? variable
                                            : "";
  if (bundle.cutlass.empty())
    throw Failure("the bundle's kernels include CUTLASS: name its tree with "
                  "--cutlass or FACT_CUTLASS_DIR");
  if (!std::filesystem::exists(bundle.cutlass / "include/cutlass/cutlass.h"))
    throw Failure("no include/cutlass/cutlass.h in '" +
                  bundle.cutlass.string() +
                  "'; --cutlass names the folder that has include/");
  if (std::string version = readCutlassVersion(bundle.cutlass);
      !version.empty())
    bundle.versions["cutlass"] = version;
}

/// Reports an output that cannot be written before minutes of tuning, not
/// after.
static void checkOutput(const Options &options) {
  if (options.output.empty())
    return;
  if (std::filesystem::is_directory(options.output))
    throw Failure("cannot write " + options.output.string() +
                  ": it is a folder; -o names the library's file");
  std::filesystem::path folder =
      std::filesystem::absolute(options.output).parent_path();
  createFolder(folder);
  if (int code = fact::probeFile(options.output))
    throw Failure("cannot write " + options.output.string() + ": " +
                  describeWriteError(code, options.output));
}

namespace {
/// The work on one bundle.
struct Work {
  std::filesystem::path path;
  fact::PathLock lock;
  Bundle bundle;
  std::unique_ptr<Tuner> tuner;
  TuningResult result;
  std::string error;
};

/// The work on all bundles.
class Run {
public:
  explicit Run(const CommandOptions &options)
      : options(options), onlyShows(options.list || options.dryRun),
        onlyCompiles(options.compileOnly || options.products),
        links(!onlyShows && !options.noLink && !onlyCompiles &&
              !options.probe && options.only.empty()) {}

  int run();

private:
  /// Does a stage of the work on each bundle that has not failed.
  void forEach(const std::function<void(Work &)> &stage);
  void fail(Work &work, const std::string &why);
  void open(Work &work);
  void runScheduler();
  void tune();
  void finish(Work &work);
  struct Beside;
  void compareWith(Work &work, const char *name, const char *description,
                   const std::function<bool(const Beside &)> &race);
  void compareWithRules(Work &work);
  void compareWithFolded(Work &work);
  void learn(const std::filesystem::path &bundle,
             const std::filesystem::path &report) const;
  void printSummary() const;
  Progress getProgress() const;

  const CommandOptions &options;
  bool onlyShows, onlyCompiles, links;
  ProgressDisplay display{[this] { return getProgress(); }};
  std::unique_ptr<Workshop> shop;
  std::vector<Work> works;
};
} // namespace

/// Why the last run failed, for reports. A run that begins removes it.
static std::filesystem::path failureFile(const Bundle &bundle) {
  return bundle.folder / "failure.json";
}

/// A folder that cannot be written is not worth a second error.
static void recordFailure(const Bundle &bundle, const std::string &why) {
  nlohmann::ordered_json json = {{"format", 1}, {"error", why}};
  // Messages of compilers may be of any encoding.
  auto replace = nlohmann::ordered_json::error_handler_t::replace;
  fact::writeWholeFile(failureFile(bundle),
                       json.dump(2, ' ', false, replace) + "\n");
}

void Run::fail(Work &work, const std::string &why) {
  work.error = why;
  // A bundle that was opened is locked.
  if (!onlyShows && !work.bundle.folder.empty())
    recordFailure(work.bundle, why);
  if (work.tuner)
    work.tuner->fail(why);
  std::fflush(stdout);
  std::string place = works.size() > 1 ? work.path.string() + ": " : "";
  std::fprintf(stderr, "fact-tune: error: %s%s\n", place.c_str(), why.c_str());
}

void Run::forEach(const std::function<void(Work &)> &stage) {
  for (Work &work : works) {
    if (!work.error.empty())
      continue;
    try {
      stage(work);
    } catch (const Interruption &) {
      throw;
    } catch (const std::exception &problem) {
      fail(work, problem.what());
    }
  }
}

void Run::open(Work &work) {
  // Locked before it is read: fact-compile may be about to replace it.
  if (!onlyShows && std::filesystem::is_directory(work.path))
    if (std::string error = work.lock.acquire(work.path, "fact-tune");
        !error.empty())
      throw Failure(error);
  work.bundle = readBundle(work.path);
  if (!onlyShows) {
    std::error_code ignored;
    std::filesystem::remove(failureFile(work.bundle), ignored);
  }
  locateCutlass(work.bundle, options);
  checkOnly(work.bundle, options);
  if (links)
    checkOutput(options);
}

/// The last bundle that fails ends the run of the scheduler.
void Run::runScheduler() {
  try {
    shop->scheduler.run();
  } catch (const Interruption &) {
    throw;
  } catch (const std::exception &problem) {
    shop->scheduler.clear();
    for (Work &work : works)
      if (work.tuner)
        work.tuner->fail(problem.what());
  }
  for (Work &work : works)
    if (work.error.empty() && !work.tuner->getFailure().empty())
      fail(work, work.tuner->getFailure());
}

void Run::tune() {
  if (onlyCompiles) {
    forEach([this](Work &work) {
      if (options.products)
        work.tuner->compileProducts();
      if (options.compileOnly)
        work.tuner->compileAll();
    });
    runScheduler();
    return;
  }
  forEach([](Work &work) { work.tuner->prepare(); });
  if (options.probe) {
    forEach([](Work &work) { work.tuner->probe(); });
    return;
  }
  forEach([](Work &work) { work.tuner->start(); });
  runScheduler();
  forEach([this](Work &work) { finish(work); });
}

void Run::finish(Work &work) {
  work.result = work.tuner->finish();
  std::filesystem::path report = work.bundle.folder / "tuning.json";
  auto writeReport = [&] {
    if (options.only.empty())
      writeFile(report, writeTuningReport(work.bundle, work.result),
                fact::Synchronize::Yes);
  };
  if (links) {
    work.tuner->compose(work.result);
    // What is linked has a report, whatever becomes of other programs.
    writeReport();
    compareWithRules(work);
    compareWithFolded(work);
  }
  writeReport();
  std::fputs(writeTable(work.result).c_str(), stdout);
  if (links)
    std::printf("\nlibrary   %s\nheader    %s\nreport    %s\n",
                work.result.library.c_str(), work.result.header.c_str(),
                report.c_str());
  learn(work.bundle.folder, report);
  std::fflush(stdout);
}

/// Another program of a bundle's model, tuned.
struct Run::Beside {
  Bundle bundle;
  TuningResult result;
};

/// Tunes the bundle of another program that lies in this one's folder, with the
/// measurements of this one; then `race` says whether its library ships.
void Run::compareWith(Work &work, const char *name, const char *description,
                      const std::function<bool(const Beside &)> &race) {
  std::filesystem::path folder = work.bundle.folder / name;
  if (options.untuned || options.noAlternatives ||
      !std::filesystem::exists(folder / "bundle.json"))
    return;
  Options own = options;
  own.bundles = {work.path, folder};
  own.output = folder / work.result.library.filename();
  if (own.database.empty())
    own.database = work.bundle.folder / "tuning.sqlite";
  try {
    Beside other;
    other.bundle = readBundle(folder);
    locateCutlass(other.bundle, options);
    ++shop->bundles;
    Tuner tuner(other.bundle, own, *shop);
    tuner.prepare();
    tuner.start();
    other.result = tuner.finish();
    tuner.compose(other.result);
    std::filesystem::path report = folder / "tuning.json";
    writeFile(report, writeTuningReport(other.bundle, other.result),
              fact::Synchronize::Yes);
    learn(folder, report);
    if (race(other))
      replaceLibrary(other.result.library, work.result.library);
  } catch (const Interruption &) {
    throw;
  } catch (const std::exception &problem) {
    std::fprintf(stderr, "fact-tune: warning: %s does not take part: %s\n",
                 description, problem.what());
  }
}

/// A bundle that an agent grouped has the rules' grouping of the same model
/// beside it: ships the rules' library unless the agent's is surely faster.
void Run::compareWithRules(Work &work) {
  compareWith(work, "rules", "the rules' grouping", [&](const Beside &rules) {
    Race &race = work.result.groupings;
    race = work.tuner->raceGroupings(work.result.library, rules.bundle,
                                     rules.result.library);
    return !race.programs.empty() && race.programs.front().ships;
  });
}

/// A bundle whose norms can be folded into products has that program beside it:
/// ships it if it is surely faster.
void Run::compareWithFolded(Work &work) {
  compareWith(work, "folded", "the program with folded norms",
              [&](const Beside &folded) {
                Race &race = work.result.folded;
                race = work.tuner->raceFolded(
                    work.result.library, folded.bundle, folded.result.library);
                return !race.programs.empty() && race.programs.back().ships;
              });
}

/// Adds what was measured to the user's registry, for the next compilation of
/// similar kernels. A registry that cannot be written is a warning: the library
/// is done.
void Run::learn(const std::filesystem::path &bundle,
                const std::filesystem::path &report) const {
  if (options.noLearn || options.untuned || !options.only.empty())
    return;
  std::filesystem::path folder = fact::registry::getUserFolder();
  if (folder.empty())
    return;
  std::string error;
  size_t entries = 0;
  try {
    fact::registry::LearnOptions learned;
    learned.results = report;
    // Slow schedules are not tried again either.
    learned.keep = std::max<size_t>(options.candidates, 12);
    std::vector<fact::registry::Entry> found =
        fact::registry::learn(bundle, learned);
    entries = found.size();
    error = fact::registry::addEntries(folder, found);
  } catch (const std::exception &problem) {
    error = problem.what();
  }
  if (error.empty())
    std::printf("learned   %zu entr%s in %s\n", entries,
                entries == 1 ? "y" : "ies", folder.c_str());
  else
    std::fprintf(stderr, "fact-tune: warning: nothing was learned: %s\n",
                 error.c_str());
}

Progress Run::getProgress() const {
  Progress progress;
  for (const Work &work : works)
    if (work.tuner && work.error.empty())
      progress += work.tuner->getProgress();
  return progress;
}

void Run::printSummary() const {
  ObjectCounts objects;
  for (const Work &work : works)
    if (work.tuner) {
      objects.compiled += work.tuner->getObjects().compiled;
      objects.cached += work.tuner->getObjects().cached;
    }
  std::printf(
      "objects   %zu compiled, %zu from %s\n", objects.compiled, objects.cached,
      shop->objects.isOn() ? shop->objects.getFolder().c_str() : "no folder");
  if (works.size() == 1)
    return;
  std::printf("\n%-40s %-7s %10s  %s\n", "bundle", "result", "us", "library");
  for (const Work &work : works) {
    double us = 0;
    for (const KernelResult &kernel : work.result.kernels)
      us += kernel.best().us;
    std::printf("%-40s %-7s %10.5g  %s\n", work.path.c_str(),
                work.error.empty() ? "ok" : "FAILED", us,
                work.error.empty()
                    ? work.result.library.c_str()
                    : work.error.substr(0, work.error.find('\n')).c_str());
  }
}

int Run::run() {
  std::set<std::filesystem::path> seen;
  for (const std::filesystem::path &path : options.bundles)
    if (!seen.insert(fact::resolvePath(path)).second)
      throw Failure("the bundle '" + path.string() + "' is given twice");
  // In a fixed order, so that two processes never wait for each other.
  works = std::vector<Work>(options.bundles.size());
  std::vector<std::filesystem::path> sorted = options.bundles;
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return fact::resolvePath(a) < fact::resolvePath(b);
  });
  for (size_t i = 0; i < works.size(); ++i)
    works[i].path = sorted[i];
  forEach([this](Work &work) { open(work); });
  bool anyCuda = false, anyHost = false;
  for (const Work &work : works)
    if (work.error.empty())
      (work.bundle.target.cuda ? anyCuda : anyHost) = true;
  shop = std::make_unique<Workshop>(
      onlyShows ? "" : findObjects(options.objects),
      options.jobs ? options.jobs : defaultJobs(anyCuda),
      /*measureAlone=*/anyHost);
  shop->scheduler.setObserver(&display);
  if (onlyCompiles && !shop->objects.isOn())
    throw Failure("--compile-only and --products have no folder for their "
                  "objects: name one with --objects");
  shop->bundles = 0;
  installInterruptHandlers();
  forEach([this](Work &work) {
    work.tuner = std::make_unique<Tuner>(work.bundle, options, *shop);
    ++shop->bundles;
  });
  if (onlyShows) {
    forEach([](Work &work) { work.tuner->show(); });
  } else {
    tune();
    printSummary();
    shop->objects.trim();
  }
  return std::any_of(works.begin(), works.end(),
                     [](const Work &work) { return !work.error.empty(); });
}

int main(int argc, char **argv) {
  // Hides the key of the compiler's language model from compilers, launchers
  // and kernels. Comes first, before another thread reads the environment.
  unsetenv("FACT_LLM_KEY");
  fact::endWithParent();
  try {
    CommandOptions options = parseOptions(argc, argv);
    return Run(options).run();
  } catch (const std::exception &problem) {
    std::fflush(stdout);
    std::fprintf(stderr, "fact-tune: error: %s\n", problem.what());
    return 1;
  }
}
