//===- GroupedGemm.cpp - Products of one operand, side by side ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several matmuls with the same lhs, such as queries, keys and values. Each has
// its own weight [N, K], pointwise ops and result; the widths may differ. They
// run as one GEMM of the summed width, whose epilogue applies to each tile the
// functor of the product that it belongs to.
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

/// A grouped GEMM without its schedule.
struct GroupedGemm {
  MatrixRate rate;
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
  using PackedGemmAnalysis::PackedGemmAnalysis;

  FailureOr<GroupedGemm> run() {
    if (failed(readWeights()) || failed(checkResults()))
      return failure();
    FailureOr<MatrixTensor> a = getLhs();
    if (failed(a))
      return failure();
    GroupedGemm gemm{getRate(), region.m, region.k, *a, {}};
    for (auto [i, product] : llvm::enumerate(region.products)) {
      unsigned result = region.segments[i].results.front();
      FailureOr<Epilogue> epilogue =
          getEpilogue(region.results[result], {product.matmul.getResult()});
      if (failed(epilogue))
        return failure();
      gemm.segments.push_back({product.n, weights[i], epilogue->result,
                               epilogue->operands,
                               std::move(epilogue->function)});
    }
    return std::move(gemm);
  }

private:
  /// Checks that each product has one result, and that all results have one
  /// element type: their tiles are staged in the same shared memory.
  LogicalResult checkResults() {
    for (auto [i, segment] : llvm::enumerate(region.segments))
      if (segment.results.size() != 1)
        return emitError() << "each product must have one result, and product "
                           << i << " has " << segment.results.size();
    Type element = getTensorType(region.results[0].yielded).getElementType();
    for (const ContractionRegion::Result &result : region.results) {
      Type type = getTensorType(result.yielded).getElementType();
      if (type != element)
        return emitError() << "all results must have one element type, not "
                           << element << " and " << type;
    }
    return success();
  }
};

class GroupedGemmPlan : public Sm90GemmPlan {
public:
  GroupedGemmPlan(const Family &family, FusedOp fused,
                  const MachineDescription &machine, GroupedGemm gemm)
      : Sm90GemmPlan(family, fused, machine), gemm(std::move(gemm)) {}

  static FailureOr<GroupedGemm> read(FusedOp fused, EmitError emitError) {
    return readProducts<GroupedGemmAnalysis>(
        fused, ContractionRegion::Kind::Grouped, emitError);
  }

  SpaceAttrInterface getSpace() const override {
    return getPackedGemmSpace(fused.getContext(), gemm.rate, gemm.m,
                              gemm.getColumns(), machine);
  }
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override {
    return checkGemm(cast<Sm90GemmAttr>(schedule),
                     getPackedGemmLimits(gemm.rate), emitError);
  }

private:
  GroupedGemm gemm;
};

class GroupedGemmFamily : public FamilyOf<GroupedGemmPlan> {
public:
  GroupedGemmFamily()
      : FamilyOf(groupedGemmRule, "sm_90a", {&Sm90GemmAttr::kind}) {}

  StringRef getLimits() const override {
    return "Each result reads one product, each product has one result, "
           "and all results have one element type. No reduce, and no "
           "other reader of the weights. Each weight is a matrix [N, K] "
           "under `transpose_b`, with N and K multiples of 8. The lhs "
           "comes from outside of the pattern, directly or through views; "
           "a lhs that the pattern would compute is of another pattern. "
           "Other operands as those of gemm_epilogue.";
  }
};
} // namespace

double GroupedGemmPlan::predict(ScheduleAttr schedule) const {
  double m = gemm.m, k = gemm.k, n = gemm.getColumns();
  GemmWork work{gemm.rate, gemm.m, gemm.getColumns(), gemm.k, 1, 0, 0, 0};
  work.epilogueBytes = 0;
  double slots = 0;
  for (const Segment &segment : gemm.segments) {
    work.epilogueBytes += countMatrixBytes(segment.operands, gemm.m, segment.n);
    slots += (5 + segment.epilogue.getCost() + 4.0 * segment.operands.size()) *
             segment.n / n;
  }
  work.bytes = getStorageBytes(gemm.a.element) * (m * k + n * k) +
               getStorageBytes(gemm.segments.front().result.element) * m * n +
               work.epilogueBytes;
  work.slots = slots;
  return 1e6 * predictGemm(work, cast<Sm90GemmAttr>(schedule), machine);
}

LogicalResult GroupedGemmPlan::emit(ArrayRef<KernelVariant> variants,
                                    KernelCode &code) const {
  llvm::raw_string_ostream os(code.text);
  SizeList sizes(SizeList::Arguments);
  printBeginning(os, variants.front(), sizes, "GroupedGemm.cuh");
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
  os << "using Kernel = GroupedGemm<\n    Grouped";
  printProblem(os, {gemm.m, gemm.k}, sizes);
  os << ",\n    ";
  printFactor(os, gemm.a, /*isLhs=*/true, sizes);
  os << ",\n    Segments<\n        ";
  llvm::interleave(
      llvm::enumerate(gemm.segments),
      [&](auto entry) {
        const Segment &segment = entry.value();
        os << "Segment<" << sizes.print(segment.n) << ", ";
        segment.weight.print(os, sizes);
        os << ", ";
        printOperands(os, segment.operands, sizes);
        os << ",\n                " << functors[entry.index()] << ", ";
        segment.result.print(os, sizes);
        os << '>';
      },
      [&] { os << ",\n        "; });
  os << ">,\n    ";
  finishGemm(os, variants, gemm.rate, sizes, code);
  return success();
}

void fact::registerGroupedGemmFamily(DialectRegistry &registry) {
  registerFamily<GroupedGemmFamily>(registry);
}
