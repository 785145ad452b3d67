"""The installed version."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def package_version() -> str:
    """Return the version of the installed distribution."""
    try:
        return version("otel-processor")
    except PackageNotFoundError:
        return "0"
