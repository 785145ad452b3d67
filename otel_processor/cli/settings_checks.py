"""The part of `doctor` that looks at what is kept: which runs are removed by themselves, and what of spans is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_processor.cli.checks import Check, ok, problem, warning
from otel_processor.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSED = "set it right: agents and `otel-processor serve` do not start with it"


def look_at_settings() -> Iterator[Check]:
    """Check what the environment says is removed, withheld and redacted."""
    from otel_processor.retention import KEEP_DAYS, MAX_SIZE, Retention

    try:
        retention = Retention.from_environment()
    except ConfigError as error:
        yield problem("retention", str(error), _REFUSED)
    else:
        how = "" if retention.is_set else f"; {KEEP_DAYS} or {MAX_SIZE} would"
        yield ok("retention", f"{retention}{how}")
    yield from _privacy()


def _privacy() -> Iterator[Check]:
    from otel_processor.privacy import kinds
    from otel_processor.privacy.settings import CONTENT, REDACT, privacy_of

    try:
        privacy = privacy_of()
    except ConfigError as error:
        yield problem("privacy", str(error), _REFUSED)
        return
    stored = "content is stored" if privacy.keeps_content else f"content is off ({CONTENT}): its hashes and lengths are stored"
    left = sorted(kinds.ALL - privacy.kinds)
    if not privacy.kinds and not privacy.own:
        yield warning(
            "privacy",
            f"{stored}; redaction is off ({REDACT}): secrets are stored as they come",
            f"unset {REDACT} to take them out",
        )
    elif left:
        yield ok("privacy", f"{stored}; secrets are taken out, but for these kinds ({REDACT}): {', '.join(left)}")
    else:
        yield ok("privacy", f"{stored}; secrets are taken out")
