"""Attempts that layers below a tool made are counted with the agent's own."""

from __future__ import annotations

from typing import Any

import pytest

from otel_processor.model import Pattern, SpanRecord
from otel_processor.runs.attempts import Tries, tries_of
from tests.unit.factory import agent_span, make_span, tool_span
from tests.unit.runs.small_store import SmallStore

FAILED: dict[str, Any] = {"status": "ERROR", "status_message": "HTTP 503"}


def request(
    span_id: str, parent: str, at: float, *, status: int | None = None, resent: int | None = None, **fields: Any
) -> SpanRecord:
    more: dict[str, Any] = {"http.request.method": "GET"}
    if status is not None:
        more["http.response.status_code"] = status
    if resent is not None:
        more["http.request.resend_count"] = resent
    return make_span(span_id, more, parent=parent, at=at, seconds=0.1, **fields)


def attempts(*spans: SpanRecord) -> dict[str, int]:
    store = SmallStore()
    store.record(spans)
    return {recorded.call.span_id: recorded.call.attempts for recorded in store.calls.values()}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, None),
        ({"http.request.method": "GET"}, None),
        ({"http.request.method": "GET", "http.response.status_code": 200}, None),
        ({"http.request.method": "GET", "http.response.status_code": 503}, Tries(1, 0)),
        ({"http.method": "GET", "http.status_code": 429}, Tries(1, 0)),
        ({"http.request.method": "GET", "http.request.resend_count": 3}, Tries(0, 3)),
        ({"http.request.method": "GET", "http.request.resend_count": "3", "http.response.status_code": "503"}, None),
        ({"http.request.method": "GET", "http.request.resend_count": -1}, None),
        ({"http.response.status_code": 503}, None),
    ],
)
def test_what_a_request_says_of_attempts(attributes: dict[str, Any], expected: Tries | None) -> None:
    assert tries_of(make_span("s", attributes)) == expected


def test_a_request_that_failed_without_a_status_is_an_attempt() -> None:
    assert tries_of(make_span("s", {"http.request.method": "GET"}, status="ERROR")) == Tries(1, 0)


def test_failed_requests_below_a_call_are_its_attempts_through_plain_spans() -> None:
    found = attempts(
        request("r1", "client", 1, status=503),
        request("r2", "client", 2, status=503),
        request("r3", "client", 3, status=200),
        make_span("client", {}, parent="tool", at=1, seconds=3),
        tool_span("tool", "fetch:a=page", parent="root", at=0, seconds=5),
        tool_span("other", "fetch:b=page", parent="root", at=6, seconds=1),
        agent_span("root", at=0, seconds=9),
    )
    assert found == {"tool": 3, "other": 1}


def test_the_number_that_a_client_gave_its_last_request_counts_where_it_is_higher() -> None:
    spans = [request("r", "tool", 1, status=503, resent=4), tool_span("tool", "fetch:a", at=0, seconds=5, **FAILED)]
    assert attempts(*spans) == {"tool": 5}


def test_many_requests_that_go_well_are_one_attempt() -> None:
    spans = [request(f"r{number}", "tool", number, status=200) for number in range(9)]
    assert attempts(*spans, tool_span("tool", "fetch:a=page", at=0, seconds=20)) == {"tool": 1}


def test_a_request_that_outlives_its_call_is_not_counted() -> None:
    spans = [tool_span("tool", "fetch:a=page", at=0, seconds=1), request("r", "tool", 5, status=503)]
    assert attempts(*spans) == {"tool": 1}


def test_retries_of_two_layers_are_a_storm_before_the_agent_has_tried_often() -> None:
    store = SmallStore()
    spans = [
        span
        for number in range(3)
        for span in (
            *(request(f"r{number}{again}", f"t{number}", 10 * number + again, status=503) for again in range(5)),
            tool_span(f"t{number}", f"fetch:page {number}", at=10 * number, seconds=9, **FAILED),
        )
    ]
    delta = store.record(spans)
    storms = [alert for alert in delta.alerts if alert.verdict.pattern is Pattern.RETRY_STORM]
    assert [alert.span_id for alert in storms] == ["t2"]
    assert storms[0].verdict.evidence["attempts"] == 15
    assert "15 attempts with those that were made by layers below" in storms[0].verdict.message
