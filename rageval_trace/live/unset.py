"""
The mark of an argument that was not given, where None means something.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeVar

__all__ = ["UNSET", "Unset", "given"]

T = TypeVar("T")


class Unset(Enum):
    """
    Stand for an argument that was not given.
    """

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


def given(value: T | Unset, fallback: T) -> T:
    """
    Return *value*, or *fallback* when it was not given.
    """
    return fallback if isinstance(value, Unset) else value
