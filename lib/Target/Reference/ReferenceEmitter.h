//===- ReferenceEmitter.h - A region as naive C++ ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_REFERENCE_REFERENCEEMITTER_H
#define FACT_LIB_TARGET_REFERENCE_REFERENCEEMITTER_H

#include "fact/Target/Reference.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

namespace fact {
/// Writes one struct per value of a region, whose `at(v, i)` is element i in
/// row-major order. Pointwise ops, views, gathers and concatenations compute it
/// from their operands' elements; contractions, row ops and scatters are loops
/// that write all elements to the workspace, where values with several uses are
/// stored too.
class ReferenceEmitter {
public:
  ReferenceEmitter(FusedOp fused, llvm::StringRef symbol)
      : fused(fused), symbol(symbol), doubts(findDoubts(fused)),
        tracked(llvm::any_of(doubts,
                             [](Doubt doubt) { return doubt != Doubt::None; })),
        os(text), launches(launchText) {}

  mlir::LogicalResult emit(KernelCode &code);

private:
  using Coordinates = llvm::SmallVector<std::string>;

  //===--------------------------------------------------------------------===//
  // Values

  void nameValues();
  void chooseStored();
  void store(mlir::Value value);
  std::string getName(mlir::Value value) const { return names.lookup(value); }
  /// The type of a value's elements: "double", "Tracked<i64>".
  std::string getElement(mlir::Value value) const;
  /// F32 or F64: the type in which a candidate computes this value.
  static llvm::StringRef getFormat(mlir::Value value);
  /// Element `index` of a value.
  std::string read(mlir::Value value, const llvm::Twine &index) const {
    return getName(value) + "::at(v, " + index.str() + ")";
  }
  /// The same for an operand that broadcasts to a shape with `coordinates`.
  std::string readBroadcast(mlir::Value value,
                            const Coordinates &coordinates) const;
  /// A number as an element of `value`'s type.
  std::string makeElement(mlir::Value value, const llvm::Twine &number) const {
    return "Make<" + getElement(value) + ">::of(" + number.str() + ")";
  }

  //===--------------------------------------------------------------------===//
  // Elements

  /// Declares c0, c1, ..., the coordinates of element `index` of `shape`.
  Coordinates printCoordinates(llvm::ArrayRef<int64_t> shape,
                               llvm::StringRef index, llvm::StringRef prefix);
  void beginStruct(llvm::StringRef name, llvm::StringRef element,
                   llvm::StringRef parameters);
  void endStruct() { os << "  }\n};\n"; }
  void printArgument(mlir::BlockArgument argument);
  mlir::LogicalResult printElement(mlir::Operation *op);
  mlir::LogicalResult printPointwise(mlir::Operation *op);
  std::string getCast(CastOp op, const std::string &x);
  mlir::LogicalResult printConstant(ConstantOp op);
  void printConcat(ConcatOp op);
  void printGather(GatherOp op);
  void printRotary(RotaryOp op);
  mlir::LogicalResult printView(mlir::Operation *op);

  //===--------------------------------------------------------------------===//
  // Loops

  mlir::LogicalResult printLoop(mlir::Operation *op);
  void printMatmul(MatmulOp op);
  std::string printMatrix(MatmulOp op, mlir::Value operand, bool isLhs,
                          bool transposed);
  void printAttention(AttentionOp op);
  void printReduce(ReduceOp op);
  void printSoftmax(SoftmaxOp op);
  void printNorm(NormOp op);
  /// Prints `name::at(row, i)`, the index of element i along `dim` in a row.
  void printPlace(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                  int64_t dim);
  /// Prints `valueN_place`, and `valueN_row::at(v, row, i)`, that element of
  /// operand 0. Returns the number of rows.
  int64_t printRows(mlir::Operation *op, int64_t dim);
  void printScan(ScanOp op);
  void printArgsort(ArgsortOp op);
  void printScatter(ScatterOp op);
  void printValues();
  void printRegion();
  void printComment(mlir::Operation *op);
  void printRun();

  FusedOp fused;
  llvm::StringRef symbol;
  llvm::SmallVector<Doubt> doubts;
  /// Whether elements carry errors, for results that rounding can decide.
  bool tracked;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::SetVector<mlir::Value> stored;
  llvm::DenseMap<mlir::Value, int64_t> offsets;
  int64_t workspaceBytes = 0;
  /// Bytes that attention keeps for the scores of one query.
  int64_t scoreBytes = 0;
  std::string text, launchText;
  llvm::raw_string_ostream os, launches;
};
} // namespace fact

#endif // FACT_LIB_TARGET_REFERENCE_REFERENCEEMITTER_H
