"""What is known of the person who looks: their timezone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import t
from dashboard.wording import moment, zone

if TYPE_CHECKING:
    from datetime import date, tzinfo


def timezone() -> tzinfo:
    """Return the viewer's timezone, UTC while it is not known."""
    return zone(st.context.timezone)


def time_text(value: object) -> str:
    """Write a time as the viewer's clock would show it."""
    return moment(value, timezone())


def day_text(day: date) -> str:
    """Write a day: 4 Mar 2026."""
    return f"{day.day} {t(f'month.{day.month}')} {day.year}"
