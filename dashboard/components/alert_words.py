"""The words about an alert wherever it is shown: how bad, what kind, when, over or not, and whose it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from dashboard import theme
from dashboard.language import has, t
from dashboard.viewer import time_text
from dashboard.wording import short, text_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping


def badges(severity: str, patterns: list[str], state: Mapping[Hashable, Any], when: str) -> str:
    """Return how bad it is, what kinds of loop, whether it is over, and when, as one line of Markdown.

    One element, so that a list that grows or shrinks while it is drawn anew never shows parts of two alerts on one card.

    Args:
        severity: its name.
        patterns: their names.
        state: the row that says whether it is over.
        when: a text of ours.
    """
    words = [severity_badge(severity)]
    words += [f":gray-badge[{_word(theme.pattern_label(pattern))}]" for pattern in patterns]
    return " ".join([*words, _state(state), f":gray[{when}]" if when else ""]).strip()


def severity_badge(name: str) -> str:
    """Return how bad something is, as Markdown."""
    word = t(f"severity.{name}") if has(f"severity.{name}") else _word(name)
    return f":{theme.severity_badge(name)}-badge[{word}]"


def _state(row: Mapping[Hashable, Any]) -> str:
    """Say whether the loop is open, was left, or went on until the run ended: that is no good end."""
    if pd.isna(row["resolved_at"]):
        return f":red-badge[{t('alert.open')}]"
    if not pd.isna(row["until_the_end"]) and row["until_the_end"]:
        return f":gray-badge[{t('alert.ended', time=time_text(row['resolved_at']))}]"
    return f":green-badge[{t('alert.resolved', time=time_text(row['resolved_at']))}]"


def whose(row: Mapping[Hashable, Any]) -> str:
    """Return whose alert it is, in one line: its task or step, agent and tool, as far as they are known."""
    if "task" in row:
        parts = [t("alert.task", name=short(text_of(row["task"], t("wording.no_task")), 80))]
    elif pd.isna(row["step"]):
        # The call is not stored: the guard's alerts are told before a call, and agents that only ask send none.
        parts = []
    else:
        parts = [t("alert.step", number=text_of(row["step"]).removesuffix(".0"))]
    parts += [t(f"alert.{name}", name=short(text_of(row[name]), 60)) for name in ("agent", "tool") if text_of(row[name], "")]
    return ", ".join(parts)


def _word(text: str) -> str:
    """Leave of a name what means nothing to Markdown: badges read it."""
    return re.sub(r"[^\w .-]+|_", " ", text).strip()[:40] or t("alert.unnamed")
