"""All runs, to be searched and sorted; a row leads to the run."""

from __future__ import annotations

from dashboard.components import filters, heading, waiting
from dashboard.components.runs import body

heading.show("runs")
if waiting.there_are_runs():
    body.show(filters.show())
