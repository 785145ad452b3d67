"""SQL files of this package, by name: one object or one query a file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def query(name: str) -> str:
    """Return the text of `sql/queries/NAME.sql`."""
    return _read("queries", name)


@cache
def query_names() -> tuple[str, ...]:
    """Return the names of all queries."""
    folder = files(__package__) / "sql" / "queries"
    return tuple(sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql")))


@cache
def creation_order(folder: str) -> tuple[str, ...]:
    """Return the object names of `sql/FOLDER` in the order in which they can be created (views bind when created)."""
    return tuple((files(__package__) / "sql" / folder / "_order").read_text(encoding="utf-8").split())


@cache
def definition(folder: str, name: str) -> str:
    """Return the statement that creates an object of `schema` or `views`."""
    return _read(folder, name)


def _read(folder: str, name: str) -> str:
    return (files(__package__) / "sql" / folder / f"{name}.sql").read_text(encoding="utf-8")


@cache
def recording_statement(name: str) -> str:
    """Return the text of `sql/recording/NAME.sql`: what writing needs to ask."""
    return _read("recording", name)
