"""When a message is tried again, and how many go out in a minute."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_processor.delivery.pace import MINUTE_NS, MOST_ATTEMPTS, Minute, pause_seconds


@given(st.integers(1, 10_000), st.floats(0, 1), st.none() | st.floats(0, 3_600))
def test_a_pause_grows_has_a_bound_and_is_no_shorter_than_asked(attempts: int, chance: float, asked: float | None) -> None:
    pause = pause_seconds(attempts, asked, lambda: chance)
    assert 2.5 <= pause <= max(900, asked or 0)
    assert pause >= (asked or 0)
    assert pause_seconds(attempts + 1, asked, lambda: chance) >= pause


def test_a_message_is_tried_for_about_forty_minutes() -> None:
    total = sum(pause_seconds(attempts, None, lambda: 0.5) for attempts in range(1, MOST_ATTEMPTS))
    assert 25 * 60 < total < 45 * 60


def test_those_that_failed_together_come_back_apart() -> None:
    assert pause_seconds(3, None, lambda: 0.0) * 2 == pause_seconds(3, None, lambda: 1.0)


def test_a_clock_that_went_back_stops_no_message() -> None:
    minute = Minute(1)
    minute.count(3_600_000_000_000)
    assert not minute.has_room(3_600_000_000_000 + MINUTE_NS - 1)
    assert minute.has_room(0)


@given(st.integers(1, 5), st.lists(st.integers(0, 2 * MINUTE_NS), max_size=40))
def test_no_minute_has_more_than_the_limit(limit: int, times: list[int]) -> None:
    minute, sent = Minute(limit), []
    for now in sorted(times):
        if minute.has_room(now):
            minute.count(now)
            sent.append(now)
    assert all(sum(at <= other < at + MINUTE_NS for other in sent) <= limit for at in sent)
