"""Bytes that are no proper HTTP request, or no HTTP/2 at all, straight onto a socket."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

_LINE = b"POST /v1/traces HTTP/1.1\r\n"
_HOST = b"Host: x\r\n"
_TYPE = b"Content-Type: application/x-protobuf\r\n"
_SOUND = _LINE + _HOST + _TYPE + b"Content-Length: 0\r\n\r\n"

SPOILT = (
    b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),  # TLS, to a door without
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(20),
    b"GET\r\n\r\n",
    b"POST /v1/traces\r\n\r\n",
    b"POST /v1/traces HTTP/9.9\r\n" + _HOST + b"\r\n",
    b"POST /v1/traces HTTP/1.1\r\n\r\n",
    b"BREW /v1/traces HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"POST /v1/tr\x00ces HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"POST /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"POST /../../etc/passwd HTTP/1.1\r\n" + _HOST + _TYPE + b"Content-Length: 0\r\n\r\n",
    b"POST http://elsewhere/v1/traces HTTP/1.1\r\n" + _HOST + _TYPE + b"Content-Length: 0\r\n\r\n",
    b"POST * HTTP/1.1\r\n" + _HOST + _TYPE + b"Content-Length: 0\r\n\r\n",
    b"POST /v1/traces%00?a=%ff HTTP/1.1\r\n" + _HOST + _TYPE + b"Content-Length: 0\r\n\r\n",
    _LINE + _HOST + _TYPE + b"Content-Length: -1\r\n\r\n",
    _LINE + _HOST + _TYPE + b"Content-Length: +1\r\n\r\na",
    _LINE + _HOST + _TYPE + b"Content-Length: 1, 2\r\n\r\na",
    _LINE + _HOST + _TYPE + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    _LINE + _HOST + _TYPE + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n",
    _LINE + _HOST + _TYPE + "Content-Length: ٣\r\n\r\n".encode(),
    _LINE + _HOST + _TYPE + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    _LINE + _HOST + _TYPE + b"Transfer-Encoding: gzip\r\n\r\n",
    _LINE + _HOST + _TYPE + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    _LINE + _HOST + _TYPE + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    _LINE + _HOST + _TYPE + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 30 + b"\r\n",
    _LINE + _HOST + _TYPE + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
    _LINE + _HOST + _TYPE + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    _LINE + _HOST + _TYPE + b"X: " + b"a" * 70_000 + b"\r\n\r\n",
    _LINE + _HOST + _TYPE + b"X: a\r\n" * 3_000 + b"\r\n",
    _LINE + _HOST + _TYPE + b"Authorization: Bearer \xff\xfe\r\nContent-Length: 0\r\n\r\n",
    _LINE + _HOST + _TYPE + b"X:\x00\r\n\r\n",
    _LINE + _HOST + _TYPE + b"X : a\r\n\r\n",
    _LINE + _HOST + _TYPE + b" folded: a\r\n\r\n",
    _LINE + _HOST + _TYPE + b": nothing\r\n\r\n",
    _LINE + _HOST + _TYPE + b"Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n",
    _LINE + _HOST + b"Content-Type: application/x-protobuf\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n",
    _LINE + _HOST + _TYPE + b"Content-Length: 50\r\n\r\nhalf a body",
    _SOUND * 3,
    _SOUND[:-2] + b"X: y",
)


def spoilt(rng: random.Random, count: int) -> Iterator[bytes]:
    """Each of them once, and then sound ones with some bytes changed."""
    yield from SPOILT[:count]
    for _ in range(count - len(SPOILT)):
        found = bytearray(_SOUND)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(found))
            found[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        yield bytes(found)


def http2(rng: random.Random, count: int) -> Iterator[bytes]:
    """The beginning of HTTP/2, and then frames that are none."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    settings = bytes(3) + b"\x04" + bytes(5)
    for number in range(count):
        frame = rng.randrange(200).to_bytes(3, "big") + bytes((rng.randrange(12), rng.randrange(256)))
        frame += rng.randrange(6).to_bytes(4, "big") + rng.randbytes(rng.randrange(200))
        yield (b"", preface, preface + settings)[number % 3] + frame + rng.randbytes(rng.randrange(60))


def told(port: int, sent: bytes) -> bytes:
    """What is answered to these bytes, the sender having nothing more to say."""
    said = b""
    with (
        contextlib.suppress(ConnectionError, TimeoutError),
        socket.create_connection(("127.0.0.1", port), timeout=5) as connection,
    ):
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(65_536):
            said += piece
    return said
