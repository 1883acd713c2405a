//===- AgentPass.h - Passes with an agent -------------------------*- C++ -*-===//

#ifndef FACT_TRANSFORMS_AGENTPASS_H
#define FACT_TRANSFORMS_AGENTPASS_H

#include "fact/Agent/Discovery.h"

namespace fact {
/// A pass with the options `agentOptions` of Passes.td.
template <typename Base> class AgentPass : public Base {
protected:
  using Base::Base;

  DiscoveryOptions getAgentOptions() const {
    DiscoveryOptions options;
    options.agent = this->agent;
    options.transcript = this->transcript;
    options.session = getProcessSession(options);
    LanguageModelOptions &llm = options.languageModel;
    llm.url = this->url;
    llm.model = this->model;
    llm.keyVariable = this->keyVariable;
    llm.keyFile = this->keyFile;
    llm.rounds = this->rounds;
    llm.timeout = this->timeout;
    llm.budget = this->budget;
    llm.retries = this->retries;
    llm.answerTokens = this->answerTokens;
    llm.tokenBudget = this->tokenBudget;
    llm.answerBytes = this->answerBytes;
    return options;
  }
};
} // namespace fact

#endif // FACT_TRANSFORMS_AGENTPASS_H
