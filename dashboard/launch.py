"""What a launcher needs to start the dashboard in a process of its own; imports nothing of Streamlit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = Path(__file__).with_name("app.py")
HELD = Path(__file__).with_name("held.py")
LOOKS = Path(__file__).with_name("looks.toml")

_FLAGS = {
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "server.runOnSave": "false",
    "browser.gatherUsageStats": "false",
    "client.toolbarMode": "viewer",
    "client.showErrorDetails": "type",
    "client.showErrorLinks": "false",
}


def command(port: int, host: str, *, ends_with_starter: bool = False) -> list[str]:
    """Return the command that serves the dashboard on a host and port.

    `-P` keeps the working directory off the import path: a user's own `dashboard` folder there must not be taken for this one.

    Args:
        port: to listen on.
        host: to listen on.
        ends_with_starter: it ends when its standard input does; the starter gives it a pipe and holds that.
    """
    flags = {**_FLAGS, "server.port": str(port), "server.address": host, "theme.base": str(LOOKS)}
    return [
        sys.executable,
        "-P",
        *((str(HELD),) if ends_with_starter else ("-m",)),
        "streamlit",
        "run",
        str(APP),
        *(f"--{name}={value}" for name, value in flags.items()),
    ]


def environment(db: str, app_parent: str, *, python_path: str = "") -> dict[str, str]:
    """Return the variables to add to the environment of that command.

    Args:
        db: path of the database.
        app_parent: the folder that holds the package `dashboard`.
        python_path: what PYTHONPATH says already; kept, behind ours.
    """
    return {
        "OTEL_PROCESSOR_DB": db,
        "PYTHONPATH": os.pathsep.join(part for part in (app_parent, python_path) if part),
    }
