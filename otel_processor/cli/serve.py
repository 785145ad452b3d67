"""`otel-processor serve`: takes OTLP from agents in other processes, and answers when it is stored."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from otel_processor.cli.address import AddressType
from otel_processor.cli.options import content_option, db_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from otel_processor.cli.page_beside import PageBeside
    from otel_processor.service.doors import Address
    from otel_processor.service.service import ServiceSettings

_MISSING = "serve needs more packages: pip install 'otel-processor[serve]'"
_LOOK_SECONDS = 1.0


def _tls_option(name: str, variable: str, text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(name, type=click.Path(dir_okay=False, path_type=Path), envvar=variable, show_envvar=True, help=text)


@click.command()
@db_option
@click.option(
    "--grpc", "grpc_at", type=AddressType("127.0.0.1:4317"), default="127.0.0.1:4317", show_default=True,
    help="HOST:PORT that takes OTLP over gRPC, or `off`.",
)  # fmt: skip
@click.option(
    "--http", "http_at", type=AddressType("127.0.0.1:4318"), default="127.0.0.1:4318", show_default=True,
    help="HOST:PORT that takes OTLP over HTTP, or `off`.",
)  # fmt: skip
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with the bearer token that senders must bring; that of OTEL_PROCESSOR_TOKEN when left out.",
)
@_tls_option("--tls-cert", "OTEL_PROCESSOR_TLS_CERT", "The certificate for TLS on both doors, with its chain, in PEM.")
@_tls_option("--tls-key", "OTEL_PROCESSOR_TLS_KEY", "Its private key in PEM, not encrypted.")
@_tls_option(
    "--tls-client-ca", "OTEL_PROCESSOR_TLS_CLIENT_CA", "Authorities in PEM: senders must bring a certificate of one of them."
)
@click.option(
    "--dashboard", "page_at", type=AddressType("127.0.0.1:8501"), default="off", show_default=True,
    help="HOST:PORT that the dashboard is served on, or `off`; it has no login, so keep it local.",
)  # fmt: skip
@click.option(
    "--mode",
    type=click.Choice(["observe", "nudge", "enforce"]),
    help="How far the guard goes with agents that ask it over HTTP; OTEL_PROCESSOR_MODE, or observe, when left out.",
)
@content_option
def serve(
    db: Path,
    *,
    grpc_at: tuple[str, int] | None,
    http_at: tuple[str, int] | None,
    page_at: tuple[str, int] | None,
    token_file: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    mode: str | None,
    content: bool | None,
) -> None:
    """Take OTLP traces from agents in any language.

    They come straight from SDKs or through a Collector, and so do logs of coding agents. A request is answered with success once
    what it brings is stored; what cannot be stored now is refused with a delay, and senders send it again. Other logs, and
    metrics, are accepted and left alone. Alerts are told from here, as the environment says. Agents that ask before they call a
    tool are answered at /v1/guard/….
    Ctrl-C, or SIGTERM, stores and answers what was accepted, and ends.
    """
    from otel_processor.errors import ConfigError

    if grpc_at is None and http_at is None:
        raise ConfigError("with --grpc off and --http off there is nothing to serve")
    page = _page_beside(db, page_at)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # What is removed by itself is told here as well: nobody was asked.
    logging.getLogger("otel_processor.recording.housekeeping").setLevel(logging.INFO)
    # Unless it is told before its import, gRPC logs what strangers put into their frames, as it came, a line for every one whose
    # handshake fails, and an address that is taken before we say so.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        from otel_processor.service.doors import Address
        from otel_processor.service.service import Service, ServiceSettings
        from otel_processor.service.tls import tls_files
        from otel_processor.service.token import load_token
        from otel_processor.service.tuning import tune
    except ImportError as error:
        raise ConfigError(f"{_MISSING} ({error})") from None
    from otel_processor.alerts.settings import AlertSettings
    from otel_processor.policy_file import policy_of
    from otel_processor.privacy.settings import privacy_of
    from otel_processor.retention import Retention
    from otel_processor.settings import load_settings, mode_of

    alerts = AlertSettings.from_environment()
    if page is not None and alerts.dashboard_url is None:
        alerts = replace(alerts, dashboard_url=page.address)
    settings = ServiceSettings(
        db=db,
        grpc=Address(*grpc_at) if grpc_at is not None else None,
        http=Address(*http_at) if http_at is not None else None,
        policy=policy_of(None),
        mode=mode_of(mode),
        token=load_token(token_file),
        tls=tls_files(tls_cert, tls_key, tls_client_ca),
        patience_seconds=load_settings().busy_timeout_seconds,
        alerts=alerts,
        retention=Retention.from_environment(),
        privacy=privacy_of(content=content),
    )
    service = Service(settings)
    tune()
    ending = threading.Event()
    before = {number: signal.signal(number, lambda *_: ending.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    service.start()
    if page is not None:
        page.start()
    _tell(settings, service.addresses, page)
    _warn(settings, service.addresses, page_at)
    try:
        while not ending.wait(_LOOK_SECONDS) and service.is_up:
            pass
    finally:
        # Whoever asks a second time does not want to wait.
        for number, handler in before.items():
            signal.signal(number, handler)
        done = service.stop()
        if page is not None:
            page.stop()
    click.echo(f"ended; {', '.join(f'{name} {number:,}' for name, number in service.counts.all().items()) or 'nothing came'}")
    if not done:
        # A thread that is still inside the database would abort the interpreter's own end.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
    if not ending.is_set():
        click.get_current_context().exit(1)


def _page_beside(db: Path, at: tuple[str, int] | None) -> PageBeside | None:
    from otel_processor.cli.page_beside import PageBeside
    from otel_processor.errors import ConfigError

    if at is None:
        return None
    if not at[1]:
        raise ConfigError("--dashboard takes a port of its own, like 127.0.0.1:8501; 0 is none")
    return PageBeside(db, *at)


def _tell(settings: ServiceSettings, addresses: dict[str, Address], page: PageBeside | None) -> None:
    has_tls = settings.tls is not None
    for name, address in addresses.items():
        door, scheme = ("gRPC", "") if name == "grpc" else ("HTTP", "https://" if has_tls else "http://")
        click.echo(f"OTLP over {door}{' with TLS' if has_tls else ''}: {scheme}{address}")
    if page is not None:
        click.echo(f"dashboard: {page.address}")
    what = "" if settings.privacy.keeps_content else ", hashes and lengths of content only"
    if settings.retention.is_set:
        click.echo(str(settings.retention))
    click.echo(f"stored in {settings.db}{what}; Ctrl-C ends")


def _warn(settings: ServiceSettings, addresses: dict[str, Address], page_at: tuple[str, int] | None) -> None:
    """Say what strangers can do where the service listens for more than this machine."""
    from otel_processor.service.doors import Address

    if not all(address.is_local for address in addresses.values()):
        if settings.token is None and (settings.tls is None or settings.tls.client_ca is None):
            click.echo("Warning: anybody who reaches this address can write; set --token-file or OTEL_PROCESSOR_TOKEN", err=True)
        if settings.tls is None:
            what = "spans" if settings.token is None else "the token and spans"
            click.echo(f"Warning: {what} cross the network as plain text; set --tls-cert and --tls-key", err=True)
    if page_at is not None and not Address(*page_at).is_local:
        click.echo("Warning: anybody who reaches the dashboard's address can read all that agents did", err=True)
