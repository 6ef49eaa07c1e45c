"""
Every name on the wire, once: spans, attributes, events, metrics, units and buckets.

Dashboards, alerts and docs are held to this file by tests. Names of the OpenTelemetry GenAI conventions are written
out here, for the constants published for them are deprecated while the conventions move to their own repository.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["INSTRUMENTS", "RESERVED", "SCOPE", "Instrument", "InstrumentKind"]

SCOPE: Final = "rageval_trace"

# Semantic conventions, stable.
ERROR_TYPE: Final = "error.type"

# Semantic conventions, GenAI, in development.
OPERATION_NAME: Final = "gen_ai.operation.name"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
EVALUATION_SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
RESPONSE_ID: Final = "gen_ai.response.id"
REQUEST_MODEL: Final = "gen_ai.request.model"
PROVIDER_NAME: Final = "gen_ai.provider.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
WORKFLOW_NAME: Final = "gen_ai.workflow.name"
RETRIEVAL_QUERY: Final = "gen_ai.retrieval.query.text"
RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"
RETRIEVAL_TOP_K: Final = "gen_ai.retrieval.top_k"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - an attribute's name

EVENT_RESULT: Final = "gen_ai.evaluation.result"

OPERATION_EVALUATION: Final = "evaluation"  # proposed there, used by others already
OPERATION_RETRIEVAL: Final = "retrieval"
OPERATION_WORKFLOW: Final = "invoke_workflow"

# OpenInference.
OI_SPAN_KIND: Final = "openinference.span.kind"
OI_EVALUATOR: Final = "EVALUATOR"
OI_RETRIEVER: Final = "RETRIEVER"
OI_CHAIN: Final = "CHAIN"
OI_INPUT: Final = "input.value"
OI_OUTPUT: Final = "output.value"
OI_DOCUMENT: Final = "retrieval.documents.{index}.document.{field}"
OI_EVALUATION: Final = "evaluations.{index}.evaluation.{field}"

# Ours: spans.
SPAN_EVALUATION: Final = "evaluation {pipeline}"
SPAN_REQUEST: Final = "invoke_workflow {pipeline}"
SPAN_RETRIEVAL: Final = "retrieval"

# Ours: attributes.
SCORE_PREFIX: Final = "rageval.score."
UNDEFINED: Final = "rageval.undefined"
BREACHED: Final = "rageval.breached"
FAILED: Final = "rageval.failed"
ABSTAINED: Final = "rageval.abstained"
VERDICT: Final = "rageval.verdict"
WEAKEST: Final = "rageval.weakest"
WEAKEST_SCORE: Final = "rageval.weakest_score"
JUDGE: Final = "rageval.judge"
EVALUATOR_VERSION: Final = "rageval.evaluator.version"
SAMPLE_RATE: Final = "rageval.sample_rate"
SELECTION: Final = "rageval.selection"
STATUS: Final = "rageval.status"
PIPELINE: Final = "rageval.pipeline"
CONTEXT_COUNT: Final = "rageval.context.count"
CONTEXT_DATED: Final = "rageval.context.dated"
CONTEXT_SOURCE: Final = "rageval.context.source"
CLAIMS_TOTAL: Final = "rageval.claims.total"
CLAIMS_UNSUPPORTED: Final = "rageval.claims.unsupported"
CLAIMS_UNSUPPORTED_INDEX: Final = "rageval.claims.unsupported_index"
CONTEXTS_UNUSED: Final = "rageval.contexts.unused"
HIGHER_IS_BETTER: Final = "rageval.higher_is_better"
OUTCOME: Final = "rageval.outcome"
ANSWER: Final = "rageval.answer"
RETRIEVAL: Final = "rageval.retrieval"
LINK: Final = "rageval.link"

LINK_EVALUATED: Final = "evaluated"

# Ours: the values of attributes that take few.
VERDICTS: Final = ("pass", "fail", "unknown")
SELECTIONS: Final = ("random", "rule")
OUTCOMES: Final = (
    "scored",
    "not_sampled",
    "queue_full",
    "incomplete",
    "request_error",
    "scoring_error",
    "timeout",
    "evicted",
    "not_rag",
)
ANSWERS: Final = ("answered", "abstained", "blank")
RETRIEVALS: Final = ("found", "empty", "not_observed")
# Judges that compute rather than ask a model. Every other judge's results are worth an event.
DETERMINISTIC_JUDGES: Final = frozenset({"none", "lexical", "lexical_fallback", "risk"})

# Ours: metrics.
METRIC_SCORE: Final = "rageval.evaluation.score"
METRIC_DURATION: Final = "rageval.evaluation.duration"
METRIC_REQUESTS: Final = "rageval.requests"
METRIC_UNDEFINED: Final = "rageval.evaluation.undefined"
METRIC_FAILURES: Final = "rageval.evaluation.failures"
METRIC_ANSWERS: Final = "rageval.answers"
METRIC_CONTEXT_AGE: Final = "rageval.context.age"
METRIC_QUEUE_SIZE: Final = "rageval.queue.size"
METRIC_JUDGE_DURATION: Final = "rageval.judge.duration"
METRIC_JUDGE_TOKENS: Final = "rageval.judge.tokens"
METRIC_JUDGE_ESCALATIONS: Final = "rageval.judge.escalations"
METRIC_FEEDBACK: Final = "rageval.feedback"
METRIC_GUARD_OUTCOME: Final = "rageval.guard.outcome"

# Bounds are upper-inclusive: `le=0` isolates exact zeros, and the bound just below 1 isolates exact ones.
SCORE_BUCKETS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.999, 1.0)
DURATION_BUCKETS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
# One hour, six; one day, three, a week, two; 30 days, 90, 180; one year, two, five.
AGE_BUCKETS: Final = (1.0, 6.0, 24.0, 72.0, 168.0, 336.0, 720.0, 2160.0, 4320.0, 8760.0, 17520.0, 43800.0)

InstrumentKind: TypeAlias = Literal["histogram", "counter", "up_down_counter"]

_PROMETHEUS_UNITS: Final = {"s": "_seconds", "h": "_hours"}


@dataclass(frozen=True, slots=True)
class Instrument:
    """
    A metric's declaration: what is created, and what dashboards and docs are generated from.

    Args:
        name: The metric.
        kind: The instrument.
        unit: UCUM unit or annotation.
        description: One line for people.
        attributes: Every attribute a point may carry.
        buckets: Advised upper bounds of a histogram; empty for the other kinds.
    """

    name: str
    kind: InstrumentKind
    unit: str
    description: str
    attributes: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def prometheus(self) -> str:
        """
        Return the name that Prometheus stores; a histogram's series add `_bucket`, `_sum` and `_count` to it.
        """
        total = "_total" if self.kind == "counter" else ""
        return self.name.replace(".", "_") + _PROMETHEUS_UNITS.get(self.unit, "") + total


INSTRUMENTS: Final = (
    Instrument(
        METRIC_SCORE,
        "histogram",
        "1",
        "Scores of evaluated requests, one observation a metric that is defined.",
        (EVALUATION_NAME, EVALUATION_SCORE_LABEL, JUDGE, SELECTION, PIPELINE),
        SCORE_BUCKETS,
    ),
    Instrument(
        METRIC_DURATION,
        "histogram",
        "s",
        "Time that scoring one request took.",
        (JUDGE, PIPELINE, ERROR_TYPE),
        DURATION_BUCKETS,
    ),
    Instrument(
        METRIC_REQUESTS,
        "counter",
        "{request}",
        "Requests seen, by what became of them.",
        (OUTCOME, PIPELINE),
    ),
    Instrument(
        METRIC_UNDEFINED,
        "counter",
        "{result}",
        "Results without a value, because what they need was not observed.",
        (EVALUATION_NAME, PIPELINE),
    ),
    Instrument(
        METRIC_FAILURES,
        "counter",
        "{result}",
        "Results that failed: the metric or its judge raised or timed out.",
        (EVALUATION_NAME, ERROR_TYPE, PIPELINE),
    ),
    Instrument(
        METRIC_ANSWERS,
        "counter",
        "{answer}",
        "Answers, by whether they answer and whether anything was retrieved.",
        (ANSWER, RETRIEVAL, PIPELINE),
    ),
    Instrument(
        METRIC_CONTEXT_AGE,
        "histogram",
        "h",
        "Age of dated contexts at the time of the request.",
        (PIPELINE,),
        AGE_BUCKETS,
    ),
    Instrument(METRIC_QUEUE_SIZE, "up_down_counter", "{request}", "Requests that wait to be scored."),
    Instrument(
        METRIC_JUDGE_DURATION,
        "histogram",
        "s",
        "Time that one call of an LLM judge took.",
        (JUDGE, PIPELINE, ERROR_TYPE),
        DURATION_BUCKETS,
    ),
    Instrument(
        METRIC_JUDGE_TOKENS, "counter", "{token}", "Tokens that LLM judges used.", (JUDGE, TOKEN_TYPE, PIPELINE)
    ),
    Instrument(
        METRIC_FEEDBACK,
        "counter",
        "{feedback}",
        "Feedback of people on answers.",
        (EVALUATION_NAME, EVALUATION_SCORE_LABEL, PIPELINE),
    ),
    Instrument(METRIC_JUDGE_ESCALATIONS, "counter", "{request}", "Requests handed on to an LLM judge.", (PIPELINE,)),
)

# Declared for parts that are not emitted from here.
RESERVED: Final = (Instrument(METRIC_GUARD_OUTCOME, "counter", "{request}", "What a guard decided on answers."),)
