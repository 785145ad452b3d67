"""The tour: agents run side by side, alerts are told as they fire, and SQL sums up what was stored."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from random import Random
from typing import TYPE_CHECKING

from otel_processor.alerts.log import LOGGER
from otel_processor.demo import report
from otel_processor.demo.agent import MODEL_NAME, run_task
from otel_processor.demo.tasks import TASKS, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import TracerProvider

SEED = 20
SIDE_BY_SIDE = 4
ALERTS_EVERY_SECONDS = 0.5
FLUSH_MILLIS = 10_000
SERVICE = "otel-processor-demo"

PRICES = {MODEL_NAME: {"input": 2.50, "output": 10.00, "cache_read": 0.25}}
"""What the demo's model would take, USD per million tokens: nobody sells it, but costs are part of what there is to see."""


class Tour:
    """One showing of the demo on a database.

    Args:
        db: the database file; runs are added to what is there.
        say: told each line.
        pace: factor on every pause.
    """

    def __init__(self, db: Path, *, say: Callable[[str], object], pace: float = 1.0) -> None:
        self._db = db
        self._say = say
        self._pace = pace
        self._id = uuid.uuid4().hex[:6]
        self._started: dict[str, Task] = {}
        self._told: set[str] = set()
        self._began = time.monotonic()

    def play(self, seconds: float) -> bool:
        """Start agents for some seconds, wait for the last ones, sum up; say whether the pipeline did what it should."""
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        import otel_processor

        # The tour tells the alerts itself, as they come out of the database.
        logging.getLogger(LOGGER).disabled = True
        provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
        policy = otel_processor.Policy(prices=PRICES)
        handle = otel_processor.instrument(db=str(self._db), policy=policy, tracer_provider=provider)
        self._say(f"{SIDE_BY_SIDE} agents at a time for about {seconds:g} s; alerts as they fire:\n")
        self._began = time.monotonic()
        try:
            asyncio.run(self._agents(provider, seconds))
            flushed = handle.force_flush(FLUSH_MILLIS)
        finally:
            handle.shutdown()
        self._tell_alerts()
        faults = [] if flushed else ["the last spans could not be written in time"]
        faults += report.faults(self._db, self._started)
        self._sum_up(faults)
        return not faults

    async def _agents(self, provider: TracerProvider, seconds: float) -> None:
        watching = asyncio.create_task(self._watch())
        queue = endless_mix(Random(SEED))  # noqa: S311 - the same mix each time, guards nothing
        until = time.monotonic() + seconds
        try:
            await asyncio.gather(*(self._worker(number, queue, provider, until) for number in range(SIDE_BY_SIDE)))
        finally:
            watching.cancel()

    async def _worker(self, number: int, queue: Iterator[Task], provider: TracerProvider, until: float) -> None:
        await asyncio.sleep(0.3 * number * self._pace)
        # Every task is shown once, even when the time is short.
        while len(self._started) < len(TASKS) or time.monotonic() < until:
            task = next(queue)
            index = len(self._started)
            run_id = f"demo-{self._id}-{index:03d}"
            self._started[run_id] = task
            try:
                await run_task(task, run_id=run_id, random=Random(SEED + index), tracer_provider=provider, pace=self._pace)  # noqa: S311
            except Exception as error:
                if not task.fails:
                    raise
                self._note(f"{task.name} ended with {type(error).__name__}")

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(ALERTS_EVERY_SECONDS)
            await asyncio.to_thread(self._tell_alerts)

    def _tell_alerts(self) -> None:
        for alert in report.alerts(self._db, self.prefix):
            if alert.alert_id not in self._told:
                self._told.add(alert.alert_id)
                self._note(f"ALERT {alert.severity}: {alert.pattern} in {alert.task} ({alert.run_id}): {alert.message}")

    def _note(self, text: str) -> None:
        self._say(f"{time.monotonic() - self._began:5.1f} s  {text}")

    @property
    def prefix(self) -> str:
        """What the ids of this tour's runs begin with."""
        return f"demo-{self._id}-"

    def _sum_up(self, faults: list[str]) -> None:
        self._say("\n" + report.summary(self._db, self.prefix))
        for fault in faults:
            self._say(f"The pipeline did not do what it should: {fault}")
        self._say("\nAsk it yourself:")
        for line in report.questions(self._db):
            self._say(f"  {line}")


def endless_mix(random: Random) -> Iterator[Task]:
    """Give every task once in a random order, then again in another one."""
    while True:
        yield from random.sample(TASKS, len(TASKS))
