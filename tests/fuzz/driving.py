"""Sends cases to both doors from several threads, and keeps what was answered otherwise than it may be."""

from __future__ import annotations

import http.client
import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc  # type: ignore[import-untyped]

from tests.fuzz import heads
from tests.fuzz.cases import JSON, PROTOBUF

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tests.fuzz.cases import Case

EXPORT = "/opentelemetry.proto.collector.{}.v1.{}Service/Export"
_SERVICES = {"/v1/traces": ("trace", "Trace"), "/v1/logs": ("logs", "Logs"), "/v1/metrics": ("metrics", "Metrics")}
_CODES = {
    200: frozenset({grpc.StatusCode.OK}),
    400: frozenset({grpc.StatusCode.INVALID_ARGUMENT}),
    413: frozenset({grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT}),
}
_MOST_KEPT = 50
_SECONDS = 120


@dataclass(slots=True)
class Outcome:
    """What was answered."""

    answers: Counter[str] = field(default_factory=Counter)
    """How often, by kind of case and answer."""
    wrong: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Answers that may not be: the kind of case, the answer, the body. Some of them."""
    wrong_count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, what: str, answer: str, *, fine: bool, body: bytes) -> None:
        """Keep an answer."""
        with self._lock:
            self.answers[f"{what}: {answer}"] += 1
            if not fine:
                self.wrong_count += 1
                if len(self.wrong) < _MOST_KEPT:
                    self.wrong.append((what, answer, body))


def drive(
    http_port: int, grpc_port: int, cases: Iterable[Case], *, senders: int, tell: Callable[[int], None] = lambda _: None
) -> Outcome:
    """Send all cases, each over HTTP, and those in protobuf also over gRPC.

    Args:
        http_port: on this machine.
        grpc_port: on this machine.
        cases: what to send.
        senders: how many send at once.
        tell: is told how many cases were sent, now and then.
    """
    outcome = Outcome()
    waiting = _Shared(iter(cases), tell)
    with grpc.insecure_channel(f"127.0.0.1:{grpc_port}") as channel:
        threads = [
            threading.Thread(target=_send, args=(http_port, channel, waiting, outcome), daemon=True) for _ in range(senders)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return outcome


def drive_heads(http_port: int, grpc_port: int, outcome: Outcome, *, seed: int, count: int) -> None:
    """Send bytes that are no requests: refused with 4xx, answered as what they happen to be, or the connection is closed."""
    rng = random.Random(seed)
    for sent in heads.spoilt(rng, count):
        said = heads.told(http_port, sent)
        status = said[9:12].decode(errors="replace") if said.startswith(b"HTTP/1.1 ") else ""
        outcome.note("head", status or "closed", fine=(not said or status[:1] in {"1", "2", "4"}), body=sent)
    for sent in heads.http2(rng, count):
        heads.told(grpc_port, sent)
        outcome.note("frames", "closed", fine=True, body=sent)


class _Shared:
    """One iterator for several threads."""

    def __init__(self, cases: Iterator[Case], tell: Callable[[int], None]) -> None:
        self._cases = cases
        self._tell = tell
        self._given = 0
        self._lock = threading.Lock()

    def next(self) -> Case | None:
        with self._lock:
            self._given += 1
            if self._given % 5_000 == 0:
                self._tell(self._given)
            return next(self._cases, None)


def _send(port: int, channel: grpc.Channel, waiting: _Shared, outcome: Outcome) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    calls = {path: channel.unary_unary(EXPORT.format(*names)) for path, names in _SERVICES.items()}
    while (case := waiting.next()) is not None:
        status = _over_http(connection, case)
        outcome.note(f"HTTP, {case.what}", str(status), fine=status in case.may, body=case.body)
        if case.kind == PROTOBUF and not case.headers:
            call = calls[case.path].future(case.body, timeout=_SECONDS, compression=_compression(case.body))
            code = call.code()
            fine = any(code in _CODES.get(status, ()) for status in case.may)
            outcome.note(f"gRPC, {case.what}", code.name, fine=fine, body=case.body)
    connection.close()


def _over_http(connection: http.client.HTTPConnection, case: Case) -> int:
    headers = dict(case.headers)
    if case.kind:
        headers["Content-Type"] = case.kind
    for _ in range(2):
        try:
            connection.request("POST", case.path, case.body, headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            # A connection that was answered before its body was read may be closed.
            connection.close()
            continue
        kind = (answer.headers.get("Content-Type") or "").partition(";")[0]
        asked = case.kind.partition(";")[0].strip().lower()
        if kind == (asked if asked == PROTOBUF else JSON) and (kind == PROTOBUF or content.startswith(b"{")):
            return answer.status
        return -answer.status
    return 0


def _compression(body: bytes) -> grpc.Compression:
    return (grpc.Compression.NoCompression, grpc.Compression.Gzip, grpc.Compression.Deflate)[len(body) % 3]
