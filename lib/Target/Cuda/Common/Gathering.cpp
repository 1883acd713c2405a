//===- Gathering.cpp - Operands that are read through gathers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Gathering.h"

using namespace mlir;
using namespace fact;

static constexpr StringLiteral indent = ",\n                      ";

bool GatheringReads::isConstant(size_t operand, size_t dim) const {
  const StridedView &view = views[operand];
  if (view.shape[dim] > 1 && view.strides[dim] != 0)
    return false;
  for (const PointwiseGraph::Bound &bound : getBounds(operand))
    if (bound.coordinate.strides[dim] != 0)
      return false;
  for (const PointwiseGraph::Shift &shift : getShifts(operand))
    if (shift.coordinate.strides[dim] != 0)
      return false;
  return llvm::all_of(getArgument(operand).indices,
                      [&](const PointwiseGraph::Index &index) {
                        return isConstant(index, dim);
                      });
}

bool GatheringReads::isConstant(const PointwiseGraph::Index &index,
                                size_t dim) const {
  return llvm::all_of(function.getArgumentsOf(index.node),
                      [&](unsigned argument) {
                        return argument >= leading &&
                               isConstant(size_t(argument - leading), dim);
                      });
}

bool GatheringReads::isChained(const PointwiseGraph::Index &index) const {
  return llvm::any_of(
      function.getArgumentsOf(index.node), [&](unsigned argument) {
        return argument >= leading && isGathered(size_t(argument - leading));
      });
}

bool GatheringReads::dependsOnLeading() const {
  for (const ScalarFunction::Argument &argument : function.getArguments())
    for (const PointwiseGraph::Index &index : argument.indices)
      if (llvm::any_of(function.getArgumentsOf(index.node),
                       [&](unsigned number) { return number < leading; }))
        return true;
  return false;
}

void fact::printBounds(raw_ostream &os,
                       ArrayRef<PointwiseGraph::Bound> bounds) {
  for (const PointwiseGraph::Bound &bound : bounds) {
    os << indent << "Bound<";
    printStrides(os, bound.coordinate);
    os << ", " << bound.coordinate.offset << ", " << bound.lower << ", "
       << bound.upper << '>';
  }
}

SmallVector<std::string>
GatheringReads::printFunctors(raw_ostream &os, StringRef name,
                              ArrayRef<std::string> argumentNames) const {
  SmallVector<std::string> functors;
  size_t count = 0;
  for (const ScalarFunction::Argument &argument : function.getArguments())
    for (const PointwiseGraph::Index &index : argument.indices) {
      functors.resize(std::max<size_t>(functors.size(), index.node + 1));
      functors[index.node] = (name + Twine(count++)).str();
      function.printFunctor(os, functors[index.node], argumentNames,
                            index.node);
      os << '\n';
    }
  return functors;
}

void GatheringReads::print(raw_ostream &os, size_t operand,
                           ArrayRef<std::string> functors, bool streams) const {
  const StridedView &view = views[operand];
  const ScalarFunction::Argument &argument = getArgument(operand);
  ArrayRef<PointwiseGraph::Bound> guards = getBounds(operand);
  if (argument.isCoordinate) {
    os << "Coordinate<";
    printStrides(os, view);
    os << ", " << view.offset << '>';
    return;
  }
  ArrayRef<PointwiseGraph::Shift> moves = getShifts(operand);
  bool gathers = isGathered(operand);
  os << (guards.empty() ? "" : "Guarded<") << (moves.empty() ? "" : "Shifted<")
     << (gathers ? "Gathered<" : "");
  printRead(os, view, getBuffer(argument.value),
            streams && guards.empty() && moves.empty() && !gathers &&
                isReadByOne(function, argument.value));
  for (const PointwiseGraph::Index &index : argument.indices)
    os << indent << "IndexOf<" << functors[index.node] << ", " << index.stride
       << ", " << index.size << ", "
       << (isConstant(index, view.shape.size() - 1) ? "true" : "false")
       << (isChained(index) ? ", true>" : ">");
  os << (gathers ? ">" : "");
  for (const PointwiseGraph::Shift &shift : moves) {
    os << indent << "Shift<";
    printStrides(os, shift.coordinate);
    os << ", " << shift.before << ", " << shift.distance << '>';
  }
  os << (moves.empty() ? "" : ">");
  printBounds(os, guards);
  os << (guards.empty() ? "" : ">");
}
