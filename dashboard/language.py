"""The languages of the pages: every word that a page says stands in one catalogue for each language.

A text is asked for by its key: `t("overview.title")`. Values go in by name; counted texts have one form for one and one for
other numbers.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.numbers import short_number

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = {"en": "English", "es": "Español"}
"""The languages there are, each by its own name."""

ENGLISH = "en"

_FOLDER = Path(__file__).with_name("catalogues")
_CHOSEN = "language"
_SPOKEN = "language spoken"
_SWAPPED = str.maketrans(",.", ".,")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The texts of one language by key, and how it writes numbers."""

    code: str
    texts: Mapping[str, str]
    decimal_comma: bool

    def number(self, text: str) -> str:
        """Return a number that is written the English way as this language writes it."""
        return text.translate(_SWAPPED) if self.decimal_comma else text


@cache
def catalogue(code: str) -> Catalogue:
    """Return the catalogue of a language.

    Args:
        code: one of `LANGUAGES`.
    """
    loaded = tomllib.loads((_FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
    texts = dict(_flat(loaded, ""))
    return Catalogue(code, texts, texts["language.decimal"] == ",")


def current() -> Catalogue:
    """Return the catalogue of whoever looks: the chosen language, else the browser's, else English."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return catalogue(ENGLISH)
    spoken: str | None = st.session_state.get(_SPOKEN)
    if spoken is None:
        # Asked once: a table of a thousand rows asks for its words ten thousand times, and this takes 25 µs.
        locale = (st.context.locale or "")[:2].lower()
        spoken = st.session_state[_SPOKEN] = locale if locale in LANGUAGES else ENGLISH
    return catalogue(spoken)


def choose(code: str) -> None:
    """Set the language of this viewer; one that there is not changes nothing."""
    if code in LANGUAGES:
        st.session_state[_CHOSEN] = st.session_state[_SPOKEN] = code


def chosen() -> str | None:
    """Return the language that this viewer chose, None if it is the browser's."""
    return st.session_state.get(_CHOSEN)


def t(key: str, **values: object) -> str:
    """Return a text in the viewer's language.

    Args:
        key: its place in the catalogue: `section.name`.
        values: put in where the text names them: `{task}`.
    """
    return _text(key).format(**values) if values else _text(key)


def counted(key: str, number: int, **values: object) -> str:
    """Return a text that counts something: `{n}` in it is the number, written the short way.

    Args:
        key: a section with the texts `one` and `other`.
        number: how many.
        values: as for `t`.
    """
    return _text(f"{key}.{'one' if number == 1 else 'other'}").format(n=current().number(short_number(number)), **values)


def _text(key: str) -> str:
    texts = current().texts
    return texts[key] if key in texts else catalogue(ENGLISH).texts.get(key, key)


def has(key: str) -> bool:
    """Whether there is a text of that key: patterns and stop reasons of others have none."""
    return key in catalogue(ENGLISH).texts


def _flat(table: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in table.items():
        found += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(f"{prefix}{name}", str(value))]
    return found
