//===- fact-compile.cpp - From MLIR text to a shared library --------------===//

#include "fact/Driver/Compile.h"
#include "fact/InitAll.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("fact-compile options");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<model.mlir>"), cl::cat(category));
static cl::opt<std::string>
    output("o", cl::desc("Library, or the text of the stage to stop after"),
           cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    target("target",
           cl::desc("Machine or architecture: host, h200, h100, sm_90a "
                    "(default: what the text names, else host)"),
           cl::cat(category));
static cl::opt<fact::Stage> until(
    "until", cl::desc("Stop after a stage and write what it made"),
    cl::init(fact::Stage::library), cl::cat(category),
    cl::values(
        clEnumValN(fact::Stage::import, "import", "the FACT graph"),
        clEnumValN(fact::Stage::raise, "raise", "the raised graph"),
        clEnumValN(fact::Stage::discover, "discover", "kernels as fact.fused"),
        clEnumValN(fact::Stage::bundle, "bundle", "candidates, not tuned"),
        clEnumValN(fact::Stage::library, "library", "the library (default)")));
static cl::opt<std::string>
    bundle("bundle",
           cl::desc("Folder for the bundle (default: <output>.bundle)"),
           cl::value_desc("folder"), cl::cat(category));
static cl::opt<std::string> summary("summary",
                                    cl::desc("Write a report as JSON"),
                                    cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    name("name",
         cl::desc("Prefix of the library's functions (default: the "
                  "module's name, else the input's)"),
         cl::cat(category));
static cl::opt<unsigned>
    candidates("candidates", cl::desc("Candidates of each kernel at most"),
               cl::init(16), cl::cat(category));
static cl::opt<std::string> tuner("tuner", cl::desc("Path of fact-tune"),
                                  cl::cat(category));
static cl::list<std::string>
    tunerArguments("tuner-argument",
                   cl::desc("A word to pass on to fact-tune (repeatable)"),
                   cl::cat(category));

/// A C identifier from any text.
static std::string toIdentifier(StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty() || llvm::isDigit(result.front()))
    result.insert(0, "model_");
  return result;
}

/// fact-tune stands beside this program; else the PATH has it.
static std::string findTuner(const char *argv0) {
  std::string self = llvm::sys::fs::getMainExecutable(
      argv0, reinterpret_cast<void *>(&findTuner));
  SmallString<256> sibling(llvm::sys::path::parent_path(self));
  llvm::sys::path::append(sibling, "fact-tune");
  return llvm::sys::fs::can_execute(sibling) ? sibling.str().str()
                                             : "fact-tune";
}

static int fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "fact-compile") << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "FACT: from torch or FACT text to a shared library\n");
  if (output.empty() && until != fact::Stage::bundle)
    return fail("no output: give -o model.so");
  if (output.empty() && bundle.empty())
    return fail("no output: give --bundle=folder");
  if (output == "-" && until >= fact::Stage::bundle)
    return fail("a library and a bundle are files: give -o model.so");
  if (candidates == 0)
    return fail("--candidates is 1 or more");

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  if (!file)
    return fail(error);
  DialectRegistry registry;
  fact::registerAllDialects(registry);
  MLIRContext context(registry);
  // A message names its place; the whole op would bury it.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return fail("'" + input +
                "' cannot be read: the errors above say why (python -m fact "
                "export writes text that can)");

  fact::CompileOptions options;
  options.target = target;
  options.stopAfter = until;
  options.output = output;
  options.bundle = bundle;
  options.summary = summary;
  options.candidates = candidates;
  options.tuner = tuner.empty() ? findTuner(argv[0]) : tuner.getValue();
  options.tunerArguments.assign(tunerArguments.begin(), tunerArguments.end());
  StringRef moduleName = module->getSymName().value_or("");
  options.name =
      toIdentifier(!name.empty()         ? name.getValue()
                   : !moduleName.empty() ? moduleName
                                         : llvm::sys::path::stem(input));
  return failed(fact::compile(*module, options)) ? 1 : 0;
}
