"""Spoilt requests by the hundred at both doors: refused or taken, never our fault. `benchmarks/fuzz.py` sends 100,000."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmarks.otlp_load.watching import resident_mib
from tests.fuzz.cases import bomb, cases
from tests.fuzz.driving import drive, drive_heads
from tests.integration.service.serving import request_of, serving
from tests.integration.stored import stored_ids

if TYPE_CHECKING:
    from pathlib import Path

BODIES, HEADS = 1_400, 100
LEFT_BEHIND_MIB = 40


def test_no_body_is_our_fault(db: Path) -> None:
    """Each is answered as the schema says, the log has no word of it, and a sound request is stored after all of it."""
    seed = int.from_bytes(os.urandom(4), "big")
    with serving(db) as service:
        outcome = drive(service.http_port, service.grpc_port, cases(seed, BODIES), senders=8)
        drive_heads(service.http_port, service.grpc_port, outcome, seed=seed, count=HEADS)
        assert outcome.wrong == [], f"seed {seed}"
        assert sum(outcome.answers.values()) > BODIES + 2 * HEADS
        request, ids = request_of(3)
        assert service.post(request.SerializeToString()).status == 200
        assert set(ids) <= set(stored_ids(db))
        assert service.terminate() == 0
        said: list[str] = []
        while not said or not said[-1].startswith("ended; "):
            said.append(service.lines.get(timeout=20))
        # gRPC may name a header that it cannot read; what strangers sent in its place is not written down.
        assert [line for line in said if "Traceback" in line or " ERROR " in line or "Debug Text" in line] == []


def test_what_was_refused_leaves_no_memory_behind(db: Path) -> None:
    """Small bodies that hold more than 64 MiB each are let go of with their answers."""
    with serving(db) as service:
        assert service.process is not None
        assert service.post(b"").status == 200
        before = resident_mib(service.process.pid)
        for encoding in ("gzip", "zstd", "deflate") * 2:
            assert service.post(bomb(encoding), Content_Encoding=encoding).status == 413
        assert resident_mib(service.process.pid) < before + LEFT_BEHIND_MIB
