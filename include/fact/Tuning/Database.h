//===- Database.h - Every attempt, kept in SQLite ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_DATABASE_H
#define FACT_TUNING_DATABASE_H

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace fact {
namespace tuning {

/// Two attempts with equal keys are the same. `candidate` is the schedule's
/// key; `candidateHash` covers its source, flags and libraries.
struct AttemptKey {
  std::string kernelHash;
  std::string candidate;
  std::string candidateHash;
  std::string machine;
  std::string compiler;
};

/// What something was timed under, as far as it is known.
struct Conditions {
  /// "paced" or "sustained" if it takes over a millisecond on a GPU, else
  /// empty.
  std::string regime;
  /// Of the device's processors, and of the whole device; 0: unknown.
  double megahertz = 0, watts = 0;
};

/// `status` is ok, compile_error, compile_timeout, spills, link_error, crash,
/// hang, wrong or too_fast; or, if the machine is the cause, killed,
/// out_of_memory or stale_choice.
struct Attempt {
  std::string kernel;
  std::string status;
  std::string detail;
  std::string log;
  double us = 0, usLow = 0, usHigh = 0;
  int runs = 0;
  Conditions conditions;
  double normError = 0, elementError = 0;
  double compileSeconds = 0, measureSeconds = 0;
  /// The kernel's choice (FactKernel::choice_bytes), in hexadecimal digits;
  /// empty if it has none.
  std::string choice;
  /// Depends on the moment rather than on the candidate (a compiler or a worker
  /// killed for memory, a compiler timeout): the next run tries again.
  bool transient = false;
};

/// Whether a text is a legal Attempt::choice.
bool isChoice(const std::string &text);

/// The tuning database. Each attempt is one transaction on a write-ahead log,
/// so a kill at any time loses at most the attempt in flight.
class Database {
public:
  explicit Database(const std::filesystem::path &path);

  void record(const AttemptKey &key, const Attempt &attempt);
  /// The newest attempt. An empty machine or compiler matches any.
  std::optional<Attempt> find(const AttemptKey &key);
  /// The newest attempt of each candidate of a kernel on each machine.
  struct Row {
    AttemptKey key;
    Attempt attempt;
    /// "2026-11-15", in UTC.
    std::string date;
  };
  std::vector<Row> list(const std::string &kernelHash);

private:
  struct Close {
    void operator()(sqlite3 *handle) const;
    void operator()(sqlite3_stmt *statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  int readVersion();
  bool hasColumn(const std::string &name);
  void setUp();
  void execute(const char *sql);
  Statement prepare(const char *sql);
  [[noreturn]] void fail(const std::string &what);

  std::filesystem::path path;
  // Closed also if the constructor throws; statements first.
  std::unique_ptr<sqlite3, Close> handle;
  Statement insert, select, selectAll;
};

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_DATABASE_H
