"""An adapter whose framework is not there says what to install."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import pytest

from otel_processor import ConfigError, adapters

FRAMEWORKS = {
    "claude_agent_sdk": "claude_agent_sdk",
    "crewai": "crewai",
    "google_adk": "google.adk",
    "langchain": "langchain",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "smolagents": "smolagents",
    "strands": "strands",
}
"""What each adapter imports."""


def test_every_adapter_is_tried() -> None:
    assert {module.name for module in pkgutil.iter_modules(adapters.__path__)} - {"hooked_calls", "missing"} == set(FRAMEWORKS)


@pytest.mark.parametrize("adapter", sorted(FRAMEWORKS))
def test_without_its_framework_it_says_what_to_install(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(FRAMEWORKS[adapter] + ".")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, FRAMEWORKS[adapter], None)
    monkeypatch.delitem(sys.modules, f"otel_processor.adapters.{adapter}", raising=False)
    with pytest.raises(ConfigError, match="pip install"):
        importlib.import_module(f"otel_processor.adapters.{adapter}")
