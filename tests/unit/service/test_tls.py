"""The files of a certificate: what cannot work is refused in one line that names the remedy."""

from __future__ import annotations

import logging
import ssl
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from otel_processor.errors import ConfigError
from otel_processor.service.tls import Certificate, TlsFiles, tls_files
from tests.unit.service.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.made_in(tmp_path / "authority")


def missing(files: TlsFiles) -> TlsFiles:
    return replace(files, key=files.key.with_name("nowhere.key"))


def swapped(files: TlsFiles) -> TlsFiles:
    return replace(files, cert=files.key, key=files.cert)


def no_pem(files: TlsFiles) -> TlsFiles:
    files.cert.write_bytes(ssl.PEM_cert_to_DER_cert(files.cert.read_text()[: files.cert.read_text().index("-----END") + 25]))
    return files


def spoilt(files: TlsFiles) -> TlsFiles:
    files.cert.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    return files


def encrypted(files: TlsFiles) -> TlsFiles:
    key = load_pem_private_key(files.key.read_bytes(), None)
    files.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"a word")))
    return files


def of_another(files: TlsFiles) -> TlsFiles:
    return replace(files, key=Authority.made_in(files.cert.parent / "other").issue().key)


def no_authority(files: TlsFiles) -> TlsFiles:
    return replace(files, client_ca=files.key)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (missing, "--tls-key .*nowhere.key cannot be read: No such file"),
        (swapped, "--tls-cert .* holds no certificate in PEM"),
        (no_pem, "--tls-cert .* holds no certificate in PEM"),
        (spoilt, "cannot be read: "),
        (encrypted, "is encrypted; .*openssl pkey"),
        (of_another, "is not the key of --tls-cert"),
        (no_authority, "--tls-client-ca .* holds no certificate"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_work_is_refused(authority: Authority, spoil: Callable[[TlsFiles], TlsFiles], says: str) -> None:
    """Before anything listens, with the option and the file."""
    files = spoil(authority.issue())
    with pytest.raises(ConfigError, match=says) as caught:
        Certificate(files)
    assert "\n" not in str(caught.value)


def test_dates_are_looked_at(authority: Authority) -> None:
    """One that has ended, or has not begun, is of no use to any client."""
    with pytest.raises(ConfigError, match="has expired: renew it"):
        Certificate(authority.issue(days=-1, since_days=9))
    with pytest.raises(ConfigError, match="is not valid yet"):
        Certificate(authority.issue(since_days=-2))
    until = Certificate(authority.issue(days=30)).expires_at - time.time()
    assert 29.9 * 86_400 < until < 30.1 * 86_400


def test_options_go_together(authority: Authority) -> None:
    """A half of them would mean a door without TLS, or none."""
    files = authority.issue()
    assert tls_files(None, None, None) is None
    assert tls_files(files.cert, files.key, None) == files
    for cert, key, ca in ((files.cert, None, None), (None, files.key, None), (None, None, authority.path)):
        with pytest.raises(ConfigError, match="--tls-cert and --tls-key"):
            tls_files(cert, key, ca)


def test_nothing_older_than_tls_1_2(authority: Authority) -> None:
    """Over HTTP; gRPC knows no older one."""
    assert Certificate(authority.issue()).context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_change_that_cannot_be_used_changes_nothing(authority: Authority, caplog: pytest.LogCaptureFixture) -> None:
    """It is said once; the next good one is taken."""
    files = authority.issue(days=30)
    certificate = Certificate(files)
    ends = certificate.expires_at
    with caplog.at_level(logging.WARNING):
        certificate.refresh()
        files.cert.write_text("being written")
        certificate.refresh()
        certificate.refresh()
    assert (certificate.expires_at, len(caplog.records)) == (ends, 1)
    authority.issue(days=60)
    certificate.refresh()
    assert certificate.expires_at > ends
