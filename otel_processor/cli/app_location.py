"""Where the dashboard's pages lie: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import otel_processor
from otel_processor.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType


def app_parent() -> Path:
    """Return the folder that holds the package `dashboard`.

    Raises:
        ConfigError: this installation has no pages.
    """
    package = Path(otel_processor.__file__).resolve().parent
    for folder in (package / "_app", package.parent):
        if (folder / "dashboard" / "launch.py").is_file():
            return folder
    raise ConfigError("this installation has no dashboard pages; install it again: pip install 'otel-processor[dashboard]'")


def launch_module() -> ModuleType:
    """Load `dashboard/launch.py` by its path: a folder of that name elsewhere on the import path must not be taken for it."""
    path = app_parent() / "dashboard" / "launch.py"
    spec = importlib.util.spec_from_file_location("otel_processor_dashboard_launch", path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} cannot be loaded; install it again: pip install 'otel-processor[dashboard]'")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
