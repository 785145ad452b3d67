"""`grpc.health.v1.Health/Check`: for whoever runs the service, with the answer of `/readyz`.

`Watch` is not answered: each of its streams would keep the place of a sender for as long as it likes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import grpc  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError
from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]

from otel_processor.service.call_bodies import CallBodies
from otel_processor.service.refused import Refused

TRACES: Final = "opentelemetry.proto.collector.trace.v1.TraceService"

_SEATS: Final = 16
_SECONDS: Final = 5.0
_MOST_BYTES: Final = 16 << 10


class GrpcHealth:
    """Answers whether spans find a place. Needs no token, like `/readyz`."""

    def __init__(self, state: Callable[[], dict[str, Any]]) -> None:
        self._state = state
        # Seats of their own: senders that are slow do not make the service look dead.
        self._bodies = CallBodies(seats=_SEATS, seconds=_SECONDS, most_bytes=_MOST_BYTES)

    def handler(self) -> Any:
        """Return the service for a server."""
        return grpc.method_handlers_generic_handler(
            "grpc.health.v1.Health", {"Check": grpc.stream_unary_rpc_method_handler(self._check)}
        )

    async def _check(self, _: Any, context: Any) -> bytes:
        try:
            asked = health_pb2.HealthCheckRequest.FromString(await self._bodies.read(context))
        except Refused as refused:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, refused.message)
        except DecodeError:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the message is no HealthCheckRequest")
        if asked.service not in {"", TRACES}:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no such service; ask for none, or for {TRACES}")
        status = health_pb2.HealthCheckResponse.SERVING if self._state()["ready"] else health_pb2.HealthCheckResponse.NOT_SERVING
        return bytes(health_pb2.HealthCheckResponse(status=status).SerializeToString())
