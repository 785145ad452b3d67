"""Seats for messages that are being read."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest

from otel_processor.service.call_bodies import CallBodies
from otel_processor.service.refused import Refused


class Sending:
    """The side of a call that sends: a message, nothing at all, or never."""

    def __init__(self, message: Any = None) -> None:
        self._message = message

    async def read(self) -> Any:
        if self._message is None:
            await asyncio.Event().wait()
        return self._message


def refusal(bodies: CallBodies, sender: Sending) -> int:
    with pytest.raises(Refused) as caught:
        asyncio.run(bodies.read(sender))
    return caught.value.http


def test_what_does_not_come_is_refused() -> None:
    """Each for its own reason; who finds no seat may come back."""
    assert refusal(CallBodies(seats=1, seconds=0.01, most_bytes=1 << 20), Sending()) == 408
    assert refusal(CallBodies(seats=1, seconds=9, most_bytes=1 << 20), Sending(grpc.aio.EOF)) == 413
    assert refusal(CallBodies(seats=0, seconds=0.01, most_bytes=1 << 20), Sending(b"here")) == 429


def test_a_seat_is_given_back() -> None:
    """Whatever became of who had it."""

    async def one_after_another() -> list[bytes]:
        bodies = CallBodies(seats=1, seconds=0.05, most_bytes=1 << 20)
        found = []
        for sender in (Sending(), Sending(grpc.aio.EOF), Sending(b"a")):
            try:
                found.append(await bodies.read(sender))
            except Refused:
                found.append(await bodies.read(Sending(b"next")))
        return found

    assert asyncio.run(one_after_another()) == [b"next", b"next", b"a"]
