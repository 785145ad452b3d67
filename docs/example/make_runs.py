"""Write `runs.jsonl`: five small agent runs as OTLP/JSON, one request a line, the same each time.

python docs/example/make_runs.py > docs/example/runs.jsonl
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

START = 1_790_000_000_000_000_000
SECOND = 1_000_000_000

Turn = tuple[str, dict[str, Any], str]

RUNS: dict[str, list[Turn]] = {
    "find-invoice": [("web_search", {"query": "invoice 2291"}, "No results.")] * 5,
    "find-supplier": [
        ("web_search", {"query": "northwind supplier"}, "Northwind GmbH, Bremen, supplies valves since 1998."),
        ("read_page", {"url": "northwind.example/contact"}, "Contact: Ada Brandt, phone extension 17, purchasing department."),
        ("web_search", {"query": "northwind delivery terms"}, "Delivery within ten working days, free above 500 EUR."),
    ],
    "watch-export": [
        ("check_job", {"job": "export-7"}, f"export-7 is running: {share} % of 40 files") for share in (5, 30, 60, 85, 100)
    ],
    "fix-tests": [
        ("run_tests", {"path": "tests"}, "3 failed, 12 passed: test_total expects 30, got 20"),
        ("edit_file", {"path": "cart.py", "line": 8, "text": "total += item.price * item.count"}, "ok"),
        ("run_tests", {"path": "tests"}, "1 failed, 14 passed: test_empty expects 0, got None"),
        ("edit_file", {"path": "cart.py", "line": 3, "text": "total = 0"}, "ok"),
        ("run_tests", {"path": "tests"}, "15 passed"),
    ],
    "read-article": [("read_page", {"url": f"news.example/{page}"}, "Please sign in to read on.") for page in range(6)],
}


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}


def spans(number: int, task: str, turns: list[Turn]) -> Iterator[dict[str, Any]]:
    trace = hashlib.sha256(task.encode()).hexdigest()[:32]
    root, clock, tokens = f"{1:016x}", START + number * 60 * SECOND, 400
    began, made = clock, 1
    for tool, arguments, result in [*turns, ("", {}, "")]:
        made += 2
        model = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "example-model"}
        model |= {"gen_ai.usage.input_tokens": tokens, "gen_ai.usage.output_tokens": 40}  # type: ignore[dict-item]
        yield span(trace, made, root, "chat example-model", clock, clock + SECOND, model)
        tokens += 120
        clock += SECOND
        if tool:
            call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
            call |= {"gen_ai.tool.call.arguments": json.dumps(arguments), "gen_ai.tool.call.result": result}
            yield span(trace, made + 1, root, f"execute_tool {tool}", clock, clock + SECOND, call)
            clock += SECOND
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": task}
    yield span(trace, 1, None, f"invoke_agent {task}", began, clock, agent)


def span(
    trace: str, number: int, parent: str | None, name: str, start: int, end: int, attributes: dict[str, Any]
) -> dict[str, Any]:
    made: dict[str, Any] = {"traceId": trace, "spanId": f"{number:016x}", "name": name, "kind": 1}
    if parent:
        made["parentSpanId"] = parent
    made |= {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
    return made | {"attributes": [attribute(*item) for item in attributes.items()]}


def main() -> None:
    for number, (task, turns) in enumerate(RUNS.items()):
        request = {
            "resourceSpans": [
                {
                    "resource": {"attributes": [attribute("service.name", "example")]},
                    "scopeSpans": [{"scope": {"name": "example"}, "spans": list(spans(number, task, turns))}],
                }
            ]
        }
        print(json.dumps(request, separators=(",", ":")))


if __name__ == "__main__":
    main()
