"""Bodies are decompressed piece by piece, up to a bound: a small body that holds gigabytes costs no more than that."""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, Final

from otel_processor.service.refused import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_MOST_MEMBERS: Final = 64
"""What follows a part is copied to be read on: thousands of empty ones would take minutes."""

_ZSTD_REMEDY: Final = "zstd needs a package here: pip install 'otel-processor[serve]', or send gzip"


def unpacked(body: bytes, encoding: str, *, most_bytes: int) -> bytes:
    """Return the body without its compression.

    Args:
        body: as received.
        encoding: what `Content-Encoding` says, in lower case; empty for none.
        most_bytes: how large it may become.

    Raises:
        Refused: it is larger, no such thing, or compressed in a way that is not known here.
    """
    if encoding in {"", "identity"}:
        return body
    if encoding in {"gzip", "x-gzip", "deflate"}:
        return _all_members(body, _inflated, most_bytes)
    if encoding == "zstd":
        return _all_members(body, _zstd(), most_bytes)
    raise Refused.unsupported("the Content-Encoding is none of gzip, deflate, zstd; send one of these, or none")


def check_encoding(encoding: str) -> None:
    """Raise `Refused` for an encoding that is not known here, before the body is read."""
    unpacked(b"", encoding, most_bytes=0)


def _all_members(body: bytes, unpack: Callable[[bytes, int], tuple[bytes, bytes, bool]], most_bytes: int) -> bytes:
    """Unpack one member after the other: compressed bodies may be put together of several."""
    parts: list[bytes] = []
    size = 0
    while body:
        if len(parts) == _MOST_MEMBERS:
            raise Refused.malformed(f"the body is put together of more than {_MOST_MEMBERS} compressed parts")
        part, body, is_whole = unpack(body, most_bytes - size + 1)
        size += len(part)
        if size > most_bytes:
            raise Refused.too_large(f"the body is larger than {most_bytes >> 20} MiB when decompressed")
        if not is_whole:
            raise Refused.malformed("the compressed body ends too early")
        parts.append(part)
    return b"".join(parts)


def _inflated(body: bytes, most_bytes: int) -> tuple[bytes, bytes, bool]:
    inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        part = inflate.decompress(body, most_bytes)
    except zlib.error:
        raise Refused.malformed("the body cannot be decompressed") from None
    return part, inflate.unused_data, inflate.eof


def _zstd() -> Callable[[bytes, int], tuple[bytes, bytes, bool]]:
    module: Any
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd as module
        else:
            from backports import zstd as module
    except ImportError:
        raise Refused.unsupported(_ZSTD_REMEDY) from None

    def unpack(body: bytes, most_bytes: int) -> tuple[bytes, bytes, bool]:
        decompressor = module.ZstdDecompressor()
        try:
            part = decompressor.decompress(body, most_bytes)
        except module.ZstdError:
            raise Refused.malformed("the body cannot be decompressed") from None
        return part, decompressor.unused_data, decompressor.eof

    return unpack
