"""What the README shows is what happens."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n\$ (.*?)\n(.*?)```", README, re.DOTALL)


def run(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    assert program == "otel-processor"
    done = subprocess.run(
        [sys.executable, "-m", "otel_processor", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(table: str) -> list[list[str]]:
    """The cells of a drawn table, whatever version of DuckDB drew it."""
    lines = [line for line in table.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines] or [table.split()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("readme")
    (made / "docs").symlink_to(ROOT / "docs")
    return made


def test_the_commands_answer_as_shown(folder: Path) -> None:
    assert len(CONSOLE) >= 4
    for command, shown in CONSOLE:
        assert rows(run(command, folder)) == rows(shown), command


def test_the_example_runs_can_be_made_again() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "docs/example/make_runs.py")], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert made == (ROOT / "docs/example/runs.jsonl").read_text(encoding="utf-8")


def test_the_lines_for_an_agent_run(tmp_path: Path) -> None:
    snippets = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    for snippet in snippets:
        ast.parse(snippet)
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(snippets)], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_setting_is_documented() -> None:
    code = (ROOT / "otel_processor/settings.py").read_text(encoding="utf-8")
    for name in set(re.findall(r"\"(OTEL_PROCESSOR_[A-Z_]+)\"", code)):
        # A name that ends so begins the names of many.
        assert f"`{name}`" in README or (name.endswith("_") and f"`{name}…`" in README)


def test_files_it_names_are_there() -> None:
    for name in re.findall(r"\]\((?!http)([^)#]+)\)|`([\w./-]+\.(?:md|py|yaml|jsonl))`", README):
        path = next(filter(None, name))
        if path not in {"agent.py", "spans.jsonl"}:
            assert (ROOT / path).exists(), path


def test_the_pictures_of_the_documents_are_there() -> None:
    named = [
        text.parent / name
        for text in (ROOT / "docs").rglob("*.md")
        for name in re.findall(r"!\[[^\]]*\]\(([^)#]+)\)", text.read_text("utf-8"))
    ]
    assert named
    assert [str(path) for path in named if not path.exists()] == []
