"""SQL files of this package, by name: one object or one query a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Example:
    """A query to begin with, for a person."""

    name: str
    """Of its file."""
    title: str
    """What it answers, as a question."""
    text: str


@cache
def examples() -> tuple[Example, ...]:
    """Return the queries that people of this product ask, `sql/examples`: the first line of each is its title."""
    return tuple(_example(name) for name in creation_order("examples"))


def _example(name: str) -> Example:
    title, _, text = _read("examples", name).partition("\n")
    return Example(name, title.removeprefix("--").strip(), text.strip())


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
    """Return the statement that creates an object of `schema`, `views` or `temporary`."""
    return _read(folder, name)


def _read(folder: str, name: str) -> str:
    return (files(__package__) / "sql" / folder / f"{name}.sql").read_text(encoding="utf-8")


@cache
def recording_statement(name: str) -> str:
    """Return the text of `sql/recording/NAME.sql`: what writing needs to ask."""
    return _read("recording", name)


@cache
def delivery_statement(name: str) -> str:
    """Return the text of `sql/delivery/NAME.sql`: what delivering alerts asks and notes."""
    return _read("delivery", name)


@cache
def what_if_statement(name: str) -> str:
    """Return the text of `sql/what_if/NAME.sql`: what judging again under another policy needs to ask."""
    return _read("what_if", name)


@cache
def pruning_statement(name: str) -> str:
    """Return the text of `sql/pruning/NAME.sql`: what removing old runs needs to ask and do."""
    return _read("pruning", name)


@cache
def sharing_statement(name: str) -> str:
    """Return the text of `sql/sharing/NAME.sql`: what making a copy to be shared needs to ask and do."""
    return _read("sharing", name)


@cache
def sharing_query(folder: str, name: str) -> str | None:
    """Return the text of `sql/sharing/FOLDER/NAME.sql`, or None where there is no such file."""
    path = files(__package__) / "sql" / "sharing" / folder / f"{name}.sql"
    return path.read_text(encoding="utf-8") if path.is_file() else None
