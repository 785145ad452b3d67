"""The demo's tasks, healthy ones and such that go in circles, each a plan that the fake model follows."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the fake model: what it says, and the tool that it asks for."""

    says: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


Plan = Generator[Turn, str, str]
"""Yields turns, is sent what the tool answered, returns the final answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A kind of task."""

    name: str
    task_type: str
    agent: str
    goal: str
    plan: Callable[[], Plan]
    loops: bool = False
    """An alert is expected."""
    fails: bool = False
    """The run ends with an exception."""
    request_limit: int | None = None
    """Model calls after which the framework ends the run."""


def compare_engines() -> Plan:
    """Healthy: each search and each page brings something new."""
    yield Turn("I start with what exists.", "web_search", {"query": "columnar database embedded in a process"})
    yield Turn("The first hit looks like a primary source.", "read_page", {"url": "https://duckdb.example/why"})
    yield Turn("Now the weak side: writing at the same time.", "web_search", {"query": "duckdb concurrent writers limits"})
    yield Turn("I read the documentation on it.", "read_page", {"url": "https://duckdb.example/concurrency"})
    yield Turn("And how fast spans arrive.", "web_search", {"query": "opentelemetry batch span processor delay"})
    yield Turn("One more page.", "read_page", {"url": "https://otel.example/batching"})
    return "An embedded columnar engine fits: one file, short write transactions, spans every half second."


def watch_export() -> Plan:
    """Healthy polling: the same question again and again, and the answer moves."""
    report = yield Turn("I ask how the export is doing.", "check_job_status", {"job_id": "export-77"})
    while not report.startswith("finished"):
        report = yield Turn("Not finished; I look again.", "check_job_status", {"job_id": "export-77"})
    return f"The export is through: {report}"


def fix_tests() -> Plan:
    """Healthy: the same test command after every edit is work."""
    report = yield Turn("I run the tests first.", "run_tests", {"suite": "shop"})
    fixes = (
        ("shop/cart.py", "total = price * (100 - discount) / 100"),
        ("shop/cart.py", "rounded = total.quantize(CENT, rounding=ROUND_HALF_UP)"),
        ("shop/checkout.py", "lines = basket.get('lines') or []"),
    )
    for path, text in fixes:
        yield Turn(f"The first failure is in {path}: {report.splitlines()[0][:60]}", "edit_file", {"path": path, "text": text})
        report = yield Turn("Did that help?", "run_tests", {"suite": "shop"})
    return f"Fixed: {report}"


def export_orders() -> Plan:
    """Healthy paging: the same tool until there is no next page."""
    cursor, pages = 0, 0
    while True:
        answer = yield Turn("The next page, please.", "list_orders", {"cursor": cursor})
        pages += 1
        following = json.loads(answer)["next_cursor"]
        if following is None:
            return f"All orders read, {pages} pages."
        cursor = following


def search_forever() -> Plan:
    """Loops: asks the same thing, gets the same nothing, until the framework's limit ends it."""
    while True:
        yield Turn("Let me search for the report.", "web_search", {"query": "quarterly churn report emea 2019 pdf"})


def read_in_circles() -> Plan:
    """Makes no progress: always another page, always the same cookie wall."""
    for number in range(1, 11):
        yield Turn("Maybe this mirror has the article.", "read_page", {"url": f"https://mirror{number}.example/article"})
    return "No mirror would show the article."


def publish_report() -> Plan:
    """Fails: the last tool raises, and the run with it."""
    yield Turn("First the facts.", "web_search", {"query": "duckdb concurrent writers limits"})
    yield Turn("And the details.", "read_page", {"url": "https://duckdb.example/concurrency"})
    yield Turn("Now I publish.", "publish_report", {"title": "Concurrency in embedded databases"})
    return "Published."


def find_invoice() -> Plan:
    """Loops, then asks differently, and ends well."""
    for _ in range(4):
        yield Turn("I search for the invoice.", "web_search", {"query": "invoice 2291 northwnd"})
    yield Turn("Perhaps the name is spelled differently.", "web_search", {"query": "invoice 2291 supplier north wind"})
    yield Turn("There it is.", "read_page", {"url": "https://archive.example/2291"})
    return "Invoice 2291 of Northwind Traders was paid on 12 March."


TASKS = (
    Task(
        name="compare-engines",
        task_type="research",
        agent="researcher",
        goal="Which database should keep our traces?",
        plan=compare_engines,
    ),
    Task(name="watch-export", task_type="ops", agent="operator", goal="Tell me when export-77 is through.", plan=watch_export),
    Task(name="fix-tests", task_type="code", agent="coder", goal="Make the shop's tests pass.", plan=fix_tests),
    Task(name="export-orders", task_type="scrape", agent="operator", goal="Export all orders.", plan=export_orders),
    Task(
        name="find-churn-report",
        task_type="research",
        agent="researcher",
        goal="Find the EMEA churn report of 2019.",
        plan=search_forever,
        loops=True,
        fails=True,
        request_limit=12,
    ),
    Task(
        name="read-article",
        task_type="scrape",
        agent="researcher",
        goal="Summarise the article.",
        plan=read_in_circles,
        loops=True,
    ),
    Task(
        name="publish-report",
        task_type="research",
        agent="researcher",
        goal="Write and publish a report on concurrency.",
        plan=publish_report,
        fails=True,
    ),
    Task(
        name="find-invoice",
        task_type="research",
        agent="researcher",
        goal="Was invoice 2291 paid?",
        plan=find_invoice,
        loops=True,
    ),
)
