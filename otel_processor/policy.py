"""Every threshold of detection, with its unit and its reason."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import orjson

from otel_processor.errors import ConfigError
from otel_processor.model import Pattern
from otel_processor.policy_checks import check, nearest
from otel_processor.presets import PRESETS


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What counts as going in circles.

    Raises:
        ConfigError: a value is out of range; the message names the field.
    """

    patterns: frozenset[str] = frozenset(Pattern)
    """The patterns that are looked for."""

    repeat_scope: str = "change"
    """What sets the count of a repeated call back: `change` (something changed in between), `consecutive` (any other call;
    results are not looked at), `run` (nothing; results are not looked at)."""

    hard_loop_repeats: int = 3
    """Equal calls with nothing changed between them. Two can be an honest second look; three are not."""

    hard_loop_write_repeats: int = 2
    """Equal calls of a tool that writes: repeating a read can be useful, repeating a write can do harm."""

    hard_loop_poll_repeats: int = 6
    """Equal calls of a tool that asks for a status: a job may well answer `running` a few times."""

    soft_loop_repeats: int = 4
    """Calls of one tool with nearly equal arguments that brought nothing new; where nothing but volatile values differs,
    `hard_loop_repeats` are enough."""

    soft_loop_similarity: float = 0.9
    """Share from 0 to 1 of two calls' argument texts that is equal, from which they are nearly equal."""

    cycle_rounds: int = 3
    """Times that a sequence of calls comes again without bringing anything new in a whole round."""

    cycle_max_period: int = 6
    """Calls that the longest sequence looked for has."""

    transient_tolerance: int = 5
    """Transient failures (429, 503, timeouts) of one call that are neither a repeat nor flat."""

    retry_permanent: int = 2
    """Failures in a row of one call that no retry will heal (401, 403, 404)."""

    retry_validation: int = 2
    """Failures in a row of one call because of what was asked."""

    retry_failures: int = 4
    """Failures in a row of one tool that say the same, whatever was asked."""

    same_failures: int = 5
    """Failures of one tool for the same reason over the run, whatever was changed in between."""

    retry_attempts: int = 12
    """Attempts behind one tool's failures in a row, counted over all layers (agent, client, gateway)."""

    semantic_window: int = 6
    """Turns or searches that are looked at together for restated plans and reworded questions."""

    semantic_repeats: int = 4
    """Of those, as many must say again what was said before."""

    semantic_similarity: float = 0.7
    """Share from 0 to 1 of a turn's content words that the window's earlier turns had, from which it says the same again."""

    no_progress_alert_steps: int = 4
    """Consecutive flat steps before somebody is told."""

    no_progress_stop_steps: int = 5
    """Consecutive flat steps before the advice is to stop."""

    progress_rule: str = "novelty"
    """What makes a result progress: `novelty` (new to the run), `changed` (differs by more than `min_changed_chars` from the
    result before it, whatever was asked), `declared` (only what the agent declares)."""

    min_changed_chars: int = 50
    """Characters by which a repeated call's result must differ from its last one to count as moved, after masking."""

    min_new_share: float = 0.1
    """Share of a result's distinct words that the run has not seen before, from which the result of the same call counts as
    new; the answer to another question needs three tenths of it, one to a question that was asked before with a word more or
    less 2.5 times it, and one to the same words in another order five times it."""

    uncertainty_turns: int = 3
    """Turns in a row in which the share of hedging words rises."""

    max_steps: int | None = None
    """Steps that a run may take; None: a long run is not a loop."""

    max_steps_counts: str = "steps"
    """What `max_steps` counts: `steps` or `tool_calls`."""

    max_tool_calls: int | None = None
    """Tool calls that a run may make."""

    max_tokens: int | None = None
    """Tokens, input and output of all model calls together, that a run may use."""

    max_cost_usd: float | None = None
    """US dollars that a run may spend."""

    timeout_seconds: float | None = None
    """Seconds from a run's first call that it may take."""

    spend_spike_factor: float = 3.0
    """Times the task's own 95th percentile of steps, tokens or cost from which a run spends far above its history."""

    spend_spike_runs: int = 20
    """Finished runs of a task that make a history."""

    nudges_before_stop: int = 2
    """Failures after the first nudge before the guard stops a run; 0: it stops at the first verdict that says stop."""

    run_idle_timeout_seconds: float = 1_800.0
    """Silence after which the next call of a conversation belongs to another run, and an open run counts as abandoned."""

    volatile_keys: frozenset[str] = frozenset()
    """Argument names to leave out of signatures, beyond those of the definition."""

    effects: Mapping[str, str] = field(default_factory=dict)
    """Tool name → `read`, `write`, `poll` or `unknown`, where the name says it wrong."""

    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Model name, exact or with a trailing `*` → USD per million tokens: `input`, `output` and, where they differ from
    `input`, `cache_read`, `cache_write`, `cache_write_1h`. Goes before the price list, not before what a span tells."""

    discounts: Mapping[str, float] = field(default_factory=dict)
    """Provider or model, exact or with a trailing `*` → share from 0 to 1 that is taken off the price list's price."""

    task_types: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Task type (`loop.task.type`) → fields of the policy that are otherwise for it."""

    def __post_init__(self) -> None:
        check(self)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Policy:
        """Return the policy of a published recipe: `bounded_calls`, `no_progress_window` or `three_signals`.

        Args:
            name: of the recipe; `otel_processor.presets` says what each does.
            changes: fields that are to be otherwise.

        Raises:
            ConfigError: there is no such preset, or a value is out of range.
        """
        values = PRESETS.get(name)
        if values is None:
            raise ConfigError(f"there is no preset {name!r}{nearest(name, PRESETS)}")
        return cls(**{**values, **changes})

    def for_task_type(self, task_type: str | None) -> Policy:
        """Return the policy for a type of task: this one where nothing is said of the type.

        Raises:
            ConfigError: never; what the type changes was checked when the policy was made.
        """
        changes = self.task_types.get(task_type) if task_type is not None else None
        return self if not changes else replace(self, **{"task_types": {}, **changes})

    @property
    def hash(self) -> str:
        """Sixteen hex digits that are equal for equal policies; `runs.policy_hash`."""
        return hashlib.sha256(self.as_json.encode()).hexdigest()[:16]

    @property
    def as_json(self) -> str:
        """All fields as a JSON object, sets sorted; equal for equal policies; `policies.fields`."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return orjson.dumps(values, default=_as_json, option=orjson.OPT_SORT_KEYS).decode()


def _as_json(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else sorted(value)  # type: ignore[call-overload]
