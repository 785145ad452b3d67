"""What the form begins with: what a link asks for, else nothing changed; and what it says now, which stands in the address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.components.policy.draft import IN_FORCE, Draft
from dashboard.language import current

if TYPE_CHECKING:
    from otel_processor.policy import Policy

    Address = tuple[str | None, list[str]]

_KEPT = "policy round"
_START = "start"
_SET = "set"


@dataclass(slots=True)
class Round:
    """A set of widgets: another one begins where a link, a start or the policy in force gives them other values."""

    number: int
    whose: tuple[str, str]
    """The policy in force and the language that it was made for."""
    draft: Draft
    """What the widgets begin with."""
    told: Address
    """What stands in the address, as it was put there last."""


def now(in_force: Policy) -> Round:
    """Return the round in force."""
    kept: Round | None = st.session_state.get(_KEPT)
    whose = (in_force.hash, current().code)
    address = _address()
    if kept is not None and kept.whose == whose and kept.told == address:
        return kept
    kept = Round((kept.number if kept else 0) + 1, whose, Draft.of_address(*address), address)
    st.session_state[_KEPT] = kept
    return kept


def keep(draft: Draft) -> None:
    """Put what the form says now into the address; its widgets stay."""
    kept: Round = st.session_state[_KEPT]
    start, changes = None if draft.start == IN_FORCE else draft.start, draft.to_address()
    # What a link says of no threshold stays until the reader takes changes back: it is told why it counts for nothing.
    changes = [*draft.refused, *changes]
    if (start, changes) != _address():
        _write(start, changes)
    kept.told = _address()


def anew(draft: Draft) -> None:
    """Begin another round, the page runs anew."""
    start = None if draft.start == IN_FORCE else draft.start
    _write(start, draft.to_address())
    st.session_state[_KEPT].told = (None, ["another round"])
    st.rerun()


def _address() -> Address:
    return st.query_params.get(_START), st.query_params.get_all(_SET)


def _write(start: str | None, changes: list[str]) -> None:
    for name, value in ((_START, start), (_SET, changes)):
        if value:
            st.query_params[name] = value
        else:
            st.query_params.pop(name, None)
