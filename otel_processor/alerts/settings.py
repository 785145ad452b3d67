"""Who is told of alerts, and how often: in code, or from the environment."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlencode, urlsplit

from otel_processor.alerts.plan import SEVERITIES, DeliveryPlan
from otel_processor.errors import ConfigError

URLS = "OTEL_PROCESSOR_ALERT_URLS"
WEBHOOK = "OTEL_PROCESSOR_ALERT_WEBHOOK"
SECRET = "OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
DASHBOARD = "OTEL_PROCESSOR_DASHBOARD_URL"
SEVERITY = "OTEL_PROCESSOR_ALERT_MIN_SEVERITY"
COOLDOWN = "OTEL_PROCESSOR_ALERT_COOLDOWN"
PER_MINUTE = "OTEL_PROCESSOR_ALERT_PER_MINUTE"

REMEDY = f"set {URLS} (anything that apprise reaches) or {WEBHOOK}; docs/alerts.md has examples"

_MOST_URLS = 20
_LONGEST_LINK = 1_000
_BETWEEN_URLS = re.compile(r"\s*,\s*(?=[A-Za-z][A-Za-z0-9+.-]*://)|\s+")
_LONGEST_COOLDOWN = 7 * 86_400.0
_MOST_PER_MINUTE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """Where alerts are delivered. URLs and the secret are left out of its text.

    Raises:
        ConfigError: a value cannot be used; the message names the setting, and never the value of one that may be secret.
    """

    urls: tuple[str, ...] = field(default=(), repr=False)
    """Apprise URLs (`OTEL_PROCESSOR_ALERT_URLS`, between spaces or commas)."""
    webhook: str | None = field(default=None, repr=False)
    """An address that gets JSON by POST (`OTEL_PROCESSOR_ALERT_WEBHOOK`)."""
    webhook_secret: str | None = field(default=None, repr=False)
    """Key of the signature (`OTEL_PROCESSOR_ALERT_WEBHOOK_SECRET`); None: messages are not signed."""
    dashboard_url: str | None = None
    """Where the dashboard is to be found, for links (`OTEL_PROCESSOR_DASHBOARD_URL`)."""
    min_severity: str = "warning"
    """`warning` or `critical` (`OTEL_PROCESSOR_ALERT_MIN_SEVERITY`)."""
    cooldown_seconds: float = 300.0
    """How long the same run and pattern is not told again (`OTEL_PROCESSOR_ALERT_COOLDOWN`)."""
    per_minute: int = 10
    """Messages that one sink gets in a minute (`OTEL_PROCESSOR_ALERT_PER_MINUTE`)."""

    def __post_init__(self) -> None:
        self._check_urls()
        self._check_webhook()
        if self.dashboard_url is not None:
            _check_address(self.dashboard_url, f"{DASHBOARD} (dashboard_url)")
        if self.min_severity not in SEVERITIES:
            raise ConfigError(f"{SEVERITY} (min_severity) is {self.min_severity!r}; use one of {', '.join(SEVERITIES)}")
        if not isinstance(self.cooldown_seconds, int | float) or not 0 <= self.cooldown_seconds <= _LONGEST_COOLDOWN:
            raise ConfigError(f"{COOLDOWN} (cooldown_seconds) takes seconds from 0 to {_LONGEST_COOLDOWN:.0f}")
        if not isinstance(self.per_minute, int) or not 1 <= self.per_minute <= _MOST_PER_MINUTE:
            raise ConfigError(f"{PER_MINUTE} (per_minute) takes a whole number from 1 to {_MOST_PER_MINUTE}")

    def _check_urls(self) -> None:
        if not isinstance(self.urls, tuple | list) or not all(isinstance(url, str) and url for url in self.urls):
            raise ConfigError(f"{URLS} (urls) takes a list of URLs, each with its scheme")
        if not all(_is_text(url) for url in self.urls):
            raise ConfigError(f"{URLS} (urls) has bytes that are no UTF-8 text; write them with %, for example %C3%B1")
        object.__setattr__(self, "urls", tuple(dict.fromkeys(self.urls)))
        if len(self.urls) > _MOST_URLS:
            raise ConfigError(f"{URLS} (urls) has {len(self.urls)} URLs; {_MOST_URLS} is the most, send to a relay from there")

    def _check_webhook(self) -> None:
        if self.webhook is not None:
            _check_address(self.webhook, f"{WEBHOOK} (webhook)")
        if self.webhook_secret is None:
            return
        if self.webhook is None:
            raise ConfigError(f"{SECRET} (webhook_secret) signs nothing without {WEBHOOK}; set both")
        if not _is_text(self.webhook_secret):
            raise ConfigError(f"{SECRET} (webhook_secret) takes a UTF-8 text that is not empty; leave it out to sign nothing")

    @classmethod
    def from_environment(cls) -> Self:
        """Read `OTEL_PROCESSOR_ALERT_…` and `OTEL_PROCESSOR_DASHBOARD_URL`.

        Raises:
            ConfigError: a value cannot be used; the message names the variable.
        """
        return cls(
            urls=tuple(filter(None, _BETWEEN_URLS.split(_text(URLS)))),
            webhook=_text(WEBHOOK) or None,
            webhook_secret=_text(SECRET) or None,
            dashboard_url=_text(DASHBOARD) or None,
            min_severity=_text(SEVERITY).lower() or "warning",
            cooldown_seconds=_number(COOLDOWN, 300.0),
            per_minute=_whole(_number(PER_MINUTE, 10.0)),
        )

    @property
    def has_sinks(self) -> bool:
        """Whether anything is delivered anywhere."""
        return bool(self.urls or self.webhook)

    def plan(self, sinks: tuple[str, ...]) -> DeliveryPlan:
        """Return what the write path is to know of it: the sinks by name."""
        return DeliveryPlan(sinks, self.min_severity, self.cooldown_seconds)

    def link_of(self, run_id: str | None) -> str | None:
        """Return the address of a run's page, or None where the dashboard's is not known or the run's id is endless."""
        if self.dashboard_url is None or not run_id:
            return None
        known = run_id.encode("utf-8", "backslashreplace").decode()
        link = f"{self.dashboard_url.rstrip('/')}/run?{urlencode({'run': known})}"
        # A service refuses a message that is too long, and a link that is cut leads nowhere.
        return link if len(link) <= _LONGEST_LINK else None


def _text(name: str) -> str:
    return os.environ.get(name, "").strip()


def _number(name: str, default: float) -> float:
    text = _text(name)
    if not text:
        return default
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{name} is {text!r}; it takes a number") from None


def _whole(number: float) -> int:
    # One that is not is refused with the others.
    return int(number) if number.is_integer() else 0


def _is_text(value: object) -> bool:
    """Return whether a value can be sent: what the environment has in bytes of another encoding cannot."""
    try:
        return isinstance(value, str) and bool(value.encode())
    except UnicodeEncodeError:
        return False


def _check_address(url: str, what: str) -> None:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and url.isprintable() and " " not in url
        _ = parts.port
        # As it will be looked up: an empty label, or one that is too long, never is.
        (parts.hostname or "").encode("idna")
    except (ValueError, AttributeError, TypeError):
        is_good = False
    if not is_good:
        raise ConfigError(f"{what} is no web address; write it with its scheme, for example https://example.com/hook")
