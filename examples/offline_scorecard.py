"""
Score two answers without a key, a model or a network, and print the sentence that the contexts do not support.

    pip install rageval-trace
    python offline_scorecard.py
"""

from __future__ import annotations

from rageval_trace import Context, EvalConfig, EvalRecord, evaluate

POLICY = Context("policy", "Items may be returned within 30 days. Refunds take a week.", timestamp="2026-11-02")
SHIPPING = Context("shipping", "Standard delivery takes three to five working days.", timestamp="2025-01-15")

RECORDS = [
    EvalRecord(
        id="good",
        question="How long can I return an item?",
        contexts=[POLICY, SHIPPING],
        answer="An item may be returned within 30 days.",
        ground_truth="Items may be returned within 30 days.",
        relevant_ids={"policy"},
        asked_at="2026-11-05",
    ),
    EvalRecord(
        id="invented",
        question="How fast is delivery?",
        contexts=[SHIPPING],
        answer="Standard delivery takes three to five working days. Express delivery is free for members.",
        asked_at="2026-11-05",
    ),
]


def main() -> None:
    card = evaluate(RECORDS, config=EvalConfig(half_life_hours=24 * 90))
    print(card.format_text())
    for entry in card.results:
        for claim in entry.results["groundedness"].details["unsupported"]:
            print(f"{entry.record.id}: no context says {claim['text']!r}")


if __name__ == "__main__":
    main()
