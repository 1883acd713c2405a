//===- Alternatives.cpp - Programs of a bundle ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Alternatives.h"
#include "fact/Tuning/Workspace.h"
#include <algorithm>
#include <cmath>

namespace fact {
namespace tuning {

using runtime::ValueKind;

//===----------------------------------------------------------------------===//
// The program of some forms
//===----------------------------------------------------------------------===//

namespace {

/// Puts the steps of an alternative in the place of one step.
class Placement {
public:
  Placement(Bundle &bundle, const Alternative &alternative, const Step &step)
      : bundle(bundle), alternative(alternative), step(step),
        positions(alternative.values.size(), unknown) {}

  void place(std::vector<Step> &program) {
    for (const Step &each : alternative.steps) {
      Step &placed = program.emplace_back();
      placed.kernel = each.kernel;
      for (uint32_t value : each.operands)
        placed.operands.push_back(positionOf(value));
      for (uint32_t value : each.results)
        placed.results.push_back(positionOf(value));
    }
  }

private:
  static constexpr uint32_t unknown = ~uint32_t(0);

  /// The bundle's value that a value of the alternative is here.
  uint32_t positionOf(uint32_t value) {
    uint32_t &position = positions[value];
    if (position == unknown)
      position = find(alternative.values[value]);
    return position;
  }

  uint32_t find(const Value &value) {
    if (value.kind == ValueKind::Input)
      return step.operands[value.index];
    if (value.kind == ValueKind::Output)
      return step.results[value.index];
    Value placed = value;
    if (value.kind == ValueKind::Part) {
      uint32_t whole = positionOf(value.index);
      placed.index = bundle.wholeOf(whole);
      if (placed.index != whole)
        placed.offset += bundle.values[whole].offset;
    } else if (value.kind == ValueKind::Constant) {
      placed.bytes = bundle.constants[value.index].bytes();
    }
    bundle.values.push_back(placed);
    return static_cast<uint32_t>(bundle.values.size() - 1);
  }

  Bundle &bundle;
  const Alternative &alternative;
  const Step &step;
  std::vector<uint32_t> positions;
};

} // namespace

/// Removes the values that no step uses, and parts of them.
static void dropUnusedValues(Bundle &bundle) {
  std::vector<bool> used(bundle.values.size());
  auto forEachUse = [&](auto use) {
    for (std::vector<Step> *steps : {&bundle.prepare, &bundle.program})
      for (Step &step : *steps)
        for (std::vector<uint32_t> *list : {&step.operands, &step.results})
          for (uint32_t &value : *list)
            use(value);
  };
  forEachUse([&](uint32_t value) {
    used[value] = true;
    used[bundle.wholeOf(value)] = true;
  });
  std::vector<uint32_t> positions(bundle.values.size());
  std::vector<Value> kept;
  for (size_t i = 0; i < used.size(); ++i) {
    positions[i] = static_cast<uint32_t>(kept.size());
    if (!used[i])
      continue;
    Value value = bundle.values[i];
    if (value.kind == ValueKind::Part)
      value.index = positions[value.index];
    kept.push_back(value);
  }
  forEachUse([&](uint32_t &value) { value = positions[value]; });
  bundle.values = std::move(kept);
}

Bundle applyAlternatives(const Bundle &bundle, const Forms &forms) {
  Bundle result = bundle;
  result.alternatives.clear();
  if (forms.empty()) {
    planWorkspace(result);
    return result;
  }
  std::vector<Step> program;
  for (const Step &step : bundle.program) {
    auto chosen = std::find_if(forms.begin(), forms.end(),
                               [&](const Alternative *alternative) {
                                 return alternative->kernel == step.kernel;
                               });
    if (chosen == forms.end())
      program.push_back(step);
    else
      Placement(result, **chosen, step).place(program);
  }
  result.program = std::move(program);
  dropUnusedValues(result);
  planWorkspace(result);
  for (Kernel &kernel : result.kernels)
    kernel.used = kernel.usedByAlternative = false;
  for (const std::vector<Step> *steps : {&result.prepare, &result.program})
    for (const Step &step : *steps)
      result.kernels[step.kernel].used = true;
  return result;
}

std::string describeForms(const Bundle &bundle, const Forms &forms) {
  std::string text;
  for (const Alternative *alternative : forms)
    text += (text.empty() ? "" : ", ") +
            bundle.kernels[alternative->kernel].name + " " + alternative->form;
  return text.empty() ? "as fused" : text;
}

//===----------------------------------------------------------------------===//
// The best programs
//===----------------------------------------------------------------------===//

size_t countLaunches(const Bundle &bundle, uint32_t kernel) {
  return static_cast<size_t>(
      std::count_if(bundle.program.begin(), bundle.program.end(),
                    [&](const Step &step) { return step.kernel == kernel; }));
}

std::vector<RankedForms>
rankForms(const Bundle &bundle,
          const std::function<double(uint32_t kernel)> &timeOf, size_t count) {
  // The alternatives by their kernels, in the order of the kernels.
  std::map<uint32_t, Forms> regions;
  for (const Alternative &alternative : bundle.alternatives)
    regions[alternative.kernel].push_back(&alternative);
  // The best ones for the kernels so far. The next kernel costs the same after
  // each of them, so what is not among the best cannot become one of them.
  std::vector<RankedForms> best(1);
  for (const auto &[kernel, alternatives] : regions) {
    double launches = static_cast<double>(countLaunches(bundle, kernel));
    std::vector<RankedForms> next;
    for (const RankedForms &known : best) {
      next.push_back({known.forms, known.us + launches * timeOf(kernel)});
      for (const Alternative *alternative : alternatives) {
        double us = 0;
        for (const Step &step : alternative->steps)
          us += timeOf(step.kernel);
        if (!std::isfinite(us))
          continue;
        next.push_back({known.forms, known.us + launches * us});
        next.back().forms.push_back(alternative);
      }
    }
    // Of equal ones, that with fewer alternatives comes first.
    std::sort(next.begin(), next.end(),
              [](const RankedForms &a, const RankedForms &b) {
                return std::make_pair(a.us, a.forms.size()) <
                       std::make_pair(b.us, b.forms.size());
              });
    if (next.size() > count)
      next.resize(count);
    best = std::move(next);
  }
  return best;
}

} // namespace tuning
} // namespace fact
