"""What is under way is bounded, and what is answered makes room."""

from __future__ import annotations

import pytest

from otel_processor.service.limits import Limits
from otel_processor.service.refused import Refused
from otel_processor.service.room import Room

LIMITS = Limits(requests=2, waiting_bytes=100, waiting_spans=10)


def test_requests_beyond_the_bound_are_told_to_come_back() -> None:
    """Those that leave make room."""
    room = Room(LIMITS)
    with room.enter(), room.enter(), pytest.raises(Refused) as caught:
        room.enter()
    assert (caught.value.http, caught.value.retry_seconds) == (429, 1)
    with room.enter(), room.enter():
        pass


def test_bytes_are_counted_over_all_requests() -> None:
    """What does not fit is refused, and holds nothing."""
    room = Room(LIMITS)
    with room.enter() as first, room.enter() as second:
        first.hold(more_bytes=60)
        with pytest.raises(Refused):
            second.hold(more_bytes=41)
        second.hold(more_bytes=40)
    with room.enter() as place:
        place.hold(more_bytes=100)


def test_a_request_alone_is_taken_whatever_its_spans() -> None:
    """Or it would be refused for ever; beside others it waits."""
    room = Room(LIMITS)
    with room.enter() as large:
        large.hold(more_spans=50)
        with room.enter() as small, pytest.raises(Refused):
            small.hold(more_spans=1)
    with room.enter() as small, room.enter() as large:
        small.hold(more_spans=1)
        with pytest.raises(Refused):
            large.hold(more_spans=50)
