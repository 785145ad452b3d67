"""Files of spans to the recorder in batches, with a progress bar where somebody watches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from otel_processor.cli.progress import Progress
from otel_processor.errors import TelemetryFormatError
from otel_processor.store.opening import open_read_only

if TYPE_CHECKING:
    from pathlib import Path

    from otel_processor.ingest.origin import Tally
    from otel_processor.model import SpanRecord

SPANS_PER_BATCH = 5_000
OPEN_SECONDS = 10.0
WRITE_SECONDS = 60.0

_TOTALS = """
    select (select count(*) from calls), (select count(*) from runs), (select count(*) from alerts)
"""


@dataclass(slots=True)
class Counted:
    """What became of the spans of an import."""

    files: int = 0
    spans: int = 0
    new: int = 0
    duplicates: int = 0
    spooled: int = 0
    dropped: int = 0


class Importer:
    """Hands the spans of files to a recorder; a batch ends with a request, never inside one.

    Raises:
        StoreError: the database cannot be written. A recorder would rather spool, which is not what somebody waits for here.
    """

    def __init__(self, db: Path, *, content: bool | None = None) -> None:
        from otel_processor.ingest.origin import Tally
        from otel_processor.policy_file import policy_of
        from otel_processor.privacy.settings import privacy_of
        from otel_processor.recording.recorder import Recorder
        from otel_processor.store.database import Database

        policy, privacy = policy_of(None), privacy_of(content=content)
        database = Database(db)
        with database.write(timeout_seconds=OPEN_SECONDS):
            pass
        database.close()

        self.counted = Counted()
        self.tally = Tally()
        self.failures: list[str] = []
        self._recorder = Recorder(db, policy, privacy=privacy)
        # What others left in the spool goes in first, and is not counted as ours.
        self._recorder.fold_spool(timeout_seconds=WRITE_SECONDS)
        self._before = self._recorder.counters
        self._batch: list[SpanRecord] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.close()

    def finish(self) -> None:
        """Close runs that the files leave open and that nothing more can be expected of."""
        self._recorder.close_idle(timeout_seconds=WRITE_SECONDS)

    def take(self, name: str, path: Path) -> None:
        """Import one file; what is wrong with it is added to `failures`, with what came before kept."""
        from otel_processor.ingest.otlp_json import spans_of_file

        progress = Progress(name, path.stat().st_size)
        seen = 0
        try:
            for spans, consumed in spans_of_file(path, self.tally):
                seen += len(spans)
                self._batch.extend(spans)
                if len(self._batch) >= SPANS_PER_BATCH:
                    self._write()
                progress.show(consumed)
            self.counted.files += 1
        except (TelemetryFormatError, OSError) as error:
            text = str(error).replace(str(path), name)
            text = text if name in text else f"{name}: {text}"
            self.failures.append(text + (f" ({seen:,} spans before that are imported)" if seen else ""))
        finally:
            progress.end()
        self._write()

    def _write(self) -> None:
        if not self._batch:
            return
        self._recorder.record(self._batch, timeout_seconds=WRITE_SECONDS)
        self.counted.spans += len(self._batch)
        self._batch = []
        before, now = self._before, self._recorder.counters
        self.counted.new = now.written - before.written
        self.counted.duplicates = now.duplicates - before.duplicates
        self.counted.spooled = now.spooled - before.spooled
        self.counted.dropped = now.dropped - before.dropped


def is_clean(importer: Importer) -> bool:
    """Whether everything that was given is in the database now."""
    counted, tally = importer.counted, importer.tally
    return not (importer.failures or counted.spooled or counted.dropped or _malformed(tally))


def _malformed(tally: Tally) -> int:
    return tally.malformed_spans + tally.malformed_logs + tally.malformed_requests


def summed_up(importer: Importer, files: int) -> str:
    """Say what became of the spans of an import."""
    counted, tally = importer.counted, importer.tally
    told = [f"{counted.new:,} new", f"{counted.duplicates:,} already there"]
    if counted.spooled:
        told.append(f"{counted.spooled:,} wait in the spool, since the database was held")
    if counted.dropped:
        told.append(f"{counted.dropped:,} lost")
    if tally.logs:
        told.append(f"{tally.logs:,} of them log records of agents")
    if tally.other_logs:
        told.append(f"{tally.other_logs:,} other log records left out")
    if tally.malformed_logs:
        told.append(f"{tally.malformed_logs:,} log records malformed and skipped")
    if tally.malformed_spans:
        told.append(f"{tally.malformed_spans:,} malformed and skipped")
    if tally.malformed_requests:
        told.append(f"{tally.malformed_requests:,} lines or requests that cannot be read, skipped")
    if tally.other_signals:
        told.append(f"{tally.other_signals:,} requests of metrics or profiles left out")
    return f"{counted.spans:,} spans in {counted.files:,} of {files:,} files: {', '.join(told)}"


def totals(db: Path) -> str:
    """Say how many calls, runs and alerts a database holds."""
    connection = open_read_only(db)
    try:
        calls, runs, alerts = connection.execute(_TOTALS).fetchall()[0]
    finally:
        connection.close()
    return f"{calls:,} calls, {runs:,} runs, {alerts:,} alerts"
