"""`serve --dashboard`: the page is there as long as the service is, and no longer."""

from __future__ import annotations

import os
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from tests.integration.agents import agent, call_tool
from tests.integration.alert_receiver import alert_receiver
from tests.integration.service.serving import Serving, request_of, serving
from tests.integration.service.test_command import one_line, serve
from tests.integration.stored import eventually, stored_ids

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

pytest.importorskip("streamlit")

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for the page's process in /proc")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def page_of(service: Serving) -> int | None:
    """The page's process."""
    assert service.process is not None
    threads = Path(f"/proc/{service.process.pid}/task").iterdir()
    found = {int(pid) for thread in threads for pid in (thread / "children").read_text().split()}
    return found.pop() if len(found) == 1 else None


def is_running(pid: int) -> bool:
    try:
        # One that has ended and that nobody waits for is no process any more.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@needs_proc
def test_a_page_that_dies_is_started_again_and_ends_with_the_service(db: Path) -> None:
    """Requests are stored while it is away; when the service is killed nobody is left behind."""
    port = free_port()
    with serving(db, "--dashboard", f"127.0.0.1:{port}") as service:
        eventually(lambda: answers(port), seconds=60, what="the page")
        first = page_of(service)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        request, ids = request_of(2)
        assert service.post(request.SerializeToString()).status == 200
        assert stored_ids(db) == sorted(ids)
        second = eventually(
            lambda: (page := page_of(service)) not in {None, first} and answers(port) and page, seconds=60, what="the page again"
        )
        assert "code -9; it is started again in 1 s" in service.lines.get(timeout=20)
        service.kill()
        eventually(lambda: not is_running(second), seconds=20, what="the end of the page")


def test_links_in_messages_lead_to_it(db: Path, provider: TracerProvider) -> None:
    """Without a word about where the dashboard is to be found; SIGTERM ends both, with code 0."""
    port = free_port()
    with alert_receiver() as receiver:
        env = {"OTEL_PROCESSOR_ALERT_WEBHOOK": receiver.url}
        with serving(db, "--dashboard", f"127.0.0.1:{port}", env=env) as service:
            to = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{service.http_port}/v1/traces")
            provider.add_span_processor(SimpleSpanProcessor(to))
            with agent(provider.get_tracer("test"), "researcher"):
                for _ in range(4):
                    call_tool(provider.get_tracer("test"), "search", {"query": "the same"}, "nothing found")
            eventually(lambda: receiver.messages, seconds=20, what="a message about the alert")
            assert receiver.messages[0].json["run"]["url"].startswith(f"http://127.0.0.1:{port}/run?run=")
            eventually(lambda: answers(port), seconds=60, what="the page")
            assert service.terminate() == 0
        assert not answers(port)


@pytest.mark.parametrize(("at", "says"), [("127.0.0.1:0", "port of its own"), ("taken", "another one with --dashboard")])
def test_where_it_cannot_be_is_wrong_usage(db: Path, at: str, says: str) -> None:
    """Before anything is opened."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = at.replace("taken", f"127.0.0.1:{taken.getsockname()[1]}")
        ended = serve("--db", str(db), "--http", "127.0.0.1:0", "--grpc", "off", "--dashboard", place)
    assert ended.returncode == 2
    assert says in one_line(ended)
    assert not db.exists()
