"""
The tokenizer against its plain definition and a table of cases.
"""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace import text as text_module
from rageval_trace.text import content_tokens, tokenize, tokenize_lines


def plain_tokenize(text: str) -> list[str]:
    """Tokenise by the definition alone: normalise, drop thousands commas, find tokens, drop a final 's."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub("[\u2018\u2019\u02bc]", "'", text_module._INVISIBLE.sub("", text))
    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", text)
    return [token.removesuffix("'s") for token in text_module._token().findall(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... !? \n\t", []),
        ("6,650 and 6650", ["6650", "and", "6650"]),
        ("1,234,567.5", ["1234567.5"]),
        ("1,2,3", ["1", "2", "3"]),
        ("12,34", ["12", "34"]),
        ("at 3.5%. Then", ["at", "3.5", "then"]),
        ("v1.2.3", ["v1.2.3"]),
        ("the Nile's length", ["the", "nile", "length"]),
        ("the dogs' bowls", ["the", "dogs", "bowls"]),
        ("isn\u2019t O'Neil's 1990's", ["isn't", "o'neil", "1990"]),
        ("'quoted'", ["quoted"]),
        ("state-of-the-art file_name", ["state", "of", "the", "art", "file", "name"]),
        ("\u201cParis\u201d \u2014 capital\u2026", ["paris", "capital"]),
        ("Gr\u00fc\u00dfe na\u00efve \ufb01ne", ["gr\u00fcsse", "na\u00efve", "fine"]),
        ("\u6771\u4eac2024\u5e74", ["\u6771", "\u4eac", "2024", "\u5e74"]),
        ("\u3072\u3089\u30ab\u30ca", ["\u3072", "\u3089", "\u30ab", "\u30ca"]),
        ("\u0e44\u0e17\u0e22", ["\u0e44", "\u0e17", "\u0e22"]),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("\u041c\u0438\u0440 \u0442\u0443\u0442", ["\u043c\u0438\u0440", "\u0442\u0443\u0442"]),
        ("ok \U0001f44d \u2192 \u20ac5", ["ok", "5"]),
        ("\uff11\uff12\uff13 \uff21", ["123", "a"]),
        ("a\x01b\x02c", ["a", "b", "c"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zerowidth"]),
    ],
)
def test_tokens_by_hand(text: str, expected: list[str]) -> None:
    """Each rule of the tokenizer gives the tokens written down by hand."""
    assert expected == tokenize(text)


@given(st.text(alphabet="ab1 .,'\u2019s-_\u00e9\u624b\u2026\u201c\u200b5678 9\nSA", max_size=40))
def test_fast_paths_equal_the_definition(text: str) -> None:
    """The byte path and the straightened path find the very tokens of the plain definition."""
    assert plain_tokenize(text) == tokenize(text)


@given(st.text(max_size=200))
def test_any_text_equals_the_definition(text: str) -> None:
    """Any Unicode text gives the tokens of the plain definition, none of them blank."""
    found = tokenize(text)
    assert plain_tokenize(text.replace("\x01", " ").replace("\x02", " ")) == found
    assert all(token.strip() for token in found)


LINES = st.text(alphabet="ab1 .,'\u2019s-\u00e95678\nS\x01", max_size=20)


@given(st.lists(LINES, max_size=4))
def test_several_texts_equal_each_alone(texts: list[str]) -> None:
    """Texts tokenised in one go have the tokens that each has by itself, line breaks inside them or not."""
    assert [tokenize(text) for text in texts] == tokenize_lines(texts)


def test_content_tokens_keep_order_and_repeats() -> None:
    """Only stopwords go; order and repeats stay."""
    assert content_tokens(["the", "nile", "is", "long", "nile"], frozenset({"the", "is"})) == ["nile", "long", "nile"]
