"""Open versioned SQLite files, and refuse other ones."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path


def open_sqlite(file: Path, tables: Iterable[str], version: int) -> sqlite3.Connection:
    """Open a file of this version, or make it, readable by its owner alone.

    Raises
    ------
    OSError
        When it cannot be made.
    sqlite3.Error
        When it is no such file, or of another version: it is left as it is.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    database = sqlite3.connect(file, isolation_level=None)
    try:
        (stored_version,) = database.execute("PRAGMA user_version").fetchone()
        (count,) = database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if stored_version == 0 and count == 0:
            with database:
                for statement in ("BEGIN IMMEDIATE", *tables, f"PRAGMA user_version = {version}"):
                    database.execute(statement)
        elif stored_version != version:
            raise sqlite3.DatabaseError("this version of the course did not make it")
    except sqlite3.Error:
        database.close()
        raise
    return database
