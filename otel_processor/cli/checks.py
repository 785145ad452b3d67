"""What `doctor` finds: one `Check` a line, with a remedy where something is not right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class State(StrEnum):
    """How a check went."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    state: State
    detail: str
    remedy: str = ""


def ok(name: str, detail: str) -> Check:
    """Make a check that found nothing wrong."""
    return Check(name, State.OK, detail)


def warning(name: str, detail: str, remedy: str) -> Check:
    """Make a check that found something to know of."""
    return Check(name, State.WARNING, detail, remedy)


def problem(name: str, detail: str, remedy: str) -> Check:
    """Make a check that found something to repair."""
    return Check(name, State.PROBLEM, detail, remedy)


def as_text(checks: Sequence[Check]) -> str:
    """Lay the checks out in three columns, each remedy under its check, and count what is wrong."""
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{check.state:<8} {check.name:<{width}}  {check.detail}")
        if check.remedy:
            lines.append(f"{'':<8} {'':<{width}}  -> {check.remedy}")
    problems = sum(check.state is State.PROBLEM for check in checks)
    warnings = sum(check.state is State.WARNING for check in checks)
    lines += ["", f"{_counted(problems, 'problem')}, {_counted(warnings, 'warning')}."]
    return "\n".join(lines)


def _counted(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
