"""Sizes in words."""

from __future__ import annotations


def as_size(number: float) -> str:
    """Return bytes as a person reads them: `423.1 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def counted(number: int, word: str) -> str:
    """Return a number with its noun: `1 run`, `2,000 runs`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
