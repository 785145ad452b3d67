"""What the page of one run asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard import data

if TYPE_CHECKING:
    from dashboard.data import Answer

STEPS_PER_PAGE = 500
CALLS_PER_PAGE = 3000
CALLS_PER_STEP = 50
LONGEST_TEXT = 20_000
SIGNATURES_SHOWN = 10


def run_header(run_id: str) -> Answer:
    """Return one run; no row when there is no such run."""
    return data.recent("run_header", run_id=run_id)


def run_calls(run_id: str, first_step: int, last_step: int) -> Answer:
    """Return the calls of a run between two steps."""
    return data.recent("run_calls", run_id=run_id, first_step=first_step, last_step=last_step, limit=CALLS_PER_PAGE)


def run_signatures(run_id: str) -> Answer:
    """Return the calls that a run repeated most."""
    return data.recent("run_signatures", run_id=run_id, limit=SIGNATURES_SHOWN)


def step_calls(run_id: str, step: int) -> Answer:
    """Return the calls of one step in full."""
    return data.recent("step_calls", run_id=run_id, step=step, longest=LONGEST_TEXT, limit=CALLS_PER_STEP)
