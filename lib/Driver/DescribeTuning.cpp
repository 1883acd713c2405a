//===- DescribeTuning.cpp - What measurements say about an agent ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Driver/DescribeTuning.h"
#include "fact/Tuning/Learn.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>

namespace json = llvm::json;

namespace {
struct Counts {
  int64_t kernels = 0, tried = 0, verified = 0;
};
} // namespace

/// The candidates of kernels by the strategy that proposed them.
static json::Object countByStrategy(const json::Array &kernels) {
  std::map<std::string, Counts> byKind;
  for (const json::Value &each : kernels) {
    const json::Object *kernel = each.getAsObject();
    const json::Object *strategy =
        kernel ? kernel->getObject("strategy") : nullptr;
    const json::Array *attempts =
        kernel ? kernel->getArray("attempts") : nullptr;
    if (!strategy || !attempts)
      continue;
    Counts &counts = byKind[strategy->getString("kind").value_or("").str()];
    ++counts.kernels;
    for (const json::Value &attempt : *attempts) {
      const json::Object *object = attempt.getAsObject();
      ++counts.tried;
      counts.verified += object && object->getString("status") == "ok";
    }
  }
  json::Object strategies;
  for (const auto &[kind, counts] : byKind)
    strategies[kind] = json::Object{{"kernels", counts.kernels},
                                    {"tried", counts.tried},
                                    {"verified", counts.verified}};
  return strategies;
}

json::Object fact::describeTuning(llvm::StringRef bundle) {
  auto buffer =
      llvm::MemoryBuffer::getFile(bundle + "/tuning.json", /*IsText=*/true);
  if (!buffer)
    return {};
  llvm::Expected<json::Value> report = json::parse((*buffer)->getBuffer());
  if (!report) {
    llvm::consumeError(report.takeError());
    return {};
  }
  const json::Object *tuning = report->getAsObject();
  const json::Array *kernels = tuning ? tuning->getArray("kernels") : nullptr;
  if (!kernels)
    return {};
  json::Object result{{"strategies", countByStrategy(*kernels)}};
  registry::GroupingRace race = registry::readGroupingRace(bundle.str());
  if (race.us > 0) {
    result["us"] = race.us;
    result["rules_us"] = race.rulesUs;
    result["ratio"] = race.ratio;
    result["ratio_low"] = race.low;
    result["ratio_high"] = race.high;
    result["ships"] = race.ships;
  }
  return result;
}
