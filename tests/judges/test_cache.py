"""
The verdict caches: bounded, private, shared between processes, never in the way.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rageval_trace.judges.cache import Cache, DiskCache, MemoryCache, cache_key


def test_keys_tell_parts_apart() -> None:
    """
    Parts that merely join to the same text have different keys, and a key is stable across runs.
    """
    assert cache_key("ab", "c") != cache_key("a", "bc")
    assert cache_key("a", ["b", "c"]) != cache_key("a", ["b"], "c")
    assert cache_key("x", "\ud800") == cache_key("x", "\ud800")
    assert hashlib.blake2b(b'["a"]', digest_size=20).hexdigest() == cache_key("a")


def test_memory_drops_the_least_recently_used() -> None:
    """
    Reading a value makes it recent; the bound drops the others first.
    """
    cache = MemoryCache(2)
    cache.put({"a": 1, "b": 2})
    assert cache.get(["a"]) == {"a": 1}
    cache.put({"c": 3})
    assert len(cache) == 2
    assert cache.get(["a", "b", "c"]) == {"a": 1, "c": 3}


def test_memory_needs_room_for_one() -> None:
    """
    A cache without room is an error, not a silent miss for ever.
    """
    with pytest.raises(ValueError, match="max_entries must be at least 1"):
        MemoryCache(0)


def test_disk_outlives_the_object(tmp_path: Path) -> None:
    """
    What one cache wrote, another reads from the same file.
    """
    path = tmp_path / "verdicts.sqlite"
    DiskCache(path).put({"k": {"supported": True, "supporting": [0]}, "r": 0.5})
    assert DiskCache(path).get(["k", "r", "absent"]) == {"k": {"supported": True, "supporting": [0]}, "r": 0.5}


def test_disk_file_is_the_owners_alone(tmp_path: Path) -> None:
    """
    No umask opens the file to others, its journal included.
    """
    path = tmp_path / "verdicts.sqlite"
    before = os.umask(0)
    try:
        cache = DiskCache(path)
        with sqlite3.connect(tmp_path / "other.sqlite"), cache._open() as database, database:
            database.execute("INSERT INTO verdicts (key, value) VALUES ('a', '1')")
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob("verdicts*")}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["verdicts.sqlite", "verdicts.sqlite-journal"], 0o600)


def test_disk_is_bounded_by_age_of_writing(tmp_path: Path) -> None:
    """
    The oldest written values leave the file; a value written anew counts as new.
    """
    path = tmp_path / "verdicts.sqlite"
    cache = DiskCache(path, max_entries=2)
    for key in ("a", "b", "a", "c"):
        cache.put({key: key})
    assert DiskCache(path).get(["a", "b", "c"]) == {"a": "a", "c": "c"}


@pytest.mark.parametrize("content", [b"no database at all, just text" * 50, None])
def test_disk_that_cannot_be_used_is_a_miss(tmp_path: Path, content: bytes | None) -> None:
    """
    A broken file, or a folder that is not there, costs a count and nothing else.
    """
    path = tmp_path / "broken.sqlite" if content else tmp_path / "nowhere" / "x.sqlite"
    if content:
        path.write_bytes(content)
    cache: Cache = DiskCache(path)
    assert cache.get(["k"]) == {}
    cache.put({"k": 1})
    assert cache.get(["k"]) == {"k": 1}
    assert isinstance(cache, DiskCache)
    assert cache.errors == 2


def test_disk_value_that_is_no_json_is_a_miss(tmp_path: Path) -> None:
    """
    A value that somebody else wrote into the file is not trusted.
    """
    path = tmp_path / "verdicts.sqlite"
    DiskCache(path).put({"k": 1})
    with sqlite3.connect(path) as database:
        database.execute("UPDATE verdicts SET value = '{'")
    database.close()
    cache = DiskCache(path)
    assert cache.get(["k"]) == {}
    assert cache.errors == 1


_WRITER = """
import sys
from rageval_trace.judges.cache import DiskCache
cache = DiskCache(sys.argv[1])
for number in range(40):
    cache.put({f"{sys.argv[2]}-{number}": number})
print(cache.errors)
"""


def test_processes_share_a_file(tmp_path: Path) -> None:
    """
    Two processes that write at the same time lose nothing and see no error.
    """
    path = tmp_path / "verdicts.sqlite"
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(path), name], stdout=subprocess.PIPE, text=True)
        for name in ("left", "right")
    ]
    assert [writer.communicate()[0].strip() for writer in writers] == ["0", "0"]
    wanted = {f"{name}-{number}": number for name in ("left", "right") for number in range(40)}
    assert DiskCache(path).get(wanted) == wanted
