"""What the filters offer."""

from __future__ import annotations

from dashboard import data

NAMES_OFFERED = 300


def names(field: str) -> list[str]:
    """Return the commonest names of `tasks`, `agents`, `models` or `services`; an empty one stands for runs without."""
    answer = data.recent("filter_names", limit=NAMES_OFFERED)
    if answer.frame.empty:
        return []
    return [str(name) for name in answer.frame.loc[answer.frame["field"] == field, "choice"]]
