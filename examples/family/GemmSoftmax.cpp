//===- GemmSoftmax.cpp - A family of kernels as a plug-in -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The product of two matrices and the softmax of its rows as one host kernel:
// the product is never stored. docs/adding-a-family.md walks through this file.
//
//===----------------------------------------------------------------------===//

#include "fact/Kernel/ScheduleOf.h"
#include "fact/Kernel/Target.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {
/// How the rows of a kernel are shared by threads.
class SharedRowsAttr : public ScheduleOf<SharedRowsAttr, int64_t> {
public:
  using ScheduleOf::ScheduleOf;
  static const ScheduleKind kind;

  int64_t getRows() const { return getSize(0); }
};
} // namespace

const ScheduleKind SharedRowsAttr::kind{
    "shared_rows",
    "host loops over rows whose products stay in the cache",
    {Parameter::number("rows", "rows of one parallel tile", Sizes::any())},
    "A tile has no more rows than the product.",
    {"4", "16"}};

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

/// A product that only a softmax of its rows reads.
static OpGroup findProduct(Operation *op,
                           llvm::function_ref<bool(Operation *)> isFree) {
  OpGroup group;
  auto matmul = dyn_cast<MatmulOp>(op);
  if (!matmul || !matmul->hasOneUse())
    return group;
  auto softmax = dyn_cast<SoftmaxOp>(*matmul->user_begin());
  if (softmax && isFree(softmax))
    group.insert_range(ArrayRef<Operation *>{matmul, softmax});
  return group;
}

/// The product is two-dimensional and has no other operands.
static ProblemExtents getExtents(FusedOp fused) {
  ProblemExtents extents = getAnchorExtents(fused);
  extents.erase("batch");
  extents.erase("tensors");
  return extents;
}

static const Rule gemmSoftmaxRule{
    "gemm_softmax",
    "One `matmul` of two f32 matrices and the `softmax` of its rows. Gain: the "
    "product is not stored.",
    findProduct,
    /*forward=*/false,
    /*backward=*/false,
    /*sideways=*/false,
    /*takesReshapes=*/false,
    /*isLastResort=*/false,
    getExtents};

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

namespace {
/// Everything of a region but its schedule.
struct GemmSoftmax {
  int64_t m, n, k;
  /// The buffers of both factors, and whether the second is [N, K].
  unsigned lhs, rhs;
  bool transposed;
};

class GemmSoftmaxPlan : public Plan {
public:
  GemmSoftmaxPlan(const Family &family, FusedOp fused,
                  const MachineDescription &machine, GemmSoftmax gemm)
      : Plan(family, fused, machine), gemm(gemm) {}

  /// Reads the region, or says in one sentence what stands in the way.
  static FailureOr<GemmSoftmax> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override {
    SmallVector<int64_t> rows;
    for (int64_t count : {1, 4, 16})
      if (count <= gemm.m)
        rows.push_back(count);
    return SharedRowsAttr::getSpace(fused.getContext(), rows);
  }

  double predict(ScheduleAttr schedule) const override {
    double tiles =
        llvm::divideCeil(gemm.m, cast<SharedRowsAttr>(schedule).getRows());
    double flops = 2.0 * gemm.m * gemm.n * gemm.k;
    return 1e6 * flops / machine.scalarFlops + 0.1 * tiles;
  }

  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override {
    int64_t rows = cast<SharedRowsAttr>(schedule).getRows();
    if (rows > gemm.m)
      return emitError() << "a tile has at most " << gemm.m << " rows, not "
                         << rows;
    return success();
  }

private:
  GemmSoftmax gemm;
};
} // namespace

FailureOr<GemmSoftmax> GemmSoftmaxPlan::read(FusedOp fused,
                                             EmitError emitError) {
  auto ops = llvm::to_vector(llvm::make_pointer_range(fused.getBodyOps()));
  auto matmul = ops.size() == 2 ? dyn_cast<MatmulOp>(ops[0]) : MatmulOp();
  auto softmax = ops.size() == 2 ? dyn_cast<SoftmaxOp>(ops[1]) : SoftmaxOp();
  if (!matmul || !softmax || softmax.getOperand() != matmul.getResult() ||
      fused.getNumResults() != 1 ||
      fused.getYield()->getOperand(0) != softmax.getResult())
    return emitError() << "needs one 'fact.matmul', the 'fact.softmax' of it, "
                          "and nothing else";
  if (matmul.getType().getRank() != 2 || matmul.getTransposeA() ||
      softmax.getDim() != 1 || !matmul.getType().getElementType().isF32())
    return emitError() << "needs matrices of f32 with rows as they are, and "
                          "the softmax of rows";
  // With two ops, both factors are arguments.
  return GemmSoftmax{matmul.getM(),
                     matmul.getN(),
                     matmul.getK(),
                     cast<BlockArgument>(matmul.getLhs()).getArgNumber(),
                     cast<BlockArgument>(matmul.getRhs()).getArgNumber(),
                     matmul.getTransposeB()};
}

/// C++ for the target's own compiler. fact/Runtime/Kernel.h says what a kernel
/// exports.
static const char source[] = R"(// {0} with {1}
#include "fact/Runtime/Kernel.h"
#include <cmath>

namespace {{
constexpr int64_t M = {2}, N = {3}, K = {4}, rows = {5};

double multiply(const float *a, const float *b, int64_t row, int64_t column) {{
  double sum = 0;
  for (int64_t k = 0; k < K; ++k)
    sum += double(a[row * K + k]) * b[{6}];
  return sum;
}

void tile(int64_t index, void *const *buffers, void *) {{
  const float *a = static_cast<const float *>(buffers[{7}]);
  const float *b = static_cast<const float *>(buffers[{8}]);
  float *result = static_cast<float *>(buffers[{9}]);
  for (int64_t row = index * rows; row < M && row < (index + 1) * rows; ++row) {{
    float *out = result + row * N;
    float largest = -INFINITY;
    for (int64_t n = 0; n < N; ++n) {{
      out[n] = float(multiply(a, b, row, n));
      largest = out[n] > largest || out[n] != out[n] ? out[n] : largest;
    }
    double sum = 0;
    for (int64_t n = 0; n < N; ++n)
      sum += out[n] = std::exp(out[n] - largest);
    for (int64_t n = 0; n < N; ++n)
      out[n] = float(out[n] / sum);
  }
}
} // namespace

extern "C" const FactKernel {10} = {{
    FACT_KERNEL_ABI, {9} + 1, 0, 0, nullptr, nullptr, (M + rows - 1) / rows, tile,
    -1, 0, 0, 0, nullptr};
)";

LogicalResult GemmSoftmaxPlan::emit(ArrayRef<KernelVariant> variants,
                                    KernelCode &code) const {
  const auto &[schedule, symbol] = variants.front();
  code.text =
      llvm::formatv(source, family.getRule().name, schedule.getKey(), gemm.m,
                    gemm.n, gemm.k, cast<SharedRowsAttr>(schedule).getRows(),
                    gemm.transposed ? "column * K + k" : "k * N + column",
                    gemm.lhs, gemm.rhs, fused.getInputs().size(), symbol);
  return success();
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

namespace {
class GemmSoftmaxFamily : public FamilyOf<GemmSoftmaxPlan> {
public:
  GemmSoftmaxFamily()
      : FamilyOf(gemmSoftmaxRule, "host", {&SharedRowsAttr::kind}) {}
};

/// A processor whose cores have little cache: one row at a time.
class SmallCoresPlan : public GemmSoftmaxPlan {
public:
  using GemmSoftmaxPlan::GemmSoftmaxPlan;
  SpaceAttrInterface getSpace() const override {
    return SharedRowsAttr::getSpace(fused.getContext(), {1});
  }
};

class SmallCoresFamily : public FamilyOf<SmallCoresPlan> {
public:
  SmallCoresFamily()
      : FamilyOf(gemmSoftmaxRule, SMALL_CORES, {&SharedRowsAttr::kind}) {}
};
} // namespace

extern "C" DialectPluginLibraryInfo LLVM_ATTRIBUTE_WEAK
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "GemmSoftmax", "1",
          [](DialectRegistry *registry) {
            registerFamily<GemmSoftmaxFamily>(*registry);
            registerFamily<SmallCoresFamily>(*registry);
          }};
}
