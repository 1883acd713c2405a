//===- AnswerFuzzer.cpp - Anything at all as a model's answer -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes go the way of a response: completion, patterns and refinements, ops and
// spaces of a real graph, Fusibility, `fact.fused`. Nothing may crash, and what
// is accepted must be IR that verifies.
//
//===----------------------------------------------------------------------===//

#include "Dialogue.h"
#include "GraphText.h"
#include "SpaceLists.h"
#include "fact/Fusion/Discovery.h"
#include "fact/Fusion/Retrieval.h"
#include "fact/Kernel/Neighbors.h"
#include "fact/Target/Targets.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace fact;

static const char *graphText = R"(
fact.weight @w : tensor<32x32xbf16>
func.func @main(%x: tensor<64x32xbf16>, %b: tensor<32xbf16>)
    -> (tensor<64x32xbf16>, tensor<64x32xbf16>) {
  %w = fact.get_weight @w : tensor<32x32xbf16>
  %0 = fact.norm rms %x eps 1.000000e-05 : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %1 = fact.matmul %0, %w transpose_b : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xbf16>
  %2 = fact.add %1, %b : (tensor<64x32xbf16>, tensor<32xbf16>) -> tensor<64x32xbf16>
  %3 = fact.gelu %2 : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %4 = fact.matmul %0, %w : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xbf16>
  %5 = fact.mul %3, %4 : (tensor<64x32xbf16>, tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %6 = fact.exp %5 : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %7 = fact.tanh %5 : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %8 = fact.add %6, %7 : (tensor<64x32xbf16>, tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %9 = fact.mul %7, %6 : (tensor<64x32xbf16>, tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %10 = fact.softmax %9 dim 1 : tensor<64x32xbf16>
  return %8, %10 : tensor<64x32xbf16>, tensor<64x32xbf16>
}
)";

namespace {
/// A target with its module. Attributes live as long as their context, so it is
/// made anew now and then.
class Compiler {
public:
  explicit Compiler(StringRef machine)
      : context(MLIRContext::Threading::DISABLED),
        target(createTarget(registerTargets(context), *findMachine(machine))),
        fusibility(*target) {
    context.loadDialect<FactDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(graphText, &context);
    if (!module)
      abort();
    // A registry with entries that are of this graph, near it, and far.
    options.patterns = {FACT_FUZZ_PATTERNS};
    if (registry::Registry::load({FACT_FUZZ_PATTERNS},
                                 [](const std::string &) { abort(); })
            .getEntries()
            .empty())
      abort();
    retrieval.emplace(*module, options, *target);
  }

  static MLIRContext *registerTargets(MLIRContext &context) {
    DialectRegistry registry;
    registerAllTargets(registry);
    context.appendDialectRegistry(registry);
    return &context;
  }

  void propose(const std::vector<chat::Pattern> &patterns);
  void refine(const std::vector<chat::Refinement> &kernels);

private:
  InFlightDiagnostic complain() { return emitError(UnknownLoc::get(&context)); }

  MLIRContext context;
  std::unique_ptr<Target> target;
  Fusibility fusibility;
  OwningOpRef<ModuleOp> module;
  DiscoveryOptions options;
  std::optional<Retrieval> retrieval;
};
} // namespace

void Compiler::propose(const std::vector<chat::Pattern> &patterns) {
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy = module->clone();
  Block &block = (*copy->getOps<func::FuncOp>().begin()).getBody().front();
  GraphText graph(block, target->getMachine());
  GroupedBlock decided(block);
  std::vector<Proposal> accepted;
  for (const chat::Pattern &pattern : patterns) {
    FailureOr<Proposal> proposal =
        resolvePattern(pattern, graph, *retrieval, decided, fusibility,
                       [&] { return complain(); });
    if (failed(proposal) ||
        fusibility.check(proposal->rule, proposal->ops, proposal->space,
                         decided, [&] { return complain(); }))
      continue;
    decided.add(proposal->ops);
    accepted.push_back(std::move(*proposal));
  }
  if (accepted.empty())
    return;
  IRRewriter rewriter(&context);
  for (const Proposal &proposal : accepted) {
    FusedOp fused = fusibility.fuse(proposal.rule, proposal.ops, rewriter);
    if (proposal.space)
      fused.setSpaceAttr(proposal.space);
    if (proposal.strategy)
      fused.setStrategyAttr(proposal.strategy);
  }
  if (!sortTopologically(&block) || failed(verify(*copy))) {
    copy->dump();
    abort();
  }
}

void Compiler::refine(const std::vector<chat::Refinement> &kernels) {
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  auto base = cast<SpaceAttrInterface>(
      parseAttribute("#fact.sm90_gemm_space<tile = [128x128x64], cluster = "
                     "[1x1, 2x1], kernel = "
                     "[pingpong], swizzle = [1, 2]>",
                     &context));
  ScheduleAttr first = base.enumerate().front();
  for (const chat::Refinement &refinement : kernels) {
    (void)parseSchedule(&context, refinement.kernel);
    FailureOr<SpaceAttrInterface> space =
        replaceLists(base, refinement.space, [&] { return complain(); });
    if (succeeded(space))
      (void)getNeighbors(first, *space);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static constexpr unsigned lifetime = 5000;
  static std::unique_ptr<Compiler> host, gpu;
  static unsigned age = 0;

  std::string text(reinterpret_cast<const char *>(data), size);
  chat::Reply reply = chat::readCompletion(text);
  const std::string &content = reply.error.empty() ? reply.content : text;
  chat::PatternAnswer patterns = chat::readPatterns(content);
  chat::RefinementAnswer refinements = chat::readRefinements(content);
  if (patterns.patterns.empty() && refinements.kernels.empty())
    return 0;
  if (age++ % lifetime == 0) {
    host = std::make_unique<Compiler>("host");
    gpu = std::make_unique<Compiler>("h200");
  }
  host->propose(patterns.patterns);
  gpu->propose(patterns.patterns);
  gpu->refine(refinements.kernels);
  return 0;
}
