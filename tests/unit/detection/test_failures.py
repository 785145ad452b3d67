from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.failures import classify_error, transient_in_body
from otel_processor.model import ErrorClass


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP 429", ErrorClass.TRANSIENT),
        ("503 Service Unavailable", ErrorClass.TRANSIENT),
        ("Too Many Requests", ErrorClass.TRANSIENT),
        ("RateLimitError", ErrorClass.TRANSIENT),
        ("rate_limit_exceeded", ErrorClass.TRANSIENT),
        ("TimeoutError", ErrorClass.TRANSIENT),
        ("the read operation timed out", ErrorClass.TRANSIENT),
        ("Connection reset by peer", ErrorClass.TRANSIENT),
        ("context deadline exceeded", ErrorClass.TRANSIENT),
        ("the model is overloaded, try again later", ErrorClass.TRANSIENT),
        ("RESOURCE_EXHAUSTED", ErrorClass.TRANSIENT),
        ("ThrottlingException", ErrorClass.TRANSIENT),
        ("503: page not found in cache", ErrorClass.TRANSIENT),
        ("404 Not Found", ErrorClass.PERMANENT),
        ("401 Unauthorized", ErrorClass.PERMANENT),
        ("403", ErrorClass.PERMANENT),
        ("permission denied: /etc/shadow", ErrorClass.PERMANENT),
        ("FileNotFoundError", ErrorClass.PERMANENT),
        ("bash: foo: no such file or directory", ErrorClass.PERMANENT),
        ("Unknown tool: serch", ErrorClass.PERMANENT),
        ("400 Bad Request", ErrorClass.VALIDATION),
        ("ValidationError: 1 validation error for Order", ErrorClass.VALIDATION),
        ("invalid argument: limit", ErrorClass.VALIDATION),
        ("f() missing 1 required positional argument: 'q'", ErrorClass.VALIDATION),
        ("f() got an unexpected keyword argument 'z'", ErrorClass.VALIDATION),
        ("TypeError", ErrorClass.VALIDATION),
        ("something broke", ErrorClass.OTHER),
        ("order 4290 and 15031 failed", ErrorClass.OTHER),
        ("", ErrorClass.OTHER),
    ],
)
def test_a_failure_is_classed_by_what_it_says(text: str, expected: ErrorClass) -> None:
    assert classify_error(text) is expected
    assert classify_error(None, text, None) is expected
    assert classify_error("Oops", f"it went wrong ({text})") is expected


def test_a_failure_that_says_nothing_is_other() -> None:
    assert classify_error(None, None) is ErrorClass.OTHER


def test_only_the_beginning_of_a_long_text_is_looked_at() -> None:
    assert classify_error("x" * 100_000 + " 429") is ErrorClass.OTHER


@pytest.mark.parametrize(
    "body",
    [
        {"status": 429},
        {"status_code": 503, "data": None},
        {"statusCode": "429"},
        {"code": "503 Service Unavailable"},
        {"error": {"code": 429, "message": "slow down"}},
        {"http_status": 504, "ok": True},
    ],
)
def test_a_success_whose_body_says_otherwise_is_transient(body: Any) -> None:
    assert transient_in_body(body)


@pytest.mark.parametrize(
    "body",
    [
        {"status": 200},
        {"status": "running"},
        {"status": True},
        {"status": 404},
        {"code": "4290"},
        {"code": "429a"},
        {"count": 429},
        {"error": "429"},
        {"items": [{"status": 429}]},
        "429 Too Many Requests: this page explains the status",
        [429],
        429,
        None,
    ],
)
def test_a_success_that_merely_mentions_it_is_not(body: Any) -> None:
    assert not transient_in_body(body)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C", "Cs"])))
def test_any_text_can_be_classed(text: str) -> None:
    assert classify_error(text, None) in ErrorClass
    assert not transient_in_body({"status": f"x{text}", "error": text})
