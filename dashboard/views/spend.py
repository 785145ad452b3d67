"""What agents spend: when, on which models, for which tasks, and what of it brought nothing."""

from __future__ import annotations

from dashboard.components import filters, heading, waiting
from dashboard.components.spend import body

heading.show("spend")
if waiting.there_are_runs():
    body.show(filters.show())
