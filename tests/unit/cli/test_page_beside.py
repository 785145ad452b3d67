"""How long the dashboard waits before it is started again."""

from __future__ import annotations

from otel_processor.cli.page_beside import next_pause


def test_it_waits_longer_each_time_until_it_lives() -> None:
    """A page that cannot start does not keep the machine busy; one that ran for long is back at once."""
    pauses = [0.0]
    for _ in range(9):
        pauses.append(next_pause(pauses[-1], 2.0))
    assert pauses[1:] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert next_pause(60, 100.0) == 1
