"""To come."""

from __future__ import annotations

from dashboard.components import heading

heading.show("spend")
