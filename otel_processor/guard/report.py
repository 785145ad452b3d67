"""What a user can be shown when a run is over: why it ended, what was tried, what there is, what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from otel_processor.model import StopReason

_SAID = {
    StopReason.COMPLETED: "The run ended by itself.",
    StopReason.HANDED_TO_HUMAN: "The run was handed to a person.",
    StopReason.CANCELLED: "The run was cancelled.",
    StopReason.ERROR: "The run ended with an error.",
    StopReason.RUNNING: "The run is going on.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call as often as it was made."""

    tool: str
    arguments: str
    """Cut to 200 characters."""
    made: int
    """Times that it ran."""
    refused: int
    """Times that the guard did not let it run."""
    outcome: str
    """Of the latest time: `new`, `nothing new`, `unknown`, `not run`, or `failed: …`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The guard's account of a run. None: not known."""

    run_id: str
    goal: str
    stop_reason: StopReason
    """Why the run ended; `running` while it has not."""
    flagged_reason: StopReason | None
    """The first loop that was seen in it, whether or not it ended the run."""
    message: str
    """What stopped or flagged the run, in a sentence; empty when nothing did."""
    steps: int
    tool_calls: int
    """Calls that ran."""
    refused_calls: int
    seconds: float
    attempts: tuple[Attempt, ...]
    """The latest ones, in the order in which each was first made."""
    attempts_left_out: int
    partial: tuple[str, ...]
    """What there is of a result: what the agent handed in, else what it called progress, else the latest news."""
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    wasted_tokens: int | None
    """Spent in steps that brought nothing new."""
    wasted_cost_usd: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, ready for JSON."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    def text(self) -> str:
        """Return the report as a text for a person."""
        lines = [_SAID.get(self.stop_reason, f"The run was stopped: {self.stop_reason}.")]
        if self.message:
            lines.append(f"Seen: {self.message}.")
        if self.goal:
            lines.append(f"Goal: {self.goal}")
        taken = f"{_some(self.steps, 'step')} and {_some(self.tool_calls, 'tool call')}"
        lines.append(f"It took {taken} in {self.seconds:.1f} s{self._refused()}.")
        if self._spent():
            lines.append(self._spent())
        if self.attempts:
            lines.append("Tried:")
            lines += [f"- {_attempt(attempt)}" for attempt in self.attempts]
            if self.attempts_left_out:
                lines.append(f"- and {_some(self.attempts_left_out, 'other call')} before")
        if self.partial:
            lines.append("What there is so far:")
            lines += [f"- {part}" for part in self.partial]
        return "\n".join(lines)

    def _refused(self) -> str:
        more = "1 more was" if self.refused_calls == 1 else f"{self.refused_calls} more were"
        return f"; {more} not let through" if self.refused_calls else ""

    def _spent(self) -> str:
        parts = []
        if self.input_tokens is not None or self.output_tokens is not None:
            tokens = (self.input_tokens or 0) + (self.output_tokens or 0)
            parts.append(f"{tokens:,} tokens{_of_them(self.wasted_tokens, '{:,}')}")
        if self.cost_usd is not None:
            parts.append(f"${self.cost_usd:.4f}{_of_them(self.wasted_cost_usd, '${:.4f}')}")
        return f"Spent: {', '.join(parts)}." if parts else ""


def _some(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _of_them(wasted: float | None, form: str) -> str:
    return f" ({form.format(wasted)} of it in steps that brought nothing new)" if wasted else ""


def _attempt(attempt: Attempt) -> str:
    times = [f"{attempt.made} times" if attempt.made != 1 else "once"] if attempt.made else []
    times += [f"refused {attempt.refused} times" if attempt.refused != 1 else "refused once"] if attempt.refused else []
    return f"{attempt.tool}({attempt.arguments}): {', '.join(times)}; {attempt.outcome}"


def _plain(value: Any) -> Any:
    if isinstance(value, StopReason):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
