"""What is sent, one spoilt request after the other, and how it may be answered. Nothing here is random but by its seed."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from backports import zstd
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.fuzz import texts, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PROTOBUF, JSON = "application/x-protobuf", "application/json"
TAKEN, REFUSED = frozenset({200}), frozenset({400})
EITHER = TAKEN | REFUSED
ANY_REFUSAL = frozenset(range(400, 500))
_BOMB_BYTES = 80 << 20
_START = 1_700_000_000_000_000_000
_PACK: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress, "zstd": zstd.compress}


@dataclass(frozen=True, slots=True)
class Case:
    """A request, and how it may be answered over HTTP."""

    what: str
    body: bytes
    kind: str = PROTOBUF
    may: frozenset[int] = EITHER
    headers: Mapping[str, str] = field(default_factory=dict)
    path: str = "/v1/traces"


def cases(seed: int, count: int, *, bombs: bool = True) -> Iterator[Case]:
    """Give so many requests.

    Args:
        seed: says what is in them.
        count: how many.
        bombs: whether some hold much more than they seem to.
    """
    rng = random.Random(seed)
    makers = (
        _wire, _wire, _wire, _wire_bytes, _wire_deep, _json, _json, _json, _json_bytes, _json_deep, _packed, _packed, _headers,
        _noise, _other_signals,
    )  # fmt: skip
    for number in range(count):
        if bombs and number % 500 == 250:
            encoding = rng.choice(tuple(_PACK))
            yield Case("bomb", bomb(encoding), may=frozenset({413}), headers={"Content-Encoding": encoding})
        else:
            yield rng.choice(makers)(rng)


def sound(rng: random.Random) -> ExportTraceServiceRequest:
    """A request that is as it should be, with something in every field."""
    request = ExportTraceServiceRequest()
    for _ in range(rng.randrange(1, 3)):
        resource = request.resource_spans.add(schema_url="https://opentelemetry.io/schemas/1.37.0")
        resource.resource.attributes.add(key="service.name").value.string_value = "fuzz"
        resource.resource.dropped_attributes_count = 1
        scope = resource.scope_spans.add(schema_url="s")
        scope.scope.name, scope.scope.version = "scope", "1"
        trace = rng.randbytes(16)
        parent = rng.randbytes(8)
        for number in range(rng.randrange(1, 4)):
            _add_span(rng, scope, trace, parent, number)
    return request


def _add_span(rng: random.Random, scope: Any, trace: bytes, parent: bytes, number: int) -> None:
    start = _START + number * 1_000_000_000
    span = scope.spans.add(
        trace_id=trace, span_id=rng.randbytes(8), parent_span_id=parent, trace_state="a=b", flags=257, name="execute_tool search",
        kind=rng.randrange(6), start_time_unix_nano=start, end_time_unix_nano=start + 5_000_000, dropped_attributes_count=2,
    )  # fmt: skip
    told: dict[str, Any] = rng.choice(
        (
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": '{"q": "x"}',
             "gen_ai.tool.call.result": "nothing", "gen_ai.tool.call.id": "c1"},
            {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 12,
             "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "maybe"}]}])},
            {"openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.prompt": 3,
             "llm.output_messages.0.message.content": "so"},
            {"traceloop.span.kind": "tool", "traceloop.entity.name": "search", "traceloop.entity.input": '{"q": [1, 2]}'},
            {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search", "ai.toolCall.args": "{}", "ai.toolCall.result": "no"},
            {"loop.run.id": "r-1", "loop.task": "t", "gen_ai.agent.name": "a", "gen_ai.operation.name": "invoke_agent"},
        )
    )  # fmt: skip
    for key, value in told.items():
        if isinstance(value, int):
            span.attributes.add(key=key).value.int_value = value
        else:
            span.attributes.add(key=key).value.string_value = value
    span.attributes.add(key="list").value.array_value.values.add().double_value = 0.5
    span.attributes.add(key="pairs").value.kvlist_value.values.add(key="in").value.bytes_value = b"\x00\xff"
    event = span.events.add(time_unix_nano=start + 1, name="exception")
    event.attributes.add(key="exception.message").value.string_value = "timeout"
    span.links.add(trace_id=trace, span_id=parent, trace_state="c=d", flags=1).attributes.add(key="l").value.bool_value = True
    span.status.code, span.status.message = rng.randrange(3), "said"


def _wire(rng: random.Random) -> Case:
    body = sound(rng).SerializeToString()
    for _ in range(rng.randrange(1, 4)):
        body = wire.spoilt(rng, body)
    return Case("protobuf, fields", body, may=_as_protobuf(body))


def _wire_bytes(rng: random.Random) -> Case:
    body = spoilt_bytes(rng, sound(rng).SerializeToString())
    return Case("protobuf, bytes", body, may=_as_protobuf(body))


def _wire_deep(rng: random.Random) -> Case:
    request = sound(rng)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    # KeyValue: a key, and a value that no class of ours has to be able to hold.
    pair = wire.Field(1, 2, b"deep").encoded() + wire.Field(2, 2, wire.nested(rng)).encoded()
    inner = span.SerializeToString() + wire.Field(9, 2, pair).encoded()
    body = wire.Field(1, 2, wire.Field(2, 2, wire.Field(2, 2, inner).encoded()).encoded()).encoded()
    return Case("protobuf, deep", body, may=_as_protobuf(body))


def _json(rng: random.Random) -> Case:
    body = texts.spoilt(rng, MessageToDict(sound(rng)))
    return Case("JSON, values", body, JSON, _as_json(body))


def _json_bytes(rng: random.Random) -> Case:
    body = spoilt_bytes(rng, json.dumps(MessageToDict(sound(rng))).encode())
    return Case("JSON, bytes", body, JSON, _as_json(body))


def _json_deep(rng: random.Random) -> Case:
    return Case("JSON, deep", texts.nested(rng), JSON)


def _packed(rng: random.Random) -> Case:
    encoding = rng.choice(tuple(_PACK))
    raw = sound(rng).SerializeToString()
    body = _PACK[encoding](raw)
    headers = {"Content-Encoding": encoding}
    match rng.randrange(7):
        case 0:
            return Case("cut off", body[: rng.randrange(1, len(body))], may=REFUSED, headers=headers)
        case 1:
            return Case("packed, bytes", spoilt_bytes(rng, body), headers=headers)
        case 2:
            return Case("not packed at all", raw, may=REFUSED, headers=headers)
        case 3:
            other = rng.choice([name for name in _PACK if name != encoding])
            # What gzip and deflate are is told by their first bytes.
            alike = {encoding, other} == {"gzip", "deflate"}
            return Case("packed otherwise", body, may=TAKEN if alike else REFUSED, headers={"Content-Encoding": other})
        case 4:
            parts = [_PACK[encoding](raw[:9]), _PACK[encoding](raw[9:])]
            return Case("in two parts", b"".join(parts), may=TAKEN, headers=headers)
        case 5:
            return Case("noise behind", body + rng.randbytes(20), may=REFUSED, headers=headers)
        case _:
            return Case("packed twice", _PACK[encoding](body), headers=headers)


def _headers(rng: random.Random) -> Case:
    body = sound(rng).SerializeToString()
    kinds = (
        "",
        "text/plain",
        "application/x-protobuf;a=b",
        "APPLICATION/X-PROTOBUF",
        "application/grpc",
        ";",
        "a" * 3_000,
        "*/*",
    )
    encodings = ("br", "gzip, gzip", "GZIP", "x-gzip", "identity", "compress", ",", "gzip;q=1", "\xe9", "a" * 3_000)
    if rng.random() < 0.5:
        kind = rng.choice(kinds)
        fine = kind.partition(";")[0].lower() == PROTOBUF
        return Case("content type", body, kind, TAKEN if fine else frozenset({415}))
    encoding = rng.choice(encodings)
    may = {"identity": TAKEN, "GZIP": REFUSED, "x-gzip": REFUSED}.get(encoding, frozenset({415}))
    return Case("content encoding", body, may=may, headers={"Content-Encoding": encoding})


def _noise(rng: random.Random) -> Case:
    body = rng.randbytes(rng.randrange(200))
    if rng.random() < 0.5:
        return Case("noise", body, may=_as_protobuf(body))
    return Case("noise", body, JSON, _as_json(body))


def _other_signals(rng: random.Random) -> Case:
    made = rng.choice((_wire, _wire_bytes, _json, _json_bytes, _json_deep, _noise))(rng)
    path = f"/v1/{rng.choice(('logs', 'metrics'))}"
    return Case(f"{path}, {made.what}", made.body, made.kind, path=path)


def _as_protobuf(body: bytes) -> frozenset[int]:
    """How a body may be answered, by the package that has the schema."""
    try:
        ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        return REFUSED
    return TAKEN


def _as_json(body: bytes) -> frozenset[int]:
    """The same for JSON: what no parser reads, or is no request, is refused; what is wrong within spans costs those spans."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return REFUSED
    if not isinstance(found, dict):
        return REFUSED
    inner = found.get("resourceSpans")
    inner = found.get("resource_spans") if inner is None else inner
    return TAKEN if inner is None or isinstance(inner, list) else REFUSED


def spoilt_bytes(rng: random.Random, body: bytes) -> bytes:
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


@cache
def bomb(encoding: str) -> bytes:
    """A small body that is larger than the service takes once it is decompressed."""
    return _PACK[encoding](bytes(_BOMB_BYTES))
