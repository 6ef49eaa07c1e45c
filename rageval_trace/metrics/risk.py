"""
The keyless risk that an answer holds something its contexts do not support. METHODS.md tells how it was made.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rageval_trace.claims import Claim
from rageval_trace.metrics.base import register, undefined
from rageval_trace.metrics.claims import why_no_claims
from rageval_trace.metrics.risk_model import RiskModel, default_model
from rageval_trace.metrics.workspace import Workspace, workspace
from rageval_trace.models import EvalConfig, EvalRecord, MetricResult
from rageval_trace.signals.causes import explain
from rageval_trace.signals.claim import ClaimSignals, Findings, Reader
from rageval_trace.signals.scripts import foreign_script
from rageval_trace.signals.wording import declares_a_gap, is_filler

__all__ = ["SUGGESTED_THRESHOLD", "Reading", "hallucination_risk", "read_answer"]

SUGGESTED_THRESHOLD = 0.55
"""
The best single threshold over nine labelled sets: it finds 61 % of the bad answers and raises a false alarm on 20 % of
the good ones, unevenly by kind of answer (METHODS.md). `rageval calibrate` does better from some tens of labels.
"""

_NAME = "hallucination_risk"
_DOUBTFUL = 0.5


class Reading(NamedTuple):
    """
    One claim as read against the contexts; *number* is its 1-based place among the answer's claims.
    """

    number: int
    claim: Claim
    signals: ClaimSignals
    found: Findings


def read_answer(work: Workspace) -> tuple[Reader, list[Reading]]:
    """
    Read the claims of an answer that can be right or wrong.

    Lead-ins and pleasantries are left out, and so is what the answer says the contexts do not tell; where nothing
    else is left, they are read after all.
    """
    claims = list(enumerate(work.claims, 1))
    plain = [(index, claim) for index, claim in claims if not is_filler(claim.text, claim.tokens)]
    chosen = [(index, claim) for index, claim in plain if not declares_a_gap(claim.text, claim.tokens)]
    texts = [context.text for context in work.contexts]
    reader = Reader(
        texts,
        work.tokenized_contexts,
        work.claims,
        work.record.question,
        work.config.stopwords,
        work.all_words,
        work.answer_pairs_found,
    )
    return reader, [Reading(index, claim, *reader.read(claim)) for index, claim in chosen or plain or claims]


@register(
    _NAME,
    step="grounding",
    higher_is_better=False,
    needs=("answer", "contexts"),
    meaning="probability that the answer holds something its contexts do not support",
    undefined_when="the answer makes no claim (blank, or only declines), contexts were not observed, or they are "
    "written in another script",
    default=True,
)
def hallucination_risk(record: EvalRecord, config: EvalConfig | None = None) -> MetricResult:
    """
    Score the calibrated probability, at even odds, that the answer holds something unsupported; lower is better.

    Details: `claims`, one for each claim read, with 1-based `index`, `risk`, `cause` and `text`; `weakest`, the index
    of the riskiest; `coefficients`, the version of the weights.
    """
    work = workspace(record, config)
    why = why_no_claims(work)
    if why is not None:
        known = {} if work.abstained is None else {"abstained": work.abstained}
        return undefined(_NAME, why, details=known)
    model = default_model()
    reader, readings = read_answer(work)
    if reader.evidence.holds_nothing:
        foreign = foreign_script(record.answer or "", reader.texts)
        if foreign:
            return undefined(_NAME, f"unsupported script: {foreign}")
    return _result(model, reader, readings)


def _result(model: RiskModel, reader: Reader, readings: list[Reading]) -> MetricResult:
    claims: list[dict[str, Any]] = [
        {
            "index": index,
            "risk": model.claim_risk(signals),
            "cause": explain(signals, found, reader, claim),
            "text": claim.text,
        }
        for index, claim, signals, found in readings
    ]
    worst = max(claims, key=lambda claim: (claim["risk"], -claim["index"]))
    doubtful = sum([claim["risk"] >= _DOUBTFUL for claim in claims])
    reason = f"{doubtful} of {len(claims)} claims doubtful"
    if worst["cause"]:
        reason += f"; claim {worst['index']}: {worst['cause']}"
    details = {
        "counts": {"doubtful": doubtful, "claims": len(claims)},
        "claims": claims,
        "weakest": worst["index"],
        "abstained": False,
        "coefficients": model.version,
    }
    score = model.answer_risk([reading.signals for reading in readings])
    return MetricResult(_NAME, score, reason, higher_is_better=False, details=details)
