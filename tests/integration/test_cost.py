"""The cost ledger: what runs add up to, what they leave out, and whether that is what their roots say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel_processor import Policy
from otel_processor.recording.recorder import Recorder
from otel_processor.store.database import Database
from tests.integration.records import record, tool_record
from tests.integration.stored import rows, value

TRACE = "a" * 32
OWN = Policy(prices={"house": {"input": 1, "output": 4}})
"""1,000 tokens of input and 100 of output cost 0.0014 dollars."""


def agent(**more: Any) -> Any:
    return record({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk", **more}, span="f" * 16)


def model(model: str | None = "house", tokens: int | None = 1_000, more: dict[str, Any] | None = None, **fields: Any) -> Any:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model or "nameless"}
    if tokens is not None:
        attributes |= {"gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": 100}
    return record(attributes | (more or {}), **{"parent": "f" * 16, **fields})


def store(db: Path, *spans: Any, policy: Policy = OWN) -> None:
    recorder = Recorder(db, policy)
    assert recorder.record(spans, timeout_seconds=10)
    recorder.close()


def test_a_run_costs_what_its_model_calls_do_and_not_what_its_root_repeats(db: Path) -> None:
    root = agent(**{"gen_ai.usage.input_tokens": 2_000, "gen_ai.usage.output_tokens": 200, "operation.cost": 0.0028})
    store(db, model(), model(), root)
    assert rows(db, "select cost_usd, cost_source from calls order by all") == [(0.0014, "override")] * 2
    assert rows(db, "select tokens, cost_usd, unpriced_calls, calls_without_usage from runs") == [(2_200, 0.0028, 0, 0)]


def test_a_call_that_two_spans_tell_costs_once(db: Path) -> None:
    # Another instrumentation tells the same request below, and knows what it cost.
    outer = model(span="1" * 16, at=10**18, end=10**18 + 1_000)
    inner = model(span="2" * 16, parent="1" * 16, at=10**18 + 10, end=10**18 + 900, more={"gen_ai.usage.cost": 0.5})
    store(db, inner, outer, agent())
    assert rows(db, "select cost_usd, cost_source from calls") == [(0.5, "span")]
    assert value(db, "select cost_usd from runs") == 0.5


def test_what_has_no_price_is_counted_and_not_free(db: Path) -> None:
    store(db, model("a-model-of-nobody"), model(None, None), agent())
    assert rows(db, "select cost_usd, cost_source from calls order by all") == [(None, None)] * 2
    assert rows(db, "select cost_usd, wasted_cost_usd, unpriced_calls, calls_without_usage from runs") == [(None, None, 1, 1)]
    assert rows(db, "select cost_usd, wasted_cost_usd, unpriced_calls, calls_without_usage from tokens_per_task") == [
        (None, None, 1, 1)
    ]


def test_what_is_known_of_a_run_is_a_sum_with_the_number_of_what_is_missing(db: Path) -> None:
    store(db, model(), model("a-model-of-nobody"), agent())
    assert rows(db, "select cost_usd, wasted_cost_usd, unpriced_calls from runs") == [(0.0014, 0.0, 1)]


def test_the_rows_are_the_same_whether_spans_come_one_by_one_or_at_once(db: Path, tmp_path: Path) -> None:
    spans = [model(), tool_record("search", {"q": "x"}, "nothing", parent="f" * 16), model(), agent()]
    store(db, *spans)
    other = tmp_path / "other.duckdb"
    for span in reversed(spans):
        store(other, span)
    question = "select span_id, cost_usd, cost_source from calls order by all"
    assert rows(db, question) == rows(other, question)


def test_wasted_is_what_repeats_took_also_where_no_result_is_recorded(db: Path) -> None:
    """Three turns ask for the same; nobody recorded what came back."""
    turns = [span for _ in range(3) for span in (model(), tool_record("search", {"q": "x"}, parent="f" * 16))]
    store(db, *turns, agent())
    assert rows(db, "select flat_steps, tokens, wasted_tokens, wasted_cost_usd from runs") == [(0, 3_300, 2_200, 0.0028)]


def test_a_turn_that_also_does_something_new_is_not_wasted(db: Path) -> None:
    first = [model(), tool_record("search", {"q": "x"}, parent="f" * 16)]
    mixed = [
        model(),
        tool_record("search", {"q": "x"}, parent="f" * 16),
        tool_record("search", {"q": "y"}, parent="f" * 16),
    ]
    store(db, *first, *mixed, agent())
    assert value(db, "select wasted_tokens from runs") == 0


def test_wasted_steps_without_a_price_make_the_waste_unknown(db: Path) -> None:
    turns = [
        model(),
        tool_record("search", {"q": "x"}, "nothing", parent="f" * 16),
        model("a-model-of-nobody"),
        tool_record("search", {"q": "x"}, "nothing", parent="f" * 16),
    ]
    store(db, *turns, agent())
    assert rows(db, "select wasted_tokens, cost_usd, wasted_cost_usd from runs") == [(1_100, 0.0014, None)]


@pytest.mark.parametrize(
    ("spans", "root", "verdict"),
    [
        ([model()], (1_000, 100, None), "agrees"),
        ([model()], (1_000, 100, 0.0014), "agrees"),
        ([model()], (1_000, None, None), "agrees"),
        ([model()], (900, 100, None), "differs"),
        ([model()], (1_000, 100, 0.0015), "differs"),
        ([model()], (None, None, None), "no_root_total"),
        ([model("a-model-of-nobody")], (1_000, 100, None), "unpriced"),
        ([model("a-model-of-nobody")], (None, None, None), "unpriced"),
        ([model("a-model-of-nobody")], (999, 100, None), "differs"),
        ([model(None, None)], (1_000, 100, None), "no_usage"),
        ([tool_record("search", {"q": "x"}, "nothing", parent="f" * 16)], (1_000, 100, None), "no_leaves"),
    ],
)
def test_a_word_says_whether_the_sums_agree(
    db: Path, spans: list[Any], root: tuple[int | None, int | None, float | None], verdict: str
) -> None:
    store(db, *spans, agent())
    with Database(db).write(timeout_seconds=10) as connection:
        connection.execute("update run_rows set root_input_tokens = $1, root_output_tokens = $2, root_cost_usd = $3", list(root))
    assert value(db, "select verdict from cost_reconciliation") == verdict
