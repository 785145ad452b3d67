"""Writers in processes of their own, which write one batch after the other whenever they may."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from tests.integration import processes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SPANS = 3
"""Of one run, in each batch."""

_WRITE = f"""
from otel_processor.recording.recorder import Recorder
from tests.integration.records import tool_record
recorder = Recorder(sys.argv[1])
number = 0
while sys.stdin.readline():
    name = f"{{os.getpid():016x}}{{number:016x}}"
    spans = [tool_record("t", {{"n": n}}, "ok", trace=name, span=f"{{name}}-{{n}}") for n in range({SPANS})]
    assert recorder.record(spans, timeout_seconds=0.1)
    number += 1
    print(number, flush=True)
"""
_SECONDS = 60


class Writers:
    """They rest at first; on leaving they are gone."""

    def __init__(self, db: Path, count: int, *, env: Mapping[str, str]) -> None:
        self._processes = [processes.start(_WRITE, db, env=env) for _ in range(count)]
        self._changed = threading.Condition()
        self._may_write = self._is_over = False
        self._writing = 0
        self._written = [0] * count
        self._threads = [threading.Thread(target=self._let_write, args=(index,), daemon=True) for index in range(count)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait(_SECONDS)

    def rest(self) -> None:
        """Let none write, once what is being written is."""
        with self._changed:
            self._may_write = False
            assert self._changed.wait_for(lambda: not self._writing, _SECONDS)

    def write(self) -> None:
        """Let them write from now on; returns when each has written something."""
        with self._changed:
            before = list(self._written)
            self._may_write = True
            self._changed.notify_all()
            assert self._changed.wait_for(
                lambda: all(now > was for now, was in zip(self._written, before, strict=True)), _SECONDS
            )

    def end(self) -> int:
        """Let them come to their end, and return how many batches were written."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(_SECONDS)
        for process in self._processes:
            processes.finish(process)
        return sum(self._written)

    def _let_write(self, index: int) -> None:
        asked, told = self._processes[index].stdin, self._processes[index].stdout
        assert asked is not None
        assert told is not None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._may_write or self._is_over)
                if self._is_over:
                    return
                self._writing += 1
            asked.write("\n")
            asked.flush()
            number = int(told.readline())
            with self._changed:
                self._writing -= 1
                self._written[index] = number
                self._changed.notify_all()
