"""
Verdicts kept, so that a repeated run asks nothing: a bounded cache in this process, and one on disk.

Keys are hashes, values are JSON. Neither raises: what cannot be read or written is a miss.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rageval_trace.judges.locks import Lock

__all__ = ["Cache", "DiskCache", "MemoryCache", "cache_key"]


def cache_key(*parts: str | Sequence[str]) -> str:
    """
    Return one hash for these parts, which tells `("ab", "c")` from `("a", "bc")`.
    """
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()


class Cache(Protocol):
    """
    Map keys to JSON values.
    """

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """
        Return the values of those keys that are known.
        """
        ...

    def put(self, values: Mapping[str, Any]) -> None:
        """
        Keep *values*.
        """
        ...


class MemoryCache:
    """
    Keep the most recently used values in this process.

    Args:
        max_entries: How many; at least 1.
    """

    def __init__(self, max_entries: int = 10_000) -> None:
        if max_entries < 1:
            raise ValueError(f"max_entries must be at least 1, not {max_entries}")
        self.max_entries = max_entries
        self._lock = Lock()
        self._values: OrderedDict[str, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """
        Return the values of those keys that are known, and make them the most recent.
        """
        found = {}
        with self._lock:
            for key in keys:
                if key in self._values:
                    self._values.move_to_end(key)
                    found[key] = self._values[key]
        return found

    def put(self, values: Mapping[str, Any]) -> None:
        """
        Keep *values*, dropping the least recently used beyond the bound.
        """
        with self._lock:
            for key, value in values.items():
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self.max_entries:
                self._values.popitem(last=False)


_SCHEMA = "CREATE TABLE IF NOT EXISTS verdicts (id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, value TEXT NOT NULL)"
_READ = "SELECT value FROM verdicts WHERE key = ?"
_WRITE = "INSERT OR REPLACE INTO verdicts (key, value) VALUES (?, ?)"
# A value written anew gets the highest id, so ids are in writing order.
_TRIM = "DELETE FROM verdicts WHERE id <= (SELECT max(id) FROM verdicts) - ?"


class DiskCache:
    """
    Keep values in a SQLite file that several processes may share; a bounded copy of them stays in memory.

    The file holds hashes and verdicts, with the model's one-line reasons, never a question, context or answer. It is
    created readable by its owner alone. A file that cannot be used is a miss each time, counted in `errors`.

    Args:
        path: The file; created when missing, its folder is not.
        max_entries: How many values the file keeps, the oldest written going first.
        busy_timeout_s: Seconds to wait for another process's write.
    """

    def __init__(self, path: str | Path, *, max_entries: int = 200_000, busy_timeout_s: float = 5.0) -> None:
        self.path = Path(path)
        self.max_entries = max_entries
        self.errors = 0
        self._busy_timeout_s = busy_timeout_s
        self._memory = MemoryCache()

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """
        Return the values of those keys that memory or the file knows.
        """
        wanted = list(keys)
        found = self._memory.get(wanted)
        missing = [key for key in wanted if key not in found]
        if missing:
            loaded = self._load(missing)
            self._memory.put(loaded)
            found.update(loaded)
        return found

    def put(self, values: Mapping[str, Any]) -> None:
        """
        Keep *values* in memory and in the file.
        """
        self._memory.put(values)
        rows = [(key, json.dumps(value)) for key, value in values.items()]
        try:
            with self._open() as database, database:
                database.executemany(_WRITE, rows)
                database.execute(_TRIM, (self.max_entries,))
        except (sqlite3.Error, OSError):
            self.errors += 1

    def _load(self, keys: list[str]) -> dict[str, Any]:
        try:
            with self._open() as database:
                rows = [(key, database.execute(_READ, (key,)).fetchone()) for key in keys]
            return {key: json.loads(row[0]) for key, row in rows if row is not None}
        except (sqlite3.Error, OSError, ValueError):
            self.errors += 1
            return {}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """
        Open a connection for one use: cheap beside a model call, and safe across threads and forks.
        """
        # Created by hand first: SQLite would let the umask decide who may read it.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        # Writers queue from their first statement. A write-ahead log would not: two processes that switch a new file
        # to it fail at once, without waiting for each other.
        database = sqlite3.connect(self.path, timeout=self._busy_timeout_s, isolation_level="IMMEDIATE")
        try:
            database.execute(_SCHEMA)
            yield database
        finally:
            database.close()
