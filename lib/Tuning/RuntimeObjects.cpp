//===- RuntimeObjects.cpp - The runtime, compiled, and the worker ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include <algorithm>

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
      "LibraryCheck.cpp", "LoadedModel.cpp", "ProgramCheck.cpp",
      "ProgramRace.cpp",  "Ranking.cpp",     "StepCheck.cpp",
      "Tensors.cpp",      "Timing.cpp",      "Trials.cpp",
      "Verification.cpp", "Worker.cpp",      "WorkerJob.cpp",
      "WorkerReport.cpp"};
  return cuda ? withDevice(names,
                           {"CudaDevice.cu", "CudaLoad.cu", "CudaMeasure.cu"})
              : withDevice(names, {"HostDevice.cpp", "HostMeasure.cpp",
                                   "ThreadPool.cpp"});
}

std::vector<std::string> librarySources(bool cuda) {
  std::vector<std::string> names = {
      "Library.cpp",     "MemoryPlan.cpp",   "MemrefCall.cpp",
      "Model.cpp",       "Predecessors.cpp", "Recordings.cpp",
      "Safetensors.cpp", "Tensors.cpp",      "Weights.cpp"};
  return cuda ? withDevice(names, {"CudaDevice.cu", "CudaGraph.cu"})
              : withDevice(names, {"HostDevice.cpp", "ThreadPool.cpp"});
}

std::vector<std::string> probeSources(bool cuda) {
  std::vector<std::string> names = {"Probe.cpp", "WorkerReport.cpp"};
  return cuda ? withDevice(names, {"CudaDevice.cu", "CudaProbe.cu"})
              : withDevice(names, {"HostDevice.cpp", "HostProbe.cpp",
                                   "ThreadPool.cpp"});
}

/// Flags of the sources whose speed is measured.
static Words probeFlags(const Bundle &bundle, const fs::path &source) {
  if (source.filename() == "HostProbe.cpp")
    return {"-O3", "-ffp-contract=fast"};
  if (source.filename() == "CudaProbe.cu" &&
      bundle.target.architecture == "sm_90a")
    return {"-DFACT_PROBE_WARPGROUPS"};
  return {};
}

std::vector<fs::path> runtimePaths(const Bundle &bundle,
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

/// The headers in include/ are part of every stamp.
std::string hashOfHeaders(const fs::path &folder) {
  ContentHash hash;
  for (const fs::path &header : listFiles(folder))
    if (header.extension() == ".h")
      hash.add(header.filename().string()).add(readFile(header));
  return hash.text();
}

std::vector<std::string>
Tuner::compileRuntime(const std::vector<fs::path> &sources, const char *what) {
  createFolder(build / "runtime");
  std::vector<std::string> objects;
  fs::path runtime = bundle.folder / "runtime";
  std::string headers = hashOfHeaders(runtime);
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
    unit.flags = probeFlags(bundle, source);
    std::string expected =
        ContentHash().add(builtFrom(unit)).add(headers).text();
    // --compile-only fills the folder of objects, whatever is here.
    if (!options.compileOnly && isFresh(stamp, expected, {object}))
      continue;
    Command command = compileCommand(unit, aside, log, false);
    // --compile-timeout is for candidates; nothing works without this object.
    command.timeoutSeconds = std::max(600.0, options.compileTimeout);
    // The generated source names files of this bundle, whose content is a part
    // of its object.
    bool isShared = source.parent_path() == runtime;
    auto done = [=](const Outcome &outcome, bool) {
      if (!outcome.succeeded())
        throw Failure(std::string(what) + " does not compile (" +
                      outcome.text() + "): " + mainMessage(log) +
                      "\n  the compiler's messages are in " + log.string());
      fs::rename(aside, object);
      writeStamp(stamp, expected, {object});
    };
    compile(isShared ? objectKey(unit, false, headers) : "", command, aside,
            done);
  }
  return objects;
}

fs::path Tuner::buildProgram(const std::string &name, const char *what,
                             const std::vector<std::string> &sources) {
  Words objects = compileRuntime(runtimePaths(bundle, sources), what);
  runScheduled();
  ContentHash hash;
  hash.add(name).add(compiler);
  for (const std::string &object : objects)
    hash.add(readFile(object));
  for (const std::string &word : bundle.linkProgram)
    hash.add(word);
  fs::path program = build / name, aside = build / (name + ".partial"),
           stamp = build / (name + ".stamp");
  std::string key = hash.text();
  if (isFresh(stamp, key, {program}))
    return program;
  // Bundles for one machine have the same program.
  if (shop.objects.find(key, aside)) {
    fs::permissions(aside, fs::perms::owner_exec, fs::perm_options::add);
  } else {
    Command command;
    command.words = bundle.expand(bundle.linkProgram, {}, objects, {},
                                  {"-lpthread", "-ldl"}, aside);
    command.log = build / (name + ".log");
    runLinker(command, what);
    shop.objects.keep(key, aside, "");
  }
  fs::rename(aside, program);
  writeStamp(stamp, key, {program});
  return program;
}

void Tuner::buildWorker() {
  workerPath = buildProgram("worker", "the measuring worker",
                            workerSources(bundle.target.cuda));
}

} // namespace tuning
} // namespace fact
