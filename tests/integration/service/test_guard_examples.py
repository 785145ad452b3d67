"""The agents of `docs/example` in other languages are stopped by a real service, where their tools are at hand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.integration import processes
from tests.integration.service.serving import serving
from tests.integration.stored import eventually, rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EXAMPLES = processes.ROOT / "docs/example"
PACKAGES = ("typescript@7.0.2", "@types/node@22.20.7")
REASON = "loop_detected:repeated_tool_signature"
TOKEN = "a-word"


def done_by(command: Sequence[str | Path], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A command that must end well."""
    everything = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")} | env
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=everything, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done


def run(command: Sequence[str | Path], folder: Path, **env: str) -> str:
    """What a command prints that must end well."""
    return done_by(command, folder, **env).stdout


def is_stopped(command: Sequence[str | Path], folder: Path, db: Path) -> None:
    """Let the agent loop against a service that wants a token, and look at what it was told and what is stored of it."""
    with serving(db, "--mode", "enforce", env={"OTEL_PROCESSOR_TOKEN": TOKEN}) as service:
        env = {"OTEL_PROCESSOR_URL": f"http://127.0.0.1:{service.http_port}", "OTEL_PROCESSOR_TOKEN": TOKEN}
        lines = run(command, folder, **env).splitlines()
        steps = [line.split(maxsplit=3) for line in lines if re.match(r"\d", line)]
        assert [step[:2] for step in steps] == [
            ["1", "continue"], ["2", "continue"], ["3", "nudge"], ["4", "nudge"], ["5", "stop"],
        ]  # fmt: skip
        assert steps[-1][2] == REASON
        assert "The goal is still: find the invoice of May." in steps[2][3]
        eventually(lambda: rows(db, "from runs"), seconds=10, what="the run")
        goes_on_unguarded(done_by(command, folder, **env | {"OTEL_PROCESSOR_TOKEN": "another"}), "token")
    assert rows(db, "select stop_reason from runs") == [(REASON,)]
    assert rows(db, "select pattern, action, resolved_at is null from alerts") == [("hard_loop", "stop", False)]
    goes_on_unguarded(done_by(command, folder, **env), "refused")


def goes_on_unguarded(done: subprocess.CompletedProcess[str], why: str) -> None:
    """It comes to its own end without a guard, and says each time that it has none."""
    assert [line.split()[1] for line in done.stdout.splitlines() if re.match(r"\d", line)] == ["continue"] * 20
    said = done.stderr.splitlines()
    assert len(said) >= 60
    assert all(line.startswith("not guarded, going on: ") and why in line.lower() for line in said), said[:3]


def ends_with_one_line(command: Sequence[str | Path], folder: Path, address: str) -> None:
    """It says what is wrong with the address, and does not begin."""
    env = {**os.environ, "OTEL_PROCESSOR_URL": address}
    done = subprocess.run(list(map(str, command)), cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f'OTEL_PROCESSOR_URL is "{address}", which is no address like http://127.0.0.1:4318\n'


def is_short(path: Path) -> bool:
    return len(path.read_text(encoding="utf-8").splitlines()) <= 40


def test_the_one_in_typescript(db: Path, tmp_path: Path) -> None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not installed")
    if int(run([node, "--version"], tmp_path).lstrip("v").partition(".")[0]) < 18:
        pytest.skip("node is older than 18, the first with fetch")
    example = EXAMPLES / "guard.ts"
    assert is_short(example)
    try:
        run([npm, "install", "--no-audit", "--no-fund", "--prefer-offline", *PACKAGES], tmp_path)
    except AssertionError as error:
        pytest.skip(f"npm has no TypeScript: {error}")
    # Node strips types itself from 22.18 on; the compiler also checks them.
    options = "--strict --target es2022 --module es2022 --moduleResolution bundler --moduleDetection force --types node"
    run(
        [tmp_path / "node_modules/.bin/tsc", *options.split(), "--typeRoots", "node_modules/@types", "--outDir", ".", example],
        tmp_path,
    )
    (tmp_path / "guard.js").rename(tmp_path / "guard.mjs")
    is_stopped([node, "guard.mjs"], tmp_path, db)


def test_the_one_in_go(db: Path, tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed")
    example = EXAMPLES / "guard.go"
    assert is_short(example)
    run([go, "build", "-o", tmp_path / "agent", example], tmp_path)
    assert run([go, "vet", example], tmp_path) == ""
    for address in ("127.0.0.1:4318", "localhost:4318", "http://"):
        ends_with_one_line([tmp_path / "agent"], tmp_path, address)
    is_stopped([tmp_path / "agent"], tmp_path, db)
