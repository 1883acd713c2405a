//===- KernelBuilder.h - IR of one host kernel ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host kernels are functions of a tile index and an array of buffers. They are
// written with scf, arith, math and vector on plain pointers: everything that
// decides speed (register tiles, vector widths, tails) is explicit here, and
// LLVM is left with what it does well.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TARGET_HOST_KERNELBUILDER_H
#define FACT_LIB_TARGET_HOST_KERNELBUILDER_H

#include "ObjectEmitter.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fact::host {
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// Positions in memory by (row, column). A row number is a row-major index over
/// `rowShape`; where that has several dimensions, an address takes divisions.
struct RowView {
  Value base;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> rowShape;
  llvm::SmallVector<int64_t> rowStrides;
  int64_t columnStride = 0;
  /// Columns may lie at one stride in segments of this many alone, whose first
  /// columns are at another one; 0: all lie at one stride.
  int64_t segment = 0, segmentStride = 0;
  /// Whether a row has a part of a dimension.
  bool splitsDimension = false;

  /// Splits a view into leading dimensions of `rows` and trailing dimensions of
  /// `columns` elements, of which one dimension may have groups; fails where
  /// the columns do not lie at one stride. With `lanes`, they may lie in
  /// segments of a multiple of it, so that vectors of up to so many columns are
  /// in one segment.
  static mlir::FailureOr<RowView> get(const StridedView &view, int64_t rows,
                                      int64_t columns, int64_t lanes = 0);
  /// The distance of two neighboring rows, for `getRun` of them.
  int64_t getRowStride() const {
    return rowStrides.empty() ? 0 : rowStrides.back();
  }
  int64_t getRun() const { return rowShape.empty() ? 1 : rowShape.back(); }
  /// Whether element (r, c) is at `r * rowStride + c * columnStride`.
  bool isPlain(int64_t rows, int64_t rowStride, int64_t columns,
               int64_t expectedColumnStride) const;
};
/// Splits off the last dimension as the columns.
RowView splitLast(const StridedView &view);

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using LoopBody =
      llvm::function_ref<llvm::SmallVector<Value>(Value, ValueRange)>;

  /// Begins the kernel of a region; `fused` lives in a context of its own.
  KernelBuilder(FusedOp fused, const Cpu &cpu);

  FusedOp getFused() { return fused; }
  const Cpu &getCpu() const { return cpu; }
  mlir::ModuleOp getModule() { return module.get(); }
  KernelLayout &getLayout() { return layout; }

  /// Begins `tile(index, buffers, workspace)` and returns the index.
  Value beginTile();
  /// Begins `pack(index, buffers, packed)`.
  struct PackArguments {
    Value index, packed;
  };
  PackArguments beginPack();
  /// Ends the function with a return.
  void endFunction();

  /// The memory of an operand (a block argument), of a constant, or of result
  /// number `index`.
  Value getPointer(Value base);
  Value getResultPointer(unsigned index);
  unsigned getNumOperands() { return fused.getInputs().size(); }

  /// Scratch memory of a tile: on the stack where it is small, else in the
  /// workspace.
  Value scratch(Type element, int64_t count);

  //===--------------------------------------------------------------------===//
  // Integers
  //===--------------------------------------------------------------------===//

  Value integer(int64_t value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y);
  Value sub(Value x, Value y);
  Value mul(Value x, int64_t y);
  Value div(Value x, int64_t y);
  Value rem(Value x, int64_t y);
  Value max(Value x, int64_t y);
  Value min(Value x, int64_t y);
  Value min(Value x, Value y);

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  llvm::SmallVector<Value> loop(Value from, Value to, int64_t step,
                                ValueRange state, LoopBody body);
  void loop(Value from, Value to, int64_t step,
            llvm::function_ref<void(Value)> body);
  /// Block `block` of indices that come in runs of `run`, of which each has
  /// `run / size` blocks: `body` is given the first of `size` indices. What is
  /// left at the end of a run follows its last block. It shares indices with
  /// that, which two tiles may not.
  void blockOfRun(Value block, int64_t run, int64_t size,
                  llvm::function_ref<void(Value)> body);
  void ifThen(Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);

  /// A loop over columns in vectors of `lanes`, then a scalar loop over the
  /// remainder: `body(column, width, state)`, with width 0 for a scalar.
  /// `narrow` turns the vector loop's state into that of the scalar loop.
  llvm::SmallVector<Value> columns(
      Value from, Value to, int64_t lanes, ValueRange state,
      llvm::function_ref<llvm::SmallVector<Value>(Value, int64_t, ValueRange)>
          body,
      llvm::function_ref<llvm::SmallVector<Value>(ValueRange)> narrow);
  /// The same without a state. Where the number of columns is a constant, the
  /// last vector ends with them, and the body computes some columns twice.
  void columns(Value from, Value to, int64_t lanes,
               llvm::function_ref<void(Value, int64_t)> body);

  //===--------------------------------------------------------------------===//
  // Memory and values
  //===--------------------------------------------------------------------===//

  /// Neighbors that are up to so far apart are picked from vectors of all that
  /// lies between them.
  static constexpr int64_t mostApart = 4;

  /// Loads a scalar (`width` 0), or a vector of `width` elements that are
  /// `stride` apart, in the compute type.
  Value load(Value pointer, Type storage, Value offset, int64_t width = 0,
             int64_t stride = 1);
  /// Whether an instruction loads a vector of elements at any places.
  bool gathersAtOnce(Type storage) const;
  /// Loads a vector of the elements at `offset` plus each of `offsets`, which
  /// are a vector.
  Value gather(Value pointer, Type storage, Value offset, Value offsets);
  /// The same with a number for each.
  Value loadEach(Value pointer, Type storage, Value offset,
                 llvm::ArrayRef<Value> offsets);
  /// Asks for the cache line of an element, which need not exist.
  void prefetch(Value pointer, Type storage, Value offset);
  /// Asks for what lies ahead of a vector that a loop over a tensor reads or
  /// writes, unless the tensor fits into a core's caches.
  void prefetchAhead(Value tensor, Value pointer, Value offset, int64_t width);
  /// Rounds to the storage type and writes.
  void store(Value value, Value pointer, Type storage, Value offset,
             int64_t stride = 1);
  /// The same of several scalars, or of vectors of one width whose elements
  /// take turns.
  void storeInTurns(llvm::ArrayRef<Value> values, Value pointer, Type storage,
                    Value offset);

  /// The coordinates of a row-major index; the first one is not bounded.
  llvm::SmallVector<Value> splitIndex(Value index,
                                      llvm::ArrayRef<int64_t> shape);
  /// The offset of a row's first element.
  Value rowOffset(const RowView &view, Value row);
  /// The distance of a column from a row's first element.
  Value columnOffset(const RowView &view, Value column);

  /// Vectors of one width, as many as given, in which their elements take
  /// turns: the first of each, the second of each, and so on.
  llvm::SmallVector<Value> takeTurns(llvm::ArrayRef<Value> vectors);

  Value constant(double value, Type type);
  Value constant(mlir::TypedAttr element, Type type);
  Value splat(Value scalar, int64_t width);
  Value lane(Value vector, int64_t index);
  Type withWidth(Type element, int64_t width);

  /// Lanes of a register, and of the vectors in loops over elements.
  int64_t getRegisterLanes(Type compute);
  int64_t getLoopLanes(Type compute) { return 2 * getRegisterLanes(compute); }

private:
  Value elementPointer(Value pointer, Type storage, Value offset);
  /// A scalar or a vector as it is in memory, and its numbers to compute with.
  Value loadStored(Value pointer, Type storage, Value offset, int64_t width);
  Value toCompute(Value stored, Type storage);
  Value toStored(Value value, Type storage);
  void storeStored(Value stored, Value pointer, Type storage, Value offset);
  /// A vector of lanes of several vectors: of each lane, the number of the
  /// vector, and its lane there.
  Value
  pickLanes(llvm::ArrayRef<Value> vectors,
            llvm::function_ref<std::pair<int64_t, int64_t>(int64_t)> source);
  /// Begins `name(index, buffers, memory)` and reads the buffers' addresses.
  void beginFunction(llvm::StringRef name);

  FusedOp fused;
  const Cpu &cpu;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  KernelLayout layout;
  llvm::DenseMap<Value, Value> pointers;
  llvm::SmallVector<Value> resultPointers;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_KERNELBUILDER_H
