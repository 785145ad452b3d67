"""What the guard answers: a verdict, with what is to be done about it here and now."""

from __future__ import annotations

from dataclasses import dataclass

from otel_processor.errors import LoopDetected, LoopNudge
from otel_processor.model import Action, Pattern, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Verdict):
    """The guard's answer. `action` says what to do now; `message` is a text for the model, empty where there is nothing to say.

    Where `action` is `continue`, `message` is empty and `stop_reason` None, whatever is advised.

    `continue`: make the call. `compress`: make it, and shorten the context before the next turn. `nudge`: do not make it;
    give the model `message` as its result. `stop`: do not make it, and end the run.
    """

    pattern: Pattern | None  # type: ignore[assignment]
    """None where nothing is held against the run."""
    advised: Action
    """What `action` would be in the mode `enforce`."""
    advised_message: str = ""
    """What `message` would be in the mode `enforce`; not for the model."""
    call_id: str | None = None
    """Of the call that was asked about, to name it in `after_tool` and `skip_tool`."""
    agent: str = ""
    """Whom it was given to."""
    about_call: bool = False
    """It is this very call that is held against the agent; else it is what came before."""
    finding: Verdict | None = None
    """What detection said, in a sentence for a person; its `stop_reason` is the one that is advised."""
    counted_before: bool = False
    """The call that something was said of had counted already, and does not count again."""

    @property
    def allows_call(self) -> bool:
        """Whether the call may be made."""
        return self.action in {Action.CONTINUE, Action.COMPRESS}


def fine(call_id: str | None = None) -> Answer:
    """Return the answer where nothing is held against a call."""
    return Answer(
        pattern=None,
        action=Action.CONTINUE,
        advised=Action.CONTINUE,
        stop_reason=None,
        severity="",
        message="",
        evidence={},
        call_id=call_id,
    )


def error_for(answer: Answer) -> LoopDetected:
    """Return the exception that stands for an answer which does not allow the call."""
    return LoopDetected(answer) if answer.action is Action.STOP else LoopNudge(answer)
