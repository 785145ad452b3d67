from __future__ import annotations

from pathlib import Path

import pytest

from otel_processor.errors import ConfigError
from otel_processor.privacy import kinds
from otel_processor.privacy.settings import CONTENT, PATTERNS, REDACT, privacy_of


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (CONTENT, PATTERNS, REDACT):
        monkeypatch.delenv(name, raising=False)


def test_secrets_go_and_content_stays_unless_something_is_said() -> None:
    privacy = privacy_of()
    assert privacy.keeps_content
    assert privacy.kinds == kinds.ALL


@pytest.mark.parametrize(
    ("text", "expected"),
    [("on", kinds.ALL), ("OFF", frozenset()), ("jwt, private_key", {"jwt", "private_key"}), ("", kinds.ALL)],
)
def test_kinds_can_be_chosen(monkeypatch: pytest.MonkeyPatch, text: str, expected: frozenset[str]) -> None:
    monkeypatch.setenv(REDACT, text)
    assert privacy_of().kinds == expected


def test_content_can_be_left_out_by_environment_and_by_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONTENT, "off")
    assert not privacy_of().keeps_content
    assert privacy_of(content=True).keeps_content
    monkeypatch.delenv(CONTENT)
    assert not privacy_of(content=False).keeps_content


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [(REDACT, "jwtt", "did you mean 'jwt'|jwt"), (REDACT, "on,off", "no kind of secret"), (CONTENT, "maybe", "use on or off")],
)
def test_what_cannot_be_used_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, text: str, told: str) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(ConfigError, match=told):
        privacy_of()


def test_own_patterns_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "patterns.toml"
    file.write_text("[patterns]\ncustomer = 'C-[0-9]{4}'\n")
    monkeypatch.setenv(PATTERNS, str(file))
    assert privacy_of().own == (("customer", "C-[0-9]{4}"),)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[patterns]\na = '('", "missing"),
        ("[patterns]\na = '(?=x)y'", "no look-around"),
        ("[patterns]\na = 'x*'", "fits the empty text"),
        ("[patterns]\na = 7", "no pattern"),
        ("[patterns]\nBig = 'x'", "cannot be a kind"),
        ("[patterns]\njwt = 'x'", "cannot be a kind"),
        ("a = 'x'", r"needs one table, \[patterns\]"),
        ("[patterns", "no TOML"),
    ],
)
def test_a_bad_pattern_is_refused_with_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "patterns.toml"
    file.write_text(text)
    monkeypatch.setenv(PATTERNS, str(file))
    with pytest.raises(ConfigError, match=told) as caught:
        privacy_of()
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(PATTERNS, str(tmp_path / "no.toml"))
    with pytest.raises(ConfigError, match=r"no\.toml, which cannot be read"):
        privacy_of()
