"""
A judge of your own is a class with two methods: this one wants the claim's very words, side by side.
"""

from collections.abc import Sequence

from rageval_trace import Context, EvalRecord, Verdict, evaluate


class VerbatimJudge:
    name = "verbatim"

    def judge_claims(self, claims: Sequence[str], contexts: Sequence[Context]) -> list[Verdict]:
        wanted = [claim.strip(" .").lower() for claim in claims]
        found = [[at for at, chunk in enumerate(contexts) if words in chunk.text.lower()] for words in wanted]
        return [Verdict(supported=bool(ranks), supporting=tuple(ranks)) for ranks in found]

    def judge_relevance(self, question: str, answer: str) -> float | None:
        return None  # leaves it to the share of the question's keywords found in the answer


record = EvalRecord(
    "How high is the lighthouse?",
    ["The lighthouse is 41 metres high. It was lit in 1887."],
    "The lighthouse is 41 metres high. It was rebuilt in 1950.",
)
result = evaluate([record], judge=VerbatimJudge()).results[0].results["groundedness"]
print(f"{result.name} {result.score} by {result.judge}: {result.reason}")
