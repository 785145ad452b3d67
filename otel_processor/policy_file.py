"""A policy from a TOML file: every field of `Policy` by its name.

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

    Raises:
        ConfigError: the file cannot be used.
    """
    if given is not None:
        return given
    path = load_settings().policy
    return load_policy(path) if path is not None else Policy()


def load_policy(path: str | Path) -> Policy:
    """Return the policy that a TOML file holds.

    Raises:
        ConfigError: the file cannot be read, is no TOML, names a field that does not exist, or holds a value out of range.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"the policy {path} cannot be read: {error}") from error
    known = {field.name for field in fields(Policy)}
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(known))}"
            raise ConfigError(f"the policy {path} has {name!r}, which is no field{hint}")
    return _made(path, values)


def _made(path: str | Path, values: dict[str, Any]) -> Policy:
    for name, holds in (("volatile_keys", "argument names"), ("patterns", "pattern names")):
        if name in values:
            members = values[name]
            if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
                raise ConfigError(f"the policy {path}: {name} is a list of {holds}")
            values = values | {name: frozenset(members)}
    try:
        return Policy(**values)
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"the policy {path} has a value of the wrong kind: {error}") from error
