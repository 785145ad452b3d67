"""Which runs of a database are given away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from otel_processor.errors import ConfigError
from otel_processor.retention import seconds_of


@dataclass(frozen=True, slots=True)
class Choice:
    """The runs that fulfil all conditions; everything where there is none, traces without a run included."""

    since_us: int | None = None
    """Last seen at this microsecond since the epoch, or later."""
    tasks: tuple[str, ...] = ()
    """Of one of these tasks."""
    run_ids: tuple[str, ...] = ()
    """With one of these ids."""

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return self.since_us is None and not self.tasks and not self.run_ids

    def __str__(self) -> str:
        """Say it in words, for whoever gets the copy."""
        if self.is_everything:
            return "everything"
        said = []
        if self.since_us is not None:
            said.append(f"seen since {datetime.fromtimestamp(self.since_us // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC")
        if self.tasks:
            said.append(f"of the task {' or '.join(self.tasks)}")
        if self.run_ids:
            said.append(f"with the id {' or '.join(self.run_ids)}")
        return f"runs {', '.join(said)}"


def microsecond_of(text: str, name: str, *, now_ns: int) -> int:
    """Return the moment that `2026-11-30`, `2026-11-30T12:00+01:00` or, back from now, `7d` says, in microseconds.

    Args:
        text: what was given; a time without a zone is UTC.
        name: what it was given for, for the message.
        now_ns: the time, nanoseconds since the epoch.

    Raises:
        ConfigError: it is no moment.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        try:
            return max(now_ns // 1_000 - int(seconds_of(text, name) * 1e6), 0)
        except ConfigError:
            raise ConfigError(f"{name} is {text!r}; it takes a date like 2026-11-30, or a duration like 7d") from None
    return int((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp() * 1e6)
