"""The part of `doctor` that looks at this Python: versions, extras, entry points, environment variables."""

from __future__ import annotations

import importlib.util
import os
import platform
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import TYPE_CHECKING

from otel_processor.cli.checks import Check, ok, problem, warning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EXTRAS = {
    "dashboard": ("streamlit", "plotly", "pyarrow"),
    "cost": ("genai-prices",),
    "otlp": ("opentelemetry-exporter-otlp",),
    "auto": ("opentelemetry-distro",),
    "alerts": ("apprise",),
    "serve": (
        "starlette", "uvicorn", "grpcio", "grpcio-health-checking", "opentelemetry-proto", "googleapis-common-protos", "protobuf",
        "msgspec", "prometheus-client",
    ),
    "demo": ("pydantic-ai-slim",),
}  # fmt: skip
_ENTRY_POINTS = {"opentelemetry_traces_exporter": "duckdb", "opentelemetry_post_instrument": "otel_processor"}
_SHOWN_VARIABLES = {
    "OTEL_PROCESSOR_ALERT_COOLDOWN",
    "OTEL_PROCESSOR_ALERT_MIN_SEVERITY",
    "OTEL_PROCESSOR_ALERT_PER_MINUTE",
    "OTEL_PROCESSOR_DB",
    "OTEL_PROCESSOR_BUSY_TIMEOUT",
    "OTEL_PROCESSOR_CONTENT",
    "OTEL_PROCESSOR_KEEP_DAYS",
    "OTEL_PROCESSOR_MAX_SIZE",
    "OTEL_PROCESSOR_MODE",
    "OTEL_PROCESSOR_POLICY",
    "OTEL_PROCESSOR_PRESET",
    "OTEL_PROCESSOR_REDACT",
}
"""Others may hold a webhook's address or a token: that they are set is all that is told."""

_ZERO_CODE = (
    "OTEL_TRACES_EXPORTER=duckdb OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none opentelemetry-instrument python agent.py"
)


def look_at_installation(db: Path) -> Iterator[Check]:
    """Check what is installed and configured in this environment."""
    from otel_processor.version import package_version

    yield ok("otel-processor", f"{package_version()} on Python {platform.python_version()}")
    yield _sdk()
    yield _duckdb()
    yield from _extras()
    yield _entry_points()
    yield from _environment(db)


def _sdk() -> Check:
    from opentelemetry.sdk.trace import SpanProcessor

    found = _version("opentelemetry-sdk") or "of unknown version"
    if hasattr(SpanProcessor, "_on_ending"):
        return ok("opentelemetry-sdk", f"{found}; tags reach every exporter (has _on_ending)")
    return warning(
        "opentelemetry-sdk",
        f"{found}; has no _on_ending, so only exporters registered after ours see the tags",
        "pip install --upgrade opentelemetry-sdk",
    )


def _duckdb() -> Check:
    import duckdb

    if importlib.util.find_spec("pytz") is None and duckdb.__version__.startswith("1."):
        return problem("duckdb", f"{duckdb.__version__}; it needs pytz to hand out timestamps", "pip install pytz")
    return ok("duckdb", duckdb.__version__)


def _extras() -> Iterator[Check]:
    for extra, distributions in _EXTRAS.items():
        versions = {name: _version(name) for name in distributions}
        missing = [name for name, found in versions.items() if found is None]
        if missing:
            yield ok(f"extra {extra}", f"not installed ({', '.join(missing)}): pip install 'otel-processor[{extra}]'")
        else:
            yield ok(f"extra {extra}", ", ".join(f"{name} {found}" for name, found in versions.items()))


def _entry_points() -> Check:
    missing = [group for group, name in _ENTRY_POINTS.items() if not entry_points(group=group, name=name)]
    if missing:
        return warning(
            "entry points",
            f"not registered: {', '.join(missing)}; instrumenting without code will not find this package",
            "install the package (pip install otel-processor) instead of only putting it on the path",
        )
    return ok("entry points", "registered for opentelemetry-instrument")


def _environment(db: Path) -> Iterator[Check]:
    exporters = [name.strip() for name in os.environ.get("OTEL_TRACES_EXPORTER", "").split(",") if name.strip()]
    if "duckdb" in exporters and _version("opentelemetry-distro") is None:
        yield problem(
            "zero code",
            f"OTEL_TRACES_EXPORTER={','.join(exporters)}, but without opentelemetry-distro nothing is set up by it",
            "pip install 'otel-processor[auto]'",
        )
    elif exporters:
        note = "spans go into DuckDB" if "duckdb" in exporters else "without `duckdb` nothing comes here by itself"
        yield ok("zero code", f"OTEL_TRACES_EXPORTER={','.join(exporters)}; {note}")
    else:
        yield ok(
            "zero code",
            f"OTEL_TRACES_EXPORTER is not set; {_ZERO_CODE}",
        )
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        yield problem("environment", "OTEL_SDK_DISABLED=true: the SDK records no spans", "unset OTEL_SDK_DISABLED")
    ours = {name: value for name, value in sorted(os.environ.items()) if name.startswith("OTEL_PROCESSOR_")}
    if ours:
        told = (f"{name}={value}" if name in _SHOWN_VARIABLES else f"{name} is set" for name, value in ours.items())
        yield ok("environment", ", ".join(told))
    elsewhere = ours.get("OTEL_PROCESSOR_DB")
    if elsewhere and os.path.abspath(elsewhere) != os.path.abspath(db):  # noqa: PTH100 - names are compared, links are not followed
        yield warning(
            "environment",
            f"OTEL_PROCESSOR_DB names {elsewhere}, this looks at {db}",
            "agents started from here write to the former; use the same path for both",
        )


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
