"""Everything that the package `apprise` reaches: chat services, mail, pagers; one URL each."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from otel_processor.alerts.inert import inert
from otel_processor.alerts.notice import Kind, Notice
from otel_processor.alerts.settings import URLS
from otel_processor.alerts.sink import Outcome, sink_name
from otel_processor.errors import ConfigError

MISSING = f"{URLS} needs the package apprise: pip install 'otel-processor[alerts]'"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}(?=://)")
_HOST_FIRST = re.compile(r"\{schema\}://(?:[^/@]*@)?\{host\}")
_PIECES = re.compile(r"[/:@?&=,;#]+")
_MENTION = re.compile(r"[@!<](?=\S)")
"""How services, and apprise for some of them, begin one: `@everyone`, `<!channel>`, `!here>`, `<users/all>`."""
_SHORTEST_SECRET = 4
_ERROR_CHARS = 200

_LOGGERS = ("apprise", "urllib3.connectionpool", "requests", "requests_oauthlib", "oauthlib")
"""They log addresses, and with them tokens, for those who look closely."""


class AppriseSink:
    """Sends notices through one apprise URL."""

    def __init__(self, url: str, position: int = 1, *, given_as: str = URLS) -> None:
        """Set up the sink; nothing is sent.

        Args:
            url: as apprise writes it.
            position: of the URL where it was given, to name it by in an error.
            given_as: what that is called.

        Raises:
            ConfigError: apprise is not installed, or does not know the URL.
        """
        try:
            import apprise
        except ImportError as error:
            raise ConfigError(MISSING) from error
        self._url = url
        with _quiet():
            # No time limit of its own: it would take threads that keep the agent from ending.
            asset = apprise.AppriseAsset(service_timeout=0, http_redirects=False, app_id="otel-processor", app_url="")
            plugin = apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)
        scheme = _SCHEME.match(url)
        if plugin is None:
            said = f" (it begins with {scheme[0]}://)" if scheme else " (it has no scheme)"
            raise ConfigError(
                f"URL {position} of {given_as}{said} is none that apprise knows; their forms: https://appriseit.com/services/"
            )
        self._apprise = apprise.Apprise(asset=asset)
        self._apprise.add(plugin)
        self.name = sink_name(scheme[0].lower() if scheme else "apprise", _open_host(plugin), url)
        self._secrets = _secrets(url, plugin)

    def send(self, notice: Notice) -> Outcome:
        """Try once; apprise gives each connection four seconds unless the URL says otherwise."""
        kinds = {Kind.ALERT: "failure" if notice.severity == "critical" else "warning", Kind.RECOVERY: "success"}
        with _quiet() as said:
            try:
                done = self._apprise.notify(
                    title=_without_mentions(notice.title()),
                    body=_without_mentions(notice.text()),
                    notify_type=kinds.get(notice.kind, "info"),
                    body_format="text",
                    interpret_escapes=False,
                )
            except Exception as error:  # noqa: BLE001 - plugins of many hands
                return Outcome(False, type(error).__name__)
        if done:
            return Outcome(True)
        return Outcome(False, self._reason(said))

    def _reason(self, said: list[str]) -> str:
        """Return what apprise says of it, without any part of the URL."""
        text = inert(" ".join(said), 4 * _ERROR_CHARS) or "apprise could not deliver it, and does not say why"
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text[:_ERROR_CHARS]


def _open_host(plugin: Any) -> str | None:
    """Return the host of a URL, or None where a token may stand in its place."""
    templates = getattr(plugin, "templates", ())
    host = getattr(plugin, "host", None)
    if not templates or not isinstance(host, str) or not all(_HOST_FIRST.match(each) for each in templates):
        return None
    port = getattr(plugin, "port", None)
    return f"{host}:{port}" if port else host


def _secrets(url: str, plugin: Any) -> list[str]:
    """Return the parts of a URL that nobody else may see, the longest first."""
    scheme, _, rest = url.partition("://")
    pieces = {piece for text in (rest, unquote(rest)) for piece in (*_PIECES.split(text), text)}
    host = _open_host(plugin)
    spared = {scheme, *(host.split(":") if host else ())}
    return sorted((piece for piece in pieces - spared if len(piece) >= _SHORTEST_SECRET), key=len, reverse=True)


def _without_mentions(text: str) -> str:
    """Return the text in which nothing calls all members of a channel."""
    return _MENTION.sub("\\g<0>\u2060", text)


_sending = threading.local()


class _Discretion(logging.Filter):
    """Keeps what is logged while we send out of the host's log; warnings are collected."""

    def filter(self, record: logging.LogRecord) -> bool:
        said: list[str] | None = getattr(_sending, "said", None)
        if said is None:
            return True
        if record.levelno >= logging.WARNING and len(said) < 5:
            said.append(record.getMessage())
        return False


_discretion = _Discretion()


@contextlib.contextmanager
def _quiet() -> Iterator[list[str]]:
    """Keep what apprise logs on this thread to ourselves; gives its warnings."""
    for name in _LOGGERS:
        # A filter that is there is not added again.
        logging.getLogger(name).addFilter(_discretion)
    said: list[str] = []
    _sending.said = said
    try:
        yield said
    finally:
        _sending.said = None
