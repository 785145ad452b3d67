"""What the texts tell people to install can be installed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from otel_processor.cli import installation

ROOT = Path(__file__).parents[2]
EXTRA = re.compile(r"otel-processor\[([^\]{]+)\]")
"""`otel-processor[…]`, but for one whose name is put in when the program runs."""


def known() -> dict[str, list[str]]:
    extras: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    return extras


def test_every_extra_that_a_text_names_is_there() -> None:
    places = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "pyproject.toml", *(ROOT / "docs").rglob("*.md")]
    for folder in ("otel_processor", "dashboard"):
        places += [path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".toml", ".md"}]
    named = {
        (name.strip(), str(path.relative_to(ROOT)))
        for path in places
        for several in EXTRA.findall(path.read_text(encoding="utf-8"))
        for name in several.split(",")
    }
    assert {place for _, place in named} >= {"pyproject.toml", "otel_processor/cli/serve.py", "dashboard/catalogues/en.toml"}
    assert {(name, place) for name, place in named if name not in known()} == set()


def test_what_doctor_says_of_an_extra_is_what_it_installs() -> None:
    for extra, distributions in installation._EXTRAS.items():
        brought = {re.split(r"[^A-Za-z0-9.-]", each)[0] for each in known()[extra]}
        assert set(distributions) <= brought, extra
