"""What it takes to read a span, per dialect, and to price a model call.

    python benchmarks/dialects.py [--otlp FILES…] [--rounds 200]

Reads spans that it makes itself, two in the shape of each of the common writers; with --otlp, those of OTLP/JSON files.
A span's time is the median over the rounds; the table has the median and the 90th percentile over the spans, and how large
a share of them each dialect is. Prices are asked for calls whose models were asked for before, as nearly all are.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.dialect_spans import make_spans
from otel_processor.dialects import read_span
from otel_processor.ingest.otlp_json import spans_of_file
from otel_processor.model import Reading, Role, SpanRecord
from otel_processor.policy import Policy
from otel_processor.pricing import Pricer

READING_BUDGET_MICROSECONDS = 15
PRICING_BUDGET_MICROSECONDS = 10

PRICED = [
    Reading(role=Role.MODEL, model=model, provider=provider, input_tokens=250_000, output_tokens=900, cache_read_tokens=70_000)
    for model, provider in (
        ("gpt-4o-2024-08-06", "openai"),
        ("claude-sonnet-4-5-20250929", "anthropic"),
        ("gemini-2.5-pro", "gcp.vertex_ai"),
        ("deepseek-chat", "deepseek"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "aws.bedrock"),
        ("a-model-of-nobody", "openai"),
    )
]


def microseconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median time of one call."""
    took = []
    for _ in range(rounds):
        begun = time.perf_counter_ns()
        work()
        took.append((time.perf_counter_ns() - begun) / 1_000)
    return statistics.median(took)


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def load(paths: Sequence[Path]) -> list[SpanRecord]:
    return [span for path in paths for batch, _ in spans_of_file(path) for span in batch]


def measure_reading(spans: Sequence[SpanRecord], rounds: int) -> None:
    took: dict[str, list[float]] = defaultdict(list)
    for span in spans:
        dialect = read_span(span).dialect or "(no call)"
        took[dialect].append(microseconds(lambda span=span: read_span(span), rounds))
    print(f"{'dialect':<18}{'spans':>7}{'share':>8}{'median µs':>12}{'p90 µs':>10}")
    for dialect, values in sorted(took.items(), key=lambda item: -len(item[1])):
        share = len(values) / len(spans)
        print(f"{dialect:<18}{len(values):>7}{share:>8.0%}{statistics.median(values):>12.1f}{percentile(values, 0.9):>10.1f}")
    every = [value for values in took.values() for value in values]
    print(f"{'all':<18}{len(every):>7}{1:>8.0%}{statistics.median(every):>12.1f}{percentile(every, 0.9):>10.1f}")
    print(f"budget: median of all at most {READING_BUDGET_MICROSECONDS} µs")


def measure_pricing(rounds: int) -> None:
    pricer = Pricer(Policy())
    begun = time.perf_counter()
    pricer.get_ready()
    print(f"\nprice list loaded in {1_000 * (time.perf_counter() - begun):.0f} ms, once per process")
    start_ns = 1_768_478_400 * 10**9
    print(f"{'model':<46}{'cost':>12}{'µs':>8}")
    for reading in PRICED:
        cost = pricer.price(reading, start_ns)
        took = microseconds(lambda reading=reading: pricer.price(reading, start_ns), rounds)
        print(f"{reading.model:<46}{'unknown' if cost is None else f'${cost.usd:.4f}':>12}{took:>8.1f}")
    print(f"budget: at most {PRICING_BUDGET_MICROSECONDS} µs a model call")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--otlp", nargs="+", type=Path, default=(), metavar="FILE", help="OTLP/JSON files to read instead")
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    measure_reading(load(chosen.otlp) or make_spans(), chosen.rounds)
    measure_pricing(chosen.rounds)


if __name__ == "__main__":
    main()
