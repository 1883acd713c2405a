//===- DescribeGraph.cpp - A graph and its kernels as JSON ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Driver/DescribeGraph.h"
#include "fact/Program/Kernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace fact;
namespace json = llvm::json;

/// Attributes are shown, not read: long ones, such as constants, are cut.
static constexpr size_t maxAttributes = 120;

namespace {
class GraphDescription {
public:
  explicit GraphDescription(ModuleOp module);

  json::Object describe(func::FuncOp function);

private:
  void addBlock(Block &block, std::optional<int64_t> group, bool prepares);
  void addOp(Operation &op, std::optional<int64_t> group, bool prepares);
  void addKernel(FusedOp fused, bool prepares);
  json::Value getSource(Value value) const;
  /// Results of `op` are what its region yields.
  void forwardYielded(Operation &op, Block &block);

  llvm::DenseMap<Operation *, std::string> names;
  llvm::DenseMap<Value, json::Value> sources;
  json::Array ops, groups;
};
} // namespace

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    for (int64_t size : tensor.getShape())
      os << size << "x";
    os << tensor.getElementType();
  } else {
    os << type;
  }
  return text;
}

static std::string printAttributes(Operation &op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (NamedAttribute attribute : op.getAttrs()) {
    if (attribute.getName() == "operandSegmentSizes")
      continue;
    os << (text.empty() ? "" : ", ") << attribute.getName().getValue();
    if (!isa<UnitAttr>(attribute.getValue()))
      os << " " << attribute.getValue();
    if (text.size() > maxAttributes)
      break;
  }
  if (text.size() > maxAttributes) {
    text.resize(maxAttributes);
    text += "...";
  }
  // A cut may have split a character, and JSON is UTF-8.
  return json::fixUTF8(text);
}

/// The line of the user's own code: the innermost one of a call.
static std::string findLine(Location loc) {
  if (auto line = dyn_cast<FileLineColLoc>(loc))
    return (llvm::sys::path::filename(line.getFilename().getValue()) + ":" +
            Twine(line.getLine()))
        .str();
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return findLine(call.getCallee());
  if (auto name = dyn_cast<NameLoc>(loc))
    return findLine(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::string line = findLine(part); !line.empty())
        return line;
  return "";
}

GraphDescription::GraphDescription(ModuleOp module) {
  for (const NamedKernel &kernel : getNamedKernels(module))
    for (FusedOp fused : kernel.steps)
      names[fused] = kernel.name;
}

json::Value GraphDescription::getSource(Value value) const {
  auto found = sources.find(value);
  return found == sources.end() ? json::Value(nullptr) : found->second;
}

void GraphDescription::forwardYielded(Operation &op, Block &block) {
  for (auto [result, yielded] :
       llvm::zip(op.getResults(), block.getTerminator()->getOperands()))
    sources.insert_or_assign(result, getSource(yielded));
}

void GraphDescription::addKernel(FusedOp fused, bool prepares) {
  json::Object group{{"kernel", names.lookup(fused)},
                     {"rule", fused.getRule()}};
  if (prepares)
    group["prepare"] = true;
  Block &block = fused->getRegion(0).front();
  for (auto [argument, operand] :
       llvm::zip(block.getArguments(), fused->getOperands()))
    sources.insert_or_assign(argument, getSource(operand));
  int64_t index = groups.size();
  groups.push_back(std::move(group));
  addBlock(block, index, prepares);
  forwardYielded(*fused, block);
}

void GraphDescription::addOp(Operation &op, std::optional<int64_t> group,
                             bool prepares) {
  if (auto get = dyn_cast<GetWeightOp>(op)) {
    sources.insert_or_assign(
        get->getResult(0),
        json::Object{{"weight", json::fixUTF8(get.getWeight())}});
    return;
  }
  if (isa<ConstantOp>(op)) {
    Value result = op.getResult(0);
    sources.insert_or_assign(
        result, json::Object{{"constant", print(result.getType())}});
    return;
  }
  if (auto fused = dyn_cast<FusedOp>(op))
    return addKernel(fused, prepares);
  if (isa<PrepareOp>(op)) {
    Block &block = op.getRegion(0).front();
    addBlock(block, group, /*prepares=*/true);
    return forwardYielded(op, block);
  }
  json::Array operands;
  for (Value operand : op.getOperands())
    operands.push_back(getSource(operand));
  json::Object entry{{"op", op.getName().stripDialect()},
                     {"operands", std::move(operands)}};
  if (op.getNumResults())
    entry["type"] = print(op.getResult(0).getType());
  if (std::string attributes = printAttributes(op); !attributes.empty())
    entry["attributes"] = std::move(attributes);
  if (std::string line = findLine(op.getLoc()); !line.empty())
    entry["line"] = std::move(line);
  if (group)
    entry["group"] = *group;
  if (prepares)
    entry["prepare"] = true;
  int64_t index = ops.size();
  for (Value result : op.getResults())
    sources.insert_or_assign(result, json::Value(index));
  ops.push_back(std::move(entry));
}

void GraphDescription::addBlock(Block &block, std::optional<int64_t> group,
                                bool prepares) {
  for (Operation &op : block.without_terminator())
    addOp(op, group, prepares);
}

json::Object GraphDescription::describe(func::FuncOp function) {
  json::Array inputs, outputs;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto given = function.getArgAttrOfType<StringAttr>(i, "fact.name");
    std::string name =
        given ? json::fixUTF8(given.getValue()) : ("input" + Twine(i)).str();
    sources.insert_or_assign(argument, json::Object{{"input", name}});
    inputs.push_back(
        json::Object{{"name", name}, {"type", print(argument.getType())}});
  }
  Block &body = function.getBody().front();
  addBlock(body, std::nullopt, /*prepares=*/false);
  for (Value value : body.getTerminator()->getOperands())
    outputs.push_back(getSource(value));
  return json::Object{{"inputs", std::move(inputs)},
                      {"ops", std::move(ops)},
                      {"groups", std::move(groups)},
                      {"outputs", std::move(outputs)}};
}

json::Object fact::describeGraph(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      return GraphDescription(module).describe(function);
  return json::Object();
}
