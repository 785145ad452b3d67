"""The OpenAPI document says what is taken and answered: schemathesis sends what it allows, and what it does not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings

from otel_processor.model import Mode, StopReason
from otel_processor.service.guard_api.openapi import document
from tests.integration import processes
from tests.integration.service.serving import Serving, serving_here

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = orjson.loads(document())
EXAMPLES = 200 if os.environ.get("OTEL_PROCESSOR_TEST_SOAK") else 5
schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving_here(tmp_path_factory.mktemp("openapi") / "agents.duckdb", mode=Mode.ENFORCE) as found:
        yield found


@schema.parametrize()
@settings(
    max_examples=EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
def test_the_service_does_as_it_says(case: Any, service: Serving) -> None:
    """A run is named with every request, which a schema cannot ask for where there are three ways."""
    case.call_and_validate(
        base_url=f"http://127.0.0.1:{service.http_port}",
        headers={"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"},
    )


def test_the_document_is_served_and_in_the_repository(service: Serving) -> None:
    answer = service.ask("GET", "/v1/openapi.json")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.body == document()
    copy = (processes.ROOT / "docs/openapi.json").read_bytes()
    assert copy == document(), "python -m otel_processor.service.guard_api.openapi > docs/openapi.json"


def test_a_run_ends_for_any_reason_that_is_an_end() -> None:
    said = DOCUMENT["components"]["schemas"]["End"]["properties"]["reason"]["anyOf"][0]["enum"]
    assert sorted(said) == sorted(set(StopReason) - {StopReason.RUNNING, StopReason.UNKNOWN})
