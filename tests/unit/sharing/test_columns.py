"""Every table and column is known to those who remove and who give away: what is added has to be decided on."""

from __future__ import annotations

import inspect
import re

import duckdb
import pytest

from otel_processor.recording import pruning
from otel_processor.store.scripts import creation_order, definition, sharing_query

OWNERS = {"meta", "writers", "deliveries"}
"""Tables that are nobody's business but the owner's: they stay empty in a copy."""

HARMLESS = {
    "spans": "trace_id span_id parent_span_id kind start_time end_time start_unix_nano end_unix_nano status received_at",
    "call_rows": "trace_id span_id declared_run_id step kind is_error error_class signature fingerprint progress repeats "
    "flat_steps effect input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens cost_usd cost_source "
    "started_at ended_at end_unix_nano dialect",
    "run_rows": "run_id conversation_id started_at ended_at last_seen_at stop_reason flagged_reason policy_hash status "
    "root_input_tokens root_output_tokens root_cost_usd idle_reason is_guarded",
    "run_totals": "run_id steps last_step tool_calls model_calls failed_tool_calls signed_tool_calls repeated_tool_calls "
    "flat_steps longest_flat_streak open_flat_streak input_tokens output_tokens cache_read_tokens cost_usd unpriced_calls "
    "calls_without_usage wasted_tokens wasted_cost_usd first_end_unix_nano",
    "trace_runs": "trace_id run_id decided_by",
    "alerts": "alert_id run_id trace_id span_id at pattern severity action stop_reason resolved_at",
    "policies": "policy_hash first_used_at fields",
}
"""Columns that a copy without content holds as they are: ids, times, numbers, words of ours."""


def columns() -> dict[str, set[str]]:
    with duckdb.connect() as connection:
        for name in creation_order("schema"):
            connection.execute(definition("schema", name))
        found = connection.execute("select table_name, column_name from duckdb_columns() where not internal").fetchall()
    return {table: {column for name, column in found if name == table} for table, _ in found}


@pytest.mark.parametrize("table", creation_order("schema"))
def test_what_a_copy_holds_of_each_table_is_decided(table: str) -> None:
    if table in OWNERS:
        assert sharing_query("rows", table) is None
        return
    stripped = set(re.findall(r"^    .* as (\w+),?$|^    \) end as (\w+)$", sharing_query("stripped", table) or "", re.MULTILINE))
    replaced = {name for pair in stripped for name in pair if name}
    assert sharing_query("rows", table) is not None
    assert columns()[table] == replaced | set(HARMLESS[table].split())
    assert not replaced & set(HARMLESS[table].split())


@pytest.mark.parametrize("table", creation_order("schema"))
def test_what_knows_of_runs_or_traces_goes_with_them(table: str) -> None:
    if columns()[table] & {"trace_id", "run_id"}:
        assert re.search(rf"delete from {table} ", inspect.getsource(pruning)), f"pruning leaves rows of {table} behind"
