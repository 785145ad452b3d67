"""Every threshold of detection, with its unit and its reason."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import orjson

from otel_processor.errors import ConfigError
from otel_processor.model import Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What counts as going in circles.

    Raises:
        ConfigError: a value is out of range; the message names the field.
    """

    hard_loop_repeats: int = 3
    """Equal calls with nothing changed between them. Two can be an honest second look; three are not."""

    hard_loop_write_repeats: int = 2
    """Equal calls of a tool that writes: repeating a read can be useful, repeating a write can do harm."""

    hard_loop_poll_repeats: int = 6
    """Equal calls of a tool that asks for a status: a job may well answer `running` a few times."""

    no_progress_alert_steps: int = 4
    """Consecutive flat steps before somebody is told."""

    no_progress_stop_steps: int = 5
    """Consecutive flat steps before the advice is to stop."""

    min_changed_chars: int = 50
    """Characters by which a repeated call's result must differ from its last one to count as moved, after masking."""

    min_new_share: float = 0.1
    """Share of a result's distinct words that the run has not seen before, from which the result counts as new."""

    transient_tolerance: int = 5
    """Transient failures (429, 503, timeouts) of one call that are neither a repeat nor flat."""

    run_idle_timeout_seconds: float = 1_800.0
    """Silence after which the next call of a conversation belongs to another run."""

    volatile_keys: frozenset[str] = frozenset()
    """Argument names to leave out of signatures, beyond those of the definition."""

    effects: Mapping[str, str] = field(default_factory=dict)
    """Tool name → `read`, `write`, `poll` or `unknown`, where the name says it wrong."""

    def __post_init__(self) -> None:
        for name in (
            "hard_loop_repeats",
            "hard_loop_write_repeats",
            "hard_loop_poll_repeats",
            "no_progress_alert_steps",
            "no_progress_stop_steps",
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 2:
                raise ConfigError(f"policy.{name} is {value!r}; it must be a whole number of at least 2")
        if self.no_progress_stop_steps < self.no_progress_alert_steps:
            raise ConfigError("policy.no_progress_stop_steps must not be below policy.no_progress_alert_steps")
        if self.transient_tolerance < 0 or self.min_changed_chars < 0 or not 0 <= self.min_new_share <= 1:
            raise ConfigError(
                "policy: transient_tolerance and min_changed_chars must not be negative, min_new_share lies from 0 to 1"
            )
        if not self.run_idle_timeout_seconds > 0:
            raise ConfigError("policy.run_idle_timeout_seconds must be above 0")
        for tool, effect in self.effects.items():
            if effect not in list(Effect):
                raise ConfigError(f"policy.effects[{tool!r}] is {effect!r}; use one of {', '.join(Effect)}")

    @property
    def hash(self) -> str:
        """Sixteen hex digits that are equal for equal policies; `runs.policy_hash`."""
        values = {**asdict(self), "volatile_keys": sorted(self.volatile_keys), "effects": dict(sorted(self.effects.items()))}
        return hashlib.sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
