"""The forms of secrets that are known by themselves: a prefix that only one provider uses, a block, a scheme.

Each form is the one that its provider documents, or issues. All are for RE2, which takes linear time whatever the text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final, NamedTuple

BEFORE: Final = r"(?:^|[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2})"
"""What may stand in front: no letter or digit, unless it belongs to an escape of JSON or of a URL."""

_RUN: Final = re.compile("[A-Za-z0-9]+")
_LONG_RUN, _LONG = 16, 40
_DIGIT: Final = re.compile("[0-9]")
_SOME_OF_EACH: Final = tuple(re.compile(f"(?:[^{each}]*+[{each}]){{4}}") for each in ("0-9", "A-Z", "a-z"))


def is_random(text: str) -> bool:
    """Return whether a text looks drawn by lot: letters and digits without a pause, as no word or name of a file has them."""
    if not _DIGIT.search(text):
        return False
    longest = max(_RUN.findall(text), key=len, default="")
    if len(longest) >= _LONG_RUN and any(map(str.isdigit, longest)) and any(map(str.isalpha, longest)):
        return True
    return len(text) >= _LONG and all(some.match(text) for some in _SOME_OF_EACH)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def is_basic(text: str) -> bool:
    """Return whether a text is the base64 form of `user:password`."""
    try:
        return b":" in base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


class Kind(NamedTuple):
    """A form of secret."""

    name: str
    pattern: str
    """The secret itself, for RE2, without groups."""
    is_meant: Callable[[str], bool] | None = None
    """Says of a text of this form whether it is a secret; None: every one is."""
    is_alone: bool = False
    """Whether it is looked for by itself: it may go on for long before it turns out to be none, and is read again for each of
    the others that stands inside."""


TOKENS: Final = (
    Kind("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    Kind("langfuse_key", r"[sp]k-lf-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"),
    # What others begin with as well comes after them.
    Kind("openai_key", r"sk-[A-Za-z0-9_-]{20,}", is_random),
    Kind("stripe_key", r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    Kind("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    Kind("github_token", r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    Kind("gitlab_token", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|soat|agent)-[A-Za-z0-9_.-]{20,}"),
    Kind("google_key", r"(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{28})"),
    Kind("slack_token", r"(?:xox[abeoprs](?:\.xox[abp])?-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{20,})", _has_digit),
    Kind("slack_webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,}"),
    Kind("huggingface_token", r"hf_[A-Za-z0-9]{30,}"),
    Kind("groq_key", r"gsk_[A-Za-z0-9]{40,}"),
    Kind("xai_key", r"xai-[A-Za-z0-9]{60,}"),
    Kind("perplexity_key", r"pplx-[A-Za-z0-9]{40,}"),
    Kind("replicate_token", r"r8_[A-Za-z0-9]{37,}"),
    Kind("tavily_key", r"tvly-[A-Za-z0-9_-]{20,}", is_random),
    Kind("langsmith_key", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    Kind("pinecone_key", r"pcsk_[A-Za-z0-9_]{40,}"),
    Kind("npm_token", r"npm_[A-Za-z0-9]{36,}"),
    Kind("pypi_token", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    Kind("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    Kind("digitalocean_token", r"do[opr]_v1_[a-f0-9]{64}"),
    Kind("databricks_token", r"dapi[a-f0-9]{32}(?:-[0-9])?\b"),
    Kind("vault_token", r"hv[bs]\.[A-Za-z0-9_-]{24,}"),
    Kind("telegram_token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    Kind("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", is_alone=True),
)
"""Found wherever they stand. The first that fits says what it is."""

PRIVATE_KEY: Final = "private_key"
PRIVATE_KEY_BEGIN: Final = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
PRIVATE_KEY_END: Final = r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
PRIVATE_KEY_BODY: Final = re.compile(r"[A-Za-z0-9+/=\s\\]*")
"""What can belong to a key that was cut before its end."""

URL_PASSWORD: Final = "url_password"  # noqa: S105 - the name of a kind
URL_PASSWORD_PATTERN: Final = r"([a-zA-Z][a-zA-Z0-9+.-]*:\\*/\\*/[^\s/:@\"'<>\\]*:)([^\s/\"'<>\\]+)(@)"  # noqa: S105

AUTHORIZATION: Final = "authorization"
SCHEMES: Final = "bearer|basic|token|digest|negotiate"
AUTHORIZATION_PATTERN: Final = rf"(?i)((authorization[\s\\\"':=>,]{{1,24}})?\b({SCHEMES})\s+)([A-Za-z0-9._~+/=-]{{12,}})"
_WORDS_ELSEWHERE: Final = frozenset({"token", "digest"})
"""Schemes whose names stand in front of ids and hashes everywhere else."""

_NUMBER_OR_DATE: Final = re.compile(r"[0-9.,:_/+-]+|[0-9]{4}-[0-9]{2}-[0-9]{2}[T0-9:.Z+-]*")


def is_authorization(scheme: str, text: str, *, is_header: bool) -> bool:
    """Return whether what stands behind the name of a scheme is a credential.

    Args:
        scheme: in lower case.
        text: what stands there.
        is_header: whether `Authorization` stands in front.
    """
    if scheme == "basic":
        return is_basic(text)
    if is_header:
        return any(not character.isalpha() for character in text.rstrip(".-/"))
    if scheme in _WORDS_ELSEWHERE or _NUMBER_OR_DATE.fullmatch(text):
        return False
    return any(len(run) >= 6 and not run.isalpha() and not run.isdigit() for run in _RUN.findall(text))


PASSWORD: Final = "password"  # noqa: S105 - the name of a kind
"""What is known by the name that it stands under only."""

ALL: Final = frozenset({*(kind.name for kind in TOKENS), PRIVATE_KEY, URL_PASSWORD, AUTHORIZATION, PASSWORD})
"""The names of all kinds."""
