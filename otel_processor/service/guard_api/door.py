"""The guard over HTTP: `POST /v1/guard/…`, `GET /v1/guard/report` and `GET /v1/openapi.json`."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from otel_processor.bug_reports import report_bug
from otel_processor.guard.answer import Answer
from otel_processor.service.bodies import read_body
from otel_processor.service.guard_api.messages import Begun, Problem, answer_of, encoded, report_of
from otel_processor.service.guard_api.openapi import document
from otel_processor.service.guard_api.operations import OPERATIONS, Operation
from otel_processor.service.guard_api.questions import read_question
from otel_processor.service.guard_api.run_named import Named, named_by_headers
from otel_processor.service.refused import Refused
from otel_processor.service.room import Room
from otel_processor.service.signposts import PROBLEM
from otel_processor.service.token import brings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from otel_processor.service.counts import Counts
    from otel_processor.service.guard_api.runs import GuardedRuns
    from otel_processor.service.limits import Limits

JSON = "application/json"

_THREADS = 4
"""Large arguments take some tenths of a second; others do not wait behind them."""


class GuardDoor:
    """The answers. Requests are read on the event loop and worked off on threads that nothing else waits for."""

    def __init__(self, runs: GuardedRuns, limits: Limits, counts: Counts, token: str | None) -> None:
        self._runs = runs
        self._limits = limits
        self._counts = counts
        self._token = token
        # A place of its own: agents are answered while OTLP is refused.
        self._room = Room(replace(limits, requests=limits.guard_requests, waiting_bytes=limits.guard_waiting_bytes))
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="otel-processor-guard")
        self._looking: asyncio.TimerHandle | None = None
        self._document = document()

    def routes(self) -> list[Route]:
        """Return what is to be served."""
        asking = [Route(f"/v1/guard/{one.name}", self._post(one), methods=["POST"]) for one in OPERATIONS]
        return [*asking, Route("/v1/guard/report", self._report), Route("/v1/openapi.json", self._openapi)]

    def close(self) -> None:
        """Work off what was accepted, and end the thread."""
        self._pool.shutdown(wait=True)

    def _post(self, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        decoder = msgspec.json.Decoder(operation.request)

        async def answer(request: Request) -> bytes:
            _check_kind(request)
            with self._room.enter() as place:
                body = await read_body(
                    request,
                    place,
                    most_bytes=self._limits.guard_body_bytes,
                    seconds=self._limits.body_seconds,
                    remedy="send the beginning of the text",
                )
                loop = asyncio.get_running_loop()
                self._look_later(loop)
                named = named_by_headers(request.headers)
                return await loop.run_in_executor(self._pool, self._act, operation, decoder, body, named)

        return self._answered(answer)

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        """See to it that runs are put away also when nobody asks any more."""
        if self._looking is None or self._looking.when() < loop.time():
            self._looking = loop.call_later(self._limits.guard_look_seconds, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError):
            # The thread has ended with the service.
            self._pool.submit(self._runs.put_away_idle)
        if len(self._runs):
            self._looking = loop.call_later(self._limits.guard_look_seconds, self._look, loop)

    def _act(self, operation: Operation, decoder: msgspec.json.Decoder[Any], body: bytes, named: Named) -> bytes:
        said = read_question(decoder, body)
        run_id = said.run_id or named.run_id
        if run_id is None:
            raise Refused.malformed(
                "nothing says which run is meant: give `run_id`, or send the header `traceparent` of your trace with the request"
            )
        guard, is_new = self._runs.open(
            run_id,
            named.trace,
            again=operation.name == "start",
            goal=said.goal,
            task=said.task,
            task_type=said.task_type,
            agent=said.agent,
        )
        if operation.tells and guard.has_ended:
            raise Refused.out_of_turn(
                f"the run {run_id[:100]!r} has ended: begin a new one under another id, or under this one with `start`"
            )
        answer = operation.act(guard, said)
        self._runs.changed(guard)
        self._counts.add(f"guard_{operation.name}")
        if isinstance(answer, Answer):
            self._counts.add(f"guard_answers_{answer.action}")
            return encoded(answer_of(answer, run_id))
        return encoded(answer if answer is not None else Begun(run_id=run_id, mode=self._runs.mode, is_new=is_new))

    async def _report(self, request: Request) -> Response:
        async def answer(request: Request) -> bytes:
            run_id = request.query_params.get("run_id") or named_by_headers(request.headers).run_id
            if run_id is None:
                raise Refused.malformed("nothing says which run is meant: give `?run_id=`")
            guard = self._runs.find(run_id)
            if guard is None:
                raise Refused.not_known(
                    f"no run {run_id[:100]!r} is under guard here: it was not begun since the service started, or idle for long"
                )
            with self._room.enter():
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, lambda: encoded(report_of(guard.report())))

        return await self._answered(answer)(request)

    async def _openapi(self, _: Request) -> Response:
        return Response(self._document, media_type=JSON)

    def _answered(self, answer: Callable[[Request], Awaitable[bytes]]) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            try:
                if not brings(self._token, request.headers.get("authorization")):
                    raise Refused.unauthenticated()
                return Response(await answer(request), media_type=JSON)
            except Refused as refused:
                return self._refusal(refused)
            except ClientDisconnect:
                return self._refusal(Refused.malformed("the sender went away"))
            except Exception:  # noqa: BLE001 - our own bug costs this request and nothing else
                report_bug("service")
                return self._refusal(Refused.failed())

        return answered

    def _refusal(self, refused: Refused) -> Response:
        self._counts.add(f"guard_refused_{refused.http}")
        headers = {}
        if refused.retry_seconds is not None:
            headers["Retry-After"] = str(refused.retry_seconds)
        if refused.http == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = "Bearer"
        if refused.http == HTTPStatus.REQUEST_TIMEOUT:
            headers["Connection"] = "close"
        problem = Problem(type="about:blank", title=HTTPStatus(refused.http).phrase, status=refused.http, detail=refused.message)
        return Response(encoded(problem), status_code=refused.http, headers=headers, media_type=PROBLEM)


def _check_kind(request: Request) -> None:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Refused.unsupported(f"the Content-Type is not {JSON}")
    if request.headers.get("content-encoding", "").strip().lower() not in {"", "identity"}:
        raise Refused.unsupported("requests to the guard are not compressed: send no Content-Encoding")
