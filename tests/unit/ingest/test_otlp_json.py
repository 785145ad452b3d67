from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from otel_processor.errors import TelemetryFormatError
from otel_processor.ingest.otlp_json import Tally, spans_of_file
from tests.unit.ingest.test_otlp_request import LEAST, request

if TYPE_CHECKING:
    from pathlib import Path

LOGS: dict[str, Any] = {"resourceLogs": []}
METRICS: dict[str, Any] = {"resourceMetrics": [{}]}


def write(path: Path, *lines: Any, newline: str = "\n") -> Path:
    path.write_bytes(newline.join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode())
    return path


def counts(path: Path, tally: Tally | None = None) -> list[int]:
    return [len(spans) for spans, _ in spans_of_file(path, tally)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "spans.json"


@pytest.mark.parametrize("indent", [None, 1, "\t"])
def test_one_request_pretty_printed_or_not(path: Path, indent: int | str | None) -> None:
    assert counts(write(path, json.dumps(request(LEAST, LEAST), indent=indent))) == [2]


def test_one_request_for_each_line(path: Path) -> None:
    assert counts(write(path, "", request(LEAST), "", " ", request(LEAST, LEAST), "", newline="\r\n")) == [1, 2]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_requests(path: Path, indent: int | None) -> None:
    tally = Tally()
    assert counts(write(path, json.dumps([request(LEAST), METRICS, LOGS, request(LEAST)], indent=indent)), tally) == [1, 0, 1]
    assert (tally.spans, tally.other_signals) == (2, 1)


def test_other_signals_and_broken_lines_are_counted_and_skipped(path: Path) -> None:
    tally = Tally()
    lines = [LOGS, request(LEAST), METRICS, '{"resourceSpans":[{"scop', "[" * 100_000, {"unknown": 1}, "7", {}, request(LEAST)]
    assert counts(write(path, *lines), tally) == [0, 1, 1]
    assert tally == Tally(spans=2, malformed_spans=0, malformed_requests=4, other_signals=1)


def test_a_broken_first_line_does_not_hide_the_others(path: Path) -> None:
    tally = Tally()
    assert counts(write(path, '{"resourceSpans":[{"scop', request(LEAST), request(LEAST)), tally) == [1, 1]
    assert tally.malformed_requests == 1


def test_values_that_strict_parsers_refuse(path: Path) -> None:
    number = {"key": "k", "value": {"doubleValue": float("nan")}}
    ((spans, _),) = spans_of_file(write(path, request(LEAST | {"attributes": [number]})))
    assert spans[0].attributes["k"] != spans[0].attributes["k"]


def test_a_byte_order_mark_is_no_harm(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(request(LEAST)).encode())
    assert counts(path) == [1]


def test_gzip_is_recognised_by_its_content(path: Path) -> None:
    path.write_bytes(gzip.compress("\n".join(json.dumps(request(LEAST)) for _ in range(3)).encode()))
    assert counts(path) == [1, 1, 1]


def test_a_gzip_file_that_was_cut_gives_what_is_there(path: Path) -> None:
    whole = gzip.compress("\n".join(json.dumps(request(LEAST | {"name": f"{n * 7919:x}"})) for n in range(5000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    tally = Tally()
    assert len(counts(path, tally)) > 100
    assert tally.malformed_requests == 1


@pytest.mark.parametrize("zipped", [False, True])
def test_progress_is_told_in_bytes_of_the_file(path: Path, zipped: bool) -> None:
    content = "\n".join(json.dumps(request(LEAST)) for _ in range(3)).encode()
    path.write_bytes(gzip.compress(content) if zipped else content)
    consumed = [position for _, position in spans_of_file(path)]
    assert consumed == sorted(consumed)
    assert consumed[-1] == path.stat().st_size


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n\n",
        "hello",
        "[]",
        "{}",
        "[1, 2]",
        json.dumps(METRICS),
        '{"resourceSpans": 7}',
        "{\n",
        "\x1f\x8bno gzip",
        "\x00\x01",
    ],
)
def test_a_file_without_trace_data_is_refused_in_one_line(path: Path, content: str) -> None:
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(TelemetryFormatError, match="no OTLP trace data") as refused:
        counts(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_missing_file_is_the_system_s_own_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        counts(path)


def test_lines_are_read_as_they_are_asked_for(path: Path) -> None:
    write(path, *[request(LEAST)] * 2000)
    _, consumed = next(spans_of_file(path))
    assert consumed < path.stat().st_size / 100
