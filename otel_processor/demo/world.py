"""The small made-up world that the demo's agent acts in: a search index, pages, a job, a test suite, a shop's orders."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

SEARCH_RESULTS = {
    "columnar database embedded in a process": (
        "1. duckdb.example/why: columnar engine inside the application, vectorised execution, single file\n"
        "2. blog.example/olap-on-a-laptop: analysts replace a cluster with one workstation"
    ),
    "duckdb concurrent writers limits": (
        "1. duckdb.example/concurrency: one writing process, optimistic transactions between its threads\n"
        "2. forum.example/8731: retry with jitter when the lock is held elsewhere"
    ),
    "opentelemetry batch span processor delay": (
        "1. otel.example/batching: spans leave every five seconds or when half of the queue is filled\n"
        "2. notes.example/tracing-latency: shorten the schedule for alerts, not for archives"
    ),
    "invoice 2291 supplier north wind": (
        "1. archive.example/2291: scanned invoice, Northwind Traders, due in thirty days\n"
        "2. ledger.example/payables: booked twice in March, one entry reversed"
    ),
}

PAGES = {
    "https://duckdb.example/why": (
        "An embedded analytical engine avoids the network entirely. Data is stored by column, compressed per row group, and "
        "queries run on vectors of two thousand values, so modern processors stay busy without an index."
    ),
    "https://duckdb.example/concurrency": (
        "Within one process many threads may append at once. Another process cannot open the file for writing meanwhile; "
        "short transactions that open, commit and close let several programs take turns without a server."
    ),
    "https://otel.example/batching": (
        "The exporter thread wakes on a timer. Lower the delay to half a second when people watch a screen, keep the default "
        "when throughput matters, and always flush before the program exits."
    ),
    "https://archive.example/2291": (
        "Northwind Traders invoice 2291: forty crates of tea, 3,120.50 EUR, purchase order PO-778, paid 12 March."
    ),
}

COOKIE_WALL = (
    "This page is not available without cookies. Please enable JavaScript, accept all cookies and reload. "
    "If the problem persists, contact the administrator of this site."
)

JOB_REPORTS = (
    "stage extract: connected to warehouse replica, reading partition january",
    "stage extract: partition january finished, february started, throughput steady",
    "stage extract: partition february finished, validating foreign keys against customers",
    "stage extract: partition february finished, validating foreign keys against customers",
    "stage transform: deduplicated addresses, normalising currencies with yesterday's exchange table",
    "stage load: copying facts into target schema, indexes will be rebuilt afterwards",
    "stage load: indexes rebuilt, analysing statistics, switching views",
    "finished: 1,204,331 rows delivered, report mailed to finance",
)

_FAILURES = (
    "FAILED tests/test_cart.py::test_discount - AssertionError: expected 90, got 100",
    "FAILED tests/test_cart.py::test_rounding - decimal.InvalidOperation: quantize result has too many digits",
    "FAILED tests/test_checkout.py::test_empty_basket - TypeError: NoneType is not iterable in summarise()",
)
_TESTS = 44

_CUSTOMERS = (
    "Abel Barros Cheng Duarte Eriksen Farouk Goldman Haddad Ivanova Jensen Kowalski Lindqvist Moreau Nakamura Okafor Petrov "
    "Quiroga Rossi Santos Takahashi Ueda Vargas Weber Xu Yilmaz Zapata Adeyemi Bianchi Castillo Dubois"
).split()
_GOODS = (
    "anvil bellows canvas drill easel flask girder hammock inkwell jigsaw kettle lantern mallet nozzle oilcan pulley quilt rasp "
    "sextant trowel umbrella vise wrench yoke zither awl bucket chisel dowel funnel"
).split()
ORDERS_PER_PAGE = 5


@dataclass(slots=True)
class World:
    """What one run acts on; nothing is shared between runs."""

    random: Random
    pace: float = 1.0
    """Factor on every pause; 0 plays without any."""
    edits: int = 0
    polls: int = 0
    orders: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        customers = self.random.sample(_CUSTOMERS, len(_CUSTOMERS))
        self.orders = [f"{customer} ordered {good}" for customer, good in zip(customers, _GOODS, strict=True)]

    def search(self, query: str) -> str:
        """Return what the index has for a query; most queries find nothing."""
        return SEARCH_RESULTS.get(query.lower(), "No results.")

    def page(self, url: str) -> str:
        """Return a page's text; unknown addresses lie behind a cookie wall."""
        return PAGES.get(url, COOKIE_WALL)

    def edit(self) -> str:
        """Change the code under test: the next test run sees it."""
        self.edits += 1
        return "ok"

    def tests(self) -> str:
        """Return the report of a test run over the code as it is now."""
        left = _FAILURES[self.edits :]
        if not left:
            return f"{_TESTS} passed, coverage 93 percent, no warnings"
        return "\n".join((*left, f"{len(left)} failed, {_TESTS - len(left)} passed"))

    def job(self) -> str:
        """Return the job's latest report; it moves while it is watched."""
        report = JOB_REPORTS[min(self.polls, len(JOB_REPORTS) - 1)]
        self.polls += 1
        return report

    def orders_from(self, cursor: int) -> str:
        """Return one page of orders and where the next begins."""
        page = self.orders[cursor : cursor + ORDERS_PER_PAGE]
        after = cursor + ORDERS_PER_PAGE
        return json.dumps({"orders": page, "next_cursor": after if after < len(self.orders) else None})
