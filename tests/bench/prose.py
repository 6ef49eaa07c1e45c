"""
Made-up help pages of five passages each: what every bench here retrieves, answers and scores.
"""

from __future__ import annotations

import random
from typing import Any

# The metrics that the bars are set for: the built-in ones but `hallucination_risk`, whose price is stated apart.
SIXTEEN = """
    faithfulness context_precision context_recall answer_relevance freshness hit_rate precision recall mrr ndcg
    groundedness hallucination_rate citation_accuracy citation_coverage context_utilisation answer_correctness
""".split()
NAMES = ["Norway", "Sweden", "Denmark", "Bergen", "Oslo", "Aarhus", "Tromso"]
WORDS = (
    "the monthly fee of a plan is raised by our service desk and costs each customer more unless they cancel".split()
)


def sentences(chars: int, chance: random.Random) -> str:
    """
    Return about so many characters of sentences with names, dates and amounts.
    """
    made = ""
    while len(made) < chars:
        words = [chance.choice(WORDS) if chance.random() < 0.7 else f"w{chance.randrange(3000)}" for _ in range(11)]
        day, amount = chance.randrange(1, 29), chance.randrange(5, 900)
        made += f"{chance.choice(NAMES)} {' '.join(words)} on {day} May 2021, for ${amount}.50. "
    return made


def pages(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """
    Return records as the files hold them: a question, five passages of about 775 characters, an answer that takes
    three sentences from them and changes one, and the labels.
    """
    chance = random.Random(seed)  # noqa: S311 - a fixed choice
    return [_page(number, chance) for number in range(count)]


def _page(number: int, chance: random.Random) -> dict[str, Any]:
    contexts = [{"id": f"{number}-{rank}", "text": sentences(760, chance)} for rank in range(5)]
    said = [context["text"].split(". ")[1] for context in contexts[:3]]
    answer = f"{said[0]}. {said[1]}. {said[2].replace('May', 'June')} at the latest. "
    return {
        "id": str(number),
        "question": f"What is the monthly fee of the plan in {chance.choice(NAMES)}?",
        "retrieved_contexts": contexts,
        "answer": answer,
        "ground_truth": f"{said[0]}. {said[1]}.",
        "relevant_ids": [f"{number}-0", f"{number}-7"],
        "citations": [f"{number}-0"],
    }
