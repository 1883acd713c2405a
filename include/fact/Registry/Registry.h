//===- Registry.h - Measured schedules, by problem --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry holds which schedules were measured for which problem, how fast
// they were and what failed. docs/registry.md is the specification. Links no
// LLVM and throws nothing, so compiler and tuner can both use it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REGISTRY_REGISTRY_H
#define FACT_REGISTRY_REGISTRY_H

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fact {
namespace registry {

/// What a kernel computes, as far as its speed depends on it.
struct Problem {
  /// The format whose words describe it. Format 1 had ops without details.
  static constexpr int currentFormat = 2;

  /// "gemm_epilogue"
  std::string rule;
  /// Element type of its operands: "bf16".
  std::string dtype;
  /// "sm_90a", "host"
  std::string architecture;
  /// Names with details behind dots: "matmul.nt,add,gelu".
  std::string ops;
  /// Sizes by name; the rule determines the names.
  std::map<std::string, int64_t> extents;
  int format = currentFormat;

  bool operator==(const Problem &other) const;
  bool operator!=(const Problem &other) const { return !(*this == other); }
  /// The order of entries in files: rule, dtype, architecture, ops, extents,
  /// format.
  bool operator<(const Problem &other) const;

  /// Whether the ops are equal as far as the words of both formats go.
  bool hasSameOps(const Problem &other) const;
  /// Details of products that may leave out work: of a factor with a band of
  /// zeros, and of a matrix by its own transpose.
  static constexpr const char *banded = ".banded", *mirrored = ".mirrored";
  /// Whether products leave out the same kind of work: what is best for a whole
  /// product says nothing about a triangle of it.
  bool hasSameStructure(const Problem &other) const;
  /// Whether `known`, of an older format, may be this problem: everything that
  /// its words can say is equal.
  bool mayBe(const Problem &known) const;

  /// Stable and unique per problem:
  /// "gemm_epilogue/bf16/sm_90a#0f3a9c2d1e".
  std::string getId() const;
  /// "batch=1 k=768 m=65536 n=3072 tensors=1"
  std::string getExtentsText() const;
};

/// accepted: verified and measured; failed: tried without success; pending:
/// proposed, not tried yet.
enum class Status { Accepted, Failed, Pending };

/// "accepted"
const char *getName(Status status);

/// One schedule on one machine.
struct Schedule {
  /// The schedule attribute's text without "#fact.".
  std::string key;
  Status status = Status::Pending;
  /// Why it failed or is pending.
  std::string reason;
  /// For accepted schedules: the median time, the share of the speed of light
  /// (0: unknown), and ||out - reference|| / ||reference|| if recorded.
  double us = 0;
  double solShare = 0;
  std::optional<double> error;
  /// The evidence: the 95% interval of the time, and of how many runs it is the
  /// median. 0 where it was not recorded.
  double usLow = 0, usHigh = 0;
  int64_t runs = 0;
  /// Provenance: "NVIDIA H200", {"fact": "0.1.0", ...}, "2026-11-15".
  std::string machine;
  std::map<std::string, std::string> versions;
  std::string date;
};

/// What a form of the kernel gains end to end, on one machine: the time of a
/// whole program with another form of this kernel over the time of the program
/// with this one (fact-tune --ablate).
struct Gain {
  /// "fused", "single", "apart"
  std::string form, against;
  /// The median over rounds in turn, and its 95% interval.
  double ratio = 1, low = 1, high = 1;
  std::string machine, date;
};

struct Entry {
  Problem problem;
  /// The CUTLASS example that its kernels are based on; may be empty.
  std::string example;
  /// Accepted ones first, the fastest first; then failed, then pending ones.
  std::vector<Schedule> schedules;
  /// By form, other form and machine.
  std::vector<Gain> gains;
  /// The file it was read from; empty for a new entry.
  std::filesystem::path file;

  std::string getId() const { return problem.getId(); }
  /// accepted when one schedule is, else failed when one is, else pending.
  Status getStatus() const;
  /// The fastest accepted schedule, or null.
  const Schedule *getBest() const;
};

/// Whether schedules for one type apply to another: those for narrow floats of
/// one size (f16 and bf16) do, those for other types only to themselves.
bool isConvertible(const std::string &dtype, const std::string &other);

/// reuse: the same problem. adapt: a problem near it.
enum class Relation { Reuse, Adapt };

/// "reuse"
const char *getName(Relation relation);

struct Match {
  const Entry *entry = nullptr;
  Relation relation = Relation::Adapt;
  /// The sum of |log2(extent / extent)|: 0 for equal extents.
  double distance = 0;
};

/// The largest share of light among accepted schedules, and where.
struct Reached {
  double solShare = 0;
  std::string machine;
};

/// Entries of several folders, read once.
class Registry {
public:
  using Warn = std::function<void(const std::string &)>;

  /// Reads `layers`, the uppermost first: an accepted entry hides those of the
  /// same problem below it; an entry without an accepted schedule hides only
  /// the schedules that failed in it. A folder that does not exist is empty. A
  /// file that cannot be read or violates docs/registry.md is skipped, and
  /// `warn` receives its name and the cause.
  static Registry load(const std::vector<std::filesystem::path> &layers,
                       const Warn &warn);

  /// All entries, in the order of their problems.
  const std::vector<Entry> &getEntries() const { return entries; }

  /// Entries that apply to `problem`: the same rule and architecture, a
  /// convertible type, and every extent within a factor of 2. The entry of the
  /// problem itself comes first; the others are sorted by equal ops, equal
  /// type, distance, and id. Includes failed and pending entries. Pointers live
  /// as long as the registry.
  std::vector<Match> find(const Problem &problem) const;

  /// The best of all entries of a rule on an architecture, if one has a share.
  std::optional<Reached> findBestShare(const std::string &rule,
                                       const std::string &architecture) const;

  /// The entry of an id, or null.
  const Entry *lookup(const std::string &id) const;

private:
  std::vector<Entry> entries;
};

/// $FACT_PATTERNS, or fact/patterns in $XDG_DATA_HOME or ~/.local/share. Empty
/// if neither a variable nor a home is set.
std::filesystem::path getUserFolder();

/// share/fact/patterns beside the bin folder of the running program, else
/// beside the lib folder of the library that has this code; empty when there is
/// none.
std::filesystem::path getBuiltinFolder();

/// The layers that every tool uses: the user's over the built-in one.
std::vector<std::filesystem::path> getDefaultLayers();

} // namespace registry
} // namespace fact

#endif // FACT_REGISTRY_REGISTRY_H
