//===- Answer.h - Answers of a model ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses untrusted text into plain, bounded data, without LLVM. Nothing here is
// checked against a graph.
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

/// The lists of a space, by parameter. Values are words and sizes: `pingpong`,
/// `128x64`, `4`.
using SpaceLists =
    std::vector<std::pair<std::string, std::vector<std::string>>>;

/// A fusion that a model proposes.
struct Pattern {
  /// Why it is malformed; empty: it is well formed.
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
  /// Why the answer could not be parsed; empty: `patterns` has all of it.
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

/// Parses JSON of the schemas below, alone or in a Markdown fence.
PatternAnswer readPatterns(const std::string &content);
RefinementAnswer readRefinements(const std::string &content);

/// The JSON schemas of both answers, as text. A short list of `ops` becomes an
/// enum, so that constrained decoding cannot invent ids.
std::string getPatternSchema(const std::vector<std::string> &rules,
                             const std::vector<std::string> &ops = {});
std::string getRefinementSchema(const std::vector<std::string> &kernels);

/// Example answers, for prompts.
std::string getPatternExample(const SpaceLists &space);
std::string getRefinementExample(const std::string &kernel,
                                 const SpaceLists &space);

} // namespace chat
} // namespace fact

#endif // FACT_AGENT_CHAT_ANSWER_H
