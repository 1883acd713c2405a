//===- MeasuredGrouping.cpp - What was measured of a grouping -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MeasuredGrouping.h"
#include "Dialogue.h"
#include "fact/Agent/Regrouping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace fact;
using registry::Measurements;

MeasuredGrouping MeasuredGrouping::read(llvm::StringRef bundle) {
  MeasuredGrouping grouping;
  std::string ignored;
  grouping.kernels = registry::readMeasurements(bundle.str(), "", ignored);
  // There is none where the agent's grouping is the rules'.
  grouping.rules =
      registry::readMeasurements((bundle + "/rules").str(), "", ignored);
  grouping.race = registry::readGroupingRace(bundle.str());
  return grouping;
}

const Measurements *MeasuredGrouping::find(llvm::StringRef problem,
                                           Whose whose) const {
  const auto &first = whose == Whose::agent ? kernels : rules;
  const auto &second = whose == Whose::agent ? rules : kernels;
  for (const auto *own : {&first, &second})
    for (const Measurements &measured : *own)
      if (measured.getBest() && measured.problem.getId() == problem)
        return &measured;
  return nullptr;
}

std::optional<double>
MeasuredGrouping::sum(llvm::ArrayRef<std::string> problems, Whose whose) const {
  double us = 0;
  for (const std::string &problem : problems) {
    const Measurements *measured = find(problem, whose);
    if (!measured)
      return std::nullopt;
    us += measured->getBest()->us;
  }
  return us;
}

bool MeasuredGrouping::isWithin(double eps,
                                llvm::ArrayRef<std::string> problems) const {
  std::optional<double> us = sum(problems);
  double least = 0;
  for (const std::string &problem : problems)
    if (const Measurements *measured = find(problem))
      least += measured->getLeastUs();
  return us && *us <= (1 + eps) * least;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string fact::describeShares(const Measurements &measured, double us) {
  std::string text = llvm::formatv("{0:P0} of light ({1:F1} us)",
                                   measured.solUs / us, measured.solUs);
  if (measured.ceilingUs > 0)
    text += llvm::formatv(", {0:P0} of what the machine reaches ({1:F1} us)",
                          measured.ceilingUs / us, measured.ceilingUs);
  return text;
}

std::string fact::describeWork(const Measurements &measured) {
  return llvm::formatv("{0:F3} GFLOP, {1:F2} MB", measured.flops / 1e9,
                       measured.bytes / 1e6);
}

std::string fact::describeGains(llvm::ArrayRef<registry::Gain> gains,
                                bool withMachine) {
  std::string text;
  for (const registry::Gain &gain : gains) {
    text += llvm::formatv("; {0} over {1} {2:F3} ({3:F3} to {4:F3})", gain.form,
                          gain.against, gain.ratio, gain.low, gain.high);
    if (withMachine)
      text += " on " + chat::sanitize(gain.machine, 80);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

bool fact::isLanguageModel(const AgentOptions &options) {
  return Dialogue::isHeldBy(options);
}

void fact::keepGrouping(const AgentOptions &options) {
  Dialogue::getSession(options)->endRound(/*stays=*/true);
}

bool fact::settleGrouping(const AgentOptions &options, bool isFaster) {
  return Dialogue::getSession(options)->settle(isFaster);
}

void fact::countMeasured(DiscoveryReport &report, llvm::StringRef bundle) {
  // Shorter by less than 1% is noise.
  constexpr double significant = 0.99;
  MeasuredGrouping measured = MeasuredGrouping::read(bundle);
  for (auto *strategies : {&report.strategies, &report.ownStrategies})
    for (auto &[name, counts] : *strategies)
      counts.verified = counts.faster = 0;
  for (const StandingPattern &pattern : report.standing) {
    bool isVerified = measured.find(pattern.problem);
    std::optional<double> us = measured.sum(pattern.kernels),
                          rulesUs =
                              measured.sum(pattern.rulesKernels,
                                           MeasuredGrouping::Whose::rules);
    bool isFaster = us && rulesUs && *us < significant * *rulesUs;
    auto count = [&](PatternCounts &counts) {
      counts.verified += isVerified;
      counts.faster += isFaster;
    };
    count(report.strategies[pattern.strategy]);
    if (pattern.isOwn)
      count(report.ownStrategies[pattern.strategy]);
  }
}
