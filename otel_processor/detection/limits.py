"""limit: a run used up what it may use; all limits are off unless they are set."""

from __future__ import annotations

from dataclasses import dataclass, replace

from otel_processor.model import Action, Call, Pattern, Role, StopReason, Verdict
from otel_processor.policy import Policy


@dataclass(slots=True)
class Usage:
    """What a run used so far; owned by its `RunState`."""

    steps: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    first_ns: int = 0
    last_ns: int = 0

    def copy(self) -> Usage:
        """Return a usage of its own that stands at the same."""
        return replace(self)

    def add(self, call: Call, steps: int) -> None:
        """Count a call; the run has taken so many steps with it."""
        self.steps = steps
        if call.kind is Role.TOOL:
            self.tool_calls += 1
        else:
            self.tokens += (call.reading.input_tokens or 0) + (call.reading.output_tokens or 0)
            self.cost_usd += call.cost_usd or call.reading.cost_usd or 0.0
        self.first_ns = min(self.first_ns, call.start_ns) if self.first_ns else call.start_ns
        self.last_ns = max(self.last_ns, call.end_ns)


def has_limits(policy: Policy) -> bool:
    """Return whether any limit is set."""
    return any(
        limit is not None
        for limit in (policy.max_steps, policy.max_tool_calls, policy.max_tokens, policy.max_cost_usd, policy.timeout_seconds)
    )


def find_limit(usage: Usage, policy: Policy, span_id: str | None = None) -> Verdict | None:
    """Return a verdict when the run used more than it may.

    Args:
        usage: what it used, the latest call included; or what it would have used with one call more.
        policy: the limits.
        span_id: of the latest call.
    """
    counted = usage.tool_calls if policy.max_steps_counts == "tool_calls" else usage.steps
    unit = "tool calls" if policy.max_steps_counts == "tool_calls" else "steps"
    seconds = (usage.last_ns - usage.first_ns) / 1e9
    over = (
        (policy.max_steps, counted, StopReason.MAX_STEPS, f"{counted} {unit}"),
        (policy.max_tool_calls, usage.tool_calls, StopReason.MAX_TOOL_CALLS, f"{usage.tool_calls} tool calls"),
        (policy.max_tokens, usage.tokens, StopReason.MAX_TOKENS, f"{usage.tokens:,} tokens"),
        (policy.max_cost_usd, usage.cost_usd, StopReason.MAX_COST, f"${usage.cost_usd:.4g}"),
        (policy.timeout_seconds, seconds, StopReason.TIMEOUT, f"{seconds:.0f} seconds"),
    )
    for limit, used, reason, words in over:
        if limit is not None and used > limit:
            return Verdict(
                pattern=Pattern.LIMIT,
                action=Action.STOP,
                stop_reason=reason,
                severity="critical",
                message=f"the run took {words}; it may take {limit:,}",
                evidence={"limit": limit, "used": used, "span_ids": [span_id] if span_id else []},
            )
    return None
