"""What is said where a framework is not installed."""

from __future__ import annotations

from otel_processor.errors import ConfigError


def missing(framework: str, install: str) -> ConfigError:
    """Return the error for an adapter whose framework cannot be imported.

    Args:
        framework: its name, as people say it.
        install: what `pip install` is given.
    """
    return ConfigError(f"this adapter needs {framework}, which cannot be imported; try: pip install '{install}'")
