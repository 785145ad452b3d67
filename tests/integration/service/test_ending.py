"""How the service ends: told to, it answers what it accepted; killed, it has what it acknowledged."""

from __future__ import annotations

import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from benchmarks.otlp_load.killing import kill_under_load
from otel_processor.store.database import Database
from tests.integration.processes import held
from tests.integration.service.serving import request_of, serving, serving_here
from tests.integration.stored import eventually, stored_ids

if TYPE_CHECKING:
    from pathlib import Path

KILLS = 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_was_accepted_is_answered_before_the_end(db: Path, number: int) -> None:
    """A request that waits for the file when the service is told to end is stored, answered with success, and the code is 0."""
    with Database(db).write(timeout_seconds=5):
        pass
    request, ids = request_of(5)
    env = {"OTEL_PROCESSOR_BUSY_TIMEOUT": "20"}
    with serving(db, env=env) as service, ThreadPoolExecutor(2) as pool:
        with held(db):
            answer = pool.submit(service.post, request.SerializeToString())
            eventually(lambda: service.ask("GET", "/healthz").json["counts"].get("spans"), seconds=20, what="the spans read")
            ended = pool.submit(service.terminate, number)
            eventually(lambda: _is_shut(service.http_port), seconds=20, what="the door closed")
            assert not answer.done()
        assert answer.result(30).status == 200
        assert ended.result(30) == 0
        assert stored_ids(db) == sorted(ids)
        assert service.lines.get(timeout=20).startswith("ended; spans 5")


def test_what_cannot_be_answered_in_time_is_to_be_sent_again(db: Path) -> None:
    """Its time is over while it waits for the file: 503 and not 500, which a sender takes for the end of it."""
    with Database(db).write(timeout_seconds=5):
        pass
    request, _ = request_of(5)
    with ThreadPoolExecutor(1) as pool, held(db):
        with serving_here(db, patience_seconds=20, drain_seconds=1) as service:
            answer = pool.submit(service.post, request.SerializeToString())
            eventually(lambda: service.ask("GET", "/healthz").json["counts"].get("spans"), seconds=20, what="the spans read")
        refused = answer.result(30)
    assert (refused.status, int(refused.headers["retry-after"]) > 0) == (503, True)


def _is_shut(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return False
    except OSError:
        return True


def test_killed_at_any_moment_it_has_all_that_it_acknowledged(db: Path) -> None:
    """Under load: nothing acknowledged is lost or there twice, and the tables agree. `benchmarks/crash.py` kills 100 times."""
    found = kill_under_load(db, kills=KILLS, senders=4, batch=64)
    assert found.is_whole, found
    assert found.kills == KILLS
    assert found.acknowledged > 4 * 64
    assert found.runs
