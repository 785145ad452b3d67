"""How long an agent waits for a verdict over HTTP: alone, and while others send spans.

    python benchmarks/guard_api.py [--asks 2000] [--senders 8]

Starts `otel-processor serve` on loopback, asks and tells over one connection, and prints percentiles. The load is requests of
512 tool spans, as fast as the service acknowledges them. Bounded by the number of questions.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SPANS = 512
WORDS = "report order status invoice refund latency release weight license model cluster quota region index shard".split()
_numbers = itertools.count()


def result() -> str:
    """A result that brings news."""
    return " ".join(f"{random.choice(WORDS)}{random.randrange(100_000)}" for _ in range(60))


class Client:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.took: dict[str, list[float]] = {}

    def post(self, path: str, body: bytes, kind: str) -> bytes:
        self._connection.request("POST", path, body, {"Content-Type": kind})
        answer = self._connection.getresponse()
        said = answer.read()
        assert answer.status in {200, 429}, (answer.status, said)
        return said

    def guard(self, name: str, **said: Any) -> Any:
        body = json.dumps(said).encode()
        began = time.perf_counter()
        answer = self.post(f"/v1/guard/{name}", body, "application/json")
        self.took.setdefault(name, []).append((time.perf_counter() - began) * 1e3)
        return json.loads(answer)


TRACE = b"a trace's number"


def request() -> bytes:
    """A request whose trace id can be exchanged for another."""
    made = ExportTraceServiceRequest()
    scope = made.resource_spans.add().scope_spans.add()
    now = time.time_ns()
    for number in range(SPANS):
        span = scope.spans.add(trace_id=TRACE, span_id=os.urandom(8), name="execute_tool search")
        span.start_time_unix_nano = span.end_time_unix_nano = now + number
        for key, text in {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.arguments": json.dumps({"q": f"invoice {number}", "page": number}),
            "gen_ai.tool.call.result": result(),
        }.items():
            span.attributes.add(key=key).value.string_value = text
    return made.SerializeToString()


def ask(port: int, asks: int) -> dict[str, list[float]]:
    client = Client(port)
    for number in range(asks):
        run = f"run-{os.getpid()}-{next(_numbers) // 20}"
        answer = client.guard("before_tool", run_id=run, tool="search", arguments={"q": f"invoice {number}", "page": number})
        client.guard("after_tool", run_id=run, call_id=answer["call_id"], result=result())
    return client.took


def show(title: str, took: dict[str, list[float]]) -> None:
    for name, times in took.items():
        parts = statistics.quantiles(times, n=100)
        shown = "   ".join(f"p{at} {parts[at - 1]:6.2f} ms" for at in (50, 90, 99))
        print(f"{title:14} {name:12} {shown}   most {max(times):6.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--asks", type=int, default=2_000)
    parser.add_argument("--senders", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "otel_processor", "serve", "--db", str(Path(folder) / "b.duckdb")]
        command += ["--grpc", "off", "--http", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
            assert service.stdout is not None
            found = re.search(r":(\d+)$", service.stdout.readline().strip())
            assert found is not None
            port = int(found[1])
            try:
                ask(port, 200)
                show("alone", ask(port, given.asks))
                enough, sent, body = threading.Event(), [0], request()

                def load() -> None:
                    client = Client(port)
                    while not enough.is_set():
                        client.post("/v1/traces", body.replace(TRACE, os.urandom(16)), "application/x-protobuf")
                        sent[0] += SPANS

                senders = [threading.Thread(target=load) for _ in range(given.senders)]
                for sender in senders:
                    sender.start()
                began = time.perf_counter()
                # The questions come from a process of their own, so that they do not wait for the senders.
                asker = [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(Path(__file__).parent)]!r}\n"]
                asker[-1] += f"import guard_api; guard_api.show('beside spans', guard_api.ask({port}, {given.asks}))"
                subprocess.run(asker, check=True)
                seconds = time.perf_counter() - began
                enough.set()
                for sender in senders:
                    sender.join()
                print(f"beside spans: {sent[0] / seconds:,.0f} acknowledged spans/s from {given.senders} senders")
            finally:
                service.terminate()
                service.wait(30)


if __name__ == "__main__":
    main()
