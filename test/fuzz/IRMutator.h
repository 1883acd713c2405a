//===- IRMutator.h - Small changes to the text of a module ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_FUZZ_IRMUTATOR_H
#define FACT_TEST_FUZZ_IRMUTATOR_H

#include <random>
#include <string>

namespace fact {
/// `text` after a few mutations. They know what modules are made of: numbers,
/// types, attributes, ops and lines.
std::string mutateModule(std::string text, std::mt19937 &random);
} // namespace fact

#endif // FACT_TEST_FUZZ_IRMUTATOR_H
