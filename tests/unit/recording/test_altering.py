"""Whatever holds a secret, and wherever: the rows that are made of it do not, nor do what it is compared by and what waits."""

from __future__ import annotations

import base64
import zlib
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otel_processor.model import SpanRecord
from otel_processor.policy import Policy
from otel_processor.pricing import Pricer
from otel_processor.privacy.redactor import stand_in
from otel_processor.privacy.settings import Privacy
from otel_processor.recording.altering import BEYOND_CHARS, redacted
from otel_processor.recording.bounds import MAX_VALUE_CHARS
from otel_processor.recording.delta_rows import alert_columns, call_columns, run_columns, trace_columns
from otel_processor.recording.preparing import prepare
from otel_processor.recording.spooling import batch_of_spooled, spooled_columns
from otel_processor.runs.ledger import Ledger
from otel_processor.store.columns import dump
from tests.unit.factory import make_span, tool_span
from tests.unit.privacy.places import EXAMPLES, PLACES, has_bytes, in_base64
from tests.unit.privacy.secrets import SECRETS

MODES = {"redacted": Privacy(), "off": Privacy(keeps_content=False)}
AROUND = st.text(st.characters(codec="utf-8", exclude_categories=("L", "N")), max_size=3)


@st.composite
def spans_with_secrets(draw: st.DrawFn) -> tuple[SpanRecord, list[str]]:
    span, found = tool_span("1" * 16, "search:cats=a cat", trace="f" * 32), []
    for place in draw(st.lists(st.sampled_from(sorted(PLACES)), min_size=1, max_size=3, unique=True)):
        text, parts = EXAMPLES[draw(st.sampled_from(sorted(EXAMPLES)))]
        found += parts
        span = PLACES[place](span, f"{draw(AROUND)} {text} {draw(AROUND)}")
    return span, found


def all_that_is_stored(spans: list[SpanRecord], privacy: Privacy) -> tuple[str, Any]:
    """Everything that goes to the database or the spool, as text; and what was decided."""
    batch = prepare(spans, Policy(), None, privacy)
    assert not batch.unusable
    assert len(batch) == len(spans)
    delta = Ledger(Policy()).apply(batch.reads)
    calls = call_columns(delta.calls, Pricer(Policy()))
    decided = [calls, run_columns(delta.runs), trace_columns(delta.traces), alert_columns(delta.alerts)]
    return "\n".join(dump(columns) for columns in (*spooled_columns(batch).values(), *decided)), decided


@settings(max_examples=150)
@given(spans_with_secrets())
def test_no_secret_is_in_a_row(case: tuple[SpanRecord, list[str]]) -> None:
    span, secrets = case
    for privacy in MODES.values():
        stored, _ = all_that_is_stored([span], privacy)
        for secret in secrets:
            assert secret not in stored
            assert not any(part in stored for part in in_base64(secret))
    plain, _ = all_that_is_stored([span], Privacy(kinds=frozenset()))
    assert "[redacted:" not in plain


@settings(max_examples=100)
@given(spans_with_secrets(), st.sampled_from(sorted(MODES)))
def test_what_is_read_again_from_rows_is_what_was_decided_by(case: tuple[SpanRecord, list[str]], mode: str) -> None:
    # Bytes are stored in base64, and nothing reads them.
    assume(not has_bytes(case[0]))
    batch = prepare([case[0]], Policy(), None, MODES[mode])
    again = batch_of_spooled(orjson.loads(dump_all(spooled_columns(batch))), Policy())
    assert again.reads == batch.reads


def dump_all(columns: dict[str, Any]) -> str:
    return "{" + ",".join(f'"{name}":{dump(values)}' for name, values in columns.items()) + "}"


@settings(max_examples=60)
@given(spans_with_secrets())
def test_signatures_are_those_of_the_calls_as_they_came(case: tuple[SpanRecord, list[str]]) -> None:
    span = replace(case[0], attributes={**case[0].attributes, "gen_ai.tool.name": "search"})
    _, plain = all_that_is_stored([span], Privacy(kinds=frozenset()))
    for privacy in MODES.values():
        _, decided = all_that_is_stored([span], privacy)
        for column in ("signature", "fingerprint", "is_error", "error_class", "effect"):
            assert decided[0][column] == plain[0][column], column


@pytest.mark.parametrize("place", sorted(PLACES))
def test_what_holds_no_secret_is_stored_as_it_came(place: str) -> None:
    span = PLACES[place](tool_span("1" * 16, "search:cats=a cat", trace="f" * 32), "max_tokens: 12, nothing secret")
    one, other = (prepare([span], Policy(), None, privacy).columns for privacy in (Privacy(), Privacy(kinds=frozenset())))
    assert {**one, "received_ns": 0} == {**other, "received_ns": 0}


@pytest.mark.parametrize("before", range(MAX_VALUE_CHARS - 30, MAX_VALUE_CHARS + 5))
def test_no_part_of_a_secret_that_lies_across_the_end_is_left(before: int) -> None:
    secret = SECRETS["github_token"]
    span = make_span("a", {"note": "x" * (before - 1) + " " + secret + " y" * 9_000})
    stored, _ = all_that_is_stored([span], MODES["redacted"])
    assert secret[:10] not in stored


_MANY = "password=hunt7ab " * 3_800


@pytest.mark.parametrize(
    "wrapped", [str, str.encode, lambda text: [text], lambda text: {"inner": text}, lambda text: orjson.dumps([text]).decode()]
)
@pytest.mark.parametrize("text", [_MANY, "password=hunt7ab " + "y" * (MAX_VALUE_CHARS - 17), "curl -u a:hunt7ab x\n" * 3_000])
def test_what_becomes_longer_than_is_stored_is_stored_without_secrets(wrapped: Any, text: str) -> None:
    """What stands in the place of a short secret is longer than it."""
    assert len(text) <= MAX_VALUE_CHARS
    stored, _ = all_that_is_stored([make_span("a", {"input.value": wrapped(text)})], MODES["redacted"])
    assert "hunt7ab" not in stored
    as_result, _ = all_that_is_stored([tool_span("1", f"search:cats={text}")], MODES["redacted"])
    assert "hunt7ab" not in as_result


@pytest.mark.parametrize("length", [20, MAX_VALUE_CHARS, MAX_VALUE_CHARS + 1, MAX_VALUE_CHARS + BEYOND_CHARS + 1])
@pytest.mark.parametrize("wrapped", [str, str.encode])
def test_a_value_of_any_length_under_the_name_of_a_secret_is_taken_out(length: int, wrapped: Any) -> None:
    secret = ("Zq7" * length)[:length]
    batch = prepare([make_span("a", {"client_secret": wrapped(secret)})], Policy(), None, MODES["redacted"])
    assert "Zq7" not in batch.columns["attributes"][0]
    assert base64.b64encode(secret.encode())[:20].decode() not in batch.columns["attributes"][0]
    assert batch.columns["content"] == ["redacted"]
    told = orjson.loads(batch.columns["cut"][0])["attributes.client_secret"]
    assert told["redacted"] == {"password": 1}


def test_what_moves_up_because_secrets_became_shorter_was_looked_at() -> None:
    """Thousands of secrets, one of which lies across the end of what was looked at."""
    secret = SECRETS["pypi_token"] + "Zz9" * 300
    text = f"{secret} " * 200
    looked_at = text[: MAX_VALUE_CHARS + BEYOND_CHARS]
    assert not looked_at.endswith(" "), "the last one is seen in part"
    stored, _ = all_that_is_stored([make_span("a", {"note": text})], MODES["redacted"])
    assert "Zz9" not in stored


def test_bytes_are_looked_at_as_the_text_that_they_are() -> None:
    secret = SECRETS["github_token"]
    span = make_span("a", {"one": f"é {secret}".encode(), "other": b"\x00\xff plain", "note": "plain"})
    batch = prepare([span, replace(span, attributes={"other": b"\x00\xff plain"})], Policy(), None, MODES["redacted"])
    stored, untouched = (orjson.loads(text) for text in batch.columns["attributes"])
    assert stored == {"one": f"é {stand_in('github_token', secret)}", "other": "AP8gcGxhaW4=", "note": "plain"}
    assert untouched == {"other": "AP8gcGxhaW4="}
    assert batch.columns["content"] == ["redacted", None]
    assert orjson.loads(batch.columns["cut"][0]) == {"attributes.one": {"redacted": {"github_token": 1}}}


def test_a_secret_in_bytes_is_found_as_far_as_they_are_stored() -> None:
    secret = SECRETS["github_token"]
    blob = b"\xe6\x97\xa5" * (MAX_VALUE_CHARS - 20) + f" {secret} ".encode() + b"y" * 1_000_000
    batch = prepare([make_span("a", {"blob": blob})], Policy(), None, MODES["redacted"])
    assert secret[:10] not in batch.columns["attributes"][0]
    told = orjson.loads(batch.columns["cut"][0])["attributes.blob"]
    assert told["redacted"] == {"github_token": 1}
    assert told["length"] == len(blob.decode())


def test_a_span_without_secrets_is_the_same_object() -> None:
    assert redacted(make_span("a", {"note": "nothing"}), Privacy().redactor) is None


def test_own_patterns_reach_rows() -> None:
    own = Privacy(own=(("customer", "C-[0-9]{4}"),))
    stored, _ = all_that_is_stored([tool_span("1", "search:C-1234=C-9999")], own)
    assert "C-1234" not in stored
    assert "[redacted:customer:" in stored


def test_no_hash_of_a_single_word_gives_a_secret_or_content_away() -> None:
    """They are short: whoever has one finds the word by trying."""
    text, (secret,) = EXAMPLES["password"]
    span = tool_span("1", f"search:cats=the answer is {text}")
    hashes = {zlib.crc32(word) for word in (secret.encode(), b"answer")}
    for name, privacy, expected in (("redacted", MODES["redacted"], {zlib.crc32(b"answer")}), ("off", MODES["off"], set())):
        (read,) = prepare([span], Policy(), None, privacy).reads
        assert read.kept is not None
        assert read.kept.evidence is not None
        assert {word >> 8 for word in read.kept.evidence.sketch} & hashes == expected, name
        assert read.kept.evidence.length == len(f"the answer is {text}")
