from __future__ import annotations

import datetime
import hashlib
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.fingerprint import changed_chars, examine, raw_hash, result_text

ANY_TEXT = st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C", "Cs"]), max_size=300)
WORDS = st.lists(st.sampled_from("the order is running in queue waiting for a worker".split()), min_size=1, max_size=8)
TIMES = st.integers(1_501_000_000, 1_988_000_000).map(lambda seconds: datetime.datetime.fromtimestamp(seconds, datetime.UTC))


def fingerprint(text: str) -> str:
    return examine(text).fingerprint


def test_of_a_text_without_volatile_values_it_is_the_plain_hash() -> None:
    assert fingerprint("3 results: tom, felix") == hashlib.sha256(b"3 results: tom, felix").hexdigest()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (
            "running since 2026-11-30T12:00:00Z, job 550e8400-e29b-41d4-a716-446655440000, 12 ms",
            "fa9dddbee45c59130ddbc2b66a959a7f2a204f3bfae30ae30e44a200378d6da8",
        ),
        ("caf\u00e9 \U0001f600 \ud800", "de344514ca16a7d2543d9a81635f8aa985ea41dc92b3d23c0e37e48d676e35cb"),
    ],
)
def test_fingerprints_never_drift(text: str, expected: str) -> None:
    assert fingerprint(text) == expected


@given(WORDS, st.uuids(), st.uuids())
def test_another_uuid_leaves_it(words: list[str], one: uuid.UUID, other: uuid.UUID) -> None:
    said = " ".join(words)
    assert fingerprint(f"{said} {one}.") == fingerprint(f"{said} {other}.")
    assert fingerprint(f"{said} {one}.") != fingerprint(f"{said}.")


@given(WORDS, TIMES, TIMES)
def test_another_time_leaves_it(words: list[str], one: datetime.datetime, other: datetime.datetime) -> None:
    said = " ".join(words)
    texts = [
        {
            f"{said} at {moment.isoformat(timespec='milliseconds')}",
            f"{said} at {moment:%Y-%m-%d %H:%M:%S}",
            f"{said} at {moment:%H:%M:%S}",
            f"{said} at {int(moment.timestamp())}",
        }
        for moment in (one, other)
    ]
    assert {fingerprint(text) for text in texts[0]} == {fingerprint(text) for text in texts[1]}


@given(WORDS, st.data())
def test_another_word_changes_it(words: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(words) - 1))
    changed = [*words[:position], "finished", *words[position + 1 :]]
    assert fingerprint(" ".join(words)) != fingerprint(" ".join(changed))


@given(ANY_TEXT | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_any_text_can_be_examined(text: str) -> None:
    evidence = examine(text)
    assert len(evidence.fingerprint) == len(evidence.raw_hash) == 64
    assert evidence.length == len(text)
    assert evidence == examine(text, raw=raw_hash(text))


LONG = " ".join(f"line {number} says {number * 7919 % 1009}" for number in range(1_000))


def test_in_a_long_text_both_ends_and_the_length_are_looked_at() -> None:
    changed = {
        "head": LONG.replace("line 3 says", "line 3 shouts"),
        "tail": LONG.replace("line 997 says", "line 997 shouts"),
        "length": f"{LONG[:10_000]}{' more' * 200}{LONG[10_000:]}",
    }
    assert all(fingerprint(text) != fingerprint(LONG) for text in changed.values())


def test_in_a_long_text_other_times_leave_it() -> None:
    log = "\n".join(f"{{time}} worker {number % 7} took job {number}" for number in range(500))
    one, other = log.replace("{time}", "2026-11-30T12:00:00Z"), log.replace("{time}", "2026-11-30T13:14:15Z")
    assert fingerprint(one) == fingerprint(other)


def test_looking_at_a_long_text_is_bounded() -> None:
    words = " ".join(f"word{number}" for number in range(200_000))
    assert len(examine(words).sketch) < 5_000


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("as it is ", "as it is "),
        ({"b": 1, "a": [1.0, None]}, '{"a":[1,null],"b":1}'),
        ([], "[]"),
        (True, "true"),
        (12, "12"),
        ({"a": "\ud800"}, '{"a":"\\ud800"}'),
    ],
)
def test_a_result_is_compared_as_text_or_canonical_json(result: Any, text: str) -> None:
    assert result_text(result) == text


def test_a_result_that_contains_itself_is_compared_somehow() -> None:
    endless: list[Any] = ["a"]
    endless.extend([endless] * 1_000)
    assert result_text(endless).startswith("['a', [...]")


def test_change_is_measured_in_characters_of_new_words() -> None:
    before, after = examine("status: running, eta 5 min"), examine("status: finished, eta 5 min")
    assert changed_chars(after.sketch, before.sketch) == len("finished")
    assert changed_chars(before.sketch, after.sketch) == len("running")
    assert changed_chars(before.sketch, before.sketch) == 0
