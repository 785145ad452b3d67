"""What the page of one run asks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dashboard import data
from dashboard.wording import text_of
from otel_processor.step_texts import ModelSaid, model_said

if TYPE_CHECKING:
    from dashboard.data import Answer

STEPS_PER_PAGE = 500
CALLS_PER_PAGE = 3000
CALLS_PER_STEP = 50
LONGEST_TEXT = 20_000
SIGNATURES_SHOWN = 10
EARLIER_CALLS = 20
SPANS_PER_STEP = 60
LONGEST_RAW_VALUE = 20_000
LONGEST_READ_AGAIN = 1_000_000
LONGEST_EXPORT = 10_000_000
CALLS_EXPORTED = 100_000


def run_header(run_id: str) -> Answer:
    """Return one run; no row when there is no such run."""
    return data.recent("run_header", run_id=run_id)


def run_calls(run_id: str, first_step: int, last_step: int) -> Answer:
    """Return the calls of a run between two steps."""
    return data.recent("run_calls", run_id=run_id, first_step=first_step, last_step=last_step, limit=CALLS_PER_PAGE)


def run_spend(run_id: str, first_step: int, last_step: int) -> Answer:
    """Return what a run had spent by the end of each step between two steps."""
    return data.recent("run_spend", run_id=run_id, first_step=first_step, last_step=last_step, limit=STEPS_PER_PAGE + 1)


def run_signatures(run_id: str) -> Answer:
    """Return the calls that a run repeated most."""
    return data.recent("run_signatures", run_id=run_id, limit=SIGNATURES_SHOWN)


def step_calls(run_id: str, step: int) -> Answer:
    """Return the calls of one step in full."""
    return data.recent("step_calls", run_id=run_id, step=step, longest=LONGEST_TEXT, limit=CALLS_PER_STEP)


def earlier_calls(run_id: str, step: int) -> Answer:
    """Return what the tool calls of one step can be compared with."""
    return data.recent("earlier_calls", run_id=run_id, step=step, per_call=EARLIER_CALLS, limit=EARLIER_CALLS * CALLS_PER_STEP)


def call_in_full(run_id: str, trace_id: str, span_id: str) -> Answer:
    """Return the texts of one call; no row when there is no such call."""
    return data.recent("call_in_full", run_id=run_id, trace_id=trace_id, span_id=span_id, longest=LONGEST_TEXT)


def said_in_step(run_id: str, step: int) -> dict[str, ModelSaid]:
    """Return what the models said in one step, by the span id of the call; calls whose spans do not tell it are left out."""
    answer = data.recent("model_spans", run_id=run_id, step=step, longest=LONGEST_READ_AGAIN, limit=CALLS_PER_STEP)
    said: dict[str, ModelSaid] = {}
    for row in answer.frame.to_dict("records"):
        call = str(row["of_span_id"])
        if call in said:
            continue
        told = model_said(
            name=str(row["span_name"]),
            scope=text_of(row["scope"], ""),
            attributes=text_of(row["attributes"], "") or None,
            events=text_of(row["events"], "") or None,
            status=str(row["status"]),
            status_message=text_of(row["status_message"], ""),
        )
        if told:
            said[call] = told
    return said


def step_spans(run_id: str, step: int) -> Answer:
    """Return the spans of one step as they were received."""
    return data.recent("step_spans", run_id=run_id, step=step, longest=LONGEST_RAW_VALUE, limit=SPANS_PER_STEP)


def exported(run_id: str) -> bytes:
    """Return the calls of a run as JSON, at most `LONGEST_EXPORT` bytes of them; it says how many it leaves out."""
    answer = data.recent("run_export", run_id=run_id, longest=LONGEST_EXPORT, limit=CALLS_EXPORTED)
    calls = [] if answer.frame.empty else answer.frame["call"].tolist()
    of = int(answer.frame["calls"].iloc[0]) if calls else 0
    head = {"run_id": run_id, "calls_of_run": of, "calls_left_out": of - len(calls), "times": "microseconds since 1970, UTC"}
    if answer.problem or not answer.is_usable:
        head["problem"] = answer.problem or answer.state.value
    return (json.dumps(head)[:-1] + ', "calls": [\n' + ",\n".join(calls) + "\n]}\n").encode("utf-8", "backslashreplace")
