//===- BundleKernels.cpp - The kernels of bundle.json ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BundleReader.h"
#include "fact/Tuning/ContentHash.h"
#include <limits>
#include <set>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

runtime::ElementType Kernel::referenceType(size_t i) const {
  return runtime::referenceTypeOf(results[i].type);
}

static void readKernelSource(const Node &node, const fs::path &folder,
                             KernelSource &kernel) {
  std::optional<Node> source = node.optional("source");
  std::optional<Node> object = node.optional("object");
  if (source.has_value() == object.has_value())
    node.fail("expected one of 'source' and 'object'");
  if (source)
    kernel.source = readPath(*source, folder);
  else
    kernel.object = readPath(*object, folder);
  kernel.symbol = node["symbol"].identifier();
  if (std::optional<Node> flags = node.optional("flags"))
    kernel.flags = flags->words();
  if (std::optional<Node> link = node.optional("link"))
    kernel.link = link->words();
}

static double readNonNegative(const Node &node) {
  double value = node.real();
  if (!(value >= 0))
    node.fail("expected a number of 0 or more");
  return value;
}

/// Does not change the value if the key is missing.
static void readOptional(const Node &node, const char *key, double &value) {
  if (std::optional<Node> given = node.optional(key))
    value = readNonNegative(*given);
}

/// Reads one of several words.
static std::string readWord(const Node &node,
                            std::initializer_list<const char *> known) {
  std::string text = node.string(), list;
  for (const char *word : known) {
    if (text == word)
      return text;
    list += (list.empty() ? "\"" : ", \"") + std::string(word) + "\"";
  }
  node.fail("expected one of " + list + ", found \"" + text + "\"");
}

static Operand readOperand(const Node &node) {
  Operand operand;
  readTensor(node, operand);
  readOptional(node, "large", operand.large);
  readOptional(node, "negative", operand.negative);
  readOptional(node, "middle", operand.middle);
  for (auto [key, flag] : {std::pair("mask", &Operand::mask),
                           std::pair("wide", &Operand::wide),
                           std::pair("outside", &Operand::outside)})
    if (std::optional<Node> value = node.optional(key))
      operand.*flag = value->boolean();
  if (std::optional<Node> avoid = node.optional("avoid"))
    for (const Node &each : avoid->list())
      operand.avoid.push_back(readWord(
          each, {"nan", "+inf", "-inf", "denormal", "largest", "equal"}));
  if (std::optional<Node> scale = node.optional("scale"))
    operand.scale = scale->real();
  std::optional<Node> fill = node.optional("fill");
  if (fill && fill->string() == "uniform") {
    operand.uniform = true;
    operand.low = node["low"].real();
    operand.high = node["high"].real();
    if (!(operand.low < operand.high))
      node["high"].fail("expected more than 'low'");
  } else if (fill && fill->string() != "normal")
    fill->fail("expected \"normal\" or \"uniform\", found \"" + fill->string() +
               "\"");
  else if (runtime::isInteger(operand.type))
    node.fail("an integer operand needs \"fill\": \"uniform\" with 'low' and "
              "'high'");
  return operand;
}

static Result readResult(const Node &node) {
  Result result;
  readTensor(node, result);
  Node tolerance = node["tolerance"];
  result.norm = readNonNegative(tolerance["norm"]);
  result.element = readNonNegative(tolerance["element"]);
  readOptional(tolerance, "large", result.large);
  if (std::optional<Node> rows = tolerance.optional("rows"))
    result.rows = rows->count();
  if (std::optional<Node> undecided = node.optional("undecided"))
    result.undecided = undecided->boolean();
  return result;
}

Kernel readKernel(const Node &node, const fs::path &folder) {
  Kernel kernel;
  kernel.name = node["name"].identifier();
  if (std::optional<Node> rule = node.optional("rule"))
    kernel.rule = rule->line();
  if (std::optional<Node> problem = node.optional("problem"))
    kernel.problem = problem->raw();
  for (const Node &operand : node["operands"].list())
    kernel.operands.push_back(readOperand(operand));
  for (const Node &result : node["results"].list())
    kernel.results.push_back(readResult(result));
  if (kernel.results.empty())
    node["results"].fail("expected at least one result");
  readOptional(node, "sol_us", kernel.solUs);
  readOptional(node, "flops", kernel.flops);
  readOptional(node, "bytes", kernel.bytes);
  readKernelSource(node["reference"], folder, kernel.reference);

  std::set<std::string> keys;
  for (const Node &item : node["candidates"].list()) {
    Candidate candidate;
    readKernelSource(item, folder, candidate);
    candidate.key = item["key"].line();
    if (!keys.insert(candidate.key).second)
      item["key"].fail("duplicate key \"" + candidate.key + "\"");
    std::optional<Node> predicted = item.optional("predicted_us");
    candidate.predictedUs = predicted ? readNonNegative(*predicted)
                                      : std::numeric_limits<double>::infinity();
    if (std::optional<Node> repeatable = item.optional("repeatable"))
      candidate.repeatable = repeatable->boolean();
    kernel.candidates.push_back(std::move(candidate));
  }
  if (kernel.candidates.empty())
    node["candidates"].fail("expected at least one candidate");
  return kernel;
}

std::string hashKernel(const Node &node, const Kernel &kernel,
                       const Bundle &bundle) {
  nlohmann::ordered_json essence;
  for (const char *key :
       {"operands", "results", "sol_us", "rule", "ops"})
    if (std::optional<Node> part = node.optional(key))
      essence[key] = part->raw();
  essence["target"] = bundle.target;
  const fs::path &reference = kernel.reference.source.empty()
                                  ? kernel.reference.object
                                  : kernel.reference.source;
  return ContentHash().add(essence.dump()).add(readFile(reference)).text();
}

} // namespace tuning
} // namespace fact
