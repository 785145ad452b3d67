"""The OpenAPI document of the guard, made of the messages that are really read and written.

`docs/openapi.json` is a copy: `python -m otel_processor.service.guard_api.openapi > docs/openapi.json`.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from otel_processor.service.guard_api.messages import Problem, RunReport
from otel_processor.service.guard_api.operations import OPERATIONS, Operation

_REF = "#/components/schemas/{name}"

_SAID_OF_ALL = """\
Ask before a tool is called, tell what happened, and end the run when the guard says `stop`: docs/guard-api.md.

A request that fails for want of the service must not hold an agent up: go on as with `continue`."""

_REFUSALS = {
    "400": "It is no JSON, has a field of a wrong type, or does not say which run is meant.",
    "401": "It brings no bearer token, or a wrong one.",
    "404": "The run is not known here.",
    "408": "Its body did not come in time.",
    "409": "It does not fit what was said before.",
    "413": "Its body is too large.",
    "415": "It is no JSON by its Content-Type, or compressed.",
    "429": "Too many requests are under way: send it again, after `Retry-After`.",
}

_HEADERS = {
    "traceparent": "W3C Trace Context: its trace id is the run where `run_id` is left out; malformed, it says nothing.",
    "baggage": "W3C Baggage: its `loop.run.id` is the run where `run_id` is left out.",
}

_HEADER_REFS = [{"$ref": f"#/components/parameters/{name}"} for name in _HEADERS]


def document() -> bytes:
    """Return the document as JSON, with a newline at its end."""
    types: list[Any] = list(dict.fromkeys([one.request for one in OPERATIONS] + [one.answer for one in OPERATIONS] + [Problem]))
    found, schemas = msgspec.json.schema_components(types, ref_template=_REF)
    ref_of = dict(zip(types, found, strict=True))
    paths: dict[str, Any] = {f"/v1/guard/{one.name}": {"post": _operation(one, ref_of)} for one in OPERATIONS}
    paths["/v1/guard/report"] = {
        "get": {
            "operationId": "report",
            "summary": "What happened in a run so far, for its user",
            "parameters": [
                {
                    "name": "run_id",
                    "in": "query",
                    "required": False,
                    "schema": {"type": "string"},
                    "description": "The run; left out: as the headers say.",
                },
                *_HEADER_REFS,
            ],
            "responses": _answers(ref_of[RunReport], "400", "401", "404", "429"),
        }
    }
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "otel_processor: the guard", "version": "1", "description": _SAID_OF_ALL},
        "servers": [{"url": "/"}],
        "security": [{}, {"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "Where the service was given a token."}
            },
            "parameters": {
                name: {"name": name, "in": "header", "schema": {"type": "string"}, "description": description}
                for name, description in _HEADERS.items()
            },
            "responses": {
                f"refused{status}": {
                    "description": why,
                    "content": {"application/problem+json": {"schema": ref_of[Problem]}},
                }
                for status, why in _REFUSALS.items()
            },
            "schemas": schemas,
        },
    }
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2) + b"\n"


def _operation(one: Operation, ref_of: dict[Any, Any]) -> dict[str, Any]:
    return {
        "operationId": one.name,
        "summary": one.summary,
        "parameters": _HEADER_REFS,
        "requestBody": {"required": True, "content": {"application/json": {"schema": ref_of[one.request]}}},
        "responses": _answers(ref_of[one.answer], "400", "401", "408", "409", "413", "415", "429"),
    }


def _answers(answer: Any, *refusals: str) -> dict[str, Any]:
    refused = {status: {"$ref": f"#/components/responses/refused{status}"} for status in refusals}
    return {"200": {"description": "Answered.", "content": {"application/json": {"schema": answer}}}, **refused}


if __name__ == "__main__":
    import sys

    sys.stdout.buffer.write(document())
