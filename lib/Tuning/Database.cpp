//===- Database.cpp - Every attempt, kept in SQLite -----------------------===//

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
  created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
);
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts
  (kernel_hash, candidate_hash, machine, compiler);
)sql";

Database::Database(const std::filesystem::path &path) : path(path) {
  if (sqlite3_open(path.c_str(), &handle) != SQLITE_OK)
    fail("open it");
  sqlite3_busy_timeout(handle, 10000);
  // Not every file system can; the default journal is as safe, only slower.
  sqlite3_exec(handle, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
  execute("PRAGMA synchronous = NORMAL");
  execute(schema);
  insert = prepare(
      "INSERT INTO attempts (kernel_hash, candidate, candidate_hash, machine, "
      "compiler, kernel, status, detail, log, us, us_low, us_high, runs, "
      "norm_error, element_error, compile_seconds, measure_seconds, transient) "
      "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  select = prepare(
      "SELECT kernel, status, detail, log, us, us_low, us_high, runs, "
      "norm_error, element_error, compile_seconds, measure_seconds, transient "
      "FROM attempts WHERE kernel_hash = ?1 AND candidate = ?2 AND "
      "candidate_hash = ?3 AND (?4 = '' OR machine = ?4) AND "
      "(?5 = '' OR compiler = ?5) ORDER BY id DESC LIMIT 1");
}

Database::~Database() {
  sqlite3_finalize(insert);
  sqlite3_finalize(select);
  sqlite3_close(handle);
}

void Database::fail(const std::string &what) {
  int code = handle ? sqlite3_errcode(handle) : SQLITE_NOMEM;
  std::string message = "cannot " + what + " in the tuning database " +
                        path.string() + ": " +
                        (handle ? sqlite3_errmsg(handle) : "out of memory");
  if (code == SQLITE_FULL || code == SQLITE_IOERR)
    message += "; free some space and run the same command again";
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
    message += "; move the file away, or name another with --database";
  throw Failure(message);
}

void Database::execute(const char *sql) {
  if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail("set up the tables");
}

sqlite3_stmt *Database::prepare(const char *sql) {
  sqlite3_stmt *statement = nullptr;
  if (sqlite3_prepare_v2(handle, sql, -1, &statement, nullptr) != SQLITE_OK)
    fail("set up the tables");
  return statement;
}

static void bindText(sqlite3_stmt *statement, int index,
                     const std::string &text) {
  sqlite3_bind_text(statement, index, text.data(),
                    static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

static int bindKey(sqlite3_stmt *statement, const AttemptKey &key) {
  sqlite3_reset(statement);
  int index = 0;
  for (const std::string *text : {&key.kernelHash, &key.candidate,
                                  &key.candidateHash, &key.machine,
                                  &key.compiler})
    bindText(statement, ++index, *text);
  return index;
}

void Database::record(const AttemptKey &key, const Attempt &attempt) {
  int index = bindKey(insert, key);
  for (const std::string *text :
       {&attempt.kernel, &attempt.status, &attempt.detail, &attempt.log})
    bindText(insert, ++index, *text);
  for (double value : {attempt.us, attempt.usLow, attempt.usHigh})
    sqlite3_bind_double(insert, ++index, value);
  sqlite3_bind_int(insert, ++index, attempt.runs);
  for (double value : {attempt.normError, attempt.elementError,
                       attempt.compileSeconds, attempt.measureSeconds})
    sqlite3_bind_double(insert, ++index, value);
  sqlite3_bind_int(insert, ++index, attempt.transient);
  if (sqlite3_step(insert) != SQLITE_DONE)
    fail("record an attempt");
  sqlite3_reset(insert);
}

std::optional<Attempt> Database::find(const AttemptKey &key) {
  bindKey(select, key);
  int code = sqlite3_step(select);
  if (code == SQLITE_DONE)
    return std::nullopt;
  if (code != SQLITE_ROW)
    fail("look up an attempt");
  int column = 0;
  auto text = [&] {
    return std::string(
        reinterpret_cast<const char *>(sqlite3_column_text(select, column++)));
  };
  auto real = [&] { return sqlite3_column_double(select, column++); };
  Attempt attempt;
  attempt.kernel = text();
  attempt.status = text();
  attempt.detail = text();
  attempt.log = text();
  attempt.us = real();
  attempt.usLow = real();
  attempt.usHigh = real();
  attempt.runs = sqlite3_column_int(select, column++);
  attempt.normError = real();
  attempt.elementError = real();
  attempt.compileSeconds = real();
  attempt.measureSeconds = real();
  attempt.transient = sqlite3_column_int(select, column++) != 0;
  sqlite3_reset(select);
  return attempt;
}

} // namespace tuning
} // namespace fact
