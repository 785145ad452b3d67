"""`HOST:PORT` as an option's value."""

from __future__ import annotations

from typing import Any

import click


class AddressType(click.ParamType):  # type: ignore[type-arg] # not generic in click 8.1
    """`HOST:PORT`, or `off`."""

    name = "address"

    def __init__(self, example: str) -> None:
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int] | None:
        """Read it."""
        if not isinstance(value, str):
            return value if value is None or isinstance(value, tuple) else self.fail("it is no text", param, ctx)
        if value == "off":
            return None
        host, colon, port = value.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isdecimal() or not port.isascii() or int(port[:6]) > 65_535:
            port = self._example.rpartition(":")[2]
            self.fail(f"{value!r} is neither HOST:PORT, like {self._example} or [::1]:{port}, nor `off`", param, ctx)
        return host, int(port)
