"""
Keep evaluations on disk, so that a bad score can be traced back to the sentence behind it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import RLock
from typing import Final

from rageval_trace.live.captures.duplicates import Duplicates
from rageval_trace.live.captures.files import LineFiles
from rageval_trace.live.captures.line import encode, line_of, pointer_of
from rageval_trace.live.forks import renew_after_fork
from rageval_trace.live.result import LiveResult
from rageval_trace.live.sampling import Sampler
from rageval_trace.live.tally import Tally, say_once
from rageval_trace.live.worker import SINK_STAGE, Worker
from rageval_trace.text import tokenize

__all__ = ["JsonlSink"]

Redact = Callable[[str], str]
_PAUSE_S: Final = 1.0
_MAX_WAITING_CHARS: Final = 32_000_000


class JsonlSink:
    """
    Write evaluations to JSONL files: `RagEvalHandler(..., on_result=JsonlSink("captures/"))`.

    The lines hold questions, contexts and answers: constructing a sink is the consent to that, and `redact` comes
    first, the handler's and then this one. Only scored requests are kept: all that breach a threshold, of the rest a
    sample, and near duplicates of what was kept lately not again (a breach leaves a line that names the one kept).
    Writing happens in a thread of its own; a slow or full disk costs lines, which are counted, and nothing else.

    Args:
        folder: Made with the first line, readable by its owner alone. Several processes may share it.
        sample_rate: Share of the requests without a breach that is kept, in [0, 1].
        max_bytes: Size of a file; the next one is begun before it is passed. At least 1024.
        max_files: Files in the folder; the oldest is deleted for a newer one. At least 1.
        max_line_bytes: Size of a line, at least 1024; texts are cut to it, and the line says so.
        compress: Gzip files that are full.
        redact: Runs on every text; when it raises, the line is not written.
        queue_size: Evaluations that may wait; more are dropped and counted. At least 1.
        duplicates: Evaluations remembered to tell near duplicates; 0 keeps them all.
        timeout_s: How long a process that ends waits for the disk, in seconds.

    Raises:
        ValueError: for a value out of its range.
        TypeError: if *redact* is no function.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        sample_rate: float = 0.1,
        max_bytes: int = 10 * 2**20,
        max_files: int = 10,
        max_line_bytes: int = 2**20,
        compress: bool = False,
        redact: Redact | None = None,
        queue_size: int = 256,
        duplicates: int = 4096,
        timeout_s: float = 5.0,
    ) -> None:
        _check("sample_rate", sample_rate, 0, 1)
        _check("max_bytes", max_bytes, 1024)
        _check("max_files", max_files, 1)
        _check("max_line_bytes", max_line_bytes, 1024)
        _check("queue_size", queue_size, 1)
        _check("duplicates", duplicates, 0)
        _check("timeout_s", timeout_s, 0)
        if redact is not None and not callable(redact):
            raise TypeError(f"redact is {type(redact).__name__}: expected a function")
        self._sampler = Sampler(sample_rate)
        self._redact = redact
        self._max_line_bytes = min(max_line_bytes, max_bytes)
        self._files = LineFiles(Path(folder), max_bytes=max_bytes, max_files=max_files, compress=compress)
        self._worker = Worker(size=queue_size, timeout_s=timeout_s, stage=SINK_STAGE)
        self._duplicates = Duplicates(duplicates)
        self._tally = Tally()
        self._lock = RLock()
        self._joined = 0
        self._waiting_chars = 0
        self._paused_until = 0.0
        renew_after_fork(self)

    def after_fork(self) -> None:
        """
        Begin a file of this process's own.
        """
        self._lock = RLock()
        self._waiting_chars = 0
        self._files.forget()

    def __call__(self, result: LiveResult) -> None:
        """
        Take one evaluation; the caller does not wait for the disk.
        """
        self._take(result, self._redact)

    def join(self, redact: Redact | None) -> Callable[[LiveResult], object]:
        """
        Return what a monitor calls with each result; its *redact* runs on every text before the sink's own.
        """
        self._joined += 1
        both = _chain(redact, self._redact)
        return lambda result: self._take(result, both)

    def leave(self, timeout: float | None) -> bool:
        """
        Be told that a monitor which joined is closed; the last one closes the sink.
        """
        self._joined -= 1
        return self.flush(timeout) if self._joined > 0 else self.close(timeout)

    @property
    def stats(self) -> Mapping[str, int]:
        """
        Return counts of evaluations: written, left out of the sample, duplicates, dropped for want of room, failed.
        """
        return self._tally.snapshot()

    def flush(self, timeout: float | None = 5.0) -> bool:
        """
        Wait until what was taken is written; False when *timeout* seconds were not enough.
        """
        return self._worker.flush(timeout)

    def close(self, timeout: float | None = None) -> bool:
        """
        Write what was taken, within *timeout* seconds (`timeout_s` for None), close the file and take no more.
        """
        done = self._worker.close(timeout)
        if done:
            # Otherwise the thread may still be writing to it.
            try:
                self._files.close()
            except OSError as error:
                self._failed(error)
        return done

    def _take(self, result: LiveResult, redact: Redact | None) -> None:
        if not result.results:
            return
        breach = result.verdict == "fail" or bool(result.breached)
        trace_id = None if result.trace_id is None else int(result.trace_id, 16)
        if not breach and not self._sampler.keeps(trace_id, result.run_id):
            self._tally.add("captures_not_sampled")
            return
        chars = _chars(result)
        if not self._reserve(chars):
            self._tally.add("captures_dropped")
            return

        def job() -> None:
            try:
                self._write(result, redact, breach=breach)
            finally:
                self._release(chars)

        def give_up() -> None:
            self._release(chars)
            self._tally.add("captures_dropped")

        if not self._worker.put(job, give_up):
            give_up()

    def _reserve(self, chars: int) -> bool:
        """
        Take room for so many characters; one evaluation alone always has it.
        """
        with self._lock:
            if self._waiting_chars and self._waiting_chars + chars > _MAX_WAITING_CHARS:
                return False
            self._waiting_chars += chars
            return True

    def _release(self, chars: int) -> None:
        with self._lock:
            self._waiting_chars = max(0, self._waiting_chars - chars)

    def _write(self, result: LiveResult, redact: Redact | None, *, breach: bool) -> None:
        if time.monotonic() < self._paused_until:
            self._tally.add("captures_failed")
            return
        try:
            data = self._line(result, redact, breach=breach)
            if data is not None:
                self._files.write(data)
                self._tally.add("captures_written")
        except OSError as error:
            self._failed(error)
        except Exception as error:
            self._tally.add("captures_failed")
            self._tally.fault("a sink", error)

    def _line(self, result: LiveResult, redact: Redact | None, *, breach: bool) -> bytes | None:
        kept = self._seen_before(result)
        if kept is not None:
            self._tally.add("captures_duplicates")
            return encode(pointer_of(result, redact, kept), self._max_line_bytes) if breach else None
        line = {**line_of(result, redact), "stratum": "breach" if breach else "sample"}
        line["stratum_rate"] = 1.0 if breach else self._sampler.rate
        data = encode(line, self._max_line_bytes)
        if data is None:
            self._tally.add("captures_failed")
        return data

    def _seen_before(self, result: LiveResult) -> str | None:
        record = result.record
        broken = tuple([" ".join(tokenize(str(claim["text"]))) for claim in _unsupported(result)])
        kind = (result.judge, result.evaluator_version, result.breached, broken)
        words = [*tokenize(record.question), "\n", *tokenize(record.answer or "")]
        return self._duplicates.first(kind, words, result.trace_id or result.run_id)

    def _failed(self, error: OSError) -> None:
        """
        Count a line that the disk did not take, and leave the disk alone for a moment.
        """
        self._paused_until = time.monotonic() + _PAUSE_S
        self._tally.add("captures_failed")
        reason = error.strerror or type(error).__name__
        say_once(
            f"captures {self._files.folder} {reason}",
            "captures cannot be written to %s: %s; the application is not affected",
            self._files.folder,
            reason,
        )


def _check(name: str, value: float, low: float, high: float | None = None) -> None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= low
    if not good or (high is not None and value > high):
        expected = f"a number in [{low}, {high}]" if high is not None else f"a number of at least {low}"
        raise ValueError(f"{name} is {value!r}: expected {expected}")


def _chain(first: Redact | None, second: Redact | None) -> Redact | None:
    if first is None or second is None:
        return first or second
    return lambda text: second(first(text))


def _chars(result: LiveResult) -> int:
    record = result.record
    return len(record.question) + len(record.answer or "") + sum([len(one.text) for one in record.contexts or ()])


def _unsupported(result: LiveResult) -> list[Mapping[str, object]]:
    for one in result.results.values():
        found = one.details.get("unsupported")
        if isinstance(found, (list, tuple)):
            return [claim for claim in found if isinstance(claim, Mapping) and "text" in claim]
    return []
