"""The colours, and what patterns and stop reasons are called in front of people.

Every colour is a mid-tone with a contrast of at least 3:1 on the white and on the near-black background, so that one
palette serves both themes. A pattern and the stop reason that comes of it share their colour.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from dashboard.language import has, t

NEUTRAL = "#858580"
"""Model calls, and everything that has no colour of its own."""

ONCE = "#7f8ea3"
"""Tool calls that a run made only once."""

CRITICAL = "#d9483b"
WARNING = "#d97b1c"
STEPS = "#3f86c9"
TOKENS = "#3f9a9a"
COST = "#b98a14"

_PATTERNS = {
    "hard_loop": "#d9483b",
    "soft_loop": "#cf5a93",
    "cycle": "#9a63d6",
    "retry_storm": "#a4783a",
    "semantic_loop": "#6f74dd",
    "no_progress": "#d97b1c",
    "uncertainty": "#8a8f2f",
    "limit": "#5f8399",
    "spend_spike": "#b98a14",
}

_STOP_REASONS = {
    "completed": "#2f9e7a",
    "running": "#3f86c9",
    "loop_detected:repeated_tool_signature": "#d9483b",
    "loop_detected:near_repeat": "#cf5a93",
    "loop_detected:cycle": "#9a63d6",
    "loop_detected:retry_storm": "#a4783a",
    "loop_detected:no_progress": "#d97b1c",
    "loop_detected:semantic": "#6f74dd",
    "max_steps_reached": "#5f8399",
    "max_tool_calls_reached": "#5f8399",
    "max_tokens_reached": "#5f8399",
    "max_cost_reached": "#5f8399",
    "timeout": "#4f93a0",
    "model_length": "#b98a14",
    "content_filter": "#b98a14",
    "refused": "#b98a14",
    "cancelled": "#7f8ea3",
    "handed_to_human": "#8a8f2f",
    "error": "#b25563",
    "abandoned": "#858580",
    "unknown": "#858580",
}

SIGNATURES = (
    "#d9483b",
    "#3f86c9",
    "#2f9e7a",
    "#9a63d6",
    "#d97b1c",
    "#cf5a93",
    "#3f9a9a",
    "#8a8f2f",
    "#6f74dd",
    "#a4783a",
)
"""For the signatures that a run repeats most; there are as many colours as signatures that get one."""

OTHER_REPEATED = "#b58a5a"
"""For repeated signatures beyond those."""

BadgeColor: TypeAlias = Literal["red", "orange", "blue", "green", "gray"]


def pattern_color(pattern: str) -> str:
    """Return the colour of a pattern, neutral for one that is not known."""
    return _PATTERNS.get(pattern, NEUTRAL)


def pattern_label(pattern: str) -> str:
    """Return what a pattern is called in front of people, its own name if it is not known."""
    return _label("pattern", pattern)


def stop_reason_color(stop_reason: str) -> str:
    """Return the colour of a stop reason, neutral for one that is not known."""
    return _STOP_REASONS.get(stop_reason, NEUTRAL)


def stop_reason_label(stop_reason: str) -> str:
    """Return what a stop reason is called in front of people, its own name if it is not known."""
    return _label("stop_reason", stop_reason)


def verdict_label(reason: str) -> str:
    """Return what a flagged reason is called, be it written as a pattern or as a stop reason."""
    return (
        pattern_label(reason)
        if reason in _PATTERNS
        else stop_reason_label(reason).partition(": ")[2] or stop_reason_label(reason)
    )


def _label(section: str, name: str) -> str:
    return t(f"{section}.{name}") if has(f"{section}.{name}") else name


def severity_badge(severity: str) -> BadgeColor:
    """Return the badge colour of a severity."""
    return "red" if severity == "critical" else "orange"


def signature_colors(ranked: list[str]) -> dict[str, str]:
    """Give each signature a colour that depends on the signature first and on its rank second.

    So a signature keeps its colour while a run goes on, and mostly from run to run; two of the first ten never share one.
    """
    colors: dict[str, str] = {}
    free = list(range(len(SIGNATURES)))
    for signature in ranked:
        if not free:
            colors[signature] = OTHER_REPEATED
            continue
        wanted = sum(signature.encode()) % len(SIGNATURES)
        chosen = min(free, key=lambda index: (index - wanted) % len(SIGNATURES))
        free.remove(chosen)
        colors[signature] = SIGNATURES[chosen]
    return colors
