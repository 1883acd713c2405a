//===- StepPrinter.cpp - A linalg op on memory as CUDA kernels ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepPrinter.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

/// Elements that a lane should reduce before more blocks share a point.
static constexpr int64_t splitLength = 64;

static int64_t ceilDivide(int64_t x, int64_t y) {
  return llvm::divideCeilSigned(x, y);
}

StepPrinter::StepPrinter(linalg::LinalgOp op, StringRef name, StepForm form,
                         const Fills &fills)
    : op(op), name(name), form(form),
      block(form.isOneBlock ? "block" : "blockIdx.x"), fills(fills),
      ranges(op.getStaticLoopRanges()), slots(form.blockThreads) {
  // Points in the order of the first output's elements.
  for (AffineExpr expr :
       op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      parallel.push_back(dim.getPosition());
  for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (type == utils::IteratorType::reduction)
      reduced.push_back(dim);
    else if (!llvm::is_contained(parallel, dim))
      parallel.insert(parallel.begin(), dim);
  }
  for (unsigned dim : parallel)
    points *= ranges[dim];
  for (unsigned dim : reduced)
    length *= ranges[dim];
  if (reduced.empty())
    return;
  findCombiners();
  if (!combiners.empty())
    shareWork();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void StepPrinter::findCombiners() {
  SmallVector<Operation *> found;
  for (unsigned i = 0; i < op.getRegionOutputArgs().size(); ++i) {
    SmallVector<Operation *, 1> ops;
    if (!matchReduction(op.getRegionOutputArgs(), i, ops) || ops.size() != 1 ||
        !arith::getNeutralElement(ops.front()))
      return;
    found.push_back(ops.front());
  }
  combiners = std::move(found);
}

/// Whether neighboring elements of the inputs are reduced together.
bool StepPrinter::readsAlongReduction() {
  bool alongReduction = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    if (!type || type.getRank() == 0)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    auto isReduced = [&](AffineExpr expr) {
      return llvm::any_of(
          reduced, [&](unsigned dim) { return expr.isFunctionOfDim(dim); });
    };
    if (llvm::none_of(map.getResults(), isReduced))
      continue;
    if (!isReduced(map.getResults().back()))
      return false;
    alongReduction = true;
  }
  return alongReduction;
}

void StepPrinter::shareWork() {
  int64_t blockThreads = form.blockThreads;
  byRows = readsAlongReduction();
  if (byRows)
    lanes = length >= 2048 ? blockThreads : length >= 64 ? 32 : 1;
  else if (length >= 64 && points < form.fillingBlocks * blockThreads)
    lanes = 8;
  slots = blockThreads / lanes;
  int64_t blocks = ceilDivide(points, slots);
  splits = std::clamp<int64_t>(std::min(ceilDivide(form.fillingBlocks, blocks),
                                        length / (lanes * splitLength)),
                               1, 1024);
  if (splits == 1)
    return;
  for (Value init : op.getDpsInits())
    partials.emplace_back(cast<MemRefType>(init.getType()).getElementType(),
                          splits * points);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The constant that memory views, if any.
static memref::GetGlobalOp findGlobal(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory.getDefiningOp<memref::GetGlobalOp>();
}

std::string StepPrinter::getParameter(Value value) {
  if (memref::GetGlobalOp global = findGlobal(value)) {
    Type element = cast<MemRefType>(value.getType()).getElementType();
    return llvm::formatv("reinterpret_cast<{0} const *>({1})",
                         getElementName(element), global.getName());
  }
  auto *found = llvm::find(parameters, value);
  unsigned position = found - parameters.begin();
  if (found == parameters.end())
    parameters.push_back(value);
  return "p" + std::to_string(position);
}

std::string StepPrinter::getElement(Value memory, ArrayRef<std::string> index) {
  auto type = cast<MemRefType>(memory.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  std::string place;
  for (auto [expr, stride] : llvm::zip_equal(index, strides)) {
    if (expr == "0")
      continue;
    if (!place.empty())
      place += " + ";
    place += stride == 1 ? expr : expr + " * " + std::to_string(stride);
  }
  if (offset)
    place += (place.empty() ? "" : " + ") + std::to_string(offset);
  return getParameter(memory) + "[" + (place.empty() ? "0" : place) + "]";
}

std::string StepPrinter::getExpression(AffineExpr expr,
                                       ArrayRef<std::string> dims,
                                       ArrayRef<std::string> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string lhs = getExpression(binary.getLHS(), dims, symbols);
  std::string rhs = getExpression(binary.getRHS(), dims, symbols);
  // Indices are not negative, so that divisions round down.
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return "(" + lhs + " + " + rhs + ")";
  case AffineExprKind::Mul:
    return "(" + lhs + " * " + rhs + ")";
  case AffineExprKind::Mod:
    return "(" + lhs + " % " + rhs + ")";
  case AffineExprKind::FloorDiv:
    return "(" + lhs + " / " + rhs + ")";
  case AffineExprKind::CeilDiv:
    return "((" + lhs + " + " + rhs + " - 1) / " + rhs + ")";
  default:
    llvm_unreachable("leaves are handled above");
  }
}

static SmallVector<std::string> getLoopNames(size_t count) {
  SmallVector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back("d" + std::to_string(i));
  return names;
}

std::string StepPrinter::getOperand(OpOperand &operand) {
  if (!isa<MemRefType>(operand.get().getType()))
    return getScalarLiteral(operand.get());
  SmallVector<std::string> dims = getLoopNames(ranges.size()), index;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    index.push_back(getExpression(expr, dims));
  return getElement(operand.get(), index);
}

std::string StepPrinter::getInitial(unsigned output) {
  OpOperand *operand = op.getDpsInitOperand(output);
  if (Value constant = fills.lookup(operand->get()))
    return getScalarLiteral(constant);
  return getOperand(*operand);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void StepPrinter::printIndices(raw_ostream &os, ArrayRef<unsigned> dims,
                               StringRef from, StringRef indent) {
  std::string rest = from.str();
  for (auto [i, dim] : llvm::enumerate(llvm::reverse(dims))) {
    os << indent << "const Index d" << dim << " = ";
    if (ranges[dim] == 1)
      os << "0;\n";
    else if (i + 1 == dims.size())
      os << rest << ";\n";
    else
      os << rest << " % " << ranges[dim] << ";\n";
    if (ranges[dim] != 1 && i + 1 != dims.size()) {
      std::string next = llvm::formatv("{0}_{1}", from, i);
      os << indent << "const Index " << next << " = " << rest << " / "
         << ranges[dim] << ";\n";
      rest = next;
    }
  }
}

/// Expressions of ops on memory and indices.
std::string StepPrinter::getSpecial(Operation *inner, ScalarPrinter &printer) {
  SmallVector<std::string> x;
  for (Value operand : inner->getOperands())
    if (!isa<MemRefType>(operand.getType()))
      x.push_back(printer.getName(operand));
  return TypeSwitch<Operation *, std::string>(inner)
      .Case([&](linalg::IndexOp index) {
        return llvm::formatv("int64_t(d{0})", index.getDim()).str();
      })
      .Case(
          [&](memref::LoadOp load) { return getElement(load.getMemRef(), x); })
      .Case([&](affine::AffineApplyOp apply) {
        AffineMap map = apply.getAffineMap();
        return getExpression(map.getResult(0),
                             ArrayRef(x).take_front(map.getNumDims()),
                             ArrayRef(x).drop_front(map.getNumDims()));
      })
      .Default([](Operation *) { return std::string(); });
}

void StepPrinter::printOps(raw_ostream &os, Block &block,
                           ScalarPrinter &printer, const std::string &indent) {
  for (Operation &inner : block.without_terminator()) {
    // What the body reads from outside of it.
    for (Value operand : inner.getOperands())
      if (!isa<MemRefType>(operand.getType()) && operand.getParentRegion() &&
          !op->isAncestor(operand.getParentRegion()->getParentOp()) &&
          !operand.getDefiningOp<arith::ConstantOp>())
        printer.setName(operand, getParameter(operand));
    if (auto loop = dyn_cast<scf::ForOp>(inner))
      printLoop(os, loop, printer, indent);
    else if (auto branch = dyn_cast<scf::IfOp>(inner))
      printIf(os, branch, printer, indent);
    else
      printer.print(&inner, indent);
  }
}

void StepPrinter::printLoop(raw_ostream &os, scf::ForOp loop,
                            ScalarPrinter &printer, const std::string &indent) {
  auto declare = [&](Value value, const Twine &initial) {
    std::string variable = printer.makeName();
    os << indent << getScalarName(value.getType()) << ' ' << variable << " = "
       << initial << ";\n";
    return variable;
  };
  Names carried;
  for (auto [argument, initial, result] : llvm::zip_equal(
           loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    carried.push_back(declare(argument, printer.getName(initial)));
    printer.setName(argument, carried.back());
    printer.setName(result, carried.back());
  }
  std::string index = printer.makeName();
  printer.setName(loop.getInductionVar(), index);
  os << llvm::formatv("{0}for (int64_t {1} = {2}; {1} < {3}; {1} += {4}) {{\n",
                      indent, index, printer.getName(loop.getLowerBound()),
                      printer.getName(loop.getUpperBound()),
                      printer.getName(loop.getStep()));
  printOps(os, *loop.getBody(), printer, indent + "  ");
  // All values are computed before one is assigned.
  Names next;
  for (auto [i, value] : llvm::enumerate(loop.getYieldedValues())) {
    next.push_back(printer.makeName());
    os << indent << "  const " << getScalarName(value.getType()) << ' '
       << next.back() << " = " << printer.getName(value) << ";\n";
  }
  for (auto [variable, value] : llvm::zip_equal(carried, next))
    os << indent << "  " << variable << " = " << value << ";\n";
  os << indent << "}\n";
}

void StepPrinter::printIf(raw_ostream &os, scf::IfOp branch,
                          ScalarPrinter &printer, const std::string &indent) {
  for (Value result : branch.getResults()) {
    std::string variable = printer.makeName();
    os << indent << getScalarName(result.getType()) << ' ' << variable << ";\n";
    printer.setName(result, variable);
  }
  auto printSide = [&](Block *block) {
    printOps(os, *block, printer, indent + "  ");
    for (auto [result, value] : llvm::zip_equal(
             branch.getResults(), block->getTerminator()->getOperands()))
      os << indent << "  " << printer.getName(result) << " = "
         << printer.getName(value) << ";\n";
  };
  os << indent << "if (" << printer.getName(branch.getCondition()) << ") {\n";
  printSide(branch.thenBlock());
  if (Block *otherwise = branch.elseBlock()) {
    os << indent << "} else {\n";
    printSide(otherwise);
  }
  os << indent << "}\n";
}

StepPrinter::Names StepPrinter::printBody(raw_ostream &os,
                                          ArrayRef<std::string> outputs,
                                          StringRef indent) {
  ScalarPrinter printer(os, indent, [&](Operation *inner, ScalarPrinter &self) {
    return getSpecial(inner, self);
  });
  Block &body = op->getRegion(0).front();
  for (auto [argument, operand] :
       llvm::zip(body.getArguments(), op.getDpsInputOperands())) {
    if (argument.use_empty())
      continue;
    std::string variable = "x" + std::to_string(argument.getArgNumber());
    os << indent << "const " << getScalarName(argument.getType()) << ' '
       << variable << " = " << getOperand(*operand) << ";\n";
    printer.setName(argument, variable);
  }
  for (auto [argument, output] :
       llvm::zip_equal(op.getRegionOutputArgs(), outputs))
    printer.setName(argument, output);
  printOps(os, body, printer, indent.str());
  Names yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(printer.getName(value));
  return yielded;
}

void StepPrinter::printCombiner(raw_ostream &os, unsigned output) {
  Operation *combiner = combiners[output];
  ScalarPrinter printer(os, "");
  printer.setName(combiner->getOperand(0), "x");
  printer.setName(combiner->getOperand(1), "y");
  StringRef type = getScalarName(combiner->getResult(0).getType());
  os << llvm::formatv("  const auto combine{0} = []({1} x, {1} y) -> {1} {{ "
                      "return {2}; };\n",
                      output, type, printer.getExpression(combiner));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void StepPrinter::printSignature(raw_ostream &os, StringRef kernel,
                                 unsigned partialCount) {
  SmallVector<std::string> list;
  if (form.isOneBlock) {
    os << "__device__ void " << kernel << "(";
    list.push_back("int block");
  } else {
    os << "__global__ void __launch_bounds__(" << form.blockThreads << ") "
       << kernel << "(";
  }
  for (auto [i, value] : llvm::enumerate(parameters)) {
    std::string number = std::to_string(i);
    auto type = dyn_cast<MemRefType>(value.getType());
    bool isOutput = llvm::is_contained(op.getDpsInits(), value);
    list.push_back(type ? getElementName(type.getElementType()).str() +
                              (isOutput ? " *p" : " const *p") + number
                        : getScalarName(value.getType()).str() + " p" + number);
  }
  for (unsigned i = 0; i < partialCount; ++i)
    list.push_back(getElementName(partials[i].first).str() + " *partial" +
                   std::to_string(i));
  llvm::interleaveComma(list, os);
  // 32-bit indices wherever they suffice: divisions are several times cheaper.
  int64_t largest = std::max(points * splits, length) + form.blockThreads;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType())) {
      auto [strides, offset] = type.getStridesAndOffset();
      int64_t last = offset;
      for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
        last += size * stride;
      largest = std::max(largest, last);
    }
  bool isSmall = largest < (int64_t(1) << 31) - 1024 * form.blockThreads;
  os << ") {\n  using Index = " << (isSmall ? "int32_t" : "int64_t") << ";\n";
}

/// Declares the point of a thread that has one to itself, and its indices.
void StepPrinter::printPoint(raw_ostream &os) {
  os << llvm::formatv("  const Index point = Index({0}) * {1} + "
                      "threadIdx.x;\n  if (point >= {2})\n    return;\n",
                      block, form.blockThreads, points);
  printIndices(os, parallel, "point", "  ");
}

/// Declares the point of a thread that may share it with others, and its
/// indices.
void StepPrinter::printSharedPoint(raw_ostream &os) {
  std::string group = block.str();
  if (splits > 1) {
    os << llvm::formatv("  const Index split = {0} % {1};\n", block, splits);
    group = llvm::formatv("({0} / {1})", block, splits);
  }
  if (lanes > 1)
    os << llvm::formatv("  const int lane = threadIdx.x {0} {1}, slot = "
                        "threadIdx.x {2} {1};\n",
                        byRows ? "%" : "/", byRows ? lanes : slots,
                        byRows ? "/" : "%");
  os << llvm::formatv(
      "  const Index point = Index({0}) * {1} + {2};\n"
      "  const bool active = point < {3};\n"
      "  [[maybe_unused]] const Index safe = active ? point : 0;\n",
      group, slots, lanes > 1 ? "slot" : "threadIdx.x", points);
  printIndices(os, parallel, "safe", "  ");
}

/// The loop of a thread over its part of the reduced elements.
void StepPrinter::printSum(raw_ostream &os,
                           ArrayRef<std::string> accumulators) {
  int64_t chunk = ceilDivide(length, splits);
  std::string begin, end = std::to_string(length);
  if (splits > 1) {
    begin = llvm::formatv("split * {0}", chunk);
    os << llvm::formatv("  const Index last = {0} + {1};\n", begin, chunk);
    end = llvm::formatv("(last < {0} ? last : {0})", length);
  }
  if (lanes > 1)
    begin += begin.empty() ? "lane" : " + lane";
  os << llvm::formatv("  for (Index r = {0}; r < {1}; r += {2}) {{\n",
                      begin.empty() ? "0" : begin, end, lanes);
  printIndices(os, reduced, "r", "    ");
  // All values are computed before one is assigned.
  for (auto [i, value] : llvm::enumerate(printBody(os, accumulators, "    ")))
    os << "    const " << getScalarName(op.getRegionOutputArgs()[i].getType())
       << " next" << i << " = " << value << ";\n";
  for (auto [i, accumulator] : llvm::enumerate(accumulators))
    os << "    " << accumulator << " = next" << i << ";\n";
  os << "  }\n";
}

StepLaunch StepPrinter::printElements(raw_ostream &os) {
  std::string text;
  llvm::raw_string_ostream body(text);
  parameters.clear();
  printPoint(body);
  Names outputs;
  for (unsigned i = 0; i < op.getRegionOutputArgs().size(); ++i)
    outputs.push_back("a" + std::to_string(i));
  for (auto [i, output] : llvm::enumerate(outputs))
    if (!op.getRegionOutputArgs()[i].use_empty())
      body << "  const " << getScalarName(op.getRegionOutputArgs()[i].getType())
           << ' ' << output << " = " << getInitial(i) << ";\n";
  Names yielded = printBody(body, outputs, "  ");
  for (auto [i, value] : llvm::enumerate(yielded))
    body << "  " << getOperand(*op.getDpsInitOperand(i)) << " = " << value
         << ";\n";
  printSignature(os, name, 0);
  os << text << "}\n\n";
  return {name, parameters, 0, ceilDivide(points, form.blockThreads)};
}

StepLaunch StepPrinter::printReduction(raw_ostream &os) {
  std::string text;
  llvm::raw_string_ostream body(text);
  parameters.clear();
  bool isShared = lanes > 1 || splits > 1;
  printSharedPoint(body);
  Names accumulators;
  for (auto [i, argument] : llvm::enumerate(op.getRegionOutputArgs())) {
    accumulators.push_back("a" + std::to_string(i));
    body << "  " << getScalarName(argument.getType()) << ' '
         << accumulators.back() << " = "
         << (isShared
                 ? getScalarLiteral(*arith::getNeutralElement(combiners[i]))
                 : getInitial(i))
         << ";\n";
  }
  printSum(body, accumulators);
  for (auto [i, accumulator] : llvm::enumerate(accumulators)) {
    if (!isShared)
      continue;
    printCombiner(body, i);
    if (lanes > 1)
      body << llvm::formatv("  {0} = combine_lanes<{1}, {2}>({0}, lane, slot, "
                            "combine{3});\n",
                            accumulator, lanes, slots, i);
  }
  body << "  if (!active" << (lanes > 1 ? " || lane > 0" : "")
       << ")\n    return;\n";
  for (auto [i, accumulator] : llvm::enumerate(accumulators)) {
    if (splits > 1) {
      body << llvm::formatv("  partial{0}[split * {1} + point] = {2};\n", i,
                            points, accumulator);
      continue;
    }
    std::string place = getOperand(*op.getDpsInitOperand(i));
    body << "  " << place << " = ";
    if (isShared)
      body << "combine" << i << "(" << getInitial(i) << ", " << accumulator
           << ");\n";
    else
      body << accumulator << ";\n";
  }
  unsigned partialCount = splits > 1 ? partials.size() : 0;
  printSignature(os, name, partialCount);
  os << text << "}\n\n";
  return {name, parameters, partialCount, ceilDivide(points, slots) * splits};
}

/// Combines the partial results of all splits.
StepLaunch StepPrinter::printCombination(raw_ostream &os) {
  std::string text, kernel = name + "_combine";
  llvm::raw_string_ostream body(text);
  parameters.clear();
  printPoint(body);
  for (unsigned i = 0; i < partials.size(); ++i) {
    printCombiner(body, i);
    body << llvm::formatv(
        "  {0} a{1} = {2};\n  for (Index split = 0; split < {3}; ++split)\n"
        "    a{1} = combine{1}(a{1}, partial{1}[split * {4} + point]);\n"
        "  {5} = a{1};\n",
        getScalarName(partials[i].first), i, getInitial(i), splits, points,
        getOperand(*op.getDpsInitOperand(i)));
  }
  printSignature(os, kernel, partials.size());
  os << text << "}\n\n";
  return {kernel, parameters, unsigned(partials.size()),
          ceilDivide(points, form.blockThreads)};
}

SmallVector<StepLaunch> StepPrinter::print(raw_ostream &os) {
  if (reduced.empty())
    return {printElements(os)};
  SmallVector<StepLaunch> list{printReduction(os)};
  if (splits > 1)
    list.push_back(printCombination(os));
  return list;
}
