"""OTLP over gRPC: the services for traces, logs and metrics."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import grpc  # type: ignore[import-untyped]

from otel_processor.bug_reports import report_bug
from otel_processor.errors import ConfigError
from otel_processor.service.answers import PROTOBUF, READERS, answer_of
from otel_processor.service.call_bodies import CallBodies
from otel_processor.service.grpc_health import GrpcHealth
from otel_processor.service.refused import Refused
from otel_processor.service.token import brings

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_processor.service.counts import Counts
    from otel_processor.service.intake import Intake, Taken
    from otel_processor.service.limits import Limits
    from otel_processor.service.room import Room
    from otel_processor.service.tls import Certificate

_PACKAGE: Final = "opentelemetry.proto.collector"
_MOST_CALLS: Final = 4
"""Calls at once for each request that there is room for: those beyond are refused by us, with a delay, up to this."""
_WINDOW_BYTES: Final = 65_535
"""What a call may send before it is read; the least that HTTP/2 begins with."""
_AGE_MILLIS: Final = 600_000
_GRACE_MILLIS: Final = 30_000
"""A connection is asked to come again after so long, and then closed: a sender that hangs does not stay for ever."""

_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcDoor:
    """The answers to gRPC calls."""

    intake: Intake
    room: Room
    limits: Limits
    counts: Counts
    token: str | None
    bodies: CallBodies
    health: GrpcHealth

    def server(self, address: str, certificate: Certificate | None = None) -> tuple[Any, int]:
        """Return a server that listens there, not started yet, and its port; called on the event loop that it runs on.

        Args:
            address: as `HOST:PORT`.
            certificate: for TLS; None: without.

        Raises:
            ConfigError: nobody can listen there.
        """
        server = grpc.aio.server(
            options=(
                ("grpc.max_receive_message_length", self.limits.body_bytes),
                ("grpc.max_concurrent_streams", self.limits.requests),
                # Windows stay small, or each call sends megabytes before it is read; one that is being read may send it all.
                ("grpc.http2.bdp_probe", 0),
                ("grpc.http2.lookahead_bytes", _WINDOW_BYTES),
                ("grpc.so_reuseport", 0),
                ("grpc.server_handshake_timeout_ms", int(self.limits.header_seconds * 1_000)),
                ("grpc.max_connection_age_ms", _AGE_MILLIS),
                ("grpc.max_connection_age_grace_ms", _GRACE_MILLIS),
            ),
            maximum_concurrent_rpcs=_MOST_CALLS * self.limits.requests,
        )
        services = {"trace": ("TraceService", self._taken("traces")), "logs": ("LogsService", self._taken("logs"))}
        services["metrics"] = ("MetricsService", self._ignored("metrics"))
        server.add_generic_rpc_handlers(
            (
                # Without functions for that, bodies stay bytes: what is malformed gets its own answer. On the wire a call is
                # the same as a stream of one message, and that one is read when we say so.
                *(
                    grpc.method_handlers_generic_handler(
                        f"{_PACKAGE}.{signal}.v1.{service}", {"Export": grpc.stream_unary_rpc_method_handler(export)}
                    )
                    for signal, (service, export) in services.items()
                ),
                self.health.handler(),
            )
        )
        try:
            if certificate is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, certificate.grpc_credentials())
        except RuntimeError:
            port = 0
        if not port:
            raise ConfigError(f"nobody can listen on {address}: it is in use, or no address of this machine; give another --grpc")
        return server, port

    def _taken(self, signal: str) -> Callable[[Any, Any], Any]:
        """Take what is stored."""

        async def take_and_store(_: Any, context: Any) -> bytes:
            try:
                body = await self._body(context)
                # A sender that no longer waits ends this call, and its spans keep their place until they are stored.
                taken = await asyncio.shield(self._take(body, signal))
            except Refused as refused:
                return await self._refuse(context, refused, signal)
            except Exception:  # noqa: BLE001 - our own bug costs this call and nothing else
                report_bug("service")
                return await self._refuse(context, Refused.failed(), signal)
            self.counts.answered(signal, "grpc")
            return bytes(answer_of(signal, taken).SerializeToString())

        return take_and_store

    async def _take(self, body: bytes, signal: str) -> Taken:
        with self.room.enter() as place:
            place.hold(more_bytes=len(body))
            return await self.intake.take(body, "", READERS[signal][PROTOBUF], place)

    def _ignored(self, signal: str) -> Callable[[bytes, Any], Any]:
        """Take what nothing is done with yet, so that a sender of everything finds no errors in its log."""

        async def take_and_forget(_: Any, context: Any) -> bytes:
            try:
                await self._body(context)
            except Refused as refused:
                return await self._refuse(context, refused, signal)
            self.counts.answered(signal, "grpc")
            # The answers of all signals are empty as long as they say nothing.
            return b""

        return take_and_forget

    async def _body(self, context: Any) -> bytes:
        """Return the message of a call that brings the token; that of another one is not read."""
        if self.token is not None:
            found = dict(context.invocation_metadata() or ()).get("authorization")
            if not brings(self.token, found):
                raise Refused.unauthenticated()
        body = await self.bodies.read(context)
        self.counts.receive("grpc", len(body))
        return body

    async def _refuse(self, context: Any, refused: Refused, signal: str) -> bytes:
        self.counts.answered(signal, "grpc", refused.http)
        refused.let_go()
        trailing = [("grpc-status-details-bin", refused.status().SerializeToString())]
        if (delay := refused.retry_info()) is not None:
            # Some exporters look for the delay by itself.
            trailing.append(("google.rpc.retryinfo-bin", delay.SerializeToString()))
        try:
            await context.abort(_CODES[refused.code], refused.message, trailing_metadata=tuple(trailing))
        except grpc.aio.AbortError:
            raise
        except Exception as error:
            # gRPC has ended the call by itself: a message that is too large when decompressed.
            raise asyncio.CancelledError from error
        raise AssertionError("abort raises")
