"""Runs under guard in the service: bounded, put away when idle, and over once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from otel_processor.model import Alert, Mode, StopReason
from otel_processor.policy import Policy
from otel_processor.service.guard_api.hosted_guard import HostedGuard
from otel_processor.service.guard_api.runs import GuardedRuns

SECOND = 1_000_000_000


@dataclass
class World:
    """A clock, and who is told."""

    now: int = 1_700_000_000 * SECOND
    alerts: list[Alert] = field(default_factory=list)
    ended: list[tuple[str, StopReason]] = field(default_factory=list)

    def runs(self, *, most_runs: int = 100) -> GuardedRuns:
        return GuardedRuns(
            Policy(run_idle_timeout_seconds=600, task_types={"slow": {"run_idle_timeout_seconds": 6_000}}),
            Mode.ENFORCE,
            tell=self.alerts.append,
            ended=lambda guard: self.ended.append((guard.run_id, guard.report().stop_reason)),
            clock=lambda: self.now,
            most_runs=most_runs,
        )


def loop(runs: GuardedRuns, guard: HostedGuard, times: int = 3) -> None:
    for _ in range(times):
        guard.on_step()
        answer = guard.before_tool("search", {"q": 1})
        assert answer.call_id is not None
        if answer.allows_call:
            guard.made(answer.call_id, "nothing", None, None)
        else:
            guard.skipped(answer.call_id)
        runs.changed(guard)


def test_those_idle_longest_go_first() -> None:
    runs = World().runs(most_runs=3)
    for name in ("a", "b", "c"):
        runs.open(name, None)
    runs.open("a", None)
    runs.open("d", None)
    assert (len(runs), runs.find("b")) == (3, None)
    assert runs.find("a") is not None


def test_an_idle_run_is_over_and_so_are_its_alerts() -> None:
    world = World()
    runs = world.runs()
    guard, _ = runs.open("idle", None)
    slow, _ = runs.open("slow", None, task_type="slow")
    loop(runs, guard)
    loop(runs, slow)
    assert [(alert.run_id, alert.resolved_ns, alert.by_guard) for alert in world.alerts] == [
        ("idle", None, True),
        ("slow", None, True),
    ]
    last = world.now
    world.now += 700 * SECOND
    runs.open("another", None)
    assert world.ended == [("idle", StopReason.ABANDONED)]
    assert [(alert.run_id, alert.resolved_ns) for alert in world.alerts[2:]] == [("idle", world.now)]
    assert world.alerts[2].alert_id == world.alerts[0].alert_id
    assert guard.times_ns == (last, last)
    assert runs.find("idle") is None
    world.now += 7_000 * SECOND
    runs.open("yet another", None)
    assert world.ended[1:] == [("slow", StopReason.ABANDONED), ("another", StopReason.ABANDONED)]


def test_a_run_is_over_once_whoever_says_so_first() -> None:
    """Stopped, said to have ended, and idle in the end."""
    world = World()
    runs = world.runs()
    guard, _ = runs.open("r", None)
    loop(runs, guard, 6)
    assert guard.stopped
    assert world.ended == [("r", StopReason.REPEATED_SIGNATURE)]
    guard.finish()
    runs.changed(guard)
    world.now += 700 * SECOND
    runs.open("other", None)
    assert world.ended == [("r", StopReason.REPEATED_SIGNATURE)]
    again, is_new = runs.open("r", None, again=True)
    assert is_new
    assert not again.stopped


def test_large_arguments_are_kept_in_part_and_compared_whole() -> None:
    runs = World().runs()
    guard, _ = runs.open("r", None)
    same = {guard.before_tool("write", {"text": "x" * 200_000, "end": end}).call_id for end in (1, 2, 1)}
    assert len(same) == 2
    assert guard.waiting_call(None, None) in same
    held = [asked.call.reading.arguments for asked in guard._asked.take_all()]
    assert [len(text) for text in held] == [65_536, 65_536]


def test_a_clock_that_jumps_back_stops_nothing() -> None:
    world = World()
    runs = world.runs()
    guard, _ = runs.open("r", None)
    world.now -= 3_600 * SECOND
    loop(runs, guard)
    runs.open("s", None)
    assert runs.find("r") is guard
    assert world.ended == []


def test_who_asks_is_told_apart_by_name_and_not_by_thread() -> None:
    """The next request of an agent may be worked off on another thread."""
    runs = World().runs()
    guard, _ = runs.open("r", None)
    for agent in ("one", "other"):
        asking = threading.Thread(target=guard.before_tool, args=("look",), kwargs={"agent": agent})
        asking.start()
        asking.join()
    guard.on_step(agent="one")
    assert guard.report().tool_calls == 1
    guard.on_step(agent="other")
    assert guard.report().tool_calls == 2
