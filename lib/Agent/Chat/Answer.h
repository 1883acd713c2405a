//===- Answer.h - What a model proposed ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No LLVM: reads text from outside into plain, bounded data. Whether it makes
// sense for a graph is for others to say.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_AGENT_CHAT_ANSWER_H
#define FACT_AGENT_CHAT_ANSWER_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fact {
namespace chat {

/// The lists of a space, by parameter: words and sizes such as `pingpong`,
/// `128x64`, `4`, and nothing else.
using SpaceLists =
    std::vector<std::pair<std::string, std::vector<std::string>>>;

/// A fusion that a model proposes.
struct Pattern {
  /// What is wrong with it as data; empty: nothing.
  std::string error;
  std::vector<std::string> ops;
  std::string rule;
  /// "reuse", "adapt", "new", or empty.
  std::string strategy;
  std::string entry;
  SpaceLists space;
  int64_t priority = 0;
  std::string rationale;
};

struct PatternAnswer {
  /// Why nothing could be read; empty: `patterns` has what there was.
  std::string error;
  std::vector<Pattern> patterns;
};

/// A new search that a model proposes for a kernel.
struct Refinement {
  std::string error;
  std::string kernel;
  SpaceLists space;
  std::string rationale;
};

struct RefinementAnswer {
  std::string error;
  std::vector<Refinement> kernels;
};

/// Reads JSON, alone or fenced, as its schema describes it.
PatternAnswer readPatterns(const std::string &content);
RefinementAnswer readRefinements(const std::string &content);

/// The JSON schemas of both, as text. Of a small graph it names the ops, so
/// that a server that decodes by it invents none.
std::string getPatternSchema(const std::vector<std::string> &rules,
                             const std::vector<std::string> &ops = {});
std::string getRefinementSchema(const std::vector<std::string> &kernels);

/// Answers of these schemas, to show what they look like.
std::string getPatternExample(const SpaceLists &space);
std::string getRefinementExample(const std::string &kernel,
                                 const SpaceLists &space);

} // namespace chat
} // namespace fact

#endif // FACT_AGENT_CHAT_ANSWER_H
