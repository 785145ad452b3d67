"""What the page of spending asks."""

from __future__ import annotations

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


def models(filters: Filters) -> Answer:
    """Return what was used and paid per provider and model, the dearest first, and one row for all that come after many."""
    return data.recent("spend_models", **filters.parameters(timezone()), top=MODELS_ASKED)


def over_time(filters: Filters, measure: Measure) -> Answer:
    """Return cost and tokens per stretch of time and model."""
    zone = timezone()
    return data.recent("spend_over_time", **filters.parameters(zone), zone=str(zone), measure=measure, top=MODELS_TOLD_APART)


def groups(filters: Filters, measure: Measure) -> Answer:
    """Return what was spent all in all, and per task, agent and service."""
    return data.recent("spend_groups", **filters.parameters(timezone()), measure=measure, top=NAMES_SHOWN)


def runs(filters: Filters, measure: Measure) -> Answer:
    """Return the runs that spent most."""
    return data.recent("spend_runs", **filters.parameters(timezone()), measure=measure, limit=RUNS_SHOWN)
