"""Every text exists in every language, says the same values, and is used."""

from __future__ import annotations

import ast
import string
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dashboard
from dashboard import language
from otel_processor.model import Pattern, StopReason
from tests.dashboard.conftest import overview, parameter, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(dashboard.__file__).parent
OTHERS = [code for code in language.LANGUAGES if code != language.ENGLISH]


def values_in(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def asked_for() -> Iterator[tuple[str, str]]:
    """Every key that the code names in full, with the place."""
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
                continue
            key = node.args[0]
            if node.func.id in {"t", "counted"} and isinstance(key, ast.Constant):
                place = f"{path.relative_to(FOLDER)}:{node.lineno}"
                name = str(key.value)
                yield (f"{name}.other" if node.func.id == "counted" else name), place


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_has_the_texts_that_english_has_with_the_same_values(code: str) -> None:
    english, other = language.catalogue(language.ENGLISH).texts, language.catalogue(code).texts
    assert sorted(english) == sorted(other)
    assert {key for key in english if values_in(english[key]) != values_in(other[key])} == set()


@pytest.mark.parametrize("code", language.LANGUAGES)
def test_no_text_is_empty_and_counted_ones_have_both_forms(code: str) -> None:
    known = language.catalogue(code).texts
    assert [key for key, text in known.items() if not text.strip()] == []
    assert [key for key in known if key.endswith(".one") and f"{key.removesuffix('.one')}.other" not in known] == []


def test_every_key_that_the_code_asks_for_is_in_the_catalogue() -> None:
    found = list(asked_for())
    assert len(found) > 50
    assert [(key, place) for key, place in found if not language.has(key)] == []


def test_patterns_and_stop_reasons_have_a_name_in_every_language() -> None:
    for code in language.LANGUAGES:
        known = language.catalogue(code).texts
        assert [name for name in Pattern if f"pattern.{name}" not in known] == []
        assert [name for name in StopReason if f"stop_reason.{name}" not in known] == []


def test_a_page_speaks_the_language_of_its_address(seeded_db: Path) -> None:
    page = overview(lang="es")
    assert not page.exception
    assert page.title[0].value == "Resumen"
    assert "Por qué terminaron" in texts(page)


def test_switching_the_language_changes_page_and_address_and_stays(seeded_db: Path) -> None:
    page = overview()
    switch = next(control for control in page.segmented_control if control.label == "Language")
    switch.set_value("es").run()
    assert page.title[0].value == "Resumen"
    assert parameter(page, "lang") == "es"
    page.switch_page("views/run.py").run()
    assert page.title[0].value == "Ejecución"


def test_a_language_that_there_is_not_is_english(seeded_db: Path) -> None:
    page = overview(lang="xx")
    assert not page.exception
    assert page.title[0].value == "Overview"


def test_numbers_have_the_comma_of_their_language() -> None:
    assert language.catalogue("en").number("1,234.5") == "1,234.5"
    assert language.catalogue("es").number("1,234.5") == "1.234,5"
