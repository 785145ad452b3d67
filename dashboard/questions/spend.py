"""What the page of spending asks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dashboard import data
from dashboard.viewer import timezone

if TYPE_CHECKING:
    from dashboard.charts.spend import Measure
    from dashboard.data import Answer
    from dashboard.filters import Filters

MODELS_ASKED = 200
MODELS_TOLD_APART = 6
NAMES_SHOWN = 15
RUNS_SHOWN = 25


def calls(filters: Filters, measure: Measure) -> Answer:
    """Return what was used and paid per model and over time: rows of both kinds, so that the calls are read once.

    Args:
        filters: which runs.
        measure: what makes a model one of those told apart over time; where no cost is known tokens do in any case.
    """
    zone = timezone()
    asked = filters.parameters(zone) | {"zone": str(zone), "measure": measure}
    return data.recent("spend_calls", **asked, top=MODELS_ASKED, top_stacked=MODELS_TOLD_APART)


def models(filters: Filters, measure: Measure) -> Answer:
    """Return of `calls` a row for each provider and model, the dearest first, and one for all that come after many."""
    return _of_kind(calls(filters, measure), "model")


def over_time(filters: Filters, measure: Measure) -> Answer:
    """Return of `calls` cost and tokens per stretch of time and model."""
    return _of_kind(calls(filters, measure), "stretch")


def groups(filters: Filters, measure: Measure) -> Answer:
    """Return what was spent all in all, and per task, agent and service."""
    return data.recent("spend_groups", **filters.parameters(timezone()), measure=measure, top=NAMES_SHOWN)


def runs(filters: Filters, measure: Measure) -> Answer:
    """Return the runs that spent most."""
    return data.recent("spend_runs", **filters.parameters(timezone()), measure=measure, limit=RUNS_SHOWN)


def _of_kind(answer: Answer, kind: str) -> Answer:
    frame = answer.frame
    return answer if frame.empty else replace(answer, frame=frame[frame["kind"] == kind].reset_index(drop=True))
