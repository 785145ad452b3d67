"""The service as a process of its own, or in this one with bounds of the test's choice."""

from __future__ import annotations

import http.client
import os
import queue
import signal
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_processor.model import Mode
from otel_processor.policy import Policy
from otel_processor.service.doors import Address
from otel_processor.service.limits import Limits
from otel_processor.service.service import Service, ServiceSettings
from tests.integration.processes import environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from otel_processor.service.tls import TlsFiles

PROTOBUF, JSON = "application/x-protobuf", "application/json"
START = 1_700_000_000_000_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return orjson.loads(self.body)


@dataclass(slots=True)
class Serving:
    """A service that is up."""

    http_port: int
    grpc_port: int
    process: subprocess.Popen[str] | None = None
    lines: queue.Queue[str] = field(default_factory=queue.Queue)
    said: list[str] = field(default_factory=list)
    """The lines of its start."""
    since: float = field(default_factory=time.monotonic)
    tls: ssl.SSLContext | None = None
    """Of a client, where the service speaks TLS."""

    def post(self, body: bytes, kind: str = PROTOBUF, path: str = "/v1/traces", **headers: str) -> Answer:
        """Send a body; underscores in names of headers are dashes."""
        return self.ask("POST", path, body, {"Content-Type": kind} | {n.replace("_", "-"): v for n, v in headers.items()})

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Make a request of its own connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=60)
        if self.tls is not None:
            connection = http.client.HTTPSConnection("127.0.0.1", self.http_port, timeout=60, context=self.tls)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def terminate(self, number: int = signal.SIGTERM) -> int:
        """Tell the process to end, and return its exit code."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(30)

    def kill(self) -> None:
        """End the process at this moment."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)


def _read_on(said: Iterable[str], lines: queue.Queue[str]) -> None:
    for line in said:
        lines.put(line)


@contextmanager
def serving(db: Path, *options: str, env: Mapping[str, str] | None = None, http: int = 0, grpc: int = 0) -> Iterator[Serving]:
    """Run `otel-processor serve` until the block ends."""
    command = [sys.executable, "-m", "otel_processor", "serve", "--db", str(db)]
    command += ["--http", f"127.0.0.1:{http}", "--grpc", f"127.0.0.1:{grpc}", *options]
    process = subprocess.Popen(
        command, env=environment(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    assert process.stdout is not None
    found = Serving(0, 0, process)
    seen = found.said
    try:
        for line in process.stdout:
            seen.append(line)
            if line.startswith("OTLP over gRPC"):
                found.grpc_port = int(line.rpartition(":")[2])
            if line.startswith("OTLP over HTTP"):
                found.http_port = int(line.rpartition(":")[2])
            if line.startswith("stored in"):
                break
        else:
            raise AssertionError(f"the service did not start: {''.join(seen)}")
        threading.Thread(target=_read_on, args=(process.stdout, found.lines), daemon=True).start()
        yield found
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


@contextmanager
def serving_here(
    db: Path,
    *,
    patience_seconds: float = 0.2,
    token: str | None = None,
    tls: TlsFiles | None = None,
    policy: Policy | None = None,
    mode: Mode = Mode.OBSERVE,
    **limits: Any,
) -> Iterator[Serving]:
    """Run the service in this process, with these limits, until the block ends."""
    service = Service(
        ServiceSettings(
            db=db,
            http=Address("127.0.0.1", 0),
            grpc=Address("127.0.0.1", 0),
            policy=policy or Policy(),
            mode=mode,
            token=token,
            tls=tls,
            patience_seconds=patience_seconds,
            limits=Limits(**limits),
        )
    )
    service.start()
    try:
        yield Serving(service.addresses["http"].port, service.addresses["grpc"].port)
    finally:
        service.stop()


def request_of(count: int, *, trace: bytes | None = None, **more: Any) -> tuple[ExportTraceServiceRequest, list[str]]:
    """A request with spans of new ids, and those ids in hex."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "shop"
    scope = resource.scope_spans.add()
    trace = trace or os.urandom(16)
    ids = []
    for number in range(count):
        span_id = os.urandom(8)
        start = START + number * 1_000_000
        scope.spans.add(
            trace_id=trace, span_id=span_id, name="step", start_time_unix_nano=start, end_time_unix_nano=start + 1, **more
        )
        ids.append(span_id.hex())
    return request, ids
