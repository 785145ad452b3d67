"""How values are written for people: numbers, times, and text that somebody else wrote."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pandas as pd

from dashboard.language import counted, current, t
from dashboard.numbers import short_number

NOTHING = "-"

_CONTROLS = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: "\u2421"}
_INVISIBLE = re.compile("[\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def inert(text: str) -> str:
    """Show the characters that would act instead of being read: terminal escapes, text direction marks, zero widths."""
    plain = text.replace("\r\n", "\n").translate(_CONTROLS)
    return _INVISIBLE.sub(lambda found: f"[U+{ord(found.group()):04X}]", plain)


def text_of(value: object, otherwise: str = NOTHING) -> str:
    """Return a value of a frame as text; missing and empty ones as `otherwise`."""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return otherwise
    return str(value) or otherwise


def short(text: str, longest: int) -> str:
    """Cut a text for a place that has one line for it."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def option(text: str, longest: int, otherwise: str = "") -> str:
    """Return what a text that somebody else wrote is called in a list to choose from.

    Streamlit knows an option by this alone, so no two texts may be called the same: one that cannot be shown as it is keeps its
    beginning and its end, and a mark of the whole.

    Args:
        text: the text.
        longest: characters, not fewer than 20.
        otherwise: for an empty text.
    """
    line = " ".join(inert(text).split())
    if line == text and len(line) <= longest and line != otherwise:
        return line or otherwise
    if not text:
        return otherwise
    mark = f" #{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:6]}"
    room = longest - len(mark)
    if len(line) > room:
        line = f"{line[: room - room // 3 - 1]}…{line[-(room // 3) :]}"
    return f"{line}{mark}"


def number_of(value: object) -> float | None:
    """Return a number of a frame, None where it is missing."""
    text = text_of(value, "")
    return float(text) if text else None


def count(value: object) -> str:
    """Write a count the short way, in three digits: 999, 1.2k, 12.4M, 107k; a dash when it is not known."""
    number = number_of(value)
    return NOTHING if number is None else current().number(short_number(number))


def whole(value: object) -> str:
    """Write a count in full: 12,480; a dash when it is not known."""
    number = number_of(value)
    return NOTHING if number is None else current().number(f"{number:,.0f}")


def dollars(value: object) -> str:
    """Write an amount of money so that a small one is not nothing: $12.40, $0.0024; a dash when it is not known."""
    amount = number_of(value)
    if amount is None:
        return NOTHING
    if amount == 0 or amount >= 0.095:
        return current().number(f"${amount:,.2f}")
    return current().number(f"${amount:.4f}" if amount >= 0.00005 else "< $0.0001")


def unpriced(calls: object) -> str:
    """Say how many model calls a sum leaves out because their price is not known; nothing when it leaves out none."""
    number = int(number_of(calls) or 0)
    return counted("wording.unpriced", number) if number else ""


def percent(part: object, whole: object) -> str:
    """Write a share in whole percent; a dash when it is not known."""
    of = number_of(whole)
    some = number_of(part)
    if not of or some is None:
        return NOTHING
    share = 100 * some / of
    return "< 1 %" if 0 < share < 1 else f"{share:.0f} %"


def zone(name: str | None) -> tzinfo:
    """Return the timezone of that name, UTC if there is none."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def moment(value: object, tz: tzinfo, *, now: datetime | None = None) -> str:
    """Write a time in a timezone: the clock alone for today, with the date otherwise."""
    if not isinstance(value, datetime) or pd.isna(value):
        return NOTHING
    local = value.astimezone(tz)
    today = (now or datetime.now(UTC)).astimezone(tz).date()
    if local.date() == today:
        return local.strftime("%H:%M:%S")
    year = f" {local.year}" if local.year != today.year else ""
    return f"{local.day} {t(f'month.{local.month}')}{year}, {local.strftime('%H:%M:%S')}"


def ago(value: object, *, now: datetime | None = None) -> str:
    """Write how long ago something was: 12 s ago, 4 min ago, 3 h ago, 2 d ago."""
    if not isinstance(value, datetime) or pd.isna(value):
        return NOTHING
    seconds = max(((now or datetime.now(UTC)) - value).total_seconds(), 0.0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return t("wording.ago", time=f"{seconds / size:.0f} {unit}")
    return t("wording.ago", time=f"{seconds:.0f} s")


def duration(start: object, end: object) -> str:
    """Write how long something took: 850 ms, 12.3 s, 4 min 10 s, 2 h 5 min."""
    if not isinstance(start, datetime) or not isinstance(end, datetime) or pd.isna(start) or pd.isna(end):
        return NOTHING
    passed: timedelta = end - start
    return seconds_text(passed.total_seconds())


def seconds_text(value: object) -> str:
    """Write a number of seconds in the unit that fits; a dash when it is not known."""
    known = number_of(value)
    if known is None:
        return NOTHING
    seconds = max(known, 0.0)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return current().number(f"{seconds:.1f}") + " s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
