"""Importing the package costs an agent nothing."""

from __future__ import annotations

import pytest

from tests.integration import processes

HEAVY = (
    "duckdb",
    "pyarrow",
    "streamlit",
    "plotly",
    "opentelemetry",
    "orjson",
    "click",
    "pandas",
    "numpy",
    "genai_prices",
    "pydantic",
)

_LOADED = """
import sys
{statement}
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


def loaded(statement: str) -> set[str]:
    out, _ = processes.finish(processes.start(_LOADED.format(statement=statement), preamble=""))
    return set(out.split())


def test_the_package_alone_loads_nothing_heavy() -> None:
    assert loaded("import otel_processor").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "statement", ["import otel_processor.processor", "from otel_processor import LoopSpanProcessor, Policy, Alert"]
)
def test_the_processor_does_not_load_the_database(statement: str) -> None:
    assert loaded(statement).isdisjoint({"duckdb", "pyarrow", "streamlit", "plotly", "click"})


@pytest.mark.parametrize("statement", ["import otel_processor.instrumentation", "import otel_processor.auto"])
def test_the_entry_points_load_the_database_only_when_it_is_written(statement: str) -> None:
    assert loaded(statement).isdisjoint({"duckdb", "pyarrow", "streamlit", "plotly", "grpc", "click", "genai_prices"})


def test_every_public_name_can_be_used() -> None:
    out, _ = processes.finish(
        processes.start(
            "import otel_processor as p\n"
            "print(all(getattr(p, name) is not None for name in p.__all__), set(p.__all__) <= set(dir(p)))",
            preamble="",
        )
    )
    assert out == "True True\n"
