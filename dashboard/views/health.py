"""Whether everything that writes here is well: writers, what waits or was lost, messages about alerts, the file itself."""

from __future__ import annotations

from dashboard.components import heading
from dashboard.components.health import body

heading.show("health")
body.show()
