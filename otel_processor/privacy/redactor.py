"""Takes secrets out of texts and values; the same secret always becomes the same stand-in."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import re2

from otel_processor.privacy import assignments, commands, curl, elements, kinds
from otel_processor.privacy.escapes import ESCAPE, unescaped, without_percent
from otel_processor.privacy.nesting import parsed, parts_of_list, parts_of_object
from otel_processor.privacy.patterns import compiled
from otel_processor.privacy.places import replaced
from otel_processor.privacy.secret_names import ASSIGNED, HEAD, LAST, LISTED, VALUED, is_secret, may_hold_secret

_DEPTH: Final = 64
_BY_NAME: Final = (
    assignments.secrets_in,
    elements.secrets_in,
    elements.literals_in,
    elements.entries_in,
    curl.secrets_in,
    commands.secrets_in,
)
_RANDOM_DIGITS, _GUESSABLE_DIGITS = 8, 3


class _PrivateKey:
    """Blocks from their first line to their last; to the last character that can be theirs where they were cut."""

    def __init__(self) -> None:
        self._begin = compiled(kinds.PRIVATE_KEY_BEGIN)
        self._end = compiled(kinds.PRIVATE_KEY_END)

    def replaced(self, text: str, stand_in: Callable[[str], str]) -> str:
        parts: list[str] = []
        done = 0
        # One pass each: Python has to give RE2 the whole text each time.
        ends = self._end.finditer(text)
        last = next(ends, None)
        for begin in self._begin.finditer(text):
            if begin.start() < done:
                continue
            while last is not None and last.start() < begin.end():
                last = next(ends, None)
            body = last or kinds.PRIVATE_KEY_BODY.match(text, begin.end())
            end = body.end() if body is not None else begin.end()
            parts += (text[done : begin.start()], stand_in(text[begin.start() : end]))
            done = end
        return "".join([*parts, text[done:]]) if parts else text


class Redactor:
    """Knows the kinds that are looked for. Immutable and thread-safe."""

    def __init__(self, names: frozenset[str] = kinds.ALL, own: Sequence[tuple[str, str]] = ()) -> None:
        """Compile what is looked for.

        Args:
            names: of the kinds.
            own: kinds that somebody added, by name and pattern.

        Raises:
            re2.error: one of those is no pattern.
        """
        tokens = [kind for kind in kinds.TOKENS if kind.name in names]
        groups = ([kind for kind in tokens if not kind.is_alone], *([kind] for kind in tokens if kind.is_alone))
        self._tokens = [(group, compiled(f"({kinds.BEFORE})(?:{_any_of(group)})")) for group in groups if group]
        self._own = [(name, compiled(pattern)) for name, pattern in own]
        self._private_key = _PrivateKey() if kinds.PRIVATE_KEY in names else None
        self._url = compiled(kinds.URL_PASSWORD_PATTERN) if kinds.URL_PASSWORD in names else None
        self._authorization = compiled(kinds.AUTHORIZATION_PATTERN) if kinds.AUTHORIZATION in names else None
        self._by_name = kinds.PASSWORD in names
        looked_for = [
            rf"{kinds.BEFORE}(?:{_any_of(tokens)})" if tokens else "",
            "-----BEGIN [A-Z0-9 ]*PRIVATE KEY" if self._private_key is not None else "",
            kinds.URL_PASSWORD_PATTERN if self._url is not None else "",
            # Blanks are written as escapes in JSON.
            rf"(?i:{kinds.SCHEMES})(?:\s|\\[nrt])+[A-Za-z0-9._~+/=-]{{12}}" if self._authorization else "",
            rf"{HEAD}(?:{ASSIGNED}|\s+[\\\"'A-Za-z0-9]|{VALUED}|{LISTED}|{LAST})" if self._by_name else "",
            f"{elements.SUSPICIOUS}|{curl.SUSPICIOUS}|{commands.SUSPICIOUS}" if self._by_name else "",
        ]
        pattern = "|".join(f"(?:{each})" for each in looked_for if each)
        # Bytes, since Python's texts would have to be made such for RE2 each time, and no groups, which cost as much again.
        self._scan = compiled(f"{pattern}|{ESCAPE}".encode(), never_capture=True) if pattern else None
        self._closer_scan = compiled(pattern.encode(), never_capture=True) if pattern else None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is looked for."""
        return self._scan is None and not self._own

    def suspects(self, text: str) -> bool:
        """Return whether a text, plain or JSON, may hold a secret: quick, and never wrong when it says no."""
        if self._own:
            return True
        return self._scans(text)

    def _scans(self, text: str) -> bool:
        if self._scan is None or self._closer_scan is None or not _fits(self._scan, text):
            return False
        plain = unescaped(text)
        address = without_percent(text if plain is None else plain)
        if plain is None and address is None:
            return True
        return any(_fits(self._closer_scan, form) for form in (text, plain, address) if form is not None)

    def text(self, text: str, found: Counter[str]) -> str:
        """Return the text without its secrets.

        Args:
            text: any; JSON keeps its form as far as it can be parsed.
            found: counts the kinds that were found.
        """
        if not text or not self._may_change(text):
            return text
        if text[0] in '{["' or text[:1].isspace():
            told = parsed(text)
            if isinstance(told, dict | list | str):
                before = found.total()
                cleaned = self.value(told, found)
                return text if found.total() == before else json.dumps(cleaned, ensure_ascii=False, separators=(",", ":"))
        return self._plain(text, found)

    def _may_change(self, text: str) -> bool:
        if self._scans(text):
            return True
        # A pattern of somebody's own may begin or end with the text, so that JSON has to be taken apart for it.
        return bool(self._own) and (
            text[0] in '{["' or unescaped(text) is not None or any(pattern.search(text) for _, pattern in self._own)
        )

    def value(self, value: Any, found: Counter[str], name: str = "", depth: int = _DEPTH) -> Any:
        """Return a JSON value without its secrets.

        Args:
            value: any value; bytes that hold one become a text.
            found: counts the kinds that were found.
            name: that it stands under.
            depth: levels that are looked into; what lies below is taken as a text.
        """
        if isinstance(value, str):
            return self._named(value, name, found)
        if isinstance(value, bool | float) or value is None:
            return value
        if isinstance(value, int):
            return self._named_number(value, name, found)
        if isinstance(value, bytes):
            text = value.decode("utf-8", "replace")
            cleaned = self._named(text, name, found)
            return value if cleaned == text else cleaned
        if depth <= 0:
            return self.text(str(value), found)
        if isinstance(value, Mapping):
            told = {
                self.text(key, found) if isinstance(key, str) else key: self.value(inner, found, under, depth - 1)
                for key, inner, under in parts_of_object(value, name)
            }
            if not self._by_name:
                return told
            stood_in = partial(self._stand_in, kinds.PASSWORD, found=found)
            return commands.object_without(curl.object_without(told, stood_in), stood_in)
        if isinstance(value, list | tuple):
            parts = [self.value(inner, found, under, depth - 1) for inner, under in parts_of_list(value, name)]
            if not self._by_name:
                return parts
            stood_in = partial(self._stand_in, kinds.PASSWORD, found=found)
            return commands.arguments_without(curl.arguments_without(parts, stood_in), stood_in)
        return value

    def _named(self, text: str, name: str, found: Counter[str]) -> str:
        cleaned = self.text(text, found)
        if not self._by_name or not name or not may_hold_secret(name) or "[redacted:" in cleaned or not is_secret(name, text):
            return cleaned
        return self._stand_in(kinds.PASSWORD, text, found)

    def _named_number(self, number: int, name: str, found: Counter[str]) -> Any:
        # A number under such a name is a PIN; `has_password: 1` is not.
        if self._by_name and name and abs(number) > 999 and is_secret(name, str(number)):
            return self._stand_in(kinds.PASSWORD, str(number), found)
        return number

    def _plain(self, text: str, found: Counter[str]) -> str:
        cleaned = self._unescaped(text, found)
        address = without_percent(cleaned)
        if address is None:
            return cleaned
        inside = Counter[str]()
        told = self._replaced(address, inside)
        # Only then, since an address is not read as well without its escapes.
        found.update(inside)
        return told if inside else cleaned

    def _unescaped(self, text: str, found: Counter[str]) -> str:
        plain = unescaped(text)
        if plain is not None:
            # Before the text as it is: half of a secret may be found there, which ends at an escape.
            inside = Counter[str]()
            cleaned = self._replaced(plain, inside)
            if inside:
                found.update(inside)
                return cleaned
        return self._replaced(text, found)

    def _replaced(self, text: str, found: Counter[str]) -> str:
        for name, pattern in self._own:
            text = pattern.sub(lambda match, name=name: self._stand_in(name, match.group(), found) if match.group() else "", text)
        if self._private_key is not None and "PRIVATE KEY" in text:
            text = self._private_key.replaced(text, lambda key: self._stand_in(kinds.PRIVATE_KEY, key, found))
        for group, pattern in self._tokens:
            text = pattern.sub(lambda match, group=group: self._token_found(match, group, found), text)
        if self._url is not None:
            text = self._url.sub(lambda match: self._password_found(match, found), text)
        if self._authorization is not None:
            text = self._authorization.sub(lambda match: self._authorization_found(match, found), text)
        if self._by_name:
            for secrets_in in _BY_NAME:
                text = replaced(text, secrets_in(text), lambda secret: self._stand_in(kinds.PASSWORD, secret, found))
        return text

    def _token_found(self, match: re2._Match, group: Sequence[kinds.Kind], found: Counter[str]) -> str:
        for number, kind in enumerate(group, 2):
            secret = match.group(number)
            if secret is not None:
                if kind.is_meant is not None and not kind.is_meant(secret):
                    break
                return f"{match.group(1)}{self._stand_in(kind.name, secret, found)}"
        return str(match.group())

    def _password_found(self, match: re2._Match, found: Counter[str]) -> str:
        before, password, after = match.groups()
        if not is_secret("password", password) or password.startswith("["):
            return str(match.group())
        return f"{before}{self._stand_in(kinds.URL_PASSWORD, password, found)}{after}"

    def _authorization_found(self, match: re2._Match, found: Counter[str]) -> str:
        before, header, scheme, secret = match.groups()
        if not kinds.is_authorization(scheme.lower(), secret, is_header=bool(header)):
            return str(match.group())
        return f"{before}{self._stand_in(kinds.AUTHORIZATION, secret, found)}"

    @staticmethod
    def _stand_in(kind: str, secret: str, found: Counter[str]) -> str:
        found[kind] += 1
        return stand_in(kind, secret)


def stand_in(kind: str, secret: str) -> str:
    """Return what stands for a secret: its kind, and enough of a hash that the same one is known again.

    Of what people choose, only twelve bits: one of four thousand guesses fits, and so do all that look like it.
    """
    digits = _RANDOM_DIGITS if kind in _DRAWN or kinds.is_random(secret) else _GUESSABLE_DIGITS
    told = hashlib.sha256(b"otel_processor redacted " + secret.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[redacted:{kind}:{told[:digits]}]"


_DRAWN: Final = frozenset({*(kind.name for kind in kinds.TOKENS), kinds.PRIVATE_KEY})


def _any_of(group: Sequence[kinds.Kind]) -> str:
    return "|".join(f"({kind.pattern})" for kind in group)


def _fits(pattern: re2._Regexp, text: str) -> bool:
    return pattern.search(text.encode("utf-8", "surrogatepass")) is not None
