"""Senders of load: each sends one request after the other, waits for its answer, and sends again what was refused for now."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.otlp_load.traces import Chain, Request

CHAIN_SPANS = 4_096
"""So many spans of a sender's runs are made, at the least, before they come again with other ids and words."""

FEW_SPANS = 16
_ANSWER_SECONDS = 300
_AGAIN = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Place:
    """Where to send."""

    port: int
    path: str = "/v1/traces"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Told:
    """What one sender can tell."""

    acknowledged: int = 0
    """Spans."""
    done: list[tuple[float, float, int]] = field(default_factory=list)
    """Of each acknowledged request: when (seconds, monotonic), the seconds it took with all tries, and its spans."""
    refused: int = 0
    """Answers that asked to send again."""
    failed: int = 0
    """Spans that were refused for good."""
    broken: int = 0
    """Connections that ended without an answer."""
    cpu_seconds: float = 0.0


class Sender(threading.Thread):
    """One sender, on a thread of its own, until it is told to end."""

    def __init__(
        self,
        place: Place,
        chain: Chain,
        *,
        every_seconds: float = 0.0,
        first_after: float = 0.0,
        on_acknowledged: Callable[[Request], None] = lambda _: None,
    ) -> None:
        """Set the sender up; `start` begins.

        Args:
            place: where to send.
            chain: what to send; of this sender alone.
            every_seconds: between the beginnings of two requests, 0 for as fast as answers come.
            first_after: seconds to wait before the first.
            on_acknowledged: called with each request that was acknowledged.
        """
        super().__init__(name="sender", daemon=True)
        self.place = place
        self.told = Told()
        self._chain = chain
        self._every = every_seconds
        self._first_after = first_after
        self._on_acknowledged = on_acknowledged
        self._ending = threading.Event()
        self._giving_up = threading.Event()
        self._connection: http.client.HTTPConnection | None = None

    def end(self) -> None:
        """Send nothing new; what is under way is waited for."""
        self._ending.set()

    def give_up(self) -> None:
        """End, and send nothing again either."""
        self._giving_up.set()
        self._ending.set()

    def run(self) -> None:
        """Send."""
        begun = time.thread_time()
        due = time.monotonic() + self._first_after
        self._ending.wait(self._first_after)
        while not self._ending.is_set():
            for request in self._chain.fresh(time.time_ns()):
                self._send(request)
                self.told.cpu_seconds = time.thread_time() - begun
                if self._every:
                    due = max(due + self._every, time.monotonic() - self._every)
                    self._ending.wait(max(due - time.monotonic(), 0))
                if self._ending.is_set():
                    break
        self._close()

    def once(self) -> None:
        """Send the first request on the caller's thread, and nothing more."""
        self._send(next(iter(self._chain.fresh(time.time_ns()))))
        self._close()

    def _send(self, request: Request) -> None:
        begun = time.monotonic()
        while not self._giving_up.is_set():
            status, delay = self._try(request)
            if status == 200:
                now = time.monotonic()
                self._on_acknowledged(request)
                self.told.acknowledged += request.spans
                self.told.done.append((now, now - begun, request.spans))
                return
            if status and status not in _AGAIN:
                self.told.failed += request.spans
                return
            self.told.refused += bool(status)
            self.told.broken += not status
            self._giving_up.wait(delay)

    def _try(self, request: Request) -> tuple[int, float]:
        """Send it once; return the status, 0 for no answer, and the seconds to wait before it is sent again."""
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection("127.0.0.1", self.place.port, timeout=_ANSWER_SECONDS)
            headers = {"Content-Type": "application/x-protobuf", **self.place.headers}
            self._connection.request("POST", self.place.path, request.body, headers)
            answer = self._connection.getresponse()
            answer.read()
            return answer.status, float(answer.headers.get("Retry-After") or 0.2) * random.uniform(0.8, 1.2)
        except (OSError, http.client.HTTPException):
            self._close()
            return 0, random.uniform(0.02, 0.06)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def warm_up(place: Place, senders: int) -> None:
    """Have as many small requests answered as there will be senders: what is loaded with the first ones is not measured."""
    first = [Sender(place, Chain(number, batch=FEW_SPANS, requests=1)) for number in range(senders)]
    threads = [threading.Thread(target=sender.once, daemon=True) for sender in first]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_ANSWER_SECONDS)


def chains(senders: int, batch: int) -> list[Chain]:
    """Something to send for each of so many senders, in requests of so many spans."""
    return [Chain(1_000 * batch + number, batch=batch, requests=max(CHAIN_SPANS // batch, 2)) for number in range(senders)]


def finish(senders: Sequence[Sender], seconds: float) -> bool:
    """Let senders end; return whether all did within so many seconds."""
    for sender in senders:
        sender.end()
    deadline = time.monotonic() + seconds
    for sender in senders:
        sender.join(max(deadline - time.monotonic(), 0))
    return not any(sender.is_alive() for sender in senders)
