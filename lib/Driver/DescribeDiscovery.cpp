//===- DescribeDiscovery.cpp - Discovery in a summary ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Driver/DescribeDiscovery.h"

using namespace fact;
namespace json = llvm::json;

static json::Object describe(const PatternCounts &counts) {
  return json::Object{{"proposed", counts.proposed},
                      {"legal_first", counts.legalFirst},
                      {"legal_repaired", counts.legalRepaired},
                      {"verified", counts.verified},
                      {"faster", counts.faster},
                      {"tokens", counts.tokens},
                      {"seconds", counts.seconds}};
}

json::Object fact::describeDiscovery(const DiscoveryReport &report,
                                     json::Object measured) {
  json::Object rejected;
  for (const auto &[reason, count] : report.rejected)
    rejected[reason] = count;
  json::Object strategies;
  for (const auto &[strategy, counts] : report.strategies) {
    json::Object all = describe(counts);
    auto own = report.ownStrategies.find(strategy);
    all["own"] = describe(own == report.ownStrategies.end() ? PatternCounts()
                                                            : own->second);
    strategies[strategy] = std::move(all);
  }
  json::Object described{{"agent", report.agent},
                         {"proposed", report.proposed},
                         {"accepted", report.accepted},
                         {"rejected", std::move(rejected)},
                         {"covered", report.covered},
                         {"prepared", report.prepared},
                         {"rounds", report.rounds},
                         {"strategies", std::move(strategies)},
                         {"predicted_us", report.predictedUs},
                         {"rules_us", report.rulesUs},
                         {"measured", std::move(measured)},
                         {"calls", report.calls},
                         {"retries", report.retries},
                         {"tokens_in", report.tokensIn},
                         {"tokens_out", report.tokensOut},
                         {"seconds", report.seconds},
                         {"model_seconds", report.modelSeconds},
                         {"fallback", report.fallback},
                         {"transcript", report.transcript}};
  if (report.price > 0)
    described["price"] = report.price;
  return described;
}
