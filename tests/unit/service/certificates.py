"""Certificates of an authority that the test makes, as files."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trustme

from otel_processor.service.tls import TlsFiles

if TYPE_CHECKING:
    from pathlib import Path

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Authority:
    """An authority whose certificates are files in a folder."""

    folder: Path
    ca: trustme.CA

    @classmethod
    def made_in(cls, folder: Path) -> Authority:
        """Make one; its own certificate is `ca.pem`."""
        folder.mkdir(parents=True, exist_ok=True)
        found = cls(folder, trustme.CA())
        found.ca.cert_pem.write_to_path(str(found.path))
        return found

    @property
    def path(self) -> Path:
        """Its own certificate."""
        return self.folder / "ca.pem"

    def issue(self, name: str = "server", *, days: int = 30, since_days: int = 1) -> TlsFiles:
        """Make a certificate for this machine that ends in so many days."""
        now = dt.datetime.now(dt.UTC)
        leaf = self.ca.issue_cert(HOST, not_before=now - dt.timedelta(days=since_days), not_after=now + dt.timedelta(days=days))
        files = TlsFiles(cert=self.folder / f"{name}.pem", key=self.folder / f"{name}.key")
        files.cert.write_bytes(b"".join(part.bytes() for part in leaf.cert_chain_pems))
        leaf.private_key_pem.write_to_path(str(files.key))
        return files
