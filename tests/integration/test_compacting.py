"""A database file becomes smaller in place, and whatever happens meanwhile costs no row."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from otel_processor.errors import StoreBusyError, StoreError, StoreUnavailableError
from otel_processor.recording.recorder import Recorder
from otel_processor.store import compacting, spool
from otel_processor.store import database as database_module
from otel_processor.store.compacting import Compacted, compact, leftover_of
from otel_processor.store.database import Database
from tests.integration import processes
from tests.integration.records import tool_record
from tests.integration.stored import eventually, rows, stored_ids, value
from tests.integration.writers import SPANS, Writers

if TYPE_CHECKING:
    from pathlib import Path

FILLING = """
    insert into spans by name
    select md5((i // 20)::VARCHAR) as trace_id, i::VARCHAR as span_id, 'x' as name, 'CLIENT' as kind, 0 as start_unix_nano,
           1 as end_unix_nano, 'UNSET' as status, now() as received_at,
           json_object('note', md5(random()::VARCHAR) || md5(random()::VARCHAR)) as attributes
    from range($spans) as r(i)
"""


def fill(db: Path, spans: int = 60_000) -> None:
    """A database most of whose spans are gone."""
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute(FILLING, {"spans": spans})
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("delete from spans where span_id::INTEGER >= 500")


def everything(db: Path) -> dict[str, Any]:
    tables = [name for (name,) in rows(db, "select table_name from duckdb_tables() order by 1")]
    return {name: rows(db, f'from "{name}" order by all') for name in tables} | {
        "views": rows(db, "select view_name from duckdb_views() where not internal order by 1")
    }


def test_the_file_shrinks_and_holds_what_it_held(db: Path) -> None:
    fill(db)
    recorder = Recorder(db)
    assert recorder.record([tool_record("search", {"q": n}, "none") for n in range(5)], timeout_seconds=5)
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute('create table "my own" as select 42 as answer; create view mine as select answer from "my own"')
    before, held = everything(db), db.stat().st_size
    done = compact(db, timeout_seconds=5)
    assert done.before == held
    assert done.after == db.stat().st_size < held * 0.8
    assert everything(db) == before
    assert value(db, "select answer from mine") == 42
    with duckdb.connect(str(db), read_only=True) as connection:
        assert (
            connection.execute("select tags from duckdb_databases() where not internal")
            .fetchall()[0][0]["storage_version"]
            .startswith("v1.2.0")
        )
    # The writer that remembers its runs goes on.
    assert recorder.record([tool_record("search", {"q": 9}, "none")], timeout_seconds=5)
    assert value(db, "select count(*) from calls") == 6
    assert sorted(path.name for path in db.parent.iterdir() if path.name != "temp") == [db.name]


def test_a_file_without_room_to_give_stays(db: Path) -> None:
    with Database(db).write(timeout_seconds=5):
        pass
    compact(db, timeout_seconds=5)
    before = database_module.identity(db)
    done = compact(db, timeout_seconds=5)
    assert done.before == done.after
    assert database_module.identity(db) == before


def test_links_lead_to_the_new_file_and_rights_stay(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "where it 'really' läge"
    folder.mkdir()
    real = folder / "a b.duckdb"
    fill(real)
    real.chmod(0o640)
    if os.getuid() == 0:
        os.chown(real, 1234, 2345)
    db.symlink_to(real)
    found = real.stat()
    done = compact(db, timeout_seconds=5)
    assert done.after < done.before
    assert db.is_symlink()
    after = real.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (found.st_uid, found.st_gid, 0o640)
    assert [path.name for path in folder.iterdir()] == [real.name]


def test_what_a_killed_writer_left_in_its_log_is_taken_over(db: Path) -> None:
    fill(db)
    processes.run(
        """
import duckdb, os
connection = duckdb.connect(sys.argv[1])
connection.execute("set checkpoint_threshold = '1GB'")
connection.execute("insert into policies values ('late', now(), '{}')")
os._exit(0)
""",
        db,
    )
    log = db.with_name(f"{db.name}.wal")
    assert log.exists()
    compact(db, timeout_seconds=5)
    assert not log.exists()
    assert value(db, "select count(*) from policies where policy_hash = 'late'") == 1


def test_a_writer_that_opened_the_file_before_it_was_replaced_writes_to_the_new_one(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening and locking a file somebody may put another in its place."""
    fill(db)
    another = tmp_path / "another.duckdb"
    with Database(another).write(timeout_seconds=5):
        pass
    known = database_module.identity
    looked: list[int] = []

    def replaced_meanwhile(path: Path) -> tuple[int, int] | None:
        looked.append(1)
        if len(looked) == 2:
            another.replace(db)
        return known(path)

    monkeypatch.setattr(database_module, "identity", replaced_meanwhile)
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute("insert into policies values ('x', now(), '{}')")
    assert len(looked) == 4
    assert value(db, "select count(*) from policies") == 1
    assert value(db, "select count(*) from spans") == 0


def test_two_writers_lose_nothing_while_the_file_is_replaced(
    db: Path, temp_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(db)
    rewrite, sizes = compacting._rewrite, []
    with Writers(db, 2, env={"TMPDIR": str(temp_folder)}) as writers:
        writers.write()

        def rewrite_while_written(*arguments: Any) -> Compacted:
            writers.write()
            return rewrite(*arguments)

        monkeypatch.setattr(compacting, "_rewrite", rewrite_while_written)
        for _ in range(2):
            # It looks now and then whether the file is free: on a busy machine two that write without a pause leave it no turn.
            writers.rest()
            sizes.append(compact(db, timeout_seconds=60))
            writers.write()
        written = writers.end()
    assert Recorder(db).fold_spool(timeout_seconds=10)
    found = [name for name in stored_ids(db) if "-" in name]
    assert len(found) == SPANS * written == len(set(found))
    assert sizes[0].after < sizes[0].before
    assert not spool.pending(db)


def test_who_holds_the_file_is_waited_for_and_named(db: Path) -> None:
    fill(db, 1_000)
    before = db.read_bytes()
    with processes.held(db) as pid, pytest.raises(StoreBusyError, match=str(pid)):
        compact(db, timeout_seconds=0.2)
    assert db.read_bytes() == before


def test_a_full_disk_leaves_the_old_file_as_it_was(db: Path) -> None:
    fill(db, 20_000)
    before = everything(db)
    code = """
import resource, signal
from otel_processor.errors import StoreUnavailableError
from otel_processor.store.compacting import compact
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    compact(sys.argv[1], timeout_seconds=5)
except StoreUnavailableError as error:
    print(error)
"""
    out, _ = processes.run(code, db)
    assert "could not be written anew" in out
    assert "it is as it was" in out
    assert len(out.splitlines()) == 1
    assert everything(db) == before
    assert not leftover_of(db).exists()


def test_too_little_room_is_said_before_anything_is_done(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(db, 1_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10})())
    with pytest.raises(StoreUnavailableError, match="make room first"):
        compact(db, timeout_seconds=5)


def test_killed_half_way_nothing_is_lost_and_the_next_one_cleans_up(db: Path) -> None:
    fill(db, 200_000)
    with Database(db).write(timeout_seconds=5) as connection:
        connection.execute(FILLING, {"spans": 150_000})
    spans = value(db, "select count(*) from spans")
    process = subprocess.Popen(
        [sys.executable, "-m", "otel_processor", "compact", "--db", str(db)],
        env=processes.environment(),
        stdout=subprocess.DEVNULL,
    )
    eventually(lambda: leftover_of(db).exists() and leftover_of(db).stat().st_size > 100_000, seconds=30, what="it began")
    process.send_signal(signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL
    assert leftover_of(db).exists()
    assert value(db, "select count(*) from spans") == spans
    assert compact(db, timeout_seconds=10).after < db.stat().st_size + 1
    assert value(db, "select count(*) from spans") == spans
    assert sorted(path.name for path in db.parent.iterdir() if path.name != "temp") == [db.name]


@pytest.mark.parametrize("what", ["missing", "other", "text"])
def test_what_is_no_database_of_ours_is_left_alone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "it.duckdb"
    if what == "other":
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table t as select 1")
    elif what == "text":
        path.write_text("dear diary " * 2_000)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(StoreError, match=r"there is no database|did not make it|is not a DuckDB database"):
        compact(path, timeout_seconds=1)
    assert (path.read_bytes() if path.exists() else None) == before
    assert len(list(tmp_path.iterdir())) == (before is not None)
