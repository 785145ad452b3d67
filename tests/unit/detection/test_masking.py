from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.masking import MASK, mask_volatile

ANY_TEXT = st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C", "Cs"]))
NEARLY_VOLATILE = st.text(st.sampled_from("0123456789abcdefABCDEFTZx:-+., smhin"), max_size=60)


@pytest.mark.parametrize(
    "value",
    [
        "550e8400-e29b-41d4-a716-446655440000",
        "F50E8400-E29B-41D4-A716-446655440000",
        "2026-11-30T12:00:00Z",
        "2026-11-30 12:00",
        "2026-11-30T12:00:00.123456+02:00",
        "2026-11-30 12:00:00,123",
        "30 Nov 2026 12:00:00 GMT",
        "12:30:45",
        "12:30:45.678 +0000",
        "0x7f3a2b10",
        "1764504000",
        "1764504000123",
        "1764504000123456789",
        "1764504000.25",
        "3 ms",
        "1.5s",
        "12 seconds",
        "250µs",
        "3 hours",
        "a1b2c3d4e5f6",
        "7f3c2d1a9b8e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    ],
)
def test_volatile_values_are_masked(value: str) -> None:
    assert mask_volatile(value) == MASK
    assert mask_volatile(f"job ({value}), done") == f"job ({MASK}), done"
    assert mask_volatile(f'{{"at":"{value}"}}') == f'{{"at":"{MASK}"}}'


@pytest.mark.parametrize(
    "value",
    [
        "35 %",
        "35%",
        "1.2.3",
        "v1.2.3-rc1",
        "10.0.0.1",
        "42 results",
        "3 cats",
        "5 stars",
        "$19.99",
        "2026-11-30",
        "30 Nov 2026",
        "12:30",
        "facade",
        "deadbeef",
        "deadbeefcafe",
        "123456789012",
        "1e3",
        "2 days",
        "ISBN 0306406152",
        "status: running",
        "",
    ],
)
def test_values_that_may_be_the_answer_are_kept(value: str) -> None:
    assert mask_volatile(value) == value
    assert mask_volatile(f"job ({value}), done") == f"job ({value}), done"


def test_every_occurrence_is_masked_and_what_lies_between_is_kept() -> None:
    log = "2026-11-30T12:00:00Z GET /a 200 12ms\n2026-11-30T12:00:01Z GET /b 404 7ms"
    assert mask_volatile(log) == f"{MASK} GET /a 200 {MASK}\n{MASK} GET /b 404 {MASK}"


@given(ANY_TEXT | NEARLY_VOLATILE)
def test_any_text_can_be_masked_and_never_grows(text: str) -> None:
    assert len(mask_volatile(text)) <= len(text)


@pytest.mark.parametrize("unit", ["1", "a", "a1", "1-", "1:", "0x", "12:30:", "1.", "1 ", "2026-11-30T"])
@pytest.mark.timeout(20)
def test_masking_takes_linear_time_on_texts_that_nearly_match(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    assert len(mask_volatile(text)) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "{} (pid 4711)",
        "PID: 4711 {}",
        "attempt 3 {}",
        "retry #3 {}",
        '"latency_ms": 13 {}',
        '"request_id": "x-81" {}',
        "{} at 3:04 PM",
        "{} on 3/4/2026 15:04",
    ],
)
def test_counts_clocks_and_keys_that_say_so_are_masked(text: str) -> None:
    said = text.format("ready")
    assert mask_volatile(said) != said


@pytest.mark.parametrize("text", ["the 1990s", "room 12", '"rapid": 3', '"step": 4', "3 of 4", "at 10/12", "version 1.2.3"])
def test_what_says_something_is_kept(text: str) -> None:
    assert mask_volatile(text) == text
