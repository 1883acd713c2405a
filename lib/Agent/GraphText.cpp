//===- GraphText.cpp - A graph for language models ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GraphText.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Runtime/Text.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace fact;

static void printType(Type type, raw_ostream &os) {
  // An argument that no op uses may have any type.
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    os << runtime::escapeControls(text);
    return;
  }
  for (int64_t size : tensor.getShape())
    (ShapedType::isDynamic(size) ? os << "?" : os << size) << "x";
  os << tensor.getElementType();
}

/// Prints an attribute without its dialect and kind.
static void printAttribute(Attribute attribute, raw_ostream &os) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    os << integer.getValue();
    return;
  }
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    os << llvm::format("%g", real.getValueAsDouble());
    return;
  }
  if (auto sizes = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    llvm::interleave(sizes.asArrayRef(), os, ",");
    return;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream, /*elideType=*/true);
  // #fact<norm_kind rms> is rms.
  StringRef word = text;
  if (word.consume_front("#fact<") && word.consume_back(">"))
    word = word.rsplit(' ').second;
  os << word;
}

static void printAttributes(Operation *op, raw_ostream &os) {
  for (NamedAttribute attribute : op->getAttrs()) {
    if (attribute.getName() == "operandSegmentSizes" ||
        attribute.getName().strref().contains('.'))
      continue;
    os << " " << attribute.getName().getValue();
    if (isa<UnitAttr>(attribute.getValue()))
      continue;
    os << "=";
    printAttribute(attribute.getValue(), os);
  }
}

namespace {
/// Prints values as lines refer to them.
class Operands {
public:
  /// With or without the types of values that have no line of their own.
  explicit Operands(const llvm::DenseMap<Operation *, std::string> &ids,
                    bool withTypes)
      : ids(ids), withTypes(withTypes) {}

  void print(Value value, raw_ostream &os) const {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      os << "a" << argument.getArgNumber();
      return;
    }
    Operation *op = value.getDefiningOp();
    if (auto weight = dyn_cast<GetWeightOp>(op)) {
      printWeight(weight.getWeight(), os);
      printShape(value, os);
    } else if (auto constant = dyn_cast<ConstantOp>(op)) {
      printConstant(constant, os);
    } else if (isa<PrepareOp>(op)) {
      os << "p" << cast<OpResult>(value).getResultNumber();
      printShape(value, os);
    } else {
      os << ids.lookup(op);
    }
  }

private:
  void printShape(Value value, raw_ostream &os) const {
    if (!withTypes)
      return;
    os << "(";
    printType(value.getType(), os);
    os << ")";
  }

  /// Names of weights are untrusted: other characters are quoted and escaped,
  /// long names truncated.
  static void printWeight(StringRef name, raw_ostream &os) {
    constexpr size_t longest = 200;
    auto isPlain = [](char c) {
      return llvm::isAlnum(c) || StringRef("_.-:/[]").contains(c);
    };
    os << "w:";
    if (name.size() <= longest && llvm::all_of(name, isPlain)) {
      os << name;
      return;
    }
    os << '"';
    llvm::printEscapedString(name.take_front(longest), os);
    os << (name.size() > longest ? "...\"" : "\"");
  }

  void printConstant(ConstantOp constant, raw_ostream &os) const {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat()) {
      os << "constant";
      printShape(constant, os);
      return;
    }
    printAttribute(dense.getSplatValue<Attribute>(), os);
  }

  const llvm::DenseMap<Operation *, std::string> &ids;
  bool withTypes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Repeats
//===----------------------------------------------------------------------===//

/// Whether line `index` repeats line `before`: the same op on operands that are
/// the same, or as many lines back.
bool GraphText::repeats(size_t before, size_t index) const {
  const Line &one = lines[before], &other = lines[index];
  if (one.shape != other.shape)
    return false;
  for (auto [a, b] :
       llvm::zip_equal(one.op->getOperands(), other.op->getOperands())) {
    auto known = positions.find(a.getDefiningOp());
    auto found = positions.find(b.getDefiningOp());
    // Weights differ by layer; `shape` has all other operands without a line.
    if (known == positions.end() || found == positions.end()) {
      if (known != found)
        return false;
      continue;
    }
    if (a != b && before - known->second != index - found->second)
      return false;
  }
  return true;
}

void GraphText::findRepeats() {
  // Shorter periods, or fewer lines saved, are not worth folding.
  constexpr size_t shortest = 4, worth = 24;
  for (size_t begin = 0; begin < lines.size();) {
    Repeats best{begin, begin + 1, begin + 1};
    // At least three repetitions.
    for (size_t period = shortest; begin + 3 * period <= lines.size();
         ++period) {
      Repeats found{begin, begin + period, begin + period};
      while (found.end < lines.size() && repeats(found.end - period, found.end))
        ++found.end;
      if (found.getSaved() >= std::max(2 * period, worth) &&
          found.getSaved() > best.getSaved())
        best = found;
    }
    if (best.getSaved())
      folds.push_back(best);
    begin = best.end;
  }
}

size_t GraphText::getIndex(StringRef id) const {
  auto found = positions.find(find(id));
  return found == positions.end() ? lines.size() : found->second;
}

bool GraphText::isShown(Operation *op) const {
  size_t index = positions.lookup(op);
  return llvm::none_of(folds, [&](const Repeats &fold) {
    return index >= fold.repeated && index < fold.end;
  });
}

std::vector<std::vector<std::string>>
GraphText::getRepeats(const std::vector<std::string> &ids) const {
  std::vector<std::vector<std::string>> all{ids};
  SmallVector<size_t> indices;
  for (const std::string &id : ids)
    indices.push_back(getIndex(id));
  for (const Repeats &fold : folds) {
    auto isIn = [&](size_t begin, size_t end) {
      return !ids.empty() && llvm::all_of(indices, [&](size_t index) {
        return index >= begin && index < end;
      });
    };
    if (!isIn(fold.begin, fold.repeated))
      continue;
    for (size_t &index : indices)
      index += fold.getPeriod();
    while (isIn(fold.repeated, fold.end)) {
      std::vector<std::string> &repeated = all.emplace_back();
      for (size_t &index : indices) {
        repeated.push_back(getId(lines[index].op));
        index += fold.getPeriod();
      }
    }
    break;
  }
  return all;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

void GraphText::read(Block &block, const MachineDescription &machine) {
  // The hash of a graph was made without the types of weights.
  Operands operands(ids, /*withTypes=*/true), plain(ids, /*withTypes=*/false);
  for (Operation &op : block.without_terminator()) {
    if (!Fusibility::isFusible(&op))
      continue;
    std::string id = "n" + std::to_string(ops.size()), result;
    llvm::raw_string_ostream end(result);
    printAttributes(&op, end);
    end << " : ";
    llvm::interleave(
        op.getResultTypes(), end, [&](Type type) { printType(type, end); },
        ", ");
    StringRef name = op.getName().stripDialect();
    Line &line = lines.emplace_back();
    line.op = &op;
    line.text = (id + " = " + name).str();
    line.shape = (name + result).str();
    structure += line.text;
    llvm::raw_string_ostream stream(line.text), shape(line.shape),
        hashed(structure);
    for (Value operand : op.getOperands()) {
      stream << " ";
      operands.print(operand, stream);
      hashed << " ";
      plain.print(operand, hashed);
      Operation *source = operand.getDefiningOp();
      shape << " ";
      if (isa_and_nonnull<GetWeightOp, PrepareOp>(source))
        printType(operand.getType(), shape);
      else if (!ids.contains(source))
        operands.print(operand, shape);
    }
    stream << result;
    hashed << result << "\n";
    positions[&op] = ops.size();
    ops[id] = &op;
    ids[&op] = id;
    if (!hasSpeedOfLight(&op)) {
      stream << " | view";
      continue;
    }
    SpeedOfLight light = getSpeedOfLight(&op);
    stream << llvm::formatv(" | {0:F3} GFLOP {1:F2} MB {2:F2} us",
                            light.getFlops() / 1e9, light.bytes / 1e6,
                            light.getMicroseconds(machine));
  }
}

GraphText::GraphText(Block &block, const MachineDescription &machine) {
  llvm::raw_string_ostream os(text);
  for (BlockArgument argument : block.getArguments()) {
    os << "a" << argument.getArgNumber() << " : ";
    printType(argument.getType(), os);
    os << "\n";
  }
  structure = text;
  read(block, machine);
  findRepeats();
  auto fold = folds.begin();
  for (size_t i = 0; i < lines.size();) {
    os << lines[i++].text << "\n";
    if (fold == folds.end() || i != fold->repeated)
      continue;
    os << llvm::formatv("n{0}..n{1} repeat n{2}..n{3}\n", fold->repeated,
                        fold->end - 1, fold->begin, fold->repeated - 1);
    i = fold++->end;
  }
  std::string end = "return";
  llvm::raw_string_ostream stream(end);
  for (Value value : block.getTerminator()->getOperands()) {
    stream << " ";
    Operands(ids, /*withTypes=*/false).print(value, stream);
  }
  os << end;
  structure += end;
}

std::string GraphText::nameOps(std::string diagnostic,
                               const OpGroup &group) const {
  llvm::MapVector<StringRef, OpGroup> byName;
  for (Operation *op : group)
    byName[op->getName().getStringRef()].insert(op);
  for (const auto &[name, meant] : byName) {
    std::string quoted = ("'" + name + "'").str();
    for (size_t at = 0;
         (at = diagnostic.find(quoted, at)) != std::string::npos;)
      diagnostic.insert(at += quoted.size(), " (" + getIds(meant) + ")");
  }
  return diagnostic;
}

std::string GraphText::getIds(const OpGroup &group) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(group, os, [&](Operation *op) { os << getId(op); }, " ");
  return text;
}

std::string GraphText::getHash() const {
  return llvm::utohexstr(llvm::xxh3_64bits(structure), /*LowerCase=*/true, 16);
}
