//===- Schedule.h - Parameters of schedules, declared once ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kind of schedule is a table of parameters: name, meaning and legal values.
// The parser, the verifier, the spaces, the neighbors of a search and the pages
// for people and language models are made from that table.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_DIALECT_FACT_SCHEDULE_H
#define FACT_DIALECT_FACT_SCHEDULE_H

#include "fact/Dialect/Fact/Extents.h"
#include "mlir/IR/Diagnostics.h"
#include <optional>
#include <string>
#include <vector>

namespace fact {
class ScheduleAttr;
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The largest size in a schedule. The product of two sizes does not overflow.
constexpr int64_t maxScheduleSize = 1 << 30;

/// The legal values of one number of a parameter.
class Sizes {
public:
  static Sizes oneOf(std::initializer_list<int64_t> values);
  static Sizes between(int64_t first, int64_t last);
  /// Multiples of `step` up to `last`.
  static Sizes multiplesOf(int64_t step, int64_t last = maxScheduleSize);
  /// Any number from 1 on.
  static Sizes any() { return between(1, maxScheduleSize); }

  bool contains(int64_t size) const;
  /// "64, 128 or 256", "3 to 8", "a multiple of 16 up to 256", "1 or more".
  std::string describe() const;

private:
  std::vector<int64_t> values;
  int64_t first = 1, last = maxScheduleSize, step = 1;
};

/// One parameter of a kind of schedule: a number, several numbers written as
/// 128x64, or one of several words. Values are Extents; the value of a word is
/// its position in `words`.
struct Parameter {
  struct Axis {
    /// "M"; empty for a parameter that is one number.
    std::string name;
    Sizes sizes;
  };

  static Parameter number(std::string name, std::string meaning, Sizes sizes);
  static Parameter extents(std::string name, std::string meaning,
                           std::vector<Axis> axes);
  static Parameter word(std::string name, std::string meaning,
                        std::vector<std::string> words);

  bool isWord() const { return !words.empty(); }
  /// The legal values, for people: "M 64 or 128, N a multiple of 16 up to 256".
  std::string describe() const;

  /// The value that `text` spells. On failure none, and `error` has the reason.
  std::optional<Extents> parse(llvm::StringRef text, std::string &error) const;
  std::optional<Extents> parse(mlir::AsmParser &parser) const;
  std::string format(const Extents &value) const;
  /// Whether the value has the form of this parameter, legal or not.
  mlir::LogicalResult verify(const Extents &value, EmitError emitError) const;
  /// Whether the value is legal.
  mlir::LogicalResult check(const Extents &value, EmitError emitError) const;
  /// Each number of the value halved and doubled; none for a word.
  std::vector<Extents> getSteps(const Extents &value) const;

  std::string name;
  std::string meaning;
  std::vector<Axis> axes;
  std::vector<std::string> words;
};

/// A kind of schedule, such as `sm90_gemm`. It lives until the process ends.
struct ScheduleKind {
  std::string name;
  std::string summary;
  std::vector<Parameter> parameters;
  /// Further limits, in sentences: those on several parameters together, and
  /// those that depend on the region or the machine.
  std::string limits;
  /// Values of the first parameter, as an example of a list.
  std::vector<std::string> example;

  /// Adjusts values that depend on each other. Applied to the points of a
  /// space, not to schedules that are written out.
  void (*adjust)(llvm::MutableArrayRef<Extents> values) = nullptr;

  /// The folder of CUTLASS's examples that the kernels build on; may be empty.
  std::string cutlassExample = {};

  /// The summary, the parameters and the limits, as text.
  std::string describe() const;

  /// "'tile', 'cluster'", for diagnostics.
  std::string listParameters() const;
  /// The position of a parameter; none if there is no such parameter.
  std::optional<size_t> find(llvm::StringRef parameter) const;
};
} // namespace fact

#endif // FACT_DIALECT_FACT_SCHEDULE_H
