//===- ScalarFunction.h - A pointwise graph as a function -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SCALARFUNCTION_H
#define FACT_LIB_TARGET_CUDA_SCALARFUNCTION_H

#include "fact/Analysis/PointwiseGraph.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Kernel/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <limits>

namespace fact {
/// What one thread computes for one element of a kernel's index space: a
/// pointwise graph as `arith` and `math` on scalars, whose arguments are the
/// leaves of the graph.
class ScalarFunction {
public:
  /// A value that is read and not computed here, seen in the index space. The
  /// `node` of an index is the number of a result of the function.
  using Argument = PointwiseGraph::Leaf;

  struct Options {
    /// The cheap definitions, for results that are stored in 16 bits.
    bool fast = false;
    /// The same for GELUs of leading values that are no more exact, such as
    /// products of TF32, whatever stores them. (Cheap forms of others may have
    /// another sign near 0, which an infinite factor shows.)
    bool fastGeluOfLeading = false;
    /// Values that the kernel has at hand, one per point of the index space;
    /// they become the first arguments.
    llvm::SmallVector<mlir::Value> leading = {};
    /// Those of them that have one element per row, and how rows are numbered:
    /// by the first dimension of [rows, columns].
    llvm::SmallVector<mlir::Value> rowValues = {};
    llvm::SmallVector<int64_t> rowStrides = {1, 0};
    /// Results from this one on are stored, and nothing else is done with them.
    size_t firstStored = std::numeric_limits<size_t>::max();
    /// Whether arguments may be read through gathers and concatenations.
    bool readsGathersAndConcats = false;
  };

  /// The function that computes `results` (which have as many elements as the
  /// index space, in the same row-major order) for one point of `indexSpace`.
  static mlir::FailureOr<ScalarFunction>
  get(llvm::ArrayRef<mlir::Value> results, llvm::ArrayRef<int64_t> indexSpace,
      const Options &options, EmitError emitError);

  /// All arguments, the leading ones first.
  llvm::ArrayRef<Argument> getArguments() const { return arguments; }

  /// Whether result `index` is argument 0 and nothing else is read.
  bool isIdentity(unsigned index = 0) const;

  /// `struct name { FACT_DEVICE float apply(...) { ... } };` for one result.
  void printFunctor(llvm::raw_ostream &os, llvm::StringRef name,
                    llvm::ArrayRef<std::string> argumentNames,
                    unsigned index = 0) const;

  /// The arguments that a result depends on.
  llvm::SmallVector<unsigned> getArgumentsOf(unsigned result) const;

  /// Instruction slots one element costs on a GPU, over all results, without
  /// what follows from the first `hoisted` arguments alone: a kernel computes
  /// that once per row.
  double getCost(size_t hoisted = 0) const;

private:
  friend class ScalarBuilder;
  mlir::func::FuncOp getFunction() const { return function.get(); }

  llvm::SmallVector<Argument> arguments;
  mlir::OwningOpRef<mlir::func::FuncOp> function;
};

/// Issue slots of one op, where an ordinary instruction is 1 and the special
/// function unit, which is an eighth as wide, 8.
double getSlots(mlir::Operation &op);

/// Whether an op carries a fast-math flag.
bool allows(mlir::Operation *op, mlir::arith::FastMathFlags flag);

/// The C++ name of a scalar type: "float", "int64_t", "bool".
llvm::StringRef getScalarName(mlir::Type type);

/// A constant as C++.
std::string getScalarLiteral(mlir::TypedAttr value);
/// The same for the result of an `arith.constant`.
std::string getScalarLiteral(mlir::Value constant);

/// Marks extremes that many elements share, and divisions by what they share.
inline constexpr llvm::StringLiteral sharedValueName = "shared_value";

/// Prints `arith` and `math` ops as C++ statements.
class ScalarPrinter {
public:
  /// The expression of an op of another dialect, or nothing.
  using OtherOps =
      std::function<std::string(mlir::Operation *, ScalarPrinter &)>;

  explicit ScalarPrinter(llvm::raw_ostream &os, llvm::StringRef indent,
                         OtherOps otherOps = {})
      : os(os), indent(indent), otherOps(std::move(otherOps)) {}

  void setName(mlir::Value value, llvm::StringRef name) {
    names[value] = name.str();
  }
  /// The ops of the block that `value` needs. What only one side of a select
  /// needs is in a branch if it costs more than one.
  void printSlice(mlir::Value value);
  void print(mlir::Operation *op) { print(op, indent); }
  void print(mlir::Operation *op, llvm::StringRef indent);
  /// A name or a literal.
  std::string getName(mlir::Value value);
  /// A name that no value has.
  std::string makeName() { return "v" + std::to_string(next++); }
  std::string getExpression(mlir::Operation *op);

private:
  using Ops = llvm::SmallVector<mlir::Operation *>;
  void printOps(llvm::ArrayRef<mlir::Operation *> ops, llvm::StringRef indent);
  void printBranches(mlir::arith::SelectOp select, llvm::ArrayRef<Ops> sides,
                     llvm::StringRef indent);

  llvm::raw_ostream &os;
  std::string indent;
  OtherOps otherOps;
  llvm::DenseMap<mlir::Value, std::string> names;
  unsigned next = 0;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SCALARFUNCTION_H
