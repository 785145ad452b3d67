"""What the tests of all frameworks share."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import pytest

from otel_processor import bug_reports
from otel_processor.detection.run_state import RunState
from tests.frameworks.desk import Desk
from tests.integration.conftest import db, provider, temp_folder

# Some frameworks come with a client that asks for its prices when it is imported, and waits where there is no network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

__all__ = ["bug_of_ours", "db", "desk", "provider", "temp_folder"]


@pytest.fixture
def desk() -> Desk:
    """The tools that the agent of a test is given."""
    return Desk()


@pytest.fixture
def bug_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the guard is asked or told makes detection raise."""

    def fail(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(bug_reports, "_reported", {})
    for method in ("ask", "observe"):
        monkeypatch.setattr(RunState, method, fail)
