//===- RuntimeObjects.cpp - The runtime, compiled, and the worker ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include <algorithm>
#include <sys/stat.h>
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
  std::vector<std::string> names = {
      "LibraryCheck.cpp", "ProgramCheck.cpp", "StepCheck.cpp",    "Tensors.cpp",
      "Timing.cpp",       "Trials.cpp",       "Verification.cpp", "Worker.cpp",
      "WorkerJob.cpp",    "WorkerReport.cpp"};
  return cuda ? withDevice(names, {"CudaDevice.cu", "CudaMeasure.cu"})
              : withDevice(names, {"HostDevice.cpp", "HostMeasure.cpp",
                                   "ThreadPool.cpp"});
}

std::vector<std::string> librarySources(bool cuda) {
  std::vector<std::string> names = {"Library.cpp", "MemoryPlan.cpp",
                                    "Model.cpp",   "Safetensors.cpp",
                                    "Tensors.cpp", "Weights.cpp"};
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

/// Whether no other user can put an object into `folder`, which is then linked.
/// A group counts as the user's own if the user's new files get it.
static bool isPrivate(const fs::path &folder) {
  struct stat found;
  if (::lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      found.st_uid != ::geteuid() || (found.st_mode & S_IWOTH))
    return false;
  return !(found.st_mode & S_IWGRP) || found.st_gid == ::getegid();
}

/// The cache of runtime objects across bundles, by content; empty if the
/// environment names no home, or others can write there.
static fs::path objectCache() {
  fs::path folder = cacheFolder();
  if (folder.empty())
    return folder;
  folder /= "objects";
  std::error_code code;
  fs::create_directories(folder.parent_path(), code);
  ::mkdir(folder.c_str(), 0700);
  return isPrivate(folder) && isPrivate(folder.parent_path()) ? folder
                                                              : fs::path();
}

/// Copies completely or not at all. An unusable cache is not an error.
static bool copyAside(const fs::path &from, const fs::path &to) {
  std::error_code code, ignored;
  fs::create_directories(to.parent_path(), ignored);
  fs::path aside = getUniqueName(to, partial);
  if (fs::copy_file(from, aside, code))
    fs::rename(aside, to, code);
  if (code)
    fs::remove(aside, ignored);
  return !code;
}

/// Hashes the headers beside the runtime's sources; those in include/ are part
/// of every stamp.
std::string hashOfHeaders(const fs::path &folder) {
  ContentHash hash;
  for (const fs::path &header : listFiles(folder))
    if (header.extension() == ".h")
      hash.add(header.filename().string()).add(readFile(header));
  return hash.text();
}

/// Compiles the objects that are missing; worker, library and bundles share
/// them.
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
    std::string expected =
        ContentHash().add(builtFrom(unit)).add(headers).text();
    if (isFresh(stamp, expected, {object}))
      continue;
    fs::path cached = objectCache();
    if (!cached.empty()) {
      cached /= expected + ".o";
      if (fs::exists(cached) && copyAside(cached, object)) {
        writeStamp(stamp, expected, {object});
        continue;
      }
    }
    Command command = compileCommand(unit, aside, log, false);
    // --compile-timeout is for candidates; nothing works without this object.
    command.timeoutSeconds = std::max(600.0, options.compileTimeout);
    writeFile(log, "$ " + command.text() + "\n");
    compiles.build(command, [=](const Outcome &outcome) {
      checkEnvironment(command, outcome);
      if (!outcome.succeeded())
        throw Failure(std::string(what) + " does not compile (" +
                      outcome.text() + "): " + mainMessage(log) +
                      "\n  the compiler's messages are in " + log.string());
      fs::rename(aside, object);
      writeStamp(stamp, expected, {object});
      if (!cached.empty())
        copyAside(object, cached);
    });
  }
  compiles.run();
  return objects;
}

void Tuner::buildWorker() {
  Words objects = buildRuntimeObjects(
      runtimePaths(bundle, workerSources(bundle.target.cuda)),
      "the measuring worker");
  ContentHash hash;
  for (const std::string &object : objects)
    hash.add(readFile(object));
  fs::path aside = build / "worker.partial";
  Command command;
  command.words = bundle.expand(bundle.linkProgram, {}, objects, {},
                                {"-lpthread", "-ldl"}, aside);
  command.log = build / "worker.log";
  std::string expected = hash.add(command.text()).text();
  if (isFresh(build / "worker.stamp", expected, {workerPath}))
    return;
  runLinker(command, "the measuring worker");
  fs::rename(aside, workerPath);
  writeStamp(build / "worker.stamp", expected, {workerPath});
}

} // namespace tuning
} // namespace fact
