"""What the HTTP address says to whoever comes to its front, or to a path that is not there."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from otel_processor.service.answers import JSON
from otel_processor.service.guard_api.messages import Problem, encoded

if TYPE_CHECKING:
    from starlette.exceptions import HTTPException
    from starlette.requests import Request

PROBLEM = "application/problem+json"

_GUARD = "/v1/guard/"

_FRONT = {
    "what": "otel_processor: takes OTLP from AI agents, sees those that loop, and answers them before they call a tool",
    "docs": "docs/serve.md and docs/guard-api.md of otel_processor",
    "send": ["POST /v1/traces", "POST /v1/logs", "POST /v1/metrics"],
    "ask": ["POST /v1/guard/before_tool", "GET /v1/guard/report?run_id=…", "GET /v1/openapi.json"],
    "look": ["GET /healthz", "GET /readyz", "GET /metrics"],
}


def front() -> Route:
    """Return the route of `/`, which says what this is and what can be asked of it; it needs no token."""
    answer = orjson.dumps(_FRONT, option=orjson.OPT_INDENT_2) + b"\n"

    async def tell(_: Request) -> Response:
        return Response(answer, media_type=JSON)

    return Route("/", tell)


async def astray(request: Request, error: Exception) -> Response:
    """Answer a path or method that is not served (RFC 9457), with where to look."""
    refused: HTTPException = error  # type: ignore[assignment]
    status = HTTPStatus(refused.status_code)
    path = request.url.path
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (refused.headers or {}).get("Allow", "another")
        detail = f"this path does not take {request.method[:20]}: use {allowed}"
    elif path.startswith(_GUARD):
        detail = "the guard answers nothing of this name: GET /v1/openapi.json has all that it does"
    else:
        detail = "nothing is served here: GET / says what is"
    problem = Problem(type="about:blank", title=status.phrase, status=status, detail=detail)
    return Response(encoded(problem), status_code=status, headers=refused.headers, media_type=PROBLEM)
