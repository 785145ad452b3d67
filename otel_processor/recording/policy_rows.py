"""The thresholds that runs are judged by, written down so that `runs.policy_hash` can be looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from otel_processor.store.columns import POLICIES, as_list

if TYPE_CHECKING:
    import duckdb

    from otel_processor.policy import Policy


def write_policies(connection: duckdb.DuckDBPyConnection, used: Iterable[str], policies: Mapping[str, Policy]) -> None:
    """Write down what the policies of these hashes say, where that does not stand there yet.

    Args:
        connection: inside a write transaction.
        used: hashes of policies that runs were judged by.
        policies: by their hashes.
    """
    rows = connection.execute(
        "select policy_hash from policies where policy_hash in (select unnest(from_json($hashes::JSON, '[\"VARCHAR\"]')))",
        {"hashes": as_list(used)},
    ).fetchall()
    new = sorted(set(used) - {policy_hash for (policy_hash,) in rows})
    POLICIES.insert(connection, {"policy_hash": new, "fields": [policies[policy_hash].as_json for policy_hash in new]})
