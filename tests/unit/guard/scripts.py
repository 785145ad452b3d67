"""Agents' loops written as words, driven through a guard.

`search:cats=nothing` asks for the call, makes it where it is allowed, and gets that answer; `search:cats!HTTP 404` fails;
`+` or `-` at the end is progress as the agent declared it; `*text` is a turn of the model; `|` is `on_step`.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Any

from otel_processor.guard import LoopGuard
from otel_processor.policy import Policy

_WORDS = re.compile(r"(?P<tool>[a-z_]+):(?P<q>[^=!]*)(?P<how>[=!])(?P<result>.*?)(?P<declared>[+-])?", re.DOTALL)


def make_guard(mode: str = "enforce", policy: Policy | None = None, **more: Any) -> LoopGuard:
    clock = count(1, 1_000_000)
    return LoopGuard(policy or Policy(), mode=mode, clock=lambda: next(clock), **more)


def drive(guard: LoopGuard, *words: str) -> list[str]:
    """Do what the words say and return, for each call, what was answered before it."""
    said = []
    for word in words:
        if word == "|":
            guard.on_step()
        elif word.startswith("*"):
            guard.on_turn(word[1:])
        else:
            said.append(call(guard, word))
    return said


def call(guard: LoopGuard, words: str) -> str:
    match = _WORDS.fullmatch(words)
    assert match is not None, words
    answer = guard.before_tool(match["tool"], {"q": match["q"]})
    if not answer.allows_call:
        guard.skip_tool(answer)
        return str(answer.action)
    progress = None if match["declared"] is None else match["declared"] == "+"
    if match["how"] == "!":
        guard.after_tool(error=match["result"], progress=progress, call=answer)
    else:
        guard.after_tool(match["result"], progress=progress, call=answer)
    return str(answer.advised if guard.mode == "observe" else answer.action)


CATS = "search:cats=nothing"
"""The call that goes in circles: it is new once."""
