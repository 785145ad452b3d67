"""How well loops are told from hard work: labelled runs go in as OTLP, verdicts come out, beside three plain detectors.

    python benchmarks/detection/run.py [FOLDER-OR-FILE...] [--wrong] [--policy FILE] [--no-content]

Each run is read as the import reads it, judged by the same ledger, and flagged when an alert says `loop_detected:…`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence

from baselines import BASELINES
from labelled_runs import MADE_UP, LabelledRun, as_request, load
from scores import Fired, Scores, f1, precision, recall

from otel_processor.ingest.otlp_json import Tally, spans_of_request
from otel_processor.policy import Policy
from otel_processor.policy_file import load_policy
from otel_processor.privacy.settings import Privacy
from otel_processor.recording.preparing import prepare
from otel_processor.runs.ledger import Ledger


def judge(
    runs: Sequence[LabelledRun], policy: Policy, privacy: Privacy
) -> tuple[dict[str, int | None], dict[str, list[str]], float]:
    """Return where each run was flagged first, by which patterns, and the median microseconds a call took to judge."""
    fired: dict[str, int | None] = {}
    reasons: dict[str, list[str]] = {}
    costs = []
    for run in runs:
        reads = prepare(spans_of_request(as_request(run), Tally()), policy, privacy=privacy).reads
        ledger = Ledger(policy)
        began = time.perf_counter()
        delta = ledger.apply(reads)
        costs.append((time.perf_counter() - began) / max(len(reads), 1) * 1e6)
        loops = [alert for alert in delta.alerts if (alert.verdict.stop_reason or "").startswith("loop_detected:")]
        fired[run.id] = min((int(alert.span_id, 16) - 1 for alert in loops), default=None)
        reasons[run.id] = [f"{alert.verdict.pattern}@{int(alert.span_id, 16) - 1}: {alert.verdict.message}" for alert in loops]
    return fired, reasons, statistics.median(costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", default=[MADE_UP], help="files of labelled runs, or folders; ours when left out")
    parser.add_argument("--wrong", action="store_true", help="name the runs that were judged wrongly")
    parser.add_argument("--policy", help="a policy file instead of the defaults")
    parser.add_argument("--no-content", action="store_true", help="judge what is left where no content is kept")
    options = parser.parse_args()
    runs = list(load(options.places))
    fired, reasons, cost = judge(
        runs, load_policy(options.policy) if options.policy else Policy(), Privacy(not options.no_content)
    )
    detectors: dict[str, Fired] = {"otel_processor": fired}
    detectors |= {name: {run.id: baseline(run) for run in runs} for name, baseline in BASELINES.items()}
    scores = {name: Scores(runs, found) for name, found in detectors.items()}
    for source in sorted({run.source for run in runs if run.loop is not None}):
        print(f"\n{source}")
        for name, score in scores.items():
            _line(name, score.by_source[source], score.at[source])
    if scores["otel_processor"].pooled():
        _pool(scores, runs)
    print("\nfalse alarms on healthy runs")
    for name, score in scores.items():
        each = ", ".join(f"{source} {c['alarm']}/{c.total()}" for source, c in sorted(score.healthy.items()))
        alarms, healthy = score.false_alarms()
        print(f"  {name:28} {alarms} of {healthy}   {each}")
    print(f"\n{cost:.0f} us a span for run assembly and detection (median over runs)")
    if options.wrong:
        for kind, run_id in scores["otel_processor"].wrong:
            print(f"{kind:6} {run_id}", *reasons[run_id], sep="\n         ")


def _pool(scores: Mapping[str, Scores], runs: Sequence[LabelledRun]) -> None:
    print("\nhuman-labelled sources together")
    for name, score in scores.items():
        _line(name, score.pooled(), [])
    for source in sorted({run.source for run in runs if scores["otel_processor"].pooled(run.source) and run.loop is not None}):
        left = scores["otel_processor"].pooled(source)
        if left != scores["otel_processor"].pooled():
            _line(f"  ours without {source}", left, [])


def _line(name: str, counts: Mapping[str, int], at: Sequence[int]) -> None:
    steps = f"   at step {statistics.median(at):.0f} (median)" if at else ""
    in_time = f"   in time {counts['in_time']}/{counts['marked']}" if counts["marked"] else ""
    print(
        f"  {name:32} tp {counts['tp']:3} fp {counts['fp']:3} fn {counts['fn']:3} tn {counts['tn']:3}"
        f"   P {precision(counts):.2f} R {recall(counts):.2f} F1 {f1(counts):.2f}{steps}{in_time}"
    )


if __name__ == "__main__":
    main()
