"""Requests as SDKs of agents send them, made before the clock starts; to make one new costs 0.2 microseconds a span.

Every trace is one run: a root span of an agent, model calls with growing usage, tool calls; one run in ten loops. What must
be new each time (ids, times, a word of each run and of each result) is written over in the encoded bytes, so that the load's
own work does not compete with the service for the machine's cores.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

WORDS = (
    "parcel carrier customs warehouse pallet courier depot tariff delivery receipt voucher basket supplier stock margin batch "
    "sensor valve turbine rotor gasket torque bearing welding alloy furnace coolant pressure blueprint tolerance drawing audit"
).split()
MODEL, AGENT, TOOL = "deepseek-chat", "researcher", "web_search"
_HOLDER = re.compile(rb"wq[a-z]{6}")
_SECOND_NS = 1_000_000_000
_ENDED_WITHIN_NS = 10 * _SECOND_NS

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Span:
    trace: int
    is_root: bool
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]


@dataclass(slots=True)
class Request:
    """A request that is ready to be sent; its body is written over when the next ones are made."""

    body: bytearray
    spans: int
    span_ids: bytes
    """All its span ids, eight bytes each."""


class Chain:
    """Some requests of one sender, one after the other, with runs that go on from one into the next."""

    def __init__(self, seed: int, *, batch: int, requests: int) -> None:
        """Make the requests.

        Args:
            seed: says what is in them.
            batch: spans in a request.
            requests: how many.
        """
        self._random = np.random.default_rng(seed)
        spans = list(islice(_spans(random.Random(seed)), batch * requests))
        self._traces = spans[-1].trace + 1
        holders = {_holder(number) for number in range(self._traces)}
        self._templates = [_Template(spans[at : at + batch], seed, holders) for at in range(0, len(spans), batch)]

    def fresh(self, now_ns: int) -> Iterator[Request]:
        """Give the requests once more, as of runs that were never seen and ended within the last seconds.

        Args:
            now_ns: nanoseconds since 1970.
        """
        random_bytes = self._random.bytes
        traces = np.frombuffer(random_bytes(16 * self._traces), np.uint8).reshape(-1, 16)
        roots = np.frombuffer(random_bytes(8 * self._traces), np.uint8).reshape(-1, 8)
        words = self._letters(self._traces)
        for template in self._templates:
            yield template.fresh(traces, roots, words, self._letters(template.results), random_bytes, now_ns)

    def _letters(self, count: int) -> Bytes:
        return self._random.integers(ord("a"), ord("z") + 1, (count, 8), dtype=np.uint8)


class _Template:
    """One encoded request, and where in it stands what is written over."""

    def __init__(self, spans: list[_Span], seed: int, holders: set[bytes]) -> None:
        rng = random.Random(seed)
        marks = {span.trace: (rng.randbytes(16), rng.randbytes(8)) for span in spans}
        ids = [marks[span.trace][1] if span.is_root else rng.randbytes(8) for span in spans]
        self._spans = len(spans)
        self._body = bytearray(_encoded(spans, marks, ids))
        self._bytes = np.frombuffer(self._body, np.uint8)
        found: dict[str, list[int]] = {name: [] for name in ("trace", "span", "parent", "start", "end")}
        at = 0
        for span, span_id in zip(spans, ids, strict=True):
            trace_id, root_id = marks[span.trace]
            wanted = {"trace": trace_id, "span": span_id, "parent": b"" if span.is_root else root_id}
            wanted |= {"start": _fixed(span.start_ns), "end": _fixed(span.end_ns)}
            # The fields of a span are encoded in this order.
            for name, mark in wanted.items():
                if mark:
                    at = self._body.index(mark, at)
                    found[name].append(at)
                    at += len(mark)
        words = [(match.start(), match.group()) for match in _HOLDER.finditer(self._body)]
        of_runs = [(start, _number(text)) for start, text in words if text in holders]
        of_results = [start for start, text in words if text not in holders]
        self.results = len(of_results)
        self._trace_at, self._trace_of = _places(found["trace"], 16), np.array([span.trace for span in spans])
        self._span_at, self._times_at = _places(found["span"], 8), _places(found["start"] + found["end"], 8)
        self._parent_at = _places(found["parent"], 8)
        self._parent_of = np.array([span.trace for span in spans if not span.is_root])
        self._is_root = np.array([span.is_root for span in spans])
        self._times = np.array([span.start_ns for span in spans] + [span.end_ns for span in spans], np.int64)
        self._word_at, self._word_of = (
            _places([at for at, _ in of_runs], 8),
            np.array([number for _, number in of_runs], np.int64),
        )
        self._result_at = _places(of_results, 8)

    def fresh(self, traces: Bytes, roots: Bytes, words: Bytes, results: Bytes, random_bytes: Any, now_ns: int) -> Request:
        span_ids = np.frombuffer(random_bytes(8 * self._spans), np.uint8).reshape(-1, 8).copy()
        span_ids[self._is_root] = roots[self._trace_of[self._is_root]]
        body = self._bytes
        body[self._trace_at] = traces[self._trace_of]
        body[self._span_at] = span_ids
        body[self._parent_at] = roots[self._parent_of]
        body[self._times_at] = (self._times + now_ns).view(np.uint8).reshape(-1, 8)
        body[self._word_at] = words[self._word_of]
        body[self._result_at] = results
        return Request(self._body, self._spans, span_ids.tobytes())


def _places(starts: list[int], size: int) -> NDArray[np.intp]:
    return np.array(starts, np.intp).reshape(-1, 1) + np.arange(size)


def _fixed(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _holder(number: int) -> bytes:
    """A word that stands for the one of this run until it is written over."""
    letters = "".join(chr(ord("a") + number // 26**place % 26) for place in range(5))
    return f"wqa{letters}".encode()


def _number(holder: bytes) -> int:
    return sum((letter - ord("a")) * 26**place for place, letter in enumerate(holder[3:]))


def _spans(rng: random.Random) -> Iterator[_Span]:
    """Spans of one run after the other, with times in nanoseconds before they are sent."""
    trace = 0
    while True:
        looping = rng.random() < 0.1
        turns = 20 if looping else rng.randrange(3, 9)
        # Nanoseconds that nothing else in a request reads like.
        clock = start = -turns * 2 * _SECOND_NS - rng.randrange(1, _ENDED_WITHIN_NS)
        word = _holder(trace).decode()
        query = " ".join(rng.sample(WORDS, 4))
        for turn in range(turns):
            if not looping:
                query = " ".join(rng.sample(WORDS, 4))
            asked = f"{query} {word}"
            found = "nothing found" if looping else " ".join([*rng.choices(WORDS, k=60), "wqzzzzzz"])
            said = [{"role": "assistant", "parts": [{"type": "text", "content": f"Let me look for {asked}. " * 3}]}]
            thought, done = clock + 900_000_000 + rng.randrange(1_000_000), clock + 1_500_000_000 + rng.randrange(1_000_000)
            yield _Span(trace, False, f"chat {MODEL}", clock, thought, {
                "gen_ai.operation.name": "chat", "gen_ai.request.model": MODEL, "gen_ai.usage.input_tokens": 800 + 60 * turn,
                "gen_ai.usage.output_tokens": 120, "gen_ai.output.messages": json.dumps(said),
            })  # fmt: skip
            yield _Span(trace, False, f"execute_tool {TOOL}", thought, done, {
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL,
                "gen_ai.tool.call.arguments": json.dumps({"query": asked, "limit": 10}), "gen_ai.tool.call.result": found,
            })  # fmt: skip
            clock += 2 * _SECOND_NS
        root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT}
        yield _Span(trace, True, f"invoke_agent {AGENT}", start, clock, root)
        trace += 1


def _encoded(spans: list[_Span], marks: dict[int, tuple[bytes, bytes]], ids: list[bytes]) -> bytes:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.append(_attribute("service.name", "load"))
    scope = resource.scope_spans.add()
    scope.scope.name = "load"
    for span, span_id in zip(spans, ids, strict=True):
        trace_id, root_id = marks[span.trace]
        scope.spans.add(
            trace_id=trace_id,
            span_id=span_id,
            parent_span_id=b"" if span.is_root else root_id,
            name=span.name,
            start_time_unix_nano=span.start_ns % (1 << 64),
            end_time_unix_nano=span.end_ns % (1 << 64),
            attributes=[_attribute(key, value) for key, value in span.attributes.items()],
        )
    return bytes(request.SerializeToString())


def _attribute(key: str, value: str | int) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value))
