//===- ScalarPrinter.cpp - arith and math as C++ --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScalarFunction.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
  for (Operation &op : *root->getBlock())
    if (slice.contains(&op))
      print(&op);
}

void ScalarPrinter::print(Operation *op, StringRef indent) {
  if (isa<arith::ConstantOp>(op) || names.contains(op->getResult(0)))
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

/// The function of CUDA's math library, with the suffix of its type, or the
/// machine's approximation (Math.cuh) where the op allows it.
static std::string getFunction(Operation *op) {
  struct Entry {
    StringRef op, exact, fast;
  };
  static constexpr Entry table[] = {
      {"math.exp", "exp", "fast_exp"},
      {"math.exp2", "exp2", "fast_exp2"},
      {"math.log", "log", "fast_log"},
      {"math.log2", "log2", "fast_log2"},
      {"math.log1p", "log1p", ""},
      {"math.tanh", "tanh", "tanh_approx"},
      {"math.erf", "erf", "fast_erf"},
      {"math.sqrt", "sqrt", "fast_sqrt"},
      {"math.rsqrt", "rsqrt", "fast_rsqrt"},
      {"math.sin", "sin", "fast_sin"},
      {"math.cos", "cos", "fast_cos"},
      {"math.absf", "fabs", ""},
      {"math.floor", "floor", ""},
      {"math.ceil", "ceil", ""},
      {"math.roundeven", "rint", ""},
      {"arith.remf", "fmod", ""},
      {"math.powf", "pow", ""},
      {"math.fma", "fma", ""},
  };
  bool isFloat = op->getResult(0).getType().isF32();
  bool approximate = allows(op, arith::FastMathFlags::afn);
  for (const Entry &entry : table) {
    if (op->getName().getStringRef() != entry.op)
      continue;
    if (approximate && isFloat && !entry.fast.empty())
      return entry.fast.str();
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

std::string ScalarPrinter::getExpression(Operation *op) {
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
  }
  if (StringRef symbol = getOperator(op); !symbol.empty())
    return x[0] + " " + symbol.str() + " " + x[1];
  if (std::string function = getFunction(op); !function.empty())
    return function + "(" + llvm::join(x, ", ") + ")";

  return TypeSwitch<Operation *, std::string>(op)
      .Case([&](arith::NegFOp) { return "-" + x[0]; })
      .Case<arith::MaximumFOp>(
          [&](auto) { return "nan_maximum(" + x[0] + ", " + x[1] + ")"; })
      .Case<arith::MinimumFOp>(
          [&](auto) { return "nan_minimum(" + x[0] + ", " + x[1] + ")"; })
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
