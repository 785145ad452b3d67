"""Values that an SDK cut before anyone here saw them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otel_processor.model import Reading


def without_cut_values(reading: Reading, attributes: Mapping[str, Any], limit: int) -> tuple[Reading, bool]:
    """Take out arguments that an SDK's length limit cut, and say whether it cut the result.

    Two values that are equal up to where they were cut need not be equal.
    """
    # What was cut is no JSON any more, nor anything else that is taken apart: it is read as the text that it is.
    cut = {value.strip() for value in attributes.values() if isinstance(value, str) and len(value) == limit}
    if not cut:
        return reading, False
    if isinstance(reading.arguments, str) and reading.arguments.strip() in cut:
        reading = replace(reading, arguments=None)
    result = reading.result
    return reading, isinstance(result, str) and result.strip() in cut
