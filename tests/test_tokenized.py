"""
The token cache: the same tokens, bounded, safe for threads.
"""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest

from rageval_trace.overlap import count_found, count_pairs_found
from rageval_trace.text import tokenize
from rageval_trace.tokenized import TokenCache, TokenizedText


def test_a_text_is_tokenised_once() -> None:
    """A text with the same characters gives the object kept from before."""
    cache = TokenCache()
    first = cache.get("The Nile is long.")
    assert first is cache.get("The Nile " + "is long.")
    assert tokenize("The Nile is long.") == first.tokens
    assert frozenset({"the", "nile", "is", "long"}) == first.words


def test_the_oldest_go_when_it_is_full() -> None:
    """The characters kept stay within the bound, and the first in is the first out."""
    cache = TokenCache(max_chars=100)
    texts = [f"{number:010d}" for number in range(30)]
    kept = [cache.get(text) for text in texts]
    assert len(cache) == 10
    assert kept[-1] is cache.get(texts[-1])
    assert kept[0] is not cache.get(texts[0])


@pytest.mark.parametrize("max_chars", [0, 15])
def test_a_large_text_is_not_kept(max_chars: int) -> None:
    """A text that would push out many others is tokenised and forgotten."""
    cache = TokenCache(max_chars)
    assert ["some", "text"] == cache.get("some text").tokens
    assert len(cache) == 0


@pytest.mark.parametrize("seen_before", [False, True])
def test_pairs_are_the_same_at_first_and_second_sight(seen_before: bool) -> None:
    """Both ways to find shared pairs agree with the plain definition."""
    text = TokenizedText("a b c a b")
    text.seen_before = seen_before
    answer = "a b b c a".split()
    pairs = list(pairwise(answer))
    assert count_pairs_found(answer, [text.tokens]) == count_found(pairs, set(text.shared_pairs(set(pairs))))


def test_threads_get_right_tokens_while_it_evicts() -> None:
    """Eight threads on a cache far too small never see a wrong token nor an error."""
    cache = TokenCache(max_chars=200)
    wrong: list[object] = []

    def work(seed: int) -> None:
        for number in range(2000):
            text = f"{seed} {number % 50}"
            try:
                if cache.get(text).tokens != text.split():
                    wrong.append(text)
            except Exception as error:  # whatever it is, the test must see it
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == wrong
    assert len(cache) <= 60


def test_what_follows_from_a_text_is_made_once_from_its_second_sight_on() -> None:
    """What a module derives from a text is kept only for texts that come back."""
    made: list[str] = []

    def shout(text: str) -> str:
        made.append(text)
        return text.upper()

    cache = TokenCache()
    for _ in range(4):
        assert cache.get("a nile").derive(shout, "a nile") == "A NILE"
    assert made == ["a nile"] * 2
