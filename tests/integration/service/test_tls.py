"""TLS at both doors, asked for by real exporters and by clients that do not go on."""

from __future__ import annotations

import socket
import ssl
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from otel_processor.service import doors
from tests.integration.agents import call_tool
from tests.integration.service.serving import Serving, request_of, serving, serving_here
from tests.integration.service.test_answers import TRACES
from tests.integration.service.test_command import one_line, serve
from tests.integration.stored import eventually, stored_ids, value
from tests.unit.service.certificates import Authority

if TYPE_CHECKING:
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

    from otel_processor.service.tls import TlsFiles


@pytest.fixture(autouse=True)
def own_authorities_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a machine sets for all clients goes before what the exporter is told."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.made_in(tmp_path / "authority")


def exporter(
    service: Serving, door: str, authority: Authority, own: TlsFiles | None = None, *, seconds: float = 20
) -> SpanExporter:
    if door == "grpc":
        known = authority.path.read_bytes()
        pair = (own.key.read_bytes(), own.cert.read_bytes()) if own is not None else (None, None)
        credentials = grpc.ssl_channel_credentials(known, *pair)
        return GrpcExporter(endpoint=f"https://127.0.0.1:{service.grpc_port}", credentials=credentials, timeout=seconds)
    return HttpExporter(
        endpoint=f"https://127.0.0.1:{service.http_port}/v1/traces",
        certificate_file=str(authority.path),
        client_certificate_file=str(own.cert) if own is not None else None,
        client_key_file=str(own.key) if own is not None else None,
        timeout=seconds,
    )


def sent(found: SpanExporter, provider: TracerProvider) -> SpanExportResult:
    """What an exporter says of a span."""
    results: list[SpanExportResult] = []

    class Noting(SimpleSpanProcessor):
        def on_end(self, span: Any) -> None:
            results.append(self.span_exporter.export([span]))

    provider.add_span_processor(Noting(found))
    call_tool(provider.get_tracer("test"), "search", {"query": "a"}, "found")
    return results[-1]


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_the_exporters_of_the_sdk_send_over_tls(db: Path, provider: TracerProvider, authority: Authority, door: str) -> None:
    """With the authority that they were given, and a token beside it."""
    files = authority.issue()
    with serving(db, "--tls-cert", str(files.cert), "--tls-key", str(files.key)) as service:
        assert sent(exporter(service, door, authority), provider) is SpanExportResult.SUCCESS
        assert value(db, "select count(*) from spans") == 1


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_a_stranger_is_not_trusted(db: Path, provider: TracerProvider, authority: Authority, door: str, tmp_path: Path) -> None:
    """A client that knows another authority sends nothing, and neither does one that speaks no TLS; the others go on."""
    with serving_here(db, tls=authority.issue()) as service:
        other = Authority.made_in(tmp_path / "other")
        assert sent(exporter(service, door, other, seconds=1), provider) is SpanExportResult.FAILURE
        with socket.create_connection(("127.0.0.1", service.http_port if door == "http" else service.grpc_port), 20) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + bytes(200))
            _until_closed(plain)
        assert sent(exporter(service, door, authority), provider) is SpanExportResult.SUCCESS
        assert value(db, "select count(*) from spans") == 1


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_senders_bring_a_certificate_where_they_must(
    db: Path, provider: TracerProvider, authority: Authority, door: str, tmp_path: Path
) -> None:
    """One of the authority's; none, or one of somebody else, is turned away."""
    senders = Authority.made_in(tmp_path / "senders")
    with serving_here(db, tls=replace(authority.issue(), client_ca=senders.path)) as service:
        assert sent(exporter(service, door, authority, seconds=1), provider) is SpanExportResult.FAILURE
        foreign = authority.issue("foreign")
        assert sent(exporter(service, door, authority, foreign, seconds=1), provider) is SpanExportResult.FAILURE
        assert sent(exporter(service, door, authority, senders.issue()), provider) is SpanExportResult.SUCCESS
        assert value(db, "select count(*) from spans") == 1


@pytest.mark.parametrize("begun", [b"", b"\x16\x03\x01"], ids=["nothing", "half a hello"])
@pytest.mark.parametrize("door", ["http", "grpc"])
def test_a_handshake_that_does_not_go_on_is_ended(db: Path, authority: Authority, door: str, begun: bytes) -> None:
    """And holds up nobody in the meantime."""
    with serving_here(db, tls=authority.issue(), header_seconds=0.5) as service:
        service.tls = ssl.create_default_context(cafile=authority.path)
        with socket.create_connection(("127.0.0.1", service.http_port if door == "http" else service.grpc_port), 20) as slow:
            slow.sendall(begun)
            assert service.post(b"").status == 200
            _until_closed(slow)


@pytest.mark.parametrize("begun", [b"", b"POST /v1/tra"], ids=["nothing", "half a head"])
def test_a_sender_that_does_not_go_on_is_sent_away(db: Path, authority: Authority, begun: bytes) -> None:
    """As without TLS."""
    with serving_here(db, tls=authority.issue(), header_seconds=0.5) as service:
        context = ssl.create_default_context(cafile=authority.path)
        with (
            socket.create_connection(("127.0.0.1", service.http_port), 20) as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as slow,
        ):
            slow.sendall(begun)
            _until_closed(slow)


@pytest.mark.parametrize("door", ["http", "grpc"])
def test_an_old_tls_is_refused(db: Path, authority: Authority, door: str) -> None:
    """1.2 is the least that either door speaks."""
    with serving_here(db, tls=authority.issue()) as service:
        port = service.http_port if door == "http" else service.grpc_port
        assert _spoken(port, authority, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
        with pytest.raises(OSError) as caught, pytest.warns(DeprecationWarning, match="TLSv1_1"):  # noqa: PT011 - also a reset
            _spoken(port, authority, ssl.TLSVersion.TLSv1_1)
        # It is the server that does not want to.
        assert getattr(caught.value, "reason", "") not in {"NO_PROTOCOLS_AVAILABLE", "NO_CIPHERS_AVAILABLE"}


def test_a_new_certificate_is_shown_without_a_restart(db: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    """New connections of both doors get it once its files have changed; what is being sent goes on."""
    monkeypatch.setattr(doors, "_CERTIFICATE_SECONDS", 0.1)
    files = authority.issue()
    with serving_here(db, tls=files) as service:
        request, ids = request_of(2)
        with grpc.secure_channel(
            f"127.0.0.1:{service.grpc_port}", grpc.ssl_channel_credentials(authority.path.read_bytes())
        ) as channel:
            export = channel.unary_unary(TRACES)
            assert export(b"", timeout=20) == b""
            before = [_shown(port) for port in (service.http_port, service.grpc_port)]
            authority.issue(days=60)
            for port, old in zip((service.http_port, service.grpc_port), before, strict=True):
                eventually(partial(_shows_another, port, old), seconds=20, what="the new certificate")
            assert export(request.SerializeToString(), timeout=20) == b""
        assert stored_ids(db) == sorted(ids)


def test_what_cannot_be_used_ends_the_command(db: Path, authority: Authority) -> None:
    """In one line, with code 2, before anything is opened."""
    old = authority.issue("old", days=-1, since_days=9)
    ended = serve("--db", str(db), "--grpc", "127.0.0.1:0", "--tls-cert", str(old.cert), "--tls-key", str(old.key))
    assert ended.returncode == 2
    assert "has expired" in one_line(ended)
    assert not db.exists()


def _spoken(port: int, authority: Authority, version: ssl.TLSVersion) -> str | None:
    """The TLS that a client agrees on which knows one version."""
    context = ssl.create_default_context(cafile=authority.path)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.minimum_version = context.maximum_version = version
    with (
        socket.create_connection(("127.0.0.1", port), 20) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped,
    ):
        return wrapped.version()


def _shows_another(port: int, old: str) -> bool:
    return _shown(port) != old


def _shown(port: int) -> str:
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=20)


def _until_closed(connection: socket.socket) -> None:
    """Read to the end that the other side makes; it may also reset."""
    try:
        while connection.recv(4_096):
            pass
    except ConnectionResetError:
        pass
