"""A copy of one moment, made while others write, which opens by itself."""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

import duckdb
import pytest

from otel_processor.errors import StoreError, StoreUnavailableError
from otel_processor.recording.recorder import Recorder
from otel_processor.sharing.choice import Choice
from otel_processor.sharing.exporting import Format, export
from otel_processor.store import spool
from otel_processor.store.backing_up import backup
from otel_processor.store.placing import placed
from tests.integration import processes
from tests.integration.records import record, tool_record
from tests.integration.stored import rows, stored_ids, value
from tests.integration.test_run_totals import assert_true
from tests.integration.writers import SPANS, Writers

if TYPE_CHECKING:
    from pathlib import Path

CALLS = [tool_record("search", {"q": number}, "none", span=f"{number:016x}") for number in range(6)]


def write(db: Path, *spans: object, timeout_seconds: float = 5) -> None:
    recorder = Recorder(db)
    assert recorder.record(list(spans), timeout_seconds=timeout_seconds)  # type: ignore[arg-type]
    recorder.close()


def test_the_copy_holds_what_the_database_held_and_can_be_written(db: Path, tmp_path: Path) -> None:
    write(db, *CALLS[:4])
    db.chmod(0o640)
    target = tmp_path / "Sicherung 'für' später.duckdb"
    done = backup(db, target, overwrite=False, timeout_seconds=5)
    assert (done.spans, done.spooled, done.file_bytes) == (4, 0, target.stat().st_size)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    for table in ("spans", "call_rows", "run_rows", "run_totals", "alerts", "meta"):
        assert rows(target, f"from {table} order by all") == rows(db, f"from {table} order by all")
    write(target, *CALLS)
    assert value(target, "select count(*) from calls") == 6
    assert value(db, "select count(*) from calls") == 4
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name]


def test_what_waits_in_the_spool_comes_along(db: Path, tmp_path: Path) -> None:
    write(db, *CALLS[:2])
    with processes.held(db):
        write(db, *CALLS[2:4], timeout_seconds=0.01)
        write(db, *CALLS[4:5], timeout_seconds=0.01)
    target = tmp_path / "copy.duckdb"
    assert backup(db, target, overwrite=False, timeout_seconds=5).spooled == 2
    assert len(stored_ids(target)) == 2
    write(target, CALLS[5])
    assert stored_ids(target) == [call.span_id for call in CALLS]
    assert len(spool.pending(db)) == 2
    # The spool of an earlier copy is no part of the next one.
    assert Recorder(db).fold_spool(timeout_seconds=5)
    with processes.held(target):
        write(target, *CALLS, timeout_seconds=0.01)
    assert spool.pending(target)
    assert backup(db, target, overwrite=True, timeout_seconds=5).spooled == 0
    assert not spool.folder_of(target).exists()
    assert len(stored_ids(target)) == 5


def test_what_a_killed_writer_left_in_its_log_is_in_the_copy(db: Path, tmp_path: Path) -> None:
    write(db, *CALLS[:1])
    processes.run(
        """
import duckdb, os
connection = duckdb.connect(sys.argv[1])
connection.execute("insert into policies values ('late', now(), '{}')")
os._exit(0)
""",
        db,
    )
    log = db.with_name(f"{db.name}.wal")
    before = (db.read_bytes(), log.read_bytes())
    target = tmp_path / "copy.duckdb"
    backup(db, target, overwrite=False, timeout_seconds=5)
    assert value(target, "select count(*) from policies where policy_hash = 'late'") == 1
    assert not target.with_name(f"{target.name}.wal").exists()
    assert (db.read_bytes(), log.read_bytes()) == before


def test_each_copy_is_one_moment_while_agents_write(
    db: Path, tmp_path: Path, temp_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer puts three spans of a run into each transaction: no copy has a part of one, and nothing is lost."""
    copyfile = shutil.copyfile
    with Writers(db, 1, env={"TMPDIR": str(temp_folder)}) as writers:
        writers.write()

        def copyfile_while_written(source: Path, target: Path) -> None:
            if source.name != db.name:
                copyfile(source, target)
                return
            with source.open("rb") as read, target.open("wb") as written:
                for _ in range(4):
                    written.write(read.read(source.stat().st_size // 4))
                    writers.write()
                written.write(read.read())

        monkeypatch.setattr(shutil, "copyfile", copyfile_while_written)
        for copy in range(3):
            # It looks now and then whether the file is free: on a busy machine one that writes without a pause leaves it no turn.
            writers.rest()
            backup(db, tmp_path / f"{copy}.duckdb", overwrite=False, timeout_seconds=20)
            writers.write()
        written = writers.end()
    assert Recorder(db).fold_spool(timeout_seconds=10)
    assert value(db, "select count(*) from spans") == SPANS * written
    for copy in range(3):
        made = tmp_path / f"{copy}.duckdb"
        assert rows(made, f"select count(*) from spans group by trace_id having count(*) <> {SPANS}") == []
        assert value(made, "select count(*) from spans") == SPANS * value(made, "select count(*) from runs") > 0
        assert_true(made)


def test_nothing_is_overwritten_unless_that_is_said(db: Path, tmp_path: Path) -> None:
    write(db, CALLS[0])
    target = tmp_path / "copy.duckdb"
    backup(db, target, overwrite=False, timeout_seconds=5)
    write(db, *CALLS)
    with pytest.raises(StoreError, match=r"exists already.*--force"):
        backup(db, target, overwrite=False, timeout_seconds=5)
    assert len(stored_ids(target)) == 1
    backup(db, target, overwrite=True, timeout_seconds=5)
    assert len(stored_ids(target)) == 6


def test_what_is_no_database_is_never_overwritten(db: Path, tmp_path: Path) -> None:
    write(db, CALLS[0])
    diary = tmp_path / "diary.txt"
    diary.write_text("dear diary")
    with pytest.raises(StoreError, match="no DuckDB database"):
        backup(db, diary, overwrite=True, timeout_seconds=5)
    assert diary.read_text() == "dear diary"
    with pytest.raises(StoreError, match="is a folder"):
        backup(db, tmp_path, overwrite=True, timeout_seconds=5)
    with pytest.raises(StoreError, match="mkdir -p"):
        backup(db, tmp_path / "no" / "such.duckdb", overwrite=True, timeout_seconds=5)
    for itself in (db, tmp_path / "link.duckdb", tmp_path / "hard.duckdb"):
        if itself.name == "link.duckdb":
            itself.symlink_to(db)
        elif itself.name == "hard.duckdb":
            os.link(db, itself)
        with pytest.raises(StoreError, match="the database itself"):
            backup(db, itself, overwrite=True, timeout_seconds=5)
    assert len(stored_ids(db)) == 1


@pytest.mark.parametrize("what", ["missing", "other"])
def test_what_is_no_database_of_ours_is_not_copied(tmp_path: Path, what: str) -> None:
    path = tmp_path / "it.duckdb"
    if what == "other":
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table t as select 1")
    with pytest.raises(StoreError, match=r"there is no database|did not make it"):
        backup(path, tmp_path / "copy.duckdb", overwrite=False, timeout_seconds=1)
    assert [one.name for one in tmp_path.iterdir()] == (["it.duckdb"] if what == "other" else [])


def test_a_copy_that_does_not_come_about_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "copy"
    target.write_text("before")

    def fill_the_disk() -> None:
        with placed(target) as partial:
            partial.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(StoreUnavailableError, match="No space left"):
        fill_the_disk()
    assert target.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_what_was_left_half_made_goes_after_a_day(tmp_path: Path) -> None:
    old, new = tmp_path / ".copy.1-1.partial", tmp_path / ".copy.1-2.partial"
    old.mkdir()
    (old / "x").write_text("half")
    new.write_text("half")
    os.utime(old, (0, 0))
    with placed(tmp_path / "copy") as partial:
        assert not old.exists()
        assert new.exists()
        partial.write_text("whole")
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
    assert (tmp_path / "copy").read_text() == "whole"


@pytest.mark.parametrize("ending", [".wal", ".tmp", ".spool", ".spool/copy", ".compacting", ".compacting.wal"])
def test_a_name_of_the_databases_own_is_no_target(db: Path, ending: str) -> None:
    """What lies there the next writer, or `compact`, would take for its own."""
    assert Recorder(db).record([record()], timeout_seconds=5)
    (db.parent / f"{db.name}.spool").mkdir()
    target = db.parent / f"{db.name}{ending}"
    with pytest.raises(StoreError, match="belongs to the database itself"):
        backup(db, target, overwrite=True, timeout_seconds=5)
    with pytest.raises(StoreError, match="belongs to the database itself"):
        export(db, target, kind=Format.DUCKDB, choice=Choice(), without_content=False, overwrite=True, timeout_seconds=5)
