"""`otel-processor serve`: takes OTLP from agents in other processes, and answers when it is stored."""

from __future__ import annotations

import logging
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from otel_processor.cli.options import db_option

if TYPE_CHECKING:
    from otel_processor.service.doors import Address

_MISSING = "serve needs more packages: pip install 'otel-processor[serve]'"
_LOOK_SECONDS = 1.0


class _AddressType(click.ParamType):  # type: ignore[type-arg] # not generic in click 8.1
    """`HOST:PORT`, or `off`."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int] | None:
        """Read it."""
        if not isinstance(value, str):
            return value if value is None or isinstance(value, tuple) else self.fail("it is no text", param, ctx)
        if value == "off":
            return None
        host, colon, port = value.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isdecimal() or not port.isascii() or int(port[:6]) > 65_535:
            self.fail(f"{value!r} is neither HOST:PORT, like 127.0.0.1:4318 or [::1]:4318, nor `off`", param, ctx)
        return host, int(port)


@click.command()
@db_option
@click.option(
    "--grpc", "grpc_at", type=_AddressType(), default="127.0.0.1:4317", show_default=True,
    help="HOST:PORT that takes OTLP over gRPC, or `off`.",
)  # fmt: skip
@click.option(
    "--http", "http_at", type=_AddressType(), default="127.0.0.1:4318", show_default=True,
    help="HOST:PORT that takes OTLP over HTTP, or `off`.",
)  # fmt: skip
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with the bearer token that senders must bring; that of OTEL_PROCESSOR_TOKEN when left out.",
)
def serve(db: Path, grpc_at: tuple[str, int] | None, http_at: tuple[str, int] | None, token_file: Path | None) -> None:
    """Take OTLP traces from agents in any language.

    They come straight from SDKs or through a Collector. A request is answered with success once its spans are stored; what
    cannot be stored now is refused with a delay, and senders send it again. Logs and metrics are accepted and left alone.
    Alerts are told from here, as the environment says.
    Ctrl-C, or SIGTERM, stores and answers what was accepted, and ends.
    """
    from otel_processor.errors import ConfigError

    if grpc_at is None and http_at is None:
        raise ConfigError("with --grpc off and --http off there is nothing to serve")
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        from otel_processor.service.doors import Address
        from otel_processor.service.service import Service, ServiceSettings
        from otel_processor.service.token import load_token
        from otel_processor.service.tuning import tune
    except ImportError as error:
        raise ConfigError(f"{_MISSING} ({error})") from None
    from otel_processor.alerts.settings import AlertSettings
    from otel_processor.policy_file import policy_of
    from otel_processor.settings import load_settings

    settings = ServiceSettings(
        db=db,
        grpc=Address(*grpc_at) if grpc_at is not None else None,
        http=Address(*http_at) if http_at is not None else None,
        policy=policy_of(None),
        token=load_token(token_file),
        patience_seconds=load_settings().busy_timeout_seconds,
        alerts=AlertSettings.from_environment(),
    )
    service = Service(settings)
    tune()
    ending = threading.Event()
    before = {number: signal.signal(number, lambda *_: ending.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    service.start()
    _tell(db, service.addresses, has_token=settings.token is not None)
    try:
        while not ending.wait(_LOOK_SECONDS) and service.is_up:
            pass
    finally:
        # Whoever asks a second time does not want to wait.
        for number, handler in before.items():
            signal.signal(number, handler)
        done = service.stop()
    click.echo(f"ended; {', '.join(f'{name} {number:,}' for name, number in service.counts.all().items()) or 'nothing came'}")
    if not done or not ending.is_set():
        click.get_current_context().exit(1)


def _tell(db: Path, addresses: dict[str, Address], *, has_token: bool) -> None:
    for name, address in addresses.items():
        click.echo(f"OTLP over {'gRPC' if name == 'grpc' else 'HTTP'}: {'http://' if name == 'http' else ''}{address}")
    click.echo(f"stored in {db}; Ctrl-C ends")
    if not has_token and not all(address.is_local for address in addresses.values()):
        click.echo("Warning: anybody who reaches this address can write; set --token-file or OTEL_PROCESSOR_TOKEN", err=True)
