"""An agent that searches for the same thing again and again, until somebody ends it.

    python -m tests.browser.looping_agent DATABASE

Prints the time (seconds since the epoch) at which the third equal call ended: what an alert is owed for.
"""

from __future__ import annotations

import sys
import time

from opentelemetry import trace

import otel_processor

LOOPS_AT = 3


def main(db: str) -> None:
    otel_processor.instrument(db=db)
    tracer = trace.get_tracer("looping agent")
    with tracer.start_as_current_span("invoke_agent finder") as root:
        root.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"})
        for turn in range(1, 200):
            with tracer.start_as_current_span("chat model") as span:
                span.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "model"})
            with tracer.start_as_current_span("execute_tool web_search") as span:
                span.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "web_search"})
                span.set_attribute("gen_ai.tool.call.arguments", '{"query": "invoice 2291"}')
                span.set_attribute("gen_ai.tool.call.result", "No results.")
            if turn == LOOPS_AT:
                print(time.time(), flush=True)  # noqa: T201 - the test reads it
            time.sleep(0.5)


if __name__ == "__main__":
    main(sys.argv[1])
