//===- GraphText.h - A graph for language models ------------------*- C++ -*-===//

#ifndef FACT_AGENT_GRAPHTEXT_H
#define FACT_AGENT_GRAPHTEXT_H

#include "fact/Analysis/Fusibility.h"
#include "llvm/ADT/StringMap.h"

namespace fact {
/// A block in compact form: a line an op, with an id that stays the same for
/// the same graph, and its speed of light. Of layers that are alike it has the
/// first and how often they repeat, so that a deep model is as short as a layer.
///
///   n3 = matmul n2 w:qkv.weight transpose_b : 512x2304xbf16 | 1.812 GFLOP 6.7 MB 1.83 us
///   n24..n719: n0..n23 again, 29 times
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
  /// `period` ops from `begin` on, `count` times.
  struct Repeats {
    size_t begin, period, count;
    size_t getEnd() const { return begin + period * count; }
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
