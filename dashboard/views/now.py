"""What goes on at this moment: who loops, what runs, what it costs; and what the last day was like."""

from __future__ import annotations

from dashboard.components import filters, heading, waiting
from dashboard.components.now import body
from dashboard.questions import now

heading.show("now")
if waiting.there_are_runs(now.anything_ever):
    body.show(filters.show())
