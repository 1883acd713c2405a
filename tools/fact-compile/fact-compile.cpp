//===- fact-compile.cpp - From MLIR text to a shared library --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"
#include "fact/Conversion/Passes.h"
#include "fact/Driver/Compile.h"
#include "fact/Driver/DescribeTarget.h"
#include "fact/InitAll.h"
#include "fact/Support/ParentProcess.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <map>

using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("fact-compile options");
static cl::opt<std::string> input(cl::Positional, cl::desc("<model.mlir>"),
                                  cl::cat(category));
static cl::opt<std::string>
    output("o",
           cl::desc("The library (its header is written beside it), or the "
                    "text of the stage to stop after"),
           cl::value_desc("file"), cl::cat(category));
static cl::opt<std::string>
    target("target",
           cl::desc("Machine or architecture: h200, a100, rtx4090, sm_80, "
                    "host, a .json file; auto: what this machine has "
                    "(default: what the text names, else host)"),
           cl::value_desc("machine"), cl::cat(category));
static cl::opt<fact::Stage> until(
    "until", cl::desc("Stop after a stage and write its result"),
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
         cl::value_desc("prefix"), cl::cat(category));
static cl::opt<unsigned> candidates(
    "candidates",
    cl::desc("Maximum number of candidates per kernel in the bundle (default "
             "16), and, if given, of those that are tried"),
    cl::value_desc("n"), cl::init(16), cl::cat(category));
static cl::opt<double> alternatives(
    "alternatives",
    cl::desc("Measure other forms of a kernel, such as a product and its "
             "epilogue apart, if they are predicted to take at most this many "
             "times as long (default 1, or 0 with --candidates=1; 0: none)"),
    cl::value_desc("factor"), cl::init(1.0), cl::cat(category));
static cl::opt<bool> products(
    "products",
    cl::desc("Rank the candidates of products by plain products also where an "
             "object serves one size only, as on the host; others are always "
             "ranked so where fact-tune --products has compiled them"),
    cl::cat(category));
static cl::opt<std::string>
    tuner("tuner",
          cl::desc("Path of fact-tune (default: the one beside this program, "
                   "else on the PATH)"),
          cl::value_desc("program"), cl::cat(category));
static cl::list<std::string>
    tunerArguments("tuner-argument",
                   cl::desc("A word to pass on to fact-tune, e.g. "
                            "--tuner-argument=--candidates=4 (repeatable)"),
                   cl::value_desc("word"), cl::cat(category));

static cl::OptionCategory agentCategory("Agent options");
static fact::DiscoveryOptions agent;

/// An option of AgentOptions.def.
template <typename T>
struct AgentOption : cl::opt<T, /*ExternalStorage=*/true> {
  AgentOption(StringRef name, T &field, const char *value, const char *help)
      : cl::opt<T, true>(name, cl::location(field), cl::value_desc(value),
                         cl::desc(help), cl::cat(agentCategory)) {}
};
template <typename T>
AgentOption(StringRef, T &, const char *, const char *) -> AgentOption<T>;
#define FACT_AGENT_OPTION(type, field, flag, value, initial, help)             \
  static AgentOption field##Option(flag, agent.field, value, help);
#include "fact/Fusion/AgentOptions.def"
static cl::list<std::string>
    patterns("patterns",
             cl::desc("Folder of the registry; upper layers first (default: "
                      "the user's and the built-in one)"),
             cl::value_desc("folder"), cl::cat(agentCategory));
static cl::opt<bool, true>
    placeParts("place-parts",
               cl::desc("Kernels write their parts of a concatenation in "
                        "place, where that is predicted to gain"),
               cl::location(agent.placeParts), cl::cat(agentCategory));
static cl::opt<bool, true>
    padRows("pad-rows",
            cl::desc("Rows of factors and results of products begin at "
                     "multiples of 16 bytes, where that is predicted to gain"),
            cl::location(agent.padRows), cl::cat(agentCategory));
static cl::opt<unsigned> refineRounds(
    "refine",
    cl::desc("Rounds of refinement: search again where most time can be "
             "gained (default 0)"),
    cl::value_desc("rounds"), cl::init(0), cl::cat(agentCategory));
static cl::opt<double>
    refineEps("refine-eps",
              cl::desc("A kernel is done when its time is at most this share "
                       "above the least that the machine needs (default "
                       "0.25)"),
              cl::value_desc("share"), cl::init(0.25), cl::cat(agentCategory));
static cl::opt<unsigned> refineWindow(
    "refine-window",
    cl::desc("A kernel is done after this many attempts without gain "
             "(default 12)"),
    cl::value_desc("n"), cl::init(12), cl::cat(agentCategory));

static cl::opt<bool> describeTarget(
    "describe-target",
    cl::desc("Print the machine of --target and its kernels as JSON (reads no "
             "input)"),
    cl::cat(category));
static cl::opt<bool> printAgentOptions(
    "print-agent-options",
    cl::desc(
        "Print the options of agents as JSON, for tools that pass them on"),
    cl::ReallyHidden, cl::cat(category));
static cl::opt<bool> printSupportedOps(
    "print-supported-ops",
    cl::desc("Print the names of the torch ops that are converted, for tools "
             "that write out the others"),
    cl::ReallyHidden, cl::cat(category));

static const char overview[] = R"(FACT: compiles a model to a shared library

Reads the text that `python -m fact export` writes, or that of a later stage
(`-`: from standard input), groups its ops into kernels, and runs fact-tune,
which verifies and times the candidates of each kernel and links the winners.

  fact-compile model.mlir -o model.so                 for this machine
  fact-compile model.mlir --until=discover -o -       shows the kernels
  fact-compile model.mlir --target=h200 --until=bundle --bundle=model.bundle
                                                      to tune on a GPU machine
  fact-compile --target=auto --describe-target        what this machine is
)";

/// A C identifier from any text.
static std::string toIdentifier(StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty() || llvm::isDigit(result.front()))
    result.insert(0, "model_");
  return result;
}

/// fact-tune beside this program, or else on the PATH.
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

/// Prints name, value and help of each option of the agents.
static void listAgentOptions() {
  std::map<StringRef, llvm::json::Value> options;
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (llvm::is_contained(option->Categories, &agentCategory))
      options.emplace(
          name, llvm::json::Array{name, option->ValueStr, option->HelpStr});
  llvm::json::OStream json(llvm::outs());
  json.array([&] {
    for (auto &[name, option] : options)
      json.value(option);
  });
}

/// Prints what the conversion says when it is asked.
static LogicalResult listSupportedOps(MLIRContext &context) {
  fact::ConvertTorchToFactOptions options;
  options.listSupported = true;
  OwningOpRef<ModuleOp> empty = ModuleOp::create(UnknownLoc::get(&context));
  PassManager passes(&context);
  passes.addPass(fact::createConvertTorchToFact(options));
  return passes.run(*empty);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  fact::initTool("fact-compile");
  cl::HideUnrelatedOptions({&category, &agentCategory});
  fact::declarePluginOption();
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (printAgentOptions) {
    listAgentOptions();
    return 0;
  }
  DialectRegistry registry;
  fact::registerAllDialects(registry);
  fact::registerPlugins(registry);
  MLIRContext context(registry);
  if (describeTarget)
    return failed(fact::describeTarget(&context, target, llvm::outs()));
  if (printSupportedOps)
    return failed(listSupportedOps(context));
  if (input.empty())
    return fail("no input: give the text of a model, or - for standard input; "
                "see fact-compile --help");
  if (output.empty() && until != fact::Stage::bundle)
    return fail("no output: give -o model.so");
  if (output.empty() && bundle.empty())
    return fail("no output: give --bundle=folder");
  if (output == "-" && until >= fact::Stage::bundle)
    return fail("a library or a bundle cannot be written to standard output: "
                "give -o model.so");
  if (candidates == 0)
    return fail("--candidates must be 1 or more");
  if (!(alternatives >= 0))
    return fail("--alternatives must be 0 or more");

  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  if (!file)
    return fail(error);
  // Diagnostics show the location; printing the whole op would bury it.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  fact::PrintableStream messages(llvm::errs());
  SourceMgrDiagnosticHandler handler(sources, &context, messages);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return fail("'" + input +
                "' cannot be read, see the errors above; python -m fact export "
                "writes the text that fact-compile reads");

  fact::CompileOptions options;
  options.target = target;
  options.stopAfter = until;
  options.refine = refineRounds;
  options.refineEps = refineEps;
  options.refineWindow = refineWindow;
  options.discovery = agent;
  options.discovery.patterns.assign(patterns.begin(), patterns.end());
  options.output = output;
  options.bundle = bundle;
  options.summary = summary;
  options.candidates = candidates;
  if (candidates.getNumOccurrences())
    options.tried = candidates;
  // One candidate is no search, so nothing else is searched either.
  options.alternatives = candidates == 1 && !alternatives.getNumOccurrences()
                             ? 0.0
                             : alternatives.getValue();
  options.products = products;
  options.tuner = tuner.empty() ? findTuner(argv[0]) : tuner.getValue();
  options.tunerArguments.assign(tunerArguments.begin(), tunerArguments.end());
  StringRef moduleName = module->getSymName().value_or("");
  options.name = toIdentifier(!name.empty()         ? name.getValue()
                              : !moduleName.empty() ? moduleName
                              : input == "-" ? "model"
                                             : llvm::sys::path::stem(input));
  options.command.assign(argv, argv + argc);
  options.input = input;
  fact::endChildrenWithThisProcess();
  return failed(fact::compile(*module, options)) ? 1 : 0;
}
