"""What is sent: one notice, as a title, a text and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from otel_processor.alerts.inert import inert

_TITLE_CHARS = 150
_LINE_CHARS = 600
_NAME_CHARS = 200
VERSION = 1
"""Of the JSON body; a receiver may count on what stands in it."""


class Kind(StrEnum):
    """What a notice is about."""

    ALERT = "alert"
    RECOVERY = "recovery"
    SUMMARY = "summary"
    TEST = "test"


class EndedBy(StrEnum):
    """What an alert was over with."""

    PROGRESS = "progress"
    RUN_ENDED = "run_ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One of several alerts in a summary."""

    run_id: str
    task: str | None
    pattern: str
    link: str | None = None

    def text(self) -> str:
        """Return it as a line."""
        line = inert(f"{self.pattern} in {self.task or 'run ' + self.run_id}", _NAME_CHARS)
        return f"{line}: {self.link}" if self.link else line

    def as_json(self) -> dict[str, Any]:
        """Return it as a part of the JSON body."""
        return known(run_id=self.run_id, task=_name(self.task), pattern=self.pattern, url=self.link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One message. What is not known is None and left out."""

    kind: Kind
    notice_id: str
    """The same in every try: a receiver that has seen it may drop it."""
    at_ns: int
    """When what it tells of happened, nanoseconds since the epoch."""
    run_id: str | None = None
    task: str | None = None
    agent: str | None = None
    alert_id: str | None = None
    pattern: str | None = None
    severity: str | None = None
    action: str | None = None
    """What the guard advises: `nudge`, `compress`, `stop`."""
    stop_reason: str | None = None
    message: str | None = None
    """A sentence for a person."""
    steps: int | None = None
    """Spent so far, as far as it is stored; likewise the next two."""
    tokens: int | None = None
    cost_usd: float | None = None
    link: str | None = None
    """The page of the run."""
    resolved_ns: int | None = None
    ended_by: EndedBy | None = None
    more_alerts: int = 0
    """Of a summary: alerts that were held back, in `more_runs` runs; `more_over`, of those that it is about, are over by now."""
    more_runs: int = 0
    more_over: int = 0
    first: tuple[Mention, ...] = ()

    def title(self) -> str:
        """Return one line that says what happened to whom."""
        whose = self.task or (f"run {self.run_id}" if self.run_id else "a run")
        if self.kind is Kind.TEST:
            line = "otel-processor: a test message"
        elif self.kind is Kind.SUMMARY:
            line = f"and {count(self.more_alerts, 'more alert')} in {count(self.more_runs, 'run')}"
            if not self.more_alerts:
                line = f"Over: {count(self.more_over, 'alert')}"
        elif self.kind is Kind.RECOVERY:
            line = f"Over: {self.pattern} in {whose}"
        else:
            line = f"{self.severity or 'warning'}: {self.pattern or 'an alert'} in {whose}"
        return inert(line, _TITLE_CHARS)

    def text(self) -> str:
        """Return a few lines for a person; nothing in them but line breaks of ours moves a cursor."""
        lines = [inert(self.message, _LINE_CHARS)] if self.message else []
        if self.resolved_ns is not None:
            lines.append(f"{_OVER[self.ended_by]} at {moment(self.resolved_ns)}.")
        if self.run_id:
            agent = f", agent {self.agent}" if self.agent and self.agent != self.task else ""
            lines.append(inert(f"Run {self.run_id}{agent}", _NAME_CHARS))
        spent = self.spent()
        if spent:
            lines.append(f"Spent so far: {spent}")
        if self.kind is Kind.ALERT and self.action:
            lines.append(inert(f"Advised: {self.action}", _NAME_CHARS))
        if self.kind is Kind.SUMMARY:
            lines.append("Held back, since there were too many for one minute; the first of them:")
            lines += [mention.text() for mention in self.first]
            if self.more_over:
                lines.append(f"Over by now: {count(self.more_over, 'alert')}.")
        lines.append(f"At {moment(self.at_ns)}")
        if self.link:
            lines.append(self.link)
        return "\n".join(lines)

    def spent(self) -> str:
        """Return what the run used so far as far as that is known, else an empty text."""
        parts = []
        if self.steps is not None:
            parts.append(count(self.steps, "step"))
        if self.tokens is not None:
            parts.append(count(self.tokens, "token"))
        if self.cost_usd is not None:
            parts.append(f"${self.cost_usd:,.2f}" if self.cost_usd >= 1 else f"${self.cost_usd:,.4f}")
        return ", ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Return the body that a webhook gets; what is not known is left out."""
        body: dict[str, Any] = {
            "version": VERSION,
            "kind": str(self.kind),
            "id": self.notice_id,
            "at": moment(self.at_ns),
            "title": self.title(),
            "text": self.text(),
        }
        parts = {
            "alert": known(
                id=self.alert_id,
                pattern=self.pattern,
                severity=self.severity,
                action=self.action,
                stop_reason=self.stop_reason,
                message=self.message and inert(self.message, _LINE_CHARS),
            ),
            "run": known(id=self.run_id, task=_name(self.task), agent=_name(self.agent), url=self.link),
            "spent": known(steps=self.steps, tokens=self.tokens, cost_usd=self.cost_usd),
            "resolved": known(at=moment(self.resolved_ns), by=self.ended_by and str(self.ended_by)) if self.resolved_ns else {},
        }
        if self.kind is Kind.SUMMARY:
            parts["more"] = {
                "alerts": self.more_alerts,
                "runs": self.more_runs,
                "over": self.more_over,
                "first": [mention.as_json() for mention in self.first],
            }
        return body | {name: part for name, part in parts.items() if part}


_OVER = {
    EndedBy.PROGRESS: "Over: something new came",
    EndedBy.RUN_ENDED: "Over: the run ended",
    None: "Over",
}


def _name(text: str | None) -> str | None:
    return None if text is None else inert(text, _NAME_CHARS)


def known(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def moment(at_ns: int) -> str:
    """Return a time as text in UTC, to the second."""
    try:
        return datetime.fromtimestamp(at_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return "an unknown time"


def count(number: int, word: str) -> str:
    """Return a number with its word: `1 step`, `12,345 tokens`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
