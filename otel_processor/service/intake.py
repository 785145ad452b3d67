"""From the body of a request to spans, also those that log records stand for, that are stored, whichever door it came through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from otel_processor.errors import TelemetryFormatError
from otel_processor.ingest.origin import Tally
from otel_processor.service.refused import Refused
from otel_processor.service.unpacking import unpacked

if TYPE_CHECKING:
    from otel_processor.model import SpanRecord
    from otel_processor.service.counts import Counts
    from otel_processor.service.group_writer import GroupWriter
    from otel_processor.service.limits import Limits
    from otel_processor.service.room import Place

Reader = Callable[[bytes, Tally], "Iterator[SpanRecord]"]

_DECODERS = 2
"""Threads that decode: more would only wait for each other."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a request that was taken: all its spans are stored, but for these."""

    rejected: int = 0
    message: str = ""


NOTHING_TAKEN = Taken()


class Intake:
    """Decodes requests on threads of its own and waits until their spans are stored."""

    def __init__(self, writer: GroupWriter, limits: Limits, counts: Counts) -> None:
        self._writer = writer
        self._limits = limits
        self._counts = counts
        self._pool = ThreadPoolExecutor(_DECODERS, thread_name_prefix="otel-processor-decode")

    async def take(self, body: bytes, encoding: str, read: Reader, place: Place) -> Taken:
        """Store the spans of a request; returns once they are.

        Args:
            body: as received; the place holds room for it.
            encoding: its `Content-Encoding`.
            read: of the format that it is in.
            place: of this request.

        Raises:
            Refused: it was not stored, or not all of it.
        """
        loop = asyncio.get_running_loop()
        stored, tally = await loop.run_in_executor(self._pool, self._submit, body, encoding, read, place)
        refused = await asyncio.wrap_future(stored) if stored is not None else 0
        malformed = tally.malformed_spans + tally.malformed_logs
        self._counts.leave_out("malformed", malformed)
        self._counts.leave_out("row", refused)
        if not malformed + refused:
            return NOTHING_TAKEN
        reasons = [
            f"{tally.malformed_spans} without a trace id, a span id or a start time" if tally.malformed_spans else "",
            f"{tally.malformed_logs} that are no log records, or have no time" if tally.malformed_logs else "",
            f"{refused} that the database does not take" if refused else "",
        ]
        return Taken(malformed + refused, "left out: " + ", ".join(filter(None, reasons)))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self, body: bytes, encoding: str, read: Reader, place: Place) -> tuple[Future[int] | None, Tally]:
        content = unpacked(body, encoding, most_bytes=self._limits.unpacked_bytes)
        if content is not body:
            place.hold(more_bytes=len(content))
        with self._writer.turn(len(content)):
            return self._decode(content, read, place)

    def _decode(self, content: bytes, read: Reader, place: Place) -> tuple[Future[int] | None, Tally]:
        tally = Tally()
        most = self._limits.request_spans
        try:
            spans = list(islice(read(content, tally), most + 1))
        except TelemetryFormatError as error:
            raise Refused.malformed(str(error)) from None
        if len(spans) > most:
            raise Refused.too_large(f"the request has more than {most:,} spans or log records of agents")
        self._counts.add("spans", tally.spans)
        self._counts.add("log_records", tally.logs)
        self._counts.add("log_records_left_alone", tally.other_logs)
        if not spans:
            return None, tally
        place.hold(more_spans=len(spans))
        return self._writer.submit(self._writer.prepared(spans)), tally
