from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.restating import Restating
from otel_processor.model import Action, Pattern, StopReason, Verdict
from otel_processor.policy import Policy

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]))
LIKE_SPEECH = st.lists(
    st.sampled_from(
        "plan read file 7 a1b2 change address restart service 文件 配置 読み込む ขั้นตอน ``` ` > \x1b[31m . \n".split(" ")
    )
).map(" ".join)

PLAN = (
    "I need to find the configuration file, then update the database URL, and finally restart the service to apply the change.",
    "My plan: locate the configuration file, change the database URL in it, and restart the service so that the change applies.",
    "To solve this, I'll first find the configuration file. Next I will update the database URL. Then I restart the service.",
    "First, find the configuration file; second, update the database URL; third, restart the service and apply the change.",
    "So I should find the configuration file, update the URL of the database, then restart the service to apply it.",
)
FACTS = (
    "We know that the invoice was issued in March, its total is 4200 EUR and the vendor is Acme. The due date is missing.",
    "So far: vendor Acme, total 4200 EUR, invoice issued in March. What is still missing is the due date.",
    "In summary, the vendor is Acme and the invoice total comes to 4200 EUR; it was issued in March. The due date is not known.",
    "Summarising the facts: Acme is the vendor, the invoice was issued in March, the total is 4200 EUR, the due date is missing.",
    "To recap, invoice issued in March by vendor Acme, total 4200 EUR. The due date is still missing.",
)
SPANISH = (
    "Primero voy a leer el fichero de configuración, después cambiar la dirección de la base de datos y reiniciar el servicio.",
    "El plan es leer el fichero de configuración, cambiar la dirección de la base de datos y reiniciar el servicio.",
    "Resumiendo: hay que leer el fichero de configuración, cambiar la dirección de la base de datos y reiniciar el servicio.",
    "Como decía, toca leer el fichero de configuración, cambiar la dirección de la base de datos y reiniciar el servicio.",
    "Por tanto, el siguiente paso es leer el fichero de configuración; luego cambiar la dirección de la base de datos.",
)
CHINESE = (
    "我的计划是先读取配置文件，然后修改数据库地址，最后重启服务使修改生效。",
    "首先需要读取配置文件，接着修改数据库地址，最后重启服务使修改生效。",
    "总结一下：先读取配置文件，然后修改数据库的地址，再重启服务使修改生效。",
    "接下来的步骤是读取配置文件、修改数据库地址并重启服务，使修改生效。",
    "所以我会先读取配置文件，再修改数据库地址，然后重启服务使修改生效。",
)
RUSSIAN = (
    "Нужно найти файл конфигурации, затем изменить адрес базы данных и перезапустить службу, чтобы изменения вступили в силу.",
    "План: сначала найду файл конфигурации, потом изменю адрес базы данных и перезапущу службу, чтобы изменения вступили в силу.",
    "Ищу конфигурационный файл, меняю адреса базы данных, после чего службу нужно перезапустить, и изменения вступят в силу.",
    "Следующий шаг: поиск файла конфигурации, изменение адреса базы данных и перезапуск службы, чтобы изменения вступили в силу.",
    "Значит, надо найти файл конфигурации, изменить адрес базы данных, перезапустить службу, и тогда изменения вступят в силу.",
)
WORK = (
    "The importer reads the file with csv.reader and a fixed comma. The delimiter should come from csv.Sniffer instead.",
    "The sniffer returns a dialect; the importer passes it to csv.reader. A file with semicolons now loads with four columns.",
    "The test for the importer uses a comma file only. I add one with a semicolon file that has quoted fields and an empty line.",
    "The new test fails because the importer strips quotes by itself before csv.reader sees the line; that strip call is wrong.",
    "Without the strip call the importer test passes. The old comma test fails since its fixture holds a trailing space.",
    "The trailing space came from the exporter, which pads fields. I remove the padding in the exporter and both tests pass.",
)


def hear(*texts: str, policy: Policy | None = None) -> list[Verdict | None]:
    restating = Restating()
    policy = policy or Policy()
    return [restating.turn(text, step=number, span_id=f"s{number}", policy=policy) for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize("turns", [PLAN, FACTS, SPANISH, CHINESE, RUSSIAN])
def test_what_is_said_again_four_times_in_a_window_is_told(turns: tuple[str, ...]) -> None:
    *before, verdict = hear(*turns)
    assert before == [None] * 4
    assert verdict is not None
    assert (verdict.pattern, verdict.action, verdict.stop_reason) == (Pattern.SEMANTIC_LOOP, Action.STOP, StopReason.SEMANTIC)
    assert verdict.severity == "critical"
    assert verdict.evidence["steps"] == [2, 3, 4, 5]
    assert verdict.evidence["span_ids"] == ["s2", "s3", "s4", "s5"]
    assert min(verdict.evidence["similarities"]) >= 0.7
    assert 0 < len(verdict.evidence["said_again"]) <= 200


def test_the_evidence_quotes_the_sentence_that_is_said_again() -> None:
    openings = ("Let me think.", "Right.", "To sum up what has to be done:", "Here is how I go on.", "The weather is fine.")
    verdict = hear(*(f"{opening} {PLAN[0]}" for opening in openings))[-1]
    assert verdict is not None
    assert verdict.evidence["said_again"] == PLAN[0]
    assert verdict.message.startswith("4 of the last 5 turns only said again what had been said before: I need to find")


def test_work_on_one_subject_is_not_a_restatement() -> None:
    assert hear(*WORK) == [None] * 6


def test_the_same_words_put_together_otherwise_say_something_else() -> None:
    words = "importer sniffer dialect delimiter column fixture exporter padding quotes reader semicolon header".split()
    turns = [" ".join(words[start * stride % 12] for start in range(12)) for stride in (1, 5, 7, 11)]
    assert hear(*turns, policy=Policy(semantic_repeats=2)) == [None] * 4
    assert hear(*turns[:1] * 4, policy=Policy(semantic_repeats=2))[-1] is not None


def test_two_plans_in_turn_are_both_said_again() -> None:
    assert hear(PLAN[0], FACTS[0], PLAN[0], FACTS[0], PLAN[0], FACTS[0])[-1] is not None


def test_something_new_begins_the_count_anew() -> None:
    restating = Restating()
    for number in range(40):
        if number % 4 == 0:
            restating.something_new()
        assert restating.turn(PLAN[0], step=number, span_id="s", policy=Policy()) is None


def test_step_and_attempt_numbers_are_no_difference() -> None:
    assert hear(*(f"Step {number}, attempt {number + 7}: {PLAN[0]}" for number in range(1, 6)))[-1] is not None


def test_a_report_on_another_order_is_work() -> None:
    report = "The reservation {} was cancelled and the refund goes back to the original payment method within some business days."
    orders = ("FDZ0T5", "HSR97W", "W2378156", "SI5UKW", "K67C4W", "20931")
    assert hear(*(report.format(order) for order in orders)) == [None] * 6
    assert hear(*(report.format("20931") for _ in orders))[-1] is not None


@pytest.mark.parametrize(
    "line",
    [
        "Let me check the file.",
        "Running the tests again.",
        "The service is down for a moment, I wait 4 seconds as it asks.",
        "The job is still running, so I will wait for 30 seconds and check again.",
        "Vuelvo a lanzar las pruebas para ver si ahora pasan todas.",
        "让我再次运行测试看看结果。",
    ],
)
def test_a_routine_line_is_no_evidence(line: str) -> None:
    assert hear(*[line] * 20) == [None] * 20


def test_routine_lines_between_do_not_push_a_plan_out_of_the_window() -> None:
    turns = [text for plan in PLAN for text in (plan, "Running the tests again.", "", "Let me check the file.")]
    assert any(hear(*turns))


def test_code_does_not_count() -> None:
    listing = "\n```python\nread_configuration(path)\nupdate_address(database)\nrestart(service)\n```"
    assert hear(*(f"{text}{listing * 5}" for text in WORK)) == [None] * 6
    assert hear(*(f"{text}\n```\nprogram_{number}()\n```" for number, text in enumerate(PLAN)))[-1] is not None


def test_the_policy_says_how_much_and_how_often() -> None:
    assert hear(*PLAN[:3], policy=Policy(semantic_repeats=2))[-1] is not None
    assert hear(*PLAN, policy=Policy(semantic_similarity=1.0)) == [None] * 5
    assert hear(*PLAN, policy=Policy(semantic_window=3)) == [None] * 5
    assert hear(*PLAN * 30, policy=Policy(semantic_window=1_000_000, semantic_repeats=60))[-1] is not None


def test_a_copy_goes_on_by_itself() -> None:
    restating = Restating()
    for number, text in enumerate(PLAN[:4]):
        restating.turn(text, step=number, span_id="s", policy=Policy())
    twin = restating.copy()
    restating.something_new()
    assert restating.turn(PLAN[4], step=4, span_id="s", policy=Policy()) is None
    assert twin.turn(PLAN[4], step=4, span_id="s", policy=Policy()) is not None


def test_what_differs_only_at_the_end_of_a_long_text_differs() -> None:
    opening = " ".join(f"opening{number}" for number in range(300))
    assert hear(*(f"{opening} {' '.join(f'turn{turn}word{word}' for word in range(200))}" for turn in range(6))) == [None] * 6
    filler = " ".join(f"word{number}" for number in range(200_000))
    assert hear(*[f"{PLAN[0]} {filler} {PLAN[1]}"] * 5)[-1] is not None


def test_memory_is_bounded() -> None:
    restating = Restating()
    policy = Policy(semantic_window=1_000_000)
    for number in range(300):
        restating.turn(" ".join(f"w{number}x{word}" for word in range(2_000)), step=number, span_id="s", policy=policy)
    assert len(restating._turns) == 64
    assert all(len(turn.words) <= 1_500 and len(turn.pairs) <= 1_500 for turn in restating._turns)


@pytest.mark.parametrize("unit", ["word ", "a", ". ", "`", "```", "> ", "\x1b]", "\x1b[", "文", "文。", "\n", "7 ", "a.b "])
@pytest.mark.timeout(20)
def test_hearing_takes_little_time_on_texts_that_nearly_match(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert len(hear(*[text] * 20)) == 20


@given(st.lists(ANY_TEXT | LIKE_SPEECH, max_size=10))
def test_any_text_can_be_heard(texts: list[str]) -> None:
    for verdict in hear(*texts, policy=Policy(semantic_repeats=2, semantic_similarity=0.0)):
        if verdict is not None:
            assert verdict.message.isprintable()
            assert verdict.evidence["said_again"].isprintable()


@given(st.lists(LIKE_SPEECH, max_size=12))
def test_turns_after_something_new_count_as_in_a_run_of_their_own(texts: list[str]) -> None:
    policy = Policy(semantic_repeats=2)
    restating = Restating()
    for text in PLAN:
        restating.turn(text, step=0, span_id="s", policy=policy)
    restating.something_new()
    heard = [restating.turn(text, step=n, span_id=f"s{n}", policy=policy) for n, text in enumerate(texts, start=1)]
    assert heard == hear(*texts, policy=policy)


def test_a_verdict_is_the_same_in_every_process() -> None:
    program = (
        "from otel_processor.detection.restating import Restating; from otel_processor.policy import Policy\n"
        f"r = Restating()\nfor t in {PLAN!r}: r.turn(t, step=1, span_id='s', policy=Policy())\n"
        "print([(sorted(t.words), sorted(t.pairs), t.similarity) for t in r._turns])"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
