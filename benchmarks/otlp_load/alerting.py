"""How soon an alert can be seen, while others keep the service busy."""

from __future__ import annotations

import http.client
import json
import os
import time
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks.otlp_load.senders import Place, Sender, chains, finish
from benchmarks.otlp_load.targets import Target
from benchmarks.otlp_load.traces import MODEL, TOOL
from otel_processor.store.opening import open_read_only

_LOOK_SECONDS = 0.05
_GIVING_UP_SECONDS = 30.0
_EQUAL_CALLS = 3
"""The third equal call in a row is a loop by the default policy."""


def alert_seconds(target: Target, *, senders: int, batch: int, spans_per_second: float, probes: int) -> list[float]:
    """Let runs loop; return the seconds from sending the call that makes one a loop until its alert's row is there.

    Args:
        target: our service.
        senders: who keep it busy meanwhile.
        batch: spans in each of their requests.
        spans_per_second: of them together.
        probes: runs that loop, one after the other.
    """
    every = senders * batch / spans_per_second
    busy = [
        Sender(target.place, chain, every_seconds=every, first_after=every * number / senders)
        for number, chain in enumerate(chains(senders, batch))
    ]
    for sender in busy:
        sender.start()
    try:
        time.sleep(2 * every)
        found = []
        for _ in range(probes):
            found.append(_probe(target.place, target.db))
            # Not in step with the others.
            time.sleep(0.3 + os.urandom(1)[0] / 256)
        return found
    finally:
        finish(busy, 60)


def _probe(place: Place, db: Path) -> float:
    trace, now = os.urandom(16), time.time_ns()
    for number in range(_EQUAL_CALLS - 1):
        _post(place, _call(trace, now - (_EQUAL_CALLS - number) * 2_000_000_000))
    begun = time.monotonic()
    _post(place, _call(trace, now))
    while time.monotonic() - begun < _GIVING_UP_SECONDS:
        with open_read_only(db, timeout_seconds=_GIVING_UP_SECONDS) as connection:
            if connection.execute("select 1 from alerts where trace_id = ? and pattern = 'hard_loop'", [trace.hex()]).fetchall():
                return time.monotonic() - begun
        time.sleep(_LOOK_SECONDS)
    return float("inf")


def _call(trace: bytes, at_ns: int) -> bytes:
    """A request with a model call and the tool call that it asked for, the same as ever."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "prober"
    scope = resource.scope_spans.add()
    told = {
        f"chat {MODEL}": {"gen_ai.operation.name": "chat", "gen_ai.request.model": MODEL},
        f"execute_tool {TOOL}": {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": TOOL,
            "gen_ai.tool.call.arguments": json.dumps({"query": "the same again"}),
            "gen_ai.tool.call.result": "nothing found",
        },
    }
    for number, (name, attributes) in enumerate(told.items()):
        start = at_ns + number * 500_000_000
        span = scope.spans.add(
            trace_id=trace, span_id=os.urandom(8), name=name, start_time_unix_nano=start, end_time_unix_nano=start + 400_000_000
        )
        for key, value in attributes.items():
            span.attributes.add(key=key).value.string_value = value
    return bytes(request.SerializeToString())


def _post(place: Place, body: bytes) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=_GIVING_UP_SECONDS)
    try:
        while True:
            connection.request("POST", place.path, body, {"Content-Type": "application/x-protobuf"})
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                return
            time.sleep(0.1)
    finally:
        connection.close()
