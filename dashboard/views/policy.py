"""The thresholds that runs are judged by, and what others would have flagged."""

from __future__ import annotations

from dashboard.components import filters, heading, waiting
from dashboard.components.policy import body

heading.show("policy")
if waiting.there_are_runs():
    body.show(filters.show())
