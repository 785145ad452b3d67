"""OTLP over gRPC: the services for traces, logs and metrics."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import grpc  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_processor.bug_reports import report_bug
from otel_processor.errors import ConfigError
from otel_processor.ingest import otlp_protobuf
from otel_processor.service.refused import Refused
from otel_processor.service.token import brings

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_processor.service.counts import Counts
    from otel_processor.service.intake import Intake, Taken
    from otel_processor.service.limits import Limits
    from otel_processor.service.room import Room

_PACKAGE: Final = "opentelemetry.proto.collector"
_MOST_CALLS: Final = 4
"""Calls at once for each request that there is room for: those beyond are refused by us, with a delay, up to this."""
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

    def server(self, address: str) -> tuple[Any, int]:
        """Return a server that listens there, not started yet, and its port; called on the event loop that it runs on.

        Raises:
            ConfigError: nobody can listen there.
        """
        server = grpc.aio.server(
            options=(
                ("grpc.max_receive_message_length", self.limits.body_bytes),
                ("grpc.so_reuseport", 0),
                ("grpc.server_handshake_timeout_ms", int(self.limits.header_seconds * 1_000)),
                ("grpc.max_connection_age_ms", _AGE_MILLIS),
                ("grpc.max_connection_age_grace_ms", _GRACE_MILLIS),
            ),
            maximum_concurrent_rpcs=_MOST_CALLS * self.limits.requests,
        )
        services = {"trace": ("TraceService", self._traces), "logs": ("LogsService", self._ignored("logs"))}
        services["metrics"] = ("MetricsService", self._ignored("metrics"))
        server.add_generic_rpc_handlers(
            tuple(
                # Without functions for that, bodies stay bytes: what is malformed gets its own answer.
                grpc.method_handlers_generic_handler(
                    f"{_PACKAGE}.{signal}.v1.{service}", {"Export": grpc.unary_unary_rpc_method_handler(export)}
                )
                for signal, (service, export) in services.items()
            )
        )
        try:
            port = server.add_insecure_port(address)
        except RuntimeError:
            port = 0
        if not port:
            raise ConfigError(f"nobody can listen on {address}: it is in use, or no address of this machine; give another --grpc")
        return server, port

    async def _traces(self, body: bytes, context: Any) -> bytes:
        try:
            self._check(context)
            # A sender that no longer waits ends this call, and its spans keep their place until they are stored.
            taken = await asyncio.shield(self._take(body))
        except Refused as refused:
            return await self._refuse(context, refused, "traces")
        except Exception:  # noqa: BLE001 - our own bug costs this call and nothing else
            report_bug("service")
            return await self._refuse(context, Refused.failed(), "traces")
        self.counts.add("traces_taken")
        answer = ExportTraceServiceResponse()
        if taken.rejected:
            answer.partial_success.rejected_spans = taken.rejected
            answer.partial_success.error_message = taken.message
        return bytes(answer.SerializeToString())

    async def _take(self, body: bytes) -> Taken:
        with self.room.enter() as place:
            place.hold(more_bytes=len(body))
            return await self.intake.take(body, "", otlp_protobuf.spans_of_body, place)

    def _ignored(self, signal: str) -> Callable[[bytes, Any], Any]:
        """Take what nothing is done with yet, so that a sender of everything finds no errors in its log."""

        async def take_and_forget(_: bytes, context: Any) -> bytes:
            try:
                self._check(context)
            except Refused as refused:
                return await self._refuse(context, refused, signal)
            self.counts.add(f"{signal}_taken")
            # The answers of all signals are empty as long as they say nothing.
            return b""

        return take_and_forget

    def _check(self, context: Any) -> None:
        if self.token is not None:
            found = dict(context.invocation_metadata() or ()).get("authorization")
            if not brings(self.token, found):
                raise Refused.unauthenticated()

    async def _refuse(self, context: Any, refused: Refused, signal: str) -> bytes:
        self.counts.add(f"{signal}_refused_{refused.http}")
        trailing = [("grpc-status-details-bin", refused.status().SerializeToString())]
        if (delay := refused.retry_info()) is not None:
            # Some exporters look for the delay by itself.
            trailing.append(("google.rpc.retryinfo-bin", delay.SerializeToString()))
        await context.abort(_CODES[refused.code], refused.message, trailing_metadata=tuple(trailing))
        raise AssertionError("abort raises")
