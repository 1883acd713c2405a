//===- CublasGemm.cpp - The vendor's GEMM as a candidate ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CublasGemm.h"

using namespace mlir;
using namespace fact;

/// The same elements with rows as columns.
static MatrixTensor transpose(MatrixTensor matrix) {
  matrix.kind = matrix.kind == MatrixTensor::RowMajor
                    ? MatrixTensor::ColumnMajor
                    : MatrixTensor::RowMajor;
  return matrix;
}

PlainGemm PlainGemm::getRowMajor() const {
  if (result.kind == MatrixTensor::RowMajor)
    return *this;
  return {
      rate, n, m, k, batches, transpose(b), transpose(a), transpose(result)};
}

double PlainGemm::countBytes() const {
  // Batches that share a factor read it once.
  auto count = [&](const MatrixTensor &factor, double elements) {
    return elements * (factor.batchStride ? batches : 1) *
           getStorageBytes(factor.element);
  };
  return count(a, double(m) * k) + count(b, double(k) * n) +
         double(m) * n * batches * getStorageBytes(result.element);
}

double PlainGemm::predictCublas(const MachineDescription &machine) const {
  double flops = 2.0 * m * n * k * batches;
  // cuBLAS multiplies strict f32 on the f32 units.
  double reached = 0.77 * machine.matrixFlops[size_t(rate)];
  // Rows that begin at any element, or end at one, are moved element by
  // element: on an H200 4096x3001x256 in bf16 took 84 us, 1023x1021x2047 44,
  // and 48 in TF32, and 333x257x65, 127 times, 50. 8205x2949x5921 took 2.1 ms,
  // and 2.5 with rows that begin at multiples of 16 bytes.
  auto isAligned = [](const MatrixTensor &each, int64_t rows, int64_t columns) {
    int64_t length = each.kind == MatrixTensor::ColumnMajor ? rows : columns;
    return length % 2 == 0 && each.isAligned(2 * getStorageBytes(each.element));
  };
  bool storesPairs = isAligned(result, m, n);
  if (!isAligned(a, m, k) || !isAligned(b, k, n) || !storesPairs)
    reached = std::min(reached, 0.105 * machine.getPeak(MatrixRate::Bits16));
  constexpr double resultSeconds = 1.8e-12;
  double stores = storesPairs ? 0 : resultSeconds * m * n * batches;
  return std::max(flops / reached + stores, countBytes() / machine.bandwidth) +
         2 * machine.launchSeconds;
}

void fact::printProblem(raw_ostream &os, int64_t m, int64_t n, int64_t k,
                        int64_t batches) {
  os << "Problem<" << m << ", " << n << ", " << k;
  if (batches > 1)
    os << ", " << batches;
  os << '>';
}

void PlainGemm::emitCublas(FusedOp fused, const KernelVariant &variant,
                           KernelCode &code) const {
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, variant.schedule, variant.symbol, "CublasGemm.cuh");
  PlainGemm rows = getRowMajor();
  os << "using Kernel = CublasGemm<\n    ";
  printProblem(os, rows.m, rows.n, k, batches);
  os << ",\n    " << rows.a << ",\n    " << rows.b << ",\n    Operands<>,\n    "
     << rows.result
     << (rate == MatrixRate::TF32 ? ",\n    AllowTf32>;\n" : ">;\n");
  printFooter(os, variant.symbol);
  code.link = {"-lcublasLt"};
}
