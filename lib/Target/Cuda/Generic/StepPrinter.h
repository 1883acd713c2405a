//===- StepPrinter.h - A linalg op on memory as CUDA kernels ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_GENERIC_STEPPRINTER_H
#define FACT_LIB_TARGET_CUDA_GENERIC_STEPPRINTER_H

#include "ScalarFunction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace fact {
/// What steps are printed as: kernels of their own, or functions of one kernel,
/// whose one thread block calls each for all of the step's blocks.
struct StepForm {
  /// The number of thread blocks that fill the machine.
  int64_t fillingBlocks;
  int64_t blockThreads = 256;
  bool isOneBlock = false;
};

/// A launch of a printed kernel, or calls of a printed function.
struct StepLaunch {
  std::string kernel;
  /// Memory and scalars of the host that it gets.
  llvm::SmallVector<mlir::Value> arguments;
  /// How many of the step's partial results follow the arguments.
  unsigned partials = 0;
  int64_t blocks = 1;
};

/// Prints one linalg op. A thread computes an iteration of the parallel loops,
/// a point; several threads share a point that reduces much, and several blocks
/// if there are too few points to fill the machine. Partial results are
/// combined in a fixed order.
class StepPrinter {
public:
  /// Constants that outputs start with instead of what is in memory.
  using Fills = llvm::DenseMap<mlir::Value, mlir::Value>;

  StepPrinter(mlir::linalg::LinalgOp op, llvm::StringRef name, StepForm form,
              const Fills &fills);

  /// Prints the kernels, and returns their launches in order.
  llvm::SmallVector<StepLaunch> print(llvm::raw_ostream &os);

  /// Partial results in memory: type and number of elements.
  llvm::ArrayRef<std::pair<mlir::Type, int64_t>> getPartials() const {
    return partials;
  }

private:
  using Names = llvm::SmallVector<std::string>;

  void findCombiners();
  void shareWork();
  bool readsAlongReduction();

  void printPoint(llvm::raw_ostream &os);
  void printSharedPoint(llvm::raw_ostream &os);
  void printSum(llvm::raw_ostream &os,
                llvm::ArrayRef<std::string> accumulators);
  StepLaunch printElements(llvm::raw_ostream &os);
  StepLaunch printReduction(llvm::raw_ostream &os);
  StepLaunch printCombination(llvm::raw_ostream &os);

  std::string getParameter(mlir::Value value);
  void printSignature(llvm::raw_ostream &os, llvm::StringRef kernel,
                      unsigned partialCount);
  /// Declares d0, d1, ... of the loops `dims`; the last is the fastest.
  void printIndices(llvm::raw_ostream &os, llvm::ArrayRef<unsigned> dims,
                    llvm::StringRef from, llvm::StringRef indent);
  std::string getElement(mlir::Value memory, llvm::ArrayRef<std::string> index);
  std::string getOperand(mlir::OpOperand &operand);
  /// The value that an output's element starts with.
  std::string getInitial(unsigned output);
  std::string getExpression(mlir::AffineExpr expr,
                            llvm::ArrayRef<std::string> dims,
                            llvm::ArrayRef<std::string> symbols = {});
  /// `const auto combine0 = ...;`
  void printCombiner(llvm::raw_ostream &os, unsigned output);
  Names printBody(llvm::raw_ostream &os, llvm::ArrayRef<std::string> outputs,
                  llvm::StringRef indent);
  void printOps(llvm::raw_ostream &os, mlir::Block &block,
                ScalarPrinter &printer, const std::string &indent);
  void printLoop(llvm::raw_ostream &os, mlir::scf::ForOp loop,
                 ScalarPrinter &printer, const std::string &indent);
  void printIf(llvm::raw_ostream &os, mlir::scf::IfOp branch,
               ScalarPrinter &printer, const std::string &indent);
  std::string getSpecial(mlir::Operation *op, ScalarPrinter &printer);

  mlir::linalg::LinalgOp op;
  std::string name;
  StepForm form;
  /// The number of the step's block, in what is printed.
  llvm::StringRef block;
  const Fills &fills;
  llvm::SmallVector<unsigned> parallel, reduced;
  llvm::SmallVector<int64_t> ranges;
  int64_t points = 1, length = 1;
  /// Threads per point, points per block, blocks per point.
  int64_t lanes = 1, slots, splits = 1;
  /// Whether neighboring threads belong to one point.
  bool byRows = false;
  /// The op that combines partial results, for each output; empty if one has
  /// none.
  llvm::SmallVector<mlir::Operation *> combiners;
  llvm::SmallVector<std::pair<mlir::Type, int64_t>> partials;
  llvm::SmallVector<mlir::Value> parameters;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_GENERIC_STEPPRINTER_H
