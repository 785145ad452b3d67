"""The part of `doctor` that looks at costs: what has no price, what tells no tokens, what does not add up."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from otel_processor.cli.checks import Check, ok, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

_COSTS = """
    select
        count(*) filter (coalesce(input_tokens, output_tokens) is not null or cost_usd is not null) as with_usage,
        count(*) filter (coalesce(input_tokens, output_tokens) is null and cost_usd is null) as without_usage,
        count(*) filter (coalesce(input_tokens, output_tokens) is not null and cost_usd is null) as unpriced,
        count(*) filter (cost_source = 'span') as by_span,
        count(*) filter (cost_source = 'override') as by_user,
        count(*) filter (cost_source = 'price_list') as by_list,
        sum(cost_usd) as cost_usd
    from calls where kind = 'model'
"""
_UNPRICED = """
    select coalesce(left(model, 60), 'no model named') as model, count(*) as calls
    from calls
    where kind = 'model' and cost_usd is null and coalesce(input_tokens, output_tokens) is not null
    group by all order by calls desc, model limit 3
"""
_VERDICTS = "select verdict, count(*) as runs from cost_reconciliation group by all order by all"

_SAID = {
    "agrees": "add up to what their root says",
    "differs": "do not add up to what their root says",
    "unpriced": "have calls without a price",
    "no_root_total": "have a root that gives no total",
    "no_usage": "tell no tokens",
    "no_leaves": "have no model calls",
}


def look_at_costs(connection: duckdb.DuckDBPyConnection) -> Iterator[Check]:
    """Check what the model calls of a database cost, as far as that is known."""
    views = {name for (name,) in connection.execute("select view_name from duckdb_views()").fetchall()}
    if "cost_reconciliation" not in views:
        yield ok("cost", "the database was made before costs were reconciled; the next write adds it")
        return
    found = connection.execute(_COSTS).fetchone()
    if found is None or not (found[0] or found[1]):
        return
    with_usage, without_usage, unpriced, by_span, by_user, by_list, dollars = found
    if with_usage:
        priced = with_usage - unpriced
        told = f"{priced:,} of {with_usage:,} model calls with usage have a cost"
        if priced:
            told += f", ${dollars:,.4f} together (told by spans {by_span:,}, policy {by_user:,}, price list {by_list:,})"
        yield warning("cost", f"{told}; no price for {_models(connection)}", _remedy()) if unpriced else ok("cost", told)
    if without_usage:
        yield warning(
            "usage",
            f"{without_usage:,} model calls tell no tokens: what they cost is not known",
            "let the instrumentation record usage; OpenAI streams tell it with stream_options={'include_usage': True}",
        )
    yield _reconciled(connection)


def _models(connection: duckdb.DuckDBPyConnection) -> str:
    return ", ".join(f"{model!r} ({calls:,})" for model, calls in connection.execute(_UNPRICED).fetchall())


def _remedy() -> str:
    """Say how calls get a price from now on; those that are stored keep what they were stored with."""
    own = "Policy(prices={'MODEL': {'input': 2.5, 'output': 10}}), in USD per million tokens"
    if importlib.util.find_spec("genai_prices") is None:
        return f"for the price list: pip install 'otel-processor[cost]'; for models of your own: {own}"
    return f"the price list does not know them; give their prices: {own}"


def _reconciled(connection: duckdb.DuckDBPyConnection) -> Check:
    runs = dict(connection.execute(_VERDICTS).fetchall())
    told = "runs: " + ", ".join(f"{runs[verdict]:,} {said}" for verdict, said in _SAID.items() if verdict in runs)
    if "differs" in runs:
        return warning(
            "reconciliation",
            told,
            "a call may be missing or told twice: otel-processor sql \"from cost_reconciliation where verdict = 'differs'\"",
        )
    return ok("reconciliation", told)
