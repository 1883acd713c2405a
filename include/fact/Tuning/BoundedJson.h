//===- BoundedJson.h - JSON from outside ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nlohmann/json parses any depth, and prints, compares and copies by recursion,
// so untrusted files are parsed with limits.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TUNING_BOUNDEDJSON_H
#define FACT_TUNING_BOUNDEDJSON_H

#include <nlohmann/json.hpp>
#include <string>

namespace fact {
namespace tuning {

/// Parses `text`. On failure, returns a discarded value and sets `error`.
/// Throws nothing.
template <typename Json>
Json parseBounded(const std::string &text, int maximumDepth,
                  std::string &error) {
  bool deep = false;
  auto limitDepth = [&](int depth, typename Json::parse_event_t, Json &) {
    deep |= depth > maximumDepth;
    return depth <= maximumDepth;
  };
  try {
    Json value = Json::parse(text, limitDepth);
    if (!deep)
      return value;
    error = "is nested deeper than " + std::to_string(maximumDepth) + " levels";
  } catch (const typename Json::exception &problem) {
    // "[json.exception.parse_error.101] parse error at line 1, ..."
    error = problem.what();
    size_t end = error.find("] ");
    error.erase(0, end == std::string::npos ? 0 : end + 2);
  }
  return Json(Json::value_t::discarded);
}

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_BOUNDEDJSON_H
