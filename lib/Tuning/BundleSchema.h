//===- BundleSchema.h - The keys of bundle.json -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structs of fact/Tuning/Bundle.h as docs/bundle.md has them. The compiler
// writes by these descriptions, and fact-tune reads by them.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TUNING_BUNDLESCHEMA_H
#define FACT_LIB_TUNING_BUNDLESCHEMA_H

#include "BundleArchive.h"
#include "BundleChecks.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/BundleFolder.h"
#include <cmath>

namespace fact {
namespace tuning {

template <typename T> using WordsOf = std::vector<std::pair<const char *, T>>;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

template <typename Archive>
void describeTensor(Archive &archive, Tensor &tensor) {
  archive.field("type", tensor.type);
  archive.field("shape", tensor.shape,
                [&](const Node &node) { return readShape(node, tensor.type); });
}

template <typename Archive> void describe(Archive &archive, Tensor &tensor) {
  archive.field("name", tensor.name, &Node::name);
  describeTensor(archive, tensor);
}

template <typename Archive> void describe(Archive &archive, Weight &weight) {
  describe(archive, static_cast<Tensor &>(weight));
  std::string hash = weight.baked ? printHash(*weight.baked) : "";
  archive.optional("baked", hash, weight.baked.has_value(),
                   [&](const Node &node) { weight.baked = readHash(node); });
  archive.optional(
      "data", weight.data, !weight.data.empty(),
      [&](const Node &node) { checkData(node, weight.data, weight); });
}

template <typename Archive>
void describe(Archive &archive, Constant &constant) {
  describeTensor(archive, constant);
  archive.field("data", constant.data, [&](const Node &node) {
    checkData(node, constant.data, constant);
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

template <typename Archive> void describe(Archive &archive, Part &part) {
  archive.field("begin", part.begin);
  archive.field("end", part.end);
  archive.field("pitch", part.pitch);
  archive.optional("spare", part.spare, part.spare != 0);
}

template <typename Archive> void describe(Archive &archive, Operand &operand) {
  static const WordsOf<bool> fills = {{"normal", false}, {"uniform", true}};
  describeTensor(archive, operand);
  bool isFloat = runtime::isFloat(operand.type);
  archive.optional("scale", operand.scale, isFloat, &Node::real);
  archive.optional("factors", operand.factors, operand.factors != 0);
  archive.optional("large", operand.large, isFloat);
  archive.optional("negative", operand.negative, operand.negative != 0);
  archive.optional("middle", operand.middle, operand.middle != 0);
  archive.optional("mask", operand.mask, operand.mask);
  archive.optional("wide", operand.wide, operand.wide);
  archive.optional("outside", operand.outside, operand.outside);
  archive.optional("avoid", operand.avoid, !operand.avoid.empty(),
                   [](const Node &node) { checkAvoided(node); });
  archive.optional(
      "part", operand.part, operand.part.pitch != 0,
      [&](const Node &node) { checkPart(node, operand, operand.part); });
  archive.optional("band", operand.band, !operand.band.empty());
  archive.optional("fill", choice(operand.uniform, fills), operand.uniform);
  if (operand.uniform) {
    archive.field("low", operand.low, &Node::real);
    archive.field("high", operand.high, &Node::real);
  }
  archive.whenRead([&](const Node &node) { checkFill(node, operand); });
}

template <typename Archive> void describe(Archive &archive, Result &result) {
  describeTensor(archive, result);
  archive.object("tolerance", [&](auto &tolerance) {
    tolerance.field("norm", result.norm);
    tolerance.field("element", result.element);
    tolerance.optional("large", result.large, result.large != 0);
    tolerance.optional("rows", result.rows, result.rows != 0);
  });
  archive.optional("undecided", result.undecided, result.undecided);
  archive.optional("part", result.part, result.part.pitch != 0,
                   [&](const Node &node) { checkWritten(node, result); });
}

template <typename Archive>
void describe(Archive &archive, KernelSource &kernel) {
  archive.optional("source", kernel.source, !kernel.source.empty());
  archive.optional("object", kernel.object, !kernel.object.empty());
  archive.whenRead([&](const Node &node) { checkSource(node, kernel); });
  archive.field("symbol", kernel.symbol, &Node::identifier);
  archive.optional("flags", kernel.flags, !kernel.flags.empty());
  archive.optional("link", kernel.link, !kernel.link.empty());
}

template <typename Archive>
void describe(Archive &archive, Candidate &candidate) {
  archive.field("key", candidate.key, &Node::line);
  describe(archive, static_cast<KernelSource &>(candidate));
  archive.optional("sizes", candidate.sizes, !candidate.sizes.empty());
  archive.optional("predicted_us", candidate.predictedUs,
                   std::isfinite(candidate.predictedUs));
  archive.optional("repeatable", candidate.repeatable, !candidate.repeatable);
  archive.optional("fallback", candidate.fallback, candidate.fallback);
}

template <typename Archive> void describe(Archive &archive, Product &product) {
  archive.field("operands", product.operands);
  archive.object("result",
                 [&](auto &result) { describeTensor(result, product.result); });
  archive.field("candidates", product.candidates);
}

template <typename Archive>
void describe(Archive &archive, Strategy &strategy) {
  archive.field("kind", strategy.kind, checkStrategy);
  archive.optional("entry", strategy.entry, !strategy.entry.empty(),
                   &Node::line);
}

template <typename Archive> void describe(Archive &archive, Problem &problem) {
  archive.optional("format", problem.format, true);
  archive.field("dtype", problem.dtype, &Node::line);
  archive.field("ops", problem.ops, &Node::line);
  archive.field("extents", problem.extents);
  archive.optional("example", problem.example, !problem.example.empty(),
                   &Node::line);
}

/// What a kernel's results depend on, and are therefore hashed with; the
/// reference and the target besides.
template <typename Archive>
void describeEssence(Archive &archive, Kernel &kernel) {
  archive.optional("rule", kernel.rule, true, &Node::line);
  archive.optional("ops", kernel.ops, true);
  archive.field("operands", kernel.operands);
  archive.field("results", kernel.results, [&](const Node &node) {
    if (kernel.results.empty())
      node.fail("expected at least one result");
  });
  archive.optional("sol_us", kernel.solUs, true);
}

template <typename Archive> void describe(Archive &archive, Kernel &kernel) {
  archive.field("name", kernel.name, &Node::identifier);
  describeEssence(archive, kernel);
  archive.optional("strategy", kernel.strategy, kernel.strategy.has_value());
  archive.optional("priority", kernel.priority, kernel.priority != 0);
  archive.optional("problem", kernel.problem, kernel.problem.has_value());
  archive.optional("flops", kernel.flops, true);
  archive.optional("flops_by_type", kernel.flopsByType,
                   !kernel.flopsByType.empty());
  archive.optional("bytes", kernel.bytes, true);
  archive.field("reference", kernel.reference);
  archive.field("candidates", kernel.candidates, [&](const Node &node) {
    checkCandidates(node, kernel.candidates);
  });
  archive.optional("product", kernel.product, kernel.product.has_value(),
                   [&](const Node &node) { checkProduct(node, kernel); });
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

template <typename Archive> void describe(Archive &archive, Value &value) {
  using runtime::ValueKind;
  static const WordsOf<ValueKind> kinds = {{"input", ValueKind::Input},
                                           {"weight", ValueKind::Weight},
                                           {"constant", ValueKind::Constant},
                                           {"prepared", ValueKind::Prepared},
                                           {"workspace", ValueKind::Workspace},
                                           {"output", ValueKind::Output},
                                           {"part", ValueKind::Part}};
  archive.field("kind", choice(value.kind, kinds));
  bool isPart = value.kind == ValueKind::Part;
  if (isPart || !value.isInRegion())
    archive.field(isPart ? "of" : "index", value.index);
  if (isPart || value.isInRegion()) {
    archive.field("offset", value.offset);
    archive.field("bytes", value.bytes);
  }
}

template <typename Archive>
void describe(Archive &archive, Bundle &bundle, Step &step, bool isPrepare) {
  std::string kernel =
      Archive::isReader ? "" : bundle.kernels[step.kernel].name;
  archive.field("kernel", kernel, [&](const Node &node) {
    step.kernel = findKernel(node, bundle);
    bundle.kernels[step.kernel].used = true;
  });
  archive.field("operands", step.operands, [&](const Node &node) {
    checkOperands(node, bundle, step, isPrepare);
  });
  archive.field("results", step.results, [&](const Node &node) {
    checkResults(node, bundle, step, isPrepare);
  });
}

/// Checked as a whole: by itself a step says neither whose memory it reads nor
/// whose it writes.
template <typename Archive>
void describe(Archive &archive, Bundle &bundle, Alternative &alternative) {
  auto describeKernel = [&](auto &item, uint32_t &position) {
    std::string name = Archive::isReader ? "" : bundle.kernels[position].name;
    item.field("kernel", name,
               [&](const Node &node) { position = findKernel(node, bundle); });
  };
  describeKernel(archive, alternative.kernel);
  archive.field("form", alternative.form, &Node::identifier);
  archive.field("values", alternative.values);
  archive.list("steps", alternative.steps, [&](auto &item, Step &step) {
    describeKernel(item, step.kernel);
    item.field("operands", step.operands);
    item.field("results", step.results);
  });
  archive.whenRead(
      [&](const Node &node) { checkAlternative(node, bundle, alternative); });
}

//===----------------------------------------------------------------------===//
// The bundle
//===----------------------------------------------------------------------===//

template <typename Archive>
void describe(Archive &archive, Processor &processor) {
  archive.field("architecture", processor.architecture);
  archive.field("name", processor.name);
  archive.field("features", processor.features);
}

template <typename Archive>
void describe(Archive &archive, TargetMachine &target) {
  static const WordsOf<bool> kinds = {{"cuda", true}, {"host", false}};
  archive.field("kind", choice(target.cuda, kinds));
  archive.field("arch", target.architecture);
  archive.optional("machine", target.machine, !target.machine.empty());
  archive.optional("cpu", target.processor,
                   !target.processor.architecture.empty());
}

/// What tells a bundle from other folders with a file of this name.
template <typename Archive>
void describeIdentity(Archive &archive, std::string &magic, std::string &name) {
  archive.optional("magic", magic, true);
  archive.field("name", name, &Node::identifier);
}

template <typename Archive> void describe(Archive &archive, Bundle &bundle) {
  uint64_t format = bundleFormat;
  archive.field("format", format, checkFormat);
  std::string magic = bundleMagic;
  describeIdentity(archive, magic, bundle.name);
  archive.field("target", bundle.target);
  archive.optional("versions", bundle.versions, true);
  archive.optional("signature", bundle.signature, !bundle.signature.empty());
  archive.field("inputs", bundle.inputs,
                [&](const Node &node) { checkNames(node, bundle.inputs); });
  archive.field("outputs", bundle.outputs,
                [&](const Node &node) { checkNames(node, bundle.outputs); });
  archive.field("weights", bundle.weights,
                [&](const Node &node) { checkNames(node, bundle.weights); });
  archive.optional("constants", bundle.constants, true);
  archive.field("workspace_bytes", bundle.workspaceBytes);
  archive.field("prepared_bytes", bundle.preparedBytes);
  archive.field("values", bundle.values,
                [&](const Node &node) { checkValues(node, bundle); });
  archive.field("kernels", bundle.kernels, [&](const Node &node) {
    checkNames(node, bundle.kernels);
    finishKernels(bundle);
  });
  archive.optionalList("prepare", bundle.prepare, [&](auto &item, Step &step) {
    describe(item, bundle, step, /*isPrepare=*/true);
  });
  archive.list("program", bundle.program, [&](auto &item, Step &step) {
    describe(item, bundle, step, /*isPrepare=*/false);
  });
  archive.optionalList("alternatives", bundle.alternatives,
                       [&](auto &item, Alternative &alternative) {
                         describe(item, bundle, alternative);
                       });
  archive.object("commands", [&](auto &commands) {
    commands.field("compile", bundle.compile, [&](const Node &node) {
      checkCommand(node, bundle.compile, {"{flags}", "{source}", "{output}"});
    });
    commands.field("link", bundle.link, [&](const Node &node) {
      checkCommand(node, bundle.link, {"{inputs}", "{link}", "{output}"});
    });
    commands.field("link_program", bundle.linkProgram, [&](const Node &node) {
      checkCommand(node, bundle.linkProgram,
                   {"{inputs}", "{link}", "{output}"});
    });
  });
}

} // namespace tuning
} // namespace fact

#endif // FACT_LIB_TUNING_BUNDLESCHEMA_H
