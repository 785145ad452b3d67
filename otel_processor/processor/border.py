"""The border to the host: what goes wrong on our side stays on our side."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from otel_processor.bug_reports import report_bug

P = ParamSpec("P")
T = TypeVar("T")


def never_raise(hook: Callable[P, T]) -> Callable[P, T | None]:
    """Make a hook swallow its own bugs: logged with the traceback once a minute at most, never raised; it returns None then.

    An exception in `on_start` or `on_end` would reach the agent's code and keep later processors from the span.
    """

    @functools.wraps(hook)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return hook(*args, **kwargs)
        except Exception:  # noqa: BLE001 - this is the border
            report_bug(hook.__qualname__)
            return None

    return guarded
