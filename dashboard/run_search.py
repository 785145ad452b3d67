"""Which of the chosen runs the table of runs shows, and in what order; it stands in the page's address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SORTS = ("started", "seen", "duration", "steps", "streak", "repeats", "tokens", "cost", "wasted_cost")
"""What the table can be sorted by. Only these names reach a query, and as a parameter."""

STATUSES = ("running", "ended", "looped")

FIRST_SORT = "started"
LONGEST_SEARCH = 200
MOST_NAMES = 40
LONGEST_NAME = 200
LAST_PAGE = 1_000_000

_NAMES = ("q", "status", "reason", "pattern", "sort", "desc", "page")


@dataclass(frozen=True, slots=True)
class RunSearch:
    """The search; as it is made, all runs, the one seen last first."""

    text: str = ""
    """Looked for in the task, the agent, the service and the run's id, whatever the case."""
    status: str | None = None
    """One of `STATUSES`; None: all."""
    reasons: tuple[str, ...] = ()
    """Stop reasons."""
    patterns: tuple[str, ...] = ()
    """Patterns of alerts, or the reason that a run was flagged with."""
    sort: str = FIRST_SORT
    descending: bool = True
    page: int = 1

    @classmethod
    def of_address(cls, address: Mapping[str, Sequence[str]]) -> Self:
        """Read the search from the parameters of an address; what makes no sense there is left out."""

        def first(name: str) -> str:
            return next(iter(address.get(name, ())), "")

        page = first("page")
        return cls(
            text=first("q").strip()[:LONGEST_SEARCH],
            status=first("status") if first("status") in STATUSES else None,
            reasons=_names(address.get("reason", ())),
            patterns=_names(address.get("pattern", ())),
            sort=first("sort") if first("sort") in SORTS else FIRST_SORT,
            descending=first("desc") != "0",
            page=min(max(int(page), 1), LAST_PAGE) if page.isascii() and page.isdecimal() and len(page) < 10 else 1,
        )

    def to_address(self) -> dict[str, list[str]]:
        """Return the parameters of an address that say this search; what is left at its default is not said."""
        said = {
            "q": [self.text] if self.text else [],
            "status": [self.status] if self.status else [],
            "reason": list(self.reasons),
            "pattern": list(self.patterns),
            "sort": [self.sort] if self.sort != FIRST_SORT else [],
            "desc": [] if self.descending else ["0"],
            "page": [str(self.page)] if self.page > 1 else [],
        }
        return {name: values for name, values in said.items() if values}

    def conditions(self) -> dict[str, str | tuple[str, ...] | None]:
        """Return what queries on `found_runs` search by."""
        return {
            "search": self.text or None,
            "status": self.status,
            "reasons": self.reasons or None,
            "patterns": self.patterns or None,
        }

    def order(self, rows_per_page: int) -> dict[str, str | int | None]:
        """Return what `runs_page` takes in addition."""
        return {
            "sort": self.sort,
            "descending": int(self.descending),
            "limit": rows_per_page,
            "offset": (self.page - 1) * rows_per_page,
        }

    def on_page(self, page: int) -> Self:
        """Return the same search on another page."""
        return replace(self, page=page)


ADDRESS_NAMES = frozenset(_NAMES)
"""The parameters of an address that say a search."""


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name[:LONGEST_NAME] for name in given if name))[:MOST_NAMES]
