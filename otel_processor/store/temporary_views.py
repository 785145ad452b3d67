"""Views that queries of pages read and that live as long as a connection: what is chosen, searched, looked at.

A query says `from chosen_runs`; which runs those are stands in variables of the connection. So the conditions are written once,
and a read-only connection can have them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from otel_processor.store.scripts import definition

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

CHOICE = {
    "hours": "BIGINT",
    "since_us": "BIGINT",
    "until_us": "BIGINT",
    "tasks": "VARCHAR[]",
    "agents": "VARCHAR[]",
    "models": "VARCHAR[]",
    "services": "VARCHAR[]",
}
"""What runs can be chosen by, with its type: seen in the last hours, seen from and before a microsecond, and names."""

_SEARCH = {"search": "VARCHAR", "status": "VARCHAR", "reasons": "VARCHAR[]", "patterns": "VARCHAR[]"}

_VIEWS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "chosen_runs": (CHOICE, ()),
    "chosen_alerts": (CHOICE, ("chosen_runs",)),
    "found_runs": (CHOICE | _SEARCH, ("chosen_runs",)),
    "calls_of_run": ({"run_id": "VARCHAR"}, ()),
}
"""Each view with its variables and the views that it reads."""


def make_views(connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Make the views that a query names, and return the values that are left for its parameters.

    Args:
        connection: may be read-only; the views live as long as it.
        query: the text of a query.
        values: by name, of variables and of parameters; a variable that is left out or None restricts nothing.
    """
    named = [view for view in _VIEWS if re.search(rf"\b{view}\b", query)]
    variables = {name: kind for view in named for name, kind in _VIEWS[view][0].items()}
    for name, kind in variables.items():
        connection.execute(f"set variable {name} = $value::{kind}", {"value": values.get(name)})
    for view in dict.fromkeys(needed for name in named for needed in (*_VIEWS[name][1], name)):
        connection.execute(definition("temporary", view))
    return {name: value for name, value in values.items() if name not in variables or re.search(rf"\${name}\b", query)}
