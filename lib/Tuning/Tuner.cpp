//===- Tuner.cpp - From a bundle to measured winners ----------------------===//

#include "fact/Tuning/Tuner.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <sched.h>
#include <sstream>
#include <sys/file.h>
#include <unistd.h>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The search of one kernel.
struct Tuner::Search {
  KernelResult result;
  /// Positions of candidates, best predicted time first.
  std::vector<size_t> ranking;
  size_t next = 0;
  size_t pending = 0;
  enum { NotBuilt, Building, Ready, Broken } reference = NotBuilt;
  /// Built candidates that wait for the reference.
  std::vector<size_t> waiting;
  std::map<size_t, double> compileSeconds;
  std::map<size_t, std::string> spills;
  bool spillsTried = false;
  /// Why the kernel itself, rather than a candidate, is bad.
  std::string error;

  const Kernel &kernel() const { return *result.kernel; }
};

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

/// One compile of a CUTLASS kernel takes 3 to 4 GB.
static unsigned defaultJobs(bool cuda) {
  cpu_set_t allowed;
  long processors = sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                        ? CPU_COUNT(&allowed)
                        : sysconf(_SC_NPROCESSORS_ONLN);
  if (cuda) {
    double gigabytes = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
                       static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e9;
    // One processor is left for the measurements that run beside.
    processors = std::min(processors - 1, static_cast<long>(gigabytes / 4));
  }
  return static_cast<unsigned>(std::max(1l, processors));
}

Tuner::Tuner(const Bundle &bundle, const Options &options)
    : bundle(bundle), options(options), build(bundle.folder / "build"),
      workerPath(build / "worker"),
      jobs(options.jobs ? options.jobs : defaultJobs(bundle.cuda)) {
  createFolder(build);
  fs::path lockPath = build / "lock";
  lock = open(lockPath.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0)
    throw Failure("cannot open " + lockPath.string() + ": " +
                  std::strerror(errno));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0)
    throw Failure("another fact-tune works on " + bundle.folder.string() +
                  "; wait for it or end it");
  database = std::make_unique<Database>(
      options.database.empty() ? bundle.folder / "tuning.sqlite"
                               : options.database);
  headersHash = ContentHash()
                    .addFolder(bundle.folder / "include")
                    .add(bundle.versions.dump())
                    .text();
}

Tuner::~Tuner() {
  scheduler.reset();
  if (lock >= 0)
    close(lock);
}

fs::path Tuner::buildFolder(const Kernel &kernel) const {
  return build / kernel.name;
}
fs::path Tuner::objectOf(const Kernel &kernel, size_t index) const {
  const Candidate &candidate = kernel.candidates[index];
  return candidate.object.empty()
             ? buildFolder(kernel) / (std::to_string(index) + ".o")
             : candidate.object;
}
fs::path Tuner::libraryOf(const Kernel &kernel, size_t index) const {
  return buildFolder(kernel) / (std::to_string(index) + ".so");
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// What every source of a library needs, whatever the bundle's command says.
Words Tuner::compileFlags(bool candidate) const {
  Words flags = {"-I" + (bundle.folder / "include").string()};
  if (!bundle.cuda) {
    flags.push_back("-fPIC");
    return flags;
  }
  flags.insert(flags.end(), {"-Xcompiler", "-fPIC"});
  bool verbose =
      std::any_of(bundle.compile.begin(), bundle.compile.end(),
                  [](const std::string &word) { return contains(word, "ptxas"); });
  if (candidate && !verbose)
    flags.insert(flags.end(), {"-Xptxas", "-v"});
  return flags;
}

Command Tuner::compileCommand(const KernelSource &kernel,
                              const fs::path &output, const fs::path &log,
                              bool candidate) const {
  Words flags = compileFlags(candidate);
  flags.insert(flags.end(), kernel.flags.begin(), kernel.flags.end());
  Command command;
  command.words = options.launcher;
  Words words =
      bundle.expand(bundle.compile, kernel.source, {}, flags, {}, output);
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.log = log;
  command.timeoutSeconds = options.compileTimeout;
  return command;
}

Command Tuner::linkCommand(const Words &inputs, const Words &link,
                           const fs::path &output, const fs::path &log) const {
  Command command;
  command.words = bundle.expand(bundle.link, {}, inputs, {}, link, output);
  command.log = log;
  command.timeoutSeconds = options.compileTimeout;
  return command;
}

/// Identifies what a kernel's object and library were built from. Knows no
/// path, so a moved or copied bundle keeps its results.
std::string Tuner::stampOf(const KernelSource &kernel) const {
  ContentHash hash;
  hash.add(headersHash).add(compiler);
  hash.add(readFile(kernel.source.empty() ? kernel.object : kernel.source));
  for (const Words *words :
       {&kernel.flags, &kernel.link, &bundle.compile, &bundle.link}) {
    hash.add(std::to_string(words->size()));
    for (const std::string &word : *words)
      hash.add(word);
  }
  return hash.text();
}

static bool isFresh(const fs::path &stamp, const std::string &expected,
                    std::initializer_list<fs::path> files) {
  std::error_code code;
  for (const fs::path &file : files)
    if (!fs::is_regular_file(file, code))
      return false;
  return fs::is_regular_file(stamp, code) && readFile(stamp) == expected;
}

static std::string readLog(const fs::path &log) {
  std::error_code code;
  return fs::is_regular_file(log, code) ? readFile(log) : "";
}

/// The line of a compiler's log that says most.
static std::string mainMessage(const fs::path &log) {
  std::istringstream lines(readLog(log));
  std::string line, last, error;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '$')
      continue;
    last = line;
    if (error.empty() && (contains(line, "error") || contains(line, "undefined")))
      error = line;
  }
  std::string message = error.empty() ? last : error;
  return message.size() > 300 ? message.substr(0, 297) + "..." : message;
}

/// Conditions that are no candidate's fault stop the run.
static void checkEnvironment(const Command &command, const Outcome &outcome) {
  if (outcome.kind == Outcome::NotStarted)
    throw Failure("cannot run '" + command.words[0] + "': " + outcome.text() +
                  "; install it or put it on PATH (the bundle's commands, or "
                  "--launcher, name it)");
  if (!outcome.succeeded() &&
      contains(readLog(command.log), "No space left on device"))
    throw Failure("no space left on the device while running\n  " +
                  command.text() +
                  "\nfree some space (in the bundle's build/ or in TMPDIR) and "
                  "run the same command again: finished work is kept");
}

std::string findSpills(const std::string &log) {
  std::istringstream lines(log);
  std::string line;
  while (std::getline(lines, line)) {
    if (contains(line, "C7510") || contains(line, "C7511"))
      return line;
    size_t at = line.find(" bytes spill stores");
    if (at == std::string::npos)
      continue;
    int stack = 0, stores = 0, loads = 0;
    size_t begin = line.find_first_not_of(" \t");
    if (std::sscanf(line.c_str() + begin,
                    "%d bytes stack frame, %d bytes spill stores, %d bytes "
                    "spill loads",
                    &stack, &stores, &loads) == 3 &&
        stores + loads > 0)
      return line.substr(begin);
  }
  return "";
}

std::string Tuner::findCompiler() {
  Command command;
  command.words =
      bundle.expand({bundle.compile[0], "--version"}, {}, {}, {}, {}, {});
  command.captureOutput = true;
  command.timeoutSeconds = 60;
  Outcome outcome = runCommand(command);
  checkEnvironment(command, outcome);
  if (!outcome.succeeded())
    throw Failure("'" + command.text() + "' ended with " + outcome.text());
  std::istringstream lines(outcome.output);
  std::string line, text;
  while (std::getline(lines, line))
    if (!line.empty() && !contains(line, "InstalledDir") &&
        !contains(line, "Copyright"))
      text += (text.empty() ? "" : "; ") + line;
  return text;
}

//===----------------------------------------------------------------------===//
// The worker
//===----------------------------------------------------------------------===//

std::vector<std::string> workerSources(bool cuda) {
  if (cuda)
    return {"Worker.cpp", "CudaDevice.cu", "CudaMeasure.cu"};
  return {"Worker.cpp", "HostDevice.cpp", "HostMeasure.cpp", "ThreadPool.cpp"};
}

std::vector<std::string> librarySources(bool cuda) {
  if (cuda)
    return {"Library.cpp", "CudaDevice.cu"};
  return {"Library.cpp", "HostDevice.cpp", "ThreadPool.cpp"};
}

static std::vector<fs::path> runtimePaths(const Bundle &bundle,
                                          const std::vector<std::string> &names) {
  std::vector<fs::path> paths;
  for (const std::string &name : names) {
    paths.push_back(bundle.folder / "runtime" / name);
    if (!fs::is_regular_file(paths.back()))
      throw Failure("the bundle has no runtime/" + name +
                    "; compile the model again");
  }
  return paths;
}

/// Where objects of the runtime are kept across bundles, by content; empty when
/// the environment names no home.
static fs::path objectCache() {
  auto folder = [](const char *name) -> fs::path {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  if (fs::path cache = folder("FACT_CACHE_DIR"); !cache.empty())
    return cache / "objects";
  if (fs::path cache = folder("XDG_CACHE_HOME"); !cache.empty())
    return cache / "fact" / "objects";
  fs::path home = folder("HOME");
  return home.empty() ? home : home / ".cache" / "fact" / "objects";
}

/// Copies whole or not at all. A cache that cannot be used is no error.
static bool copyAside(const fs::path &from, const fs::path &to) {
  std::error_code code;
  fs::create_directories(to.parent_path(), code);
  fs::path aside = to;
  aside += "." + std::to_string(::getpid());
  if (!fs::copy_file(from, aside, fs::copy_options::overwrite_existing, code))
    return false;
  fs::rename(aside, to, code);
  return !code;
}

/// Compiles what is not there yet; objects are shared by worker and library,
/// and by bundles.
std::vector<std::string>
Tuner::buildRuntimeObjects(const std::vector<fs::path> &sources,
                           const char *what) {
  createFolder(build / "runtime");
  std::vector<std::string> objects;
  Scheduler compiles(jobs, false);
  for (const fs::path &source : sources) {
    fs::path base = build / "runtime" / source.filename();
    fs::path object = base, aside = base, stamp = base, log = base;
    object += ".o";
    aside += ".partial.o";
    stamp += ".stamp";
    log += ".log";
    objects.push_back(object.string());
    KernelSource unit;
    unit.source = source;
    std::string expected = stampOf(unit);
    if (isFresh(stamp, expected, {object}))
      continue;
    fs::path cached = objectCache();
    if (!cached.empty()) {
      cached /= expected + ".o";
      if (fs::exists(cached) && copyAside(cached, object)) {
        writeFile(stamp, expected);
        continue;
      }
    }
    Command command = compileCommand(unit, aside, log, false);
    // --compile-timeout is about candidates; nothing goes on without this.
    command.timeoutSeconds = std::max(600.0, options.compileTimeout);
    writeFile(log, "$ " + command.text() + "\n");
    compiles.build(command, [=](const Outcome &outcome) {
      checkEnvironment(command, outcome);
      if (!outcome.succeeded())
        throw Failure(std::string(what) + " does not compile (" +
                      outcome.text() + "): " + mainMessage(log) +
                      "\n  the compiler's messages are in " + log.string());
      fs::rename(aside, object);
      writeFile(stamp, expected);
      if (!cached.empty())
        copyAside(object, cached);
    });
  }
  compiles.run();
  return objects;
}

void Tuner::buildWorker() {
  Words objects = buildRuntimeObjects(
      runtimePaths(bundle, workerSources(bundle.cuda)), "the measuring worker");
  ContentHash hash;
  for (const std::string &object : objects)
    hash.add(readFile(object + std::string()));
  fs::path aside = build / "worker.partial";
  Command command;
  command.words = bundle.expand(bundle.linkProgram, {}, objects, {},
                                {"-lpthread", "-ldl"}, aside);
  command.log = build / "worker.log";
  std::string expected = hash.add(command.text()).text();
  if (isFresh(build / "worker.stamp", expected, {workerPath}))
    return;
  writeFile(command.log, "$ " + command.text() + "\n");
  Outcome outcome = runCommand(command);
  checkEnvironment(command, outcome);
  if (!outcome.succeeded())
    throw Failure("the measuring worker does not link (" + outcome.text() +
                  "): " + mainMessage(command.log) +
                  "\n  the linker's messages are in " + command.log.string());
  fs::rename(aside, workerPath);
  writeFile(build / "worker.stamp", expected);
}

/// The last JSON line of a worker, and the phase before it.
struct WorkerReport {
  std::string phase = "start";
  std::string status, detail;
  nlohmann::json values;
};

static WorkerReport parseReport(const std::string &output) {
  WorkerReport report;
  std::istringstream lines(output);
  std::string line;
  while (std::getline(lines, line)) {
    nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("phase"))
      continue;
    std::string phase = json.value("phase", "");
    if (phase != "done") {
      report.phase = phase;
      continue;
    }
    report.status = json.value("status", "");
    report.detail = json.value("detail", "");
    report.values = json;
  }
  return report;
}

std::string Tuner::askMachine() {
  Command command;
  command.words = options.runLauncher;
  command.words.insert(command.words.end(), {workerPath.string(), "--machine"});
  command.captureOutput = true;
  command.log = build / "machine.log";
  command.timeoutSeconds = options.runTimeout;
  writeFile(command.log, "$ " + command.text() + "\n");
  Outcome outcome = runCommand(command);
  checkEnvironment(command, outcome);
  WorkerReport report = parseReport(outcome.output);
  if (report.status != "ok")
    throw Failure("the measuring worker cannot use this machine: " +
                  (report.detail.empty() ? outcome.text() : report.detail) +
                  "\n  run fact-tune where the model will run" +
                  (bundle.cuda ? ", with a CUDA device and its driver" : ""));
  return report.values.value("machine", "");
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

AttemptKey Tuner::keyOf(const Kernel &kernel,
                        const Candidate &candidate) const {
  AttemptKey key;
  key.kernelHash = kernel.hash;
  key.candidate = candidate.key;
  key.candidateHash = stampOf(candidate);
  key.machine = machine;
  key.compiler = compiler;
  return key;
}

static void progress(const Kernel &kernel, const std::string &what,
                     const std::string &text) {
  std::printf("%-28s %-12s %s\n", kernel.name.c_str(), what.c_str(),
              text.c_str());
  std::fflush(stdout);
}

static std::string format(const char *pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, value);
  return text;
}

/// Positions of the candidates, best predicted time first.
static std::vector<size_t> rank(const Kernel &kernel) {
  std::vector<size_t> ranking(kernel.candidates.size());
  std::iota(ranking.begin(), ranking.end(), 0);
  std::sort(ranking.begin(), ranking.end(), [&](size_t a, size_t b) {
    return std::make_pair(kernel.candidates[a].predictedUs, a) <
           std::make_pair(kernel.candidates[b].predictedUs, b);
  });
  return ranking;
}

TuningResult Tuner::tune() {
  Clock::time_point begin = Clock::now();
  compiler = findCompiler();
  buildWorker();
  machine = askMachine();
  seconds.worker = secondsSince(begin);
  std::printf("machine   %s\ncompiler  %s\n", machine.c_str(),
              compiler.c_str());

  Clock::time_point searchBegin = Clock::now();
  scheduler = std::make_unique<Scheduler>(jobs, /*measureAlone=*/!bundle.cuda);
  for (const Kernel &kernel : bundle.kernels) {
    bool wanted = options.only.empty() ? kernel.used
                                       : kernel.name == options.only;
    if (!wanted)
      continue;
    searches.push_back(std::make_unique<Search>());
    Search &search = *searches.back();
    search.result.kernel = &kernel;
    search.result.attempts.resize(kernel.candidates.size());
    search.result.reused.resize(kernel.candidates.size());
    search.ranking = rank(kernel);
    createFolder(buildFolder(kernel));
  }
  for (auto &search : searches)
    tryNext(*search);
  scheduler->run();

  bool failed = false;
  for (auto &search : searches) {
    chooseWinner(*search);
    failed = failed || search->result.winner < 0;
  }
  if (failed)
    reportFailures();
  ensureWinnerObjects();
  seconds.compileAndMeasure = secondsSince(searchBegin);

  TuningResult result;
  result.machine = machine;
  result.compiler = compiler;
  for (auto &search : searches)
    result.kernels.push_back(search->result);
  seconds.total = secondsSince(begin);
  result.seconds = seconds;
  return result;
}

void Tuner::show() {
  compiler = findCompiler();
  for (const Kernel &kernel : bundle.kernels) {
    if (!options.only.empty() && kernel.name != options.only)
      continue;
    std::vector<size_t> ranking = rank(kernel);
    std::printf("%s  %s  %.4g us at the speed of light, %zu candidates%s\n",
                kernel.name.c_str(), kernel.rule.c_str(), kernel.solUs,
                ranking.size(), kernel.used ? "" : ", not used");
    if (options.dryRun)
      ranking.resize(std::min(ranking.size(), options.candidates));
    for (size_t index : ranking) {
      const Candidate &candidate = kernel.candidates[index];
      // Results of any machine.
      std::optional<Attempt> known = database->find(keyOf(kernel, candidate));
      std::string result = "not tried";
      if (known)
        result = known->status == "ok" ? format("%.4g us", known->us)
                                       : known->status;
      std::printf("  #%-3zu %-12s %s\n", index, result.c_str(),
                  candidate.key.c_str());
      if (options.dryRun && !candidate.source.empty())
        std::printf("       %s\n",
                    compileCommand(candidate, objectOf(kernel, index), "", true)
                        .text()
                        .c_str());
    }
  }
}

/// Starts the next batch; the first is usually the only one.
void Tuner::tryNext(Search &search) {
  size_t end = std::min(search.ranking.size(),
                        search.next + std::max<size_t>(1, options.candidates));
  std::vector<size_t> batch(search.ranking.begin() + search.next,
                            search.ranking.begin() + end);
  search.next = end;
  search.pending += batch.size();
  for (size_t index : batch)
    tryCandidate(search, index);
}

void Tuner::tryCandidate(Search &search, size_t index) {
  const Candidate &candidate = search.kernel().candidates[index];
  if (!options.retune) {
    std::optional<Attempt> known =
        database->find(keyOf(search.kernel(), candidate));
    if (known && !known->transient) {
      if (known->status == "spills")
        search.spills[index] = known->detail;
      finishAttempt(search, index, *known, /*reused=*/true);
      return;
    }
  }
  if (search.reference == Search::NotBuilt)
    buildReference(search);
  buildCandidate(search, index);
}

void Tuner::buildReference(Search &search) {
  const Kernel &kernel = search.kernel();
  fs::path folder = buildFolder(kernel);
  fs::path object = kernel.reference.object.empty() ? folder / "reference.o"
                                                    : kernel.reference.object;
  fs::path library = folder / "reference.so";
  fs::path stamp = folder / "reference.stamp";
  fs::path log = folder / "reference.log";
  std::string expected = stampOf(kernel.reference);
  auto ready = [this, &search] {
    search.reference = Search::Ready;
    for (size_t index : std::exchange(search.waiting, {}))
      measureCandidate(search, index);
  };
  if (isFresh(stamp, expected, {object, library})) {
    ready();
    return;
  }
  search.reference = Search::Building;
  auto broken = [&search, log](const Command &command,
                                     const Outcome &outcome) {
    checkEnvironment(command, outcome);
    search.reference = Search::Broken;
    search.error = "its reference does not build (" + outcome.text() +
                   "): " + mainMessage(log) + "\n      see " + log.string();
    progress(search.kernel(), "reference", "FAILED: " + mainMessage(log));
    for (size_t index : std::exchange(search.waiting, {})) {
      (void)index;
      --search.pending;
    }
  };
  auto linkIt = [=, &search] {
    fs::path aside = folder / "reference.partial.so";
    Command command = linkCommand({object.string()},
                                  search.kernel().reference.link, aside, log);
    scheduler->build(command, [=, &search](const Outcome &outcome) {
      if (!outcome.succeeded()) {
        broken(command, outcome);
        return;
      }
      fs::rename(aside, library);
      writeFile(stamp, expected);
      ready();
      (void)search;
    });
  };
  writeFile(log, "");
  if (kernel.reference.source.empty()) {
    linkIt();
    return;
  }
  fs::path aside = folder / "reference.partial.o";
  Command command = compileCommand(kernel.reference, aside, log, false);
  writeFile(log, "$ " + command.text() + "\n");
  scheduler->build(command, [=](const Outcome &outcome) {
    if (!outcome.succeeded()) {
      broken(command, outcome);
      return;
    }
    fs::rename(aside, object);
    linkIt();
  });
}

void Tuner::buildCandidate(Search &search, size_t index) {
  const Kernel &kernel = search.kernel();
  const Candidate &candidate = kernel.candidates[index];
  fs::path folder = buildFolder(kernel);
  fs::path log = folder / (std::to_string(index) + ".log");
  fs::path stamp = folder / (std::to_string(index) + ".stamp");
  fs::path object = objectOf(kernel, index);
  if (isFresh(stamp, stampOf(candidate), {object, libraryOf(kernel, index)})) {
    finishBuild(search, index);
    return;
  }
  std::error_code ignored;
  fs::remove(stamp, ignored);
  if (candidate.source.empty()) {
    writeFile(log, "");
    linkCandidate(search, index, 0);
    return;
  }
  fs::path aside = folder / (std::to_string(index) + ".partial.o");
  Command command = compileCommand(candidate, aside, log, true);
  writeFile(log, "$ " + command.text() + "\n");
  scheduler->build(command, [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    Attempt attempt;
    attempt.log = log.string();
    attempt.compileSeconds = outcome.seconds;
    if (outcome.kind == Outcome::TimedOut) {
      attempt.status = "compile_timeout";
      attempt.detail = outcome.text();
    } else if (outcome.kind == Outcome::Signalled) {
      attempt.status = "compile_error";
      attempt.detail = "the compiler was ended by " + outcome.text() +
                       "; too many --jobs for this machine's memory?";
      attempt.transient = true;
    } else if (!outcome.succeeded()) {
      attempt.status = "compile_error";
      attempt.detail = mainMessage(log);
      // nvcc reports a killed child by its own exit status.
      attempt.transient = contains(readLog(log), "Killed") ||
                          contains(readLog(log), "died due to signal 9");
    }
    if (!attempt.status.empty()) {
      std::error_code absent;
      fs::remove(aside, absent);
      finishAttempt(search, index, attempt);
      return;
    }
    fs::rename(aside, object);
    progress(search.kernel(), "compiled #" + std::to_string(index),
             format("%.1f s", outcome.seconds));
    linkCandidate(search, index, outcome.seconds);
  });
}

void Tuner::linkCandidate(Search &search, size_t index,
                          double compileSeconds) {
  const Kernel &kernel = search.kernel();
  const Candidate &candidate = kernel.candidates[index];
  fs::path folder = buildFolder(kernel);
  fs::path log = folder / (std::to_string(index) + ".log");
  fs::path aside = folder / (std::to_string(index) + ".partial.so");
  fs::path library = libraryOf(kernel, index);
  fs::path stamp = folder / (std::to_string(index) + ".stamp");
  search.compileSeconds[index] = compileSeconds;
  Command command = linkCommand({objectOf(kernel, index).string()},
                                candidate.link, aside, log);
  scheduler->build(command, [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    if (!outcome.succeeded()) {
      Attempt attempt;
      attempt.log = log.string();
      attempt.compileSeconds = compileSeconds;
      attempt.status = "link_error";
      attempt.detail = outcome.kind == Outcome::Exited ? mainMessage(log)
                                                       : outcome.text();
      finishAttempt(search, index, attempt);
      return;
    }
    fs::rename(aside, library);
    writeFile(stamp, stampOf(search.kernel().candidates[index]));
    finishBuild(search, index);
  });
}

void Tuner::finishBuild(Search &search, size_t index) {
  fs::path log = buildFolder(search.kernel()) / (std::to_string(index) + ".log");
  std::string spills = findSpills(readLog(log));
  if (!spills.empty() && !search.spillsTried) {
    search.spills[index] = spills;
    Attempt attempt;
    attempt.log = log.string();
    attempt.compileSeconds = search.compileSeconds[index];
    attempt.status = "spills";
    attempt.detail = spills;
    finishAttempt(search, index, attempt);
    return;
  }
  if (search.reference == Search::Ready)
    measureCandidate(search, index);
  else if (search.reference == Search::Broken)
    --search.pending;
  else
    search.waiting.push_back(index);
}

/// The worker's job file; see Worker.cpp.
static std::string jobText(const Kernel &kernel, const Candidate &candidate,
                           const fs::path &reference, const fs::path &library) {
  std::ostringstream text;
  text.precision(17);
  auto shape = [&](const Tensor &tensor) {
    text << " shape";
    for (int64_t extent : tensor.shape)
      text << ' ' << extent;
    text << '\n';
  };
  text << "reference " << kernel.reference.symbol << ' ' << reference.string()
       << "\ncandidate " << candidate.symbol << ' ' << library.string() << '\n';
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand &operand = kernel.operands[i];
    text << "operand " << runtime::nameOf(operand.type)
         << (kernel.fixedOperands[i] ? " fixed" : " fresh");
    if (operand.uniform)
      text << " uniform " << operand.low << ' ' << operand.high;
    else
      text << " normal " << operand.scale;
    shape(operand);
  }
  for (size_t i = 0; i < kernel.results.size(); ++i) {
    text << "result " << runtime::nameOf(kernel.results[i].type) << ' '
         << runtime::nameOf(kernel.referenceType(i));
    shape(kernel.results[i]);
  }
  text << "tolerance " << kernel.normTolerance << ' ' << kernel.elementTolerance
       << ' ' << kernel.mismatchTolerance << "\ntrials 3\nseconds 0.2\n";
  return text.str();
}

void Tuner::measureCandidate(Search &search, size_t index) {
  const Kernel &kernel = search.kernel();
  fs::path folder = buildFolder(kernel);
  std::string number = std::to_string(index);
  fs::path job = folder / (number + ".job");
  writeFile(job, jobText(kernel, kernel.candidates[index],
                         folder / "reference.so", libraryOf(kernel, index)));
  Command command;
  command.words = options.runLauncher;
  command.words.insert(command.words.end(),
                       {workerPath.string(), job.string()});
  command.captureOutput = true;
  command.log = folder / (number + ".run.log");
  command.timeoutSeconds = options.runTimeout;
  writeFile(command.log, "$ " + command.text() + "\n");
  fs::path log = command.log;
  scheduler->measure(command, [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    judge(search, index, outcome, log);
  }, [&search] { return search.reference == Search::Broken; });
}

/// What the worker did before each report.
static std::string activityAfter(const std::string &phase) {
  if (phase == "reference")
    return "while loading";
  if (phase == "loaded")
    return "while verifying";
  if (phase == "verified")
    return "while timing";
  return "after timing";
}

void Tuner::judge(Search &search, size_t index, const Outcome &outcome,
                  const fs::path &log) {
  const Kernel &kernel = search.kernel();
  WorkerReport report = parseReport(outcome.output);
  Attempt attempt;
  attempt.log = log.string();
  attempt.compileSeconds = search.compileSeconds[index];
  attempt.measureSeconds = outcome.seconds;
  if (report.status.empty()) {
    bool hang = outcome.kind == Outcome::TimedOut;
    report.status = report.phase == "start" ? "reference_error"
                    : hang                  ? "hang"
                                            : "crash";
    report.detail = outcome.text() + " " +
                    (report.phase == "start" ? "while running the reference"
                                             : activityAfter(report.phase));
  }
  if (report.status == "worker_error")
    throw Failure("the measuring worker failed on kernel '" + kernel.name +
                  "': " + report.detail + "\n  reproduce with: " +
                  workerPath.string() + " " +
                  (buildFolder(kernel) / (std::to_string(index) + ".job"))
                      .string());
  if (report.status == "reference_error") {
    if (search.error.empty())
      search.error = "its reference fails: " + report.detail + "\n      see " +
                     log.string();
    progress(kernel, "reference", "FAILED: " + report.detail);
    search.reference = Search::Broken;
    --search.pending;
    return;
  }
  attempt.status = report.status;
  attempt.detail = report.detail;
  if (attempt.status == "ok") {
    attempt.us = report.values.value("us", 0.0);
    attempt.usLow = report.values.value("us_low", 0.0);
    attempt.usHigh = report.values.value("us_high", 0.0);
    attempt.runs = report.values.value("runs", 0);
    attempt.normError = report.values.value("norm_error", 0.0);
    attempt.elementError = report.values.value("element_error", 0.0);
    if (search.spills.count(index))
      attempt.detail = search.spills[index];
    if (attempt.us < 0.9 * kernel.solUs) {
      attempt.status = "too_fast";
      attempt.detail = format("%.4g us is more than 10%% faster", attempt.us) +
                       format(" than the speed of light, %.4g us",
                              kernel.solUs);
    }
  }
  finishAttempt(search, index, attempt);
}

void Tuner::finishAttempt(Search &search, size_t index, Attempt attempt,
                          bool reused) {
  const Kernel &kernel = search.kernel();
  attempt.kernel = kernel.name;
  if (!reused)
    database->record(keyOf(kernel, kernel.candidates[index]), attempt);
  std::string text = attempt.status;
  if (attempt.status == "ok") {
    text = format("%.4g us", attempt.us);
    if (kernel.solUs > 0 && attempt.us > 0)
      text += format(" (%.1f%% of the speed of light)",
                     100 * kernel.solUs / attempt.us);
  } else
    text += ": " + attempt.detail;
  progress(kernel, (reused ? "known #" : "tried #") + std::to_string(index),
           text);
  search.result.attempts[index] = std::move(attempt);
  search.result.reused[index] = reused;
  --search.pending;
  if (search.pending == 0)
    conclude(search);
}

/// A batch is done. With nothing to show for it, the next one; after the last,
/// what spilled is better than nothing.
void Tuner::conclude(Search &search) {
  for (const std::optional<Attempt> &attempt : search.result.attempts)
    if (attempt && attempt->status == "ok")
      return;
  if (search.reference == Search::Broken)
    return;
  if (search.next < search.ranking.size()) {
    tryNext(search);
    return;
  }
  if (search.spills.empty() || search.spillsTried)
    return;
  search.spillsTried = true;
  search.pending = search.spills.size();
  if (search.reference == Search::NotBuilt)
    buildReference(search);
  for (const auto &entry : search.spills)
    buildCandidate(search, entry.first);
}

void Tuner::chooseWinner(Search &search) {
  if (!search.error.empty())
    return;
  KernelResult &result = search.result;
  for (size_t i = 0; i < result.attempts.size(); ++i) {
    const std::optional<Attempt> &attempt = result.attempts[i];
    if (attempt && attempt->status == "ok" &&
        (result.winner < 0 || attempt->us < result.best().us))
      result.winner = static_cast<int>(i);
  }
}

/// A result from an earlier run may have outlived its object.
void Tuner::ensureWinnerObjects() {
  if (options.noLink || !options.only.empty())
    return;
  Scheduler compiles(jobs, false);
  for (auto &each : searches) {
    const Kernel &kernel = each->kernel();
    size_t index = static_cast<size_t>(each->result.winner);
    const Candidate &candidate = kernel.candidates[index];
    fs::path folder = buildFolder(kernel);
    fs::path stamp = folder / (std::to_string(index) + ".stamp");
    fs::path object = objectOf(kernel, index);
    if (candidate.source.empty() ||
        isFresh(stamp, stampOf(candidate), {object}))
      continue;
    fs::path aside = folder / (std::to_string(index) + ".partial.o");
    fs::path log = folder / (std::to_string(index) + ".log");
    std::error_code absent;
    fs::remove(stamp, absent);
    fs::remove(libraryOf(kernel, index), absent);
    std::string expected = stampOf(candidate);
    Command command = compileCommand(candidate, aside, log, true);
    writeFile(log, "$ " + command.text() + "\n");
    compiles.build(command, [=, &kernel](const Outcome &outcome) {
      checkEnvironment(command, outcome);
      if (!outcome.succeeded())
        throw Failure("the winner of kernel '" + kernel.name +
                      "' no longer compiles: " + mainMessage(log) + "\n  see " +
                      log.string() + ", or run again with --retune");
      fs::rename(aside, object);
      writeFile(stamp, expected);
      progress(kernel, "compiled #" + std::to_string(index),
               format("%.1f s", outcome.seconds));
    });
  }
  compiles.run();
}

void Tuner::reportFailures() {
  std::string message;
  for (auto &each : searches) {
    const KernelResult &result = each->result;
    if (result.winner >= 0)
      continue;
    message += (message.empty() ? "" : "\n") + std::string("kernel '") +
               result.kernel->name + "' ";
    if (!each->error.empty()) {
      message += "cannot be verified: " + each->error;
      continue;
    }
    message += "has no candidate left:";
    bool allTooFast = true;
    for (size_t i = 0; i < result.attempts.size(); ++i) {
      const std::optional<Attempt> &attempt = result.attempts[i];
      if (!attempt)
        continue;
      allTooFast = allTooFast && attempt->status == "too_fast";
      message += "\n  #" + std::to_string(i) + " " +
                 result.kernel->candidates[i].key + "\n      " +
                 attempt->status + ": " + attempt->detail + "\n      see " +
                 attempt->log;
    }
    if (allTooFast)
      message += "\n  every one beats the speed of light: the machine "
                 "description the model was compiled for (" +
                 bundle.target.dump() + ") is not this machine";
  }
  throw Failure(message);
}

} // namespace tuning
} // namespace fact
