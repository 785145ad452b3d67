"""Names that say that a secret stands under them: of attributes, of arguments, of headers, of variables, in texts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from otel_processor.privacy.kinds import is_random

HEAD: Final = (
    r"(?i)(passw(?:or)?d|passphrase|pwd|secret|token|authorization|cookie|x-(?:amz|goog)-signature"
    r"|(?:api|private|secret|access|signing|encryption|master|account|auth|subscription)[_ -]?key)"
)
"""How such a name ends, in a text."""

ASSIGNED: Final = r"\\*[\"']?\]?(?:\s|\\[nrt])*(?:=>|:=|[:=])(?:\s|\\[nrt])*"
"""What stands between a name and its value, in JSON, also JSON within JSON, in programs, headers and addresses."""

_SEPARATORS: Final = re.compile("[^a-z0-9]+")

_SURE: Final = (
    "password", "passwd", "passphrase", "secret", "apikey", "privatekey", "secretkey", "accesskey", "signingkey",
    "encryptionkey", "masterkey", "accountkey", "authkey", "subscriptionkey", "accesstoken", "refreshtoken", "idtoken",
    "authtoken", "bearertoken", "sessiontoken", "securitytoken", "bottoken", "authorization", "setcookie", "xamzsignature",
    "xgoogsignature",
)  # fmt: skip
"""How names end, in lower case and without separators, under which nothing else stands."""

_LIKELY: Final = ("token", "cookie", "pwd")
"""How names end under which a secret may stand: what looks drawn by lot is one."""

_OTHERWISE: Final = re.compile("page|next|continu|cursor|sync|start|stop|pad|eos|bos|unk|mask|sep|cls|csrf|cancel|count")
"""In front of `token`, of another kind."""

_LEAST_LIKELY_CHARS: Final = 16

_BLANK: Final = re.compile(
    r"\$\{?[\w.]+\}?|\$\(.*\)|<.*>|\{\{.*\}\}|\{[\w.]*\}|%[\w(]+\)?s?|[*\u2022xX.\-_#?]+|\[redacted.*|\[withheld.*"
    r"|(?i:null|none|true|false|string|str|undefined|required|optional|any|password|passwd|secret|token|api[_-]?key|bearer|basic"
    r"|your[_-].*|changeme|example)",
    re.DOTALL,
)
"""Stands where a secret would."""


@lru_cache(maxsize=4_096)
def _certainty(name: str) -> int:
    plain = _SEPARATORS.sub("", name.lower())
    if plain.endswith(_SURE):
        return 2
    if plain.endswith(_LIKELY) and not _OTHERWISE.search(plain):
        return 1
    return 0


def is_secret(name: str, value: str) -> bool:
    """Return whether a value is a secret by the name that it stands under."""
    certainty = _certainty(name[-100:])
    if not certainty or not value or _BLANK.fullmatch(value.strip()[:200]) or value.isspace():
        return False
    return certainty == 2 or (len(value) >= _LEAST_LIKELY_CHARS and is_random(value))


def may_hold_secret(name: str) -> bool:
    """Return whether a secret may stand under a name."""
    return _certainty(name[-100:]) > 0
