"""What waits is written together, and while nothing comes the house is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from otel_processor.recording.recorder import Recorder
from otel_processor.service.group_writer import GroupWriter
from otel_processor.service.limits import Limits
from otel_processor.service.refused import Refused
from otel_processor.store.database import Database
from tests.integration.records import record
from tests.integration.stored import eventually, rows, value

if TYPE_CHECKING:
    from pathlib import Path


def test_what_waits_is_written_together(db: Path) -> None:
    """Twelve requests that came before the writer began are written in as few transactions as their size allows."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(group_spans=10), patience_seconds=5)
    answers = [writer.submit([record(), record()]) for _ in range(12)] + [writer.submit([record() for _ in range(15)])]
    writer.start()
    assert [answer.result(30) for answer in answers] == [0] * 13
    assert writer.close(30)
    recorder.close()
    # Five requests of two spans fill a group, and one that is larger goes alone.
    assert value(db, "select last_writer from meta").rpartition(":")[2] == "4"
    assert value(db, "select count(*) from spans") == 39


def test_after_the_end_nothing_is_accepted(db: Path) -> None:
    """What came before is stored."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(), patience_seconds=5)
    answer = writer.submit([record()])
    writer.start()
    assert writer.close(30)
    assert answer.result(0) == 0
    with pytest.raises(Refused) as caught:
        writer.submit([record()])
    assert caught.value.http == 503
    recorder.close()


def test_a_quiet_service_signs_in_every_minute(db: Path) -> None:
    """So that a look at the database tells a service that is there from one that is not."""
    with Database(db).write(timeout_seconds=5):
        pass
    seconds = [100.0]
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(), patience_seconds=5, clock=lambda: seconds[0])
    writer.start()
    first = eventually(lambda: _signed_in(db), seconds=30, what="the first sign of the service")
    seconds[0] += 61
    eventually(lambda: _signed_in(db) != first, seconds=30, what="the next sign of the service")
    assert writer.close(30)
    recorder.close()


def _signed_in(db: Path) -> object:
    return rows(db, "select last_write_at from writers")
