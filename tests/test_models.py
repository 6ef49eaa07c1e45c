"""
The data model: coercion, timestamps, synonyms, and that its objects are frozen values.
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rageval_trace import Context, EvalConfig, EvalRecord, Example, MetricResult, Verdict
from rageval_trace.models import parse_timestamp

UTC = timezone.utc
NOON = datetime(2026, 8, 21, 12, tzinfo=UTC)
RECORD = EvalRecord(
    "q",
    ["one", Context("b", "two", 0.5, "2026-08-21", "file", {"page": 1})],
    "a",
    "t",
    {"b": 2},
    ["b"],
    "id",
    NOON,
    {"m": 1},
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-08-21T12:00:00Z", NOON),
        ("2026-08-21T12:00:00z", NOON),
        ("2026-08-21T12:00:00+00:00", NOON),
        ("2026-08-21T14:00:00+02:00", NOON),
        ("2026-08-21T12:00:00", NOON),
        ("2026-08-21 12:00", NOON),
        (" 2026-08-21T12:00:00Z ", NOON),
        ("2026-08-21T12:00:00.000Z", NOON),
        ("2026-08-21T12:00:00.5Z", NOON + timedelta(milliseconds=500)),
        ("2026-08-21T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        ("2026-08-21", datetime(2026, 8, 21, tzinfo=UTC)),
        ("20260821", datetime(2026, 8, 21, tzinfo=UTC)),
        (1787313600, NOON),
        (1787313600.25, NOON + timedelta(milliseconds=250)),
        (1787313600000, NOON),
        ("1787313600", NOON),
        ("1787313600000", NOON),
        ("1787313600.25", NOON + timedelta(milliseconds=250)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-86400, datetime(1969, 12, 31, tzinfo=UTC)),
        (NOON, NOON),
        (datetime(2026, 8, 21, 12), NOON),  # noqa: DTZ001  # naive means UTC
        (datetime(2026, 8, 21, 14, tzinfo=timezone(timedelta(hours=2))), NOON),
        (date(2026, 8, 21), datetime(2026, 8, 21, tzinfo=UTC)),
    ],
)
def test_timestamps_are_read_as_utc(given: object, expected: datetime) -> None:
    """ISO text, unix seconds or milliseconds, `datetime` and `date` become aware UTC times; naive means UTC."""
    found = parse_timestamp(given)
    assert expected == found
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    "unreadable",
    [
        "",
        "yesterday",
        "2026-13-01",
        "21.08.2026",
        "12345",
        "nan",
        float("nan"),
        float("inf"),
        1e300,
        10**400,
        True,
        None,
        [],
        {},
        b"2026-08-21",
        "0001-01-01T00:00:00+05:00",
        datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
        "x" * 500,
    ],
    ids=lambda value: f"{value!r}"[:30],
)
def test_an_unreadable_timestamp_is_a_value_error(unreadable: object) -> None:
    """Anything else is a ValueError of one line, never another error."""
    with pytest.raises(ValueError, match="unreadable timestamp") as caught:
        parse_timestamp(unreadable)
    assert len(str(caught.value)) < 250


def test_numbers_of_other_libraries_are_read() -> None:
    """A numpy integer, as data frames hand out, is a unix time."""
    numpy = pytest.importorskip("numpy")
    assert parse_timestamp(numpy.int64(1787313600)) == NOON
    assert parse_timestamp(numpy.float32(0)) == datetime(1970, 1, 1, tzinfo=UTC)


@given(st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2200, 1, 1)))  # noqa: DTZ001  # naive on purpose
def test_iso_text_reads_back(moment: datetime) -> None:
    """Every time survives its ISO form, and its unix form to the microsecond's rounding."""
    aware = moment.replace(tzinfo=UTC)
    assert parse_timestamp(aware.isoformat()) == aware
    assert abs(parse_timestamp(aware.timestamp()) - aware) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ("text", Context("1", "text", generated_id=True)),
        ("", Context("1", "", generated_id=True)),
        ({"text": "t"}, Context("1", "t", generated_id=True)),
        ({"page_content": "t", "id": "x"}, Context("x", "t")),
        ({"content": "t", "id": 7}, Context("7", "t")),
        ({"text": "t", "id": 0}, Context("0", "t")),
        ({"text": "", "content": "t"}, Context("1", "", generated_id=True)),
        ({"text": None, "content": "t", "id": ""}, Context("1", "t", generated_id=True)),
        (
            {"id": "x", "text": "t", "score": 0.5, "timestamp": NOON, "source": "s", "metadata": {"p": 1}},
            Context("x", "t", 0.5, NOON, "s", {"p": 1}),
        ),
        (Context("x", "t"), Context("x", "t")),
        (Context("", "t", 0.5, NOON, "s", {"p": 1}), Context("1", "t", 0.5, NOON, "s", {"p": 1}, generated_id=True)),
    ],
)
def test_chunks_are_coerced(chunk: Any, expected: Context) -> None:
    """A string, a mapping or a Context becomes a Context; a missing id becomes the rank, marked as made up."""
    record = EvalRecord("q", contexts=[chunk])
    assert record.contexts == (expected,)


@pytest.mark.parametrize(("key", "expected"), [(7, "7"), (0, "0"), (None, ""), ("x", "x")])
def test_context_ids_are_strings(key: Any, expected: str) -> None:
    """A number given as an id is its text, so that it can match `relevant_ids`."""
    assert Context(key, "t").id == expected


@pytest.mark.parametrize(
    ("fields", "error", "says"),
    [
        ({"contexts": "one string"}, TypeError, "sequence"),
        ({"contexts": Context("a", "b")}, TypeError, "sequence"),
        ({"contexts": {"text": "t"}}, TypeError, "sequence"),
        ({"contexts": [1]}, TypeError, "context 1 is int"),
        ({"contexts": ["x", None]}, TypeError, "context 2 is NoneType"),
        ({"contexts": [{"id": "a"}]}, TypeError, "no text"),
        ({"contexts": [{"text": 5}]}, TypeError, "to be a string"),
        ({"contexts": [{"text": "t", "timestamp": "?"}]}, ValueError, "unreadable timestamp"),
        ({"contexts": [], "retrieved_contexts": []}, TypeError, "same field"),
        ({"relevant_ids": "abc"}, TypeError, "relevant_ids is one string"),
        ({"relevant_ids": {"a": float("nan")}}, ValueError, "grade of 'a'"),
        ({"relevant_ids": {"a": float("inf")}}, ValueError, "grade of 'a'"),
        ({"citations": "abc"}, TypeError, "citations is one string"),
        ({"asked_at": "?"}, ValueError, "unreadable timestamp"),
    ],
)
def test_a_wrong_shape_is_refused(fields: dict[str, Any], error: type[Exception], says: str) -> None:
    """A field of the wrong shape is an error that says what was expected."""
    with pytest.raises(error, match=says):
        EvalRecord("q", **fields)


def test_not_observed_and_empty_differ() -> None:
    """An omitted field is None; an empty one stays empty."""
    nothing = EvalRecord("q")
    assert (None, None, None, None, None, None, None) == (
        nothing.contexts,
        nothing.answer,
        nothing.ground_truth,
        nothing.relevant_ids,
        nothing.citations,
        nothing.id,
        nothing.asked_at,
    )
    empty = EvalRecord("", [], "", "", [], [], "")
    assert ((), "", "", frozenset(), (), "") == (
        empty.contexts,
        empty.answer,
        empty.ground_truth,
        empty.relevant_ids,
        empty.citations,
        empty.id,
    )


def test_both_toolkits_names() -> None:
    """`Example` is the same class, and `retrieved_contexts` the same field."""
    assert Example is EvalRecord
    record = EvalRecord("q", retrieved_contexts=["one"])
    assert record.contexts is record.retrieved_contexts
    assert record == EvalRecord("q", contexts=["one"])


def test_relevant_ids_as_set_and_as_grades() -> None:
    """Ids become a frozenset of strings, grades a mapping of floats."""
    assert EvalRecord("q", relevant_ids=["a", 1]).relevant_ids == frozenset({"a", "1"})
    assert EvalRecord("q", relevant_ids={1: 2}).relevant_ids == {"1": 2.0}


@pytest.mark.parametrize(
    "value",
    [RECORD, Context("a", "b"), MetricResult("m", 0.5), Verdict(True), EvalConfig(k=3)],
    ids=lambda v: type(v).__name__,
)
def test_values_are_frozen_without_dict_and_copy_well(value: Any) -> None:
    """No field can be set, nothing can be added, and pickling, copying and `replace` keep the value."""
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, "other")
    assert not hasattr(value, "__dict__")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value  # noqa: S301  # our own bytes
    assert copy.deepcopy(value) == value
    assert copy.copy(value) == value
    assert dataclasses.replace(value) == value


def test_replace_changes_one_field() -> None:
    """`dataclasses.replace` works on a record, contexts and made-up ids kept."""
    changed = dataclasses.replace(RECORD, answer="other")
    assert changed.answer == "other"
    assert changed.contexts == RECORD.contexts
    assert (changed.contexts or ())[0].generated_id


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"k": 0}, "k must be"),
        ({"k": 1.5}, "k must be"),
        ({"k": True}, "k must be"),
        ({"half_life_hours": 0}, "half_life_hours"),
        ({"half_life_hours": float("inf")}, "half_life_hours"),
        ({"half_life_hours": float("nan")}, "half_life_hours"),
        ({"hit_threshold": -0.1}, "hit_threshold"),
        ({"claim_threshold": 1.1}, "claim_threshold"),
        ({"claim_threshold": float("nan")}, "claim_threshold"),
        ({"stopwords": "the"}, "stopwords"),
        ({"now": "soon"}, "unreadable timestamp"),
    ],
)
def test_a_bad_setting_is_refused(fields: dict[str, Any], says: str) -> None:
    """A setting out of range is a ValueError that names it."""
    with pytest.raises(ValueError, match=says):
        EvalConfig(**fields)


def test_settings_are_normalised() -> None:
    """*now* becomes an aware time and stopwords a frozenset."""
    config = EvalConfig(now="2026-08-21T12:00:00Z", stopwords=["a", "b"])  # type: ignore[arg-type]  # coerced
    assert (config.now, config.stopwords) == (NOON, frozenset({"a", "b"}))
