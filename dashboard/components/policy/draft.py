"""Thresholds to try: what they begin with and what is changed, as it stands in the address, and whether they can be used."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from otel_processor.errors import ConfigError
from otel_processor.policy import Policy
from otel_processor.presets import PRESETS
from otel_processor.what_if.fields import PolicyField, offered_fields, policy_with

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IN_FORCE = "in_force"
DEFAULTS = "defaults"
STARTS = (IN_FORCE, DEFAULTS, *PRESETS)
"""What thresholds to try can begin with."""

MOST_CHANGES = 60
LONGEST_TEXT = 2_000
MOST_NAMES = 50
_LARGEST = 2**53 - 1
"""What a field on a page can hold."""

_NAMED = re.compile(r"policy\.(\w+)")

OFFERED: Mapping[str, PolicyField] = {item.name: item for item in offered_fields()}


@dataclass(frozen=True, slots=True)
class Draft:
    """A start, and fields that are otherwise: their values as a form has them, or a text where the address has no such value."""

    start: str = IN_FORCE
    changes: Mapping[str, Any] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    """Parts of the address that are about no threshold that can be changed."""

    @classmethod
    def of_address(cls, start: str | None, given: Sequence[str]) -> Draft:
        """Read `field:value` pairs; the last of a field counts."""
        changes: dict[str, Any] = {}
        refused: list[str] = []
        for part in given[:MOST_CHANGES]:
            name, colon, text = part[:LONGEST_TEXT].partition(":")
            if not colon or name not in OFFERED:
                refused.append(part[:LONGEST_TEXT])
                continue
            changes[name] = value_of(OFFERED[name], text)
        return cls(start if start in STARTS else IN_FORCE, changes, tuple(refused))

    def to_address(self) -> list[str]:
        """Return the changes as `field:value` pairs."""
        return [f"{name}:{text_of(value)}" for name, value in self.changes.items()]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a draft comes to."""

    start: Policy
    candidate: Policy | None
    """None where a value cannot be used."""
    problems: Mapping[str, str]
    """Field → what is wrong with its value, in one sentence."""


def start_of(name: str, in_force: Policy) -> Policy:
    """Return what thresholds to try begin with. What is said of tools and prices, which are no thresholds, stays as it is."""
    if name == IN_FORCE:
        return in_force
    kept = {
        each: getattr(in_force, each) for each in ("volatile_keys", "effects", "prices", "discounts", "run_idle_timeout_seconds")
    }
    return replace(Policy(**kept), **PRESETS.get(name, {}))


def checked(draft: Draft, in_force: Policy) -> Checked:
    """Return the policy that a draft makes, or what is wrong with which field."""
    start = start_of(draft.start, in_force)
    left = {name: _to_check(OFFERED[name], value) for name, value in draft.changes.items()}
    problems: dict[str, str] = {}
    candidate = None
    while candidate is None:
        try:
            candidate = policy_with(left, start)
        except ConfigError as error:
            named = _NAMED.findall(str(error))
            beside = next((name for name in named if name in OFFERED), next(iter(left), ""))
            problems.setdefault(beside, str(error))
            guilty = next((name for name in named if name in left), next(iter(left), None))
            if guilty is None:
                break
            del left[guilty]
    return Checked(start, None if problems else candidate, problems)


def value_of(item: PolicyField, text: str) -> Any:
    """Return the value that a text of an address stands for; the text itself where it stands for none of this kind."""
    if item.kind == "choice":
        return text
    if item.kind in {"choices", "names"}:
        return _names(text)
    if not text.strip():
        return None
    try:
        number = int(text) if item.kind == "whole" else float(text)
    except ValueError:
        return text
    # Neither infinity nor more digits than a page can hold: nobody means them.
    return number if abs(number) <= _LARGEST else text


def text_of(value: Any) -> str:
    """Return a value as it stands in an address; `value_of` reads it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        names = [str(name) for name in value]
        return json.dumps(names) if any("," in name or name.startswith("[") for name in names) else ",".join(names)
    return repr(value)


def _to_check(item: PolicyField, value: Any) -> Any:
    """Return a value as `policy_with` takes it; quoted, a text is no number there that it was not here."""
    return f"'{value}'" if isinstance(value, str) and item.kind in {"whole", "number"} else value


def _names(text: str) -> list[str]:
    if text.startswith("["):
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            read = None
        if isinstance(read, list) and all(isinstance(name, str) for name in read):
            return read[:MOST_NAMES]
    return [name for name in text.split(",") if name][:MOST_NAMES]
