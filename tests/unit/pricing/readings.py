"""Model calls as the reader tells them, and what they cost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from otel_processor.model import Reading, Role
from otel_processor.policy import Policy
from otel_processor.pricing import Cost, Pricer

JANUARY_2026 = datetime(2026, 1, 15, 12, tzinfo=UTC)


def call(model: str | None = "gpt-4o", provider: str | None = "openai", **told: Any) -> Reading:
    tokens = {"input_tokens": 1_000, "output_tokens": 100}
    return Reading(role=Role.MODEL, model=model, provider=provider, **{**tokens, **told})


def nanoseconds(when: datetime) -> int:
    return int(when.timestamp()) * 1_000_000_000


def cost(reading: Reading, when: datetime = JANUARY_2026, **policy: Any) -> Cost | None:
    return Pricer(Policy(**policy)).price(reading, nanoseconds(when))


def usd(reading: Reading, when: datetime = JANUARY_2026, **policy: Any) -> float | None:
    found = cost(reading, when, **policy)
    return None if found is None else found.usd
