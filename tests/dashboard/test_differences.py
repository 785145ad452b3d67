"""Whatever two texts hold, what differs is found in bounded time, and in HTML every character of theirs stands for itself."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard import differences
from dashboard.components.run import difference
from dashboard.differences import LONGEST_COMPARED, MOST_WORK, Piece, compare, folded
from dashboard.wording import inert

WORDS = st.lists(st.sampled_from(["one", "two", " ", "\n", ",", "12:00:01", "<b>", "é", "{", "}"]), max_size=60).map("".join)
TEXTS = st.one_of(WORDS, st.text(max_size=200))
OURS = (difference.GONE, difference.COME, difference.FOLDED, difference.OUTSIDE)

HOSTILE = (
    "</span><script>alert(1)</script>",
    "</del></div><img src=x onerror=alert(1)>",
    "&lt;b&gt; &amp;amp; &#60;script&#62;",
    "\u202etxet\u202c \u200b\u2066x\u2069",
    "\x1b[31mred\x1b[0m \x00",
    "\"' onmouseover='x' style=\"y\"",
    "\ud800 half a pair",
    "**bold** [x](javascript:1) $x$ :red[x]",
)


def read_back(markup: str) -> str:
    """What is left when the tags of ours are taken off and the rest is read as a browser reads it."""
    for tags in OURS:
        for tag in tags:
            markup = markup.replace(tag, "")
    assert "<" not in markup
    assert ">" not in markup
    return html.unescape(markup)


@given(TEXTS, TEXTS)
def test_both_sides_hold_their_whole_text(before: str, after: str) -> None:
    found = compare(before, after)
    assert "".join(piece.text for piece in found.before) == before
    assert "".join(piece.text for piece in found.after) == after
    assert found.is_same == (before == after)


@given(TEXTS, TEXTS)
def test_what_both_share_is_the_same_on_both_sides(before: str, after: str) -> None:
    found = compare(before, after)
    shared = ["".join(piece.text for piece in side if piece.kind == "same") for side in (found.before, found.after)]
    assert shared[0] == shared[1]


@given(TEXTS, TEXTS)
def test_tags_of_ours_taken_off_leave_the_text(before: str, after: str) -> None:
    found = compare(before, after)
    for text, pieces, is_earlier in ((before, found.before, True), (after, found.after, False)):
        assert read_back(difference.markup(pieces, is_earlier=is_earlier)) == "".join(inert(piece.text) for piece in pieces)
        if inert(text) == text:
            assert read_back(difference.markup(pieces, is_earlier=is_earlier)) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert_wherever_it_stands(text: str) -> None:
    for kind in ("same", "changed"):
        markup = difference.markup([Piece(kind, text)], is_earlier=True)
        plain = read_back(markup)
        assert plain == inert(text.encode("utf-8", "backslashreplace").decode())
        assert "<script" not in markup
        assert "<img" not in markup
        for acting in "\u202e\u2066\u200b\x1b\x00":
            assert acting not in markup
        markup.encode()


def test_a_time_that_changed_is_one_word() -> None:
    found = compare('{"at": "12:00:01", "rows": 3}', '{"at": "12:00:05", "rows": 3}')
    assert found.changes == (("12:00:01", "12:00:05"),)
    assert [piece.text for piece in found.after if piece.kind == "changed"] == ["12:00:05"]


def test_a_line_that_came_is_the_only_difference() -> None:
    found = compare("one\nthree\n", "one\ntwo\nthree\n")
    assert found.changes == (("", "two\n"),)
    assert [piece.kind for piece in found.before] == ["same", "same"] or [piece.kind for piece in found.before] == ["same"]


def test_changes_that_only_a_comma_lies_between_are_one() -> None:
    assert compare("a = [1, 2, 3]", "a = [4, 5, 6]").changes == (("1, 2, 3", "4, 5, 6"),)


def test_a_log_in_which_every_line_has_another_time_differs_in_the_times_only() -> None:
    before = "".join(f"row {number} at 12:{number % 60:02d}:01 waits\n" for number in range(600))
    found = compare(before, before.replace(":01", ":05"))
    assert found.changed == 600
    assert found.changes[0] == ("12:00:01", "12:00:05")
    assert {len(piece.text) for piece in found.after if piece.kind == "changed"} == {8}


def test_only_the_first_changes_are_kept_and_all_are_counted() -> None:
    before = " ".join(f"w{number} same{number}" for number in range(20))
    after = " ".join(f"x{number} same{number}" for number in range(20))
    found = compare(before, after)
    assert found.changed == 20
    assert found.changes[0] == ("w0", "x0")
    assert len(found.changes) == 3


def test_texts_of_a_megabyte_are_cut_and_compared() -> None:
    found = compare("word " * 200_000, "word " * 199_999 + "other")
    assert found.was_cut
    assert found.is_same
    assert sum(len(piece.text) for piece in found.before) == LONGEST_COMPARED


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (",".join("abcdefgh"[n * n % 7] for n in range(10_000)), ",".join("abcdefgh"[n * n % 5] for n in range(10_000))),
        ("\n" * 10_000 + "a\n" * 100, "\n" * 5_000 + "b\n" * 5_000),
        ("a b " * 5_000, "b a " * 5_000),
        ("\n".join(str(n * 7919 % 1000) for n in range(4_000)), "\n".join(str(n * 104729 % 1000) for n in range(4_000))),
    ],
)
def test_texts_that_have_little_in_common_take_bounded_work(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    work = differences.Work()
    monkeypatch.setattr(differences, "Work", lambda: work)
    compare.cache_clear()
    found = compare(before, after)
    assert not found.is_same
    assert "".join(piece.text for piece in found.after) == after[:LONGEST_COMPARED]
    # The last round of edits may begin with little left: a look along each text on every diagonal of one round at the most.
    assert work.left < MOST_WORK
    assert work.left >= -4 * LONGEST_COMPARED


def test_what_both_share_is_folded_beside_a_difference_and_the_rest_is_left() -> None:
    long = "equal words " * 500
    found = compare(f"{long}old{long}", f"{long}new{long}")
    shown = folded(found.after)
    assert [piece.kind for piece in shown] == ["same", "folded", "same", "changed", "same", "folded", "same"]
    assert "".join(piece.text for piece in shown) == f"{long}new{long}"[:LONGEST_COMPARED]
    markup = difference.markup(shown, is_earlier=False)
    assert "equal characters …" in markup
    assert len(markup) < 3_000
    assert folded([Piece("same", "short")]) == [Piece("same", "short")]
