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
        ConfigError: the file cannot be read, or it holds no token.
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
    if not text or len(text) > _MOST_CHARS or not text.isascii() or any(char <= " " for char in text):
        raise ConfigError(
            f"{place} holds no token; put one word of ASCII characters there, for example of `openssl rand -hex 32`"
        )
    return text


def brings(token: str | None, authorization: str | bytes | None) -> bool:
    """Return whether an `Authorization` header brings the token; takes as long for a wrong one as for the right one."""
    if token is None:
        return True
    given = authorization if isinstance(authorization, bytes) else (authorization or "").encode("utf-8", "replace")
    scheme, _, credentials = given.partition(b" ")
    return hmac.compare_digest(credentials.strip(), token.encode()) and scheme.lower() == b"bearer"
