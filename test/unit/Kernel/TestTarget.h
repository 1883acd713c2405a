//===- TestTarget.h - A target without files or commands --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_KERNEL_TESTTARGET_H
#define FACT_TEST_UNIT_KERNEL_TESTTARGET_H

#include "fact/Kernel/Target.h"

namespace fact {
class TestTarget : public Target {
public:
  static constexpr llvm::StringLiteral kind = "cuda";
  explicit TestTarget(const MachineDescription &machine) : Target(machine) {}
  llvm::StringRef getKind() const override { return kind; }
  llvm::StringRef getSourceSuffix() const override { return ".cu"; }
  Commands getCommands() const override { return {}; }
  std::vector<std::pair<std::string, std::string>>
  getBundleFiles() const override {
    return {};
  }
};
} // namespace fact

#endif // FACT_TEST_UNIT_KERNEL_TESTTARGET_H
