//===- Discovery.h - From a graph to kernels ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_DISCOVERY_H
#define FACT_AGENT_DISCOVERY_H

#include "fact/Agent/Agent.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
struct LanguageModelOptions {
  /// Of the endpoint, up to and without `/chat/completions`.
  std::string url;
  std::string model;
  /// The environment variable, or else the file, that has the key.
  std::string keyVariable = "FACT_LLM_KEY";
  std::string keyFile;
  /// Requests for one graph at most: the first, and those with diagnostics.
  unsigned rounds = 3;
  /// Seconds one request may take, and all of a run together.
  double timeout = 180;
  double budget = 900;
  /// How often a request is sent again after 429, 5xx or a lost connection.
  unsigned retries = 4;
  /// Tokens of one answer, and of all requests and answers of a run.
  unsigned answerTokens = 8192;
  int64_t tokenBudget = 400000;
  /// Bytes of one answer.
  size_t answerBytes = 4 << 20;
};

/// What a run with a model has said and used so far.
class Session;
std::shared_ptr<Session> createSession();

struct DiscoveryOptions {
  /// "rules", "llm" or "replay".
  std::string agent = "rules";
  /// A machine's name, architecture or file; empty: what the module names, else
  /// the host.
  std::string target;
  /// Written by `llm`, read by `replay`. Empty: `llm` chooses a name in the
  /// user's cache.
  std::string transcript;
  /// Folders of the registry, upper layers first.
  std::vector<std::string> patterns;
  LanguageModelOptions languageModel;
  /// Discovery and refinement that share one are one run: one transcript and
  /// one budget. Null: a run of its own.
  std::shared_ptr<Session> session;
};

/// The run of those in this process that have the same agent and transcript,
/// which is how the passes of a pipeline find each other.
std::shared_ptr<Session> getProcessSession(const DiscoveryOptions &options);

/// Groups the ops of a module into `fact.fused`: as the agent says where the
/// compiler agrees, by the rules elsewhere. An op without a kernel is an error.
mlir::LogicalResult discover(mlir::ModuleOp module,
                             const DiscoveryOptions &options,
                             DiscoveryReport &report);
} // namespace fact

#endif // FACT_AGENT_DISCOVERY_H
