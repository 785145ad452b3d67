"""Which runs the queries of a page are about: they read `chosen_runs` and `chosen_alerts`, made for one connection."""

from __future__ import annotations

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

_VIEWS = ("chosen_runs", "chosen_alerts")


def names_chosen_runs(query: str) -> bool:
    """Return whether a query reads `chosen_runs` or `chosen_alerts`."""
    return any(view in query for view in _VIEWS)


def choose_runs(connection: duckdb.DuckDBPyConnection, choice: Mapping[str, Any]) -> None:
    """Make the views `chosen_runs` and `chosen_alerts` on a connection, which may be read-only.

    Args:
        connection: the views live as long as it.
        choice: values for some of `CHOICE`; what is left out or None restricts nothing.
    """
    for name, kind in CHOICE.items():
        connection.execute(f"set variable {name} = $value::{kind}", {"value": choice.get(name)})
    for view in _VIEWS:
        connection.execute(definition("temporary", view))
