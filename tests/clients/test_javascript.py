"""The OpenTelemetry SDK of JavaScript → `serve` → SQL. `make clients` installs its packages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.clients.told import SERVICE, assert_told, made_by, sender
from tests.integration.processes import ROOT
from tests.integration.service.serving import serving

NODE = shutil.which("node")
PACKAGES = Path(os.environ.get("NODE_PATH") or ROOT / ".clients" / "node_modules")

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(NODE is None, reason="needs node"),
    pytest.mark.skipif(not PACKAGES.joinpath("@opentelemetry").exists(), reason="needs its packages: `make clients`, with npm"),
]


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf", "http/json"])
def test_an_agent_in_javascript(db: Path, protocol: str) -> None:
    """Its exporter's own encoding and compression, and its way to bring a token."""
    with serving(db, env=SERVICE) as service:
        env = sender(service, protocol) | {"NODE_PATH": str(PACKAGES)}
        assert_told(db, made_by([str(NODE), str(Path(__file__).with_name("agent.cjs"))], env))
