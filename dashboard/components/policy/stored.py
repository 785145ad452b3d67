"""The stored policies: what their fields say, and which are one policy with what it says otherwise for types of tasks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from otel_processor.errors import ConfigError
from otel_processor.policy import Policy
from otel_processor.what_if.fields import policy_with

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from datetime import datetime

    import pandas as pd

    Row = Mapping[Hashable, Any]


@dataclass(slots=True)
class StoredPolicy:
    """A policy that runs were judged by."""

    policy_hash: str
    policy: Policy | None
    """None where it is not stored, or stored by a version that reads it otherwise."""
    runs: int
    """Chosen runs that it judged, those of all its types of tasks."""
    last_used_at: datetime | None
    first_used_at: datetime | None
    is_stored: bool
    runs_by_type: dict[str, int] = field(default_factory=dict)
    """Of these, those judged by what it says otherwise for a type of task."""


def read(frame: pd.DataFrame) -> list[StoredPolicy]:
    """Return the policies of rows of `policies_used` that judged chosen runs, the one used last first.

    A run of a type of task with values of its own names a policy of its own; it is counted with the policy that it is of.
    """
    found = [_of_row(row) for row in frame.to_dict("records")]
    wholes = [each for each in found if each.policy is not None and each.policy.task_types]
    parts: set[str] = set()
    for whole in wholes:
        for task_type, policy in _types(whole.policy).items():
            part = next((each for each in found if each.policy == policy and each is not whole), None)
            if part is not None and part.policy_hash not in parts:
                parts.add(part.policy_hash)
                _add(whole, part, task_type)
    used = [each for each in found if each.runs and each.policy_hash not in parts]
    return sorted(used, key=lambda each: each.last_used_at.timestamp() if each.last_used_at else 0.0, reverse=True)


def _types(policy: Policy | None) -> dict[str, Policy]:
    return {} if policy is None else {name: policy.for_task_type(name) for name in policy.task_types}


def _add(whole: StoredPolicy, part: StoredPolicy, task_type: str) -> None:
    whole.runs += part.runs
    if part.runs:
        whole.runs_by_type[task_type] = part.runs
    known = [each.last_used_at for each in (whole, part) if each.last_used_at is not None]
    whole.last_used_at = max(known, default=None)


def _of_row(row: Row) -> StoredPolicy:
    fields = row["fields"]
    is_stored = isinstance(fields, str)
    return StoredPolicy(
        policy_hash=str(row["policy_hash"]),
        policy=_policy(fields) if is_stored else None,
        runs=int(row["runs"]),
        last_used_at=_moment(row["last_used_at"]),
        first_used_at=_moment(row["first_used_at"]),
        is_stored=is_stored,
    )


def _policy(fields: str) -> Policy | None:
    """Return the policy; None where this version does not know what it says."""
    try:
        values = json.loads(fields)
        return policy_with(values) if isinstance(values, dict) else None
    except (ConfigError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _moment(value: Any) -> datetime | None:
    return None if value is None or value != value else value  # noqa: PLR0124 - a missing time is unequal to itself
