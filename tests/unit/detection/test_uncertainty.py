from __future__ import annotations

import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.lexicon import Lexicon, hedges
from otel_processor.detection.uncertainty import Hedging
from otel_processor.model import Action, Pattern, Verdict
from otel_processor.policy import Policy

ANY_TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]))
LIKE_SPEECH = st.lists(
    st.sampled_from(
        ["maybe", "not sure", "I", "the file", "quizá", "no sé", "也许", "文件", "```", "`x`", "> y\n", "\x1b[31m", "."]
    )
).map(" ".join)

SURE = "I open the file and read the second table, then I compare its columns with the list."

ENGLISH = (
    "I read the log of the importer first. Perhaps the file was cut off while it was being written.",
    "The log is fine. Maybe the importer reads the wrong file, or it might skip the header.",
    "I'm not sure what to look at. It could be the header, I can't tell, perhaps it's the file after all.",
)
SPANISH = (
    "Miro primero el registro del importador. Quizá el fichero se cortó mientras se escribía en el disco.",
    "El registro está bien. Tal vez el importador lee otro fichero, o puede que se salte la cabecera.",
    "No sé qué mirar ahora. No estoy seguro de nada, a lo mejor es la cabecera, tal vez el fichero.",
)
FRENCH = (
    "Je lis d'abord le journal de l'importateur. Le fichier a peut-être été coupé pendant l'écriture.",
    "Le journal est bon. Peut-être que l'outil lit un autre fichier, ou alors je me demande s'il saute une ligne.",
    "Je ne sais pas quoi regarder. Je ne suis pas sûr, c'est peut-être l'en-tête, aucune idée en fait.",
)
GERMAN = (
    "Ich lese zuerst das Protokoll des Imports. Vielleicht wurde die Datei beim Schreiben abgeschnitten.",
    "Das Protokoll ist gut. Vielleicht liest der Import eine andere Datei, oder es könnte sein, dass er die Zeile überspringt.",
    "Ich weiß nicht, was ich noch ansehen soll. Ich bin nicht sicher, vermutlich die Kopfzeile, keine Ahnung.",
)
PORTUGUESE = (
    "Leio primeiro o registo do importador. Talvez o ficheiro tenha sido cortado durante a escrita no disco.",
    "O registo está bem. Talvez o importador leia outro ficheiro, ou pode ser que salte a linha.",
    "Não sei o que ver agora. Não tenho certeza de nada, talvez seja a linha, quem sabe o ficheiro.",
)
CHINESE = (
    "我先看一下导入程序的日志文件内容。文件可能在写入磁盘的时候被截断了。",
    "日志没有问题。也许导入程序读了别的文件，或许跳过了表头那一行。",
    "我不确定现在该看什么。也许是表头，也许是文件，我不知道，说不定都不是。",
)
LANGUAGES = {"en": ENGLISH, "es": SPANISH, "fr": FRENCH, "de": GERMAN, "pt": PORTUGUESE, "zh": CHINESE}


def hear(*texts: str, policy: Policy | None = None) -> list[Verdict | None]:
    hedging = Hedging()
    policy = policy or Policy()
    return [hedging.turn(text, step=number, span_id=f"s{number}", policy=policy) for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize(("language", "turns"), LANGUAGES.items())
def test_doubt_that_rises_three_turns_in_a_row_is_told_at_the_third(language: str, turns: tuple[str, ...]) -> None:
    first, second, verdict = hear(*turns)
    assert first is None
    assert second is None
    assert verdict is not None
    assert (verdict.pattern, verdict.action, verdict.stop_reason) == (Pattern.UNCERTAINTY, Action.COMPRESS, None)
    assert verdict.severity == "warning"
    assert verdict.evidence["steps"] == [1, 2, 3]
    assert verdict.evidence["span_ids"] == ["s1", "s2", "s3"]
    assert verdict.evidence["shares"] == sorted(set(verdict.evidence["shares"]))
    assert verdict.evidence["language"] == language
    assert verdict.evidence["hedges"]


def test_the_message_says_how_far_doubt_rose() -> None:
    verdict = hear(*ENGLISH)[-1]
    assert verdict is not None
    assert verdict.message == "the agent has become less sure 3 turns in a row: hedging went from 5% to 33% of its words"
    assert verdict.evidence["hedges"] == ["perhaps", "maybe", "might", "not sure", "could be", "can t tell"]


@pytest.mark.parametrize("turns", LANGUAGES.values())
def test_doubt_that_falls_or_stays_is_not_told(turns: tuple[str, ...]) -> None:
    first, second, third = turns
    assert hear(third, second, first) == [None] * 3
    assert hear(third, third, third, third) == [None] * 4
    assert hear(first, second, SURE, second, third)[:-1] == [None] * 4


def test_a_sure_turn_between_begins_the_count_anew() -> None:
    first, second, third = ENGLISH
    assert hear(first, second, SURE, third) == [None] * 4
    assert hear(first, SURE, second, third) == [None] * 4


def test_short_lines_between_change_nothing() -> None:
    first, second, third = ENGLISH
    assert hear(first, "Running the tests.", second, "", "  ", "Maybe.", third)[-1] is not None


def test_no_one_or_two_hedges_in_short_texts_are_chance() -> None:
    none = "I look at the second page of the report now and note the totals."
    one = "The totals are there, so the third page probably holds the list of customers."
    two = "The list has forty customers. Maybe the others are on the next page, perhaps sorted by name, so I go on."
    assert hear(none, one, two, none, one, two) == [None] * 6
    assert hear(one, two, none, one) == [None] * 4


def test_two_or_three_careful_words_in_a_hundred_are_not_doubt() -> None:
    def careful(hedges: int) -> str:
        return " ".join(["maybe"] * hedges + ["word"] * (100 - hedges))

    assert hear(careful(1), careful(2), careful(3)) == [None] * 3
    assert hear(careful(2), careful(4), careful(7))[-1] is not None


def test_a_small_rise_of_much_doubt_is_not_told() -> None:
    def doubtful(hedges: int) -> str:
        return " ".join(["maybe"] * hedges + ["word"] * (100 - hedges))

    assert hear(doubtful(20), doubtful(21), doubtful(22)) == [None] * 3
    assert hear(doubtful(10), doubtful(30), doubtful(30)) == [None] * 3


def test_the_policy_says_how_many_turns() -> None:
    assert hear(*ENGLISH[:2], policy=Policy(uncertainty_turns=2)) == [None, None]
    assert hear(ENGLISH[0], ENGLISH[2], policy=Policy(uncertainty_turns=2))[-1] is not None
    assert hear(*ENGLISH, policy=Policy(uncertainty_turns=4)) == [None] * 3


def test_a_number_of_turns_beyond_what_is_remembered_is_still_bounded() -> None:
    policy = Policy(uncertainty_turns=1_000)
    rising = [" ".join(["maybe"] * hedges + ["word"] * (400 - hedges)) for hedges in range(1, 40)]
    assert any(hear(*rising, policy=policy))


@pytest.mark.parametrize(
    "text",
    [
        "Without doubt the header is the cause; I am certain of it and change the file at once.",
        "There is no doubt about it: the importer definitely skips the header of the file.",
        "This is clearly and certainly the right file; I am not uncertain about that in any way.",
        "Sin duda alguna la causa es la cabecera; no cabe duda y cambio el fichero enseguida.",
        "Sin lugar a dudas es el fichero correcto; estoy seguro y no tengo dudas de ello.",
        "Il n'y a aucun doute, la cause est bien l'en-tête; sans le moindre doute c'est le bon fichier.",
        "Ohne Zweifel ist die Kopfzeile die Ursache; ich bin ganz sicher und ändere die Datei zweifellos.",
        "Sem dúvida a causa é a linha; não tenho dúvidas e mudo o ficheiro agora mesmo.",
        "毫无疑问原因就是表头，不可能是别的文件，我尽可能快地修改这个文件。",
        "Could you please tell me the order number? Would you like me to go on with the refund?",
    ],
)
def test_what_is_said_with_confidence_or_politeness_is_no_doubt(text: str) -> None:
    found = hedges().find(text.lower(), least=1)
    assert found is not None
    assert found.phrases == ()


DOUBT = "maybe perhaps I'm not sure about any of it, who knows"


@pytest.mark.parametrize("quoted", [f"```\n{DOUBT}\n```", f"```\n{DOUBT}", f"> {DOUBT}", f"  > {DOUBT}\n> {DOUBT}", f"`{DOUBT}`"])
def test_code_and_quotes_do_not_count(quoted: str) -> None:
    hedging = "It may be that one of these lines says what to do with the header."
    assert hear(*ENGLISH[:2], f"{SURE}\n{DOUBT}")[-1] is not None
    assert hear(*ENGLISH[:2], f"{SURE} {hedging}\n{quoted}")[-1] is None


def test_terminal_colours_change_nothing() -> None:
    assert hear(*(text.replace(" ", " \x1b[31m").replace("sure", "sure\x1b[0m") for text in ENGLISH))[-1] is not None


def test_accents_may_be_written_as_letters_and_marks() -> None:
    assert hear(*(unicodedata.normalize("NFD", text) for text in SPANISH))[-1] is not None


def test_of_a_very_long_text_both_ends_are_heard() -> None:
    filler = "The table is as it was. " * 400_000
    assert hear(*(f"{text * 20}{filler}{text * 20}" for text in ENGLISH))[-1] is not None


def test_a_copy_goes_on_by_itself() -> None:
    hedging = Hedging()
    for number, text in enumerate(ENGLISH[:2]):
        hedging.turn(text, step=number, span_id="s", policy=Policy())
    twin = hedging.copy()
    assert hedging.turn(SURE, step=3, span_id="s", policy=Policy()) is None
    assert twin.turn(ENGLISH[2], step=3, span_id="s", policy=Policy()) is not None
    assert hedging.turn(ENGLISH[2], step=4, span_id="s", policy=Policy()) is None


@given(st.lists(ANY_TEXT | LIKE_SPEECH, max_size=8))
def test_any_text_can_be_heard_and_shares_are_shares(texts: list[str]) -> None:
    for verdict in hear(*texts, policy=Policy(uncertainty_turns=2)):
        if verdict is not None:
            assert all(0 < share <= 1 for share in verdict.evidence["shares"])
            assert len(verdict.evidence["hedges"]) <= 12


def test_a_language_is_a_file_of_words_and_phrases() -> None:
    lexicon = Lexicon({"xx": "# a comment\n\nZork\nblah Blah\n! blah blah zork\n!\n", "yy": "fnord\n"})
    found = lexicon.find("zork is blah blah and blah-blah, blah blah zork.", least=1)
    assert found is not None
    assert (found.language, found.phrases, found.length) == ("xx", ("zork", "blah blah"), 3)
    other = lexicon.find("fnord fnord zork", least=1)
    assert other is not None
    assert (other.language, other.length, other.total) == ("yy", 2, 3)


def test_every_phrase_of_every_lexicon_is_found_in_a_sentence() -> None:
    folder = files("otel_processor.detection") / "lexicons"
    names = sorted(item.name for item in folder.iterdir())
    assert names == ["de.txt", "en.txt", "es.txt", "fr.txt", "pt.txt", "zh.txt"]
    for name in names:
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(("#", "!")):
                found = Lexicon({name: (folder / name).read_text(encoding="utf-8")}).find(f"{line.lower()}.", least=0)
                assert found is not None
                assert found.length > 0, (name, line)
