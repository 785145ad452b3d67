"""Which policy a run is judged by: that of its type of task."""

from __future__ import annotations

from otel_processor.policy import Policy


class Policies:
    """A policy with what it says otherwise for types of tasks; each made and hashed once."""

    def __init__(self, policy: Policy) -> None:
        self._others = {task_type: policy.for_task_type(task_type) for task_type in policy.task_types}
        self._otherwise = policy
        self._hashes: dict[int, str] = {}

    def of(self, task_type: str | None) -> Policy:
        """Return the policy for a type of task, the same object each time."""
        return self._others.get(task_type, self._otherwise) if task_type is not None else self._otherwise

    def hash_of(self, task_type: str | None) -> str:
        """Return the hash of the policy for a type of task."""
        policy = self.of(task_type)
        known = self._hashes.get(id(policy))
        if known is None:
            known = self._hashes[id(policy)] = policy.hash
        return known

    def idle_seconds(self) -> dict[str | None, float]:
        """Return after how long without a sign of it a run is over, by type of task; None: all others."""
        others: dict[str | None, float] = {known: policy.run_idle_timeout_seconds for known, policy in self._others.items()}
        return others | {None: self._otherwise.run_idle_timeout_seconds}

    def by_hash(self) -> dict[str, Policy]:
        """Return all of them by their hashes."""
        return {self.hash_of(task_type): self.of(task_type) for task_type in (None, *self._others)}
