"""Who is asked for a price, in which order, and what stays unknown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.policy import Policy
from otel_processor.pricing import Pricer
from otel_processor.pricing.rates import Rates, Tokens, flat
from tests.unit.pricing.readings import call, cost, usd

OWN: dict[str, Any] = {"prices": {"house-*": {"input": 1, "output": 4, "cache_read": 0.5, "cache_write": 2}}}
COUNTS = st.integers(0, 10**9)


def no_list() -> None:
    return None


def test_the_span_s_own_word_goes_first() -> None:
    told = call("house-1", cost_usd=0.5)
    assert cost(told, **OWN) == (0.5, "span")
    assert cost(call(None, cost_usd=0.0), **OWN) == (0.0, "span")


def test_the_user_s_prices_go_before_the_list() -> None:
    # 600 x 1 + 300 x 0.5 + 100 x 2 + 100 x 4 = 600 + 150 + 200 + 400 millionths
    reading = call("house-1", None, cache_read_tokens=300, cache_write_tokens=100)
    assert cost(reading, **OWN) == (0.00135, "override")
    assert cost(call("gpt-4o"), prices={"GPT-4o": {"input": 1, "output": 1}}) == (0.0011, "override")


def test_an_exact_name_goes_before_a_beginning_and_a_long_beginning_before_a_short_one() -> None:
    prices = {name: {"input": number, "output": 0} for number, name in enumerate(("*", "a*", "ab*", "abc"), 1)}
    for name, dollars in {"x": 1, "ax": 2, "abx": 3, "abc": 4, "abcd": 3}.items():
        assert usd(call(name, None, input_tokens=1_000_000, output_tokens=0), prices=prices) == dollars


def test_cached_tokens_cost_what_input_does_unless_the_user_says_otherwise() -> None:
    reading = call("own", None, cache_read_tokens=300, cache_write_tokens=100, cache_write_1h_tokens=50)
    assert usd(reading, prices={"own": {"input": 1, "output": 0}}) == 0.001


@pytest.mark.parametrize("name", ["openai", "gpt-4o", "gpt-*"])
def test_a_discount_is_taken_off_the_list_s_price(name: str) -> None:
    pytest.importorskip("genai_prices")
    # (1,000 x 2.50 + 100 x 10) millionths = 0.0035, a fifth off
    assert usd(call("gpt-4o"), discounts={name: 0.2}) == pytest.approx(0.0028, abs=1e-15)
    assert usd(call("gpt-4o"), discounts={"anthropic": 0.2}) == pytest.approx(0.0035, abs=1e-15)


def test_a_model_s_discount_goes_before_its_provider_s() -> None:
    pytest.importorskip("genai_prices")
    assert usd(call("gpt-4o"), discounts={"openai": 0.2, "gpt-4o": 1}) == 0.0


def test_the_user_s_own_prices_have_no_discount() -> None:
    assert usd(call("house-1", None), discounts={"house-*": 0.5}, **OWN) == 0.0014


@pytest.mark.parametrize(
    "told",
    [
        {"input_tokens": None},
        {"output_tokens": None},
        {"input_tokens": None, "output_tokens": None},
        {"cache_read_tokens": 1_001},
        {"cache_read_tokens": 600, "cache_write_tokens": 600},
        {"cache_write_tokens": 5, "cache_write_1h_tokens": 6},
        {"reasoning_tokens": 101},
    ],
)
def test_counts_that_are_missing_or_contradict_each_other_have_no_cost(told: dict[str, Any]) -> None:
    assert cost(call("house-1", None, **told), **OWN) is None


def test_without_the_list_only_spans_and_users_know_a_price() -> None:
    pricer = Pricer(Policy(**OWN), no_list)
    assert pricer.price(call("gpt-4o"), 0) is None
    assert pricer.price(call("house-1"), 0) is not None
    assert pricer.price(call("gpt-4o", cost_usd=1.0), 0) == (1.0, "span")


def test_a_list_that_fails_costs_the_price_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def find(self, *_: object) -> None:
            raise ValueError("no such entry")

    pricer = Pricer(Policy(), Broken)  # type: ignore[arg-type]
    assert [pricer.price(call("gpt-4o"), 0) for _ in range(3)] == [None] * 3
    assert len(caplog.records) == 1


def test_times_that_no_calendar_has_are_unknown() -> None:
    pytest.importorskip("genai_prices")
    assert Pricer(Policy()).price(call("o3"), 2**80) is None


@given(tokens=st.builds(Tokens, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS), prices=st.lists(st.integers(0, 500), min_size=6))
def test_a_cost_is_never_negative_and_grows_with_its_tokens(tokens: Tokens, prices: list[int]) -> None:
    full, output, read, write, long, reasoning = map(flat, prices[:6])
    rates = Rates(input=full, output=output, cache_read=read, cache_write=write, cache_write_1h=long, reasoning=reasoning)
    if not tokens.agree:
        return
    one = rates.cost(tokens)
    assert one is not None
    assert one >= 0
    for more in (tokens._replace(input=tokens.input + 1), tokens._replace(output=tokens.output + 1)):
        assert (rates.cost(more) or 0) >= one


@given(tokens=st.builds(Tokens, COUNTS, COUNTS), model=st.sampled_from(["gpt-4o", "gemini-2.5-pro", "claude-sonnet-4-5", "o3"]))
def test_a_list_s_cost_grows_with_its_tokens_over_every_step(tokens: Tokens, model: str) -> None:
    pytest.importorskip("genai_prices")
    fewer, more = (usd(call(model, None, input_tokens=tokens.input + n, output_tokens=tokens.output)) for n in (0, 1))
    assert fewer is not None
    assert more is not None
    assert 0 <= fewer <= more


@given(st.text(), st.one_of(st.none(), st.text()), st.integers(-(2**70), 2**70), COUNTS)
def test_no_name_raises_and_unknown_is_never_free(model: str, provider: str | None, start_ns: int, count: int) -> None:
    found = Pricer(Policy(), no_list).price(call(model, provider, input_tokens=count), start_ns)
    assert found is None


def test_agrees_with_the_list_s_own_arithmetic() -> None:
    genai_prices = pytest.importorskip("genai_prices")
    usage = genai_prices.Usage(
        input_tokens=250_000,
        output_tokens=9_999,
        cache_read_tokens=77_777,
        cache_write_tokens=33_333,
        cache_write_1h_tokens=1_111,
    )
    from tests.unit.pricing.readings import JANUARY_2026

    for model, provider in (
        ("claude-sonnet-4-5", "anthropic"),
        ("claude-opus-4-5", "anthropic"),
        ("claude-sonnet-4-6", "google"),
    ):
        expected = genai_prices.calc_price(usage, model, provider_id=provider, genai_request_timestamp=JANUARY_2026).total_price
        reading = call(
            model,
            provider,
            input_tokens=250_000,
            output_tokens=9_999,
            cache_read_tokens=77_777,
            cache_write_tokens=33_333,
            cache_write_1h_tokens=1_111,
        )
        assert usd(reading) == pytest.approx(float(expected), rel=1e-15)
