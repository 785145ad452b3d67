"""Calls whose message does not come: they hold up nobody, and strangers hold nothing at all."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]

from tests.integration.service.serving import Serving, request_of, serving_here
from tests.integration.service.test_answers import TRACES, call
from tests.integration.stored import stored_ids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def begun(service: Serving, count: int, *messages: bytes, **options: Any) -> Iterator[list[Any]]:
    """Calls that send these messages, and then nothing for as long as the block takes."""
    over = threading.Event()

    def send() -> Iterator[bytes]:
        yield from messages
        over.wait(60)

    with grpc.insecure_channel(f"127.0.0.1:{service.grpc_port}") as channel:
        export = channel.stream_unary(TRACES)
        try:
            yield [export.future(send(), timeout=60, **options) for _ in range(count)]
        finally:
            over.set()


def test_calls_that_do_not_go_on_are_ended(db: Path) -> None:
    """All seats are theirs; the next sender waits for one at the most as long as they may take, and is stored."""
    with serving_here(db, calls_being_read=2, body_seconds=1.0) as service, begun(service, 2) as slow:
        request, ids = request_of(3)
        assert call(service, request.SerializeToString()) == b""
        assert {one.code() for one in slow} == {grpc.StatusCode.DEADLINE_EXCEEDED}
        assert service.ask("GET", "/healthz").json["counts"]["traces_refused_408"] == 2
        assert stored_ids(db) == sorted(ids)


def test_a_stranger_is_refused_unread(db: Path) -> None:
    """Without the token nothing of the message is waited for."""
    with serving_here(db, token="t0p-secret", calls_being_read=1) as service, begun(service, 3) as strangers:
        assert {one.code() for one in strangers} == {grpc.StatusCode.UNAUTHENTICATED}
        assert call(service, b"", metadata=(("authorization", "Bearer t0p-secret"),)) == b""


def test_a_message_is_answered_before_its_stream_ends(db: Path) -> None:
    """A call has one; whatever a sender would send behind it is not waited for."""
    request, ids = request_of(2)
    with serving_here(db) as service, begun(service, 1, request.SerializeToString()) as (one,):
        assert one.result() == b""
        assert stored_ids(db) == sorted(ids)
