"""Questions to the guard, read from JSON and checked; what is wrong with one is said in a sentence."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, Final

import msgspec

from otel_processor.service.guard_api.messages import OfRun
from otel_processor.service.refused import Refused

DEPTH: Final = 100
"""Levels that a request may have."""

_SEE = "GET /v1/openapi.json says what is taken"
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")


def read_question(decoder: msgspec.json.Decoder[Any], body: bytes) -> OfRun:
    """Return what a request says.

    Args:
        decoder: of the message that it is.
        body: as it came.

    Raises:
        Refused: it is no JSON, nested too deep, or not that message.
    """
    try:
        try:
            said: OfRun = decoder.decode(body)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            said = decoder.decode(_mended(body))
        if _depth(body) > DEPTH:
            raise _too_deep()
    except RecursionError:
        raise _too_deep() from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Refused.malformed(f"{error}; {_SEE}") from None
    return said


def _too_deep() -> Refused:
    return Refused.malformed(f"the body is nested deeper than {DEPTH} levels; send what is deep as a text")


def _mended(body: bytes) -> bytes:
    """Return JSON without halves of surrogate pairs, as JavaScript writes them where it has cut a text in two."""
    try:
        whole = json.loads(body)
        return json.dumps(whole, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    except ValueError:
        # Something else is wrong with it, which the other decoder says better.
        return body


def _depth(body: bytes) -> int:
    """Return how many levels JSON, known to be well-formed, has."""
    if body.count(b"[") + body.count(b"{") <= DEPTH:
        return 0
    brackets = _TEXT.sub(b"", body).translate(None, _NO_BRACKETS)
    return max(accumulate(1 if code in b"[{" else -1 for code in brackets), default=0)
