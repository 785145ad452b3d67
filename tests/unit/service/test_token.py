"""The bearer token."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_processor.errors import ConfigError
from otel_processor.service.token import VARIABLE, brings, load_token


def test_where_the_token_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file goes before the environment; without both no token is asked for."""
    monkeypatch.delenv(VARIABLE, raising=False)
    assert load_token(None) is None
    monkeypatch.setenv(VARIABLE, " of-the-environment\n")
    assert load_token(None) == "of-the-environment"
    file = tmp_path / "token"
    file.write_text("of-the-file\n")
    assert load_token(file) == "of-the-file"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"), (b" \n", "is empty"), (b"two words", "holds 2 words"), (b"\xff\xfe", "no text"),
        ("ñ".encode(), "not ASCII"),
        (b"x" * 5_000, "5,000 characters"), (b"a\0b", "control characters"),
    ],
)  # fmt: skip
def test_what_is_no_token_is_refused_early(tmp_path: Path, content: bytes, says: str) -> None:
    """An empty file does not open the door to everybody; the message says what is wrong, and does not show what is in it."""
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=f"token file.*{says}") as caught:
        load_token(file)
    assert "two words" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "is_good"),
    [
        ("Bearer secret", True),
        ("bearer secret", True),
        (b"Bearer secret", True),
        ("Bearer  secret ", True),
        ("Bearer Secret", False),
        ("Bearer secret2", False),
        ("Basic secret", False),
        ("secret", False),
        ("Bearer", False),
        ("", False),
        (None, False),
        ("Bearer \xf1", False),
    ],
)
def test_who_brings_it(header: str | bytes | None, is_good: bool) -> None:
    """Only the right word after `Bearer`."""
    assert brings("secret", header) is is_good
    assert brings(None, header)
