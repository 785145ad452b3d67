"""A text with what differs marked: the one place where words of others become part of HTML, and only as characters."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.language import counted
from dashboard.wording import inert

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dashboard.differences import Piece

_BOX = (
    "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext;max-height:340px;overflow:auto;padding:0.75rem 1rem;"
    "border-radius:0.5rem;background:rgba(133,133,128,0.12);font-family:'Source Code Pro',monospace;font-size:0.875rem;"
    "line-height:1.5"
)
_MARK = "border-radius:0.2rem;padding:0 0.1rem;color:inherit"

GONE = f'<del style="{_MARK};background:rgba(217,72,59,0.30);text-decoration:line-through">', "</del>"
COME = f'<ins style="{_MARK};background:rgba(47,158,122,0.35);text-decoration:underline">', "</ins>"
FOLDED = '<em style="opacity:0.7">', "</em>"
OUTSIDE = f'<div tabindex="0" style="{_BOX}">', "</div>"


def show(pieces: Iterable[Piece], *, is_earlier: bool) -> None:
    """Show a text with its differences.

    Args:
        pieces: of one side of a `Difference`, folded or not.
        is_earlier: whether what differs went away; else it came.
    """
    st.html(markup(pieces, is_earlier=is_earlier))


def markup(pieces: Iterable[Piece], *, is_earlier: bool) -> str:
    """Return the HTML: tags of ours around text in which every character stands for itself.

    Args:
        pieces: as for `show`.
        is_earlier: likewise.
    """
    before, after = GONE if is_earlier else COME
    parts = []
    for piece in pieces:
        match piece.kind:
            case "changed":
                parts.append(f"{before}{characters(piece.text)}{after}")
            case "folded":
                parts.append(FOLDED[0] + characters(counted("run.folded", len(piece.text))) + FOLDED[1])
            case _:
                parts.append(characters(piece.text))
    return OUTSIDE[0] + "".join(parts) + OUTSIDE[1]


def characters(text: str) -> str:
    """Return text of others as HTML in which no character acts: not as markup, nor on the direction of writing."""
    # Half of a surrogate pair cannot be sent to a browser at all.
    whole = text.encode("utf-8", "backslashreplace").decode()
    return html.escape(inert(whole), quote=True)
