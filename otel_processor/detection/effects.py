"""What a tool does to the world, told from its name when nothing better tells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from otel_processor.model import Effect

_POLL = frozenset("wait poll status sleep watch tail monitor await progress ready health ping".split())
_READ = frozenset(
    "get list search find read fetch view query lookup look show browse describe count inspect cat grep ls select retrieve "
    "load scan download calculate compute analyze summarize think plan open scroll page goto visit weather".split()
)
_WRITE = frozenset(
    "write create update delete edit insert send post put patch append remove move rename apply commit push book cancel submit "
    "save upload set add replace modify transfer pay refund order exchange return reply publish deploy merge install".split()
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def effect_of(tool: str, declared: Mapping[str, str] | None = None) -> Effect:
    """Return what calling `tool` does: what the policy declares, else what the words of its name say.

    The name's first telling word decides (`get_order_status` polls, since it both reads and asks for a status;
    `search_and_replace` writes, since a tool that may write must be treated as one that does).
    """
    if declared and tool in declared:
        return Effect(declared[tool])
    return _by_name(tool[:200])


@lru_cache(maxsize=4_096)
def _by_name(tool: str) -> Effect:
    words = [word.lower() for word in _WORD.findall(tool)]
    if not words:
        return Effect.UNKNOWN
    first = next((word for word in words if word in _READ or word in _WRITE or word in _POLL), None)
    if first is None:
        return Effect.UNKNOWN
    # In a name that begins with a reading verb, later nouns that look like verbs do not write (`get_order`, `list_books`).
    if first in _WRITE or any(word in _WRITE and word not in _NOUNS for word in words if first in _READ):
        return Effect.WRITE
    return Effect.POLL if any(word in _POLL for word in words) else Effect.READ


_NOUNS = frozenset("order set post book return refund exchange commit push reply patch transfer move add".split())
