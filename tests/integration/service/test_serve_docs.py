"""The commands of `docs/serve.md` for a token and TLS work as they are copied."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.integration import processes
from tests.integration.service.serving import serving
from tests.integration.stored import rows

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (processes.ROOT / "docs/serve.md").read_text(encoding="utf-8")
SEND = """
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
provider.get_tracer("test").start_span("sent", attributes={"gen_ai.operation.name": "invoke_agent"}).end()
"""


def bash(script: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=processes.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_token_and_a_certificate_are_made_served_and_used(db: Path, tmp_path: Path) -> None:
    for tool in ("bash", "curl", "openssl"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    section = TEXT.partition("## TLS\n")[2].partition("## The dashboard")[0]
    made, served, sender, look = re.findall(r"```\n(.*?)```", section, re.DOTALL)
    bash(made, tmp_path)
    words = shlex.split(served.replace("\\\n", " "))
    given = dict(pairwise(words))
    options = [text for name in ("--token-file", "--tls-cert", "--tls-key") for text in (name, str(tmp_path / given[name]))]
    with serving(db, *options) as service:
        port = str(service.http_port)
        bash(f"{sender.replace('4318', port)}\n{shlex.join([sys.executable, '-c', SEND])}", tmp_path)
        assert rows(db, "select name from spans") == [("sent",)]
        assert bash(look.replace("4318", port), tmp_path).splitlines()[0].split()[1] == "200"
        (tmp_path / "token").write_text("another")
        assert bash(look.replace("4318", port), tmp_path).splitlines()[0].split()[1] == "401"
