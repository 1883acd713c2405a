//===- Compose.cpp - Links the winners into one library -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search.h"
#include "fact/Support/PathLock.h"
#include "fact/Tuning/LibraryWriter.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <set>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// Arguments for the linker, passed through the compiler. The thread pool
/// outlives any dlclose, so the code must too. An undefined symbol is an error
/// here rather than when the model is loaded. Programs that link the library
/// look for it by name, not by its path at link time.
static Words linkerWords(const Bundle &bundle, const fs::path &exports,
                         const fs::path &name) {
  // Word by word: a path may have a comma, at which -Wl would split it.
  Words options = {"--version-script=" + exports.string(),
                   "-z",
                   "nodelete",
                   "-z",
                   "defs",
                   "-soname",
                   name.filename().string()};
  Words words;
  for (const std::string &option : options)
    words.insert(words.end(), {"-Xlinker", option});
  if (!bundle.target.cuda)
    words.push_back("-pthread");
  return words;
}

static void removePartial(const fs::path &output) {
  std::error_code code;
  for (fs::directory_iterator entry(output.parent_path(), code), end;
       !code && entry != end; entry.increment(code)) {
    std::error_code ignored;
    if (isUniqueName(entry->path().filename().string(),
                     output.filename().string(), partial))
      fs::remove(entry->path(), ignored);
  }
}

/// `name` is the soname that programs will look for.
void Tuner::linkLibrary(const TuningResult &result, const fs::path &output,
                        const fs::path &name) {
  fs::path source = build / "library.cpp";
  fs::path exports = build / "exports.map";
  writeFile(source, writeLibrarySource(shipped, result));
  writeFile(exports, writeExports(bundle));

  std::vector<fs::path> sources =
      runtimePaths(bundle, librarySources(bundle.target.cuda));
  sources.insert(sources.begin(), source);
  Words inputs = compileRuntime(sources, "the library");
  runScheduled();
  Words link;
  std::set<std::string> symbols, keys;
  for (const KernelResult &each : result.kernels) {
    size_t winner = static_cast<size_t>(each.winner);
    const Candidate &candidate = each.kernel->candidates[winner];
    // Kernels with one symbol are one object, and so are those of one source.
    if (symbols.insert(candidate.symbol).second &&
        (candidate.source.empty() ||
         keys.insert(objectKey(candidate, true)).second))
      inputs.push_back(objectOf(*each.kernel, winner).string());
    for (const std::string &word : candidate.link)
      if (std::find(link.begin(), link.end(), word) == link.end())
        link.push_back(word);
  }
  for (const std::string &word : linkerWords(bundle, exports, name))
    link.push_back(word);
  runLinker(linkCommand(inputs, link, output, build / "library.log"),
            "the library");
}

/// Others that link to the same file wait; temporary files there belong to
/// processes that have ended.
static void lockOutput(const fs::path &output, PathLock &lock) {
  checkInterruption();
  if (std::string error = lock.acquire(output, "fact-tune"); !error.empty()) {
    checkInterruption();
    throw Failure(error);
  }
  removePartial(output);
}

namespace {
/// Removes the file in any case, unless it has become the library.
struct Aside {
  explicit Aside(const fs::path &output)
      : path(getUniqueName(output, partial)), output(output) {}
  Aside(const Aside &) = delete;
  ~Aside() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }

  void becomeLibrary() const {
    int code = synchronize(path);
    if (code == 0 && std::rename(path.c_str(), output.c_str()) != 0)
      code = errno;
    if (code != 0)
      throw Failure("cannot write " + output.string() + ": " +
                    describeWriteError(code, output));
  }

  const fs::path path, output;
};
} // namespace

void replaceLibrary(const fs::path &from, const fs::path &to) {
  PathLock lock;
  lockOutput(to, lock);
  Aside aside(to);
  std::error_code code;
  fs::copy_file(from, aside.path, code);
  if (code)
    throw Failure("cannot write " + to.string() + ": " +
                  describeWriteError(code.value(), to));
  aside.becomeLibrary();
}

void Tuner::compose(TuningResult &result) {
  auto begin = std::chrono::steady_clock::now();
  fs::path output = options.output.empty()
                        ? bundle.folder / (bundle.name + ".so")
                        : fs::absolute(options.output);
  if (output.has_parent_path())
    createFolder(output.parent_path());
  PathLock lock;
  lockOutput(output, lock);
  Aside aside(output);
  chooseProgram(result);
  do {
    ensureWinnerObjects();
    takeKernels(result);
    linkLibrary(result, aside.path, output);
    if (options.noCheck) {
      std::printf("check     skipped: this library was not verified\n");
      break;
    }
    result.checked = checkLibrary(aside.path);
  } while (!result.checked);
  result.library = output;
  result.header = output.parent_path() / (bundle.name + ".h");
  writeFile(result.header, writeLibraryHeader(bundle), Synchronize::Yes);
  aside.becomeLibrary();
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  result.objects = objects;
  result.seconds.check = seconds.check;
  result.seconds.programs = seconds.programs;
  result.seconds.link = elapsed.count() - seconds.check - seconds.programs;
  result.seconds.total += elapsed.count();
}

} // namespace tuning
} // namespace fact
