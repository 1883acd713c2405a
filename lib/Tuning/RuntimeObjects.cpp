//===- RuntimeObjects.cpp - The runtime, compiled, and the worker ---------===//

#include "Search.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

static std::vector<std::string>
withDevice(std::vector<std::string> names,
           std::initializer_list<const char *> device) {
  names.insert(names.end(), device.begin(), device.end());
  return names;
}

std::vector<std::string> workerSources(bool cuda) {
  std::vector<std::string> names = {"Verification.cpp", "Worker.cpp",
                                    "WorkerJob.cpp", "WorkerReport.cpp"};
  return cuda ? withDevice(names, {"CudaDevice.cu", "CudaMeasure.cu"})
              : withDevice(names, {"HostDevice.cpp", "HostMeasure.cpp",
                                   "ThreadPool.cpp"});
}

std::vector<std::string> librarySources(bool cuda) {
  std::vector<std::string> names = {"Library.cpp", "Model.cpp",
                                    "Safetensors.cpp", "Tensors.cpp",
                                    "Weights.cpp"};
  return cuda ? withDevice(names, {"CudaDevice.cu"})
              : withDevice(names, {"HostDevice.cpp", "ThreadPool.cpp"});
}

static std::vector<fs::path>
runtimePaths(const Bundle &bundle, const std::vector<std::string> &names) {
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

/// The headers beside the runtime's sources; those in include/ are in every
/// stamp.
static std::string hashOfHeaders(const fs::path &folder) {
  std::vector<fs::path> headers;
  std::error_code absent;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(folder, absent))
    if (entry.path().extension() == ".h")
      headers.push_back(entry.path());
  std::sort(headers.begin(), headers.end());
  ContentHash hash;
  for (const fs::path &header : headers)
    hash.add(header.filename().string()).add(readFile(header));
  return hash.text();
}

/// Compiles what is not there yet; objects are shared by worker and library,
/// and by bundles.
std::vector<std::string>
Tuner::buildRuntimeObjects(const std::vector<fs::path> &sources,
                           const char *what) {
  createFolder(build / "runtime");
  std::vector<std::string> objects;
  Scheduler compiles(jobs, false);
  std::string headers = hashOfHeaders(bundle.folder / "runtime");
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
    std::string expected = ContentHash().add(stampOf(unit)).add(headers).text();
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

} // namespace tuning
} // namespace fact
