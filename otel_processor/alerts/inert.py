"""Text that came from an agent's tools, made harmless where a person reads it."""

from __future__ import annotations


def inert(text: str, longest_chars: int) -> str:
    """Return the text in one line: what moves a cursor, turns the direction of reading or is not seen becomes a space."""
    head = text[:longest_chars]
    return "".join(character if character.isprintable() else " " for character in head)
