//===- DiscoveryPrompt.h - What a model is told -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_DISCOVERYPROMPT_H
#define FACT_LIB_AGENT_DISCOVERYPROMPT_H

#include "Dialogue.h"
#include "Forecast.h"
#include "GraphText.h"
#include "MeasuredGrouping.h"

namespace fact {
/// Whether a predicted time is so much longer than another one that the model
/// is asked to reconsider.
inline bool isSlower(double us, double other) { return us > 1.01 * other; }

/// Writes the messages of a conversation about the grouping of one block.
class DiscoveryPrompt {
public:
  DiscoveryPrompt(mlir::Block &block, const GraphText &graph,
                  const Fusibility &fusibility, const Retrieval &retrieval);

  /// The names of the rules that fit an op of the block.
  std::vector<std::string> getRules() const;

  /// The first message. What is the same for similar graphs comes first, so
  /// that servers can reuse it.
  std::string write(unsigned answers);

  /// The first message about a grouping that was measured: the same, then what
  /// was measured of these patterns and of the rules' kernels beside them.
  std::string write(unsigned answers, llvm::ArrayRef<Proposal> kept,
                    const MeasuredGrouping &measured);

  /// The verdicts on an answer, and the request for the next one. `problem` is
  /// the parse error of the whole answer, or empty; `kept` the proposals that
  /// stand.
  std::string writeFeedback(llvm::StringRef problem,
                            llvm::ArrayRef<chat::JudgedProposal> judged,
                            llvm::ArrayRef<Proposal> kept, unsigned answers);

  /// The predicted microseconds of the block: by the rules alone, and with
  /// these proposals and the rules for the rest.
  double predictRules() const { return rulesUs; }
  double predictWith(llvm::ArrayRef<Proposal> kept);

  /// Whether the rules would not make the same kernel.
  bool isOwn(const Proposal &pattern) const;
  /// These proposals, and what the rules make of all other ops.
  std::vector<Proposal> complete(llvm::ArrayRef<Proposal> kept) const;
  /// The proposals that the text shows, beside what the rules do.
  std::vector<StandingPattern> compare(llvm::ArrayRef<Proposal> kept) const;
  /// The problems of a complete grouping's kernels.
  std::vector<std::string> getProblems(llvm::ArrayRef<Proposal> all) const;

private:
  /// A rule, the families that take an op of the block, and an example of the
  /// default space of each of their kinds of schedules.
  struct Offer {
    const Rule *rule;
    llvm::SmallVector<const Family *> families;
    llvm::SmallVector<SpaceAttr> spaces;
  };
  void consider(Offer &offer, const OpGroup &group);
  void findOffers();
  std::string writeRules() const;
  std::string writeSpaces() const;
  std::string writeReached() const;
  std::string writeEntries() const;
  std::string writePlan();
  std::string writeLine(const Proposal &proposal);
  std::string describeKernel(const Proposal &proposal) const;
  std::string fill(unsigned answers, std::string measured);
  bool isShown(const Proposal &proposal) const;

  mlir::Block &block;
  const GraphText &graph;
  const Fusibility &fusibility;
  const Retrieval &retrieval;
  Forecast forecast;
  /// What the rules would do with the whole block.
  std::vector<Proposal> plan;
  double rulesUs = 0;
  std::vector<Offer> offers;
  /// What lines say beside predictions; null: nothing was measured.
  const MeasuredGrouping *measured = nullptr;
};
} // namespace fact

#endif // FACT_LIB_AGENT_DISCOVERYPROMPT_H
