"""A policy from a TOML file and from the environment: every field of `Policy` by its name, and a `preset` to begin with.

hard_loop_repeats = 4
volatile_keys = ["session"]
effects = { scroll_down = "poll" }
prices = { "our-model*" = { input = 0.5, output = 2.0 } }
discounts = { openai = 0.1 }
task_types = { research = { no_progress_stop_steps = 8 } }
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from otel_processor.errors import ConfigError
from otel_processor.policy import Policy
from otel_processor.policy_checks import nearest
from otel_processor.settings import POLICY_FIELD_PREFIX, load_settings

_SETS = (("volatile_keys", "argument names"), ("patterns", "pattern names"))


def policy_of(given: Policy | None) -> Policy:
    """Return the policy in force: the one given, else what the environment says, else the defaults.

    `OTEL_PROCESSOR_PRESET` names what it begins with, `OTEL_PROCESSOR_POLICY` a file whose fields go before that, and
    `OTEL_PROCESSOR_POLICY_MAX_STEPS=20` and the like single fields that go before both.

    Raises:
        ConfigError: the file or a value cannot be used, or there is no such preset.
    """
    if given is not None:
        return given
    settings = load_settings()
    if settings.policy is None and settings.preset is None and not settings.policy_fields:
        return Policy()
    place, values = "the environment", {}
    if settings.policy is not None:
        place, values = f"the policy {settings.policy}", _read(settings.policy)
    single = {name: _value(text) for name, text in settings.policy_fields.items()}
    for name in single:
        if name not in _known():
            variable = f"{POLICY_FIELD_PREFIX}{name.upper()}"
            variables = [f"{POLICY_FIELD_PREFIX}{field.upper()}" for field in _known()]
            raise ConfigError(f"{variable} names no field of the policy{nearest(variable, variables)}")
    try:
        return _made(place, {"preset": settings.preset, **values, **single})
    except ConfigError as error:
        raise ConfigError(f"OTEL_PROCESSOR_PRESET: {error}" if settings.policy is None and not single else str(error)) from error


def load_policy(path: str | Path, *, preset: str | None = None) -> Policy:
    """Return the policy that a TOML file holds.

    Args:
        path: the file.
        preset: what the policy begins with, where the file names none.

    Raises:
        ConfigError: the file cannot be read, is no TOML, names a field that does not exist, or holds a value out of range.
    """
    return _made(f"the policy {path}", {"preset": preset, **_read(path)})


def _read(path: str | Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the policy {path} cannot be read: {error}") from error
    for name in values:
        if name != "preset" and name not in _known():
            raise ConfigError(f"the policy {path} has {name!r}, which is no field{nearest(name, _known())}")
    return values


def _value(text: str) -> Any:
    """Return the value of a variable: a TOML value, or the text itself."""
    try:
        found = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    # More than one line may be more than one value.
    return found["value"] if len(found) == 1 else text


def _known() -> set[str]:
    return {field.name for field in fields(Policy)}


def _made(place: str, values: dict[str, Any]) -> Policy:
    preset = values.pop("preset", None)
    if preset is not None and not isinstance(preset, str):
        raise ConfigError(f"{place}: preset is the name of one")
    values = _with_sets(place, values)
    types = values.get("task_types")
    if isinstance(types, Mapping):
        changed = {
            kind: _with_sets(place, changes) if isinstance(changes, Mapping) else changes for kind, changes in types.items()
        }
        values["task_types"] = changed
    try:
        return Policy.preset(preset, **values) if preset is not None else Policy(**values)
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"{place} has a value of the wrong kind: {error}") from error


def _with_sets(place: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with sets where TOML has lists."""
    made = dict(values)
    for name, holds in _SETS:
        if name in made:
            members = made[name]
            if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
                raise ConfigError(f"{place}: {name} is a list of {holds}")
            made[name] = frozenset(members)
    return made
