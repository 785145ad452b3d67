"""Every place of a span that can hold a text."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from otel_processor.model import SpanEvent, SpanRecord
from tests.unit.factory import exception_event
from tests.unit.privacy.secrets import HINTED, SECRETS


def _attribute(name: str, shape: Callable[[str], Any]) -> Callable[[SpanRecord, str], SpanRecord]:
    return lambda span, text: replace(span, attributes={**span.attributes, name: shape(text)})


def _nested(text: str) -> Any:
    return {"deep": [{"text": text}, json.dumps({"again": json.dumps({"most": text})})]}


def _cut(text: str) -> str:
    """A text that lies across the end of what is stored."""
    return "x" * (65_536 - len(text) // 2) + " " + text + " y" * 200


PLACES: Final[dict[str, Callable[[SpanRecord, str], SpanRecord]]] = {
    "attribute": _attribute("note", str),
    "attribute name": lambda span, text: replace(span, attributes={**span.attributes, text: 1}),
    "nested": _attribute("note", _nested),
    "list": _attribute("notes", lambda text: ["a", text]),
    "bytes": _attribute("blob", str.encode),
    "bytes in a list": _attribute("blobs", lambda text: ["a", {"b": text.encode()}]),
    "bytes beside a long text": _attribute("blobs", lambda text: {"a": text.encode(), "b": "x" * 70_000}),
    "bytes that are cut": _attribute("blob", lambda text: _cut(text).encode()),
    "bytes of an event": lambda span, text: replace(span, events=[SpanEvent("log", 5, {"body": text.encode()})]),
    "bytes of the resource": lambda span, text: replace(span, resource={"blob": text.encode()}),
    "result of bytes": _attribute("gen_ai.tool.call.result", str.encode),
    "arguments": _attribute("gen_ai.tool.call.arguments", lambda text: json.dumps({"q": text})),
    "result": _attribute("gen_ai.tool.call.result", lambda text: json.dumps(_nested(text))),
    "plain result": _attribute("gen_ai.tool.call.result", str),
    "result that is cut": _attribute("gen_ai.tool.call.result", _cut),
    "messages": _attribute(
        "gen_ai.output.messages",
        lambda text: json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": text}]}], ensure_ascii=False),
    ),
    "tool": _attribute("gen_ai.tool.name", str),
    "agent": _attribute("gen_ai.agent.name", str),
    "conversation": _attribute("gen_ai.conversation.id", str),
    "run": _attribute("loop.run.id", str),
    "task": _attribute("loop.task", str),
    "error type": _attribute("error.type", str),
    "event": lambda span, text: replace(span, events=[SpanEvent("log", 5, {"body": text})]),
    "event name": lambda span, text: replace(span, events=[SpanEvent(text, 5, {})]),
    "exception": lambda span, text: replace(span, events=[exception_event("ValueError", text)], status="ERROR"),
    "link": lambda span, text: replace(span, links=[{"trace_id": "a", "span_id": "b", "attributes": {"why": text}}]),
    "state of a link": lambda span, text: replace(
        span, links=[{"trace_id": "a", "span_id": "b", "attributes": {}, "trace_state": text}]
    ),
    "resource": lambda span, text: replace(span, resource={"process.command_args": ["agent", text]}),
    "scope attribute": lambda span, text: replace(span, extra={"scope_attributes": {"note": text}}),
    "name": lambda span, text: replace(span, name=text),
    "status message": lambda span, text: replace(span, status="ERROR", status_message=text),
    "service": lambda span, text: replace(span, service=text),
    "scope": lambda span, text: replace(span, scope=text),
    "scope version": lambda span, text: replace(span, scope_version=text),
    "trace state": lambda span, text: replace(span, trace_state=text),
}
"""Place → puts a text there."""


def in_base64(secret: str) -> list[str]:
    """What of a secret is to be seen in the base64 of bytes that hold it, whatever stands before and behind."""
    raw = secret.encode()
    return [b64encode(b"x" * before + raw).decode()[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6] for before in range(3)]


def has_bytes(span: SpanRecord) -> bool:
    """Whether a place with bytes was used: they are stored in base64, or as a text, and nothing reads them."""
    return "b'" in repr(span)


def _parts(secret: str) -> list[str]:
    return [part for part in secret.split("\n") if part and "PRIVATE" not in part]


EXAMPLES: Final[dict[str, tuple[str, list[str]]]] = {kind: (secret, _parts(secret)) for kind, secret in SECRETS.items()} | {
    kind: (template.format(secret), [secret]) for kind, (template, secret) in HINTED.items()
}
"""Kind → a text that holds a secret of it, and what of that nobody may find."""
