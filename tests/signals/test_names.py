"""
Names that no context mentions.
"""

from __future__ import annotations

import pytest

from rageval_trace.signals.evidence import Evidence
from rageval_trace.signals.names import Background, missing_names
from rageval_trace.stopwords import ENGLISH
from rageval_trace.text import tokenize


def missing(claim: str, context: str, question: str = "") -> list[str]:
    """Return the missing names as written."""
    tokens = tokenize(claim)
    evidence = Evidence([tokenize(context)], tokens)
    found, _ = missing_names(
        claim, tokens, evidence.held, tokenize(question), Background([context], frozenset(tokenize(context))), ENGLISH
    )
    return [name.written for name in found]


@pytest.mark.parametrize(
    ("claim", "context", "expected"),
    [
        ("The river flows through Spain.", "The river flows through Egypt.", ["Spain"]),
        ("The river flows through Egypt.", "The river flows through Egypt.", []),
        ("The Spanish river is long.", "A river in Spain; spanish words.", []),
        ("Spain has the river.", "A river.", []),
        ("He said: Spain has it. Then \u201cItaly does\u201d.", "It has it.", []),
        ("The man and I and I'm sure he left.", "x", []),
        ("The O'Hara house and O'Hara again.", "a house", ["O'Hara"]),
        ("It began in the US.", "It began in America.", []),
        ("It began in the United States.", "It began in the USA.", []),
        ("The British won.", "The UK won.", []),
        ("The rules of the WHO apply.", "The World Health Organization made rules.", []),
        ("The rules of the ILO apply.", "The International Labour Organization made rules.", []),
        ("The rules of the ILO apply.", "International cats. Labour and Owls.", ["ILO"]),
        ("The rules of the ILO and IOL apply.", "In the International House of Labour: Owls.", ["ILO", "IOL"]),
        ("The rules of the WTO apply.", "The World Health Organization made rules.", ["WTO"]),
        ("The International Trade Union met.", "The ITU met.", []),
        ("A talk by the National Ice Office (NIO) today.", "A talk by the National Ice Office today.", []),
        ("Talks of the UN in Oslo, DC.", "The U.N. met in Oslo, D.C. today.", []),
        ("Talks of the U.N. in Oslo, D.C.", "The UN met in Oslo, DC today.", []),
        ("Talks of the U.N. in Oslo.", "The EU met in Oslo.", ["U.N."]),
        ("It began in the U.S. again.", "It began in America.", []),
        ("The Green Island (GRIN) rebels left.", "GRIN rebels left.", []),
        ("The Blue Island (GRIN) rebels left.", "GRIN rebels left.", ["Blue"]),
        ("The Green Island (GRIN) rebels left.", "The rebels left.", ["Green", "Island"]),
        ("The Green Island is home of some (GRIN) rebels.", "GRIN rebels left.", ["Green", "Island"]),
        ("All the Green Tax Credits (GTCs) end.", "GTCs are paid.", []),
        ("It offers free Wi-Fi to guests.", "It offers wifi.", []),
        ("It offers free WiFi to guests.", "It offers Wi-Fi.", []),
        ("It offers free Wi-Fi to guests.", "It offers water.", ["Wi", "Fi"]),
        ("It has flat TVs in all rooms.", "A TV is in each room.", []),
        ("It is in Davis, California.", "It is in Davis, CA.", []),
        ("It is in Davis, CA now.", "It is in Davis, California.", []),
        ("It is in Salem, Oregon.", "It is in Salem or elsewhere.", ["Oregon"]),
        ("They went to New Mexico.", "They went to Taos, NM.", []),
        ("Bake at 350\u00b0F (175\u00b0C) now.", "Bake at 350.", []),
        ("The Great Big Blue House Of Fun", "nothing", []),
        ("Sie wohnt in der Stadt und das Haus ist ein Palast.", "Sie wohnt dort.", []),
        (
            "\u041e\u043d \u0436\u0438\u0432\u0451\u0442 \u0432 \u041c\u043e\u0441\u043a\u0432\u0435.",
            "\u041e\u043d \u0442\u0430\u043c.",
            ["\u041c\u043e\u0441\u043a\u0432\u0435"],
        ),
        ("iPhone and eBay and McLeod stay.", "x", ["McLeod"]),
    ],
)
def test_missing_names(claim: str, context: str, expected: list[str]) -> None:
    """A capital inside a sentence is a name unless the contexts know it, under another form too."""
    assert expected == missing(claim, context)


def test_a_name_of_the_question_needs_no_context() -> None:
    """What the user asked about is not held against the answer."""
    assert [] == missing("The river flows through Spain.", "a river", "Is it in Spain?")


def test_the_tokens_of_a_name_known_in_another_form_are_told() -> None:
    """A name in another form is not missing, and neither are its words."""
    tokens = tokenize("It is in the U.N. area of Davis with Wi-Fi.")
    background = Background(["The UN is in Davis and has wifi."], frozenset(["the", "un", "is", "davis", "wifi"]))
    found = missing_names("It is in the U.N. area of Davis with Wi-Fi.", tokens, frozenset(["davis"]), (), background)
    assert ([], frozenset(["u", "n", "wi", "fi"])) == found
