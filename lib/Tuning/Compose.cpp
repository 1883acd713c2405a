//===- Compose.cpp - Links the winners into one library -------------------===//

#include "Search.h"
#include "fact/Tuning/Files.h"
#include "fact/Tuning/LibraryWriter.h"
#include "fact/Tuning/Tuner.h"
#include <algorithm>
#include <chrono>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

/// Words for the linker, through the compiler that drives it. The thread pool
/// outlives any dlclose, so the code must too; a symbol nobody defines is an
/// error here rather than when the model is loaded; and programs that link the
/// library look for it by its name, not by the path it had then.
static Words linkerWords(const Bundle &bundle, const fs::path &exports,
                         const fs::path &output) {
  Words options = {"--version-script=" + exports.string(), "-z,nodelete",
                   "-z,defs", "-soname," + output.filename().string()};
  Words words;
  for (const std::string &option : options)
    if (bundle.cuda)
      words.insert(words.end(), {"-Xlinker", option});
    else
      words.push_back("-Wl," + option);
  if (!bundle.cuda)
    words.push_back("-pthread");
  return words;
}

void Tuner::compose(TuningResult &result) {
  auto begin = std::chrono::steady_clock::now();
  fs::path source = build / "library.cpp";
  fs::path exports = build / "exports.map";
  writeFile(source, writeLibrarySource(bundle, result));
  writeFile(exports, writeExports(bundle));

  std::vector<fs::path> sources = {source};
  for (const std::string &name : librarySources(bundle.cuda)) {
    sources.push_back(bundle.folder / "runtime" / name);
    if (!fs::is_regular_file(sources.back()))
      throw Failure("the bundle has no runtime/" + name +
                    "; compile the model again");
  }
  Words inputs = buildRuntimeObjects(sources, "the library");
  Words link;
  for (const KernelResult &each : result.kernels) {
    size_t winner = static_cast<size_t>(each.winner);
    inputs.push_back(objectOf(*each.kernel, winner).string());
    for (const std::string &word : each.kernel->candidates[winner].link)
      if (std::find(link.begin(), link.end(), word) == link.end())
        link.push_back(word);
  }
  fs::path output = options.output.empty()
                        ? bundle.folder / (bundle.name + ".so")
                        : fs::absolute(options.output);
  for (const std::string &word : linkerWords(bundle, exports, output))
    link.push_back(word);

  if (output.has_parent_path())
    createFolder(output.parent_path());
  fs::path aside = output;
  aside += ".partial";
  // Gone, whatever happens below, unless it has become the library.
  struct Aside {
    ~Aside() {
      std::error_code ignored;
      fs::remove(path, ignored);
    }
    const fs::path &path;
  } discard{aside};
  Command command = linkCommand(inputs, link, aside, build / "library.log");
  writeFile(command.log, "$ " + command.text() + "\n");
  Outcome outcome = runCommand(command);
  checkEnvironment(command, outcome);
  if (!outcome.succeeded())
    throw Failure("the library does not link (" + outcome.text() +
                  "); the linker's messages are in " + command.log.string() +
                  "\n" + readFile(command.log));

  Command check;
  check.words = options.runLauncher;
  check.words.insert(check.words.end(),
                     {workerPath.string(), "--check", aside.string()});
  check.captureOutput = true;
  check.log = command.log;
  check.timeoutSeconds = options.runTimeout;
  Outcome checked = runCommand(check);
  if (!checked.succeeded() ||
      checked.output.find("\"status\": \"ok\"") == std::string::npos)
    throw Failure("the linked library cannot be loaded (" + checked.text() +
                  "): " + checked.output);
  result.library = output;
  result.header = output.parent_path() / (bundle.name + ".h");
  writeFile(result.header, writeLibraryHeader(bundle));
  std::error_code code;
  fs::rename(aside, output, code);
  if (code)
    throw Failure("cannot write " + output.string() + ": " + code.message());
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  result.seconds.link = elapsed.count();
  result.seconds.total += elapsed.count();
}

} // namespace tuning
} // namespace fact
