"""Which alert of a run is the same story as a stored one, and when a story is over: told once, whoever tells it first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from otel_processor.model import Action, Alert

if TYPE_CHECKING:
    from otel_processor.runs.records import RunSummary

NOT_YET = ((1 << 63) - 1) // 1_000
"""The last microsecond that a TIMESTAMPTZ of ours can say."""

Story = tuple[str, str]
"""A run and a pattern: their alerts never overlap in time."""


@dataclass(frozen=True, slots=True)
class StoredAlert:
    """An alert as it is stored, from when to when (microseconds)."""

    alert_id: str
    run_id: str
    pattern: str
    action: str
    at_us: int
    resolved_us: int | None
    is_nameless: bool

    @property
    def story(self) -> Story:
        """What it tells of."""
        return self.run_id, self.pattern


def sorted_out(
    alerts: Sequence[Alert],
    stored: Sequence[StoredAlert],
    ends: Mapping[Story, Sequence[int]],
    told_before: Callable[[str], bool],
) -> tuple[list[Alert], list[Alert], dict[str, int]]:
    """Hold alerts against the stored ones of their runs; two of one story that overlap in time are the same.

    Args:
        alerts: that are open, or were opened and resolved.
        stored: all of their runs.
        ends: when stories are over by the same change (µs).
        told_before: whether whoever tells these has told the alert of this id before, as another story.

    Returns:
        the alerts that are new; those that became graver, by their stored ids; and when stored ones were over (µs), by their ids.
    """
    by_id = {alert.alert_id: alert for alert in alerts}
    told = {one.alert_id: one for one in stored}
    others: dict[Story, list[StoredAlert]] = defaultdict(list)
    for one in stored:
        if one.alert_id not in by_id:
            others[one.story].append(one)
    new: list[Alert] = []
    graver: list[Alert] = []
    over: dict[str, int] = {}
    for alert in by_id.values():
        story = (alert.run_id, str(alert.verdict.pattern))
        same = told.get(alert.alert_id)
        if same is None:
            at = alert.at_ns // 1_000
            end = _end(at, ends.get(story, ()))
            same = next(
                (
                    other
                    for other in others[story]
                    if other.at_us <= end
                    and at <= (other.resolved_us or _end(other.at_us, ends.get(story, ())))
                    and (alert.by_guard or not told_before(other.alert_id))
                ),
                None,
            )
            if same is None:
                new.append(alert)
                continue
            others[story].remove(same)
        elif alert.resolved_ns is not None:
            over[alert.alert_id] = microseconds(alert.resolved_ns)
        if same.action != Action.STOP and alert.verdict.action is Action.STOP:
            graver.append(replace(alert, alert_id=same.alert_id))
    return new, graver, over


def closed_at(story: Story, at_us: int, ends: Mapping[Story, Sequence[int]], runs: Mapping[str, RunSummary]) -> int | None:
    """Return when an open alert was over (µs): as a resolution says, or else with its run; None: it is not."""
    if (end_us := _end(at_us, ends.get(story, ()))) < NOT_YET:
        return end_us
    run = runs.get(story[0])
    if run is None or run.ended_ns is None or at_us > (end_us := microseconds(run.ended_ns)):
        return None
    return end_us


def _end(at_us: int, over: Sequence[int]) -> int:
    return min((end for end in over if end >= at_us), default=NOT_YET)


def microseconds(ns: int) -> int:
    """Return nanoseconds since the epoch as the store says them."""
    return min(max(ns // 1_000, 0), NOT_YET)
