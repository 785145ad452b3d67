"""What waits is written together, and while nothing comes the house is kept."""

from __future__ import annotations

import itertools
import threading
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
    from collections.abc import Callable
    from pathlib import Path


def test_what_waits_is_written_together(db: Path) -> None:
    """Twelve requests that came before the writer began are written in as few transactions as their size allows."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(group_spans=10), patience_seconds=5)
    answers = [writer.submit(writer.prepared([record(), record()])) for _ in range(12)] + [
        writer.submit(writer.prepared([record() for _ in range(15)]))
    ]
    writer.start()
    assert [answer.result(30) for answer in answers] == [0] * 13
    assert writer.close(30)
    recorder.close()
    # Five requests of two spans fill a group, and one that is larger goes alone.
    assert value(db, "select last_writer from meta").rpartition(":")[2] == "4"
    assert value(db, "select count(*) from spans") == 39


def test_decoding_waits_while_a_group_waits_already(db: Path) -> None:
    """What is not decoded yet is small; the end wakes whoever waits."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(group_spans=3), patience_seconds=5)
    with writer.turn(1):
        writer.submit(writer.prepared([record(), record()]))
    with writer.turn(1):
        writer.submit(writer.prepared([record(), record()]))
    decoding = _taking_a_turn(writer, 1)
    _goes_on_once_it_is_written(writer, decoding)
    with writer.turn(1_000_000):
        pass
    recorder.close()


def test_large_requests_are_decoded_one_by_one(db: Path) -> None:
    """Each has more spans than a group, as far as its size tells: the next one begins when the first is submitted and written."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(group_spans=3), patience_seconds=5)
    with writer.turn(1_000_000):
        decoding = _taking_a_turn(writer, 1_000_000)
        decoding.join(0.2)
        assert decoding.is_alive()
        writer.submit(writer.prepared([record()]))
    _goes_on_once_it_is_written(writer, decoding)
    recorder.close()


def test_a_large_request_is_not_decoded_while_others_are_written(db: Path) -> None:
    recorder = Recorder(db, sent_again=True)
    written, goes_on = threading.Event(), threading.Event()

    def on_commit(*_: object) -> None:
        written.set()
        assert goes_on.wait(30)

    writer = GroupWriter(recorder, Limits(group_spans=3), patience_seconds=5, on_commit=on_commit)
    writer.submit(writer.prepared([record(), record()]))
    writer.start()
    assert written.wait(30)
    with writer.turn(512):
        pass
    decoding = _taking_a_turn(writer, 1_000_000)
    decoding.join(0.2)
    assert decoding.is_alive()
    goes_on.set()
    decoding.join(30)
    assert not decoding.is_alive()
    assert writer.close(30)
    recorder.close()


def test_small_requests_do_not_go_past_a_large_one(db: Path) -> None:
    """It has its turn as soon as what was there before it is decoded and written, however much comes behind it."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(group_spans=3), patience_seconds=5)
    order: list[str] = []
    with writer.turn(1_024):
        large = _taking_a_turn(writer, 1_000_000, lambda: order.append("large"))
        large.join(0.2)
        small = _taking_a_turn(writer, 1, lambda: order.append("small"))
        small.join(0.2)
        assert not order
    large.join(30)
    small.join(30)
    assert order == ["large", "small"]
    writer.start()
    assert writer.close(30)
    recorder.close()


def _goes_on_once_it_is_written(writer: GroupWriter, decoding: threading.Thread) -> None:
    decoding.join(0.2)
    assert decoding.is_alive()
    writer.start()
    decoding.join(30)
    assert not decoding.is_alive()
    assert writer.close(30)


def _taking_a_turn(writer: GroupWriter, content_bytes: int, decode_it: Callable[[], object] = bool) -> threading.Thread:
    def decode() -> None:
        with writer.turn(content_bytes):
            decode_it()

    thread = threading.Thread(target=decode)
    thread.start()
    return thread


def test_the_file_is_held_while_more_comes_and_free_afterwards(db: Path) -> None:
    """The groups between stay in the file; the first leaves it for the look for idle runs, the last with its log moved in."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(group_spans=2), patience_seconds=5, clock=lambda: 100.0)
    answers = [writer.submit(writer.prepared([record(), record()])) for _ in range(4)]
    held: list[bool] = []
    for answer in answers:
        answer.add_done_callback(lambda _: held.append(recorder.database.is_held))
    writer.start()
    assert [answer.result(30) for answer in answers] == [0] * 4
    assert held == [False, True, True, False]
    assert not db.with_name(f"{db.name}.wal").exists()
    # Another process could read it now, although the writer goes on.
    assert value(db, "select count(*) from spans") == 8
    assert writer.close(30)
    recorder.close()


def test_the_file_is_not_held_for_ever(db: Path) -> None:
    """Each look at the clock takes a second: no group stays, and the file is free in between."""
    recorder = Recorder(db, sent_again=True)
    seconds = itertools.count(100.0)
    writer = GroupWriter(recorder, Limits(group_spans=2), patience_seconds=5, clock=lambda: next(seconds))
    answers = [writer.submit(writer.prepared([record(), record()])) for _ in range(3)]
    held: list[bool] = []
    for answer in answers:
        answer.add_done_callback(lambda _: held.append(recorder.database.is_held))
    writer.start()
    assert [answer.result(30) for answer in answers] == [0] * 3
    assert held == [False] * 3
    assert writer.close(30)
    recorder.close()


@pytest.mark.parametrize(
    ("at_last", "expected"), [(2, [False, True, False, True, False]), (1_100, [False, True, True, True, False])]
)
def test_the_file_is_left_sooner_while_little_waits(db: Path, at_last: int, expected: list[bool]) -> None:
    """Each look at the clock takes a tenth of a second, and there are three to a group."""
    recorder = Recorder(db, sent_again=True)
    seconds = itertools.count(1_000)
    writer = GroupWriter(recorder, Limits(group_spans=2), patience_seconds=5, clock=lambda: next(seconds) / 10)
    answers = [writer.submit(writer.prepared([record() for _ in range(spans)])) for spans in (2, 2, 2, 2, at_last)]
    held: list[bool] = []
    for answer in answers:
        answer.add_done_callback(lambda _: held.append(recorder.database.is_held))
    writer.start()
    assert [answer.result(30) for answer in answers] == [0] * 5
    assert held == expected
    assert writer.close(30)
    recorder.close()


def test_after_the_end_nothing_is_accepted(db: Path) -> None:
    """What came before is stored."""
    recorder = Recorder(db, sent_again=True)
    writer = GroupWriter(recorder, Limits(), patience_seconds=5)
    answer = writer.submit(writer.prepared([record()]))
    writer.start()
    assert writer.close(30)
    assert answer.result(0) == 0
    with pytest.raises(Refused) as caught:
        writer.submit(writer.prepared([record()]))
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
