"""How durations and sizes are said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.errors import ConfigError
from otel_processor.retention import Retention, bytes_of, seconds_of

DAY = 86_400


@pytest.mark.parametrize(
    ("text", "seconds"), [("30d", 30 * DAY), ("12h", DAY / 2), (" 2 W ", 14 * DAY), ("1.5d", 1.5 * DAY), ("90s", 90), ("5m", 300)]
)
def test_a_duration_has_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert seconds_of(text, "--older-than") == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "0d", "1e9d", "30 days", "999999999d", "nan", "٣d", "1d2h"])
def test_what_is_no_duration_is_told_with_the_remedy(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--older-than is .*30d"):
        seconds_of(text, "--older-than")


@pytest.mark.parametrize(
    ("text", "size"),
    [("5GB", 5 * 10**9), ("500mb", 5 * 10**8), ("2 GiB", 2 << 30), ("1000 B", 1000), ("1.5k", 1500), ("1T", 10**12)],
)
def test_a_size_may_have_any_usual_unit(text: str, size: int) -> None:
    assert bytes_of(text, "--max-size") == size


@pytest.mark.parametrize("text", ["", "GB", "-5GB", "0", "5XB", "0.5", "99999999TB"])
def test_what_is_no_size_is_told_with_the_remedy(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--max-size is .*5GB"):
        bytes_of(text, "--max-size")


@pytest.mark.parametrize("text", ["5", "1000", "0.5", " 5 "])
def test_a_size_without_a_unit_is_refused_and_both_readings_are_offered(text: str) -> None:
    """Five bytes is nobody's limit: taken as such, it empties a database."""
    with pytest.raises(ConfigError, match=rf"which has no unit; say {text.strip()}GB or {text.strip()}MB"):
        bytes_of(text, "--max-size")


@given(st.text(max_size=20))
def test_any_text_is_understood_or_refused(text: str) -> None:
    for read in (seconds_of, bytes_of):
        try:
            assert read(text, "it") > 0
        except ConfigError:
            continue


def test_nothing_is_removed_unless_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_PROCESSOR_KEEP_DAYS", "OTEL_PROCESSOR_MAX_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert not Retention.from_environment().is_set
    monkeypatch.setenv("OTEL_PROCESSOR_KEEP_DAYS", "7.5")
    assert Retention.from_environment() == Retention(7.5 * DAY, None)
    monkeypatch.setenv("OTEL_PROCESSOR_MAX_SIZE", "2GB")
    assert Retention.from_environment() == Retention(7.5 * DAY, 2 * 10**9)


@pytest.mark.parametrize(
    ("name", "text"), [("KEEP_DAYS", "ever"), ("KEEP_DAYS", "-3"), ("KEEP_DAYS", "3h"), ("MAX_SIZE", "big"), ("MAX_SIZE", "5")]
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(f"OTEL_PROCESSOR_{name}", text)
    with pytest.raises(ConfigError, match=f"OTEL_PROCESSOR_{name} is '{text}'"):
        Retention.from_environment()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [("KEEP_DAYS", "0.01", "less than an hour"), ("MAX_SIZE", "9.9MB", "10MB at least"), ("MAX_SIZE", "5 B", "10MB at least")],
)
def test_a_setting_cannot_empty_a_database(monkeypatch: pytest.MonkeyPatch, name: str, text: str, says: str) -> None:
    monkeypatch.setenv(f"OTEL_PROCESSOR_{name}", text)
    with pytest.raises(ConfigError, match=f"OTEL_PROCESSOR_{name} is '{text}'.*{says}"):
        Retention.from_environment()


@pytest.mark.parametrize(
    ("retention", "says"),
    [
        (Retention(), "no run is removed by itself"),
        (Retention(DAY), "runs older than 1 day are removed"),
        (Retention(7.5 * DAY), "runs older than 7.5 days are removed"),
        (Retention(None, 5 * 10**9), "the oldest runs are removed where the database takes more than 5 GB"),
        (
            Retention(30 * DAY, 10**7),
            "runs older than 30 days are removed, and the oldest where the database takes more than 10 MB",
        ),
    ],
)
def test_what_goes_is_said_in_a_sentence(retention: Retention, says: str) -> None:
    assert str(retention) == says
