//===- fact-registry.cpp - Reads and changes the registry -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "fact/Registry/EntryFile.h"
#include "fact/Support/Version.h"
#include "fact/Tuning/CommandLine.h"
#include "fact/Tuning/Files.h"
#include <cstdio>
#include <exception>
#include <map>

using namespace fact::registry;
using fact::tuning::CommandLine;
using fact::tuning::Failure;

static const char usage[] =
    R"(usage: fact-registry COMMAND [options]

Reads and changes the registry: which schedules were measured for which problem,
how fast they were, what failed.

  list                    one line per entry
  show ID...              one entry in full; an id may be abbreviated
  add BUNDLE              record the results of fact-tune: the fastest schedules
                          per kernel, and all that failed
  add FOLDER              merge the entries of another folder
  verify [FOLDER...]      check every file (default: the layers)
  diff [FOLDER FOLDER]    compare two folders (default: built-in and user's)
  prune                   remove what is named by --status, --keep, --superseded
  migrate BUNDLE...       give entries of format 1 the problems of format 2 that
                          the bundles have for them

  --layer FOLDER          use instead of the user's and the built-in folder;
                          may be repeated, the first is uppermost
  --rule R, --dtype T, --arch A
                          list, prune: only matching entries
  --status S              list: accepted, failed or pending; prune: failed or
                          pending; may be repeated
  --json                  list, show, diff: as JSON
  --to FOLDER             add, migrate: the folder to change (default: the user's)
  --results FILE          add: the tuning.json of another run of this bundle
  --date YYYY-MM-DD       add: the date of results that have none
  --version-of NAME=TEXT  add: one more version to record, as in commit=0123abc
  --keep N                add: schedules per kernel and machine (5);
                          prune: remove all but the N fastest per machine
  --superseded            prune: entries for which a lower layer has a schedule
                          as fast on the same machine
  --schedules             verify: also parse each schedule with fact-opt
  --dry-run               prune: only say what would be removed
  --version               the version of fact-registry
  --help                  this text

The user's folder is $FACT_PATTERNS, or fact/patterns in $XDG_DATA_HOME or
~/.local/share. prune works on the user's folder, or on the first --layer.
Exit status: 0; 1 when verify finds a broken file or diff a difference; 2 when
a command fails.
)";

static Status parseStatus(const std::string &text) {
  for (Status status : {Status::Accepted, Status::Failed, Status::Pending})
    if (text == getName(status))
      return status;
  throw Failure("--status expects accepted, failed or pending, found '" + text +
                "'");
}

static std::string parseDate(const std::string &text) {
  if (!isDate(text))
    throw Failure("--date expects a date such as 2026-11-15, found '" + text +
                  "'");
  return text;
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  CommandLine line(argc, argv, "fact-registry", fact::getVersion(), usage);
  while (line.next()) {
    const std::string &word = line.word();
    if (word == "--layer")
      options.layers.push_back(line.value());
    else if (word == "--rule")
      options.rule = line.value();
    else if (word == "--dtype")
      options.dtype = line.value();
    else if (word == "--arch")
      options.architecture = line.value();
    else if (word == "--status")
      options.statuses.insert(parseStatus(line.value()));
    else if (word == "--json")
      options.json = true;
    else if (word == "--to")
      options.to = line.value();
    else if (word == "--results")
      options.learn.results = line.value();
    else if (word == "--date")
      options.learn.date = parseDate(line.value());
    else if (word == "--version-of") {
      std::string text = line.value();
      size_t at = text.find('=');
      if (at == std::string::npos)
        throw Failure("--version-of expects NAME=TEXT, found '" + text + "'");
      options.learn.versions[text.substr(0, at)] = text.substr(at + 1);
    } else if (word == "--keep") {
      options.learn.keep = line.count();
      options.keepGiven = true;
    } else if (word == "--superseded")
      options.superseded = true;
    else if (word == "--schedules")
      options.schedules = true;
    else if (word == "--dry-run")
      options.dryRun = true;
    else if (line.isOption())
      line.refuse();
    else if (options.command.empty())
      options.command = word;
    else
      options.arguments.push_back(word);
  }
  return options;
}

static int run(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  static const std::map<std::string, int (*)(const Options &)> commands = {
      {"list", list}, {"show", show},   {"add", add},        {"verify", verify},
      {"diff", diff}, {"prune", prune}, {"migrate", migrate}};
  if (options.command.empty())
    throw Failure("no command given; see fact-registry --help");
  auto command = commands.find(options.command);
  if (command == commands.end())
    throw Failure("unknown command '" + options.command +
                  "'; known are list, show, add, verify, diff, prune and "
                  "migrate");
  int status = command->second(options);
  if (std::fflush(stdout) != 0)
    throw Failure("cannot write the output");
  return status;
}

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &problem) {
    std::fflush(stdout);
    std::fprintf(stderr, "fact-registry: error: %s\n", problem.what());
    return 2;
  }
}
