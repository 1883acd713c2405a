//===- GroupedGemm.cpp - Products of one operand, side by side ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several matmuls with the same lhs, each with its own weight [N, K] (the widths
// may differ) and its own graph of pointwise ops into its own result: queries,
// keys and values. They run as one GEMM of the summed width, whose epilogue
// sends each tile through the functor of the product that it belongs to.
//
//===----------------------------------------------------------------------===//

#include "PackedGemm.h"

using namespace mlir;
using namespace fact;

namespace {
/// One product and its result.
struct Segment {
  int64_t n;
  MatrixTensor weight, result;
  SmallVector<MatrixTensor> operands;
  ScalarFunction epilogue;
};

/// A region as a grouped GEMM: everything but the schedule.
struct GroupedGemm {
  int64_t m, k;
  MatrixTensor a;
  std::vector<Segment> segments;

  int64_t getColumns() const {
    int64_t columns = 0;
    for (const Segment &segment : segments)
      columns += llvm::alignTo(segment.n, 32);
    return columns;
  }
};

class GroupedGemmAnalysis : PackedGemmAnalysis {
public:
  GroupedGemmAnalysis(FusedOp fused, EmitError emitError)
      : PackedGemmAnalysis(fused, emitError) {}

  FailureOr<GroupedGemm> run() {
    auto matmuls =
        llvm::to_vector(fused.getBody().front().getOps<MatmulOp>());
    if (matmuls.size() < 2)
      return emitError() << "needs two or more 'fact.matmul' of one lhs";
    if (failed(checkProducts(matmuls)) || failed(matchResults(matmuls)))
      return failure();
    FailureOr<MatrixTensor> a = getLhs(matmuls.front());
    if (failed(a))
      return failure();
    GroupedGemm gemm{matmuls.front().getType().getNumElements() /
                         matmuls.front().getN(),
                     matmuls.front().getK(),
                     *a,
                     {}};
    SmallVector<MatrixTensor> weights;
    for (MatmulOp matmul : matmuls) {
      FailureOr<MatrixTensor> weight = getWeight(matmul);
      if (failed(weight))
        return failure();
      weights.push_back(*weight);
    }
    for (auto [matmul, weight] : llvm::zip_equal(matmuls, weights)) {
      FailureOr<Segment> segment = getSegment(matmul, weight, gemm.m);
      if (failed(segment))
        return failure();
      gemm.segments.push_back(std::move(*segment));
    }
    return std::move(gemm);
  }

private:
  /// Finds the one result of each product.
  LogicalResult matchResults(ArrayRef<MatmulOp> matmuls) {
    Type element;
    for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands())) {
      SmallVector<MatmulOp> read = collectProducts(yielded);
      if (read.size() != 1)
        return emitError() << "result " << i << " must read one product, and "
                           << "reads " << read.size();
      if (!resultOf.try_emplace(read.front(), i).second)
        return emitError() << "each product has one result here, and results "
                           << resultOf.lookup(read.front()) << " and " << i
                           << " read the same";
      // Their tiles share memory on the way out.
      Type type = getTensorType(yielded).getElementType();
      if (element && type != element)
        return emitError() << "all results must have one element type, not "
                           << element << " and " << type;
      element = type;
    }
    if (resultOf.size() != matmuls.size())
      return emitError() << "no result reads one of the products";
    return success();
  }

  /// The products that a value is made of.
  static SmallVector<MatmulOp> collectProducts(Value root) {
    SmallVector<MatmulOp> products;
    llvm::SmallPtrSet<Operation *, 8> seen;
    SmallVector<Value> pending{root};
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val().getDefiningOp();
      if (!op || !seen.insert(op).second)
        continue;
      if (auto matmul = dyn_cast<MatmulOp>(op))
        products.push_back(matmul);
      else
        llvm::append_range(pending, op->getOperands());
    }
    return products;
  }

  FailureOr<Segment> getSegment(MatmulOp matmul, const MatrixTensor &weight,
                                int64_t m) {
    SmallVector<int64_t> space{m, matmul.getN()};
    Value value;
    FailureOr<MatrixTensor> result =
        getResult(resultOf.lookup(matmul), space, value);
    if (failed(result))
      return failure();
    ScalarFunction::Options options;
    options.fast = true;
    options.leading = {matmul.getResult()};
    FailureOr<ScalarFunction> epilogue =
        ScalarFunction::get({value}, space, options, emitError);
    if (failed(epilogue))
      return failure();
    FailureOr<SmallVector<MatrixTensor>> operands = getOperands(*epilogue, 1);
    if (failed(operands))
      return failure();
    return Segment{matmul.getN(), weight, *result, *operands,
                   std::move(*epilogue)};
  }

  DenseMap<Operation *, unsigned> resultOf;
};

class GroupedGemmPlan : public Sm90GemmPlan {
public:
  GroupedGemmPlan(const Family &family, FusedOp fused,
                  const MachineDescription &machine, GroupedGemm gemm)
      : Sm90GemmPlan(family, fused, machine), gemm(std::move(gemm)) {}

  SpaceAttrInterface getSpace() const override {
    return getPackedGemmSpace(fused.getContext(), gemm.m, gemm.getColumns(),
                              machine);
  }
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override {
    return checkGemm(cast<Sm90GemmAttr>(schedule), getPackedGemmLimits(),
                     emitError);
  }

private:
  GroupedGemm gemm;
};

class GroupedGemmFamily : public Family {
public:
  GroupedGemmFamily()
      : Family(groupedGemmRule, "sm_90a", {&Sm90GemmAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    return makePlan<GroupedGemmPlan>(
        fused, machine, GroupedGemmAnalysis(fused, emitError).run());
  }
};
} // namespace

double GroupedGemmPlan::predict(ScheduleAttr schedule) const {
  double m = gemm.m, k = gemm.k, n = gemm.getColumns();
  GemmWork work{gemm.m, gemm.getColumns(), gemm.k, 1, 0, 0, 0};
  work.epilogueBytes = 0;
  double slots = 0;
  for (const Segment &segment : gemm.segments) {
    work.epilogueBytes += countMatrixBytes(segment.operands, gemm.m, segment.n);
    slots += (5 + segment.epilogue.getCost() + 4.0 * segment.operands.size()) *
             segment.n / n;
  }
  work.bytes = 2 * (m * k + n * k + m * n) + work.epilogueBytes;
  work.slots = slots;
  return 1e6 * predictGemm(work, cast<Sm90GemmAttr>(schedule), machine);
}

LogicalResult GroupedGemmPlan::emit(ArrayRef<KernelVariant> variants,
                                    KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "GroupedGemm.cuh");
  SmallVector<std::string> functors;
  for (auto [i, segment] : llvm::enumerate(gemm.segments)) {
    functors.push_back("Identity");
    if (segment.epilogue.isIdentity())
      continue;
    functors.back() = "Epilogue" + std::to_string(i);
    segment.epilogue.printFunctor(
        os, functors.back(), getArgumentNames(segment.epilogue, {"product"}));
    os << '\n';
  }
  os << "using Kernel = GroupedGemm<\n    GroupedProblem<" << gemm.m << ", "
     << gemm.k << ">,\n    " << gemm.a << ",\n    Segments<\n        ";
  llvm::interleave(
      llvm::enumerate(gemm.segments),
      [&](auto entry) {
        const Segment &segment = entry.value();
        os << "Segment<" << segment.n << ", " << segment.weight << ", ";
        printOperands(os, segment.operands);
        os << ",\n                " << functors[entry.index()] << ", "
           << segment.result << '>';
      },
      [&] { os << ",\n        "; });
  os << ">,\n    ";
  printSchedule(os, cast<Sm90GemmAttr>(schedule));
  os << ">;\n";
  printGemmVariants(os, variants);
  return success();
}

void fact::registerGroupedGemmFamily(DialectRegistry &registry) {
  registerFamily<GroupedGemmFamily>(registry);
}
