"""How commands end: one line for what went wrong, quiet for Ctrl-C and for a reader that went away."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from otel_processor.errors import ConfigError, NoDatabaseError, OtelProcessorError, QueryError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_INTERRUPTED = 130


class Failure(click.ClickException):
    """A command that ends with a message because of the data or the database."""

    exit_code = 1


class UsageFailure(click.ClickException):
    """A command that ends with a message because of the way it was called."""

    exit_code = 2


class CarefulGroup(click.Group):
    """A command group that never shows a traceback for what can be expected to go wrong."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the commands in the order in which they were added: the tour comes first."""
        del ctx
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn expected errors into one line and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
            ctx.exit(0)
        except OtelProcessorError as error:
            kind = UsageFailure if isinstance(error, ConfigError | QueryError | NoDatabaseError) else Failure
            raise kind(str(error)) from error
        except OSError as error:
            raise Failure(_in_one_line(error)) from error
        return result

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run as a program: like click's own, but Ctrl-C ends with 130 and says nothing."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        _write_any_character()
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            with contextlib.suppress(BrokenPipeError):
                error.show()
            code = error.exit_code
        except click.Abort:
            code = EXIT_INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def _in_one_line(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def _write_any_character() -> None:
    """Let a terminal that cannot show a character show a question mark, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain that its reader is gone."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
