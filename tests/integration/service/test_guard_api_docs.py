"""What `docs/guard-api.md` shows is what happens."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import orjson

from otel_processor.model import Action, Mode
from otel_processor.service.guard_api.messages import OfRun
from otel_processor.service.guard_api.operations import OPERATIONS
from otel_processor.service.guard_api.runs import MOST_RUNS
from otel_processor.service.limits import Limits
from tests.integration import processes
from tests.integration.service.serving import JSON, serving_here

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (processes.ROOT / "docs/guard-api.md").read_text(encoding="utf-8")


def test_its_example_is_answered_so(db: Path) -> None:
    shell = TEXT.partition("curl ")[2].partition("```")[0].replace("\\\n", " ")
    words = shlex.split(shell)
    shown = orjson.loads(TEXT.partition("```json\n")[2].partition("```")[0])
    with serving_here(db, mode=Mode.ENFORCE) as service:
        path = next(word for word in words if "localhost" in word).removeprefix("localhost:4318")
        found = service.post(words[words.index("-d") + 1].encode(), JSON, path).json
    assert re.fullmatch("[0-9a-f]{16}", shown["call_id"])
    assert found | {"call_id": shown["call_id"]} == shown


def test_what_is_only_advised_looks_so(db: Path) -> None:
    shown = orjson.loads(TEXT.split("```json\n")[2].partition("```")[0].replace(", …}", "}"))
    question = {"run_id": shown["run_id"], "goal": "find the invoice", "tool": "search", "arguments": {"q": "invoice May"}}
    with serving_here(db, mode=Mode.OBSERVE) as service:
        for _ in range(5):
            found = service.post(orjson.dumps(question), JSON, "/v1/guard/before_tool").json
            service.post(orjson.dumps({"run_id": "run-1", "result": "nothing found"}), JSON, "/v1/guard/after_tool")
    assert found["evidence"] | shown["evidence"] == found["evidence"]
    unlike = {"call_id": "", "evidence": {}}
    assert found | unlike == shown | unlike


def test_it_names_every_operation_with_its_fields() -> None:
    of_all = set(OfRun.__struct_fields__)
    for one in OPERATIONS:
        row = re.search(rf"^\| `{one.name}` \|.*$", TEXT, re.MULTILINE)
        assert row is not None, one.name
        wanted = set(one.request.__struct_fields__) - of_all
        if one.name == "after_tool":
            wanted -= {"tool", "arguments"}
        said = set(re.findall(r"`(\w+)`", row[0].split("|")[3])) - of_all
        assert said == wanted, one.name
    for action in Action:
        assert f"| `{action}` |" in TEXT


def test_its_numbers_are_the_limits() -> None:
    limits = Limits()
    assert f"more than {limits.guard_body_bytes >> 20} MiB |" in TEXT
    assert f"more than {limits.guard_requests} requests, or {limits.guard_waiting_bytes >> 20} MiB, at once" in TEXT
    assert f"{MOST_RUNS:,} runs are remembered" in TEXT
