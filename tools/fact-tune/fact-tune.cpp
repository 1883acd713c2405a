//===- fact-tune.cpp - Tunes and links a bundle ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the candidates of a bundle, verifies and times each in a process
// that may crash or hang, and links the winners into one library.
//
//===----------------------------------------------------------------------===//

#include "fact/Support/PathLock.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/CommandLine.h"
#include "fact/Tuning/Files.h"
#include "fact/Tuning/LibraryWriter.h"
#include "fact/Tuning/Process.h"
#include "fact/Tuning/Tuner.h"
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <sstream>

using namespace fact::tuning;

static const char usage[] =
    R"(usage: fact-tune BUNDLE [options]

Tunes every kernel of a bundle on this machine and links the winners into one
shared library with a C interface.

  -o FILE                 the library (default: BUNDLE/<name>.so); its header
                          is written beside it
  --candidates N          candidates per kernel, best prediction first (12);
                          those that share an object count once
  --jobs N                concurrent compilers (default: by processors, memory)
  --compile-timeout S     seconds until a compiler is killed (600)
  --run-timeout S         seconds until a measurement is killed (120)
  --database FILE         results of all runs (default: BUNDLE/tuning.sqlite)
  --cutlass FOLDER        the CUTLASS tree (default: $FACT_CUTLASS_DIR)
  --launcher "WORDS"      prefix of compile commands, e.g. "ccache"
  --run-launcher "WORDS"  prefix of measurements, e.g. "srun --gpus=1"
  --seed N                seed of the operands that candidates are verified on
                          (default: FACT_SEED, else random; the log has it)
  --only KERNEL           tune one kernel, link nothing
  --retune                measure again what the database already has
  --untuned               per kernel, take the best predicted candidate that
                          verifies; measure nothing
  --rank N                with --untuned, the N-th best predicted, or the last
  --no-check              link without verifying the linked library
  --sanitize              run each winner under compute-sanitizer (memcheck,
                          racecheck, initcheck, synccheck); a finding rejects it
  --no-link               tune, link nothing
  --list                  show kernels, candidates and known results
  --dry-run               show the commands that would compile the candidates
  --version               the version of fact-tune
  --help                  this text

To resume an interrupted run, run the same command again.
)";

static Words splitWords(const std::string &text) {
  std::istringstream stream(text);
  Words words;
  std::string word;
  while (stream >> word)
    words.push_back(word);
  return words;
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  const char *seed = std::getenv("FACT_SEED");
  options.seed =
      seed ? CommandLine::readWhole("FACT_SEED", seed) : std::random_device()();
  CommandLine line(argc, argv, "fact-tune", FACT_VERSION, usage);
  while (line.next()) {
    const std::string &word = line.word();
    if (word == "-o")
      options.output = line.value();
    else if (word == "--candidates")
      options.candidates = line.count();
    else if (word == "--jobs")
      options.jobs = static_cast<unsigned>(line.count());
    else if (word == "--compile-timeout")
      options.compileTimeout = line.number();
    else if (word == "--run-timeout")
      options.runTimeout = line.number();
    else if (word == "--database")
      options.database = line.value();
    else if (word == "--cutlass")
      options.cutlass = line.value();
    else if (word == "--launcher")
      options.launcher = splitWords(line.value());
    else if (word == "--run-launcher")
      options.runLauncher = splitWords(line.value());
    else if (word == "--seed")
      options.seed = line.whole();
    else if (word == "--only")
      options.only = line.value();
    else if (word == "--retune")
      options.retune = true;
    else if (word == "--untuned")
      options.untuned = true;
    else if (word == "--rank")
      options.rank = line.count();
    else if (word == "--no-check")
      options.noCheck = true;
    else if (word == "--sanitize")
      options.sanitize = true;
    else if (word == "--no-link")
      options.noLink = true;
    else if (word == "--list")
      options.list = true;
    else if (word == "--dry-run")
      options.dryRun = true;
    else if (line.isOption())
      line.refuse();
    else if (options.bundle.empty())
      options.bundle = word;
    else
      throw Failure("more than one bundle: '" + options.bundle.string() +
                    "' and '" + word + "'");
  }
  if (options.bundle.empty())
    throw Failure("no bundle given; see fact-tune --help");
  if (options.sanitize && options.untuned)
    throw Failure(
        "--sanitize runs verified kernels, but --untuned verifies none: "
        "leave out one of them");
  return options;
}

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
    version += (version.empty() ? "" : ".") +
               std::to_string(std::atoi(text.c_str() + at + name.size()));
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

static int run(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  bool onlyShows = options.list || options.dryRun;
  fact::PathLock lock;
  // Locked before it is read: fact-compile may be about to replace it.
  if (!onlyShows && std::filesystem::is_directory(options.bundle))
    if (std::string error = lock.acquire(options.bundle, "fact-tune");
        !error.empty())
      throw Failure(error);
  Bundle bundle = readBundle(options.bundle);
  locateCutlass(bundle, options);
  checkOnly(bundle, options);
  bool links = !onlyShows && !options.noLink && options.only.empty();
  if (links)
    checkOutput(options);
  installInterruptHandlers();
  Tuner tuner(bundle, options);
  if (onlyShows) {
    tuner.show();
    return 0;
  }
  TuningResult result = tuner.tune();
  if (links)
    tuner.compose(result);
  if (options.only.empty())
    writeFile(bundle.folder / "tuning.json", writeTuningReport(bundle, result),
              fact::Synchronize::Yes);
  std::fputs(writeTable(result).c_str(), stdout);
  if (links)
    std::printf("\nlibrary   %s\nheader    %s\nreport    %s\n",
                result.library.c_str(), result.header.c_str(),
                (bundle.folder / "tuning.json").c_str());
  return 0;
}

int main(int argc, char **argv) {
  // Hides the key of the compiler's language model from compilers, launchers
  // and kernels. Comes first, before another thread reads the environment.
  unsetenv("FACT_LLM_KEY");
  try {
    return run(argc, argv);
  } catch (const std::exception &problem) {
    std::fflush(stdout);
    std::fprintf(stderr, "fact-tune: error: %s\n", problem.what());
    return 1;
  }
}
