"""What `docs/guard.md` shows is what happens."""

from __future__ import annotations

import re

from otel_processor.model import Action, Mode
from otel_processor.presets import PRESETS
from tests.integration import processes

TEXT = (processes.ROOT / "docs/guard.md").read_text(encoding="utf-8")


def test_its_examples_run() -> None:
    snippets = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    out, errors = processes.finish(processes.start("\n".join(snippets), preamble=""))
    assert errors == ""
    assert "The run was stopped: loop_detected:repeated_tool_signature." in out
    assert "stopped: loop_detected:repeated_tool_signature\n" in out
    assert out.endswith("\ncontinue\nloop_detected:repeated_tool_signature\n")


def test_it_names_every_mode_action_and_preset() -> None:
    for name in (*Mode, *Action, *PRESETS):
        assert f"| `{name}`" in TEXT, name
