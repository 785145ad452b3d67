"""OTLP over HTTP: `POST /v1/traces`, `/v1/logs`, `/v1/metrics`, and `/healthz`, `/readyz`, `/metrics` for whoever runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from otel_processor.bug_reports import report_bug
from otel_processor.service.answers import JSON, PROTOBUF, READERS, answer_of
from otel_processor.service.bodies import read_body
from otel_processor.service.intake import NOTHING_TAKEN
from otel_processor.service.refused import Refused
from otel_processor.service.signposts import astray, front
from otel_processor.service.token import brings
from otel_processor.service.unpacking import check_encoding

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from otel_processor.service.counts import Counts
    from otel_processor.service.intake import Intake
    from otel_processor.service.limits import Limits
    from otel_processor.service.room import Place, Room


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpDoor:
    """The answers to HTTP requests."""

    intake: Intake
    room: Room
    limits: Limits
    counts: Counts
    token: str | None
    state: Callable[[], dict[str, Any]]
    """What `/readyz` says; `ready` is among it."""
    metrics: Callable[[str], tuple[bytes, str]]
    """What `/metrics` says to an `Accept` header, and the type of that."""
    beside: Sequence[Route] = ()
    """Routes of other doors at the same address."""

    def app(self) -> Starlette:
        """Return the application for a server."""
        return Starlette(
            routes=[
                Route("/v1/traces", self._taken("traces"), methods=["POST"]),
                Route("/v1/logs", self._taken("logs"), methods=["POST"]),
                Route("/v1/metrics", self._ignored("metrics"), methods=["POST"]),
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route("/metrics", self._metrics),
                front(),
                *self.beside,
            ],
            exception_handlers={404: astray, 405: astray},
        )

    def _taken(self, signal: str) -> Any:
        """Take what is stored."""

        async def take_and_store(request: Request) -> Response:
            async def take(kind: str, place: Place) -> Message:
                encoding = request.headers.get("content-encoding", "").strip().lower()
                check_encoding(encoding)
                body = await self._body(request, place)
                return answer_of(signal, await self.intake.take(body, encoding, READERS[signal][kind], place))

            return await self._answered(request, signal, take)

        return take_and_store

    def _ignored(self, signal: str) -> Any:
        """Take what nothing is done with yet, so that a sender of everything finds no errors in its log."""

        async def take_and_forget(request: Request) -> Response:
            async def take(_: str, place: Place) -> Message:
                await self._body(request, place)
                return answer_of(signal, NOTHING_TAKEN)

            return await self._answered(request, signal, take)

        return take_and_forget

    async def _answered(self, request: Request, signal: str, take: Any) -> Response:
        kind = JSON
        try:
            given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            kind = given if given == PROTOBUF else JSON
            if not brings(self.token, request.headers.get("authorization")):
                raise Refused.unauthenticated()
            if given not in {PROTOBUF, JSON}:
                raise Refused.unsupported(f"the Content-Type is neither {PROTOBUF} nor {JSON}")
            with self.room.enter() as place:
                answer = await take(kind, place)
            self.counts.answered(signal, "http")
            return _response(answer, kind, 200)
        except Refused as refused:
            return self._refusal(refused, signal, kind)
        except asyncio.CancelledError:
            # The time to answer what was accepted is over. Stored or not: what is not acknowledged is to be sent again.
            return self._refusal(Refused.unavailable("the service is ending"), signal, kind)
        except ClientDisconnect:
            return self._refusal(Refused.malformed("the sender went away"), signal, kind)
        except Exception:  # noqa: BLE001 - our own bug costs this request and nothing else
            report_bug("service")
            return self._refusal(Refused.failed(), signal, kind)

    def _refusal(self, refused: Refused, signal: str, kind: str) -> Response:
        self.counts.answered(signal, "http", refused.http)
        refused.let_go()
        headers = {}
        if refused.retry_seconds is not None:
            headers["Retry-After"] = str(refused.retry_seconds)
        if refused.http == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if refused.http == 408:
            headers["Connection"] = "close"
        return _response(refused.status(), kind, refused.http, headers)

    async def _body(self, request: Request, place: Place) -> bytes:
        return await read_body(
            request,
            place,
            most_bytes=self.limits.body_bytes,
            seconds=self.limits.body_seconds,
            came=lambda size: self.counts.receive("http", size),
        )

    async def _healthz(self, _: Request) -> Response:
        return Response(orjson.dumps({"status": "alive", "counts": self.counts.all()}), media_type=JSON)

    def _metrics(self, request: Request) -> Response:
        # No coroutine: it is answered on a thread, since it looks at a folder.
        if not brings(self.token, request.headers.get("authorization")):
            return Response(status_code=401, headers={"WWW-Authenticate": "Bearer"})
        content, kind = self.metrics(request.headers.get("accept", ""))
        return Response(content, media_type=kind)

    async def _readyz(self, _: Request) -> Response:
        state = self.state()
        return Response(orjson.dumps(state), status_code=200 if state["ready"] else 503, media_type=JSON)


def _response(message: Message, kind: str, status: int, headers: dict[str, str] | None = None) -> Response:
    content = message.SerializeToString() if kind == PROTOBUF else orjson.dumps(MessageToDict(message))
    return Response(content, status_code=status, headers=headers, media_type=kind)
