"""What the model is told: what it repeated, what went wrong, what it is here for, and what to do now."""

from __future__ import annotations

from otel_processor.model import Action, Pattern, Verdict

_GOAL_CHARS = 2_000
_ERROR_CHARS = 500

_DO = {
    Pattern.NO_PROGRESS: "Summarise what you know so far and what is missing, then change your strategy.",
    Pattern.SEMANTIC_LOOP: "You have said this before. Act on it, ask something else, or give the answer that you have.",
    Pattern.UNCERTAINTY: "Summarise the conversation in a few sentences: keep the goal and the facts, drop the rest, and go on.",
    Pattern.LIMIT: "There is no room for more: give the best answer that you have now.",
    Pattern.SPEND_SPIKE: "This takes far more than tasks like it: go straight to the goal.",
}
_CHANGE = "Do not make this call again: use what you know already, ask for something else, or use another tool."
_END = "The run is stopped: make no more tool calls. Say what you found, what you tried, and what is missing."


def for_model(finding: Verdict, action: Action, *, goal: str, error: str) -> str:
    """Return the text that goes to the model.

    Args:
        finding: what is held against the run.
        action: what is done about it.
        goal: the original task of the run; may be empty.
        error: the latest error of a tool of the run; may be empty.
    """
    parts = [_sentence(finding.message)]
    if error:
        parts.append(f"The last error was: {_sentence(_cut(error, _ERROR_CHARS))}")
    if goal:
        parts.append(f"The goal is still: {_sentence(_cut(goal, _GOAL_CHARS))}")
    parts.append(_END if action is Action.STOP else _DO.get(finding.pattern, _CHANGE))
    return " ".join(parts)


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
