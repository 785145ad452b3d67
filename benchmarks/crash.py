"""`kill -9` of the service at random moments under load: what was acknowledged must be there, once, and nothing else.

    python benchmarks/crash.py [--kills 100] [--senders 8] [--batch 128] [--seed N] [--db FILE]

Senders keep a ledger of what was acknowledged and send the rest again after each restart, as SDKs and Collectors do. Kills come
while the service starts, just after it did, and while it writes; every other time the database is opened read-only first. In the
end the ledger is compared with the database, and the tables with each other. The exit code is 1 when anything is lost, doubled or
unsound.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from benchmarks.otlp_load.killing import kill_under_load  # noqa: E402 - found from the root


def _spread(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds) * 1e3:,.0f} ms (median), {max(seconds) * 1e3:,.0f} ms (the longest of {len(seconds)})"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=100, help="how often")
    options.add_argument("--senders", type=int, default=8, help="clients that send at once")
    options.add_argument("--batch", type=int, default=128, help="spans in a request")
    options.add_argument("--seed", type=int, help="of the moments; others each time when left out")
    options.add_argument("--db", type=Path, help="where the database is made, and kept; a folder that is removed when left out")
    given = options.parse_args()
    seed = given.seed if given.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(
        f"{given.kills} kills under load of {given.senders} senders; --seed {seed}; load average {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="otel-processor-crash-") as folder:
        db = given.db or Path(folder) / "agents.duckdb"

        def tell(line: str) -> None:
            print(f"{time.monotonic() - begun:5.0f} s: {line}", flush=True)

        found = kill_under_load(db, kills=given.kills, senders=given.senders, batch=given.batch, seed=seed, tell=tell)
        size = db.stat().st_size / (1 << 20)
    print(
        f"{found.kills} kills in {time.monotonic() - begun:.0f} s; "
        f"spans acknowledged {found.acknowledged:,}, stored {found.stored:,}; "
        f"lost {found.lost}, doubled {found.doubled}, unknown {found.unknown}; in the spool {found.spooled}\n"
        f"{found.runs:,} runs, {found.alerts:,} alerts, {size:,.0f} MiB; requests sent again {found.tries_again:,}"
    )
    print(f"the database as a kill left it, opened read-only and counted: {_spread(found.open_seconds)}")
    print(f"the service, from its start to open doors: {_spread(found.start_seconds)}")
    for what, number in found.unsound.items():
        print(f"UNSOUND: {what}: {number:,}")
    print("whole" if found.is_whole else "NOT WHOLE")
    return 0 if found.is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
