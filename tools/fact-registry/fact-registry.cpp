//===- fact-registry.cpp - Reads and changes the pattern registry ---------===//

#include "Commands.h"
#include "fact/Patterns/PatternFile.h"
#include "fact/Tuning/Files.h"
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

using namespace fact::patterns;
using fact::tuning::Failure;

static const char usage[] =
    R"(usage: fact-registry COMMAND [options]

Reads and changes the pattern registry: which schedules were measured for which
problem, how fast they were, what failed.

  list                    one line an entry
  show ID...              all of an entry; an id may be shortened
  add BUNDLE              record what fact-tune found: the fastest schedules of
                          each kernel, and all that failed
  add FOLDER              merge the entries of another folder
  verify [FOLDER...]      check every file (default: the layers)
  diff [FOLDER FOLDER]    compare two folders (default: built-in and user's)
  prune                   remove what is named by --status, --keep, --superseded

  --layer FOLDER          in place of the user's folder and the built-in one;
                          several: the first hides the others
  --rule R, --dtype T, --arch A
                          list, prune: only these
  --status S              list: accepted, failed or pending; prune: failed or
                          pending; may be repeated
  --json                  list, show, diff: as JSON
  --to FOLDER             add: where to (default: the user's folder)
  --results FILE          add: a tuning.json of this bundle from elsewhere
  --date YYYY-MM-DD       add: the day of results that do not say it
  --version-of NAME=TEXT  add: one more version to record, as in commit=0123abc
  --keep N                add: schedules of each kernel and machine (5);
                          prune: remove all but the N fastest of each machine
  --superseded            prune: entries that a layer below has as fast on the
                          same machine
  --schedules             verify: also parse each schedule with fact-opt
  --dry-run               prune: only say what would be removed
  --version               the version of fact-registry
  --help                  this text

The user's folder is $FACT_PATTERNS, or fact/patterns in $XDG_DATA_HOME or
~/.local/share. prune works on the user's folder, or on the first --layer.
Exit status: 0; 1 when verify finds a broken file or diff a difference; 2 when
a command cannot be carried out.
)";

static size_t parseCount(const std::string &option, const std::string &text) {
  char *end = nullptr;
  unsigned long value = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value == 0 || text[0] == '-' ||
      value > 1000000)
    throw Failure(option + " expects a number above 0, found '" + text + "'");
  return value;
}

static Status parseStatus(const std::string &text) {
  for (Status status : {Status::Accepted, Status::Failed, Status::Pending})
    if (text == getName(status))
      return status;
  throw Failure("--status expects accepted, failed or pending, found '" + text +
                "'");
}

static std::string parseDate(const std::string &text) {
  if (!isDate(text))
    throw Failure("--date expects a day such as 2026-11-15, found '" + text +
                  "'");
  return text;
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], inlineValue;
    bool hasInline = false;
    size_t equals = option.find('=');
    if (option.compare(0, 2, "--") == 0 && equals != std::string::npos) {
      inlineValue = option.substr(equals + 1);
      option.resize(equals);
      hasInline = true;
    }
    auto value = [&]() -> std::string {
      std::string text;
      if (hasInline)
        text = inlineValue;
      else if (++i < argc)
        text = argv[i];
      if (text.empty())
        throw Failure(option + " expects a value; see fact-registry --help");
      return text;
    };
    if (option == "--layer")
      options.layers.push_back(value());
    else if (option == "--rule")
      options.rule = value();
    else if (option == "--dtype")
      options.dtype = value();
    else if (option == "--arch")
      options.architecture = value();
    else if (option == "--status")
      options.statuses.insert(parseStatus(value()));
    else if (option == "--json")
      options.json = true;
    else if (option == "--to")
      options.to = value();
    else if (option == "--results")
      options.learn.results = value();
    else if (option == "--date")
      options.learn.date = parseDate(value());
    else if (option == "--version-of") {
      std::string text = value();
      size_t at = text.find('=');
      if (at == std::string::npos)
        throw Failure("--version-of expects NAME=TEXT, found '" + text + "'");
      options.learn.versions[text.substr(0, at)] = text.substr(at + 1);
    } else if (option == "--keep") {
      options.learn.keep = parseCount(option, value());
      options.keepGiven = true;
    } else if (option == "--superseded")
      options.superseded = true;
    else if (option == "--schedules")
      options.schedules = true;
    else if (option == "--dry-run")
      options.dryRun = true;
    else if (option == "--help" || option == "-h") {
      std::fputs(usage, stdout);
      std::exit(0);
    } else if (option == "--version") {
      std::puts("fact-registry " FACT_VERSION);
      std::exit(0);
    } else if (!option.empty() && option[0] == '-')
      throw Failure("unknown option '" + option +
                    "'; see fact-registry --help");
    else if (options.command.empty())
      options.command = argv[i];
    else
      options.arguments.push_back(argv[i]);
  }
  return options;
}

static int run(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  static const std::map<std::string, int (*)(const Options &)> commands = {
      {"list", list},     {"show", show}, {"add", add},
      {"verify", verify}, {"diff", diff}, {"prune", prune}};
  if (options.command.empty())
    throw Failure("no command given; see fact-registry --help");
  auto command = commands.find(options.command);
  if (command == commands.end())
    throw Failure("unknown command '" + options.command +
                  "'; there are list, show, add, verify, diff and prune");
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
