//===- IRFuzzer.cpp - Mutated modules -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text goes the way of a model: parser, verifier, import, raising, discovery
// and the bundle. An error is an answer; what passes must verify, print, and
// read again as it was.
//
// Module i of a seed is the same whatever ran before it. Modules run in a child
// process, each written to `module.mlir` before it runs; what ends the child is
// kept under a name that has seed and number, and the next child goes on.
//
//   IRFuzzer --work=DIR --modules=N --seed=S FOLDER...   mutates their modules
//   IRFuzzer --work=DIR FILE.mlir                        runs one as it is
//
// A message of malloc is about a module before: run it again with `--first` a
// few modules earlier, under valgrind. No test has ops of MLIR's own with a
// region and a generated parser (`tensor.generate`): where the text after such
// a region is wrong, MLIR frees the region, and an op outside that named one of
// its values writes into it. FACT's regions have names of their own instead.
//
//===----------------------------------------------------------------------===//

#include "IRMutator.h"
#include "fact/Conversion/Passes.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Torch/Torch.h"
#include "fact/Driver/Compile.h"
#include "fact/Driver/Pipelines.h"
#include "fact/Fusion/Discovery.h"
#include "fact/InitAll.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
namespace cl = llvm::cl;

static cl::list<std::string>
    inputs(cl::Positional, cl::OneOrMore,
           cl::desc("folders of modules, or a module"));
static cl::opt<std::string> work("work", cl::Required,
                                 cl::desc("folder for what is written"));
static cl::opt<unsigned> modules("modules", cl::init(~0u),
                                 cl::desc("how many to run"));
static cl::opt<unsigned> seconds("seconds", cl::init(~0u),
                                 cl::desc("how long to run"));
static cl::opt<unsigned> first("first", cl::init(0),
                               cl::desc("number of the first"));
static cl::opt<unsigned> seed("seed", cl::init(0), cl::desc("0: a fresh one"));

//===----------------------------------------------------------------------===//
// The way of a model
//===----------------------------------------------------------------------===//

namespace {
/// How many modules came how far; shared with the children.
struct Counts {
  unsigned next, parsed, raised, lowered, discovered, bundled;
};
} // namespace
static Counts *counts;

/// Whether every tensor is small, or too large for the dialect, which then says
/// so. Constants of the sizes between are made element by element.
static bool isQuick(ModuleOp module) {
  auto isQuickType = [](Type type) {
    ArrayRef<int64_t> sizes;
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      sizes = tensor.getShape();
    else if (auto tensor = dyn_cast<fact::torch::VTensorType>(type))
      sizes = tensor.getSizes();
    double elements = 1;
    for (int64_t size : sizes)
      elements *= double(size);
    return elements < 0x1p20 || elements > 0x1p48;
  };
  return !module
              .walk([&](Operation *op) {
                bool isQuick = llvm::all_of(op->getResultTypes(), isQuickType);
                for (Region &region : op->getRegions())
                  for (Block &block : region)
                    isQuick &=
                        llvm::all_of(block.getArgumentTypes(), isQuickType);
                return isQuick ? WalkResult::advance()
                               : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// What the printer writes, the parser reads.
static void checkText(ModuleOp module) {
  std::string text, again;
  llvm::raw_string_ostream(text) << module;
  // Resources get another name each time that they are read.
  if (text.find("dense_resource") != std::string::npos)
    return;
  OwningOpRef<ModuleOp> read =
      parseSourceString<ModuleOp>(text, module.getContext());
  if (read)
    llvm::raw_string_ostream(again) << *read;
  if (text == again)
    return;
  llvm::errs() << text << "is read as\n" << again;
  abort();
}

static bool runPasses(ModuleOp module,
                      llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext());
  build(manager);
  return succeeded(manager.run(module));
}

static void compile(StringRef text, StringRef target, bool withBundle) {
  DialectRegistry registry;
  fact::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module || !isQuick(*module))
    return;
  ++counts->parsed;
  checkText(*module);
  bool isFused = false;
  module->walk([&](fact::FusedOp) { isFused = true; });
  if (!isFused && !runPasses(*module, [](OpPassManager &manager) {
        manager.addPass(fact::createConvertTorchToFact());
        fact::buildRaisePipeline(manager);
      }))
    return;
  ++counts->raised;
  checkText(*module);
  OwningOpRef<ModuleOp> lowered = module->clone();
  counts->lowered += runPasses(*lowered, [](OpPassManager &manager) {
    manager.addPass(fact::createConvertFactToLinalg());
  });
  fact::CompileOptions options;
  options.discovery.target = options.target = target.str();
  options.discovery.patterns = {"/nonexistent"};
  fact::DiscoveryReport report;
  if (failed(fact::discover(*module, options.discovery, report)))
    return;
  if (failed(verify(*module)))
    abort();
  ++counts->discovered;
  checkText(*module);
  if (!withBundle)
    return;
  options.stopAfter = fact::Stage::bundle;
  options.bundle = work + "/bundle";
  options.name = "model";
  options.candidates = 1;
  counts->bundled += succeeded(fact::compile(*module, options));
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

static std::string currentModule() { return work + "/module.mlir"; }

static void write(StringRef file, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(file, error);
  stream << text;
  stream.close();
  if (error || stream.has_error()) {
    llvm::errs() << "IRFuzzer: error: cannot write '" << file << "'\n";
    _exit(2);
  }
}

/// The modules of a file, or of all files below a folder, in one order.
static std::vector<std::string> readModules() {
  std::vector<std::string> files, modules;
  std::error_code error;
  for (const std::string &input : inputs) {
    if (!llvm::sys::fs::is_directory(input))
      files.push_back(input);
    for (llvm::sys::fs::recursive_directory_iterator at(input, error), end;
         at != end && !error; at.increment(error))
      if (StringRef(at->path()).ends_with(".mlir"))
        files.push_back(at->path());
  }
  llvm::sort(files);
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    SmallVector<StringRef> parts;
    if (buffer)
      (*buffer)->getBuffer().split(parts, "// -----");
    modules.insert(modules.end(), parts.begin(), parts.end());
  }
  return modules;
}

/// Runs modules from `counts->next` on.
static void runModules(const std::vector<std::string> &seeds, time_t end) {
  // Neither endless loops nor all of the machine's memory.
  static constexpr unsigned moduleSeconds = 120;
  rlimit memory{rlim_t(4) << 30, rlim_t(4) << 30};
  setrlimit(RLIMIT_AS, &memory);
  for (; counts->next - first < modules && time(nullptr) < end;
       ++counts->next) {
    std::seed_seq sequence{unsigned(seed), counts->next};
    std::mt19937 random(sequence);
    std::string text =
        fact::mutateModule(seeds[random() % seeds.size()], random);
    bool onHost = random() % 2, withBundle = random() % (onHost ? 16 : 2) == 0;
    write(currentModule(), "// seed " + std::to_string(seed) + ", module " +
                               std::to_string(counts->next) + "\n" + text);
    alarm(moduleSeconds);
    compile(text, onHost ? "host" : "h200", withBundle);
    alarm(0);
  }
}

/// What ended a child; empty where it got to the end.
static std::string runChild(llvm::function_ref<void()> run) {
  llvm::errs().flush();
  pid_t child = fork();
  if (child == 0) {
    run();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    llvm::errs() << "IRFuzzer: error: " << strerror(errno) << "\n";
    _exit(2);
  }
  if (WIFSIGNALED(status))
    return strsignal(WTERMSIG(status));
  return status ? "exit status " + std::to_string(WEXITSTATUS(status)) : "";
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Runs mutated modules\n");
  llvm::sys::fs::create_directories(work);
  void *shared = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  counts = new (shared) Counts{first, 0, 0, 0, 0, 0};
  std::vector<std::string> seeds = readModules();
  if (seeds.empty()) {
    llvm::errs() << "IRFuzzer: error: no modules in the folders\n";
    return 2;
  }
  if (!llvm::sys::fs::is_directory(inputs.front())) {
    for (const std::string &text : seeds)
      for (StringRef target : {"host", "h200"})
        compile(text, target, /*withBundle=*/true);
    return 0;
  }
  if (!seed)
    seed = std::random_device()() | 1;
  llvm::errs() << "IRFuzzer: seed " << seed << ", " << seeds.size()
               << " modules to mutate\n";
  time_t until = seconds == ~0u ? time_t(1) << 40 : time(nullptr) + seconds;
  auto runRest = [&] { return runChild([&] { runModules(seeds, until); }); };
  unsigned found = 0;
  for (std::string end = runRest(); !end.empty() && found < 10;
       end = runRest()) {
    ++found;
    std::string kept = work + "/seed-" + std::to_string(seed) + "-module-" +
                       std::to_string(counts->next) + ".mlir";
    llvm::sys::fs::rename(currentModule(), kept);
    llvm::errs() << "IRFuzzer: error: seed " << seed << ", module "
                 << counts->next << ": " << end
                 << "; to see it again: " << argv[0] << " --work=" << work
                 << " " << kept << "\n";
    ++counts->next;
  }
  llvm::errs() << "IRFuzzer: " << counts->next - first << " modules, "
               << counts->parsed << " parsed, " << counts->raised << " raised, "
               << counts->lowered << " lowered, " << counts->discovered
               << " discovered, " << counts->bundled << " bundled, " << found
               << " failures\n";
  // A fuzzer whose mutations all fail to parse shows nothing.
  bool isDeep = counts->next - first < 1000 || counts->bundled;
  if (!isDeep)
    llvm::errs() << "IRFuzzer: error: no module reached its bundle\n";
  return found || !isDeep;
}
