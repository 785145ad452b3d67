"""Which fields of a policy a page offers for change, as the policy itself says: type, range, default and meaning."""

from __future__ import annotations

import ast
import inspect
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache
from itertools import pairwise
from typing import Any

from otel_processor import policy as policy_module
from otel_processor.errors import ConfigError
from otel_processor.model import Pattern
from otel_processor.policy import Policy
from otel_processor.policy_checks import nearest, range_of

_NOT_COMPARED = frozenset({
    "run_idle_timeout_seconds",  # it makes other runs: there would be nothing to compare
    "nudges_before_stop",  # of the guard, which asks nobody about the past
})  # fmt: skip

_MOST = {"cycle_max_period": 50, "cycle_rounds": 50}
"""What is looked at for each call grows with these: a page that asks for a billion would never get an answer."""

_SETS = ("patterns", "volatile_keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyField:
    """A field of the policy as a form can ask for it."""

    name: str
    kind: str
    """`whole` or `number`, `choice` (one of `choices`), `choices` (any of them) or `names` (any words)."""
    default: Any
    least: float | None = None
    is_above_least: bool = False
    """The least value itself is out of range."""
    most: float | None = None
    may_be_none: bool = False
    """None: off."""
    choices: tuple[str, ...] = ()
    sentence: str
    """What it means, with its unit: the field's docstring in one line, in English."""


@cache
def offered_fields() -> tuple[PolicyField, ...]:
    """Return the fields that a what-if can change, in the order of the policy."""
    sentences = _sentences()
    found = (_offered(item, sentences.get(item.name, "")) for item in fields(Policy) if item.name not in _NOT_COMPARED)
    return tuple(item for item in found if item is not None)


def policy_with(values: Mapping[str, Any], base: Policy | None = None) -> Policy:
    """Return a policy in which some fields are otherwise.

    Args:
        values: field → value, as JSON or a form has it: sets as lists; a text where the field is none is read as TOML writes
            such a value, so that it may come from an address. `None` and an empty text take a limit off.
        base: what holds of the other fields; the defaults, when left out.

    Raises:
        ConfigError: there is no such field, or a value is out of range; the message names the field.
    """
    known = {item.name: item for item in fields(Policy)}
    changes = {}
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"policy.{name} is no field{nearest(name, known)}")
        changes[name] = _value(name, value)
        _check_most(name, changes[name])
    try:
        return replace(base or Policy(), **changes)
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"the policy has a value of the wrong kind among {', '.join(changes)}: {error}") from error


def _offered(item: Field[Any], sentence: str) -> PolicyField | None:
    default: Any = item.default_factory() if item.default_factory is not MISSING else item.default
    if item.name in _SETS:
        if item.name == "patterns":
            choices = tuple(str(pattern) for pattern in Pattern)
            return PolicyField(name=item.name, kind="choices", default=choices, choices=choices, sentence=sentence)
        return PolicyField(name=item.name, kind="names", default=tuple(sorted(default)), sentence=sentence)
    allowed = range_of(item.name)
    if allowed is None:
        return None
    return PolicyField(
        name=item.name,
        kind="choice" if allowed.choices else "whole" if allowed.is_whole else "number",
        default=default,
        least=allowed.least,
        is_above_least=allowed.is_above_least,
        most=_MOST.get(item.name, allowed.most),
        may_be_none=allowed.may_be_none,
        choices=allowed.choices,
        sentence=sentence,
    )


def _check_most(name: str, value: Any) -> None:
    if name in _MOST and isinstance(value, int) and value > _MOST[name]:
        raise ConfigError(f"policy.{name} is {value!r}; here it must be at most {_MOST[name]}")


def _value(name: str, value: Any) -> Any:
    if name in _SETS:
        members = [word for word in value.split(",") if word] if isinstance(value, str) else value
        if not isinstance(members, list | tuple | set | frozenset) or not all(isinstance(word, str) for word in members):
            raise ConfigError(f"policy.{name} is {value!r}; it must be a list of names")
        return frozenset(members)
    if name == "task_types" and isinstance(value, Mapping):
        return {
            kind: {each: _value(each, given) for each, given in changes.items()} if isinstance(changes, Mapping) else changes
            for kind, changes in value.items()
        }
    allowed = range_of(name)
    if allowed is None or allowed.choices or not isinstance(value, str):
        return value
    if allowed.may_be_none and not value.strip():
        return None
    try:
        read = tomllib.loads(f"value = {value}")
    except ValueError:
        return value
    return read["value"] if len(read) == 1 else value


def _sentences() -> dict[str, str]:
    """Return the docstrings of the policy's fields, which are not there at run time, from its source."""
    try:
        tree = ast.parse(inspect.getsource(policy_module))
    except (OSError, SyntaxError):
        # An installation without sources.
        return {}
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == Policy.__name__)
    return {
        item.target.id: " ".join(said.value.value.split())
        for item, said in pairwise(body)
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    }
