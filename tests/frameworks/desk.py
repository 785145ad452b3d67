"""The tools of the agents here, which count how often they ran, and what is to be expected of a guard."""

from __future__ import annotations

from typing import Any

import pytest

ORDER = {"order_id": "demo-001"}
LOOPED = "loop_detected:repeated_tool_signature"
NUDGE = "lookup_order was called"
"""In each text that the model is given in place of the third equal call's result."""


class Desk:
    """Keeps what its tools were called with: `lookup_order` never has news, `search_mail` always has."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def lookup_order(self, order_id: str) -> str:
        """Look an order up.

        Args:
            order_id: of the order.
        """
        self.ran.append(f"lookup_order {order_id}")
        return "not found"

    def search_mail(self, query: str) -> str:
        """Search the mail.

        Args:
            query: what to look for.
        """
        self.ran.append(f"search_mail {query}")
        return f"a letter of the {len(self.ran)}th: {query * 3} was answered by the office in {query}, see page {query}"


def needs(module: str) -> Any:
    """Skip the tests of a file where what they test is not installed."""
    return pytest.importorskip(
        module, reason=f"{module} is not installed: `make frameworks` runs these tests", exc_type=ImportError
    )
