"""A policy as the text of a file that `OTEL_PROCESSOR_POLICY` names: what differs from the defaults, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from otel_processor.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

_BARE = re.compile(r"[A-Za-z0-9_-]+")

# Beyond what TOML asks for: characters that would act where the text is shown.
_ESCAPED = re.compile('["\\\\\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]')


def toml_of(policy: Policy) -> str:
    """Return the lines of the fields that differ from their defaults; `load_policy` reads the same policy from them.

    What a file cannot say is left out: see `not_said`.
    """
    return "".join(f"{name} = {_value(value)}\n" for name, value in _differing(policy))


def not_said(policy: Policy) -> list[tuple[str, str]]:
    """Return (task type, field) of limits that are off for a type of task: TOML has no word for that."""
    return [
        (task_type, name) for task_type, changes in policy.task_types.items() for name, value in changes.items() if value is None
    ]


def _differing(policy: Policy) -> Iterator[tuple[str, Any]]:
    defaults = Policy()
    for item in fields(Policy):
        value = getattr(policy, item.name)
        if value != getattr(defaults, item.name) and value is not None:
            yield item.name, value


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        pairs = [f"{_key(key)} = {_value(each)}" for key, each in value.items() if each is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    return f"[{', '.join(map(_text, sorted(value)))}]"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    return f"\\{character}" if character in '"\\' else f"\\u{ord(character):04X}"
