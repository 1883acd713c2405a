//===- Ranking.cpp - The order in which candidates are tried --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler lists candidates by predictions, or by what the registry knows.
// Where plain products of the kernel's exact sizes were measured, their times
// come first.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <algorithm>
#include <numeric>

namespace fact {
namespace tuning {

/// Of the candidates that share an object, those of its fastest products.
static constexpr size_t candidatesPerObject = 2;

size_t builtAs(const Kernel &kernel, size_t index) {
  const Candidate &candidate = kernel.candidates[index];
  if (candidate.source.empty())
    return index;
  size_t first = 0;
  while (kernel.candidates[first].source != candidate.source ||
         kernel.candidates[first].flags != candidate.flags ||
         kernel.candidates[first].link != candidate.link)
    ++first;
  return first;
}

size_t selectBatch(const Kernel &kernel, std::vector<size_t> &ranking,
                   size_t begin, size_t count) {
  std::set<size_t> objects;
  for (size_t i = begin;
       i < ranking.size() && objects.size() < std::max<size_t>(1, count); ++i) {
    if (kernel.candidates[ranking[i]].fallback && i != begin)
      break;
    objects.insert(builtAs(kernel, ranking[i]));
  }
  auto end = std::stable_partition(
      ranking.begin() + static_cast<std::ptrdiff_t>(begin), ranking.end(),
      [&](size_t index) { return objects.count(builtAs(kernel, index)) > 0; });
  return static_cast<size_t>(end - ranking.begin());
}

/// The candidates that were measured, those of the fastest object first.
static std::vector<size_t> sortMeasured(const Kernel &kernel,
                                        const ProductTimes &times) {
  std::map<size_t, double> objectTimes;
  for (const auto &[index, us] : times) {
    double &best =
        objectTimes.try_emplace(builtAs(kernel, index), us).first->second;
    best = std::min(best, us);
  }
  auto orderOf = [&](size_t index) {
    size_t object = builtAs(kernel, index);
    return std::tuple(objectTimes.at(object), object, times.at(index), index);
  };
  std::vector<size_t> measured;
  for (const auto &[index, us] : times)
    measured.push_back(index);
  std::sort(measured.begin(), measured.end(),
            [&](size_t a, size_t b) { return orderOf(a) < orderOf(b); });
  return measured;
}

Ranking rank(const Kernel &kernel, const Options &options,
             const ProductTimes &times) {
  Ranking ranking;
  std::vector<size_t> &order = ranking.order;
  order.resize(kernel.candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return kernel.candidates[a].fallback < kernel.candidates[b].fallback;
  });
  ranking.first = selectBatch(kernel, order, 0, options.candidates);
  if (times.empty())
    return ranking;

  std::vector<size_t> measured = sortMeasured(kernel, times);
  std::set<size_t> objects, isFirst;
  for (size_t index : measured)
    if (objects.size() < std::min(options.best, options.candidates))
      objects.insert(builtAs(kernel, index));
  // The first of the compiler's order knows more than a product: the epilogue,
  // or what the registry measured.
  if (objects.size() < options.candidates)
    objects.insert(builtAs(kernel, order.front()));
  std::map<size_t, size_t> taken;
  for (size_t index : measured)
    if (size_t object = builtAs(kernel, index);
        objects.count(object) && taken[object]++ < candidatesPerObject)
      isFirst.insert(index);
  // Only predictions rank what has no product.
  for (size_t i = 0; i < ranking.first; ++i)
    if (!times.count(order[i]))
      isFirst.insert(order[i]);

  std::vector<size_t> sorted = measured;
  std::copy_if(order.begin(), order.end(), std::back_inserter(sorted),
               [&](size_t index) { return !times.count(index); });
  auto end =
      std::stable_partition(sorted.begin(), sorted.end(), [&](size_t index) {
        return isFirst.count(index) > 0;
      });
  ranking.first = static_cast<size_t>(end - sorted.begin());
  order = std::move(sorted);
  return ranking;
}

} // namespace tuning
} // namespace fact
