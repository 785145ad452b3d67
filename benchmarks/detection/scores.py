"""Hits, misses and false alarms, per source and together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from labelled_runs import LabelledRun

HUMAN = frozenset("sola_repairagent sola_autocoderover sola_openhands trail_gaia trail_swe masft_hyperagent masft_ag2".split())
"""Sources whose labels people gave."""

LATE_STEPS = 2
"""Steps after the marked one by which a verdict still comes in time."""

Fired = Mapping[str, int | None]
"""Run id → index of the step at which the detector first said that it is stuck."""


class Scores:
    """One detector's figures."""

    def __init__(self, runs: Iterable[LabelledRun], fired: Fired) -> None:
        self.by_source: dict[str, Counter[str]] = defaultdict(Counter)
        self.healthy: dict[str, Counter[str]] = defaultdict(Counter)
        self.at: dict[str, list[int]] = defaultdict(list)
        self.wrong: list[tuple[str, str]] = []
        for run in runs:
            self._take_in(run, fired[run.id])

    def _take_in(self, run: LabelledRun, at: int | None) -> None:
        if run.loop is None:
            if run.succeeded:
                self.healthy[run.source]["alarm" if at is not None else "quiet"] += 1
                if at is not None:
                    self.wrong.append(("alarm", run.id))
            return
        outcome = {(True, True): "tp", (False, True): "fp", (True, False): "fn", (False, False): "tn"}[run.loop, at is not None]
        counts = self.by_source[run.source]
        counts[outcome] += 1
        if outcome in {"fp", "fn"}:
            self.wrong.append((outcome, run.id))
        if outcome == "tp" and at is not None:
            self.at[run.source].append(at)
            if run.where:
                counts["marked"] += 1
                counts["in_time"] += at <= run.where[0] + LATE_STEPS

    def pooled(self, without: str | None = None) -> Counter[str]:
        """Return the counts over the sources that people labelled, one of them left out."""
        return sum((counts for source, counts in self.by_source.items() if source in HUMAN and source != without), Counter())

    def false_alarms(self) -> tuple[int, int]:
        """Return how many healthy runs raised an alarm, and how many there are."""
        alarms = sum(counts["alarm"] for counts in self.healthy.values())
        return alarms, alarms + sum(counts["quiet"] for counts in self.healthy.values())


def precision(counts: Mapping[str, int]) -> float:
    return _ratio(counts["tp"], counts["tp"] + counts["fp"])


def recall(counts: Mapping[str, int]) -> float:
    return _ratio(counts["tp"], counts["tp"] + counts["fn"])


def f1(counts: Mapping[str, int]) -> float:
    return _ratio(2 * counts["tp"], 2 * counts["tp"] + counts["fp"] + counts["fn"])


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
