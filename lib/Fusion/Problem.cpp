//===- Problem.cpp - What a region asks of the registry -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Problem.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace fact;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t getElements(Value value) {
  return getTensorType(value).getNumElements();
}

static bool isContraction(Operation *op) {
  return isa<MatmulOp, AttentionOp>(op);
}

//===----------------------------------------------------------------------===//
// Ops and type
//===----------------------------------------------------------------------===//

/// What of an op decides its speed.
static std::string getName(Operation *op) {
  return TypeSwitch<Operation *, std::string>(op)
      .Case([](AttentionOp attention) {
        return attention.getMask()     ? "masked_attention"
               : attention.getCausal() ? "causal_attention"
                                       : "attention";
      })
      .Case([](NormOp norm) {
        return (stringifyNormKind(norm.getKind()) + "_norm").str();
      })
      .Default([](Operation *other) {
        return other->getName().stripDialect().str();
      });
}

static std::string getOps(FusedOp fused) {
  bool contracts = llvm::any_of(
      fused.getBodyOps(), [](Operation &op) { return isContraction(&op); });
  std::string ops;
  for (Operation &op : fused.getBodyOps()) {
    bool isFree = contracts ? isa<ViewOpInterface>(op) : isa<ReshapeOp>(op);
    if (isFree || isa<ConstantOp>(op))
      continue;
    ops += (ops.empty() ? "" : ",") + getName(&op);
  }
  return ops.empty() ? "reshape" : ops;
}

/// What a contraction multiplies, else the first floating-point type read or
/// written.
static Type getElementType(FusedOp fused) {
  for (Operation &op : fused.getBodyOps())
    if (isContraction(&op))
      return getTensorType(op.getOperand(0)).getElementType();
  SmallVector<Type> types(fused.getInputs().getTypes());
  llvm::append_range(types, fused.getResultTypes());
  for (Type type : types)
    if (isa<FloatType>(getElementTypeOrSelf(type)))
      return getElementTypeOrSelf(type);
  return getElementTypeOrSelf(types.front());
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Whether something other than a contraction reads the value.
static bool isReadElsewhere(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<ViewOpInterface>(user) ? isReadElsewhere(user->getResult(0))
                                      : !isContraction(user);
  });
}

/// Elements read and written beside a contraction's factors, over `unit`. What
/// is larger than the unit is read in part.
static int64_t countTensors(FusedOp fused, int64_t unit) {
  double elements = 0;
  for (BlockArgument argument : fused.getBody().getArguments())
    if (isReadElsewhere(argument))
      elements += double(std::min(getElements(argument), unit));
  for (Value result : fused.getResults())
    elements += double(std::min(getElements(result), unit));
  return std::llround(elements / double(std::max<int64_t>(unit, 1)));
}

using ExtentMap = std::map<std::string, int64_t>;

static ExtentMap getExtents(AttentionOp attention) {
  RankedTensorType query = getTensorType(attention.getQuery());
  RankedTensorType key = getTensorType(attention.getKey());
  return {{"batch", query.getDimSize(0)},  {"heads", query.getDimSize(1)},
          {"kv_heads", key.getDimSize(1)}, {"queries", query.getDimSize(2)},
          {"keys", key.getDimSize(2)},     {"head", query.getDimSize(3)}};
}

static ExtentMap getExtents(FusedOp fused, MatmulOp matmul) {
  int64_t m = matmul.getM(), n = matmul.getN(), k = matmul.getK();
  int64_t batch = llvm::product_of(matmul.getType().getShape().drop_back(2));
  int64_t factors =
      llvm::product_of(getTensorType(matmul.getRhs()).getShape().drop_back(2));
  // All batches share the rhs: they are rows of one product.
  if (factors == 1) {
    m *= batch;
    batch = 1;
  }
  if (fused.getRule() == "grouped_gemm") {
    n = 0;
    for (auto each : fused.getBody().getOps<MatmulOp>())
      n += each.getN();
  }
  return {{"m", m},
          {"n", n},
          {"k", k},
          {"batch", batch},
          {"tensors", countTensors(fused, batch * m * n)}};
}

/// Rows and columns of an op that works on rows; 0 where it is none.
static std::pair<int64_t, int64_t> getRows(Operation *op) {
  return TypeSwitch<Operation *, std::pair<int64_t, int64_t>>(op)
      .Case([](NormOp norm) {
        int64_t columns = llvm::product_of(
            norm.getType().getShape().take_back(norm.getDims()));
        return std::pair(getElements(norm), columns);
      })
      .Case([](SoftmaxOp softmax) {
        return std::pair(getElements(softmax),
                         softmax.getType().getDimSize(softmax.getDim()));
      })
      .Case([](ReduceOp reduce) {
        int64_t elements = getElements(reduce.getOperand());
        return std::pair(elements,
                         elements / std::max<int64_t>(getElements(reduce), 1));
      })
      .Default([](Operation *) { return std::pair<int64_t, int64_t>(0, 0); });
}

static ExtentMap getExtents(FusedOp fused) {
  auto attentions = fused.getBody().getOps<AttentionOp>();
  if (!attentions.empty())
    return getExtents(*attentions.begin());
  auto matmuls = fused.getBody().getOps<MatmulOp>();
  if (!matmuls.empty())
    return getExtents(fused, *matmuls.begin());
  for (Operation &op : fused.getBodyOps())
    if (isa<NormOp, SoftmaxOp, ReduceOp>(op)) {
      auto [elements, columns] = getRows(&op);
      return {{"rows", elements / std::max<int64_t>(columns, 1)},
              {"columns", columns},
              {"tensors", countTensors(fused, elements)}};
    }
  int64_t elements = 0;
  for (Value result : fused.getResults())
    elements = std::max(elements, getElements(result));
  return {{"elements", elements}, {"tensors", countTensors(fused, elements)}};
}

patterns::Problem fact::getProblem(FusedOp fused, StringRef architecture) {
  patterns::Problem problem;
  problem.rule = fused.getRule().str();
  problem.architecture = architecture.str();
  problem.ops = getOps(fused);
  llvm::raw_string_ostream(problem.dtype) << getElementType(fused);
  problem.extents = getExtents(fused);
  // An empty tensor takes as long as a small one.
  for (auto &[name, extent] : problem.extents)
    extent = std::max<int64_t>(extent, 1);
  return problem;
}
