//===- Database.cpp - Every attempt, kept in SQLite -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Database.h"
#include "fact/Tuning/Files.h"
#include <sqlite3.h>

namespace fact {
namespace tuning {

static const char schema[] = R"sql(
CREATE TABLE IF NOT EXISTS attempts (
  id INTEGER PRIMARY KEY,
  kernel_hash TEXT NOT NULL,
  candidate TEXT NOT NULL,
  candidate_hash TEXT NOT NULL,
  machine TEXT NOT NULL,
  compiler TEXT NOT NULL,
  kernel TEXT NOT NULL,
  status TEXT NOT NULL,
  detail TEXT NOT NULL,
  log TEXT NOT NULL,
  us REAL, us_low REAL, us_high REAL, runs INTEGER,
  norm_error REAL, element_error REAL,
  compile_seconds REAL, measure_seconds REAL,
  transient INTEGER NOT NULL,
  choice TEXT NOT NULL DEFAULT '',
  regime TEXT NOT NULL DEFAULT '',
  mhz REAL NOT NULL DEFAULT 0, watts REAL NOT NULL DEFAULT 0,
  created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts
  (kernel_hash, candidate_hash, machine, compiler);
)sql";

/// PRAGMA user_version of databases with these tables. Version 0 is a new
/// database or an older one; what later versions added is in `added`.
static constexpr int schemaVersion = 3;
static const char *const added[][2] = {{"choice", "TEXT NOT NULL DEFAULT ''"},
                                       {"regime", "TEXT NOT NULL DEFAULT ''"},
                                       {"mhz", "REAL NOT NULL DEFAULT 0"},
                                       {"watts", "REAL NOT NULL DEFAULT 0"}};

// The columns of an Attempt, in its order.
#define ATTEMPT                                                                \
  "kernel, status, detail, log, us, us_low, us_high, runs, norm_error, "       \
  "element_error, compile_seconds, measure_seconds, transient, choice, "       \
  "regime, mhz, watts"

bool isChoice(const std::string &text) {
  return text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Database::Database(const std::filesystem::path &path) : path(path) {
  sqlite3 *opened = nullptr;
  int code = sqlite3_open(path.c_str(), &opened);
  handle.reset(opened);
  if (code != SQLITE_OK)
    fail("open it");
  sqlite3_busy_timeout(handle.get(), 10000);
  // Not every file system supports it; the default journal is as safe, only
  // slower.
  sqlite3_exec(handle.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr,
               nullptr);
  execute("PRAGMA synchronous = NORMAL");
  setUp();
  insert = prepare(
      "INSERT INTO attempts (kernel_hash, candidate, candidate_hash, machine, "
      "compiler, " ATTEMPT ") VALUES "
      "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  select =
      prepare("SELECT " ATTEMPT
              " FROM attempts WHERE kernel_hash = ?1 AND candidate = ?2 AND "
              "candidate_hash = ?3 AND (?4 = '' OR machine = ?4) AND "
              "(?5 = '' OR compiler = ?5) ORDER BY id DESC LIMIT 1");
  selectAll = prepare(
      "SELECT " ATTEMPT ", candidate, candidate_hash, machine, compiler, "
      "date(created) FROM attempts WHERE id IN (SELECT max(id) FROM attempts "
      "WHERE kernel_hash = ?1 GROUP BY candidate, machine) ORDER BY id");
}

void Database::Close::operator()(sqlite3 *handle) const {
  sqlite3_close(handle);
}

void Database::Close::operator()(sqlite3_stmt *statement) const {
  sqlite3_finalize(statement);
}

void Database::fail(const std::string &what) {
  int code = handle ? sqlite3_errcode(handle.get()) : SQLITE_NOMEM;
  std::string message =
      "cannot " + what + " in the tuning database " + path.string() + ": " +
      (handle ? sqlite3_errmsg(handle.get()) : "out of memory");
  if (code == SQLITE_FULL || code == SQLITE_IOERR)
    message += "; free some space and run the same command again";
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR)
    message += "; move the file away, or name another with --database";
  throw Failure(message);
}

int Database::readVersion() {
  Statement statement = prepare("PRAGMA user_version");
  bool found = sqlite3_step(statement.get()) == SQLITE_ROW;
  int version = found ? sqlite3_column_int(statement.get(), 0) : 0;
  statement.reset();
  if (!found)
    fail("read the version");
  if (version > schemaVersion)
    throw Failure("the tuning database " + path.string() +
                  " has schema version " + std::to_string(version) +
                  ", but this fact-tune writes " +
                  std::to_string(schemaVersion) +
                  "; use the newer fact-tune, move the file away, or name "
                  "another with --database");
  return version;
}

bool Database::hasColumn(const std::string &name) {
  Statement statement =
      prepare(("SELECT 1 FROM pragma_table_info('attempts') WHERE name = '" +
               name + "'")
                  .c_str());
  return sqlite3_step(statement.get()) == SQLITE_ROW;
}

/// Creates the tables, or upgrades those of an older version.
void Database::setUp() {
  if (readVersion() == schemaVersion)
    return;
  execute("BEGIN IMMEDIATE");
  // Another process may have upgraded them in the meantime.
  if (readVersion() != schemaVersion) {
    execute(schema);
    for (const auto &[name, type] : added)
      if (!hasColumn(name))
        execute(("ALTER TABLE attempts ADD COLUMN " + std::string(name) + " " +
                 type)
                    .c_str());
    execute(("PRAGMA user_version = " + std::to_string(schemaVersion)).c_str());
  }
  execute("COMMIT");
}

void Database::execute(const char *sql) {
  if (sqlite3_exec(handle.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail("set up the tables");
}

Database::Statement Database::prepare(const char *sql) {
  sqlite3_stmt *statement = nullptr;
  if (sqlite3_prepare_v2(handle.get(), sql, -1, &statement, nullptr) !=
      SQLITE_OK)
    fail("set up the tables");
  return Statement(statement);
}

static void bindText(sqlite3_stmt *statement, int index,
                     const std::string &text) {
  sqlite3_bind_text(statement, index, text.data(),
                    static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

static int bindKey(sqlite3_stmt *statement, const AttemptKey &key) {
  sqlite3_reset(statement);
  int index = 0;
  for (const std::string *text :
       {&key.kernelHash, &key.candidate, &key.candidateHash, &key.machine,
        &key.compiler})
    bindText(statement, ++index, *text);
  return index;
}

void Database::record(const AttemptKey &key, const Attempt &attempt) {
  int index = bindKey(insert.get(), key);
  for (const std::string *text :
       {&attempt.kernel, &attempt.status, &attempt.detail, &attempt.log})
    bindText(insert.get(), ++index, *text);
  for (double value : {attempt.us, attempt.usLow, attempt.usHigh})
    sqlite3_bind_double(insert.get(), ++index, value);
  sqlite3_bind_int(insert.get(), ++index, attempt.runs);
  for (double value : {attempt.normError, attempt.elementError,
                       attempt.compileSeconds, attempt.measureSeconds})
    sqlite3_bind_double(insert.get(), ++index, value);
  sqlite3_bind_int(insert.get(), ++index, attempt.transient);
  bindText(insert.get(), ++index, attempt.choice);
  bindText(insert.get(), ++index, attempt.conditions.regime);
  sqlite3_bind_double(insert.get(), ++index, attempt.conditions.megahertz);
  sqlite3_bind_double(insert.get(), ++index, attempt.conditions.watts);
  if (sqlite3_step(insert.get()) != SQLITE_DONE)
    fail("record an attempt");
  sqlite3_reset(insert.get());
}

namespace {

/// Reads a row, column by column.
class Columns {
public:
  Columns(sqlite3_stmt *statement, const std::filesystem::path &path)
      : statement(statement), path(path) {}

  std::string text() {
    const unsigned char *value = sqlite3_column_text(statement, column);
    if (!value)
      refuse("NULL", column);
    ++column;
    return reinterpret_cast<const char *>(value);
  }
  std::string choice() {
    std::string value = text();
    if (!isChoice(value))
      refuse("'" + value + "'", column - 1);
    return value;
  }
  double real() { return sqlite3_column_double(statement, column++); }
  int integer() { return sqlite3_column_int(statement, column++); }

  Attempt attempt() {
    Attempt attempt;
    attempt.kernel = text();
    attempt.status = text();
    attempt.detail = text();
    attempt.log = text();
    attempt.us = real();
    attempt.usLow = real();
    attempt.usHigh = real();
    attempt.runs = integer();
    attempt.normError = real();
    attempt.elementError = real();
    attempt.compileSeconds = real();
    attempt.measureSeconds = real();
    attempt.transient = integer() != 0;
    attempt.choice = choice();
    attempt.conditions.regime = text();
    attempt.conditions.megahertz = real();
    attempt.conditions.watts = real();
    return attempt;
  }

private:
  [[noreturn]] void refuse(const std::string &value, int at) {
    throw Failure("the tuning database " + path.string() +
                  " has an attempt whose '" +
                  sqlite3_column_name(statement, at) + "' is " + value +
                  ", which fact-tune never writes; delete the row, move the "
                  "file away, or name another with --database");
  }

  sqlite3_stmt *statement;
  const std::filesystem::path &path;
  int column = 0;
};

} // namespace

std::optional<Attempt> Database::find(const AttemptKey &key) {
  bindKey(select.get(), key);
  int code = sqlite3_step(select.get());
  if (code == SQLITE_DONE)
    return std::nullopt;
  if (code != SQLITE_ROW)
    fail("look up an attempt");
  Attempt attempt = Columns(select.get(), path).attempt();
  sqlite3_reset(select.get());
  return attempt;
}

std::vector<Database::Row> Database::list(const std::string &kernelHash) {
  sqlite3_reset(selectAll.get());
  bindText(selectAll.get(), 1, kernelHash);
  std::vector<Row> rows;
  int code;
  while ((code = sqlite3_step(selectAll.get())) == SQLITE_ROW) {
    Columns columns(selectAll.get(), path);
    Row row;
    row.attempt = columns.attempt();
    row.key.kernelHash = kernelHash;
    row.key.candidate = columns.text();
    row.key.candidateHash = columns.text();
    row.key.machine = columns.text();
    row.key.compiler = columns.text();
    row.date = columns.text();
    rows.push_back(std::move(row));
  }
  if (code != SQLITE_DONE)
    fail("look up attempts");
  sqlite3_reset(selectAll.get());
  return rows;
}

} // namespace tuning
} // namespace fact
