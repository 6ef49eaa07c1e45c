"""
Compute a captured request's scores again, and find what broke in its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rageval_trace.evaluation import evaluate_record, evaluator_version
from rageval_trace.live.captures.line import LINE_VERSION, config_from
from rageval_trace.live.captures.saved import Saved
from rageval_trace.metrics import registered
from rageval_trace.metrics.base import load_plugins
from rageval_trace.models import Context, EvalConfig, MetricResult
from rageval_trace.reports.highlight import highlighted
from rageval_trace.reports.scorecard import RecordResult

__all__ = ["Chunk", "Replay", "Sentence", "replay"]

_KEYLESS: Final = ("none", "lexical")
_EVIDENCE: Final = ("groundedness", "hallucination_risk", "context_utilisation")
_DOUBTFUL: Final = 0.5


@dataclass(frozen=True, slots=True)
class Sentence:
    """
    One sentence of the answer.

    Args:
        text: As written.
        mark: `broken` (no context supports it), `doubtful` (supported by its words, but something speaks against
            it), `ok`, or empty for one that claims nothing.
        cause: What speaks against it; empty when nothing does.
    """

    text: str
    mark: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """
    One context.

    Args:
        rank: From 1.
        context: Itself.
        age_hours: When the question was asked; None when it is undated.
        used: It supports a sentence; None when that is not known.
    """

    rank: int
    context: Context
    age_hours: float | None
    used: bool | None


@dataclass(frozen=True, slots=True)
class Replay:
    """
    A captured request with its scores computed again.

    Args:
        saved: The capture.
        results: What was computed now, by metric name.
        different: Pairs of the score then and now, by metric name, where they are not the same number.
        missing: Metrics of then that nothing computes now: a judge's, or a plug-in's that is not here.
        why: What explains differences; None when nothing does.
        sentences: The answer's, in order.
        chunks: The contexts, in rank order.
    """

    saved: Saved
    results: Mapping[str, MetricResult]
    different: Mapping[str, tuple[float | None, float | None]]
    missing: tuple[str, ...]
    why: str | None
    sentences: tuple[Sentence, ...]
    chunks: tuple[Chunk, ...]

    @property
    def equal(self) -> int:
        """
        Return how many scores are the same to the last digit.
        """
        return len(self.saved.fields.get("scores") or {}) - len(self.different) - len(self.missing)


def replay(saved: Saved) -> Replay:
    """
    Compute a capture's scores again by the config that it keeps.
    """
    load_plugins()
    fields = saved.fields
    config, problem = _config(fields)
    then: Mapping[str, float] = fields.get("scores") or {}
    judged = str(fields.get("judge")) not in _KEYLESS
    known = [name for name in then if name in registered()]
    names: list[str] = [*([] if judged else known), *_EVIDENCE]
    results = evaluate_record(saved.record, config, metrics=names).results
    comparable = [] if judged else known
    different = {name: (then[name], results[name].score) for name in comparable if then[name] != results[name].score}
    missing = tuple([name for name in then if name not in comparable])
    entry = RecordResult(saved.record, results)
    return Replay(
        saved=saved,
        results={name: results[name] for name in comparable},
        different=different,
        missing=missing,
        why=problem or _reason(fields, config),
        sentences=tuple(_sentences(entry, config)),
        chunks=tuple(_chunks(entry, config)),
    )


def _config(fields: Mapping[str, object]) -> tuple[EvalConfig, str | None]:
    saved = fields.get("config")
    try:
        if isinstance(saved, Mapping):
            return config_from(saved), None
    except (KeyError, TypeError, ValueError):
        pass
    return EvalConfig(), "the capture does not tell how it was scored"


def _reason(fields: Mapping[str, object], config: EvalConfig) -> str | None:
    """
    Return what makes scores differ from those of then; None when they ought to be the same.
    """
    if fields.get("line") != LINE_VERSION:
        return f"the capture has another shape ({fields.get('line')})"
    then, now = fields.get("evaluator_version"), evaluator_version(config)
    if then != now:
        return f"scored by {then}, computed again by {now}"
    if fields.get("redacted"):
        return "texts were redacted after they were scored"
    if fields.get("truncated"):
        return "texts were cut to the size of a line after they were scored"
    return None


def _sentences(entry: RecordResult, config: EvalConfig) -> list[Sentence]:
    risk = entry.results["hallucination_risk"].details
    claims = {claim["index"]: claim for claim in risk.get("claims", ())}
    found = []
    number = 0
    for part in highlighted(entry, config):
        if part.state == "unjudged":
            found.append(Sentence(part.text, ""))
            continue
        number += 1
        claim = claims.get(number, {})
        cause = str(claim.get("cause") or "")
        if part.state == "unsupported":
            found.append(Sentence(part.text, "broken", cause or part.note))
        elif claim.get("risk", 0.0) >= _DOUBTFUL and cause:
            found.append(Sentence(part.text, "doubtful", cause))
        else:
            found.append(Sentence(part.text, "ok"))
    return found


def _chunks(entry: RecordResult, config: EvalConfig) -> list[Chunk]:
    now = config.now or entry.record.asked_at
    unused = entry.results["context_utilisation"].details.get("unused")
    return [
        Chunk(rank, one, _age(one.timestamp, now), None if unused is None else rank not in unused)
        for rank, one in enumerate(entry.record.contexts or (), 1)
    ]


def _age(stamp: datetime | None, now: datetime | None) -> float | None:
    if stamp is None or now is None:
        return None
    return max(0.0, (now - stamp).total_seconds() / 3600.0)
