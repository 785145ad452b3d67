"""Each refusal says the same in both protocols, and only those that may help again ask for it."""

from __future__ import annotations

import pytest
from google.rpc import code_pb2
from google.rpc.error_details_pb2 import RetryInfo

from otel_processor.service.refused import Refused

RETRYABLE = {429, 502, 503, 504}
"""OTLP specification, Failures and Throttling: the HTTP answers after which a sender tries again."""


@pytest.mark.parametrize(
    "refused",
    [
        Refused.malformed("m"),
        Refused.unauthenticated(),
        Refused.slow(3),
        Refused.too_large("m"),
        Refused.unsupported("m"),
        Refused.full(),
        Refused.unavailable("m"),
        Refused.failed(),
    ],
    ids=lambda refused: str(refused.http),
)
def test_a_delay_is_given_where_it_helps(refused: Refused) -> None:
    """Senders over gRPC try RESOURCE_EXHAUSTED again only with a RetryInfo."""
    is_retryable = refused.http in RETRYABLE
    status = refused.status()
    assert (refused.retry_seconds is not None) is is_retryable
    assert (refused.code in {code_pb2.RESOURCE_EXHAUSTED, code_pb2.UNAVAILABLE}) is is_retryable
    assert [detail.Is(RetryInfo.DESCRIPTOR) for detail in status.details] == [True] * is_retryable
    assert status.message == refused.message
    assert "\n" not in status.message
