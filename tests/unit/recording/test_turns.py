"""Who takes many turns leaves one to others after each."""

from __future__ import annotations

import pytest

from otel_processor.recording.turns import leaving_turns
from otel_processor.store.opening import LONGEST_PAUSE_SECONDS


@pytest.mark.parametrize(
    ("seconds", "pause"), [(0.0, 0.0), (0.5, 0.1), (1.0, LONGEST_PAUSE_SECONDS), (60.0, LONGEST_PAUSE_SECONDS)]
)
def test_a_pause_is_a_fifth_of_the_work_and_has_a_bound(seconds: float, pause: float) -> None:
    times, paused = iter([7.0, 7.0 + seconds]), list[float]()
    with leaving_turns(clock=lambda: next(times), sleep=paused.append):
        assert not paused
    assert paused == [pytest.approx(pause)]


def test_there_is_none_where_the_work_failed() -> None:
    paused = list[float]()
    with pytest.raises(ValueError, match="broken"), leaving_turns(clock=lambda: 0.0, sleep=paused.append):
        raise ValueError("broken")
    assert not paused
