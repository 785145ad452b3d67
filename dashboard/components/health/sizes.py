"""Sizes of files for people."""

from __future__ import annotations

from dashboard.language import current

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(number: float) -> str:
    """Write a number of bytes: 512 B, 5.3 MB."""
    place = 0
    while number >= 1000 and place < len(_UNITS) - 1:
        number /= 1000
        place += 1
    return current().number(f"{number:.1f}" if place else f"{number:.0f}") + f" {_UNITS[place]}"
