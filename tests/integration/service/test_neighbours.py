"""Bad neighbours of a running service: a shell in the file, a full disk, a clock that jumps, a trace from two hosts.

Each gets a clear answer, and nothing that was acknowledged is lost. With OTEL_PROCESSOR_TEST_SOAK the shell stays for a minute.
"""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_processor.store import spool
from otel_processor.store.opening import open_read_only
from tests.integration.alert_receiver import alert_receiver
from tests.integration.processes import ROOT, held
from tests.integration.service.serving import request_of, serving
from tests.integration.service.test_answers import call
from tests.integration.stored import eventually, rows, stored_ids, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.integration.service.serving import Serving

HELD_SECONDS = 60.0 if os.environ.get("OTEL_PROCESSOR_TEST_SOAK") else 1.5
SECOND, HOUR = 1_000_000_000, 3_600_000_000_000

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "researcher"}
MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}


def tool(number: int) -> dict[str, str]:
    return {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search",
        "gen_ai.tool.call.arguments": f'{{"page": {number}}}', "gen_ai.tool.call.result": f"found {number} of many",
    }  # fmt: skip


class Trace:
    """A trace whose spans are sent in parts."""

    def __init__(self) -> None:
        self.trace_id, self.root_id = os.urandom(16), os.urandom(8)

    def request(
        self, *spans: tuple[bytes, dict[str, str]], at_ns: int, lasts_ns: int = SECOND // 2, host: str = "a"
    ) -> ExportTraceServiceRequest:
        """A request of one host with these spans: their ids and what they say, a second from one to the next."""
        request = ExportTraceServiceRequest()
        resource_spans = request.resource_spans.add()
        for key, said in {"service.name": f"shop-{host}", "host.name": host}.items():
            resource_spans.resource.attributes.add(key=key).value.string_value = said
        scope = resource_spans.scope_spans.add()
        for number, (span_id, attributes) in enumerate(spans):
            start = at_ns + number * SECOND
            span = scope.spans.add(
                trace_id=self.trace_id, span_id=span_id, parent_span_id=b"" if span_id == self.root_id else self.root_id,
                name=attributes["gen_ai.operation.name"], start_time_unix_nano=start, end_time_unix_nano=start + lasts_ns,
            )  # fmt: skip
            for key, text in attributes.items():
                span.attributes.add(key=key).value.string_value = text
        return request


@contextlib.contextmanager
def read_for_long(db: Path) -> Iterator[None]:
    """Somebody looks at the database and does not close it: no writer gets in."""
    with open_read_only(db, timeout_seconds=20):
        yield


@pytest.mark.parametrize("neighbour", [held, read_for_long], ids=["writes", "reads"])
def test_a_shell_that_stays_in_the_file_costs_nothing(db: Path, neighbour: Callable[[Path], Any]) -> None:
    """Senders are answered with success meanwhile, it is said who is in the way, and all is in the database soon after."""
    with serving(db, env={"OTEL_PROCESSOR_BUSY_TIMEOUT": "0.3"}) as service, ThreadPoolExecutor(4) as pool:
        first, ids = request_of(3)
        assert service.post(first.SerializeToString()).status == 200
        with neighbour(db):
            deadline = time.monotonic() + HELD_SECONDS
            for found in pool.map(lambda _: _send_until(service, deadline), range(4)):
                ids += found
            state = service.ask("GET", "/readyz")
            assert (state.status, "held by another process" in state.json["database"]) == (200, True)
            assert spool.pending(db)
        assert len(ids) > 3 + 4 * 5
        eventually(lambda: not spool.pending(db), seconds=30, what="the spool taken along")
        assert stored_ids(db) == sorted(ids)
        assert service.ask("GET", "/readyz").json == {"ready": True, "database": "written"}
        assert service.terminate() == 0
        held_by, ended = _said(service)
        assert f"{db.name} is held by process " in held_by
        assert ended.startswith("ended")


def _said(service: Serving) -> list[str]:
    """The lines of a service that has ended, its last one included."""
    found = [service.lines.get(timeout=20)]
    while not found[-1].startswith("ended"):
        found.append(service.lines.get(timeout=20))
    return found


def _send_until(service: Serving, deadline: float) -> list[str]:
    """Send until then; return the ids of what was acknowledged, which is all."""
    sent: list[str] = []
    while time.monotonic() < deadline:
        request, ids = request_of(5)
        assert service.post(request.SerializeToString()).status == 200
        sent += ids
    return sent


@contextlib.contextmanager
def small_files(service: Serving, _: Path) -> Iterator[Callable[[], object]]:
    """No file may grow beyond 4 KiB, as with a quota, until it is told otherwise."""
    assert service.process is not None
    pid, what = service.process.pid, resource.RLIMIT_FSIZE
    before = resource.prlimit(pid, what, (4_096, resource.RLIM_INFINITY))
    yield lambda: resource.prlimit(pid, what, before)


@contextlib.contextmanager
def no_room(_: Serving, folder: Path) -> Iterator[Callable[[], object]]:
    """Somebody else fills the disk, until that is removed."""
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4_096))
    yield filler.unlink


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 24 MiB, where one may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no disk of its own can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_disk_that_is_full_is_said_and_survived(disk: Path) -> None:
    """A real one: nothing can be written any more."""
    _fill_and_make_room(disk / "agents.duckdb", no_room)


def test_files_that_may_not_grow_are_survived(db: Path) -> None:
    """A quota: what is there stays, and what would be longer is refused by the system."""
    _fill_and_make_room(db, small_files)


def _fill_and_make_room(db: Path, filling: Any) -> None:
    """A refusal with a delay over both doors, not ready and alive; with room again it goes on by itself, and nothing is lost."""
    ledger: list[str] = []
    with serving(db) as service:
        for _ in range(3):
            request, ids = request_of(50)
            assert service.post(request.SerializeToString()).status == 200
            ledger += ids
        with filling(service, db.parent) as make_room:
            for _ in range(200):
                request, ids = request_of(50, attributes=[{"key": "text", "value": {"string_value": os.urandom(500).hex()}}])
                answer = service.post(request.SerializeToString())
                if answer.status != 200:
                    break
                # What found room after all counts.
                ledger += ids
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            with pytest.raises(grpc.RpcError) as caught:
                call(service, request.SerializeToString())
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            assert service.ask("GET", "/healthz").status == 200
            assert service.ask("GET", "/readyz").status == 503
            make_room()
            assert service.post(request.SerializeToString()).status == 200
            ledger += ids
        assert service.ask("GET", "/readyz").json == {"ready": True, "database": "written"}
        more, ids = request_of(5)
        assert service.post(more.SerializeToString()).status == 200
        ledger += ids
        assert stored_ids(db) == sorted(ledger)
        assert not spool.pending(db)
        assert service.terminate() == 0
        said = "".join(_said(service))
        assert "Traceback" not in said
        assert "can be written again" in said


_CLOCK = """
import os, time
def _set_by_the_file(real, in_a_second):
    def told():
        with open(os.environ["TEST_CLOCK"]) as file:
            return real() + int(file.read()) * in_a_second
    return told
time.time, time.time_ns = _set_by_the_file(time.time, 1), _set_by_the_file(time.time_ns, 1_000_000_000)
"""


def test_a_clock_that_jumps_back_an_hour_changes_nothing(db: Path, tmp_path: Path) -> None:
    """The service's clock and those of agents: what comes is stored once and belongs to its run, and alerts are told."""
    folder, clock = tmp_path / "clock", tmp_path / "seconds"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_CLOCK)
    clock.write_text("0")
    env = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "TEST_CLOCK": str(clock)}
    now, trace, ids = time.time_ns() - 60 * SECOND, Trace(), [os.urandom(8) for _ in range(6)]
    with alert_receiver() as receiver, serving(db, env=env | {"OTEL_PROCESSOR_ALERT_WEBHOOK": receiver.url}) as service:
        before = trace.request((ids[0], MODEL), (ids[1], tool(1)), (ids[2], MODEL), (ids[3], tool(2)), at_ns=now)
        assert service.post(before.SerializeToString()).status == 200
        clock.write_text("-3600")
        assert _seconds_ago(db) < 60
        after = trace.request((ids[4], MODEL), (ids[5], tool(3)), at_ns=now - HOUR)
        assert service.post(after.SerializeToString()).status == 200
        assert service.post(before.SerializeToString()).status == 200
        assert 3_500 < _seconds_ago(db) < 3_700
        loop = Trace()
        turns = [(os.urandom(8), MODEL if number % 2 else tool(7)) for number in range(9)]
        assert service.post(loop.request(*turns, at_ns=now - HOUR).SerializeToString()).status == 200
        eventually(lambda: receiver.kinds, seconds=30, what="a message about the loop")
        # The root began before the jump and ended after it: before it began, by the agent's clock.
        root = trace.request((trace.root_id, AGENT), at_ns=now, lasts_ns=-HOUR)
        assert service.post(root.SerializeToString()).status == 200
        clock.write_text("0")
        assert service.post(root.SerializeToString()).status == 200
        assert service.terminate() == 0
        *told, ended = _said(service)
        assert ended.startswith("ended; ")
        assert all(
            f"otel_processor.alerts: {pattern} in run {loop.trace_id.hex()}" in line
            for pattern, line in zip(PATTERNS, told, strict=True)
        )
    assert stored_ids(db) == sorted([each.hex() for each in (*ids, trace.root_id)] + [span_id.hex() for span_id, _ in turns])
    run = f"run_id = '{trace.trace_id.hex()}'"
    assert rows(db, f"select count(*), count(distinct span_id) from calls where {run}") == [(6, 6)]
    assert rows(db, f"select steps, tool_calls, stop_reason, flagged_reason from runs where {run}") == [(3, 3, "completed", None)]
    assert value(db, "select count(*) from runs") == 2


PATTERNS = ("hard_loop", "no_progress")
"""What is to be said of the run that loops."""


def _seconds_ago(db: Path) -> float:
    """How long ago the last span was received, by this process's clock."""
    found: float = value(db, "select epoch(now()) - epoch(received_at) from spans order by rowid desc limit 1")
    return found


def test_one_trace_from_two_hosts_is_one_run_whose_spans_count_once(db: Path) -> None:
    """Each host tells its part, at once, and both tell some of the same: the run has all of it, once, and all is acknowledged."""
    trace, now = Trace(), time.time_ns() - 60 * SECOND
    ids = [os.urandom(8) for _ in range(40)]
    spans = [(span_id, tool(number) if number % 2 else MODEL) for number, span_id in enumerate(ids)]
    parts: list[bytes] = []
    for at in range(0, 40, 4):
        host, other = ("a", "b") if at % 8 else ("b", "a")
        parts.append(trace.request(*spans[at : at + 4], at_ns=now + at * SECOND, host=host).SerializeToString())
        parts.append(trace.request(*spans[at + 1 : at + 3], at_ns=now + (at + 1) * SECOND, host=other).SerializeToString())
    root = trace.request((trace.root_id, AGENT), at_ns=now, lasts_ns=41 * SECOND).SerializeToString()
    with serving(db) as service, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(service.post, [*parts[5:], root, *parts[:8], root]))
        assert {(answer.status, answer.body) for answer in answers} == {(200, b"")}
        assert stored_ids(db) == sorted(each.hex() for each in (*ids, trace.root_id))
        assert rows(db, "select count(*), count(distinct span_id), max(step) from calls") == [(40, 40, 20)]
        assert rows(db, "select steps, tool_calls, stop_reason from runs") == [(20, 20, "completed")]
        # Of spans that both told, either is kept as it was received.
        told = rows(db, "select distinct service, resource->>'host.name' from spans order by all")
        assert told == [("shop-a", "a"), ("shop-b", "b")]
