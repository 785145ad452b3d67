"""Compressed bodies: read up to a bound, refused in words."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.service.refused import Refused
from otel_processor.service.unpacking import check_encoding, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable

PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("encoding", PACKED)
@given(body=st.binary(max_size=2_000))
def test_what_was_packed_is_unpacked(encoding: str, body: bytes) -> None:
    """Also where it is as large as it may be."""
    assert unpacked(PACKED[encoding](body), encoding, most_bytes=len(body)) == body


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_parts_are_put_together(encoding: str) -> None:
    """A body may be compressed in several parts."""
    packed = PACKED[encoding](b"one ") + PACKED[encoding](b"two")
    assert unpacked(packed, encoding, most_bytes=7) == b"one two"
    with pytest.raises(Refused) as caught:
        unpacked(packed, encoding, most_bytes=6)
    assert caught.value.http == 413
    with pytest.raises(Refused) as caught:
        unpacked(PACKED[encoding](b"") * 100, encoding, most_bytes=6)
    assert caught.value.http == 400


@pytest.mark.parametrize("encoding", PACKED)
def test_a_bomb_is_not_blown_up(encoding: str) -> None:
    """A small body that holds a hundred megabytes is refused, and costs no more memory than is allowed."""
    bomb = PACKED[encoding](bytes(100 << 20))
    assert len(bomb) < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(Refused) as caught:
            unpacked(bomb, encoding, most_bytes=1 << 20)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert (caught.value.http, caught.value.retry_seconds) == (413, None)


@pytest.mark.parametrize("encoding", PACKED)
@pytest.mark.parametrize("spoil", [lambda packed: packed[:-1], lambda _: b"no such thing", lambda packed: packed + b"more"])
def test_what_is_spoilt_is_malformed(encoding: str, spoil: Callable[[bytes], bytes]) -> None:
    """It is not worth sending again."""
    with pytest.raises(Refused) as caught:
        unpacked(spoil(PACKED[encoding](b"body" * 50)), encoding, most_bytes=1_000)
    assert (caught.value.http, caught.value.retry_seconds) == (400, None)


def test_what_is_not_known_is_named() -> None:
    """The answer says what to send."""
    with pytest.raises(Refused, match="gzip") as caught:
        check_encoding("br")
    assert caught.value.http == 415
    check_encoding("")
    check_encoding("zstd")
