//===- SearchOn.cpp - Candidates near the best one ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first batch is chosen by predictions, what follows it by measurements:
// of the candidates that are left, those that differ from the best one in the
// fewest parameters.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <algorithm>
#include <chrono>

namespace fact {
namespace tuning {

/// Less is noise.
static constexpr double leastGain = 0.01;
/// Candidates that are built together, before the next ones are chosen.
static constexpr size_t mostAtOnce = 4;

/// "sm90_gemm", "tile = 128x128x64", "swizzle = 1" of
/// "sm90_gemm<tile = 128x128x64, swizzle = 1>".
static std::vector<std::string> splitKey(const std::string &key) {
  std::vector<std::string> parts;
  size_t begin = key.find('<');
  parts.push_back(key.substr(0, begin));
  while (begin != std::string::npos) {
    size_t end = key.find_first_of(",>", begin + 1);
    if (end == std::string::npos)
      break;
    parts.push_back(key.substr(begin + 1, end - begin - 1));
    begin = key[end] == ',' ? end + 1 : std::string::npos;
  }
  return parts;
}

size_t countDifferences(const std::string &key, const std::string &other) {
  std::vector<std::string> a = splitKey(key), b = splitKey(other);
  size_t all = std::max(a.size(), b.size());
  if (a.front() != b.front())
    return all;
  size_t equal = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    equal += a[i] == b[i];
  return all - equal;
}

bool Tuner::searchOn(Search &search) {
  if (options.searchWindow == 0)
    return false;
  const KernelResult &result = search.result;
  const Kernel &kernel = search.kernel();
  size_t best = 0;
  double us = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < result.attempts.size(); ++i)
    if (const std::optional<Attempt> &attempt = result.attempts[i];
        attempt && attempt->status == "ok" && attempt->us < us) {
      best = i;
      us = attempt->us;
    }
  bool gained = us < (1 - leastGain) * search.searchedUs;
  search.sinceGain = gained ? 0 : search.sinceGain + search.searched;
  search.searchedUs = gained ? us : search.searchedUs;

  double least = ceilings ? ceilings->getMicroseconds(kernel) : 0;
  if (least == 0)
    least = kernel.solUs;
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - searchBegin;
  if (search.sinceGain >= options.searchWindow ||
      least >= (1 - options.searchEps) * us ||
      (options.searchSeconds > 0 && spent.count() >= options.searchSeconds))
    return false;

  std::vector<size_t> &order = search.ranking.order;
  auto next = order.begin() + static_cast<std::ptrdiff_t>(search.next);
  auto end = std::find_if(next, order.end(), [&](size_t index) {
    return kernel.candidates[index].fallback;
  });
  auto distanceOf = [&](size_t index) {
    return countDifferences(kernel.candidates[index].key,
                            kernel.candidates[best].key);
  };
  std::stable_sort(next, end, [&](size_t a, size_t b) {
    return distanceOf(a) < distanceOf(b);
  });
  search.searched =
      std::min<size_t>({static_cast<size_t>(end - next),
                        options.searchWindow - search.sinceGain, mostAtOnce});
  if (search.searched == 0)
    return false;
  std::vector<size_t> batch(
      next, next + static_cast<std::ptrdiff_t>(search.searched));
  search.next += batch.size();
  search.pending = batch.size();
  for (size_t index : batch)
    tryCandidate(search, index);
  return true;
}

} // namespace tuning
} // namespace fact
