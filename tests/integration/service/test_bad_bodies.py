"""Hundreds of spoilt bodies at both doors: refused or taken, never our fault."""

from __future__ import annotations

import gzip
import http.client
import json
import random
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]
import orjson
from google.protobuf.json_format import MessageToDict

from tests.integration.service.serving import JSON, PROTOBUF, request_of, serving_here
from tests.integration.service.test_answers import TRACES
from tests.integration.stored import stored_ids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BODIES = 250
SCALARS: list[Any] = [None, True, -1, 2**70, 1.5, "", "x" * 300, "\u0000", [], {}, [[]], {"a": {}}]


def spoilt(rng: random.Random, body: bytes) -> bytes:
    """A body with some bytes changed, left out, doubled or put in."""
    found = bytearray(body)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(found) or 1)
        part = bytes(found[at : at + rng.randint(1, 40)])
        match rng.randrange(4):
            case 0:
                found[at : at + 1] = rng.randbytes(1)
            case 1:
                del found[at : at + len(part)]
            case 2:
                found[at:at] = part
            case _:
                found[at:at] = rng.randbytes(rng.randint(1, 8))
    return bytes(found)


def misshapen(rng: random.Random, value: Any) -> Any:
    """A JSON value with something else in the place of some parts."""
    if rng.random() < 0.04:
        return rng.choice(SCALARS)
    if isinstance(value, dict):
        return {key: misshapen(rng, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [misshapen(rng, inner) for inner in value]
    return value


def bodies(rng: random.Random) -> Iterator[tuple[bytes, str, str]]:
    """Bodies with their content type and encoding."""
    for number in range(BODIES):
        request, _ = request_of(rng.randint(1, 4), attributes=[{"key": "a", "value": {"string_value": "b" * 30}}])
        match number % 4:
            case 0:
                yield spoilt(rng, request.SerializeToString()), PROTOBUF, ""
            case 1:
                yield spoilt(rng, orjson.dumps(MessageToDict(request))), JSON, ""
            case 2:
                yield json.dumps(misshapen(rng, MessageToDict(request))).encode(), JSON, ""
            case _:
                yield spoilt(rng, gzip.compress(request.SerializeToString())), PROTOBUF, "gzip"


def test_no_body_is_our_fault(db: Path, caplog: Any) -> None:
    """Each gets 200 or a 4xx, the log stays empty of bugs, and a sound request is stored after all of it."""
    rng = random.Random(6)
    answers, codes = set(), set()
    with serving_here(db) as service:
        connection = http.client.HTTPConnection("127.0.0.1", service.http_port, timeout=60)
        with grpc.insecure_channel(f"127.0.0.1:{service.grpc_port}") as channel:
            export = channel.unary_unary(TRACES)
            for body, kind, encoding in bodies(rng):
                connection.request("POST", "/v1/traces", body, {"Content-Type": kind, "Content-Encoding": encoding})
                answer = connection.getresponse()
                answer.read()
                answers.add(answer.status)
                if kind == PROTOBUF:
                    codes.add(export.future(body, timeout=30).code())
        connection.close()
        assert answers == {200, 400}
        assert codes == {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT}
        request, ids = request_of(3)
        assert service.post(request.SerializeToString()).status == 200
        assert set(ids) <= set(stored_ids(db))
    assert [record for record in caplog.records if record.exc_info] == []
