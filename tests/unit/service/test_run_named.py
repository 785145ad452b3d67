"""Which run the headers name."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.service.guard_api.run_named import Named, named_by_headers

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
NOTHING = Named(None, None)


@pytest.mark.parametrize("text", [f"00-{TRACE}-{SPAN}-01", f" 00-{TRACE}-{SPAN}-00 ", f"01-{TRACE}-{SPAN}-01-what-comes-later"])
def test_a_trace_names_its_run(text: str) -> None:
    assert named_by_headers({"traceparent": text}) == Named(TRACE, (TRACE, SPAN))


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE[1:]}-{SPAN}-01",
    ],
)
def test_a_malformed_one_says_nothing(text: str) -> None:
    assert named_by_headers({"traceparent": text}) == NOTHING


def test_a_declared_run_goes_before_the_trace() -> None:
    headers = {"traceparent": f"00-{TRACE}-{SPAN}-01", "baggage": "user=1;p, loop.run.id = my%2Crun ;q=1,x"}
    assert named_by_headers(headers) == Named("my,run", (TRACE, SPAN))


@given(st.text(min_size=1, max_size=20))
def test_any_id_comes_through(run_id: str) -> None:
    try:
        said = quote(run_id, safe="")
    except UnicodeEncodeError:
        return
    assert named_by_headers({"baggage": f"loop.run.id={said}"}).run_id == run_id


@given(st.text(), st.text())
def test_no_header_raises(traceparent: str, baggage: str) -> None:
    named_by_headers({"traceparent": traceparent, "baggage": baggage})
