"""Servers that receive OTLP and keep the spans."""

from __future__ import annotations

import gzip
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse

if TYPE_CHECKING:
    from collections.abc import Iterator

_GRPC_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@dataclass(slots=True)
class Received:
    """What has arrived so far."""

    endpoint: str
    spans: list[Any] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def take(self, request: Any) -> None:
        """Keep the spans of a request."""
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans.extend(scope.spans)

    def tools(self) -> list[dict[str, Any]]:
        """The attributes of the tool calls, in the order in which they ended."""
        ordered = sorted(self.spans, key=lambda span: span.end_time_unix_nano)
        return [found for span in ordered if (found := attributes(span)).get("gen_ai.operation.name") == "execute_tool"]


def attributes(span: Any) -> dict[str, Any]:
    """A received span's attributes as Python values."""
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in span.attributes}


@contextmanager
def http_receiver() -> Iterator[Received]:
    """Receive protobuf over HTTP."""
    received = Received("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            received.paths.add(self.path)
            received.take(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    received.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def grpc_receiver() -> Iterator[Received]:
    """Receive gRPC."""
    received = Received("")

    class Handler(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            if details.method != _GRPC_METHOD:
                return None
            received.paths.add(details.method)
            return grpc.unary_unary_rpc_method_handler(
                self.export,
                request_deserializer=ExportTraceServiceRequest.FromString,
                response_serializer=ExportTraceServiceResponse.SerializeToString,
            )

        @staticmethod
        def export(request: Any, _: Any) -> ExportTraceServiceResponse:
            received.take(request)
            return ExportTraceServiceResponse()

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Handler(),))
    received.endpoint = f"grpc://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield received
    finally:
        server.stop(None).wait()
