//===- Bundle.h - A bundle's content ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/bundle.md is the specification. The compiler fills these structs and
// prints them; fact-tune reads them. `readBundle` validates every index, size
// and file name. lib/Tuning/BundleSchema.h has the keys of both directions.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TUNING_BUNDLE_H
#define FACT_TUNING_BUNDLE_H

#include "fact/Runtime/ElementType.h"
#include "fact/Runtime/Program.h"
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
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

/// The bytes [begin, end) of each row of `pitch` bytes; all where `pitch` is 0.
/// Of a result, the kernel may also write the `spare` bytes behind them, which
/// nobody reads.
struct Part {
  uint64_t begin = 0, end = 0, pitch = 0, spare = 0;
};

struct Operand : Tensor {
  bool uniform = false;
  double low = 0, high = 0, scale = 1;
  /// The largest exponent of 2 of values that are multiplied, many at a time;
  /// 0: they are not.
  double factors = 0;
  /// The factor of its large values; 0: it has none.
  double large = 1024;
  /// The magnitude of its values where scores are strongly negative; `middle`
  /// applies to its second third only.
  double negative = 0, middle = 0;
  /// A summand of scores; integers of any size; indices out of range.
  bool mask = false, wide = false, outside = false;
  /// Classes of special values that it never holds.
  Words avoid;
  /// What the kernel reads of it.
  Part part;
  /// Elements [i, j] of its last two dimensions with j - i below the first or
  /// above the second number are 0; booleans are true elsewhere. Empty: none.
  std::vector<int64_t> band;
};

struct Result : Tensor {
  /// How many elements the kernel writes.
  uint64_t written() const {
    return part.pitch ? elements() * (part.end - part.begin) / part.pitch
                      : elements();
  }

  double norm = 0, element = 0;
  /// Added to both if operands are large.
  double large = 0;
  /// Elements per row, if each row has its own scale; 0: one scale for all.
  uint64_t rows = 0;
  /// The reference reports which elements rounding may decide.
  bool undecided = false;
  /// What the kernel writes of it.
  Part part;
};

struct Weight : Tensor {
  std::optional<uint64_t> baked;
  /// The value of a baked weight; empty in bundles without it.
  std::filesystem::path data;
};

struct Constant : Tensor {
  std::filesystem::path data;
};

struct Value {
  /// Whether it is a part of a memory region rather than a tensor of its own.
  bool isInRegion() const {
    return kind == runtime::ValueKind::Prepared ||
           kind == runtime::ValueKind::Workspace;
  }

  runtime::ValueKind kind = runtime::ValueKind::Input;
  /// The position of the input, weight, constant or output; for a part, of the
  /// whole value.
  uint32_t index = 0;
  /// In the memory region; for a part, in the whole value.
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// A source to compile or a ready object; exactly one of the two is set.
struct KernelSource {
  const std::filesystem::path &file() const {
    return source.empty() ? object : source;
  }

  std::filesystem::path source, object;
  std::string symbol;
  Words flags, link;
};

struct Candidate : KernelSource {
  std::string key;
  /// What the kernel is called with, if it takes sizes.
  std::vector<int64_t> sizes;
  double predictedUs = std::numeric_limits<double>::infinity();
  /// Two runs on the same operands give the same bits.
  bool repeatable = true;
  /// Tried only if all others fail.
  bool fallback = false;
};

/// A kernel's contraction alone, at the kernel's sizes. The times of its
/// candidates rank the kernel's before any of those is compiled.
struct Product {
  /// The positions of the kernel's operands that it reads.
  std::vector<uint32_t> operands;
  Tensor result;
  /// Each has the key of the kernel's candidate that it stands for.
  std::vector<Candidate> candidates;
};

/// The key of a kernel's results in the registry, with the kernel's rule and
/// the target's architecture.
struct Problem {
  /// The registry's format; bundles of the first one do not name it.
  int64_t format = 1;
  std::string dtype, ops;
  std::map<std::string, int64_t> extents;
  /// The example of CUTLASS that its kernels build on; empty: none.
  std::string example;
};

/// What an agent builds a kernel on.
struct Strategy {
  /// "reuse", "adapt" or "new".
  std::string kind;
  /// The id of the registry's entry; empty for "new".
  std::string entry;

  /// "adapt gemm_epilogue/bf16/sm_90a#d12cb87f6a"
  std::string text() const { return entry.empty() ? kind : kind + " " + entry; }
};

struct Kernel {
  std::string name, rule;
  /// The agent's decisions. Kernels of larger priority are tuned first.
  std::optional<Strategy> strategy;
  int64_t priority = 0;
  /// The names of the region's ops.
  Words ops;
  std::optional<Problem> problem;
  std::vector<Operand> operands;
  std::vector<Result> results;
  double solUs = 0;
  /// The least that it computes and moves, for reports.
  double flops = 0, bytes = 0;
  /// The operations by the unit that does them, by the names of a machine file:
  /// "matrix_flops_16", "scalar_flops".
  std::map<std::string, double> flopsByType;
  KernelSource reference;
  std::vector<Candidate> candidates;
  std::optional<Product> product;
  /// Hash of all that its results depend on, including references and
  /// tolerances.
  std::string hash;
  /// Operands that are weights, constants or prepared values in every step.
  std::vector<bool> fixedOperands;
  /// A step of the bundle launches it; one of an alternative does.
  bool used = false, usedByAlternative = false;

  /// The type the reference writes result `i` in.
  runtime::ElementType referenceType(size_t i) const;
};

struct Step {
  uint32_t kernel = 0;
  std::vector<uint32_t> operands, results;
};

/// Steps that may take the place of each step that launches a kernel.
struct Alternative {
  /// The kernel that it replaces.
  uint32_t kernel = 0;
  /// How it differs: "single", "apart".
  std::string form;
  /// Inputs are the kernel's operands, outputs its results.
  std::vector<Value> values;
  std::vector<Step> steps;
};

/// What kernels need of a processor; no architecture if they run on a device.
struct Processor {
  std::string architecture, name;
  std::vector<std::string> features;
};

/// What the kernels were made for.
struct TargetMachine {
  bool cuda = false;
  /// "sm_90a", "h200".
  std::string architecture, machine;
  Processor processor;

  /// As in bundle.json, for messages and for comparison with reports.
  std::string text() const;
};

struct Bundle {
  /// The paths of files begin with it.
  std::filesystem::path folder;
  /// CUTLASS's tree, for bundles whose commands name `{cutlass}`.
  std::filesystem::path cutlass;
  std::string name;
  TargetMachine target;
  /// Of the compiler's parts, by their names.
  std::map<std::string, std::string> versions;
  std::vector<Tensor> inputs, outputs;
  std::vector<Weight> weights;
  std::vector<Constant> constants;
  std::vector<Value> values;
  std::vector<Kernel> kernels;
  std::vector<Step> prepare, program;
  std::vector<Alternative> alternatives;
  uint64_t workspaceBytes = 0, preparedBytes = 0;
  Words compile, link, linkProgram;
  /// How the model is called in its source language; only the loader reads it.
  std::string signature;

  /// The position of the value that a value is, or is a part of.
  uint32_t wholeOf(uint32_t value) const {
    return values[value].kind == runtime::ValueKind::Part ? values[value].index
                                                          : value;
  }

  /// The command with its placeholders replaced.
  Words expand(const Words &command, const std::filesystem::path &source,
               const Words &inputs, const Words &flags, const Words &link,
               const std::filesystem::path &output) const;
};

/// Checks that steps read what earlier ones wrote, that each value is written
/// once, and that values with overlapping live ranges share no memory. Throws a
/// Failure.
void checkDataflow(const Bundle &bundle);

/// Throws a Failure that names the file, the place in it, and what would be
/// right.
Bundle readBundle(const std::filesystem::path &folder);

/// The text of bundle.json. Throws nothing.
std::string printBundle(const Bundle &bundle);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_BUNDLE_H
