"""Labelled agent runs from a folder, and the spans that such an agent would have sent.

One run a line: `id, source, label {loop: true|false|null, where: [step indexes], raw}`, `steps [{i, kind: tool|llm, name,
arguments, result, error, text, input_tokens, output_tokens, ts}]`. `loop: null` is no verdict: where `raw` says that the task
succeeded such a run measures false alarms, else nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

START_NS = 1_760_000_000_000_000_000
SECOND_NS = 1_000_000_000
ROOT = "1" * 16

MADE_UP = Path(__file__).with_name("made_up_runs.jsonl.gz")
"""134 runs, half of them stuck, that were written by somebody who did not know the detectors."""


@dataclass(frozen=True)
class LabelledRun:
    id: str
    source: str
    loop: bool | None
    where: tuple[int, ...]
    succeeded: bool
    steps: tuple[dict[str, Any], ...]

    @property
    def trace_id(self) -> str:
        return hashlib.sha256(self.id.encode()).hexdigest()[:32]


def load(places: Iterable[str | Path]) -> Iterator[LabelledRun]:
    """Read runs from files, or from all `.jsonl` and `.jsonl.gz` files of folders."""
    for place in map(Path, places):
        for path in sorted(place.glob("*.jsonl*")) if place.is_dir() else [place]:
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            for line in content.decode().splitlines():
                run = json.loads(line)
                label = run["label"]
                raw = label.get("raw") or {}
                succeeded = bool(raw.get("resolved") or raw.get("success") or raw.get("reward") == 1)
                where = tuple(label.get("where") or ())
                yield LabelledRun(run["id"], run["source"], label["loop"], where, succeeded, tuple(run["steps"]))


def as_request(run: LabelledRun) -> dict[str, Any]:
    """Return the run as an OTLP/JSON request, named by the GenAI conventions; nothing in it tells source or label."""
    spans = list(_spans(run))
    scope = {"scope": {"name": "labelled-runs"}, "spans": spans}
    resource = {"attributes": [_attribute("service.name", "labelled-runs")]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def _spans(run: LabelledRun) -> Iterator[dict[str, Any]]:
    clock = first = _nanoseconds(next((step["ts"] for step in run.steps if step.get("ts")), None), START_NS)
    starts = []
    for step in run.steps:
        clock = max(clock, _nanoseconds(step.get("ts"), clock + SECOND_NS))
        starts.append(clock)
    for step, start, following in zip(run.steps, starts, [*starts[1:], clock + SECOND_NS], strict=True):
        end = start + min(SECOND_NS, max(following - start, 1_000_000))
        failed = bool(step.get("error"))
        name, attributes = _tool_call(step) if step["kind"] == "tool" else _model_call(step)
        if step.get("agent"):
            attributes["gen_ai.agent.name"] = str(step["agent"])
        if failed:
            attributes["error.type"] = "tool_error"
        status = {"code": 2, "message": _text(step.get("result") or "error")[:200]} if failed else {}
        yield _span(run, f"{step['i'] + 1:016x}", ROOT, name, start, end, attributes, status)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "agent"}
    yield _span(run, ROOT, "", "invoke_agent agent", first, clock + SECOND_NS + 1, agent, {})


def _tool_call(step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": str(step["name"])}
    if step.get("arguments") is not None:
        attributes["gen_ai.tool.call.arguments"] = _text(step["arguments"])
    if step.get("result") is not None:
        attributes["gen_ai.tool.call.result"] = step["result"]
    return f"execute_tool {step['name']}", attributes


def _model_call(step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    model = str(step.get("name") or "model")
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
    for key in ("input_tokens", "output_tokens"):
        if step.get(key) is not None:
            attributes[f"gen_ai.usage.{key}"] = int(step[key])
    if step.get("text"):
        message = [{"role": "assistant", "parts": [{"type": "text", "content": step["text"]}]}]
        attributes["gen_ai.output.messages"] = _text(message)
    return f"chat {model}", attributes


def _span(
    run: LabelledRun,
    span_id: str,
    parent: str,
    name: str,
    start: int,
    end: int,
    attributes: dict[str, Any],
    status: dict[str, Any],
) -> dict[str, Any]:
    return {
        "traceId": run.trace_id,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": [_attribute(key, value) for key, value in attributes.items()],
        "status": status,
    }


def _attribute(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"key": key, "value": {"boolValue": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    if isinstance(value, float):
        return {"key": key, "value": {"doubleValue": value}}
    return {"key": key, "value": {"stringValue": value}}


def _nanoseconds(told: Any, otherwise: int) -> int:
    if isinstance(told, int | float):
        return int(told * 1e9) if told < 1e12 else int(told * 1e6)
    if isinstance(told, str):
        try:
            return int(datetime.fromisoformat(told).timestamp() * 1e9)
        except ValueError:
            return otherwise
    return otherwise


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
