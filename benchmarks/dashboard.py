"""How long each page of the dashboard takes over a large database, on the server's side.

    python benchmarks/dashboard.py [--spans 1000000] [--runs 50000] [--db FILE] [--rounds 5] [--page NAME ...]

A database is made with so many spans (or FILE is taken as it is, and made where it is not there yet). Each page is rendered as a
browser's first visit renders it: nothing that was read before is used again, the file is opened anew for each question. Every
page is opened as it is and with filters in its address; the page of a run with an ordinary run and with the longest that loops.
The clock runs from the request until the page's last element is there; the browser's own time is not in it.

The exit code is 1 when the median of a page is over a second, or a page raises.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Python puts this file's folder first, where `dashboard` would be this file.
sys.path[0] = str(ROOT)

BUDGET_SECONDS = 1.0
RELATIONS = ("spans", "call_rows", "run_rows", "run_totals", "trace_runs", "alerts", "writers", "policies")


@dataclass(slots=True)
class Case:
    """One page with one address."""

    page: str
    what: str
    address: Mapping[str, str | list[str]]
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    """Of all threads: may be more than the time that passed, and says more on a machine that does other things too."""
    reading_seconds: list[float] = field(default_factory=list)
    """Of the time that passed, what went by until questions to the database were answered."""
    questions: int = 0
    raised: str | None = None


class Questions:
    """What the pages ask the database, and how long each answer takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.counts = False
        self.asked = 0
        self.read_seconds = 0.0

    def watch(self, module: Any) -> None:
        """Time the reads of the dashboard's one module that reads."""
        read: Callable[..., Any] = module._read

        def timed(path: str, name: str, *more: Any) -> Any:
            begun = time.perf_counter()
            try:
                return read(path, name, *more)
            finally:
                took = time.perf_counter() - begun
                self.asked += 1
                self.read_seconds += took
                if self.counts:
                    self.seconds[name].append(took)

        module._read = timed


def cases(db: Path, pages: Sequence[str]) -> list[Case]:
    """Return what is to be opened: each page as it is, with a time range, and with a name."""
    from otel_processor import connect

    with connect(db) as connection:
        ((task, agent, model),) = connection.execute("select mode(task), mode(agent), mode(models[1]) from runs").fetchall()
        # A flag comes with a streak; a run in the middle of the list is as good as any.
        looping = connection.execute("select run_id from runs order by longest_flat_streak desc, run_id limit 1").fetchall()
        ordinary = connection.execute(
            "select run_id from runs where flagged_reason is null and steps between 8 and 12 order by run_id limit 1"
        ).fetchall()
    found = []
    for page in pages:
        if page == "run":
            found += [Case(page, "ordinary", {"run": run_id}) for (run_id,) in ordinary]
            found += [Case(page, "longest loop", {"run": run_id}) for (run_id,) in looping]
            continue
        found.append(Case(page, "all", {}))
        found.append(Case(page, "7 days", {"period": "7d"}))
        found.append(Case(page, "task, agent, model", {"period": "30d", "task": task, "agent": agent, "model": model}))
    return found


def measure(case: Case, app: Path, rounds: int, forget: Callable[[], None], questions: Questions) -> None:
    """Render the page several times and note how long it took."""
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(str(app), default_timeout=120)
    page.switch_page(f"views/{case.page}.py")
    for name, value in case.address.items():
        page.query_params[name] = value
    # The first time loads libraries, which a server does once.
    for number in range(rounds + 1):
        questions.counts = number > 0
        forget()
        asked, read = questions.asked, questions.read_seconds
        begun, begun_cpu = time.perf_counter(), time.process_time()
        try:
            page.run()
        except Exception as error:  # noqa: BLE001 - whatever a page does, the others are measured
            case.raised = f"{type(error).__name__}: {error}".splitlines()[0]
            return
        if number:
            case.seconds.append(time.perf_counter() - begun)
            case.cpu_seconds.append(time.process_time() - begun_cpu)
            case.reading_seconds.append(questions.read_seconds - read)
            case.questions = questions.asked - asked
    if page.exception:
        case.raised = str(page.exception[0].value).splitlines()[0]


def describe(db: Path) -> None:
    """Print what is in the database."""
    import duckdb

    from otel_processor import connect

    with connect(db) as connection:
        counts = {name: connection.execute(f"select count(*) from {name}").fetchall()[0][0] for name in RELATIONS}
        ((major, minor),) = connection.execute("select schema_major, schema_minor from meta").fetchall()
    print(", ".join(f"{count:,} {name}" for name, count in counts.items()))
    print(f"{db}: {db.stat().st_size / 1e6:,.0f} MB, schema {major}.{minor}, DuckDB {duckdb.__version__}, {os.cpu_count()} CPUs")


def report(measured: Sequence[Case], questions: Questions) -> bool:
    """Print the figures; return whether every page was in time and raised nothing."""
    print(f"\n{'page':10} {'opened with':22} {'median s':>10}{'reading s':>10}{'CPU s':>10}{'worst s':>10}{'questions':>11}")
    fine = True
    for case in measured:
        late = bool(case.seconds) and statistics.median(case.seconds) > BUDGET_SECONDS
        fine = fine and not late and case.raised is None
        times = (case.seconds, case.reading_seconds, case.cpu_seconds)
        figures = "".join(f"{statistics.median(each):10.2f}" for each in times) if case.seconds else ""
        worst = f"{max(case.seconds):10.2f}{case.questions:11}" if case.seconds else ""
        note = "  over a second" if late else ""
        note += f"  raises {case.raised[:120]}" if case.raised else ""
        print(f"{case.page:10} {case.what:22} {figures}{worst}{note}")
    print(f"\n{'query':28} {'median ms':>9} {'worst ms':>9} {'asked':>6}")
    for name, seconds in sorted(questions.seconds.items(), key=lambda told: -statistics.median(told[1])):
        print(f"{name:28} {statistics.median(seconds) * 1e3:9.0f} {max(seconds) * 1e3:9.0f} {len(seconds):6}")
    return fine


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--spans", type=int, default=1_000_000, help="spans to make, about")
    options.add_argument("--runs", type=int, help="runs to make; a twentieth of the spans when left out")
    options.add_argument("--db", type=Path, help="a database to take, or to make and keep")
    options.add_argument("--rounds", type=int, default=5, help="times that each page is rendered")
    options.add_argument("--page", action="append", help="only pages of this name; may be given several times")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="otel-processor-bench-") as folder:
        db = given.db or Path(folder) / "agents.duckdb"
        if not db.exists():
            from benchmarks.large_database.making import make

            begun = time.perf_counter()
            make(db, spans=given.spans, runs=given.runs or max(given.spans // 20, 1))
            print(f"made in {time.perf_counter() - begun:.0f} s")
        describe(db)
        os.environ["OTEL_PROCESSOR_DB"] = str(db)
        logging.disable(logging.WARNING)
        from dashboard import data, launch

        questions = Questions()
        questions.watch(data)
        views = sorted(path.stem for path in (ROOT / "dashboard" / "views").glob("*.py") if not path.stem.startswith("_"))
        measured = cases(db, [page for page in views if not given.page or page in given.page])
        for case in measured:
            measure(case, launch.APP, given.rounds, data.forget, questions)
    return 0 if report(measured, questions) else 1


if __name__ == "__main__":
    sys.exit(main())
