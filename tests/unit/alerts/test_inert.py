"""Any text is harmless once it went through."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from otel_processor.alerts.inert import inert
from otel_processor.alerts.notice import Kind, Mention, Notice

ANY = st.text(st.characters(), max_size=40)


@given(ANY, st.integers(0, 50))
def test_one_line_that_moves_nothing(text: str, longest: int) -> None:
    made = inert(text, longest)
    assert made.isprintable()
    assert len(made) == min(len(text), longest)
    assert inert(made, longest) == made


@given(ANY, ANY, ANY, ANY)
def test_whatever_a_notice_holds_it_can_be_sent(run: str, task: str, pattern: str, message: str) -> None:
    notice = Notice(
        kind=Kind.SUMMARY,
        notice_id="1",
        at_ns=-1,
        run_id=run,
        task=task,
        pattern=pattern,
        message=message,
        resolved_ns=1 << 80,
        first=(Mention(run_id=run, task=task, pattern=pattern),),
    )
    assert notice.title().isprintable()
    assert all(line.isprintable() for line in notice.text().split("\n"))
    json.loads(json.dumps(notice.as_json()).encode())
