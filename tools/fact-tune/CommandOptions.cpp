//===- CommandOptions.cpp - The command line of fact-tune -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CommandOptions.h"
#include "fact/Support/Version.h"
#include "fact/Tuning/CommandLine.h"
#include "fact/Tuning/Files.h"
#include <cstdlib>
#include <random>
#include <sstream>

using namespace fact::tuning;

static const char usage[] =
    R"(usage: fact-tune BUNDLE... [options]

Tunes every kernel of a bundle on this machine and links the winners into one
shared library with a C interface. Several bundles share compilers and the
device; one that fails does not stop the others.

  -o FILE                 the library (default: BUNDLE/<name>.so); its header
                          is written beside it
  --candidates N          candidates per kernel, best prediction first (3);
                          those that share an object count once
  --best N                the same for kernels whose candidates are ranked by
                          plain products, which --products compiled (2);
                          0: rank by predictions alone
  --jobs N                concurrent compilers (default: by processors, memory)
  --compile-timeout S     seconds until a compiler is killed (600)
  --run-timeout S         seconds until a measurement is killed (120)
  --regime REGIME         how a GPU is timed where it takes over a millisecond:
                          paced, with a pause before each run (default), or
                          sustained, without pauses after half a second of load
  --database FILE         results of all runs (default: BUNDLE/tuning.sqlite)
  --objects FOLDER        compiled objects by content, shared by all bundles
                          (default: $FACT_OBJECTS_DIR, else objects/ in
                          $FACT_CACHE_DIR or ~/.cache/fact); none: keep none
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
  --no-alternatives       ship the program as it was fused, and measure no other
                          forms of its kernels
  --ablate                measure what each form that ships gains, in the whole
                          program
  --search-window N       after the first candidates, try those of the bundle
                          that are near the best, until N in a row gain less
                          than 1% (0: none)
  --search-eps E          and until a kernel is within this share of what the
                          machine reaches (0.05)
  --search-seconds S      and for no longer than this
  --probe                 measure what the machine reaches (bandwidth, FLOP/s
                          by type, cost of a launch), keep it for reports, and
                          tune nothing
  --probe-seconds S       how long each load of --probe runs without a pause
                          (1; with CUDA 3)
  --probe-bytes N         the memory that --probe moves to measure bandwidth
                          (several times the last cache)
  --products              compile the plain products of the bundle's kernels
                          into the folder of objects, once for all sizes and
                          models, and tune nothing: later runs measure them
                          first, and compile only what they rank best
  --no-link               tune, link nothing
  --no-learn              keep the measurements out of the user's registry, as
                          FACT_LEARN=0 does
  --compile-only          compile into the folder of objects, run nothing: for
                          another machine, which gets that folder
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

CommandOptions parseOptions(int argc, char **argv) {
  CommandOptions options;
  const char *learns = std::getenv("FACT_LEARN");
  options.noLearn = learns && std::string(learns) == "0";
  const char *seed = std::getenv("FACT_SEED");
  options.seed =
      seed ? CommandLine::readWhole("FACT_SEED", seed) : std::random_device()();
  CommandLine line(argc, argv, "fact-tune", fact::getVersion(), usage);
  while (line.next()) {
    const std::string &word = line.word();
    if (word == "-o")
      options.output = line.value();
    else if (word == "--candidates")
      options.candidates = line.count();
    else if (word == "--best")
      options.best = line.whole();
    else if (word == "--jobs")
      options.jobs = static_cast<unsigned>(line.count());
    else if (word == "--compile-timeout")
      options.compileTimeout = line.number();
    else if (word == "--run-timeout")
      options.runTimeout = line.number();
    else if (word == "--regime") {
      std::string regime = line.value();
      if (regime != "paced" && regime != "sustained")
        throw Failure("--regime expects paced or sustained, found '" + regime +
                      "'");
      options.sustained = regime == "sustained";
    } else if (word == "--database")
      options.database = line.value();
    else if (word == "--objects")
      options.objects = line.value();
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
    else if (word == "--no-alternatives")
      options.noAlternatives = true;
    else if (word == "--ablate")
      options.ablate = true;
    else if (word == "--search-window")
      options.searchWindow = line.whole();
    else if (word == "--search-eps")
      options.searchEps = line.number();
    else if (word == "--search-seconds")
      options.searchSeconds = line.number();
    else if (word == "--probe")
      options.probe = true;
    else if (word == "--probe-seconds")
      options.probeSeconds = line.number();
    else if (word == "--probe-bytes")
      options.probeBytes = line.whole();
    else if (word == "--products")
      options.products = true;
    else if (word == "--no-learn")
      options.noLearn = true;
    else if (word == "--no-link")
      options.noLink = true;
    else if (word == "--compile-only")
      options.compileOnly = true;
    else if (word == "--list")
      options.list = true;
    else if (word == "--dry-run")
      options.dryRun = true;
    else if (line.isOption())
      line.refuse();
    else
      options.bundles.push_back(word);
  }
  if (options.bundles.empty())
    throw Failure("no bundle given; see fact-tune --help");
  if (options.bundles.size() > 1)
    for (bool isGiven : {!options.output.empty(), !options.only.empty()})
      if (isGiven)
        throw Failure("-o and --only are for one bundle, and " +
                      std::to_string(options.bundles.size()) + " are given");
  if (options.sanitize && options.untuned)
    throw Failure(
        "--sanitize runs verified kernels, but --untuned verifies none: "
        "leave out one of them");
  if (options.ablate && (options.untuned || options.noAlternatives))
    throw Failure("--ablate measures alternatives, but --untuned and "
                  "--no-alternatives measure none: leave out one of them");
  return options;
}
