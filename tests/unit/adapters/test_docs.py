"""`docs/enforcement.md` names every adapter as it is."""

from __future__ import annotations

import ast
import pkgutil
import re
from pathlib import Path

from otel_processor import adapters

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/enforcement.md").read_text(encoding="utf-8")


def public(module: str) -> set[str]:
    """What a module defines for others; read, since its framework may be missing."""
    tree = ast.parse((ROOT / f"otel_processor/adapters/{module}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")}


def test_what_it_imports_is_there() -> None:
    shown = re.findall(r"from otel_processor\.adapters\.(\w+) import (\w+)", TEXT)
    for module, name in shown:
        assert name in public(module), module
    with_frameworks = {module.name for module in pkgutil.iter_modules(adapters.__path__)} - {"missing", "hooked_calls"}
    assert {module for module, _ in shown} == with_frameworks


def test_its_examples_are_python() -> None:
    for snippet in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        ast.parse(snippet)
