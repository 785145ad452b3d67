"""Which runs a page is about: a time range, tasks, agents, models and services; they stand in the page's address."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

PERIODS: dict[str, int | None] = {"1h": 1, "6h": 6, "24h": 24, "7d": 168, "30d": 720, "all": None}
"""The time ranges by the name that they have in the address, in hours up to now; None: everything."""

KINDS = {"tasks": "task", "agents": "agent", "models": "model", "services": "service"}
"""The fields that hold chosen names, by what one of them is called in the address. An empty name stands for none given."""

MOST_NAMES = 50
LONGEST_NAME = 500
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2261, 12, 31)
"""Outside of them no time can be stored, and days near the ends of the calendar have none before or after them."""

Parameters = dict[str, str | int | tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class Filters:
    """The choice; as it is made, all runs."""

    period: str = "all"
    since: date | None = None
    """The first day, in the viewer's zone; with `since` or `until` the period counts for nothing."""
    until: date | None = None
    """The last day."""
    tasks: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    services: tuple[str, ...] = ()

    @classmethod
    def of_address(cls, address: Mapping[str, Sequence[str]]) -> Self:
        """Read the choice from the parameters of an address; what makes no sense there is left out."""
        period = next(iter(address.get("period", ())), "all")
        return cls(
            period=period if period in PERIODS else "all",
            since=_day(address.get("from", ())),
            until=_day(address.get("to", ())),
            **{field: _names(address.get(name, ())) for field, name in KINDS.items()},
        )

    def to_address(self) -> dict[str, list[str]]:
        """Return the parameters of an address that say this choice; what is left at its default is not said."""
        address: dict[str, list[str]] = {}
        if self.has_dates:
            address |= {"from": [self.since.isoformat()]} if self.since else {}
            address |= {"to": [self.until.isoformat()]} if self.until else {}
        elif self.period != "all":
            address["period"] = [self.period]
        return address | {name: list(getattr(self, field)) for field, name in KINDS.items() if getattr(self, field)}

    def parameters(self, zone: tzinfo = UTC) -> Parameters:
        """Return what queries on `chosen_runs` take: `hours`, `since_us`, `until_us`, and for each kind a tuple of names or None.

        Args:
            zone: the viewer's zone, in which days begin and end.
        """
        chosen: Parameters = {field: getattr(self, field) or None for field in KINDS}
        return chosen | {
            "hours": None if self.has_dates else PERIODS[self.period],
            "since_us": _microseconds(self.since, zone) if self.since else None,
            "until_us": _microseconds(self.until + timedelta(days=1), zone) if self.until else None,
        }

    @property
    def has_dates(self) -> bool:
        """Whether days were chosen instead of a time range up to now."""
        return self.since is not None or self.until is not None

    @property
    def names_chosen(self) -> int:
        """How many tasks, agents, models and services were chosen."""
        return sum(len(getattr(self, field)) for field in KINDS)

    def all_time(self) -> Self:
        """Return the same choice over all time."""
        return replace(self, period="all", since=None, until=None)


ADDRESS_NAMES = frozenset({"period", "from", "to", *KINDS.values()})
"""The parameters of an address that say a choice."""


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name[:LONGEST_NAME] for name in given))[:MOST_NAMES]


def _day(given: Sequence[str]) -> date | None:
    try:
        day = date.fromisoformat(given[0]) if given else None
    except ValueError:
        return None
    return day if day is not None and FIRST_DAY <= day <= LAST_DAY else None


def _microseconds(day: date, zone: tzinfo) -> int:
    return int(datetime.combine(day, time(), zone).timestamp() * 1_000_000)
