"""What the runs of a time look like: why they ended, where they stood still, what each task takes."""

from __future__ import annotations

from dashboard.components import filters, heading, waiting
from dashboard.components.overview import body

heading.show("overview")
if waiting.there_are_runs():
    body.show(filters.show())
