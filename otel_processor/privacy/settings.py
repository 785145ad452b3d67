"""What is taken out before anything is stored, as the environment says: `OTEL_PROCESSOR_REDACT`, `…_CONTENT`."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import re2

from otel_processor.errors import ConfigError
from otel_processor.policy_checks import nearest
from otel_processor.privacy import kinds
from otel_processor.privacy.patterns import compiled
from otel_processor.privacy.redactor import Redactor

REDACT: Final = "OTEL_PROCESSOR_REDACT"
PATTERNS: Final = "OTEL_PROCESSOR_REDACT_PATTERNS"
CONTENT: Final = "OTEL_PROCESSOR_CONTENT"

_KIND: Final = re.compile("[a-z][a-z0-9_]{0,39}")
_MOST_PATTERNS: Final = 100
_LONGEST_PATTERN: Final = 2_000
_SWITCH: Final = {"on": True, "true": True, "1": True, "yes": True, "off": False, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class Privacy:
    """What of spans is stored."""

    keeps_content: bool = True
    """Whether what people, models and tools said is stored; else its hashes and lengths are."""
    kinds: frozenset[str] = kinds.ALL
    """The kinds of secrets that are taken out."""
    own: tuple[tuple[str, str], ...] = ()
    """Kinds that somebody added, by name and pattern."""

    @property
    def redactor(self) -> Redactor:
        """What takes secrets out."""
        return _redactor(self.kinds, self.own)


@lru_cache(maxsize=16)
def _redactor(names: frozenset[str], own: tuple[tuple[str, str], ...]) -> Redactor:
    return Redactor(names, own)


def privacy_of(*, content: bool | None = None) -> Privacy:
    """Return what the environment says.

    Args:
        content: whether content is kept; what `OTEL_PROCESSOR_CONTENT` says when left out, and it is kept when that says nothing.

    Raises:
        ConfigError: a value, or the file of patterns, cannot be used.
    """
    if content is None:
        content = _content(os.environ.get(CONTENT, "").strip().lower())
    patterns = os.environ.get(PATTERNS, "").strip()
    return Privacy(content, _kinds(os.environ.get(REDACT, "").strip().lower()), load_patterns(Path(patterns)) if patterns else ())


def _content(text: str) -> bool:
    if not text:
        return True
    if text not in _SWITCH:
        raise ConfigError(f"{CONTENT} is {text!r}; use on or off")
    return _SWITCH[text]


def _kinds(text: str) -> frozenset[str]:
    if not text or text in _SWITCH:
        return kinds.ALL if not text or _SWITCH[text] else frozenset()
    named = frozenset(name.strip() for name in text.split(",") if name.strip())
    for name in sorted(named - kinds.ALL):
        raise ConfigError(f"{REDACT} names no kind of secret: {name!r}{nearest(name, sorted(kinds.ALL))}; use on, off or kinds")
    return named


def load_patterns(path: Path) -> tuple[tuple[str, str], ...]:
    """Return the kinds that a TOML file adds: a table `[patterns]` of names with a pattern each.

    Raises:
        ConfigError: it cannot be read, or one is no pattern that can be used.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{PATTERNS} names {path}, which cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no TOML: {error}") from None
    table = values.get("patterns")
    if not isinstance(table, dict) or not table or len(values) > 1:
        raise ConfigError(f"{path} needs one table, [patterns], with lines like customer = 'C-[0-9]{{8}}'")
    if len(table) > _MOST_PATTERNS:
        raise ConfigError(f"{path} has {len(table)} patterns; {_MOST_PATTERNS} are the most")
    return tuple((name, _pattern(path, name, pattern)) for name, pattern in table.items())


def _pattern(path: Path, name: str, pattern: object) -> str:
    if not _KIND.fullmatch(name) or name in kinds.ALL:
        raise ConfigError(f"{path}: {name!r} cannot be a kind; use lower-case letters, digits and _, and no kind that is known")
    if not isinstance(pattern, str) or not 0 < len(pattern) <= _LONGEST_PATTERN:
        raise ConfigError(f"{path}: {name} is no pattern of up to {_LONGEST_PATTERN:,} characters; write it in single quotes")
    try:
        matches_nothing = compiled(pattern).search("") is not None
    except re2.error as error:
        told = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else str(error)
        raise ConfigError(f"{path}: {name} is no pattern: {told}; RE2 has no look-around and no back-references") from None
    if matches_nothing:
        raise ConfigError(f"{path}: {name} fits the empty text, and so would redact everywhere; ask for a character at least")
    return pattern
