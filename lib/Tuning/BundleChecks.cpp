//===- BundleChecks.cpp - What a bundle must satisfy ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BundleChecks.h"
#include "fact/Tuning/Alternatives.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;
using runtime::ValueKind;

static constexpr size_t maximumRank = 64;
static constexpr uint64_t maximumBytes = uint64_t(1) << 48;

void checkFormat(const Node &node) {
  if (node.count() != bundleFormat)
    node.fail("this fact-tune reads format " + std::to_string(bundleFormat) +
              "; use the fact-tune that came with the compiler");
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::vector<int64_t> readShape(const Node &node, runtime::ElementType type) {
  std::vector<Node> extents = node.list();
  if (extents.size() > maximumRank)
    node.fail("expected at most " + std::to_string(maximumRank) +
              " extents, found " + std::to_string(extents.size()));
  std::vector<int64_t> shape;
  uint64_t bytes = runtime::bytesOf(type);
  for (const Node &extent : extents) {
    uint64_t value = extent.count();
    if (value > maximumBytes)
      extent.fail("is larger than 2^48");
    if (value != 0 && bytes > maximumBytes / value)
      extent.fail("makes the tensor larger than 2^48 bytes");
    bytes *= value;
    shape.push_back(static_cast<int64_t>(value));
  }
  return shape;
}

void checkData(const Node &node, const fs::path &data, const Tensor &tensor) {
  uint64_t size = fs::file_size(data);
  if (size != tensor.bytes())
    node.fail(data.string() + " has " + std::to_string(size) + " bytes; " +
              tensor.text() + " has " + std::to_string(tensor.bytes()));
}

static constexpr std::string_view hashPrefix = "fnv1a64:";

std::string printHash(uint64_t hash) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(hash));
  return std::string(hashPrefix) + digits;
}

uint64_t readHash(const Node &node) {
  std::string text = node.string();
  const char *end = text.data() + text.size();
  if (text.compare(0, hashPrefix.size(), hashPrefix) == 0 &&
      text.size() == hashPrefix.size() + 16) {
    uint64_t hash = 0;
    std::from_chars_result read =
        std::from_chars(text.data() + hashPrefix.size(), end, hash, 16);
    if (read.ptr == end)
      return hash;
  }
  node.fail("expected \"" + std::string(hashPrefix) +
            "\" and 16 hexadecimal digits, found \"" + text + "\"");
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static void checkWord(const Node &node, const Words &words) {
  if (std::find(words.begin(), words.end(), node.string()) == words.end())
    node.failWords(words);
}

void checkAvoided(const Node &node) {
  for (const Node &each : node.list())
    checkWord(each, {"nan", "+inf", "-inf", "denormal", "largest", "equal"});
}

void checkStrategy(const Node &node) {
  checkWord(node, {"reuse", "adapt", "new"});
}

void checkFill(const Node &node, const Operand &operand) {
  if (!operand.band.empty() &&
      (operand.band.size() != 2 || operand.shape.size() < 2 ||
       runtime::isInteger(operand.type)))
    node.fail("a 'band' has two bounds, of matrices of floats or booleans");
  if (operand.uniform && !(operand.low < operand.high))
    node.fail("expected a 'high' of more than 'low'");
  if (runtime::isInteger(operand.type) && !operand.uniform)
    node.fail("an integer operand needs \"fill\": \"uniform\" with 'low' and "
              "'high'");
}

void checkPart(const Node &node, const Tensor &tensor, const Part &part) {
  uint64_t element = runtime::bytesOf(tensor.type);
  if (!(part.begin < part.end && part.end <= part.pitch) ||
      part.spare > part.pitch - part.end || tensor.bytes() % part.pitch != 0 ||
      part.begin % element != 0 || part.end % element != 0 ||
      part.pitch % element != 0 || part.spare % element != 0)
    node.fail("expected elements from 'begin' to 'end', and 'spare' ones "
              "behind them, of rows of 'pitch' bytes, which divide the " +
              std::to_string(tensor.bytes()) + " bytes of " + tensor.text());
}

void checkWritten(const Node &node, const Result &result) {
  checkPart(node, result, result.part);
  if (!runtime::isFloat(result.type))
    node.fail("expected a result of floats: others cannot tell which elements "
              "a kernel left alone");
}

void checkSource(const Node &node, const KernelSource &kernel) {
  if (kernel.source.empty() == kernel.object.empty())
    node.fail("expected one of 'source' and 'object'");
}

void checkCandidates(const Node &node,
                     const std::vector<Candidate> &candidates) {
  if (candidates.empty())
    node.fail("expected at least one candidate");
  std::set<std::string> keys;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (!keys.insert(candidates[i].key).second)
      node.list()[i].fail("duplicate key \"" + candidates[i].key + "\"");
}

void checkProduct(const Node &node, const Kernel &kernel) {
  for (uint32_t operand : kernel.product->operands)
    if (operand >= kernel.operands.size())
      node["operands"].fail("expected positions of the kernel's " +
                            std::to_string(kernel.operands.size()) +
                            " operands, found " + std::to_string(operand));
  checkCandidates(node["candidates"], kernel.product->candidates);
  std::set<std::string> keys;
  for (const Candidate &candidate : kernel.candidates)
    keys.insert(candidate.key);
  for (size_t i = 0; i < kernel.product->candidates.size(); ++i)
    if (const std::string &key = kernel.product->candidates[i].key;
        !keys.count(key))
      node["candidates"].list()[i].fail(
          "expected the key of a candidate of the kernel, found \"" + key +
          "\"");
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static void checkRegion(const Node &node, const Value &value,
                        const Bundle &bundle) {
  bool isPrepared = value.kind == ValueKind::Prepared;
  uint64_t limit = isPrepared ? bundle.preparedBytes : bundle.workspaceBytes;
  if (value.offset % 256 != 0)
    node.fail("expected an 'offset' that is a multiple of 256, found " +
              std::to_string(value.offset));
  if (value.offset > limit || value.bytes > limit - value.offset)
    node.fail("ends at byte " + std::to_string(value.offset + value.bytes) +
              ", but the bundle has " + std::to_string(limit) + " bytes of " +
              (isPrepared ? "prepared values" : "workspace"));
}

/// A part is within a value before it that is no part.
static void checkPart(const Node &node, size_t position, const Value &part,
                      const Bundle &bundle) {
  if (part.index >= position ||
      bundle.values[part.index].kind == ValueKind::Part)
    node.fail("'of' is " + std::to_string(part.index) +
              "; expected the position of an earlier value that is not a part");
  const Value &whole = bundle.values[part.index];
  if (part.offset > whole.bytes || part.bytes > whole.bytes - part.offset)
    node.fail("ends at byte " + std::to_string(part.offset + part.bytes) +
              ", but value " + std::to_string(part.index) + " has " +
              std::to_string(whole.bytes));
}

void checkValues(const Node &node, Bundle &bundle) {
  for (size_t i = 0; i < bundle.values.size(); ++i) {
    Value &value = bundle.values[i];
    auto take = [&](const auto &tensors, const char *what) {
      if (value.index >= tensors.size())
        node.list()[i].fail("'index' is " + std::to_string(value.index) +
                            ", but there are " +
                            std::to_string(tensors.size()) + " " + what);
      value.bytes = tensors[value.index].bytes();
    };
    switch (value.kind) {
    case ValueKind::Input:
      take(bundle.inputs, "inputs");
      break;
    case ValueKind::Weight:
      take(bundle.weights, "weights");
      break;
    case ValueKind::Constant:
      take(bundle.constants, "constants");
      break;
    case ValueKind::Output:
      take(bundle.outputs, "outputs");
      break;
    case ValueKind::Prepared:
    case ValueKind::Workspace:
      checkRegion(node.list()[i], value, bundle);
      break;
    case ValueKind::Part:
      checkPart(node.list()[i], i, value, bundle);
    }
  }
}

uint32_t findKernel(const Node &node, const Bundle &bundle) {
  std::string name = node.string();
  auto kernel =
      std::find_if(bundle.kernels.begin(), bundle.kernels.end(),
                   [&](const Kernel &each) { return each.name == name; });
  if (kernel == bundle.kernels.end())
    node.fail("unknown kernel \"" + name + "\"");
  return static_cast<uint32_t>(kernel - bundle.kernels.begin());
}

/// The values that a step names are tensors of the kernel's operands or
/// results, `what`.
template <typename T>
static void checkUses(const Node &node, const Bundle &bundle,
                      const std::string &kernel, const std::vector<T> &tensors,
                      const std::vector<uint32_t> &values,
                      const std::string &what) {
  if (values.size() != tensors.size())
    node.fail("kernel \"" + kernel + "\" has " +
              std::to_string(tensors.size()) + " " + what + "s, found " +
              std::to_string(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= bundle.values.size())
      node.list()[i].fail("is " + std::to_string(values[i]) +
                          ", but there are " +
                          std::to_string(bundle.values.size()) + " values");
    const Tensor &tensor = tensors[i];
    const Value &value = bundle.values[values[i]];
    bool fits = value.isInRegion() ? tensor.bytes() <= value.bytes
                                   : tensor.bytes() == value.bytes;
    if (!fits)
      node.list()[i].fail("this value has " + std::to_string(value.bytes) +
                          " bytes; the kernel's " + what + " is " +
                          tensor.text() + " with " +
                          std::to_string(tensor.bytes()));
    uint64_t alignment = runtime::bufferAlignment(
        bundle.target.cuda, runtime::bytesOf(tensor.type));
    if (value.kind == ValueKind::Part && value.offset % alignment != 0)
      node.list()[i].fail(
          "this value begins at byte " + std::to_string(value.offset) +
          " of value " + std::to_string(value.index) + "; the kernel's " +
          what + " needs a multiple of " + std::to_string(alignment));
  }
}

void checkOperands(const Node &node, Bundle &bundle, const Step &step,
                   bool isPrepare) {
  Kernel &kernel = bundle.kernels[step.kernel];
  checkUses(node, bundle, kernel.name, kernel.operands, step.operands,
            "operand");
  for (size_t i = 0; i < step.operands.size(); ++i) {
    ValueKind kind = bundle.values[bundle.wholeOf(step.operands[i])].kind;
    bool isFixed = kind == ValueKind::Weight || kind == ValueKind::Constant ||
                   kind == ValueKind::Prepared;
    if (isPrepare && !isFixed)
      node.list()[i].fail("'prepare' may read only weights, constants and "
                          "prepared values");
    kernel.fixedOperands[i] = kernel.fixedOperands[i] && isFixed;
  }
}

void checkResults(const Node &node, const Bundle &bundle, const Step &step,
                  bool isPrepare) {
  const Kernel &kernel = bundle.kernels[step.kernel];
  checkUses(node, bundle, kernel.name, kernel.results, step.results, "result");
  for (size_t i = 0; i < step.results.size(); ++i) {
    ValueKind kind = bundle.values[bundle.wholeOf(step.results[i])].kind;
    bool isWritable =
        isPrepare ? kind == ValueKind::Prepared
                  : kind == ValueKind::Workspace || kind == ValueKind::Output;
    if (!isWritable)
      node.list()[i].fail(isPrepare ? "'prepare' may write only prepared values"
                                    : "'program' may write only workspace and "
                                      "outputs");
  }
}

/// Values of an alternative are operands and results of its kernel, constants,
/// workspace, and parts of those.
static void checkValue(const Node &node, const Bundle &bundle,
                       const Alternative &alternative, const Value &value) {
  const Kernel &kernel = bundle.kernels[alternative.kernel];
  auto take = [&](size_t count, const char *what) {
    if (value.index >= count)
      node.fail("'index' is " + std::to_string(value.index) +
                ", but there are " + std::to_string(count) + " " + what);
  };
  switch (value.kind) {
  case ValueKind::Input:
    return take(kernel.operands.size(), "operands");
  case ValueKind::Output:
    return take(kernel.results.size(), "results");
  case ValueKind::Constant:
    return take(bundle.constants.size(), "constants");
  case ValueKind::Workspace:
    if (value.bytes % 256 != 0 || value.bytes > maximumBytes)
      node.fail("expected 'bytes' that are a multiple of 256, at most 2^48");
    return;
  case ValueKind::Part:
    if (value.index >= alternative.values.size() ||
        &value <= &alternative.values[value.index] ||
        alternative.values[value.index].kind == ValueKind::Part)
      node.fail("'of' is " + std::to_string(value.index) +
                "; expected the position of an earlier value that is not a "
                "part");
    return;
  default:
    node.fail("expected an input (an operand of the kernel), an output (a "
              "result of it), a constant, workspace or a part");
  }
}

void checkAlternative(const Node &node, Bundle &bundle,
                      const Alternative &alternative) {
  if (!bundle.kernels[alternative.kernel].used)
    node["kernel"].fail("no step launches this kernel");
  std::vector<Node> values = node["values"].list(),
                    steps = node["steps"].list();
  for (size_t i = 0; i < values.size(); ++i)
    checkValue(values[i], bundle, alternative, alternative.values[i]);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &step = alternative.steps[i];
    if (step.kernel == alternative.kernel)
      steps[i].fail("launches the kernel that it replaces");
    for (const std::vector<uint32_t> *list : {&step.operands, &step.results})
      for (uint32_t value : *list)
        if (value >= values.size())
          steps[i].fail("uses value " + std::to_string(value) +
                        ", but there are " + std::to_string(values.size()));
  }
  // In its place, as part of the program.
  Bundle program = applyAlternatives(bundle, {&alternative});
  for (const Value &part : program.values) {
    if (part.kind != ValueKind::Part)
      continue;
    const Value &whole = program.values[part.index];
    if (part.offset > whole.bytes || part.bytes > whole.bytes - part.offset)
      node.fail("a part ends at byte " +
                std::to_string(part.offset + part.bytes) +
                " of a value that has " + std::to_string(whole.bytes));
  }
  size_t next = 0;
  for (const Step &step : bundle.program) {
    if (step.kernel != alternative.kernel) {
      ++next;
      continue;
    }
    for (const Node &place : steps) {
      const Step &placed = program.program[next++];
      checkOperands(place["operands"], program, placed,
                    /*isPrepare=*/false);
      checkResults(place["results"], program, placed, /*isPrepare=*/false);
    }
  }
  try {
    checkOutputsWritten(program);
    checkDataflow(program);
  } catch (const Failure &problem) {
    node.fail(std::string("in its place, ") + problem.what());
  }
  for (size_t i = 0; i < bundle.kernels.size(); ++i)
    bundle.kernels[i].fixedOperands =
        std::move(program.kernels[i].fixedOperands);
  for (const Step &step : alternative.steps)
    bundle.kernels[step.kernel].usedByAlternative = true;
}

void checkCommand(const Node &node, const Words &words,
                  std::initializer_list<const char *> placeholders) {
  if (words.empty())
    node.fail("expected a command");
  for (const char *placeholder : placeholders) {
    bool there = std::any_of(words.begin(), words.end(), [&](const auto &word) {
      return word.find(placeholder) != std::string::npos;
    });
    if (!there)
      node.fail(std::string("no word contains ") + placeholder);
  }
}

} // namespace tuning
} // namespace fact
