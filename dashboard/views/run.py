"""One run from its first call to its end; its id stands in the address."""

from __future__ import annotations

from dashboard.components import heading
from dashboard.components.run import body, choice

heading.show("run")
run_id = choice.show()
if run_id is not None:
    body.show(run_id)
