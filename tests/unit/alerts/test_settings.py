"""Who is told: wrong settings are refused early, named, and never shown where they may be secret."""

from __future__ import annotations

import os
from typing import Any

import pytest

from otel_processor.alerts.plan import DeliveryPlan
from otel_processor.alerts.settings import AlertSettings
from otel_processor.errors import ConfigError


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def test_nothing_is_set_by_default() -> None:
    settings = AlertSettings.from_environment()
    assert settings == AlertSettings()
    assert not settings.has_sinks
    assert settings.link_of("run-1") is None


def test_all_of_it_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "OTEL_PROCESSOR_ALERT_URLS": "tgram://a/b\n json://h/x?to=1,2 , mailto://u:p@h,slack://x/y/z",
        "OTEL_PROCESSOR_ALERT_WEBHOOK": "https://h.example/x",
        "OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET": "key",
        "OTEL_PROCESSOR_DASHBOARD_URL": "http://dash.example:8501",
        "OTEL_PROCESSOR_ALERT_MIN_SEVERITY": "Critical",
        "OTEL_PROCESSOR_ALERT_COOLDOWN": "0",
        "OTEL_PROCESSOR_ALERT_PER_MINUTE": "3",
    }.items():
        monkeypatch.setenv(name, text)
    assert AlertSettings.from_environment() == AlertSettings(
        urls=("tgram://a/b", "json://h/x?to=1,2", "mailto://u:p@h", "slack://x/y/z"),
        webhook="https://h.example/x",
        webhook_secret="key",
        dashboard_url="http://dash.example:8501",
        min_severity="critical",
        cooldown_seconds=0,
        per_minute=3,
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("OTEL_PROCESSOR_ALERT_WEBHOOK", "hush.example", "https://"),
        ("OTEL_PROCESSOR_ALERT_WEBHOOK", "ftp://hush.example/", "https://"),
        ("OTEL_PROCESSOR_ALERT_WEBHOOK", "http://hush.example:port/", "https://"),
        ("OTEL_PROCESSOR_ALERT_WEBHOOK", "http://hush example/", "https://"),
        ("OTEL_PROCESSOR_ALERT_WEBHOOK", "http://hush\u202e.example/", "https://"),
        ("OTEL_PROCESSOR_ALERT_WEBHOOK", "http://hush..example/", "https://"),
        ("OTEL_PROCESSOR_ALERT_WEBHOOK", f"http://{'hush' * 20}.example/", "https://"),
        ("OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET", "hush", "OTEL_PROCESSOR_ALERT_WEBHOOK; set both"),
        ("OTEL_PROCESSOR_ALERT_URLS", "json://hush/\udcff", "UTF-8"),
        ("OTEL_PROCESSOR_DASHBOARD_URL", "localhost:8501", "https://"),
        ("OTEL_PROCESSOR_ALERT_MIN_SEVERITY", "loud", "warning, critical"),
        ("OTEL_PROCESSOR_ALERT_COOLDOWN", "-1", "from 0 to"),
        ("OTEL_PROCESSOR_ALERT_COOLDOWN", "nan", "from 0 to"),
        ("OTEL_PROCESSOR_ALERT_COOLDOWN", "5 min", "takes a number"),
        ("OTEL_PROCESSOR_ALERT_PER_MINUTE", "0", "from 1 to"),
        ("OTEL_PROCESSOR_ALERT_PER_MINUTE", "2.5", "whole number"),
        ("OTEL_PROCESSOR_ALERT_PER_MINUTE", "inf", "whole number"),
        ("OTEL_PROCESSOR_ALERT_PER_MINUTE", "nan", "whole number"),
        ("OTEL_PROCESSOR_ALERT_URLS", " ".join(f"json://hush/{number}" for number in range(21)), "20 is the most"),
    ],
)
def test_a_wrong_value_is_refused_with_the_variable_and_the_remedy(
    name: str, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(ConfigError) as refused:
        AlertSettings.from_environment()
    assert name in str(refused.value)
    assert said in str(refused.value)
    assert "hush" not in str(refused.value)


def test_its_text_shows_no_secret() -> None:
    settings = AlertSettings(urls=("json://hush",), webhook="http://hush.example", webhook_secret="hush")
    assert "hush" not in f"{settings} {settings!r}"


def test_what_is_given_in_code_is_checked_as_well() -> None:
    hook: dict[str, object] = {"webhook": "http://h.example/"}
    wrongs: list[dict[str, Any]] = [
        *({"urls": urls} for urls in ("json://h", ("",), None, 5, ("json://h/\ud800",))),
        *({"webhook": webhook} for webhook in (5, b"http://h.example/", "")),
        *(hook | {"webhook_secret": secret} for secret in (5, "", "\udcff")),
        *({"per_minute": number} for number in (2.5, 2.0, "2", None)),
        *({"cooldown_seconds": seconds} for seconds in ("300", None, float("nan"))),
    ]
    for wrong in wrongs:
        with pytest.raises(ConfigError):
            AlertSettings(**wrong)


def test_a_link_that_no_service_would_take_is_left_out() -> None:
    settings = AlertSettings(dashboard_url="http://dash.example")
    assert settings.link_of("r" * 900) == f"http://dash.example/run?run={'r' * 900}"
    assert settings.link_of("r" * 50_000) is None


def test_a_plan_comes_back_from_where_it_waited() -> None:
    plan = DeliveryPlan(("a#1", "b#2"), "critical", 12.5)
    assert DeliveryPlan.of_row(plan.as_row()) == plan
    assert (plan.wants("warning"), plan.wants("critical"), DeliveryPlan().wants("critical")) == (False, True, False)
    for wrong in ({}, {"sinks": [1], "min_severity": ["warning"], "cooldown_seconds": [1]}):
        with pytest.raises((ValueError, KeyError)):
            DeliveryPlan.of_row(wrong)
