"""Numbers as people read them, the English way."""

from __future__ import annotations

_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def short_number(number: float) -> str:
    """Write a number in three digits: 999, 1.2k, 12.4M, 107k."""
    # 999.5k would round to 1000k: the bound is where rounding reaches the next unit.
    for size, unit in _UNITS:
        if abs(number) >= size * 0.9995 and abs(number) >= 1_000:
            digits = 0 if abs(number) >= 99.95 * size else 1
            return f"{number / size:.{digits}f}".removesuffix(".0") + unit
    return f"{number:.1f}".removesuffix(".0")
