"""Small runs written as words.

`search:cats=nothing` is a call of `search` with the arguments `cats` that answered `nothing`; `search:cats` recorded no
result, `search=nothing` no arguments; `search:cats!HTTP 503` failed. `*` is a model call: the tool calls after it are one
step. `bob/search:cats=nothing` is a call of the agent `bob`. `+` or `-` at the end is progress as the agent declared it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from otel_processor.detection.evidence import make_call
from otel_processor.detection.run_state import RunState
from otel_processor.model import Call, CallOutcome, Pattern, Reading, Role
from otel_processor.policy import Policy

_WORDS = re.compile(
    r"(?:(?P<agent>[a-z]+)/)?(?P<tool>\*|[a-z_]+)(?::(?P<arguments>[^=!]*))?(?P<how>[=!])?(?P<result>.*?)(?P<declared>[+-])?",
    re.DOTALL,
)


def call(words: str, number: int = 0, policy: Policy | None = None, *, prefix: str = "") -> Call:
    match = _WORDS.fullmatch(words)
    assert match is not None, words
    if match["tool"] == "*":
        reading = Reading(role=Role.MODEL)
    else:
        failed = match["how"] == "!"
        reading = Reading(
            role=Role.TOOL,
            tool=match["tool"],
            arguments=match["arguments"],
            result=match["result"] if match["how"] == "=" else None,
            is_error=failed,
            error_message=match["result"] if failed else None,
            progress_declared=None if match["declared"] is None else match["declared"] == "+",
        )
    return make_call(
        reading,
        trace_id=f"{prefix}trace",
        span_id=f"{prefix}{number:04}",
        agent=match["agent"] or "",
        start_ns=number,
        end_ns=number + 1,
        policy=policy or Policy(),
    )


def run(*words: str, policy: Policy | None = None, prefix: str = "") -> list[CallOutcome]:
    state = RunState(policy or Policy())
    return [state.observe(call(said, number, policy, prefix=prefix)) for number, said in enumerate(words)]


def progress(outcomes: Sequence[CallOutcome]) -> str:
    """One letter for each call: `+` progress, `-` flat, `?` unknown."""
    return "".join({True: "+", False: "-", None: "?"}[outcome.progress] for outcome in outcomes)


def verdicts(outcomes: Sequence[CallOutcome]) -> list[tuple[int, str]]:
    """What was told, with the position of the call at which it was: `(4, "no_progress nudge")`."""
    return [
        (position, f"{verdict.pattern} {verdict.action}")
        for position, outcome in enumerate(outcomes)
        for verdict in outcome.verdicts
    ]


def alarms(outcomes: Sequence[CallOutcome], pattern: Pattern) -> list[int]:
    """The positions of the calls at which a pattern was told."""
    return [position for position, outcome in enumerate(outcomes) for verdict in outcome.verdicts if verdict.pattern is pattern]
