"""The bearer token that senders bring, where one is asked for."""

from __future__ import annotations

import hmac
import os
from pathlib import Path

from otel_processor.errors import ConfigError

VARIABLE = "OTEL_PROCESSOR_TOKEN"

_MOST_CHARS = 4_096


def load_token(path: Path | None) -> str | None:
    """Return the token of a file, else that of `$OTEL_PROCESSOR_TOKEN`, else None: no token is asked for.

    Raises:
        ConfigError: the file cannot be read, or what it holds is no token; the message says why, and nothing of it.
    """
    if path is None:
        text, place = os.environ.get(VARIABLE, "").strip(), VARIABLE
        if not text:
            return None
    else:
        place = f"the token file {path}"
        try:
            text = path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ConfigError(f"{place} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    if (wrong := _what_is_wrong(text)) is not None:
        raise ConfigError(f"{place} {wrong}; put one word of ASCII characters there, for example of `openssl rand -hex 32`")
    return text


def _what_is_wrong(text: str) -> str | None:
    if not text:
        return "is empty"
    if (words := len(text.split())) > 1:
        return f"holds {words:,} words, and a token is one"
    if len(text) > _MOST_CHARS:
        return f"holds a word of {len(text):,} characters, and a token has {_MOST_CHARS:,} at the most"
    if not text.isascii():
        return "holds characters that are not ASCII, and no header can bring them"
    if any(char <= " " or char == "\x7f" for char in text):
        return "holds control characters, and no header can bring them"
    return None


def brings(token: str | None, authorization: str | bytes | None) -> bool:
    """Return whether an `Authorization` header brings the token; takes as long for a wrong one as for the right one."""
    if token is None:
        return True
    given = authorization if isinstance(authorization, bytes) else (authorization or "").encode("utf-8", "replace")
    scheme, _, credentials = given.partition(b" ")
    return hmac.compare_digest(credentials.strip(), token.encode()) and scheme.lower() == b"bearer"
