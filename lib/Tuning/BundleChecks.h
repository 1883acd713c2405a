//===- BundleChecks.h - What a bundle must satisfy --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of what was read, called by the descriptions of BundleSchema.h. Each
// throws a Failure that names the place, `node`.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_LIB_TUNING_BUNDLECHECKS_H
#define FACT_LIB_TUNING_BUNDLECHECKS_H

#include "BundleArchive.h"
#include "fact/Tuning/Bundle.h"
#include <initializer_list>
#include <set>

namespace fact {
namespace tuning {

constexpr uint64_t bundleFormat = 2;
void checkFormat(const Node &node);

/// Names of tensors or kernels are unique.
template <typename T>
void checkNames(const Node &node, const std::vector<T> &named) {
  std::set<std::string> names;
  for (size_t i = 0; i < named.size(); ++i)
    if (!names.insert(named[i].name).second)
      node.list()[i].fail("duplicate name \"" + named[i].name + "\"");
}

/// Extents of a tensor whose bytes can be counted.
std::vector<int64_t> readShape(const Node &node, runtime::ElementType type);
/// A file holds the tensor's bytes.
void checkData(const Node &node, const std::filesystem::path &data,
               const Tensor &tensor);

/// The hash of a baked weight: "fnv1a64:0123456789abcdef".
std::string printHash(uint64_t hash);
uint64_t readHash(const Node &node);

// Kernels.

void checkAvoided(const Node &node);
void checkStrategy(const Node &node);
void checkFill(const Node &node, const Operand &operand);
/// The part is of the tensor's rows.
void checkPart(const Node &node, const Tensor &tensor, const Part &part);
/// So is what is written of a result, whose other elements can be told.
void checkWritten(const Node &node, const Result &result);
void checkSource(const Node &node, const KernelSource &kernel);
void checkCandidates(const Node &node,
                     const std::vector<Candidate> &candidates);
/// Its operands are the kernel's, and its candidates stand for the kernel's.
void checkProduct(const Node &node, const Kernel &kernel);
/// Sets what follows from the other members, before any step is read.
void finishKernels(Bundle &bundle);

// The program.

/// Sets the sizes of values that are tensors.
void checkValues(const Node &node, Bundle &bundle);
/// The position of a step's kernel.
uint32_t findKernel(const Node &node, const Bundle &bundle);
/// Sets which operands are fixed.
void checkOperands(const Node &node, Bundle &bundle, const Step &step,
                   bool isPrepare);
void checkResults(const Node &node, const Bundle &bundle, const Step &step,
                  bool isPrepare);

/// Its steps are right wherever they take the place of its kernel. Sets which
/// kernels it uses, and which of their operands are fixed.
void checkAlternative(const Node &node, Bundle &bundle,
                      const Alternative &alternative);
/// Each output with elements is written. Throws a Failure.
void checkOutputsWritten(const Bundle &bundle);

/// A command has words, and these placeholders among them.
void checkCommand(const Node &node, const Words &words,
                  std::initializer_list<const char *> placeholders);

} // namespace tuning
} // namespace fact

#endif // FACT_LIB_TUNING_BUNDLECHECKS_H
