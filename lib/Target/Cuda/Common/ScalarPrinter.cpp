//===- ScalarPrinter.cpp - arith and math as C++ --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScalarFunction.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace fact;

StringRef fact::getScalarName(Type type) {
  if (isNarrowFloat(type))
    return getElementName(type);
  if (type.isInteger(1))
    return "bool";
  if (type.isIndex())
    return "int64_t";
  switch (toElementType(type)) {
#define FACT_ELEMENT_TYPE(Type, Name, Storage, ...)                            \
  case runtime::ElementType::Type:                                             \
    return #Storage;
#include "fact/Runtime/ElementTypes.def"
  }
  llvm_unreachable("all element types are in the table");
}

bool fact::allows(Operation *op, arith::FastMathFlags flag) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  // Some ops carry the flags only when there are any.
  arith::FastMathFlagsAttr attr =
      flags ? flags.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  return attr && arith::bitEnumContainsAny(attr.getValue(), flag);
}

/// The shortest decimal that reads back as the same number.
static std::string getLiteral(const APFloat &number, bool isDouble) {
  double value = number.convertToDouble();
  if (std::isnan(value))
    return isDouble ? "double(NAN)" : "NAN";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") +
           (isDouble ? "double(INFINITY)" : "INFINITY");
  char text[40];
  if (value == std::trunc(value) && std::fabs(value) < 1e6) {
    snprintf(text, sizeof text, "%.1f", value);
    return isDouble ? text : std::string(text) + "f";
  }
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (isDouble ? std::strtod(text, nullptr) == value
                 : std::strtof(text, nullptr) == float(value))
      break;
  }
  std::string literal = text;
  if (literal.find_first_of(".e") == std::string::npos)
    literal += ".0";
  return isDouble ? literal : literal + "f";
}

std::string fact::getScalarLiteral(TypedAttr value) {
  Type type = value.getType();
  if (auto number = dyn_cast<FloatAttr>(value))
    return getLiteral(number.getValue(), type.isF64());
  auto number = cast<IntegerAttr>(value);
  if (type.isInteger(1))
    return number.getValue().isZero() ? "false" : "true";
  if (!type.isInteger(64) && !type.isIndex())
    return std::to_string(number.getInt());
  // The literal of the least number would be positive first, and too large.
  if (number.getInt() == std::numeric_limits<int64_t>::min())
    return "INT64_MIN";
  return llvm::formatv("int64_t({0})", number.getInt());
}

std::string fact::getScalarLiteral(Value constant) {
  return getScalarLiteral(
      constant.getDefiningOp<arith::ConstantOp>().getValue());
}

std::string ScalarPrinter::getName(Value value) {
  if (auto known = names.find(value); known != names.end())
    return known->second;
  if (value.getDefiningOp<arith::ConstantOp>())
    return getScalarLiteral(value);
  return "unnamed";
}

void ScalarPrinter::printSlice(Value value) {
  Operation *root = value.getDefiningOp();
  if (!root)
    return;
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(root, &slice, options);
  Ops ops;
  for (Operation &op : *root->getBlock())
    if (slice.contains(&op))
      ops.push_back(&op);
  printOps(ops, indent);
}

/// Those of `ops` that nothing but one side of a select needs.
static SmallVector<Operation *>
getExclusive(ArrayRef<Operation *> ops, arith::SelectOp select, Value side) {
  if (select.getTrueValue() == select.getFalseValue())
    return {};
  llvm::SmallPtrSet<Operation *, 16> all(ops.begin(), ops.end()), exclusive;
  SmallVector<Operation *> found;
  for (Operation *op : llvm::reverse(ops)) {
    bool isNeededElsewhere = llvm::any_of(op->getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user == select)
        return use.get() != side || use.getOperandNumber() == 0;
      return !isa<func::ReturnOp>(user) && all.contains(user) &&
             !exclusive.contains(user);
    });
    bool isNeeded = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return user == select || exclusive.contains(user);
    });
    if (!isNeeded || isNeededElsewhere)
      continue;
    exclusive.insert(op);
    found.push_back(op);
  }
  return SmallVector<Operation *>(llvm::reverse(found));
}

/// Whether almost all elements need a side of a select: numbers are rarely
/// equal.
static bool isUsual(arith::SelectOp select, Value side) {
  using P = arith::CmpFPredicate;
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return false;
  return compare.getPredicate() == P::OEQ   ? side == select.getFalseValue()
         : compare.getPredicate() == P::UNE ? side == select.getTrueValue()
                                            : false;
}

void ScalarPrinter::printOps(ArrayRef<Operation *> ops, StringRef indent) {
  // A branch, and what it keeps from being scheduled together.
  constexpr double slotsOfBranch = 24;
  llvm::DenseMap<Operation *, SmallVector<Ops, 2>> branches;
  llvm::SmallPtrSet<Operation *, 16> deferred;
  // From the last, whose sides may have selects of their own.
  for (Operation *op : llvm::reverse(ops)) {
    auto select = dyn_cast<arith::SelectOp>(op);
    if (!select || deferred.contains(op))
      continue;
    SmallVector<Ops, 2> sides;
    for (Value side : {select.getTrueValue(), select.getFalseValue()}) {
      Ops exclusive;
      if (!isUsual(select, side))
        exclusive = getExclusive(ops, select, side);
      double slots = 0;
      for (Operation *only : exclusive)
        slots += getSlots(*only);
      sides.push_back(slots > slotsOfBranch ? exclusive : Ops());
      deferred.insert(sides.back().begin(), sides.back().end());
    }
    if (!sides[0].empty() || !sides[1].empty())
      branches[op] = std::move(sides);
  }
  for (Operation *op : ops) {
    if (deferred.contains(op))
      continue;
    if (auto sides = branches.find(op); sides != branches.end())
      printBranches(cast<arith::SelectOp>(op), sides->second, indent);
    else
      print(op, indent);
  }
}

void ScalarPrinter::printBranches(arith::SelectOp select, ArrayRef<Ops> sides,
                                  StringRef indent) {
  std::string name = makeName(), inner = (indent + "  ").str();
  StringRef type = getScalarName(select.getType());
  std::string condition = getName(select.getCondition());
  Value values[] = {select.getTrueValue(), select.getFalseValue()};
  os << indent << type << ' ' << name;
  // The side that has no branch is the initial value.
  for (int i : {0, 1})
    if (sides[i].empty())
      os << " = " << getName(values[i]);
  os << ";\n";
  auto print = [&](int i) {
    printOps(sides[i], inner);
    os << inner << name << " = " << getName(values[i]) << ";\n";
  };
  os << indent << "if (" << (sides[0].empty() ? "!" : "") << condition
     << ") {\n";
  print(sides[0].empty() ? 1 : 0);
  if (!sides[0].empty() && !sides[1].empty()) {
    os << indent << "} else {\n";
    print(1);
  }
  os << indent << "}\n";
  names[select.getResult()] = name;
}

/// What a widening conversion rounds to bf16 and back, if it does: one
/// instruction, of which each half is one that is slower.
static Value getRounded(Operation *op) {
  auto widened = dyn_cast<arith::ExtFOp>(op);
  auto narrowed =
      widened ? widened.getIn().getDefiningOp<arith::TruncFOp>() : nullptr;
  bool rounds = narrowed && narrowed.getType().isBF16() &&
                narrowed.getIn().getType().isF32() && widened.getType().isF32();
  return rounds ? narrowed.getIn() : Value();
}

/// Whether nothing needs a value in its own type.
static bool isOnlyRounded(Operation *op) {
  return isa<arith::TruncFOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return getRounded(user) != Value();
         });
}

void ScalarPrinter::print(Operation *op, StringRef indent) {
  if (isa<arith::ConstantOp>(op) || names.contains(op->getResult(0)) ||
      isOnlyRounded(op))
    return;
  std::string name = makeName();
  os << indent << "const " << getScalarName(op->getResult(0).getType()) << ' '
     << name << " = " << getExpression(op) << ";\n";
  names[op->getResult(0)] = name;
}

static StringRef getOperator(arith::CmpFPredicate predicate, bool &negated) {
  using P = arith::CmpFPredicate;
  negated = false;
  switch (predicate) {
  case P::OEQ:
    return "==";
  case P::UNE:
    return "!=";
  case P::OLT:
    return "<";
  case P::OLE:
    return "<=";
  case P::OGT:
    return ">";
  case P::OGE:
    return ">=";
  default:
    break;
  }
  // An unordered comparison is the opposite ordered one, negated.
  negated = true;
  switch (predicate) {
  case P::ULT:
    return ">=";
  case P::ULE:
    return ">";
  case P::UGT:
    return "<=";
  case P::UGE:
    return "<";
  default:
    llvm_unreachable("no definition uses this comparison");
  }
}

static StringRef getOperator(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return "==";
  case P::ne:
    return "!=";
  case P::slt:
  case P::ult:
    return "<";
  case P::sle:
  case P::ule:
    return "<=";
  case P::sgt:
  case P::ugt:
    return ">";
  case P::sge:
  case P::uge:
    return ">=";
  }
  llvm_unreachable("all comparisons are listed");
}

/// `x` as an unsigned number of the same width.
static std::string makeUnsigned(Type type, const std::string &x) {
  if (type.isInteger(1))
    return x;
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return llvm::formatv("uint{0}_t({1})", bits, x);
}

static bool isUnsigned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  return predicate == P::ult || predicate == P::ule || predicate == P::ugt ||
         predicate == P::uge;
}

/// The function of CUDA's math library, with the suffix of its type, the one
/// for f32 that is ours (Scalars.cuh), or the machine's approximation
/// (Math.cuh) where the op allows it.
static std::string getFunction(Operation *op) {
  struct Entry {
    StringRef op, exact, fast, own = "";
  };
  static constexpr Entry table[] = {
      {"math.exp", "exp", "fast_exp"},
      {"math.exp2", "exp2", "fast_exp2"},
      {"math.log", "log", "fast_log"},
      {"math.log2", "log2", "fast_log2"},
      {"math.log1p", "log1p", "fast_log1p"},
      {"math.tanh", "tanh", "tanh_approx"},
      {"math.erf", "erf", "fast_erf"},
      {"math.sqrt", "sqrt", "fast_sqrt"},
      {"math.rsqrt", "rsqrt", "fast_rsqrt"},
      {"math.sin", "sin", "", "sine"},
      {"math.cos", "cos", "", "cosine"},
      {"math.absf", "fabs", ""},
      {"math.floor", "floor", ""},
      {"math.ceil", "ceil", ""},
      {"math.roundeven", "rint", ""},
      {"arith.remf", "fmod", ""},
      {"math.powf", "pow", "fast_pow"},
      {"math.fma", "fma", ""},
  };
  bool isFloat = op->getResult(0).getType().isF32();
  bool approximate = allows(op, arith::FastMathFlags::afn);
  for (const Entry &entry : table) {
    if (op->getName().getStringRef() != entry.op)
      continue;
    if (approximate && isFloat && !entry.fast.empty())
      return entry.fast.str();
    if (isFloat && !entry.own.empty())
      return entry.own.str();
    return entry.exact.str() + (isFloat ? "f" : "");
  }
  return "";
}

static StringRef getOperator(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "+"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "-"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "*"; })
      .Case<arith::DivFOp, arith::DivSIOp>([](auto) { return "/"; })
      .Case<arith::RemSIOp>([](auto) { return "%"; })
      .Case<arith::AndIOp>([](auto) { return "&"; })
      .Case<arith::OrIOp>([](auto) { return "|"; })
      .Case<arith::XOrIOp>([](auto) { return "^"; })
      .Case<arith::ShLIOp>([](auto) { return "<<"; })
      .Case<arith::ShRSIOp>([](auto) { return ">>"; })
      .Default([](Operation *) { return ""; });
}

/// A floating-point conversion; 16-bit types convert by name.
static std::string convert(Type from, Type to, const std::string &x) {
  if (to.isBF16())
    return "__float2bfloat16_rn(" + x + ")";
  if (to.isF16())
    return "__float2half_rn(" + x + ")";
  if (from.isBF16())
    return "__bfloat162float(" + x + ")";
  if (from.isF16())
    return "__half2float(" + x + ")";
  return (getScalarName(to) + "(" + x + ")").str();
}

/// The number of which `value` is the inverse.
static Value getInverted(Value value) {
  auto divide = value.getDefiningOp<arith::DivFOp>();
  return divide && matchPattern(divide.getLhs(), m_OneFloat()) ? divide.getRhs()
                                                               : Value();
}

std::string ScalarPrinter::getExpression(Operation *op) {
  if (Value rounded = getRounded(op))
    return "round_to_bf16(" + getName(rounded) + ")";
  SmallVector<std::string> x;
  for (Value operand : op->getOperands())
    x.push_back(getName(operand));
  Type type = op->getResult(0).getType();

  if (auto divide = dyn_cast<arith::DivFOp>(op)) {
    bool approximate =
        type.isF32() && allows(divide, arith::FastMathFlags::arcp);
    if (approximate && x[0] == "1.0f")
      return "fast_reciprocal(" + x[1] + ")";
    if (approximate)
      return "fast_divide(" + x[0] + ", " + x[1] + ")";
    if (type.isF32() && divide->hasAttr(sharedValueName))
      return "divide_by_shared(" + x[0] + ", " + x[1] + ")";
  }
  if (auto power = dyn_cast<math::PowFOp>(op);
      power && type.isF32() && x[0] == "2.0f")
    return "exp2f(" + x[1] + ")";
  // The sign bit, as it is written without one.
  if (auto compare = dyn_cast<arith::CmpFOp>(op);
      compare && compare.getPredicate() == arith::CmpFPredicate::OLT &&
      matchPattern(compare.getRhs(), m_AnyZeroFloat()))
    if (Value inverted = getInverted(compare.getLhs());
        inverted && inverted.getType().isF32())
      return "has_negative_inverse(" + getName(inverted) + ")";
  if (StringRef symbol = getOperator(op); !symbol.empty())
    return x[0] + " " + symbol.str() + " " + x[1];
  if (std::string function = getFunction(op); !function.empty())
    return function + "(" + llvm::join(x, ", ") + ")";

  StringRef form = op->hasAttr(sharedValueName) ? "shared_" : "nan_";
  return TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::NegFOp) { return "-" + x[0]; })
      .Case<arith::MaximumFOp>([&](auto) {
        return (form + "maximum(" + x[0] + ", " + x[1] + ")").str();
      })
      .Case<arith::MinimumFOp>([&](auto) {
        return (form + "minimum(" + x[0] + ", " + x[1] + ")").str();
      })
      .Case<arith::MaxNumFOp>([&](auto) {
        StringRef name = op->getResult(0).getType().isF64() ? "fmax" : "fmaxf";
        return (name + "(" + x[0] + ", " + x[1] + ")").str();
      })
      .Case<arith::MinNumFOp>([&](auto) {
        StringRef name = op->getResult(0).getType().isF64() ? "fmin" : "fminf";
        return (name + "(" + x[0] + ", " + x[1] + ")").str();
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return x[0] + " > " + x[1] + " ? " + x[0] + " : " + x[1];
      })
      .Case<arith::MinSIOp>([&](auto) {
        return x[0] + " < " + x[1] + " ? " + x[0] + " : " + x[1];
      })
      .Case(
          [&](math::AbsIOp) { return x[0] + " < 0 ? -" + x[0] + " : " + x[0]; })
      .Case([&](arith::SelectOp) { return x[0] + " ? " + x[1] + " : " + x[2]; })
      .Case([&](arith::CmpFOp compare) {
        using P = arith::CmpFPredicate;
        if (compare.getPredicate() == P::UNO)
          return x[0] + " != " + x[0] + " || " + x[1] + " != " + x[1];
        if (compare.getPredicate() == P::ORD)
          return x[0] + " == " + x[0] + " && " + x[1] + " == " + x[1];
        bool negated;
        StringRef symbol = getOperator(compare.getPredicate(), negated);
        std::string text = x[0] + " " + symbol.str() + " " + x[1];
        return negated ? "!(" + text + ")" : text;
      })
      .Case([&](arith::CmpIOp compare) {
        if (isUnsigned(compare.getPredicate()))
          for (std::string &operand : x)
            operand = makeUnsigned(compare.getLhs().getType(), operand);
        return x[0] + " " + getOperator(compare.getPredicate()).str() + " " +
               x[1];
      })
      .Case<arith::MaxUIOp, arith::MinUIOp>([&](Operation *) {
        return llvm::formatv("{0} {1} {2} ? {3} : {4}",
                             makeUnsigned(type, x[0]),
                             isa<arith::MaxUIOp>(op) ? ">" : "<",
                             makeUnsigned(type, x[1]), x[0], x[1])
            .str();
      })
      .Case<arith::RemUIOp, arith::DivUIOp, arith::ShRUIOp>([&](Operation *) {
        StringRef symbol = isa<arith::RemUIOp>(op)   ? "%"
                           : isa<arith::DivUIOp>(op) ? "/"
                                                     : ">>";
        return llvm::formatv("{0} {1} {2}", makeUnsigned(type, x[0]), symbol,
                             makeUnsigned(type, x[1]))
            .str();
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](Operation *) {
        return convert(op->getOperand(0).getType(), type, x[0]);
      })
      .Case([&](arith::BitcastOp) { return "__float_as_int(" + x[0] + ")"; })
      .Case<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](Operation *) {
            return (getScalarName(type) + "(" + x[0] + ")").str();
          })
      .Default([&](Operation *) {
        if (otherOps)
          if (std::string text = otherOps(op, *this); !text.empty())
            return text;
        llvm::report_fatal_error(llvm::Twine("no C++ for '") +
                                 op->getName().getStringRef() + "'");
        return std::string();
      });
}
