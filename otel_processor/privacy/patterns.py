"""Patterns of RE2, which take linear time whatever the text."""

from __future__ import annotations

import re2


def compiled(pattern: str | bytes, *, never_capture: bool = False) -> re2._Regexp:
    """Compile a pattern, quietly.

    Raises:
        re2.error: it is none that RE2 knows.
    """
    options = re2.Options()
    options.log_errors = False
    options.never_capture = never_capture
    return re2.compile(pattern, options)
