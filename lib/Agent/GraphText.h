//===- GraphText.h - A graph for language models ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_GRAPHTEXT_H
#define FACT_AGENT_GRAPHTEXT_H

#include "fact/Fusion/Fusibility.h"
#include "llvm/ADT/StringMap.h"

namespace fact {
/// A block as compact text: one line per op, with an id that is stable for the
/// same graph, and its speed of light. Repeated layers are printed once, so
/// that a deep model takes no more tokens than a shallow one.
///
///   n3 = matmul n2 w:qkv.weight(2304x768xbf16) transpose_b : 512x2304xbf16 |
///   1.812 GFLOP 6.7 MB 1.83 us
///   n24..n719 repeat n0..n23
class GraphText {
public:
  GraphText(mlir::Block &block, const MachineDescription &machine);

  llvm::StringRef getText() const { return text; }
  /// The op of an id, or null.
  mlir::Operation *find(llvm::StringRef id) const { return ops.lookup(id); }
  std::string getId(mlir::Operation *op) const { return ids.lookup(op); }
  std::string getIds(const OpGroup &group) const;
  /// Whether the text has a line for an op; else it is part of a repeat.
  bool isShown(mlir::Operation *op) const;
  /// The given ids, and those of the corresponding ops in every repeat of the
  /// lines that they are in.
  std::vector<std::vector<std::string>>
  getRepeats(const std::vector<std::string> &ids) const;
  /// Appends to each quoted op name of a diagnostic the ids of such ops in a
  /// group: `'fact.add' (n3 n5)`.
  std::string nameOps(std::string diagnostic, const OpGroup &group) const;
  /// The number of ops with an id.
  size_t size() const { return ops.size(); }
  /// A hash of the graph, the same on every machine.
  std::string getHash() const;

private:
  /// The lines [begin, repeated) repeat up to `end`, the last time possibly in
  /// part.
  struct Repeats {
    size_t begin, repeated, end;
    size_t getPeriod() const { return repeated - begin; }
    size_t getSaved() const { return end - repeated; }
  };
  /// An op, its line, and `shape`, the text that all repeats have in common.
  struct Line {
    mlir::Operation *op;
    std::string text, shape;
  };
  void read(mlir::Block &block, const MachineDescription &machine);
  bool repeats(size_t before, size_t index) const;
  void findRepeats();
  size_t getIndex(llvm::StringRef id) const;

  std::vector<Line> lines;
  std::vector<Repeats> folds;
  std::string text, structure;
  llvm::StringMap<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, std::string> ids;
  llvm::DenseMap<mlir::Operation *, size_t> positions;
};
} // namespace fact

#endif // FACT_AGENT_GRAPHTEXT_H
