//===- GemmEpilogue.cpp - A contraction and the pointwise ops after it ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pointwise graph becomes one functor per result and per reduction; its
// operands become matrices, vectors and scalars relative to the product. Where
// wgmma has to take A from registers, mma.sync competes.
//
//===----------------------------------------------------------------------===//

#include "../Sm80/Gemm.h"
#include "GemmAnalysis.h"
#include "fact/Analysis/ReadThrough.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
class GemmEpiloguePlan : public Sm90GemmPlan {
public:
  GemmEpiloguePlan(const Family &family, FusedOp fused,
                   const MachineDescription &machine, Gemm gemm);

  static FailureOr<Gemm> read(FusedOp fused, EmitError emitError) {
    return Gemm::read(fused, {/*windows=*/true, /*columns=*/true}, emitError);
  }

  SpaceAttrInterface getSpace() const override;
  SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  LogicalResult checkWindows(Sm90GemmAttr schedule, EmitError emitError) const;
  double countFactorBytes() const;
  void emitGemm(ArrayRef<KernelVariant> variants, KernelCode &code) const;
  bool hasLongSums() const;
  bool hasShortSums() const;
  int64_t countTiles() const;

  Gemm gemm;
  /// The same region by mma.sync or the f32 units, if A is read in columns or K
  /// is long, or short in f32.
  std::optional<sm80::GemmPlan> bySync;
};

class GemmEpilogueFamily : public FamilyOf<GemmEpiloguePlan> {
public:
  GemmEpilogueFamily()
      : FamilyOf(gemmEpilogueRule, "sm_90a",
                 {&Sm90GemmAttr::kind, &CublasGemmAttr::kind,
                  &Sm80GemmAttr::kind}) {}

  StringRef getLimits() const override {
    return "Each factor comes from outside of the pattern, directly or "
           "through views that leave its rows or columns contiguous and "
           "its batches at one stride; a factor that the pattern would "
           "compute (a norm, an activation, a cast, a gather) is of "
           "another pattern, but windows of an image and the zeros around "
           "it are read in place. Batches of two strides, as heads that "
           "are permuted out of or into a packed tensor, are no such view "
           "if there is more than one batch and one head. After the "
           "matmul, reshapes are free; a permute may only be last, and "
           "must leave rows of the result contiguous; a slice, expand or "
           "other view of the product is not allowed. Every result has "
           "the product's elements, or is computed from a reduction of it "
           "and operands of that size alone. Other operands are f16, bf16, "
           "f32, i1 or integers: a matrix of the product's "
           "size and order, one element per row or per column, or a "
           "scalar; there are at most four matrices. Sizes of rows that "
           "are no multiple of 16 bytes are allowed, and slower.";
  }

  /// TMA's.
  int64_t getPixelBytes() const override { return 16; }
};
} // namespace

GemmEpiloguePlan::GemmEpiloguePlan(const Family &family, FusedOp fused,
                                   const MachineDescription &machine, Gemm gemm)
    : Sm90GemmPlan(family, fused, machine), gemm(std::move(gemm)) {
  if (!this->gemm.readsColumns() && !hasLongSums() && !hasShortSums())
    return;
  FailureOr<sm80::Gemm> other =
      sm80::Gemm::read(fused, ContractionRegion::Kind::Single, Silence(fused));
  if (succeeded(other))
    bySync.emplace(family, fused, machine, std::move(*other));
}

/// Whether tiles fill less than half of the machine, and take long: kernels
/// with mma.sync split K into parts that run at the same time. The parts of
/// stream-K add up one after the other (docs/benchmarks/gemm-ranking.md).
bool GemmEpiloguePlan::hasLongSums() const {
  return 2 * countTiles() <= machine.multiprocessors && gemm.k >= 4096;
}

/// Whether a product of f32 takes one or two steps of K. Its copies of factors
/// that do not lie along K, and its parts for strict products, then take longer
/// than the products; kernels of sm_80 read factors as they lie.
bool GemmEpiloguePlan::hasShortSums() const {
  return (gemm.rate == MatrixRate::F32 || gemm.rate == MatrixRate::TF32) &&
         gemm.k <= sm80::shortSum;
}

/// Tiles of 128 x 128.
int64_t GemmEpiloguePlan::countTiles() const {
  return llvm::divideCeil(gemm.m, 128) * llvm::divideCeil(gemm.n, 128) *
         gemm.batches;
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

LogicalResult GemmEpiloguePlan::checkLimits(ScheduleAttr schedule,
                                            EmitError emitError) const {
  if (isa<Sm80GemmAttr>(schedule)) {
    if (!bySync)
      return emitError() << "takes sm80_gemm schedules only where A is f32 in "
                            "columns, which wgmma takes from registers, where "
                            "few tiles have long sums, or where sums of f32 "
                            "have at most "
                         << sm80::shortSum << " terms";
    return bySync->check(schedule, emitError);
  }
  auto own = dyn_cast<Sm90GemmAttr>(schedule);
  if (!own) {
    if (!gemm.isPlain)
      return emitError() << "takes a plain 'fact.matmul', without an epilogue";
    return success();
  }
  if (gemm.rate == MatrixRate::F64)
    return emitError() << "multiplies f16, bf16 and f32, not f64";
  Limits limits(gemm.rate);
  limits.results = gemm.results.size();
  if (usesBands(gemm.bands, own)) {
    if (own.getSwizzle() != 1)
      return emitError()
             << "tiles of bands have an order of their own: swizzle "
                "must be 1, not "
             << own.getSwizzle();
    limits.results += gemm.bands.mirrored;
  }
  if (gemm.countReductions() > 0)
    limits.noStreamK = "reductions of a product run after a cooperative or a "
                       "pingpong kernel, not after stream_k";
  if (failed(checkGemm(own, limits, emitError)))
    return failure();
  if (gemm.windows && failed(checkWindows(own, emitError)))
    return failure();
  return gemm.checkTma(emitError);
}

/// Checks that tiles have whole boxes of TMA.
LogicalResult GemmEpiloguePlan::checkWindows(Sm90GemmAttr schedule,
                                             EmitError emitError) const {
  Extents tile = schedule.getTile(), cluster = schedule.getCluster();
  if (tile[2] % gemm.windows->width)
    return emitError() << "tile K of windows must be a multiple of "
                       << gemm.windows->width << " channels, not " << tile[2];
  if (tile[1] % (8 * cluster[0]))
    return emitError() << "tile N of windows must be a multiple of 8 for each "
                          "of "
                       << cluster[0] << " blocks that share filters, not "
                       << tile[1];
  return success();
}

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

SpaceAttrInterface GemmEpiloguePlan::getSpace() const {
  using K = KernelSchedule;
  auto space = [&](ArrayRef<Extents> tiles, ArrayRef<Extents> clusters,
                   ArrayRef<K> kernels, ArrayRef<int64_t> swizzles) {
    return Sm90GemmAttr::getSpace(fused.getContext(),
                                  getTiles(tiles, gemm.rate), clusters, kernels,
                                  swizzles);
  };
  SmallVector<Extents> clusters{{2, 1}, {1, 2}, {1, 1}};
  // Each further matrix takes up to 32 KiB of staging beside the tiles.
  if (gemm.countMatrices() + int64_t(gemm.results.size()) > 2)
    return space({{128, 128, 64}, {128, 64, 64}, {64, 128, 64}, {64, 64, 64}},
                 clusters, {K::pingpong, K::cooperative}, {1, 4});
  SmallVector<K> kernels{K::pingpong, K::cooperative};
  if (gemm.countReductions() == 0)
    kernels.push_back(K::stream_k);
  // Larger ones are the same in the smallest tiles.
  SmallVector<int64_t> swizzles{1, 2, 4, 8};
  llvm::erase_if(swizzles, [&](int64_t swizzle) {
    return limitSwizzle(swizzle, llvm::divideCeil(gemm.m, 64),
                        llvm::divideCeil(gemm.n, 64)) != swizzle;
  });
  // Each of these was the fastest for some of the products of
  // docs/benchmarks/gemm-ranking.md. For a strict product, those that need too
  // many registers are not legal.
  SmallVector<Extents> all{{128, 256, 64}, {256, 128, 64}, {128, 192, 64},
                           {128, 128, 64}, {128, 96, 64},  {128, 64, 64},
                           {256, 64, 64},  {64, 256, 64},  {64, 192, 64},
                           {64, 128, 64},  {64, 64, 64}};
  if (countTiles() < 2 * machine.multiprocessors) {
    all.append({{64, 64, 128}, {64, 32, 128}});
    return space(all, clusters, kernels, swizzles);
  }
  // 64x256 was the fastest for reductions over columns in one measured problem
  // (docs/benchmarks/h200.md, pooled_head).
  if (!gemm.columns.reductions.empty())
    return space({{64, 256, 64}, {64, 192, 64}, {64, 128, 64}, {128, 128, 64}},
                 clusters, kernels, {1, 4});
  // A convolution often has few filters, and a tile wider than they are
  // multiplies zeros.
  if (gemm.windows && gemm.n <= 128) {
    int64_t width = gemm.n <= 32 ? 32 : gemm.n <= 64 ? 64 : 128;
    return space({{256, width, 64}, {128, width, 64}}, {{1, 1}, {2, 1}},
                 {K::pingpong, K::cooperative}, {1});
  }
  return space(all, clusters, kernels, swizzles);
}

SmallVector<ScheduleAttr> GemmEpiloguePlan::getFixedSchedules() const {
  SmallVector<ScheduleAttr> fixed;
  if (gemm.isPlain)
    fixed.push_back(CublasGemmAttr::get(fused.getContext()));
  if (!bySync)
    return fixed;
  // The two that should be fastest, of different tiles: nvcc takes seconds for
  // one.
  std::vector<ScheduleAttr> schedules = bySync->getSpace().enumerate();
  llvm::erase_if(schedules,
                 [&](ScheduleAttr each) { return !bySync->isLegal(each); });
  llvm::stable_sort(schedules, [&](ScheduleAttr a, ScheduleAttr b) {
    return bySync->predict(a) < bySync->predict(b);
  });
  SmallVector<Extents> tiles;
  llvm::erase_if(schedules, [&](ScheduleAttr each) {
    Extents tile = cast<Sm80GemmAttr>(each).getTile();
    bool isKnown = llvm::is_contained(tiles, tile);
    tiles.push_back(tile);
    return isKnown;
  });
  schedules.resize(std::min<size_t>(schedules.size(), 2));
  llvm::append_range(fixed, schedules);
  return fixed;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

double GemmEpiloguePlan::countFactorBytes() const {
  double bytes = getStorageBytes(gemm.a.element);
  double a = gemm.windows ? gemm.windows->countImageBytes()
                          : bytes * gemm.batches * gemm.m * gemm.k;
  return a + bytes * gemm.batches * gemm.k * gemm.n;
}

double GemmEpiloguePlan::predict(ScheduleAttr schedule) const {
  if (isa<CublasGemmAttr>(schedule))
    return 1e6 * gemm.getPlain().predictCublas(machine);
  if (isa<Sm80GemmAttr>(schedule))
    return bySync->predict(schedule);
  double epilogueBytes =
      gemm.batches * countMatrixBytes(gemm.operands, gemm.m, gemm.n);
  double bytes = epilogueBytes;
  for (const MatrixTensor &result : gemm.results)
    bytes += double(gemm.m) * gemm.n * gemm.batches *
             getStorageBytes(result.element);
  bytes += countFactorBytes();

  auto gemmSchedule = cast<Sm90GemmAttr>(schedule);
  double slots = 1 + gemm.epilogue.getCost() + 2.0 * gemm.operands.size() +
                 4.0 * gemm.results.size() + 2.0 * gemm.countReductions();
  // An exponential and a logarithm for each element.
  for (const ReducedEpilogue::Exponentials &each : gemm.rows.exponentials)
    slots += each.maximum ? 16 : 0;
  int64_t finishes =
      !gemm.rows.reductions.empty() + !gemm.columns.reductions.empty();
  // A 1x1 convolution of images with channels first took 197 us for 139.
  double slowdown = gemm.readsColumns() ? 1.4 : 1;
  GemmWork work{gemm.rate,    gemm.m, gemm.n,        gemm.k,
                gemm.batches, bytes,  epilogueBytes, slots};
  work.packsOnce = isFixed(fused->getOperand(gemm.b.buffer));
  work.bands = gemm.bands;
  // A mirrored tile is stored twice.
  if (gemm.bands.mirrored && usesBands(gemm.bands, gemmSchedule))
    work.slots += 4;
  // The problem of 64x256 above took 441 us by it, 655 by 128x128 and 1098 by
  // 64x128; 8192 batches of 20 rows took 286 us by 64x128.
  const Extents &tile = gemmSchedule.getTile();
  if (!gemm.columns.reductions.empty() && tile[0] > 64)
    slowdown *= 1.5;
  else if (!gemm.columns.reductions.empty())
    work.tileSeconds = tile[1] == 256 ? 1.4e-6 : 4e-6;
  auto predictCopy = [&](bool copies, int64_t extent) {
    double bytes = 8.0 * gemm.batches * extent * gemm.k;
    return copies ? machine.launchSeconds + bytes / machine.bandwidth : 0;
  };
  // What splits a strict B copies it, too, and is part of the kernel.
  bool copiesRhs = gemm.copiesRhs() && !work.packsOnce &&
                   !splitsAhead(gemmSchedule, gemm.rate);
  double copy =
      predictCopy(gemm.copiesLhs(), gemm.m) + predictCopy(copiesRhs, gemm.n);
  double product = slowdown * predictGemm(work, gemmSchedule, machine);
  // Each column of tiles loads the windows again, while others are multiplied.
  if (gemm.windows) {
    double rows = double(gemm.batches) * gemm.m;
    double loading = rows * llvm::divideCeil(gemm.n, tile[1]) *
                     gemm.windows->countLoadCycles() /
                     (machine.multiprocessors * machine.clock);
    product = std::max(product, machine.launchSeconds + loading) +
              0.05 * std::min(product, loading);
  }
  return 1e6 * (finishes * machine.launchSeconds + copy + product);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// The name of a reduction in GemmReductions.cuh.
static std::string
getReductionWord(ReduceOp reduce,
                 const ReducedEpilogue::Exponentials &exponentials) {
  if (exponentials.maximum)
    return llvm::formatv("ReduceExponentials<{0}, {1}>", *exponentials.maximum,
                         exponentials.isGuarded ? "true" : "false");
  switch (reduce.getKind()) {
  case ReduceKind::mean:
    return "ReduceMean";
  case ReduceKind::max:
    return "ReduceMax";
  case ReduceKind::min:
    return "ReduceMin";
  case ReduceKind::prod:
    return "ReduceProduct";
  default:
    return "ReduceSum";
  }
}

namespace {
/// Prints the reductions over rows, or over columns.
struct ReducedPrinter {
  /// "Row" or "Column".
  StringRef word;
  const ReducedEpilogue &reduced;
  /// The functors of the reduced values, and of the results.
  SmallVector<std::string> inputs = {}, results = {};

  void printFunctors(raw_ostream &os) {
    if (!reduced.function)
      return;
    SmallVector<std::string> names;
    for (size_t i = 0; i < reduced.reductions.size(); ++i)
      names.push_back("reduced" + std::to_string(i));
    SmallVector<StringRef> leading(names.begin(), names.end());
    for (size_t i = 0; i < reduced.results.size(); ++i) {
      results.push_back((word + "Result" + Twine(i)).str());
      reduced.function->printFunctor(
          os, results.back(), getArgumentNames(*reduced.function, leading), i);
      os << '\n';
    }
  }

  void printArgument(raw_ostream &os) {
    if (!reduced.function) {
      os << "No" << word << "Epilogue";
      return;
    }
    os << word << "Epilogue<\n        Reductions<";
    llvm::interleaveComma(
        llvm::zip_equal(inputs, reduced.reductions, reduced.exponentials), os,
        [&](auto reduction) {
          auto [input, op, exponentials] = reduction;
          os << "Reduced<" << input << ", "
             << getReductionWord(op, exponentials) << '>';
        });
    os << ">,\n        ";
    printOperands(os, reduced.operands);
    os << ",\n        ";
    printResults(os, results, reduced.results);
    os << '>';
  }
};
} // namespace

/// `Bands<...>` of A, B and D.
static std::string printBands(const TileBands &bands, SizeList &sizes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "Bands<";
  llvm::interleaveComma(
      ArrayRef{bands.a, bands.b, bands.d}, os, [&](const TileBand &band) {
        os << sizes.print(band.lower) << ", " << sizes.print(band.upper);
      });
  os << (bands.mirrored ? ", /*Mirrored=*/true>" : ">");
  return text;
}

void GemmEpiloguePlan::emitGemm(ArrayRef<KernelVariant> variants,
                                KernelCode &code) const {
  llvm::raw_string_ostream os(code.text);
  StringRef kernel =
      gemm.rate == MatrixRate::Bits16 || gemm.windows ? "Gemm" : "Float32Gemm";
  SizeList sizes(gemm.takesSizes() ? SizeList::Arguments : SizeList::Numbers);
  printBeginning(os, variants.front(), sizes,
                 gemm.windows ? "Windows.cuh" : (kernel + ".cuh").str());

  ReducedPrinter rows{"Row", gemm.rows}, columns{"Column", gemm.columns};
  const ScalarFunction &epilogue = gemm.epilogue;
  SmallVector<std::string> functors = printFunctors(
      os, epilogue, {"accumulator"}, "Epilogue", gemm.results.size());
  // Values that are reduced follow the results.
  SmallVector<std::string> names = getArgumentNames(epilogue, {"accumulator"});
  unsigned index = gemm.results.size();
  for (ReducedPrinter *reduced : {&rows, &columns})
    for (size_t i = 0; i < reduced->reduced.reductions.size(); ++i, ++index) {
      bool isIdentity = epilogue.isIdentity(index);
      reduced->inputs.push_back(
          isIdentity ? "Identity"
                     : ("Reduced" + reduced->word + Twine(i)).str());
      if (isIdentity)
        continue;
      epilogue.printFunctor(os, reduced->inputs.back(), names, index);
      os << '\n';
    }
  rows.printFunctors(os);
  columns.printFunctors(os);

  os << "using Kernel = " << kernel << "<\n    ";
  printProblem(os, {gemm.m, gemm.n, gemm.k, gemm.batches}, sizes);
  os << ",\n    ";
  if (gemm.windows)
    gemm.windows->print(os, sizes);
  else if (gemm.readsColumns())
    gemm.a.print(os, sizes);
  else
    printFactor(os, gemm.a, /*isLhs=*/true, sizes);
  os << ",\n    ";
  printFactor(os, gemm.b, /*isLhs=*/false, sizes);
  os << ",\n    ";
  printOperands(os, gemm.operands, sizes);
  os << ",\n    ";
  SmallVector<MatrixTensor> results = gemm.results;
  std::string bands;
  bool isBanded =
      usesBands(gemm.bands, cast<Sm90GemmAttr>(variants.front().schedule));
  if (isBanded && gemm.bands.mirrored) {
    results.push_back(results.front());
    results.back().kind = results.front().kind == MatrixTensor::RowMajor
                              ? MatrixTensor::ColumnMajor
                              : MatrixTensor::RowMajor;
    functors.push_back(functors.front());
  }
  printResults(os, functors, results, sizes);
  os << ",\n    ";
  if (isBanded)
    bands = printBands(gemm.bands, sizes);
  std::string reductions;
  llvm::raw_string_ostream rest(reductions);
  if (gemm.countReductions() > 0) {
    rest << ",\n    ";
    rows.printArgument(rest);
  }
  if (columns.reduced.function) {
    rest << ",\n    ";
    columns.printArgument(rest);
  }
  finishGemm(os, variants, gemm.rate, sizes, code, reductions, bands);
}

LogicalResult GemmEpiloguePlan::emit(ArrayRef<KernelVariant> variants,
                                     KernelCode &code) const {
  ScheduleAttr schedule = variants.front().schedule;
  if (isa<Sm80GemmAttr>(schedule))
    return bySync->emit(variants, code);
  if (isa<CublasGemmAttr>(schedule))
    gemm.getPlain().emitCublas(fused, variants.front(), code);
  else
    emitGemm(variants, code);
  return success();
}

void fact::registerGemmEpilogueFamily(DialectRegistry &registry) {
  registerFamily<GemmEpilogueFamily>(registry);
}
