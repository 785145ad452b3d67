"""Stop reasons as one bar with their counts under it, small enough to be read at a glance."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from dashboard import theme
from dashboard.language import has, t
from dashboard.wording import count

if TYPE_CHECKING:
    import pandas as pd

REASONS_SHOWN = 7
"""Reasons with a part of their own; the rarer ones are one part together."""

_BAR = "display:flex;height:12px;border-radius:6px;overflow:hidden;gap:1px"
_KEY = "display:flex;flex-wrap:wrap;gap:2px 14px;margin-top:8px;font-size:14px"
_DOT = "display:inline-block;width:10px;height:10px;border-radius:5px;margin-right:6px"


def markup(frame: pd.DataFrame) -> str:
    """Return the bar as HTML, in which no word stands that is not ours: reasons that are not known are counted together.

    Args:
        frame: rows of `stop_reasons`, the commonest reason first.
    """
    parts = _parts(frame)
    bar = "".join(f'<div style="flex:{runs} 0 2px;background:{color}"></div>' for _, color, runs in parts)
    key = "".join(
        f'<span style="white-space:nowrap"><span style="{_DOT};background:{color}"></span>'
        f"{html.escape(label)} <b>{count(runs)}</b></span>"
        for label, color, runs in parts
    )
    return f'<div aria-hidden="true" style="{_BAR}">{bar}</div><div style="{_KEY}">{key}</div>'


def _parts(frame: pd.DataFrame) -> list[tuple[str, str, int]]:
    parts: list[tuple[str, str, int]] = []
    others = 0
    for reason, runs in frame.groupby("stop_reason", sort=False)["runs"].sum().items():
        if has(f"stop_reason.{reason}") and len(parts) < REASONS_SHOWN:
            parts.append((theme.stop_reason_label(str(reason)), theme.stop_reason_color(str(reason)), int(runs)))
        else:
            others += int(runs)
    if others:
        parts.append((t("chart.other_reasons"), theme.NEUTRAL, others))
    return parts
