"""How fast the service takes agents' spans over OTLP, what that costs, and how soon an alert can be seen.

    python benchmarks/ingest.py [--peers] [--seconds 20] [--senders 8] [--batch 512] [--minutes 10] [--json FILE]

`otel-processor serve` runs as a process of its own, on a fresh database, once with the batches of SDKs and once with
those of Collectors (`--large-batch`). Senders run in this process; each has traces of its own and sends the next request
when the last one is answered. Acknowledged: answered with success. Queryable: counted by SQL, from another process. Alerts:
at half of the rate that was measured. With `--minutes`, only this: the load for so long, to see whether memory and speed stay
as they are. With `--peers`, MLflow and Phoenix are installed in venvs of their own (`--peers-dir`) and take the same load.
CPU is what to compare where others use the machine: `cores` says how much of it the service got.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)

from benchmarks.otlp_load.alerting import alert_seconds  # noqa: E402 - found from the root
from benchmarks.otlp_load.measuring import Measured, measure  # noqa: E402
from benchmarks.otlp_load.peers import CACHE, PEERS, PeerError, install, running  # noqa: E402
from benchmarks.otlp_load.targets import ours  # noqa: E402

_COLUMNS = (
    ("acknowledged/s", "acknowledged_rate", ",.0f"),
    ("queryable/s", "queryable_rate", ",.0f"),
    ("p50 ms", "p50_ms", ",.0f"),
    ("p99 ms", "p99_ms", ",.0f"),
    ("CPU s/1000", "cpu_per_1000", ".3f"),
    ("cores", "cores", ".2f"),
    ("sender CPU", "sender_cpu_per_1000", ".4f"),
    ("most MiB", "most_mib", ",.0f"),
    ("MiB/min", "mib_per_minute", "+,.1f"),
    ("refused", "refused", ",d"),
    ("not there", "lost", ",d"),
)


def _head() -> None:
    print(f"{'':28}" + "".join(f"{name:>14}" for name, _, _ in _COLUMNS))


def _line(measured: Measured) -> None:
    name = f"{measured.target} {measured.version}, {measured.batch:,}"
    print(f"{name:28}" + "".join(f"{format(getattr(measured, field), form):>14}" for _, field, form in _COLUMNS), flush=True)


def _course(measured: Measured, lines: int = 20) -> None:
    """How it went over time."""
    looks = measured.at_times
    every = max(len(looks) // lines, 1)
    before: dict[str, float] = {"seconds": 0.0, "acknowledged": 0}
    print(f"    {'seconds':>8}{'acknowledged':>14}{'queryable':>12}{'spans/s':>9}{'MiB':>8}")
    for look in looks[every - 1 :: every]:
        rate = (look["acknowledged"] - before["acknowledged"]) / max(look["seconds"] - before["seconds"], 0.1)
        print(f"    {look['seconds']:8.0f}{look['acknowledged']:14,.0f}{look['queryable']:12,.0f}{rate:9,.0f}{look['mib']:8,.0f}")
        before = look


def _ours(given: argparse.Namespace, folder: Path) -> tuple[list[Measured], list[float]]:
    found: list[Measured] = []
    for batch in dict.fromkeys((given.batch, given.large_batch)):
        with ours(folder / f"agents-{batch}.duckdb") as target:
            found.append(measure(target, senders=given.senders, batch=batch, seconds=given.seconds))
            _line(found[-1])
    alerts = []
    if given.alerts:
        half = found[0].acknowledged_rate / 2
        with ours(folder / "alerts.duckdb") as target:
            alerts = alert_seconds(target, senders=given.senders, batch=given.batch, spans_per_second=half, probes=given.alerts)
        ordered = sorted(alerts)
        print(
            f"\nan alert, at {half:,.0f} spans/s of others, {len(alerts)} runs that loop: seen "
            f"{statistics.median(alerts):.2f} s after its span "
            f"was sent (median), {ordered[-(-len(ordered) * 9 // 10) - 1]:.2f} s (nine of ten), {ordered[-1]:.2f} s (all)"
        )
    return found, alerts


def _peers(given: argparse.Namespace, folder: Path, first: Measured) -> list[Measured]:
    found = []
    for peer in PEERS:
        place = folder / peer.package
        place.mkdir()
        try:
            programs = install(peer, given.peers_dir)
            with running(peer, programs, place) as target:
                found.append(measure(target, senders=given.senders, batch=given.batch, seconds=given.seconds))
                _line(found[-1])
        except PeerError as error:
            print(f"{peer.name} is left out: {error}")
    for measured in found:
        times = first.queryable_rate / measured.queryable_rate if measured.queryable_rate else float("inf")
        print(
            f"{measured.target} {measured.version}: stored and queryable {measured.queryable_rate:,.0f} spans/s "
            f"(acknowledged {measured.acknowledged:,}, found {measured.stored:,}); ours are {times:,.1f} times as many"
        )
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=20.0, help="how long each measurement sends")
    options.add_argument("--senders", type=int, default=8, help="clients that send at once")
    options.add_argument("--batch", type=int, default=512, help="spans in a request, as SDKs send them")
    options.add_argument("--large-batch", type=int, default=8_192, help="spans in a request, as Collectors send them")
    options.add_argument("--alerts", type=int, default=20, help="runs that loop, to see how soon their alerts are there; 0: none")
    options.add_argument(
        "--minutes", type=float, help="only this: the load for so many minutes, and what became of memory and speed"
    )
    options.add_argument("--peers", action="store_true", help="measure MLflow and Phoenix as well")
    options.add_argument("--peers-dir", type=Path, default=CACHE, help="where they are installed, once")
    options.add_argument("--json", type=Path, help="a file for all figures")
    given = options.parse_args()
    load_before = os.getloadavg()[0]
    where = f"{os.cpu_count()} CPUs, Python {platform.python_version()}, load average before {load_before:.1f}"
    print(f"{where}; {given.senders} senders")
    _head()
    measured: list[Measured] = []
    alerts: Sequence[float] = ()
    with tempfile.TemporaryDirectory(prefix="otel-processor-bench-") as name:
        folder = Path(name)
        if given.minutes:
            with ours(folder / "agents.duckdb") as target:
                measured = [
                    measure(target, senders=given.senders, batch=given.batch, seconds=60 * given.minutes, look_every=10.0)
                ]
                _line(measured[0])
                _course(measured[0])
        else:
            measured, alerts = _ours(given, folder)
            if given.peers:
                measured += _peers(given, folder, measured[0])
    print(f"load average after {os.getloadavg()[0]:.1f}, of which this run is a part")
    if given.json:
        figures: dict[str, Any] = {
            "cpus": os.cpu_count(), "python": platform.python_version(), "load_before": load_before,
            "measured": [asdict(one) for one in measured], "alert_seconds": list(alerts),
        }  # fmt: skip
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 1 if any(one.lost or one.failed for one in measured if one.target == "otel-processor") else 0


if __name__ == "__main__":
    sys.exit(main())
