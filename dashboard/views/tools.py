"""What tools do: how their calls come out, fail, repeat, and how long they take."""

from __future__ import annotations

from dashboard.components import filters, heading, waiting
from dashboard.components.tools import body

heading.show("tools")
if waiting.there_are_runs():
    body.show(filters.show())
