# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""measurements.py write|read DATABASE: rows of the tuner, left in the write-ahead log."""

import os
import sqlite3
import sys

command, path = sys.argv[1:]
database = sqlite3.connect(path, isolation_level=None)
if command == "write":
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE attempts (id INTEGER PRIMARY KEY, status TEXT)")
    for _ in range(20):
        database.execute("INSERT INTO attempts (status) VALUES ('ok')")
    assert os.path.getsize(path + "-wal") > 0
    # As a process that was killed.
    os._exit(0)
print(database.execute("SELECT count(*) FROM attempts").fetchone()[0], "rows")
