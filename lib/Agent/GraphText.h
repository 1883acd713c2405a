//===- GraphText.h - A graph for language models ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_GRAPHTEXT_H
#define FACT_AGENT_GRAPHTEXT_H

#include "fact/Fusion/Fusibility.h"
#include "llvm/ADT/StringMap.h"

namespace fact {
/// A block in compact form: a line an op, with an id that stays the same for
/// the same graph, and its speed of light. Of layers that are alike it has one,
/// so that a deep model takes as much as a short one.
///
///   n3 = matmul n2 w:qkv.weight transpose_b : 512x2304xbf16 | 1.812 GFLOP 6.7 MB 1.83 us
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
  /// Where the text says that a piece repeats, ids of ops in it stand for those
  /// of each repeat: all of these, the given ones first.
  std::vector<std::vector<std::string>>
  getRepeats(const std::vector<std::string> &ids) const;
  /// Adds to each `'fact.add'` of a diagnostic the ids of such ops in a group.
  std::string nameOps(std::string diagnostic, const OpGroup &group) const;
  /// The ops that work, in the order of the block.
  size_t size() const { return ops.size(); }
  /// A hash of the text without the machine's figures.
  std::string getHash() const;

private:
  /// The ops from `begin` to `repeated` again and again up to `end`, the last
  /// time maybe in part.
  struct Repeats {
    size_t begin, repeated, end;
    size_t getPeriod() const { return repeated - begin; }
    size_t getSaved() const { return end - repeated; }
  };
  /// An op as it is compared with others: what it says itself, and operands.
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
