"""Settings from the environment, read here; those of alerts in `alerts/settings.py`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from otel_processor.errors import ConfigError
from otel_processor.model import Mode

POLICY_FIELD_PREFIX = "OTEL_PROCESSOR_POLICY_"

DEFAULT_DB = "agents.duckdb"

BATCH_DELAY_MILLIS = 500
"""How long a span waits for company before it is stored; the SDK's own 5,000 ms are long for somebody who watches."""

QUEUE_SPANS = 32_768
"""Spans that may wait for their batch; the SDK's own 2,048 are full within a second where an agent bursts."""

QUEUE_SIZE_VARIABLE = "OTEL_BSP_MAX_QUEUE_SIZE"
"""The SDK's own setting for that."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What `OTEL_PROCESSOR_*` says."""

    db: Path
    """`OTEL_PROCESSOR_DB`: the database file."""
    busy_timeout_seconds: float
    """`OTEL_PROCESSOR_BUSY_TIMEOUT`: how long an export waits for the file before its batch goes to the spool."""
    policy: Path | None = None
    """`OTEL_PROCESSOR_POLICY`: a TOML file with the policy."""
    preset: str | None = None
    """`OTEL_PROCESSOR_PRESET`: the preset that the policy begins with."""
    mode: Mode | None = None
    """`OTEL_PROCESSOR_MODE`: how far the guard goes; None: nothing is said, which means `observe`."""
    policy_fields: Mapping[str, str] = field(default_factory=dict)
    """`OTEL_PROCESSOR_POLICY_MAX_STEPS=20` and the like: name of the field in lower case → what it says."""


def load_settings() -> Settings:
    """Read the environment.

    Raises:
        ConfigError: a value cannot be used; the message names the variable.
    """
    text = os.environ.get("OTEL_PROCESSOR_BUSY_TIMEOUT", "").strip() or "3"
    try:
        timeout = float(text)
    except ValueError:
        timeout = -1.0
    if not 0 <= timeout <= 3_600:
        raise ConfigError(f"OTEL_PROCESSOR_BUSY_TIMEOUT is {text!r}; it takes seconds from 0 to 3600")
    policy = os.environ.get("OTEL_PROCESSOR_POLICY", "").strip()
    mode = os.environ.get("OTEL_PROCESSOR_MODE", "").strip().lower()
    return Settings(
        db=Path(os.environ.get("OTEL_PROCESSOR_DB", "").strip() or DEFAULT_DB),
        busy_timeout_seconds=timeout,
        policy=Path(policy) if policy else None,
        preset=os.environ.get("OTEL_PROCESSOR_PRESET", "").strip() or None,
        mode=_as_mode(mode, "OTEL_PROCESSOR_MODE") if mode else None,
        policy_fields={
            name.removeprefix(POLICY_FIELD_PREFIX).lower(): value.strip()
            for name, value in os.environ.items()
            if name.startswith(POLICY_FIELD_PREFIX) and value.strip()
        },
    )


def mode_of(given: Mode | str | None) -> Mode:
    """Return the mode in force: the one given, else that of `OTEL_PROCESSOR_MODE`, else `observe`.

    Raises:
        ConfigError: there is no such mode.
    """
    if given is not None:
        return _as_mode(given, "mode")
    return load_settings().mode or Mode.OBSERVE


def _as_mode(value: str, place: str) -> Mode:
    try:
        return Mode(value)
    except ValueError:
        raise ConfigError(f"{place} is {value!r}; use one of {', '.join(Mode)}") from None
