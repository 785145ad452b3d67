"""The policies of three published recipes against loops, as fields of `Policy`.

Each is for people who know the recipe and want to see it keep its word; the defaults of `Policy` tell more loops and leave
more honest work alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from otel_processor.model import Pattern

_EVERY_TOOL_THREE_TIMES: Final = {"hard_loop_repeats": 3, "hard_loop_write_repeats": 3, "hard_loop_poll_repeats": 3}

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        # At most 8 calls, and at most 2 equal ones one after the other, looked at before a call is made: two equal calls
        # pass and the third is stopped; different calls stop at the ninth. Results are not looked at.
        "bounded_calls": {
            "patterns": frozenset({Pattern.HARD_LOOP, Pattern.LIMIT}),
            "repeat_scope": "consecutive",
            **_EVERY_TOOL_THREE_TIMES,
            "transient_tolerance": 0,
            "max_steps": 8,
            "max_steps_counts": "tool_calls",
            "nudges_before_stop": 0,
        },
        # At most 12 steps; a signature that is seen for the third time in the run, whatever came between; 4 steps in a row
        # without progress. Progress is what the agent says of its step, and where it says nothing what the result says.
        "no_progress_window": {
            "patterns": frozenset({Pattern.HARD_LOOP, Pattern.NO_PROGRESS, Pattern.LIMIT}),
            "repeat_scope": "run",
            **_EVERY_TOOL_THREE_TIMES,
            "transient_tolerance": 0,
            "no_progress_alert_steps": 4,
            "no_progress_stop_steps": 4,
            "max_steps": 12,
            "max_steps_counts": "steps",
            "nudges_before_stop": 0,
        },
        # 3 equal calls in a row, 5 while they meet 429, 503 or a timeout; doubt that rises from turn to turn, which asks for
        # a shorter context; 5 turns whose results differ by no more than 50 characters from the one before. The model is
        # told first, and after two more failures the run ends for good. Neither steps nor time are limited, unless a limit is set
        # beside the preset.
        "three_signals": {
            "patterns": frozenset({Pattern.HARD_LOOP, Pattern.NO_PROGRESS, Pattern.UNCERTAINTY, Pattern.LIMIT}),
            "repeat_scope": "consecutive",
            **_EVERY_TOOL_THREE_TIMES,
            "transient_tolerance": 5,
            "uncertainty_turns": 3,
            "no_progress_alert_steps": 5,
            "no_progress_stop_steps": 5,
            "progress_rule": "changed",
            "min_changed_chars": 50,
            "nudges_before_stop": 2,
        },
    }
)
"""Name → the fields that it sets; every other field has its default."""
