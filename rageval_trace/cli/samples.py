"""
The seven records of `rageval demo`: one good answer, one of each thing that goes wrong, and a fresh one.

`examples/sample.jsonl` holds the same as a file; a test keeps the two equal.
"""

from __future__ import annotations

from rageval_trace.models import EvalRecord

__all__ = ["SAMPLES"]

# When the questions were asked, so that freshness is the same on every day that the demo is run.
ASKED_AT = "2026-08-21T12:00:00Z"

SAMPLES: tuple[EvalRecord, ...] = (
    EvalRecord(
        id="paris-grounded",
        question="What is the capital of France?",
        contexts=[
            {
                "text": "Paris is the capital of France and its largest city.",
                "timestamp": "2026-08-20T09:00:00Z",
                "source": "atlas/france",
            }
        ],
        answer="The capital of France is Paris.",
        ground_truth="Paris is the capital of France.",
        asked_at=ASKED_AT,
    ),
    EvalRecord(
        id="nile-hallucination",
        question="How long is the Nile?",
        contexts=[
            {
                "text": "Most atlases put the length of the Nile at about 6,650 kilometres.",
                "timestamp": "2026-08-19T07:30:00Z",
                "source": "atlas/nile",
            }
        ],
        answer="The Nile is 12,000 kilometres long. It rises in the Pyrenees and waters the plains of Spain.",
        ground_truth="The Nile is about 6,650 kilometres long.",
        asked_at=ASKED_AT,
    ),
    EvalRecord(
        id="photosynthesis-unrelated",
        question="Which gas do plants take in for photosynthesis?",
        contexts=[
            {
                "text": "The tram depot opens at five in the morning on working days.",
                "timestamp": "2026-08-20T16:00:00Z",
                "source": "city/trams",
            },
            {
                "text": "Season tickets are sold at every larger stop.",
                "timestamp": "2026-08-18T16:00:00Z",
                "source": "city/tickets",
            },
        ],
        answer="Plants take in carbon dioxide for photosynthesis.",
        ground_truth="Carbon dioxide.",
        asked_at=ASKED_AT,
    ),
    EvalRecord(
        id="mars-recall-miss",
        question="What are the moons of Mars called, and who found them?",
        contexts=[
            {
                "text": "Mars has two small moons.",
                "timestamp": "2026-08-20T08:00:00Z",
                "source": "sky/mars",
            }
        ],
        answer="Mars has two small moons.",
        ground_truth="The moons of Mars are Phobos and Deimos, found by Asaph Hall in 1877.",
        asked_at=ASKED_AT,
    ),
    EvalRecord(
        id="library-stale",
        question="When does the town library open on Saturdays?",
        contexts=[
            {
                "text": "The town library opens at ten on Saturdays, says the annual report for 2018.",
                "timestamp": "2018-03-01",
                "source": "library/report-2018",
            }
        ],
        answer="The town library opens at ten on Saturdays.",
        ground_truth="The town library opens at nine on Saturdays.",
        asked_at=ASKED_AT,
    ),
    EvalRecord(
        id="mars-off-topic",
        question="How cold does it get on Mars at night?",
        contexts=[
            {
                "text": "Mars can fall to minus 73 degrees at night. The dust makes the planet look red.",
                "timestamp": "2026-08-20T20:00:00Z",
                "source": "sky/mars-weather",
            }
        ],
        answer="The dust makes the planet look red.",
        ground_truth="Mars can fall to minus 73 degrees at night.",
        asked_at=ASKED_AT,
    ),
    EvalRecord(
        id="library-fresh",
        question="Has the new town library opened?",
        contexts=[
            {
                "text": "The new town library opened its doors on 17 August 2026.",
                "timestamp": "2026-08-21T06:00:00Z",
                "source": "library/news",
            }
        ],
        answer="Yes, the new town library opened on 17 August 2026.",
        ground_truth="The new town library opened on 17 August 2026.",
        asked_at=ASKED_AT,
    ),
)
