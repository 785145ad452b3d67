"""What a click on a name does to the query in the editor."""

from __future__ import annotations

import re

_PLAIN = re.compile("[a-z_][a-z0-9_]*")

_RESERVED = frozenset(
    """all analyse analyze and any array as asc asymmetric at both case cast check collate column constraint create default
    deferrable desc describe distinct do else end except false fetch for foreign from group having in initially intersect into
    lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing primary qualify
    references returning select show some summarize symmetric table then to trailing true union unique unpivot using variadic
    when where window with""".split()
)


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    if _PLAIN.fullmatch(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def appended(text: str, name: str, *, before: str = "") -> str:
    """Return a query with a name at its end: Streamlit does not tell where the cursor stands.

    Args:
        text: the query so far.
        name: of a column or a relation, quoted.
        before: the column that was appended last; a comma goes between one and the next.
    """
    body = text.rstrip()
    end = ";" if body.endswith(";") else ""
    body = body.removesuffix(";").rstrip()
    if not body or body.endswith(("(", ".")):
        gap = ""
    elif before and re.search(rf"(?:^|[\s,(.]){re.escape(before)}$", body):
        gap = ", "
    else:
        gap = " "
    return f"{body}{gap}{name}{end}"


def look_at(relation: str) -> str:
    """Return a query that shows rows of a relation."""
    return f"select *\nfrom {quoted(relation)}\nlimit 100;"
