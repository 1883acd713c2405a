//===- Kernels.cpp - The kernels of a module, and their names -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Program/Kernels.h"
#include "fact/Analysis/Bands.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Kernel/Target.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <limits>

using namespace mlir;
using namespace fact;

SmallVector<unsigned> fact::getSharedOperands(FusedOp fused) {
  llvm::SmallDenseMap<Value, unsigned> first;
  SmallVector<unsigned> shared;
  for (auto [i, operand] : llvm::enumerate(fused.getInputs()))
    shared.push_back(first.try_emplace(skipReshapes(operand), i).first->second);
  return shared;
}

bool fact::isSameRegion(FusedOp a, FusedOp b) {
  return a.getRule() == b.getRule() &&
         getOperandBands(a) == getOperandBands(b) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(),
             OperationEquivalence::IgnoreLocations) &&
         getSharedOperands(a) == getSharedOperands(b);
}

bool fact::isSameKernel(FusedOp a, FusedOp b) {
  return a.getSpaceAttr() == b.getSpaceAttr() &&
         a.getScheduleAttr() == b.getScheduleAttr() && isSameRegion(a, b);
}

std::vector<NamedKernel> fact::getNamedKernels(ModuleOp module) {
  std::vector<NamedKernel> kernels;
  module.walk([&](FusedOp fused) {
    auto known = llvm::find_if(kernels, [&](const NamedKernel &kernel) {
      return isSameKernel(kernel.steps.front(), fused);
    });
    if (known == kernels.end())
      kernels.push_back({getKernelName(fused, kernels.size()), {fused}});
    else
      known->steps.push_back(fused);
  });
  return kernels;
}

std::string fact::getKernelName(FusedOp fused, unsigned index) {
  return (fused.getRule() + "_" + Twine(index)).str();
}

std::string fact::getContentName(FusedOp fused) {
  OpBuilder builder(fused.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  // Distinct operands, so that the text does not depend on aliases.
  SmallVector<Value> operands;
  for (Type type : fused.getInputs().getTypes())
    operands.push_back(
        UnrealizedConversionCastOp::create(builder, builder.getUnknownLoc(),
                                           TypeRange(type), ValueRange())
            .getResult(0));
  auto copy = cast<FusedOp>(builder.clone(*fused));
  copy->setOperands(operands);
  copy->setDiscardableAttrs(DictionaryAttr::get(fused.getContext()));
  setOperandBands(copy, getOperandBands(fused));
  copy.removeStrategyAttr();
  copy.removeSpaceAttr();
  copy.removeScheduleAttr();
  copy.removePriorityAttr();
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().useLocalScope().assumeVerified());
  // Resource constants print as names only, so hash their data too.
  copy->walk([&](ConstantOp constant) {
    if (auto resource =
            dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        os.write(blob->getData().data(), blob->getData().size());
  });
  // Code may depend on which operands share memory.
  for (auto [i, first] : llvm::enumerate(getSharedOperands(fused)))
    if (first != i)
      os << "; " << i << " is " << first;
  return (fused.getRule() + "_" + getShortHash(text)).str();
}

std::string fact::getShortHash(StringRef text) {
  std::array<uint8_t, 32> digest =
      llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(ArrayRef(digest).take_front(8), /*LowerCase=*/true);
}

double fact::predictKernel(FusedOp fused, const Target &target) {
  constexpr double never = std::numeric_limits<double>::infinity();
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(fused, Silence(fused));
  if (failed(plan))
    return never;
  std::optional<Plan::Prediction> best = (*plan)->findBest();
  return best ? best->microseconds : never;
}
