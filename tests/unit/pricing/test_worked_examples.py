"""Real list prices, worked out by hand: USD per million tokens times millions of tokens."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.unit.dialects.spans import read
from tests.unit.pricing.readings import call, cost, usd

pytest.importorskip("genai_prices")


def test_openai_with_cached_input() -> None:
    # gpt-4o: 2.50 input, 1.25 cached, 10 output.
    # (1,000,000 - 400,000) x 2.50 + 400,000 x 1.25 + 50,000 x 10 = 1.50 + 0.50 + 0.50
    reading = call("gpt-4o-2024-08-06", input_tokens=1_000_000, cache_read_tokens=400_000, output_tokens=50_000)
    assert cost(reading) == (2.50, "price_list")


def test_reasoning_is_paid_as_the_output_that_it_is_part_of() -> None:
    # o3 since June 2025: 2 input, 8 output. 100,000 x 2 + 50,000 x 8 = 0.20 + 0.40, whatever part of it was reasoning.
    reading = call("o3", input_tokens=100_000, output_tokens=50_000, reasoning_tokens=45_000)
    assert usd(reading) == pytest.approx(0.60, abs=1e-12)


def test_anthropic_with_caches_of_five_minutes_and_of_an_hour() -> None:
    # claude-haiku-4-5: 1 input, 0.10 cached, 1.25 written for 5 minutes, 2 written for an hour, 5 output.
    # input 100,000 = 20,000 plain + 50,000 read + 30,000 written, of which 10,000 for an hour
    # 20,000 x 1 + 50,000 x 0.10 + 20,000 x 1.25 + 10,000 x 2 + 10,000 x 5 = 0.02 + 0.005 + 0.025 + 0.02 + 0.05
    reading = call(
        "claude-haiku-4-5-20251001",
        "anthropic",
        input_tokens=100_000,
        cache_read_tokens=50_000,
        cache_write_tokens=30_000,
        cache_write_1h_tokens=10_000,
        output_tokens=10_000,
    )
    assert usd(reading) == pytest.approx(0.12, abs=1e-12)


def test_anthropic_cache_writes_of_untold_length_are_of_five_minutes() -> None:
    # 70,000 x 1 + 30,000 x 1.25 + 10,000 x 5 = 0.07 + 0.0375 + 0.05
    reading = call("claude-haiku-4-5", "anthropic", input_tokens=100_000, cache_write_tokens=30_000, output_tokens=10_000)
    assert usd(reading) == pytest.approx(0.1575, abs=1e-12)


def test_gemini_up_to_200_thousand_tokens_of_input() -> None:
    # gemini-2.5-pro: 1.25 input, 10 output. 200,000 x 1.25 + 10,000 x 10 = 0.25 + 0.10
    reading = call("gemini-2.5-pro", "gcp.gemini", input_tokens=200_000, output_tokens=10_000)
    assert usd(reading) == pytest.approx(0.35, abs=1e-12)


def test_gemini_above_200_thousand_tokens_pays_more_for_all_of_them() -> None:
    # 2.50 input, 0.25 cached, 15 output. 150,000 x 2.50 + 100,000 x 0.25 + 10,000 x 15 = 0.375 + 0.025 + 0.15
    reading = call(
        "models/gemini-2.5-pro", "gcp.vertex_ai", input_tokens=250_000, cache_read_tokens=100_000, output_tokens=10_000
    )
    assert usd(reading) == pytest.approx(0.55, abs=1e-12)


@pytest.mark.parametrize(
    ("hour", "dollars"),
    [
        # 0.27 input, 0.07 cached, 1.10 output: 60,000 x 0.27 + 40,000 x 0.07 + 10,000 x 1.10 = 0.0162 + 0.0028 + 0.011
        (12, 0.0300),
        # At night (16:30 to 0:30 UTC) 0.135, 0.035, 0.55: 0.0081 + 0.0014 + 0.0055
        (20, 0.0150),
    ],
)
def test_deepseek_with_cached_input_by_day_and_by_night(hour: int, dollars: float) -> None:
    reading = call("deepseek-chat", "deepseek", input_tokens=100_000, cache_read_tokens=40_000, output_tokens=10_000)
    assert usd(reading, datetime(2025, 5, 1, hour, tzinfo=UTC)) == pytest.approx(dollars, abs=1e-12)


@pytest.mark.parametrize(
    ("day", "dollars"),
    [
        # 10 input and 40 output until the 10th of June 2025: 0.10 + 0.04
        (datetime(2025, 6, 9, 23, 59, tzinfo=UTC), 0.14),
        # 2 and 8 since: 0.02 + 0.008
        (datetime(2025, 6, 10, 0, 0, tzinfo=UTC), 0.028),
    ],
)
def test_the_price_is_that_of_the_call_s_time(day: datetime, dollars: float) -> None:
    assert usd(call("o3", input_tokens=10_000, output_tokens=1_000), day) == pytest.approx(dollars, abs=1e-12)


def test_bedrock_is_paid_at_its_own_price() -> None:
    # claude-3-5-sonnet: 3 input, 15 output. 100,000 x 3 + 10,000 x 15 = 0.30 + 0.15
    for name in ("anthropic.claude-3-5-sonnet-20241022-v2:0", "us.anthropic.claude-3-5-sonnet-20241022-v2:0"):
        for provider in ("aws.bedrock", "amazon-bedrock", None):
            reading = call(name, provider, input_tokens=100_000, output_tokens=10_000)
            assert usd(reading) == pytest.approx(0.45, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-4o", "openai"),
        ("gpt-4o", "az.ai.openai"),
        ("gpt-4o", "azure"),
        ("gpt-4o", "OpenAI"),
        ("gpt-4o", "openai.responses"),
        ("gpt-4o", None),
        ("gpt-4o", "langchain"),
        ("openai/gpt-4o", None),
        ("openai/gpt-4o", "litellm"),
        ("openai:gpt-4o", None),
        ("azure/gpt-4o", None),
    ],
)
def test_names_as_writers_give_them(model: str, provider: str | None) -> None:
    # 100,000 x 2.50 + 10,000 x 10 = 0.25 + 0.10
    assert usd(call(model, provider, input_tokens=100_000, output_tokens=10_000)) == pytest.approx(0.35, abs=1e-12)


@pytest.mark.parametrize(
    ("tier", "dollars"),
    [
        (None, 0.0225),  # gpt-5: 1.25 and 10. 10,000 x 1.25 + 1,000 x 10 = 0.0125 + 0.01
        ("default", 0.0225),
        ("flex", 0.01125),  # half of it
        ("a-tier-of-tomorrow", None),
    ],
)
def test_a_service_tier_has_its_own_price_or_none(tier: str | None, dollars: float | None) -> None:
    reading = call("gpt-5", service_tier=tier, input_tokens=10_000, output_tokens=1_000)
    found = usd(reading, datetime(2026, 11, 15, tzinfo=UTC))
    assert found == (None if dollars is None else pytest.approx(dollars, abs=1e-12))


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("fake-model-1", "openai"),
        ("gpt-99", "openai"),
        ("my-deployment", "az.ai.openai"),
        (None, "openai"),
        ("", None),
        ("x" * 5_000, None),
        # On one's own machine a model has no list price, though the list knows its name.
        ("deepseek-r1", "ollama"),
        ("deepseek-r1:7b", "openai"),
        ("ollama/deepseek-r1", None),
        ("gpt-oss-20b", None),
        # Open weights cost what their host takes.
        ("deepseek-r1", "a-host-of-its-own"),
        # What these answered is paid by its kind, which no span tells.
        ("gemini-2.5-flash-image", "google"),
        ("gpt-realtime", "openai"),
    ],
)
def test_what_the_list_does_not_price_has_no_cost(model: str | None, provider: str | None) -> None:
    assert cost(call(model, provider)) is None


COUNTS = {"gen_ai.usage.input_tokens": 10_000, "gen_ai.usage.output_tokens": 1_000}


def test_writers_that_leave_out_paid_tokens_have_no_cost() -> None:
    # Gemini CLI tells no thoughts, AgentOps none of Anthropic's cached tokens.
    gemini = read(
        COUNTS
        | {"gen_ai.operation.name": "llm_call", "gen_ai.request.model": "gemini-2.5-pro", "gen_ai.agent.name": "gemini-cli"},
        name="llm_call",
        scope="gemini-cli",
    )
    agentops = {"agentops.span.kind": "llm", "gen_ai.usage.prompt_tokens": 10_000, "gen_ai.usage.completion_tokens": 1_000}
    claude = read(agentops | {"gen_ai.request.model": "claude-haiku-4-5", "gen_ai.system": "Anthropic"})
    assert (gemini.dialect, gemini.input_tokens, cost(gemini)) == ("gemini_cli", 10_000, None)
    assert (claude.dialect, claude.input_tokens, cost(claude)) == ("agentops", 10_000, None)
    # gpt-4o: 10,000 x 2.50 + 1,000 x 10 = 0.025 + 0.01
    assert usd(read(agentops | {"gen_ai.request.model": "gpt-4o", "gen_ai.system": "OpenAI"})) == pytest.approx(0.035, abs=1e-12)


def test_a_span_s_service_tier_is_read() -> None:
    # gpt-5 flex: 0.625 and 5. 10,000 x 0.625 + 1,000 x 5 = 0.00625 + 0.005
    for key in ("openai.response.service_tier", "gen_ai.openai.response.service_tier"):
        reading = read(COUNTS | {"gen_ai.operation.name": "chat", "gen_ai.response.model": "gpt-5", key: "flex"})
        assert usd(reading, datetime(2026, 11, 15, tzinfo=UTC)) == pytest.approx(0.01125, abs=1e-12)


def test_cache_writes_by_length_as_langchain_tells_them() -> None:
    # As in the example with both lengths; the client tells 0 written in all, and each length apart.
    usage = {
        "input_tokens": 100_000,
        "output_tokens": 10_000,
        "input_token_details": {
            "cache_read": 50_000,
            "cache_creation": 0,
            "ephemeral_5m_input_tokens": 20_000,
            "ephemeral_1h_input_tokens": 10_000,
        },
    }
    reading = read(
        {
            "langsmith.span.kind": "llm",
            "langsmith.metadata.ls_provider": "anthropic",
            "gen_ai.response.model": "claude-haiku-4-5",
            "langsmith.metadata.usage_metadata": json.dumps(usage),
        }
    )
    assert (reading.cache_write_tokens, reading.cache_write_1h_tokens) == (30_000, 10_000)
    assert usd(reading) == pytest.approx(0.12, abs=1e-12)
    buckets = {
        "input": 20_000,
        "input_cache_read": 50_000,
        "input_ephemeral_5m_input_tokens": 20_000,
        "input_ephemeral_1h_input_tokens": 10_000,
        "output": 10_000,
        "total": 110_000,
    }
    langfuse = read(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": "claude-haiku-4-5",
            "langfuse.observation.usage_details": json.dumps(buckets),
        }
    )
    assert (langfuse.input_tokens, langfuse.cache_write_tokens) == (100_000, 30_000)
    assert usd(langfuse) == pytest.approx(0.12, abs=1e-12)


def test_reasoning_that_is_counted_beside_the_output_is_paid_too() -> None:
    # gemini-2.5-pro: 10,000 x 1.25 + (1,000 + 4,000) x 10 = 0.0125 + 0.05
    reading = read(
        COUNTS
        | {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gemini-2.5-pro", "gen_ai.usage.reasoning_tokens": 4_000}
    )
    assert reading.output_tokens == 5_000
    assert usd(reading) == pytest.approx(0.0625, abs=1e-12)
