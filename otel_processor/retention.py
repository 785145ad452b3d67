"""How long runs are kept, and how large a database may become."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from otel_processor.errors import ConfigError

KEEP_DAYS = "OTEL_PROCESSOR_KEEP_DAYS"
MAX_SIZE = "OTEL_PROCESSOR_MAX_SIZE"

_DAY_SECONDS = 86_400.0
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": _DAY_SECONDS, "w": 7 * _DAY_SECONDS}
_LONGEST_SECONDS = 36_500 * _DAY_SECONDS

_BYTES = {
    "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}  # fmt: skip
_MOST_BYTES = 1 << 60

LEAST_KEPT_SECONDS = 3_600.0
"""What a setting must keep at least: it removes by itself, and a slip of the pen must not empty a database."""

LEAST_KEPT_BYTES = 10_000_000
"""Likewise; an empty database takes less than a tenth of it."""

_AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([a-z]*)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Retention:
    """What is removed from a database; nothing where neither is set."""

    older_than_seconds: float | None = None
    """Runs of which nothing was seen for longer than this go."""
    max_bytes: int | None = None
    """The oldest runs go until the rest takes no more than this."""

    @property
    def is_set(self) -> bool:
        """Whether anything is removed at all."""
        return self.older_than_seconds is not None or self.max_bytes is not None

    @property
    def age(self) -> str:
        """The age in words: `30 days`."""
        days = (self.older_than_seconds or 0) / _DAY_SECONDS
        return "1 day" if days == 1 else f"{days:,.10g} days"

    @property
    def size(self) -> str:
        """The size in words: `5 GB`."""
        size = self.max_bytes or 0
        unit = next((unit for unit in ("TB", "GB", "MB", "kB") if size >= _BYTES[unit.lower()]), "B")
        return f"{size / _BYTES[unit.lower()]:.10g} {unit}"

    def __str__(self) -> str:
        """Say in one sentence what goes."""
        if not self.is_set:
            return "no run is removed by itself"
        if self.max_bytes is None:
            return f"runs older than {self.age} are removed"
        if self.older_than_seconds is None:
            return f"the oldest runs are removed where the database takes more than {self.size}"
        return f"runs older than {self.age} are removed, and the oldest where the database takes more than {self.size}"

    @classmethod
    def from_environment(cls) -> Retention:
        """Read `OTEL_PROCESSOR_KEEP_DAYS` and `OTEL_PROCESSOR_MAX_SIZE`.

        Raises:
            ConfigError: a value cannot be used; the message names the variable.
        """
        days, size = (os.environ.get(name, "").strip() for name in (KEEP_DAYS, MAX_SIZE))
        return cls(
            older_than_seconds=_seconds_of_days(days) if days else None,
            max_bytes=_bytes_that_are_enough(size) if size else None,
        )


def seconds_of(text: str, name: str) -> float:
    """Return the seconds that a duration like `30d`, `12h` or `2w` says.

    Args:
        text: what was given.
        name: what it was given for, for the message.

    Raises:
        ConfigError: it is no duration, or none longer than 0.
    """
    number, unit = _amount(text)
    if number is not None and unit in _SECONDS and 0 < number * _SECONDS[unit] <= _LONGEST_SECONDS:
        return number * _SECONDS[unit]
    raise ConfigError(f"{name} is {text!r}; it takes a duration like 30d, 12h or 2w")


def bytes_of(text: str, name: str) -> int:
    """Return the bytes that a size like `5GB`, `500MB` or `2GiB` says.

    Args:
        text: what was given.
        name: what it was given for, for the message.

    Raises:
        ConfigError: it is no size, has no unit, or is not larger than 0.
    """
    number, unit = _amount(text)
    if number and not unit:
        raise ConfigError(f"{name} is {text!r}, which has no unit; say {text.strip()}GB or {text.strip()}MB")
    if number is not None and unit in _BYTES and 1 <= number * _BYTES[unit] <= _MOST_BYTES:
        return int(number * _BYTES[unit])
    raise ConfigError(f"{name} is {text!r}; it takes a size like 5GB, 500MB or 2GiB")


def _seconds_of_days(text: str) -> float:
    number, unit = _amount(text)
    if number is None or unit not in ("", "d") or not 0 < number * _DAY_SECONDS <= _LONGEST_SECONDS:
        raise ConfigError(f"{KEEP_DAYS} is {text!r}; it takes a number of days, like 30")
    if number * _DAY_SECONDS < LEAST_KEPT_SECONDS:
        raise ConfigError(
            f"{KEEP_DAYS} is {text!r}, less than an hour; it takes a number of days, like 30, or 0.5 for twelve hours"
        )
    return number * _DAY_SECONDS


def _bytes_that_are_enough(text: str) -> int:
    size = bytes_of(text, MAX_SIZE)
    if size < LEAST_KEPT_BYTES:
        raise ConfigError(
            f"{MAX_SIZE} is {text!r}; it takes 10MB at least, since all that is beyond is removed: say 5GB or 500MB"
        )
    return size


def _amount(text: str) -> tuple[float | None, str]:
    found = _AMOUNT.fullmatch(text.strip())
    return (float(found[1]), found[2].lower()) if found is not None else (None, "")
