"""What waits in the spool is taken along in its order; what there is no memory for holds up nothing, and is not forgotten."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from otel_processor.policy import Policy
from otel_processor.recording.backlog import Backlog
from otel_processor.recording.parts import BadRowError, Left, TooMuchError, write_in_parts
from otel_processor.recording.preparing import Batch, prepare
from otel_processor.recording.writer import Writer
from otel_processor.store import spool
from tests.unit.factory import make_span


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "agents.duckdb"


def batch_of(*names: str) -> Batch:
    return prepare([make_span(name=name, span_id=f"{at:016x}") for at, name in enumerate(names, 1)], Policy())


def names_of(batch: Batch) -> list[str]:
    return list(batch.columns["name"])


def test_what_waits_goes_before_what_comes(db: Path) -> None:
    backlog = Backlog(db, Policy())
    for name in ("first", "second"):
        backlog.add(batch_of(name), None)
    together, taken = backlog.before(batch_of("third"))
    assert names_of(together) == ["first", "second", "third"]
    assert taken == spool.pending(db)


def test_what_is_too_large_is_tried_again_after_a_while(db: Path) -> None:
    backlog = Backlog(db, Policy())
    backlog.add(batch_of("large"), None, is_too_large=True)
    backlog.add(batch_of("small"), None)
    large, small = spool.pending(db)
    assert backlog.waiting() == [small]
    assert not backlog.is_empty
    looks = [backlog.waiting() for _ in range(1_000)]
    again = looks.index([large, small])
    assert 100 < again < 500
    assert all(found == [small] for found in looks[:again])


def test_sifting_leaves_only_what_is_too_large(db: Path) -> None:
    backlog = Backlog(db, Policy())
    backlog.add(batch_of("good", "large"), None)
    assert not backlog.sift(lambda batch: Left(too_large=batch.pick([1])))
    (left,) = spool.pending(db)
    assert backlog.waiting() == []
    assert names_of(Backlog(db, Policy()).before(Batch())[0]) == ["large"]
    # As a whole it stays where it is.
    assert not Backlog(db, Policy()).sift(lambda batch: Left(too_large=batch))
    assert spool.pending(db) == [left]


def test_sifting_ends_where_the_database_cannot_be_reached(db: Path) -> None:
    """What waits is not taken for too large: it comes with the next transaction that goes through."""
    backlog = Backlog(db, Policy())
    for name in ("first", "second"):
        backlog.add(batch_of(name), None)
    asked: list[str] = []

    def unreached(batch: Batch) -> Left:
        asked.extend(names_of(batch))
        return Left(unreached=batch)

    assert not backlog.sift(unreached)
    assert asked == ["first"]
    assert len(backlog.waiting()) == 2


def test_what_is_read_at_once_is_bounded_by_its_size(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backlog = Backlog(db, Policy())
    for name in ("first", "second", "third"):
        backlog.add(batch_of(name), None)
    sizes = [path.stat().st_size for path in spool.pending(db)]
    monkeypatch.setattr("otel_processor.recording.backlog.TAKEN_BYTES", sizes[0] + sizes[1])
    assert names_of(backlog.before(Batch())[0]) == ["first", "second"]
    monkeypatch.setattr("otel_processor.recording.backlog.TAKEN_BYTES", 1)
    assert names_of(backlog.before(Batch())[0]) == ["first"]


@pytest.mark.parametrize("error", [MemoryError("no room"), PermissionError("not now"), OSError(24, "too many open files")])
def test_what_cannot_be_read_now_is_kept_and_read_later(db: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    backlog = Backlog(db, Policy())
    for name in ("first", "second"):
        backlog.add(batch_of(name), None)
    first, second = spool.pending(db)
    read_bytes = Path.read_bytes

    def fails_once(path: Path) -> bytes:
        if path == first:
            raise error
        return read_bytes(path)

    with monkeypatch.context() as once:
        once.setattr(Path, "read_bytes", fails_once)
        together, taken = backlog.before(Batch())
        assert (names_of(together), taken) == (["second"], [second])
        assert backlog.sift(lambda _: Left())
    assert spool.pending(db) == [first]
    assert names_of(Backlog(db, Policy()).before(Batch())[0]) == ["first"]


def test_a_batch_that_there_was_no_memory_to_parse_is_no_bad_one(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So orjson says it: with the error of a text that is no JSON."""
    backlog = Backlog(db, Policy())
    backlog.add(batch_of("first"), None)

    def no_room(_: bytes) -> object:
        raise orjson.JSONDecodeError("Not enough memory to allocate buffer for parsing", "", 0)

    with monkeypatch.context() as once:
        once.setattr(orjson, "loads", no_room)
        assert backlog.before(Batch())[1] == []
    assert len(spool.pending(db)) == 1


def test_what_is_no_batch_is_put_aside(db: Path) -> None:
    backlog = Backlog(db, Policy())
    backlog.add(batch_of("first"), None)
    (path,) = spool.pending(db)
    path.write_bytes(b"{half a bat")
    assert backlog.before(Batch())[1] == []
    assert backlog.is_empty
    assert path.with_name(f"{path.name}.bad").exists()


def test_messages_that_were_sent_wait_like_spans(db: Path) -> None:
    sent = Batch()
    for values in sent.sent.values():
        values.append(None)
    sent.sent["sink"][0] = "log"
    backlog = Backlog(db, Policy())
    backlog.add(sent, None)
    assert not backlog.sift(lambda batch: Left(unreached=batch))
    assert len(spool.pending(db)) == 1


class Taker:
    """Takes so many spans at once, and none of some names; cannot be reached after so many transactions."""

    def __init__(self, *, at_once: int = 1_000, bad: str = "", large: str = "", lasts: int = 1_000) -> None:
        self.names: list[str] = []
        self._at_once, self._bad, self._large, self._lasts = at_once, bad, large, lasts

    def write(self, batch: Batch) -> bool:
        names = names_of(batch)
        if self._lasts == 0:
            return False
        if len(batch) > self._at_once or self._large in names:
            raise TooMuchError("too much")
        if self._bad in names:
            raise BadRowError("bad")
        self._lasts -= 1
        self.names += names
        return True


def test_parts_keep_their_order_and_leave_out_what_is_refused(db: Path) -> None:
    writer, there = Writer(db), Taker(at_once=3, bad="e")
    left = write_in_parts(batch_of(*"abcdefgh"), there.write, writer)
    assert there.names == list("abcdfgh")
    assert left.too_large.is_empty
    assert left.unreached.is_empty
    assert writer.counters.dropped == 1


def test_what_is_too_large_by_itself_is_left(db: Path) -> None:
    writer, there = Writer(db), Taker(large="c")
    left = write_in_parts(batch_of(*"abcdefgh"), there.write, writer)
    assert there.names == list("abdefgh")
    assert names_of(left.too_large) == ["c"]
    assert writer.counters.dropped == 0


def test_where_nothing_fits_not_all_of_it_is_tried(db: Path) -> None:
    there = Taker(at_once=0)
    left = write_in_parts(batch_of(*map(str, range(100))), there.write, Writer(db))
    assert names_of(left.too_large) == [*map(str, range(100))]


def test_what_comes_after_the_end_is_left_in_its_order(db: Path) -> None:
    there = Taker(at_once=2, large="b", lasts=2)
    left = write_in_parts(batch_of(*"abcdefgh"), there.write, Writer(db))
    assert there.names == list("acd")
    assert names_of(left.too_large) == ["b"]
    assert names_of(left.unreached) == list("efgh")
