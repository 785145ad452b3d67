"""The border of the guard: what goes wrong in it costs an answer, never the agent."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

from otel_processor.bug_reports import report_bug
from otel_processor.guard.answer import Answer, fine

P = ParamSpec("P")


def answers(method: Callable[P, Answer]) -> Callable[P, Answer]:
    """Make a method answer `continue` where it fails; logged once a minute at most."""

    @functools.wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Answer:
        try:
            return method(*args, **kwargs)
        except Exception:  # noqa: BLE001 - this is the border
            report_bug(method.__qualname__)
            return fine()

    return guarded


def survives(method: Callable[P, None]) -> Callable[P, None]:
    """Make a method do nothing where it fails; logged once a minute at most."""

    @functools.wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:  # noqa: BLE001 - this is the border
            report_bug(method.__qualname__)

    return guarded
