"""What detection costs as runs grow: microseconds a call at 100 and at 10,000 steps, memory of a run and of many.

    python benchmarks/detection/scale.py [--steps 10000] [--runs 10000]

Both lengths are measured in turns in one process, so that a machine whose speed drifts drifts for both. Each step is a model
turn of some 400 characters and a tool call with 200 bytes of arguments and an answer of 1 KB; a fifth of the calls repeat.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
import tracemalloc
from collections.abc import Iterator

from otel_processor.detection.evidence import make_call
from otel_processor.detection.run_state import RunState
from otel_processor.model import Call, Reading, Role
from otel_processor.policy import Policy
from otel_processor.runs.memory import Memory

STEMS, ENDINGS = "alpha beta gamma delta kilo lima mike nova".split(), "er ing ed ly s al".split()
WORDS = [f"{stem}{ending}" for stem in STEMS for ending in ENDINGS]
POLICY = Policy()


def steps(count: int, seed: int) -> Iterator[tuple[Call, Call]]:
    rng = random.Random(seed)
    tools = ("search_documents", "read_file", "run_command", "write_note")
    for number in range(count):
        key = number if rng.random() > 0.2 else number // 2
        text = " ".join(rng.choices(WORDS, k=60))
        answer = " ".join(f"{word}{rng.randrange(5_000)}" for word in rng.choices(WORDS, k=110))
        note = " ".join(rng.choices(WORDS, k=20)) if key == number else "again"
        arguments = {"query": f"topic {key} of the list", "note": note}
        at = number * 2_000_000_000
        turn = Reading(role=Role.MODEL, text=text, input_tokens=1_000, output_tokens=100)
        tool = Reading(role=Role.TOOL, tool=tools[key % 4], arguments=arguments, result=answer)
        yield _call(turn, number, "m", at), _call(tool, number, "t", at + 1_000_000_000)


def _call(reading: Reading, number: int, kind: str, at: int) -> Call:
    ends = at + 900_000_000
    return make_call(reading, trace_id="t", span_id=f"{kind}{number}", agent="a", start_ns=at, end_ns=ends, policy=POLICY)


def took(state: RunState, calls: list[tuple[Call, Call]]) -> float:
    begun = time.perf_counter_ns()
    for turn, tool in calls:
        state.observe(turn)
        state.observe(tool)
    return (time.perf_counter_ns() - begun) / len(calls) / 1_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--steps", type=int, default=10_000)
    options.add_argument("--runs", type=int, default=10_000)
    given = options.parse_args()
    calls = list(steps(given.steps, 7))
    long = RunState(POLICY)
    early, late = [], []
    for at in range(0, given.steps - 100, 100):
        late.append(took(long, calls[at : at + 100]))
        early.append(took(RunState(POLICY), calls[at : at + 100]))
    last = late[-10:]
    first, end = statistics.median(early), statistics.median(last)
    print(f"a step (model turn and tool call): {first:.0f} us in runs of 100 steps, {end:.0f} us at the end of {given.steps:,}")
    print(f"ratio {end / first:.2f} (at most 1.20)")
    tracemalloc.start()
    state = RunState(POLICY)
    took(state, calls)
    print(f"memory of a run of {given.steps:,} steps: {tracemalloc.get_traced_memory()[0] / 1e6:.2f} MB (at most 2)")
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    memory = Memory(POLICY)
    for number in range(given.runs):
        run = memory.run(f"run {number}")
        took(run.tracker.state, calls[number % 100 : number % 100 + 8])
        memory.weigh(run)
    many = (tracemalloc.get_traced_memory()[0] - before) / 1e6
    kept = given.runs - memory.put_away
    print(f"memory of {given.runs:,} open runs of 8 steps, {kept:,} of them kept: {many:.0f} MB (at most 500)")


if __name__ == "__main__":
    main()
