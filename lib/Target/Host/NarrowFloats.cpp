//===- NarrowFloats.cpp - 16-bit floats where a processor has none --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a processor has no instructions for 16-bit floats, LLVM calls functions
// of the compiler's runtime library, which not every such library has. This
// pass expands them into integer operations and f32 arithmetic before LLVM
// optimizes. Afterwards a 16-bit float is its bits, also where it is only moved
// (x86 converts one that lives in several blocks to f32 and back). bf16 is
// expanded on all processors, since the instructions of x86 flush denormals;
// f16 only on processors that cannot convert it.
//
//===----------------------------------------------------------------------===//

#include "ObjectEmitter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
class NarrowFloats {
public:
  NarrowFloats(LLVMContext &context, bool convertsHalf)
      : b(context), convertsHalf(convertsHalf) {}

  void run(Function &function) {
    SmallVector<Instruction *> found;
    for (Instruction &instruction : instructions(function))
      if (isExpanded(instruction) || isMoved(instruction))
        found.push_back(&instruction);
    for (Instruction *instruction : found) {
      b.SetInsertPoint(instruction);
      Value *value =
          isMoved(*instruction) ? move(*instruction) : expand(*instruction);
      if (!instruction->use_empty())
        instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
  }

private:
  bool isNarrow(Type *type) const {
    Type *element = type->getScalarType();
    return element->isBFloatTy() || (element->isHalfTy() && !convertsHalf);
  }

  /// Whether it computes with narrow floats, rather than moving them.
  bool isExpanded(const Instruction &instruction) const {
    if (isa<FPTruncInst>(instruction) &&
        instruction.getType()->getScalarType()->is16bitFPTy() &&
        instruction.getOperand(0)->getType()->getScalarType()->isDoubleTy())
      return true;
    bool computes = isa<UnaryOperator, BinaryOperator, FCmpInst>(instruction) ||
                    isa<FPExtInst, FPTruncInst, SIToFPInst, UIToFPInst,
                        FPToSIInst, FPToUIInst>(instruction) ||
                    isElementwise(instruction);
    return computes && (isNarrow(instruction.getType()) ||
                        isNarrow(instruction.getOperand(0)->getType()));
  }

  /// Whether it moves narrow floats.
  bool isMoved(const Instruction &instruction) const {
    if (auto *store = dyn_cast<StoreInst>(&instruction))
      return isNarrow(store->getValueOperand()->getType());
    return isa<LoadInst, SelectInst, PHINode, ExtractElementInst,
               InsertElementInst, ShuffleVectorInst>(instruction) &&
           isNarrow(instruction.getType());
  }

  /// An intrinsic of operands and a result of one type.
  static bool isElementwise(const Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || call->arg_empty() || !call->getType()->isFPOrFPVectorTy())
      return false;
    return all_of(call->args(), [&](const Use &argument) {
      return argument->getType() == call->getType();
    });
  }

  Type *like(Type *type, Type *element) {
    if (auto *vector = dyn_cast<VectorType>(type))
      return VectorType::get(element, vector->getElementCount());
    return element;
  }
  Type *wide(Type *type) { return like(type, b.getFloatTy()); }
  Value *bits(Value *x, Type *element) {
    return b.CreateBitCast(x, like(x->getType(), element));
  }
  Value *constant(Value *x, uint64_t value) {
    return ConstantInt::get(like(x->getType(), b.getInt32Ty()), value);
  }

  /// The same instruction on bits.
  Value *move(Instruction &instruction) {
    Type *type = instruction.getType();
    if (auto *phi = dyn_cast<PHINode>(&instruction)) {
      PHINode *moved =
          b.CreatePHI(like(type, b.getInt16Ty()), phi->getNumIncomingValues());
      for (auto [value, block] : zip(phi->incoming_values(), phi->blocks())) {
        b.SetInsertPoint(block->getTerminator());
        moved->addIncoming(bits(value, b.getInt16Ty()), block);
      }
      BasicBlock *block = phi->getParent();
      b.SetInsertPoint(block, block->getFirstInsertionPt());
      return b.CreateBitCast(moved, type);
    }
    Instruction *moved = instruction.clone();
    for (Use &operand : moved->operands())
      if (isNarrow(operand->getType()))
        operand.set(bits(operand, b.getInt16Ty()));
    if (!type->isVoidTy())
      moved->mutateType(like(type, b.getInt16Ty()));
    b.Insert(moved);
    return type->isVoidTy() ? moved : b.CreateBitCast(moved, type);
  }

  Value *expand(Instruction &instruction) {
    Type *type = instruction.getType();
    SmallVector<Value *> x;
    for (Value *operand : instruction.operands())
      x.push_back(isNarrow(operand->getType()) ? widen(operand) : operand);
    if (isa<FPExtInst>(instruction))
      return type == x[0]->getType() ? x[0] : b.CreateFPExt(x[0], type);
    if (isa<FPTruncInst>(instruction)) {
      Value *single = x[0]->getType()->getScalarType()->isDoubleTy()
                          ? roundToOdd(x[0])
                          : x[0];
      return narrow(single, type);
    }
    if (auto *cast = dyn_cast<CastInst>(&instruction)) {
      if (!isNarrow(type))
        return b.CreateCast(cast->getOpcode(), x[0], type);
      return narrow(b.CreateCast(cast->getOpcode(), x[0], wide(type)), type);
    }
    if (auto *compare = dyn_cast<FCmpInst>(&instruction))
      return b.CreateFCmp(compare->getPredicate(), x[0], x[1]);
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
      x.truncate(call->arg_size());
      return narrow(b.CreateIntrinsic(wide(type), call->getIntrinsicID(), x),
                    type);
    }
    if (auto *unary = dyn_cast<UnaryOperator>(&instruction))
      return narrow(b.CreateUnOp(unary->getOpcode(), x[0]), type);
    auto &binary = cast<BinaryOperator>(instruction);
    return narrow(b.CreateBinOp(binary.getOpcode(), x[0], x[1]), type);
  }

  Value *widen(Value *x) {
    Value *word = b.CreateZExt(bits(x, b.getInt16Ty()),
                               like(x->getType(), b.getInt32Ty()));
    if (x->getType()->getScalarType()->isBFloatTy())
      return bits(b.CreateShl(word, 16), b.getFloatTy());
    return bits(widenHalf(word), b.getFloatTy());
  }

  /// Shifts exponent and mantissa into place and scales by the difference of
  /// the biases, which normalizes denormals; infinity and NaN keep the largest
  /// exponent.
  Value *widenHalf(Value *word) {
    Value *shifted = b.CreateShl(b.CreateAnd(word, 0x7fff), 13);
    Value *scaled = b.CreateFMul(
        bits(shifted, b.getFloatTy()),
        ConstantFP::get(like(word->getType(), b.getFloatTy()), 0x1p112));
    Value *special =
        b.CreateICmpUGE(b.CreateAnd(word, 0x7fff), constant(word, 0x7c00));
    Value *magnitude = b.CreateSelect(special, b.CreateOr(shifted, 0x7f800000),
                                      bits(scaled, b.getInt32Ty()));
    return b.CreateOr(magnitude, b.CreateShl(b.CreateAnd(word, 0x8000), 16));
  }

  /// f32 to a 16-bit float, to nearest and ties to even.
  Value *narrow(Value *x, Type *type) {
    if (!isNarrow(type))
      return b.CreateFPTrunc(x, type);
    Value *word = bits(x, b.getInt32Ty());
    bool isBFloat = type->getScalarType()->isBFloatTy();
    Value *result = isBFloat ? narrowToBFloat(x, word) : narrowToHalf(word);
    Value *low = b.CreateTrunc(result, like(type, b.getInt16Ty()));
    return b.CreateBitCast(low, type);
  }

  Value *narrowToBFloat(Value *x, Value *word) {
    Value *odd = b.CreateAnd(b.CreateLShr(word, 16), 1);
    Value *rounded =
        b.CreateAdd(b.CreateAdd(word, constant(word, 0x7fff)), odd);
    // Rounding could carry the mantissa of a NaN into the sign.
    Value *quiet = b.CreateOr(word, constant(word, 0x400000));
    return b.CreateLShr(b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded),
                        16);
  }

  Value *narrowToHalf(Value *word) {
    Value *magnitude = b.CreateAnd(word, 0x7fffffff);
    // From 65536 on the result is infinity, and NaN for bits above those of
    // infinity; numbers that round up to 65536 overflow in the addition below.
    Value *isNaN = b.CreateICmpUGT(magnitude, constant(word, 0x7f800000));
    Value *special =
        b.CreateSelect(isNaN, constant(word, 0x7e00), constant(word, 0x7c00));
    Value *isSpecial = b.CreateICmpUGE(magnitude, constant(word, 0x47800000));
    // Below 2^-14 an addition of 1/2 rounds to units of 2^-24.
    Value *half = ConstantFP::get(like(word->getType(), b.getFloatTy()), 0.5);
    Value *sum = b.CreateFAdd(bits(magnitude, b.getFloatTy()), half);
    Value *tiny =
        b.CreateSub(bits(sum, b.getInt32Ty()), constant(word, 0x3f000000));
    Value *isTiny = b.CreateICmpULT(magnitude, constant(word, 0x38800000));
    Value *odd = b.CreateAnd(b.CreateLShr(magnitude, 13), 1);
    Value *biased = b.CreateAdd(magnitude, constant(word, 0xc8000000u + 0xfff));
    Value *normal = b.CreateLShr(b.CreateAdd(biased, odd), 13);
    Value *result = b.CreateSelect(isSpecial, special,
                                   b.CreateSelect(isTiny, tiny, normal));
    Value *sign = b.CreateLShr(b.CreateAnd(word, 0x80000000), 16);
    return b.CreateOr(result, sign);
  }

  /// f64 to f32, rounding to odd, so that rounding once more to 16 bits gives
  /// the result of a single rounding.
  Value *roundToOdd(Value *x) {
    Value *nearest = b.CreateFPTrunc(x, wide(x->getType()));
    Value *back = b.CreateFPExt(nearest, x->getType());
    Value *word = bits(nearest, b.getInt32Ty());
    auto magnitude = [&](Value *value) {
      return b.CreateUnaryIntrinsic(Intrinsic::fabs, value);
    };
    Value *isBelow = b.CreateFCmpOLT(magnitude(back), magnitude(x));
    Value *neighbor =
        b.CreateAdd(word, b.CreateSelect(isBelow, constant(word, 1),
                                         constant(word, ~uint32_t(0))));
    Value *isOdd = b.CreateICmpNE(b.CreateAnd(word, 1), constant(word, 0));
    Value *keep = b.CreateOr(isOdd, b.CreateFCmpUEQ(back, x));
    return bits(b.CreateSelect(keep, word, neighbor), b.getFloatTy());
  }

  IRBuilder<> b;
  bool convertsHalf;
};
} // namespace

void fact::host::expandNarrowFloats(Module &module, const Cpu &cpu) {
  NarrowFloats expansion(module.getContext(), cpu.convertsHalf());
  for (Function &function : module)
    if (!function.isDeclaration())
      expansion.run(function);
}
