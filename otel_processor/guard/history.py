"""What a run did and spent, as far as a report needs it; bounded."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeVar

from otel_processor.detection.bounded import RecentMap
from otel_processor.detection.fingerprint import result_text
from otel_processor.guard.report import Attempt
from otel_processor.model import Call, CallOutcome, Role

N = TypeVar("N", int, float)

_ATTEMPTS = 50
_OPEN_STEPS = 64
_PARTS = 5
_ARGUMENT_CHARS = 200
_PART_CHARS = 500
_ERROR_CHARS = 200


@dataclass(slots=True)
class Spent:
    """Tokens and dollars. None: nothing was told."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    def add(self, input_tokens: int | None, output_tokens: int | None, cost_usd: float | None) -> None:
        """Add what is known."""
        self.input_tokens = _sum(self.input_tokens, input_tokens)
        self.output_tokens = _sum(self.output_tokens, output_tokens)
        self.cost_usd = _sum(self.cost_usd, cost_usd)


@dataclass(slots=True)
class _Step:
    spent: Spent
    flat: bool = False
    moved: bool = False


@dataclass(slots=True)
class _Tried:
    tool: str
    arguments: str
    made: int = 0
    refused: int = 0
    outcome: str = "not run"


class History:
    """Owned by a `GuardedRun`."""

    def __init__(self) -> None:
        self.tool_calls = 0
        self.refused_calls = 0
        self.spent = Spent()
        self.last_error = ""
        self.ends_with_refusal = False
        """Nothing was done after the latest call that was refused."""
        self._wasted = Spent()
        self._steps: dict[int, _Step] = {}
        self._tried: RecentMap[tuple[str, str], _Tried] = RecentMap(_ATTEMPTS)
        self._left_out = 0
        self._partial: deque[str] = deque(maxlen=_PARTS)
        self._marks: deque[str] = deque(maxlen=_PARTS)
        self._news: deque[str] = deque(maxlen=_PARTS)

    def took(self, call: Call, outcome: CallOutcome) -> None:
        """Take in a call that was made."""
        self.ends_with_refusal = False
        reading = call.reading
        step = self._step(outcome.step)
        if call.kind is Role.MODEL:
            self.spent.add(reading.input_tokens, reading.output_tokens, reading.cost_usd)
            step.spent.add(reading.input_tokens, reading.output_tokens, reading.cost_usd)
            return
        repeated = outcome.progress is None and (outcome.repeats or 0) > 1
        step.flat = step.flat or outcome.progress is False or repeated
        step.moved = step.moved or outcome.progress is True
        if not reading.tool:
            return
        self.tool_calls += 1
        tried = self._entry(call)
        tried.made += 1
        tried.outcome = {True: "new", False: "nothing new", None: "unknown"}[outcome.progress]
        if reading.is_error:
            self.last_error = ": ".join(filter(None, (reading.error_type, reading.error_message))) or "it failed"
            tried.outcome = f"failed: {_cut(self.last_error, _ERROR_CHARS)}"
        elif outcome.progress is True:
            self.last_error = ""
            if reading.result is not None:
                self._news.append(f"{reading.tool}: {_cut(result_text(reading.result), _PART_CHARS)}")

    def refused(self, call: Call) -> None:
        """Take in a call that was not let through."""
        self.ends_with_refusal = True
        self.refused_calls += 1
        self._entry(call).refused += 1

    def hand_in(self, text: str) -> None:
        """Keep a part of the result."""
        self._partial.append(_cut(text, _PART_CHARS))

    def mark(self, text: str) -> None:
        """Keep what the agent calls progress."""
        self._marks.append(_cut(text, _PART_CHARS))

    @property
    def partial(self) -> tuple[str, ...]:
        """What there is of a result."""
        return tuple(self._partial or self._marks or self._news)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The latest calls."""
        return tuple(
            Attempt(tool=one.tool, arguments=one.arguments, made=one.made, refused=one.refused, outcome=one.outcome)
            for one in self._tried.values()
        )

    @property
    def attempts_left_out(self) -> int:
        """Calls that are not remembered any more."""
        return self._left_out

    @property
    def wasted(self) -> Spent:
        """What was spent in steps of which no call moved and one was flat or a repeat."""
        spent = self.spent
        total = Spent(
            None if spent.input_tokens is None else 0,
            None if spent.output_tokens is None else 0,
            None if spent.cost_usd is None else 0.0,
        )
        for spent in (self._wasted, *(step.spent for step in self._steps.values() if step.flat and not step.moved)):
            total.add(spent.input_tokens, spent.output_tokens, spent.cost_usd)
        return total

    def _step(self, number: int) -> _Step:
        step = self._steps.get(number)
        if step is None:
            step = self._steps[number] = _Step(Spent())
            if len(self._steps) > _OPEN_STEPS:
                over = self._steps.pop(next(iter(self._steps)))
                if over.flat and not over.moved:
                    self._wasted.add(over.spent.input_tokens, over.spent.output_tokens, over.spent.cost_usd)
        return step

    def _entry(self, call: Call) -> _Tried:
        tool = call.reading.tool or "a tool"
        arguments = call.reading.arguments
        key = (tool, call.signature or call.span_id)
        entry = self._tried.peek(key)
        if entry is None:
            shown = "" if arguments is None else _cut(result_text(arguments), _ARGUMENT_CHARS)
            if len(self._tried) == _ATTEMPTS:
                self._left_out += 1
            entry = _Tried(tool, shown)
            self._tried.put(key, entry)
        return entry


def _sum(before: N | None, more: N | None) -> N | None:
    return before if more is None else more if before is None else before + more


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"
