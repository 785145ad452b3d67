"""Who is to be told of the alerts of a process: decided there, carried along where its rows wait in the spool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

SEVERITIES = ("warning", "critical")
"""From the mildest to the gravest."""


@dataclass(frozen=True, slots=True)
class DeliveryPlan:
    """The sinks of a process by name, and which alerts go there."""

    sinks: tuple[str, ...] = ()
    min_severity: str = "warning"
    cooldown_seconds: float = 300.0
    """The same run and pattern that opens again within it is not told again while it lasts."""

    def wants(self, severity: str) -> bool:
        """Return whether an alert of this severity is to be delivered."""
        return bool(self.sinks) and _rank(severity) >= _rank(self.min_severity)

    def as_row(self) -> dict[str, Any]:
        """Return it as it waits in the spool."""
        return {
            "sinks": list(self.sinks),
            "min_severity": [self.min_severity],
            "cooldown_seconds": [self.cooldown_seconds],
        }

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Return what waited in the spool.

        Raises:
            ValueError: it makes no sense. Whatever else is wrong with it raises something.
        """
        sinks = row["sinks"]
        (severity,), (cooldown,) = row["min_severity"], row["cooldown_seconds"]
        if not all(isinstance(name, str) for name in sinks) or not isinstance(severity, str):
            raise ValueError("a spooled delivery plan names no sinks")
        return cls(tuple(sinks), severity, float(cooldown))


NOBODY = DeliveryPlan()
"""Nobody is told: files are read, or no sink is configured."""


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
