//===- Bundle.h - bundle.json, read and checked -----------------*- C++ -*-===//
//
// docs/bundle.md is the specification. After `readBundle` every index, size and
// file name in these structs is known to be good.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TUNING_BUNDLE_H
#define FACT_TUNING_BUNDLE_H

#include "fact/Runtime/ElementType.h"
#include "fact/Runtime/Program.h"
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

using Words = std::vector<std::string>;

struct Tensor {
  std::string name;
  runtime::ElementType type = runtime::ElementType::F32;
  std::vector<int64_t> shape;

  uint64_t elements() const;
  uint64_t bytes() const;
  /// "bf16 [4, 8]"
  std::string text() const;
};

struct Operand : Tensor {
  bool uniform = false;
  double low = 0, high = 0, scale = 1;
};

struct Weight : Tensor {
  std::optional<uint64_t> baked;
};

struct Constant : Tensor {
  std::filesystem::path data;
};

struct Value {
  runtime::ValueKind kind = runtime::ValueKind::Input;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// A source to compile or a ready object; exactly one of the two is set.
struct KernelSource {
  std::filesystem::path source, object;
  std::string symbol;
  Words flags, link;
};

struct Candidate : KernelSource {
  std::string key;
  double predictedUs = 0;
};

struct Kernel {
  std::string name, rule;
  /// What the registry keeps results under; null in bundles that do not say.
  nlohmann::ordered_json problem;
  std::vector<Operand> operands;
  std::vector<Tensor> results;
  double solUs = 0;
  /// What it computes and moves at least, for reports.
  double flops = 0, bytes = 0;
  double normTolerance = 0, elementTolerance = 0, mismatchTolerance = 0;
  KernelSource reference;
  std::vector<Candidate> candidates;
  /// What its results depend on, references and tolerances included.
  std::string hash;
  /// Operands that are weights, constants or prepared in every step.
  std::vector<bool> fixedOperands;
  bool used = false;

  /// The type the reference writes result `i` in.
  runtime::ElementType referenceType(size_t i) const;
};

struct Step {
  uint32_t kernel = 0;
  std::vector<uint32_t> operands, results;
};

struct Bundle {
  std::filesystem::path folder;
  /// CUTLASS's tree, for bundles whose commands name `{cutlass}`.
  std::filesystem::path cutlass;
  std::string name;
  bool cuda = false;
  std::vector<Tensor> inputs, outputs;
  std::vector<Weight> weights;
  std::vector<Constant> constants;
  std::vector<Value> values;
  std::vector<Kernel> kernels;
  std::vector<Step> prepare, program;
  uint64_t workspaceBytes = 0, preparedBytes = 0;
  Words compile, link, linkProgram;
  nlohmann::ordered_json target, versions;
  /// How the source's language calls the model, for its loader alone.
  std::string signature;

  /// The command with its placeholders replaced.
  Words expand(const Words &command, const std::filesystem::path &source,
               const Words &inputs, const Words &flags, const Words &link,
               const std::filesystem::path &output) const;
};

/// Throws a Failure that names the file, the place in it, and what would be
/// right.
Bundle readBundle(const std::filesystem::path &folder);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_BUNDLE_H
