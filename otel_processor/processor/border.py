"""The border to the host: what goes wrong on our side stays on our side."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")

_log = logging.getLogger("otel_processor")
_SECONDS_BETWEEN_REPORTS = 60.0
_reported: dict[str, float] = {}


def never_raise(hook: Callable[P, None]) -> Callable[P, None]:
    """Make a hook swallow its own bugs: logged with the traceback once a minute at most, never raised.

    An exception in `on_start` or `on_end` would reach the agent's code and keep later processors from the span.
    """

    @functools.wraps(hook)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            hook(*args, **kwargs)
        except Exception:  # noqa: BLE001 - this is the border
            now = time.monotonic()
            if now - _reported.get(hook.__qualname__, -_SECONDS_BETWEEN_REPORTS) >= _SECONDS_BETWEEN_REPORTS:
                _reported[hook.__qualname__] = now
                _log.exception("otel_processor failed in %s; the agent goes on", hook.__qualname__)

    return guarded
