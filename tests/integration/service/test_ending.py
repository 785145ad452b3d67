"""How the service ends: told to, it answers what it accepted; killed, it has what it acknowledged."""

from __future__ import annotations

import http.client
import random
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from otel_processor.recording.recorder import Recorder
from otel_processor.store import spool
from otel_processor.store.database import Database
from tests.integration.processes import held
from tests.integration.service.serving import PROTOBUF, request_of, serving
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


def _is_shut(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return False
    except OSError:
        return True


class _Sender:
    """Sends requests one after the other until it is told to end, and keeps what was acknowledged and what was not."""

    def __init__(self, port: int) -> None:
        self.acknowledged: list[str] = []
        self.sent: list[str] = []
        self._port = port
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join(30)

    def _work(self) -> None:
        while not self._ending.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
            try:
                while not self._ending.is_set():
                    request, ids = request_of(20)
                    self.sent += ids
                    connection.request("POST", "/v1/traces", request.SerializeToString(), {"Content-Type": PROTOBUF})
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status == 200:
                        self.acknowledged += ids
            except (OSError, http.client.HTTPException):
                self._ending.wait(0.02)
            finally:
                connection.close()


def test_killed_at_any_moment_it_has_all_that_it_acknowledged(db: Path) -> None:
    """Five times, under load from four senders: nothing acknowledged is lost or there twice, and the next start goes on."""
    rng = random.Random()
    senders: list[_Sender] = []
    for _ in range(KILLS):
        with serving(db) as service:
            before = sum(len(one.acknowledged) for one in senders)
            new = [_Sender(service.http_port) for _ in range(4)]
            senders += new
            while sum(len(one.acknowledged) for one in senders) - before <= 200:
                assert time.monotonic() - service.since < 60, "nothing is acknowledged"
                time.sleep(0.02)
            # The moment of the kill is what the test is about; whenever it is, what follows must hold.
            time.sleep(rng.uniform(0, 0.5))
            service.kill()
            for sender in new:
                sender.end()
    acknowledged = {one for sender in senders for one in sender.acknowledged}
    recorder = Recorder(db)
    assert recorder.fold_spool(timeout_seconds=10)
    recorder.close()
    stored = stored_ids(db)
    assert len(acknowledged) > 200 * KILLS
    assert acknowledged - set(stored) == set()
    assert len(stored) == len(set(stored))
    assert set(stored) <= {one for sender in senders for one in sender.sent}
    assert not spool.pending(db)
