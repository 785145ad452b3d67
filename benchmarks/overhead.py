"""What our processor adds to each tool span, beside the SDK alone, in one run.

    python benchmarks/overhead.py [--spans 3000] [--rounds 5]

Each round measures both configurations one after the other, so that a machine whose speed drifts drifts for both:
the SDK with a BatchSpanProcessor, and the same with LoopSpanProcessor. Times are those of the agent's own thread, from
before `start_as_current_span` until after its end; what happens on the batch thread is not in them. Arguments have 200
bytes; the result is missing, or 4 KB of which every call has another.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Tracer

from otel_processor import LoopSpanProcessor

WORDS = "report order status invoice refund latency release weight license model cluster quota region index shard".split()
BUDGET_MICROSECONDS = {"no result": 30, "4 KB result": 150, "4 KB result, equal each time": 150}


class Nowhere(SpanExporter):
    """Takes spans and forgets them: the exporter is not what is measured."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002
        return SpanExportResult.SUCCESS


def provider(*, ours: bool) -> TracerProvider:
    made = TracerProvider()
    if ours:
        made.add_span_processor(LoopSpanProcessor())
    made.add_span_processor(BatchSpanProcessor(Nowhere(), max_queue_size=1 << 16, schedule_delay_millis=200))
    return made


def texts(count: int, seed: int) -> list[str]:
    """4 KB of prose with a number in every twelfth word, as search results and pages have."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        words = [rng.choice(WORDS) if rng.random() > 1 / 12 else str(rng.randrange(10_000)) for _ in range(640)]
        made.append(" ".join(words)[:4_096])
    return made


def spans_per_call(tracer: Tracer, spans: int, result_of: Callable[[int], str | None]) -> list[float]:
    """Return microseconds for each tool span of one run."""
    took = []
    with tracer.start_as_current_span("invoke_agent bench") as root:
        root.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bench"})
        for number in range(spans):
            arguments = json.dumps({"query": f"{number:08d} " + "x" * 165, "limit": 10})
            result = result_of(number)
            begun = time.perf_counter_ns()
            with tracer.start_as_current_span("execute_tool web_search") as span:
                span.set_attribute("gen_ai.operation.name", "execute_tool")
                span.set_attribute("gen_ai.tool.name", "web_search")
                span.set_attribute("gen_ai.tool.call.id", f"call_{number}")
                span.set_attribute("gen_ai.tool.call.arguments", arguments)
                if result is not None:
                    span.set_attribute("gen_ai.tool.call.result", result)
            took.append((time.perf_counter_ns() - begun) / 1_000)
    return took


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--spans", type=int, default=3_000, help="tool spans in each run")
    options.add_argument("--rounds", type=int, default=5, help="pairs of runs; the medians of all are compared")
    given = options.parse_args()
    results = texts(given.spans, 7)
    cases: dict[str, Callable[[int], str | None]] = {
        "no result": lambda _: None,
        "4 KB result": lambda number: results[number],
        "4 KB result, equal each time": lambda _: results[0],
    }
    print(f"{given.spans} tool spans a run, {given.rounds} pairs of runs; microseconds per span on the agent's thread")
    print(
        f"{'':30} {'SDK alone':>10} {'with ours':>10} {'added':>8} {'ratio':>7} {'budget':>7}   first and last tenth of the run"
    )
    for name, result_of in cases.items():
        alone: list[float] = []
        with_ours: list[float] = []
        first: list[float] = []
        last: list[float] = []
        for _ in range(given.rounds):
            for ours, into in ((False, alone), (True, with_ours)):
                made = provider(ours=ours)
                took = spans_per_call(made.get_tracer("bench"), given.spans, result_of)
                made.shutdown()
                into.extend(took)
                if ours:
                    tenth = len(took) // 10
                    first.extend(took[:tenth])
                    last.extend(took[-tenth:])
        a, b = statistics.median(alone), statistics.median(with_ours)
        grown = f"{statistics.median(first):.1f} → {statistics.median(last):.1f}"
        print(f"{name:30} {a:10.1f} {b:10.1f} {b - a:8.1f} {b / a:7.2f} {BUDGET_MICROSECONDS[name]:7d}   {grown}")


if __name__ == "__main__":
    main()
