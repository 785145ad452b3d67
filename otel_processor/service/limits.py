"""What a service takes at the most; more is refused with a word, never kept without end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one service; decoded, a request takes several times the bytes that it was sent in."""

    body_bytes: int = 16 << 20
    """A request as it is sent, compressed or not."""
    unpacked_bytes: int = 64 << 20
    """A request after decompression."""
    request_spans: int = 50_000
    """Spans in one request."""
    requests: int = 64
    """Requests, over HTTP and gRPC, that are being read, decoded or stored."""
    waiting_bytes: int = 160 << 20
    """Bytes of all of them together, as sent and as decompressed."""
    waiting_spans: int = 100_000
    """Spans of all of them together, once decoded."""
    group_spans: int = 10_000
    """Spans that go into one transaction; a larger request goes alone."""
    connections: int = 1_000
    """Open HTTP connections."""
    calls_being_read: int = 16
    """gRPC calls whose message is coming; gRPC holds up to `body_bytes` for each before it can be counted."""
    header_seconds: float = 10.0
    """For a TLS handshake, for the head of an HTTP request, and for the rest of a body that was answered already."""
    body_seconds: float = 30.0
    """For the body of a request."""
    drain_seconds: float = 10.0
    """For requests that are being answered when the service is told to end."""
    guard_body_bytes: int = 4 << 20
    """A request to the guard."""
    guard_requests: int = 256
    """Requests to the guard that are being answered."""
    guard_waiting_bytes: int = 64 << 20
    """Bytes of all of them together."""
    guard_look_seconds: float = 60.0
    """Between two looks for runs under guard that are idle."""
