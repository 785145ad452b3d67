"""One palette for both backgrounds, and the same colour for the same thing everywhere."""

from __future__ import annotations

import tomllib

import pytest

from dashboard import launch, theme

LOOKS = tomllib.loads(launch.LOOKS.read_text(encoding="utf-8"))["theme"]
BACKGROUNDS = (LOOKS["light"]["backgroundColor"], LOOKS["dark"]["backgroundColor"])
PATTERNS = (
    "hard_loop",
    "soft_loop",
    "cycle",
    "retry_storm",
    "semantic_loop",
    "no_progress",
    "uncertainty",
    "limit",
    "spend_spike",
)


def luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_every_colour_can_be_seen_on_both_backgrounds(background: str) -> None:
    named = [theme.NEUTRAL, theme.ONCE, theme.WARNING, theme.STEPS, theme.TOKENS, theme.OTHER_REPEATED, *theme.SIGNATURES]
    named += [theme.pattern_color(pattern) for pattern in PATTERNS]
    named += [theme.stop_reason_color(reason) for reason in ("completed", "error", "timeout", "running", "max_steps_reached")]
    assert {color: contrast(color, background) for color in named if contrast(color, background) < 3} == {}


def test_patterns_differ_and_share_the_colour_of_their_stop_reason() -> None:
    assert len({theme.pattern_color(pattern) for pattern in PATTERNS}) == len(PATTERNS)
    assert theme.pattern_color("hard_loop") == theme.stop_reason_color("loop_detected:repeated_tool_signature")
    assert theme.pattern_color("no_progress") == theme.stop_reason_color("loop_detected:no_progress")


def test_the_names_that_the_package_uses_are_known() -> None:
    from otel_processor.model import Pattern, StopReason

    assert [name for name in Pattern if theme.pattern_label(name) == name] == []
    without_color = {name for name in StopReason if theme.stop_reason_color(name) == theme.NEUTRAL}
    assert without_color <= {"abandoned", "unknown"}


def test_what_is_not_known_keeps_its_name() -> None:
    assert theme.pattern_label("newer") == theme.stop_reason_label("newer") == theme.verdict_label("newer") == "newer"
    assert theme.pattern_color("newer") == theme.NEUTRAL


def test_a_signature_keeps_its_colour_when_others_come() -> None:
    few = theme.signature_colors(["aa", "bb"])
    more = theme.signature_colors(["aa", "bb", "cc", "dd"])
    assert {name: more[name] for name in few} == few


def test_the_first_ten_signatures_have_ten_colours() -> None:
    colors = theme.signature_colors([f"{number:064x}" for number in range(12)])
    assert len(set(list(colors.values())[:10])) == 10
    assert set(list(colors.values())[10:]) == {theme.OTHER_REPEATED}


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_text_and_what_can_be_clicked_are_readable(ground: str) -> None:
    looks = LOOKS[ground]
    for background in (looks["backgroundColor"], looks["secondaryBackgroundColor"]):
        assert contrast(looks["textColor"], background) >= 7
        assert contrast(looks["primaryColor"], background) >= 4.5
