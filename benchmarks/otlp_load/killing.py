"""The service killed at random moments while senders go on: what it acknowledged, and what its database says afterwards.

Senders send again what was not acknowledged, as SDKs and Collectors do; so in the end all that was ever begun is there, once.
"""

from __future__ import annotations

import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.otlp_load.senders import Place, Sender, chains, finish
from benchmarks.otlp_load.traces import Request
from otel_processor.recording.recorder import Recorder
from otel_processor.store import spool
from otel_processor.store.opening import open_read_only
from otel_processor.store.totals import counted
from tests.integration.processes import environment

_STARTING_SECONDS = 60.0
_FINISHING_SECONDS = 120.0
_LONGEST_UP_SECONDS = 1.0

_DIFFERENT_TOTALS = """
    with kept as (select {names} from run_totals), made as (select {names} from ({counted}))
    select count(*) from ((from kept except all from made) union all (from made except all from kept))
"""

_SOUND = {
    "calls that are there twice": "select count(*) - count(distinct (trace_id, span_id)) from calls",
    "spans of calls without a call": (
        "select count(*) from spans s anti join calls c on s.trace_id = c.trace_id and s.span_id = c.span_id "
        "where s.parent_span_id is not null"
    ),
    "traces without a run": "select count(distinct trace_id) from spans anti join trace_runs using (trace_id)",
    "runs that are there twice": "select count(*) - count(distinct run_id) from runs",
    "calls of no run": "select count(*) from calls c anti join runs r using (run_id)",
    "alerts that are there twice": "select count(*) - count(distinct alert_id) from alerts",
    "runs that ended and do not say so": (
        "select count(*) from runs where status = 'running' "
        "and run_id in (select run_id from spans join trace_runs using (trace_id) where parent_span_id is null)"
    ),
}


@dataclass(slots=True)
class Survived:
    """What became of it all."""

    kills: int = 0
    acknowledged: int = 0
    stored: int = 0
    lost: int = 0
    """Spans that were acknowledged and are not there."""
    doubled: int = 0
    unknown: int = 0
    """Spans that are there and that nobody got an acknowledgement for."""
    spooled: int = 0
    """Files that are left in the spool."""
    runs: int = 0
    alerts: int = 0
    unsound: dict[str, int] = field(default_factory=dict)
    """What does not hold in the tables, with how many rows: empty when all does."""
    start_seconds: list[float] = field(default_factory=list)
    """From the start of each process until its doors were open, the database looked at."""
    open_seconds: list[float] = field(default_factory=list)
    """For opening the database as a kill left it, read-only, and counting its spans."""
    tries_again: int = 0
    """Requests that were sent again."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost, doubled or inconsistent."""
        return not (self.lost or self.doubled or self.unknown or self.spooled or self.unsound) and self.acknowledged > 0


class _Process:
    """One start of the service."""

    def __init__(self, db: Path, port: int) -> None:
        command = [sys.executable, "-m", "otel_processor", "serve", "--db", str(db)]
        command += ["--http", f"127.0.0.1:{port}", "--grpc", "off"]
        self._begun = time.monotonic()
        self._process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said: list[str] = []
        self._ready: queue.SimpleQueue[float | None] = queue.SimpleQueue()
        assert self._process.stdout is not None
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def wait_until_ready(self) -> float:
        """Return how long its start took."""
        try:
            ready = self._ready.get(timeout=_STARTING_SECONDS)
        except queue.Empty:
            ready = None
        if ready is None:
            self.kill()
            raise AssertionError(f"the service did not start: {''.join(self.said)}")
        return ready - self._begun

    def kill(self) -> None:
        """End it at this moment, as `kill -9` does."""
        self._process.kill()
        self._process.wait(30)

    def terminate(self) -> int:
        """Tell it to end; return its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(60)

    def _read(self, output: Iterable[str]) -> None:
        for line in output:
            self.said.append(line)
            if line.startswith("stored in"):
                self._ready.put(time.monotonic())
        self._ready.put(None)


def kill_under_load(
    db: Path,
    *,
    kills: int,
    senders: int = 8,
    batch: int = 128,
    seed: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Survived:
    """Start the service, kill it, start it again, and so on, while senders send; then look at what is stored.

    Args:
        db: where the database will be.
        kills: how often.
        senders: how many send at once.
        batch: spans in a request.
        seed: of the moments; None: others each time.
        tell: is told a line now and then.

    Raises:
        AssertionError: the service does not start, or acknowledges nothing.
    """
    rng = random.Random(seed)
    found = Survived()
    ledger: list[bytes] = []

    def note(request: Request) -> None:
        ledger.append(request.span_ids)

    port = _free_port()
    sending = [Sender(Place(port), chain, on_acknowledged=note) for chain in chains(senders, batch)]
    process = _Process(db, port)
    try:
        found.start_seconds.append(process.wait_until_ready())
        for sender in sending:
            sender.start()
        while found.kills < kills:
            _live(process, rng, found, lambda: len(ledger))
            process.kill()
            found.kills += 1
            if found.kills % 2:
                # Every other time the service is the first to open what was left.
                found.open_seconds.append(_open(db))
            process = _Process(db, port)
            if found.kills % 10 == 0:
                tell(f"{found.kills} kills, {sum(map(len, ledger)) // 8:,} spans acknowledged")
        found.start_seconds.append(process.wait_until_ready())
        if not finish(sending, _FINISHING_SECONDS):
            raise AssertionError("some senders wait for an answer without end")
        code = process.terminate()
        if code:
            raise AssertionError(f"the service ended with code {code}: {''.join(process.said)}")
    finally:
        for sender in sending:
            sender.give_up()
        process.kill()
    found.tries_again = sum(sender.told.broken + sender.told.refused for sender in sending)
    _compare(db, ledger, found)
    return found


def _live(process: _Process, rng: random.Random, found: Survived, answers: Callable[[], int]) -> None:
    """Let it be up for a while: not until it is, a moment after, or until it has answered and longer."""
    chance = rng.random()
    if chance < 0.1:
        time.sleep(rng.uniform(0, 1.5))
        return
    if found.kills:
        found.start_seconds.append(process.wait_until_ready())
    if chance < 0.25:
        time.sleep(rng.uniform(0, 0.3))
        return
    before, deadline = answers(), time.monotonic() + _STARTING_SECONDS
    while answers() == before:
        if time.monotonic() > deadline:
            raise AssertionError(f"nothing is acknowledged: {''.join(process.said)}")
        time.sleep(0.01)
    time.sleep(rng.uniform(0, _LONGEST_UP_SECONDS))


def _open(db: Path) -> float:
    begun = time.monotonic()
    with open_read_only(db, timeout_seconds=1) as connection:
        connection.execute("select count(*) from spans").fetchall()
    return time.monotonic() - begun


def _compare(db: Path, ledger: list[bytes], found: Survived) -> None:
    recorder = Recorder(db)
    recorder.fold_spool(timeout_seconds=30)
    recorder.close()
    found.spooled = len(spool.pending(db))
    acknowledged = np.frombuffer(b"".join(ledger), ">u8").astype(np.uint64)
    with open_read_only(db, timeout_seconds=30) as connection:
        ids = connection.execute("select ('0x' || span_id)::ubigint as id from spans").fetchnumpy()["id"]
        ((found.runs,),) = connection.execute("select count(*) from runs").fetchall()
        ((found.alerts,),) = connection.execute("select count(*) from alerts").fetchall()
        for what, question in _SOUND.items():
            ((number,),) = connection.execute(question).fetchall()
            if number:
                found.unsound[what] = number
        columns = connection.execute("select column_name from (describe run_totals)").fetchall()
        # Costs are sums of fractions, whose last digits depend on their order; all else must be equal.
        names = ", ".join(name for (name,) in columns if not name.endswith("cost_usd"))
        different = _DIFFERENT_TOTALS.format(names=names, counted=counted("select * from calls"))
        ((number,),) = connection.execute(different).fetchall()
        if number:
            found.unsound["runs whose totals are not what their calls say"] = number
    stored = np.asarray(ids, np.uint64)
    found.acknowledged, found.stored = len(acknowledged), len(stored)
    found.lost = len(np.setdiff1d(acknowledged, stored))
    found.unknown = len(np.setdiff1d(stored, acknowledged))
    found.doubled = len(stored) - len(np.unique(stored))


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
