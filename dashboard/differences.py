"""What differs between two texts, word by word, in bounded time: for a person who asks what a repeated call brought."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST_COMPARED = 20_000
"""Characters of a text that are compared; the rest of it is left out."""

MOST_EDITS = 400
"""Words, or lines, that may have to go and come before two stretches count as different altogether."""

MOST_WORK = 300_000
"""Comparisons for two texts together; what is left then counts as different altogether."""

CHANGES_KEPT = 3
FOLDED_FROM = 400
_KEPT_BESIDE_FOLD = 120

Kind: TypeAlias = Literal["same", "changed", "folded"]
Step: TypeAlias = tuple[bool, str, str]

# A time, an id or an address is one word: what changed in it is read as a whole. A stop behind a word is none of it.
_LETTER = r"[^\s,;(){}\[\]\"'<>=.:!?]"
_WORD = re.compile(rf"\s+|{_LETTER}+(?:[.:!?]+{_LETTER}+)*|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one of the texts; `folded` stands for a long stretch that both share."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts side by side."""

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    changes: tuple[tuple[str, str], ...]
    """The first `CHANGES_KEPT` places that differ: what stood there before and what stands there after."""
    changed: int
    """How many places differ."""
    was_cut: bool
    """Whether a text was longer than is compared."""

    @property
    def is_same(self) -> bool:
        """Whether the texts are equal, as far as they were compared."""
        return self.changed == 0


@dataclass(slots=True)
class Work:
    """What may still be spent on two texts."""

    left: int = MOST_WORK


@lru_cache(maxsize=32)
def compare(before: str, after: str) -> Difference:
    """Compare two texts.

    Args:
        before: the earlier one; what is longer than `LONGEST_COMPARED` is cut.
        after: the later one, likewise.
    """
    old, new = before[:LONGEST_COMPARED], after[:LONGEST_COMPARED]
    steps = [(True, old, new)] if old == new else list(_joined(_by_lines(old, new)))
    different = [(gone, come) for same, gone, come in steps if not same]
    return Difference(
        before=tuple(Piece("same" if same else "changed", gone) for same, gone, _ in steps if gone),
        after=tuple(Piece("same" if same else "changed", come) for same, _, come in steps if come),
        changes=tuple(different[:CHANGES_KEPT]),
        changed=len(different),
        was_cut=len(before) > len(old) or len(after) > len(new),
    )


def folded(pieces: Sequence[Piece]) -> list[Piece]:
    """Fold the long stretches that both texts share down to what stands beside a difference."""
    shown: list[Piece] = []
    for piece in pieces:
        if piece.kind != "same" or len(piece.text) < FOLDED_FROM:
            shown.append(piece)
            continue
        head, tail = _ends(piece.text)
        shown += [
            Piece("same", piece.text[:head]),
            Piece("folded", piece.text[head:tail]),
            Piece("same", piece.text[tail:]),
        ]
    return shown


def _ends(text: str) -> tuple[int, int]:
    """Where the part of a long text that is folded begins and ends: between words, if there are words."""
    space = text.rfind(" ", _KEPT_BESIDE_FOLD // 2, _KEPT_BESIDE_FOLD)
    next_space = text.find(" ", len(text) - _KEPT_BESIDE_FOLD, len(text) - _KEPT_BESIDE_FOLD // 2)
    return space + 1 or _KEPT_BESIDE_FOLD, len(text) - _KEPT_BESIDE_FOLD if next_space < 0 else next_space


def _by_lines(old: str, new: str) -> Iterator[Step]:
    work = Work()
    for same, gone, come in _steps(old.splitlines(keepends=True), new.splitlines(keepends=True), work)[0]:
        if same or not gone or not come:
            yield same, gone, come
        else:
            yield from _by_words(gone, come, work)


def _by_words(gone: str, come: str, work: Work) -> Iterator[Step]:
    steps, is_told_apart = _steps(_WORD.findall(gone), _WORD.findall(come), work)
    old_lines, new_lines = gone.splitlines(keepends=True), come.splitlines(keepends=True)
    if is_told_apart or len(old_lines) == 1 or len(old_lines) != len(new_lines):
        yield from steps
        return
    # Much has changed in as many lines as before: a log in which every line has another time.
    for old, new in zip(old_lines, new_lines, strict=True):
        yield from _steps(_WORD.findall(old), _WORD.findall(new), work)[0]


def _steps(old: Sequence[str], new: Sequence[str], work: Work) -> tuple[list[Step], bool]:
    """Return what both share and what differs, in turn, and whether what differs could be told apart in full."""
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    runs = _runs(middle_old, middle_new, work)
    steps = _same(old[:start])
    at_old = at_new = 0
    for place_old, place_new, length in [*(runs or ()), (len(middle_old), len(middle_new), 0)]:
        if place_old > at_old or place_new > at_new:
            steps.append((False, "".join(middle_old[at_old:place_old]), "".join(middle_new[at_new:place_new])))
        at_old, at_new = place_old + length, place_new + length
        steps += _same(middle_old[place_old:at_old])
    return steps + _same(old[len(old) - end :]), runs is not None


def _same(parts: Sequence[str]) -> list[Step]:
    text = "".join(parts)
    return [(True, text, text)] if text else []


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """How many parts the two have in common at the beginning."""
    for place, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return place
    return min(len(old), len(new))


def _runs(old: Sequence[str], new: Sequence[str], work: Work) -> list[tuple[int, int, int]] | None:
    """The runs that both share, as (place in the old, place in the new, length), by the fewest edits (Myers).

    None where that takes more edits or work than is allowed: they grow with their square, and nobody reads so many.
    """
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(MOST_EDITS, len(old) + len(new)) + 1):
        if work.left <= 0:
            break
        trail.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            goes_down = diagonal == -edits or (
                diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if goes_down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            work.left -= 1 + x - furthest.get(diagonal, 0)
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walked_back(trail, len(old), len(new))
    return None


def _walked_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    for edits in range(len(trail) - 1, -1, -1):
        furthest, diagonal = trail[edits], x - y
        goes_down = diagonal == -edits or (diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1))
        from_diagonal = diagonal + 1 if goes_down else diagonal - 1
        from_x = furthest[from_diagonal] if edits else 0
        from_y = from_x - from_diagonal if edits else 0
        begun_x = (from_x if goes_down else from_x + 1) if edits else 0
        if x > begun_x:
            runs.append((begun_x, begun_x - diagonal, x - begun_x))
        x, y = from_x, from_y
    return runs[::-1]


def _joined(steps: Iterator[Step]) -> Iterator[Step]:
    """Put changes together that only space or punctuation lies between, and what is shared with what is shared."""
    waiting: list[Step] = []
    for same, gone, come in steps:
        if not waiting:
            waiting.append((same, gone, come))
        elif waiting[-1][0] == same:
            waiting[-1] = (same, waiting[-1][1] + gone, waiting[-1][2] + come)
        elif not same and len(waiting) > 1 and not re.search(r"\w|\n", waiting[-1][1]):
            _, between, _ = waiting.pop()
            _, gone_before, come_before = waiting.pop()
            waiting.append((False, gone_before + between + gone, come_before + between + come))
        else:
            if len(waiting) > 1:
                yield waiting.pop(0)
            waiting.append((same, gone, come))
    yield from waiting
