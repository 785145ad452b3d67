"""The lexicons of hedging words: one file per language in `lexicons/`, read once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from otel_processor.detection.spaceless import LETTERS

_WORD = re.compile(r"[\w-]+")
# The same for ASCII, at a third of the time.
_WORDS_ONLY = bytes(c if chr(c).isalnum() or c in b"_-" else 0x20 for c in range(256))


class Phrase(NamedTuple):
    """Words of one language that say doubt, or that look like it and do not."""

    words: tuple[str, ...]
    language: str
    is_hedge: bool


class Found(NamedTuple):
    """The hedging found in a text, in the language that has most of it."""

    language: str
    length: int
    """Hedging words, or characters where the language writes no spaces."""
    total: int
    """Words or characters of the text."""
    phrases: tuple[str, ...]


class Lexicon:
    """Phrases of several languages, indexed by their first words so that a text is gone through once for all of them.

    Args:
        sources: language → text of its file: one word or phrase a line, `#` begins a comment, `!` a phrase that is no hedge.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._single: dict[str, list[Phrase]] = {}
        self._pairs: dict[str, dict[str, list[Phrase]]] = {}
        self._spaceless: dict[str, tuple[re.Pattern[str], frozenset[str]]] = {}
        for language, source in sorted(sources.items()):
            phrases = list(_entries(source))
            if any(LETTERS.search(text) for text, _ in phrases):
                self._spaceless[language] = _substrings(phrases)
                continue
            for text, is_hedge in phrases:
                words = tuple(_words(text))
                if len(words) == 1:
                    self._single.setdefault(words[0], []).append(Phrase(words, language, is_hedge))
                elif words:
                    self._pairs.setdefault(words[0], {}).setdefault(words[1], []).append(Phrase(words, language, is_hedge))
        for seconds in self._pairs.values():
            for alternatives in seconds.values():
                alternatives.sort(key=lambda phrase: -len(phrase.words))
        self._first = frozenset(self._single) | frozenset(self._pairs)

    def find(self, text: str, *, least: int) -> Found | None:
        """Return the hedging in a text, or None where it has fewer than `least` words.

        The language is the one with most hedging words; a text without any has none.

        Args:
            text: what was said, in lower case.
            least: words from which a text says enough.
        """
        letters = 0 if text.isascii() or not self._spaceless else sum(map(len, LETTERS.findall(text)))
        # Two characters are about a word.
        if letters * 2 > len(text):
            return self._find_characters(text, letters) if letters >= 2 * least else None
        words = _words(text)
        return self._find_words(words) if len(words) >= least else None

    def _find_words(self, words: list[str]) -> Found:
        first = self._first
        lengths: dict[str, int] = {}
        ends: dict[str, int] = {}
        found: dict[str, list[str]] = {}
        for at in [index for index, word in enumerate(words) if word in first]:
            for phrase in self._beginning(words, at):
                language = phrase.language
                if at < ends.get(language, 0):
                    continue
                ends[language] = at + len(phrase.words)
                if phrase.is_hedge:
                    lengths[language] = lengths.get(language, 0) + len(phrase.words)
                    found.setdefault(language, []).append(" ".join(phrase.words))
        if not lengths:
            return Found("", 0, len(words), ())
        language = max(lengths, key=lambda name: (lengths[name], name))
        return Found(language, lengths[language], len(words), tuple(found[language]))

    def _beginning(self, words: list[str], at: int) -> Iterator[Phrase]:
        """Yield the phrases that begin at a word, the longest first."""
        seconds = self._pairs.get(words[at])
        if seconds is not None and at + 1 < len(words):
            for phrase in seconds.get(words[at + 1], ()):
                length = len(phrase.words)
                if length == 2 or tuple(words[at : at + length]) == phrase.words:
                    yield phrase
        yield from self._single.get(words[at], ())

    def _find_characters(self, text: str, total: int) -> Found:
        best = Found("", 0, total, ())
        for language, (pattern, no_hedges) in self._spaceless.items():
            phrases = tuple(match for match in pattern.findall(text) if match not in no_hedges)
            length = sum(map(len, phrases))
            if length > best.length:
                best = Found(language, length, total, phrases)
        return best


@cache
def hedges() -> Lexicon:
    """Return the lexicon of all languages that have a file."""
    folder = files("otel_processor.detection") / "lexicons"
    return Lexicon({item.name[:-4]: item.read_text(encoding="utf-8") for item in folder.iterdir() if item.name.endswith(".txt")})


def _words(text: str) -> list[str]:
    """Return a text's words; an apostrophe parts two, in texts as in lexicons, a hyphen does not."""
    return text.encode().translate(_WORDS_ONLY).decode().split() if text.isascii() else _WORD.findall(text)


def _entries(source: str) -> Iterator[tuple[str, bool]]:
    for line in source.splitlines():
        entry = unicodedata.normalize("NFC", line).lower().strip()
        phrase = entry.removeprefix("!").strip()
        if phrase and not entry.startswith("#"):
            yield phrase, phrase == entry


def _substrings(phrases: list[tuple[str, bool]]) -> tuple[re.Pattern[str], frozenset[str]]:
    longest_first = sorted((text for text, _ in phrases), key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, longest_first))), frozenset(text for text, is_hedge in phrases if not is_hedge)
