"""Spoilt requests at both doors of the service, in both encodings: refused or taken, never a fault of ours.

    python benchmarks/fuzz.py [--bodies 100000] [--senders 24] [--seed N]

Bodies are mutated as protobuf on the wire, as JSON values and text, as compressed streams, and by plain bytes; heads and frames
are spoilt as well. All goes to a service of this run on this machine. What an answer may be is said by the package that has the
schema and by Python's own parser. The exit code is 1 when anything is answered otherwise, the service logs a fault of its own or
ends, a sound request is not stored afterwards, or memory goes on growing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from benchmarks.otlp_load.watching import Watch  # noqa: E402 - found from the root
from tests.fuzz.cases import cases  # noqa: E402
from tests.fuzz.driving import drive, drive_heads  # noqa: E402
from tests.integration.service.serving import request_of, serving  # noqa: E402
from tests.integration.stored import stored_ids  # noqa: E402

_MOST_GROWTH_MIB = 40.0
"""In the last third of all bodies; what is remembered of runs has its bound before that."""
_HEADS = 500


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bodies", type=int, default=100_000, help="how many")
    options.add_argument("--senders", type=int, default=24, help="how many send at once")
    options.add_argument("--seed", type=int, help="of all that is random; another each time when left out")
    given = options.parse_args()
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(f"{given.bodies:,} bodies; --seed {seed}; load average {os.getloadavg()[0]:.1f}", flush=True)
    begun = time.monotonic()
    marks: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory(prefix="otel-processor-fuzz-") as folder:
        db = Path(folder) / "agents.duckdb"
        with serving(db) as service:
            assert service.process is not None
            with Watch(service.process.pid) as watch:

                def tell(sent: int) -> None:
                    marks.append((sent, watch.memory[-1][1]))
                    print(f"{time.monotonic() - begun:5.0f} s: {sent:,} bodies, {marks[-1][1]:,.0f} MiB", flush=True)

                outcome = drive(service.http_port, service.grpc_port, cases(seed, given.bodies), senders=given.senders, tell=tell)
                drive_heads(service.http_port, service.grpc_port, outcome, seed=seed, count=_HEADS)
            request, ids = request_of(3)
            is_stored = service.post(request.SerializeToString()).status == 200 and set(ids) <= set(stored_ids(db))
            is_up = service.process.poll() is None
            code = service.terminate() if is_up else service.process.returncode
            log = [service.lines.get() for _ in range(service.lines.qsize())]
    for what, number in sorted(outcome.answers.items()):
        print(f"{number:8,}  {what}")
    late = [mib for sent, mib in marks if sent >= given.bodies * 2 // 3]
    growth = late[-1] - late[0] if late else 0.0
    faults = [line for line in log if "Traceback" in line or " ERROR " in line]
    print(f"{sum(outcome.answers.values()):,} answers in {time.monotonic() - begun:.0f} s; wrong {outcome.wrong_count}")
    print(f"memory: {watch.most_mib:,.0f} MiB at the most, {growth:+,.0f} MiB in the last third; faults logged {len(faults)}")
    print(f"up until it was told to end: {is_up}, code {code}; a sound request stored afterwards: {is_stored}")
    for what, answer, body in outcome.wrong[:20]:
        print(f"WRONG: {what}: {answer}: {body[:300]!r}")
    for line in log[-40:]:
        print(f"LOG: {line.rstrip()}")
    return 0 if is_up and is_stored and not (code or outcome.wrong_count or faults or growth > _MOST_GROWTH_MIB) else 1


if __name__ == "__main__":
    sys.exit(main())
