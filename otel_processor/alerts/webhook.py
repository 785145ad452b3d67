"""A generic webhook: JSON by POST, signed over the time and the body, so that nobody else can send one or send it again later."""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from otel_processor.alerts.inert import inert
from otel_processor.alerts.notice import Notice
from otel_processor.alerts.sink import Outcome, sink_name
from otel_processor.version import package_version

if TYPE_CHECKING:
    from email.message import Message

TIMEOUT_SECONDS = 10.0
"""For everything together, from the name of the host to the head of the answer."""

TIMESTAMP = "X-Otel-Processor-Timestamp"
SIGNATURE = "X-Otel-Processor-Signature"
DELIVERY = "X-Otel-Processor-Delivery"

_SPARED = "%/:?#[]@!$&'()*+,;=~|\\^`{}<>\""
_LONGEST_RETRY_AFTER = 3_600.0
_TOO_MANY = 429
_TRY_LATER = frozenset({408, 425, _TOO_MANY})


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a message: `v1=` and the hex HMAC-SHA256 of `TIMESTAMP.BODY` under the secret."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"v1={digest}"


class Webhook:
    """Posts notices to one address. Redirects are not followed: the address is the one that was given."""

    def __init__(
        self,
        url: str,
        secret: str | None = None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Set up the sink.

        Args:
            url: http or https; a name and password in it are sent as basic authorisation.
            secret: key of the signature; None: messages are not signed.
            timeout_seconds: for one message, everything together.
            clock: seconds since the epoch, for the signature.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        shown = f"[{host}]" if ":" in host else host
        if parts.port is not None:
            shown += f":{parts.port}"
        self.name = sink_name(parts.scheme, shown, url)
        # What is no ASCII is written with %, and what is written so already stays.
        path, query = quote(parts.path or "/", _SPARED), quote(parts.query, _SPARED)
        self._url = urlunsplit((parts.scheme, shown.encode("idna").decode() if ":" not in host else shown, path, query, ""))
        self._authorization = _basic(parts.username, parts.password)
        self._secret = secret
        self._timeout = timeout_seconds
        self._clock = clock

    def send(self, notice: Notice) -> Outcome:
        """Try once; the body of the answer is not read."""
        body = json.dumps(notice.as_json(), ensure_ascii=True, separators=(",", ":")).encode()
        timestamp = str(int(self._clock()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"otel-processor/{package_version()}",
            "Connection": "close",
            TIMESTAMP: timestamp,
            # Ids are hashes of ours; whatever else they were, a header has no second line.
            DELIVERY: inert(notice.notice_id, 64).encode("ascii", "replace").decode(),
        }
        if self._secret is not None:
            headers[SIGNATURE] = sign(self._secret, timestamp, body)
        if self._authorization is not None:
            headers["Authorization"] = self._authorization
        request = urllib.request.Request(self._url, body, headers, method="POST")  # noqa: S310 - http and https only, see settings
        watch = _Watch(self._timeout)
        try:
            with watch, _opener(watch).open(request, timeout=self._timeout) as answer:
                return _outcome(answer.status, answer.headers, self._clock())
        except urllib.error.HTTPError as error:
            with error:
                return _outcome(error.code, error.headers, self._clock())
        except (OSError, http.client.HTTPException, ValueError) as error:
            if watch.is_over or isinstance(_inner(error), TimeoutError):
                return Outcome(False, f"no answer within {self._timeout:g} s")
            return Outcome(False, _reason(error))


def _outcome(status: int, headers: Message, now: float) -> Outcome:
    if 200 <= status < 300:
        return Outcome(True, answered=True)
    if 300 <= status < 400:
        return Outcome(False, f"it answered {status}: redirects are not followed, give the new address", answered=True)
    retry_after = _retry_after(headers.get("Retry-After"), now) if status == _TOO_MANY or status >= 500 else None
    only_this = 400 <= status < 500 and status not in _TRY_LATER
    return Outcome(False, f"it answered {status}", retry_after_seconds=retry_after, answered=only_this)


def _retry_after(text: str | None, now: float) -> float | None:
    """Return seconds from what the header says: a number of them, or a date."""
    if text is None:
        return None
    try:
        seconds = float(text) if text.strip().isdigit() else email.utils.parsedate_to_datetime(text).timestamp() - now
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER)


def _inner(error: Exception) -> object:
    return error.reason if isinstance(error, urllib.error.URLError) else error


def _reason(error: Exception) -> str:
    """Return what went wrong without the address: only what the system or the protocol says."""
    inner = _inner(error)
    if isinstance(inner, OSError) and inner.strerror:
        return f"{type(inner).__name__}: {inner.strerror}"
    return type(inner).__name__


def _basic(name: str | None, password: str | None) -> str | None:
    if name is None:
        return None
    pair = f"{unquote(name)}:{unquote(password or '')}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"


class _Watch:
    """Cuts the connection when the time for one message is over: a receiver that answers byte by byte would hold us for hours."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._until = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def connect(self, address: tuple[str, int], _timeout: object = None, _source: object = None) -> socket.socket:
        """Connect to the first address of a host that answers; all of them share the time that is left."""
        error: OSError = TimeoutError("no address of the host answered in time")
        for family, kind, protocol, _, found in socket.getaddrinfo(*address, 0, socket.SOCK_STREAM):
            left = self._until - time.monotonic()
            if left <= 0:
                break
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(left)
                connection.connect(found)
            except OSError as refused:
                connection.close()
                error = refused
                continue
            self.add(connection)
            return connection
        raise error

    def add(self, connection: socket.socket | None) -> None:
        """Watch a connection."""
        with self._lock:
            if connection is not None:
                self._sockets.append(connection)
            is_late = self.is_over
        if is_late:
            self._cut()

    def _cut(self) -> None:
        with self._lock:
            self.is_over = True
            for connection in self._sockets:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> urllib.request.Request | None:
        del req, fp, code, msg, headers, newurl
        return None


def _opener(watch: _Watch) -> urllib.request.OpenerDirector:
    """Return what opens connections that are watched; proxies of the environment are used."""

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            self._create_connection = watch.connect
            super().connect()

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            self._create_connection = watch.connect
            super().connect()
            # What it was wrapped into has the descriptor now.
            watch.add(self.sock)

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Plain, req)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Secure, req)

    return urllib.request.build_opener(PlainHandler, SecureHandler, _NoRedirect)
