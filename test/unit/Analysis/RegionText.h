//===- RegionText.h - Short forms of ops and types --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_ANALYSIS_REGIONTEXT_H
#define FACT_TEST_UNIT_ANALYSIS_REGIONTEXT_H

#include "llvm/ADT/StringExtras.h"
#include <string>
#include <vector>

namespace fact::test {
/// `tensor<8x4xf32>` of "8x4"; "8xi64" has its type already.
inline std::string tensor(const std::string &shape) {
  bool hasType = llvm::StringRef(shape).contains("xi");
  return "tensor<" + shape + (hasType ? ">" : "xf32>");
}
inline std::vector<std::string>
tensors(const std::vector<std::string> &shapes) {
  std::vector<std::string> types;
  for (const std::string &shape : shapes)
    types.push_back(tensor(shape));
  return types;
}

/// `%name = fact.text : (operand types) -> type`.
inline std::string op(const std::string &name, const std::string &text,
                      const std::vector<std::string> &operands,
                      const std::string &result) {
  return "%" + name + " = fact." + text + " : (" +
         llvm::join(tensors(operands), ", ") + ") -> " + tensor(result) + "\n";
}

/// `fact.yield` of pairs of a name and a shape.
inline std::string
yield(const std::vector<std::pair<std::string, std::string>> &results) {
  std::vector<std::string> names, types;
  for (auto &[name, shape] : results) {
    names.push_back("%" + name);
    types.push_back(tensor(shape));
  }
  return "fact.yield " + llvm::join(names, ", ") + " : " +
         llvm::join(types, ", ");
}
} // namespace fact::test

#endif // FACT_TEST_UNIT_ANALYSIS_REGIONTEXT_H
