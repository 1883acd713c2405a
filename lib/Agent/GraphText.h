//===- GraphText.h - A graph for language models ------------------*- C++ -*-===//

#ifndef FACT_AGENT_GRAPHTEXT_H
#define FACT_AGENT_GRAPHTEXT_H

#include "fact/Analysis/Fusibility.h"
#include "llvm/ADT/StringMap.h"

namespace fact {
/// A block in compact form: a line an op, with an id that stays the same for
/// the same graph, and its speed of light.
///
///   n3 = matmul n2 w:qkv.weight transpose_b : 512x2304xbf16 | 1.812 GFLOP 6.7 MB 1.83 us
class GraphText {
public:
  GraphText(mlir::Block &block, const MachineDescription &machine);

  llvm::StringRef getText() const { return text; }
  /// The op of an id, or null.
  mlir::Operation *find(llvm::StringRef id) const { return ops.lookup(id); }
  std::string getId(mlir::Operation *op) const { return ids.lookup(op); }
  std::string getIds(const OpGroup &group) const;
  /// The ops that work, in the order of the block.
  size_t size() const { return ops.size(); }
  /// A hash of the text without the machine's figures.
  std::string getHash() const;

private:
  std::string text, structure;
  llvm::StringMap<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, std::string> ids;
};
} // namespace fact

#endif // FACT_AGENT_GRAPHTEXT_H
