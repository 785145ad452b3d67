"""A reader's own questions: an editor, what there is to ask, and the answer as a table, a chart or a file."""

from __future__ import annotations

from dashboard.components import heading
from dashboard.components.sql import body

heading.show("sql")
body.show()
