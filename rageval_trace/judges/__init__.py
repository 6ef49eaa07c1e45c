"""
Who decides whether a claim stands: the protocol and its implementations.
"""

from rageval_trace.judges.base import Judge, Rating, RecordJudge, judge_name
from rageval_trace.judges.lexical import LexicalJudge

__all__ = ["Judge", "LexicalJudge", "Rating", "RecordJudge", "judge_name"]
