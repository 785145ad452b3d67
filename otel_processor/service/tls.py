"""TLS: a certificate and its key, looked at before anything is opened and read again when their files change."""

from __future__ import annotations

import logging
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import grpc  # type: ignore[import-untyped]

from otel_processor.errors import ConfigError

_log = logging.getLogger("otel_processor.service")

CERT_OPTION, KEY_OPTION, CLIENT_CA_OPTION = "--tls-cert", "--tls-key", "--tls-client-ca"

_NO_TIME = {9: "is not valid yet: look at its dates, and at the clock of this machine", 10: "has expired: renew it"}
"""What OpenSSL says of a certificate's dates. Source: `X509_V_ERR_…` in its manual."""

_NO_SERVER = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """Where they are, all in PEM."""

    cert: Path
    """The certificate, and those between it and its authority."""
    key: Path
    """Its private key, not encrypted."""
    client_ca: Path | None = None
    """The authorities of senders' certificates; None: senders need none."""


def tls_files(cert: Path | None, key: Path | None, client_ca: Path | None) -> TlsFiles | None:
    """Return what was given, or None where that is nothing.

    Raises:
        ConfigError: one of them is missing.
    """
    if cert is None and key is None:
        if client_ca is not None:
            raise ConfigError(f"{CLIENT_CA_OPTION} needs {CERT_OPTION} and {KEY_OPTION} as well")
        return None
    if cert is None or key is None:
        raise ConfigError(f"{CERT_OPTION} and {KEY_OPTION} go together; give both")
    return TlsFiles(cert=cert, key=key, client_ca=client_ca)


class Certificate:
    """What both doors show of themselves. Thread-safe.

    A file that changes is read again by `refresh`; the authorities of senders are read once.
    """

    def __init__(self, files: TlsFiles) -> None:
        """Read the files.

        Raises:
            ConfigError: they cannot be used; the message names the file and the remedy.
        """
        self._files = files
        self._lock = threading.Lock()
        self._stamp = _stamp(files)
        self._authorities = _text(files.client_ca, CLIENT_CA_OPTION) if files.client_ca is not None else None
        self.context, self.expires_at = _checked(files)
        """For servers over `ssl`, and the second since the epoch when the certificate ends."""
        if files.client_ca is not None:
            _trust(self.context, files.client_ca)
        self._grpc_news: Any = self._for_grpc()

    def grpc_credentials(self) -> Any:
        """Return the same for a gRPC server."""
        return grpc.dynamic_ssl_server_credentials(self._grpc_news, self._take_news, self._authorities is not None)

    def refresh(self) -> None:
        """Read the files again if they have changed; what cannot be used is said in the log, and the old one is shown on."""
        stamp = _stamp(self._files)
        if stamp == self._stamp:
            return
        try:
            _, expires_at = _checked(self._files)
            self.context.load_cert_chain(self._files.cert, self._files.key)
            with self._lock:
                self._grpc_news = self._for_grpc()
        except (ConfigError, OSError) as error:
            _log.warning("the certificate has changed and is not used: %s", error)
        else:
            self.expires_at = expires_at
            _log.warning("the certificate has changed and is used for new connections")
        self._stamp = stamp

    def _for_grpc(self) -> Any:
        pair = (_text(self._files.key, KEY_OPTION), _text(self._files.cert, CERT_OPTION))
        return grpc.ssl_server_certificate_configuration([pair], self._authorities)

    def _take_news(self) -> Any:
        """Called by gRPC for each connection, on threads of its own; None: go on with what is known."""
        with self._lock:
            news, self._grpc_news = self._grpc_news, None
        return news


def _checked(files: TlsFiles) -> tuple[ssl.SSLContext, float]:
    """Return a context that shows the certificate, and when that ends; a handshake in memory has shown that it works."""
    _hold_pem(files.cert, CERT_OPTION, b"-----BEGIN CERTIFICATE-----", "certificate")
    _hold_pem(files.key, KEY_OPTION, b"PRIVATE KEY-----", "private key")

    def refuse_password() -> NoReturn:
        raise ConfigError(
            f"{KEY_OPTION} {files.key} is encrypted; give a plain one that only this user can read: "
            "`openssl pkey -in ENCRYPTED -out PLAIN`"
        )

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(files.cert, files.key, password=refuse_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise ConfigError(f"{KEY_OPTION} {files.key} is not the key of {CERT_OPTION} {files.cert}; give its own") from None
        why = error.reason or "no PEM"
        raise ConfigError(f"{CERT_OPTION} {files.cert} and {KEY_OPTION} {files.key} cannot be read: {why}") from None
    return context, _shake_hands(context, files.cert)


def _shake_hands(server: ssl.SSLContext, cert: Path) -> float:
    """Connect to it within memory, as a client that trusts this certificate itself; return when that ends."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(cert)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server.wrap_bio(to_server, to_client, server_side=True)
    theirs = client.wrap_bio(to_client, to_server)
    try:
        for side in (theirs, ours, theirs, ours, theirs):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
        told = theirs.getpeercert() or {}
        return float(ssl.cert_time_to_seconds(str(told["notAfter"])))
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in _NO_TIME:
            raise ConfigError(f"the certificate {cert} {_NO_TIME[error.verify_code]}") from None
        if error.verify_code == _NO_SERVER:
            raise ConfigError(f"the certificate {cert} is not made for servers; take one for `serverAuth`") from None
        raise ConfigError(f"clients would refuse the certificate {cert}: {error.verify_message}") from None
    except (ssl.SSLError, ValueError, KeyError) as error:
        raise ConfigError(f"the certificate {cert} cannot be used: {getattr(error, 'reason', None) or error}") from None


def _trust(context: ssl.SSLContext, authorities: Path) -> None:
    context.verify_mode = ssl.CERT_REQUIRED
    _hold_pem(authorities, CLIENT_CA_OPTION, b"-----BEGIN CERTIFICATE-----", "certificate")
    try:
        context.load_verify_locations(authorities)
    except ssl.SSLError as error:
        raise ConfigError(f"{CLIENT_CA_OPTION} {authorities} cannot be read: {error.reason or 'no PEM'}") from None


def _hold_pem(path: Path, option: str, mark: bytes, what: str) -> None:
    if mark not in _text(path, option):
        raise ConfigError(f"{option} {path} holds no {what} in PEM; give a text file that has a line with {mark.decode()}")


def _text(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{option} {path} cannot be read: {error.strerror or error}") from None


def _stamp(files: TlsFiles) -> tuple[object, ...]:
    """What changes when a file does."""
    found: list[object] = []
    for path in (files.cert, files.key):
        try:
            known = path.stat()
            found += (known.st_mtime_ns, known.st_ino, known.st_size)
        except OSError:
            found.append(None)
    return tuple(found)
