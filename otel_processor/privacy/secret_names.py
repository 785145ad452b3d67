"""Names that say that a secret stands under them: of attributes, of arguments, of headers, of variables, in texts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from otel_processor.privacy.kinds import is_random
from otel_processor.privacy.places import ENTITY

_WHOSE: Final = (
    "db|database|smtp|mail|email|imap|ftp|sftp|ssh|mysql|pg|postgres|redis|mongo|rabbitmq|ldap|root|admin|login|sudo|become|vnc"
    "|wifi|require|account|keystore|truststore"
)
"""In front of `pass`, which says too little by itself: how many tests pass."""

HEAD: Final = (
    r"(?i)((?:passw(?:or)?d|passphrase|pwd|secret|token|authorization|cookie|x-(?:amz|goog)-signature"
    rf"|(?:{_WHOSE})[_-]?pass"
    r"|(?:api|private|secret|access|signing|encryption|master|account|auth|subscription)[_ -]?key)"
    r"(?:[_-]?(?:[0-9]{1,2}|confirm(?:ation)?|repeat(?:ed)?|again|value))?)"
)
"""How such a name ends, in a text."""

_QUOTE: Final = rf"(?:[\"']|{ENTITY})"

ASSIGNED: Final = rf"\\*{_QUOTE}?\]?(?:\s|\\[nrt])*(?:=>|:=|[:=])(?:\s|\\[nrt])*"
"""What stands between a name and its value, in JSON, also JSON within JSON, in programs, headers and addresses."""

LISTED: Final = rf"\\*{_QUOTE}(?:\s|\\[nrt])*,(?:\s|\\[nrt])*"
"""What stands between an option and its value in a list of arguments."""

LAST: Final = r"\\*[\"'](?:\s|\\[nrt])*\}"
"""What stands behind a name that comes after its value: `{"value": …, "name": "DB_PASSWORD"}`."""

VALUED: Final = rf"\\*{_QUOTE}(?:\s|\\[nrt])+value\s*=\s*"
"""What stands between a name and its value in two attributes of XML: `<add key="ApiKey" value="…"/>`."""

_SEPARATORS: Final = re.compile("[^a-z0-9]+")

_SURE: Final = (
    "password", "passwd", "passphrase", "secret", "apikey", "privatekey", "secretkey", "accesskey", "signingkey",
    "encryptionkey", "masterkey", "accountkey", "authkey", "subscriptionkey", "accesstoken", "refreshtoken", "idtoken",
    "authtoken", "bearertoken", "sessiontoken", "securitytoken", "bottoken", "authorization", "setcookie", "xamzsignature",
    "xgoogsignature", *(f"{whose}pass" for whose in _WHOSE.split("|")),
)  # fmt: skip
"""How names end, in lower case and without separators, under which nothing else stands."""

_ENDING: Final = re.compile("(?:[0-9]{1,2}|confirm(?:ation)?|repeat(?:ed)?|again|value)$")
"""What may follow: `password2`, `password_confirmation`."""

_LIKELY: Final = ("token", "cookie", "pwd")
"""How names end under which a secret may stand: what looks drawn by lot is one."""

_OTHERWISE: Final = re.compile("page|next|continu|cursor|sync|start|stop|pad|eos|bos|unk|mask|sep|cls|csrf|cancel|count")
"""In front of `token`, of another kind."""

_WORD_BEFORE: Final = re.compile(r"([A-Za-z]{3,20}) \Z")

_LEAST_LIKELY_CHARS: Final = 16

_JUDGED: Final = 4_096
"""Characters of a value that are looked at: no cookie is longer."""

_LONGEST_COUNT: Final = 7
_TOKENS: Final = re.compile("token[^a-z]*$", re.IGNORECASE)
"""What has counts under its name, `max_access_token`."""

_LONGEST_OPTION: Final = 64
_OPTION: Final = re.compile("--?[A-Za-z][A-Za-z0-9_.-]*")

_BLANK: Final = re.compile(
    r"\$\{?[\w.]+\}?|\$\(.*\)|<.*>|\{\{.*\}\}|\{[\w.]*\}|%[\w(]+\)?s?|[*\u2022\u2026xX.\-_#?]+|\[redacted.*|\[withheld.*"
    r"|%[A-Za-z_.]+%|@[A-Za-z_.-]+@|#\{[^{}]*\}"
    r"|(?i:null|none|true|false|yes|no|on|off|string|str|undefined|required|optional|any|passwords?|passwd|secrets?|tokens?"
    r"|api[_-]?keys?|bearer|basic"
    r"|your[_-].*|changeme|example)",
    re.DOTALL,
)
"""Stands where a secret would."""


@lru_cache(maxsize=4_096)
def _certainty(name: str) -> int:
    plain = _ENDING.sub("", _SEPARATORS.sub("", name.lower()))
    if plain.endswith(_SURE):
        return 2
    if plain.endswith(_LIKELY) and not _OTHERWISE.search(plain):
        return 1
    return 0


def is_secret(name: str, value: str) -> bool:
    """Return whether a value is a secret by the name that it stands under."""
    certainty = _certainty(name[-100:])
    value = value[:_JUDGED]
    if not certainty or not value or _BLANK.fullmatch(value.strip()[:200]) or value.isspace():
        return False
    if len(value) <= _LONGEST_COUNT and value.isdigit() and _TOKENS.search(name):
        return False
    return certainty == 2 or (len(value) >= _LEAST_LIKELY_CHARS and is_random(value))


def may_hold_secret(name: str) -> bool:
    """Return whether a secret may stand under a name."""
    return _certainty(name[-100:]) > 0


def is_option(text: str) -> bool:
    """Return whether an argument of a command is an option, `--password`, whose value comes next and may be a secret."""
    return text.startswith("-") and len(text) < _LONGEST_OPTION and _OPTION.fullmatch(text) is not None and may_hold_secret(text)


def is_kind_of_its_own(before: str, name: str) -> bool:
    """Return whether the word in front of `token` makes it one of another kind: `page token: …`."""
    word = _WORD_BEFORE.search(before)
    return word is not None and name.lower() == "token" and _OTHERWISE.match(word[1].lower()) is not None
