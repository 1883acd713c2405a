//===- GraphText.cpp - A graph for language models ------------------------===//

#include "GraphText.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace fact;

static void printType(Type type, raw_ostream &os) {
  // What no op of the graph uses may be of any type.
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    os << type;
    return;
  }
  for (int64_t size : tensor.getShape())
    (ShapedType::isDynamic(size) ? os << "?" : os << size) << "x";
  os << tensor.getElementType();
}

/// An attribute without the words that say what kind of attribute it is.
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
/// Names values as a line refers to them.
class Operands {
public:
  explicit Operands(const llvm::DenseMap<Operation *, std::string> &ids)
      : ids(ids) {}

  void print(Value value, raw_ostream &os) const {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      os << "a" << argument.getArgNumber();
      return;
    }
    Operation *op = value.getDefiningOp();
    if (auto weight = dyn_cast<GetWeightOp>(op))
      os << "w:" << weight.getWeight();
    else if (auto constant = dyn_cast<ConstantOp>(op))
      printConstant(constant, os);
    else if (isa<PrepareOp>(op))
      os << "p" << cast<OpResult>(value).getResultNumber();
    else
      os << ids.lookup(op);
  }

private:
  static void printConstant(ConstantOp constant, raw_ostream &os) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat()) {
      os << "constant";
      return;
    }
    printAttribute(dense.getSplatValue<Attribute>(), os);
  }

  const llvm::DenseMap<Operation *, std::string> &ids;
};
} // namespace

GraphText::GraphText(Block &block, const MachineDescription &machine) {
  llvm::raw_string_ostream os(text), shape(structure);
  for (BlockArgument argument : block.getArguments()) {
    std::string line;
    llvm::raw_string_ostream stream(line);
    stream << "a" << argument.getArgNumber() << " : ";
    printType(argument.getType(), stream);
    os << line << "\n";
    shape << line << "\n";
  }
  Operands operands(ids);
  for (Operation &op : block.without_terminator()) {
    if (!Fusibility::isFusible(&op))
      continue;
    std::string id = "n" + std::to_string(ops.size());
    std::string line;
    llvm::raw_string_ostream stream(line);
    stream << id << " = " << op.getName().stripDialect();
    for (Value operand : op.getOperands()) {
      stream << " ";
      operands.print(operand, stream);
    }
    printAttributes(&op, stream);
    stream << " : ";
    llvm::interleave(
        op.getResultTypes(), stream,
        [&](Type type) { printType(type, stream); }, ", ");
    ops[id] = &op;
    ids[&op] = id;
    shape << line << "\n";
    os << line;
    if (hasSpeedOfLight(&op)) {
      SpeedOfLight light = getSpeedOfLight(&op);
      os << llvm::formatv(" | {0:F3} GFLOP {1:F2} MB {2:F2} us",
                          light.getFlops() / 1e9, light.bytes / 1e6,
                          light.getMicroseconds(machine));
    } else {
      os << " | view";
    }
    os << "\n";
  }
  os << "return";
  shape << "return";
  for (Value value : block.getTerminator()->getOperands()) {
    os << " ";
    shape << " ";
    operands.print(value, os);
    operands.print(value, shape);
  }
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
