"""Three plain detectors to hold ours against: what people write in an afternoon."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping

from labelled_runs import LabelledRun

Baseline = Callable[[LabelledRun], int | None]
"""Returns the index of the step at which it says that the run is stuck, or None."""


def three_in_a_row(run: LabelledRun) -> int | None:
    """The same tool with the same arguments three times in a row."""
    return _in_a_row(run, 3)


def three_times_or_four_flat(run: LabelledRun) -> int | None:
    """The same call seen three times in the run, or four calls in a row whose results were seen before."""
    seen: Counter[str] = Counter()
    results: set[str] = set()
    flat = 0
    for step in run.steps:
        if step["kind"] != "tool":
            continue
        call = _call(step)
        seen[call] += 1
        result = str(step.get("result"))
        flat = flat + 1 if result in results else 0
        results.add(result)
        if seen[call] >= 3 or flat >= 4:
            return int(step["i"])
    return None


def two_in_a_row_or_over_eight(run: LabelledRun) -> int | None:
    """The same call twice in a row, or more than eight tool calls."""
    tools = [int(step["i"]) for step in run.steps if step["kind"] == "tool"]
    ninth = tools[8] if len(tools) > 8 else None
    twice = _in_a_row(run, 2)
    return min((at for at in (ninth, twice) if at is not None), default=None)


BASELINES: Mapping[str, Baseline] = {
    "3 identical in a row": three_in_a_row,
    "seen 3 times or 4 flat": three_times_or_four_flat,
    "2 identical or over 8 steps": two_in_a_row_or_over_eight,
}


def _in_a_row(run: LabelledRun, times: int) -> int | None:
    before, count = None, 0
    for step in run.steps:
        if step["kind"] != "tool":
            continue
        call = _call(step)
        count = count + 1 if call == before else 1
        before = call
        if count >= times:
            return int(step["i"])
    return None


def _call(step: dict[str, object]) -> str:
    return json.dumps([step["name"], step.get("arguments")], sort_keys=True)
