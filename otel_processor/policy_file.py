"""A policy from a TOML file: every field of `Policy` by its name, and the `preset` that it begins with.

hard_loop_repeats = 4
volatile_keys = ["session"]
effects = { scroll_down = "poll" }
prices = { "our-model*" = { input = 0.5, output = 2.0 } }
discounts = { openai = 0.1 }
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from otel_processor.errors import ConfigError
from otel_processor.policy import Policy
from otel_processor.settings import load_settings


def policy_of(given: Policy | None) -> Policy:
    """Return the policy in force: the one given, else that of the file `OTEL_PROCESSOR_POLICY` names, else the defaults.

    The last two begin with the preset that `OTEL_PROCESSOR_PRESET` names; what the file says goes before it.

    Raises:
        ConfigError: the file cannot be used, or there is no such preset.
    """
    if given is not None:
        return given
    settings = load_settings()
    if settings.policy is not None:
        return load_policy(settings.policy, preset=settings.preset)
    if settings.preset is None:
        return Policy()
    try:
        return Policy.preset(settings.preset)
    except ConfigError as error:
        raise ConfigError(f"OTEL_PROCESSOR_PRESET: {error}") from error


def load_policy(path: str | Path, *, preset: str | None = None) -> Policy:
    """Return the policy that a TOML file holds.

    Args:
        path: the file.
        preset: what the policy begins with, where the file names none.

    Raises:
        ConfigError: the file cannot be read, is no TOML, names a field that does not exist, or holds a value out of range.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the policy {path} cannot be read: {error}") from error
    preset = values.pop("preset", preset)
    known = {field.name for field in fields(Policy)}
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(known))}"
            raise ConfigError(f"the policy {path} has {name!r}, which is no field{hint}")
    return _made(path, preset, values)


def _made(path: str | Path, preset: Any, values: dict[str, Any]) -> Policy:
    if preset is not None and not isinstance(preset, str):
        raise ConfigError(f"the policy {path}: preset is the name of one")
    for name, holds in (("volatile_keys", "argument names"), ("patterns", "pattern names")):
        if name in values:
            members = values[name]
            if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
                raise ConfigError(f"the policy {path}: {name} is a list of {holds}")
            values = values | {name: frozenset(members)}
    try:
        return Policy.preset(preset, **values) if preset is not None else Policy(**values)
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"the policy {path} has a value of the wrong kind: {error}") from error
