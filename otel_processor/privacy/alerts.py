"""Alerts as they may be stored and sent: what they quote is treated as what it was quoted from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from otel_processor.errors import ConfigError
from otel_processor.model import Alert
from otel_processor.privacy.settings import Privacy, privacy_of
from otel_processor.privacy.structure import as_id, as_name, withheld

_NAMES: Final = frozenset(
    {"tool", "tools", "agent", "effect", "error_class", "measure", "language", "signature", "signatures", "span_ids"}
)


def cleaned(alert: Alert, privacy: Privacy) -> Alert:
    """Return an alert without secrets, and without content where that is not kept."""
    verdict, found = alert.verdict, Counter[str]()
    message = privacy.redactor.text(verdict.message, found)
    evidence = privacy.redactor.value(verdict.evidence, found)
    task, agent, tool = (_clean(name, privacy, found) for name in (alert.task, alert.agent, alert.tool))
    run_id = privacy.redactor.text(alert.run_id, found)
    if privacy.keeps_content:
        if not found:
            return alert
    else:
        evidence = {name: _structure(value, name in _NAMES) for name, value in evidence.items()}
        run_id = as_id(run_id)
    verdict = replace(verdict, message=message, evidence=evidence)
    return replace(alert, run_id=run_id, task=task, agent=agent, tool=tool, verdict=verdict)


def for_log(alert: Alert) -> Alert:
    """Return an alert as the log of the agent's own process may have it: as the environment says.

    Settings that cannot be used are refused where spans are stored; here everything known is looked for then.
    """
    try:
        privacy = privacy_of()
    except ConfigError:
        privacy = Privacy()
    return cleaned(alert, privacy)


def _clean(name: str | None, privacy: Privacy, found: Counter[str]) -> str | None:
    if name is None:
        return None
    name = privacy.redactor.text(name, found)
    return name if privacy.keeps_content else as_name(name)


def _structure(value: Any, is_name: bool) -> Any:
    if isinstance(value, str):
        return as_name(value) if is_name else withheld(value)
    if isinstance(value, list | tuple):
        return [_structure(inner, is_name) for inner in value]
    if isinstance(value, Mapping):
        return {as_id(str(name)): _structure(inner, is_name=False) for name, inner in value.items()}
    return value
