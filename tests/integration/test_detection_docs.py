"""What `docs/detection.md` shows is what holds."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from otel_processor.model import Pattern, StopReason
from otel_processor.policy import Policy
from otel_processor.policy_file import load_policy
from tests.integration import processes

TEXT = (processes.ROOT / "docs/detection.md").read_text(encoding="utf-8")
FILE = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)[0]


def test_its_policy_file_has_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(FILE, encoding="utf-8")
    loaded = load_policy(path)
    assert replace(loaded, task_types={}) == Policy()
    assert loaded.for_task_type("monitoring").hard_loop_poll_repeats == 60


def test_what_its_policy_file_leaves_out_can_be_set(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(re.sub(r"^# (?=max|timeout|preset)", "", FILE, flags=re.MULTILINE), encoding="utf-8")
    assert (load_policy(path).max_steps, load_policy(path).timeout_seconds) == (20, 600.0)


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_its_policy_file_names_every_field(name: str) -> None:
    assert re.search(rf"^(?:# |\[)?{name}\b", FILE, re.MULTILINE)


def test_it_names_every_pattern_and_the_reason_of_each() -> None:
    for pattern in Pattern:
        assert f"| `{pattern}` |" in TEXT
    for reason in StopReason:
        if reason.startswith("loop_detected:"):
            assert f"`{reason}`" in TEXT or f"`{reason.removeprefix('loop_detected:')}`" in TEXT, reason
