from __future__ import annotations

from pathlib import Path

import pytest

from otel_processor.errors import ConfigError
from otel_processor.policy import Policy
from otel_processor.policy_file import load_policy, policy_of


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_kind_of_field_is_read(tmp_path: Path) -> None:
    text = """
        hard_loop_repeats = 4
        min_new_share = 0.2
        volatile_keys = ["session"]
        effects = { scroll_down = "poll" }
        discounts = { openai = 0.1 }
        [prices."our-model*"]
        input = 0.5
        output = 2.0
    """
    assert load_policy(written(tmp_path, text)) == Policy(
        hard_loop_repeats=4,
        min_new_share=0.2,
        volatile_keys=frozenset({"session"}),
        effects={"scroll_down": "poll"},
        discounts={"openai": 0.1},
        prices={"our-model*": {"input": 0.5, "output": 2.0}},
    )


def test_the_example_of_the_module_is_a_policy(tmp_path: Path) -> None:
    from otel_processor import policy_file

    example = (policy_file.__doc__ or "").partition("\n\n")[2]
    assert load_policy(written(tmp_path, example)).hard_loop_repeats == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hard_lop_repeats = 3", "did you mean hard_loop_repeats"),
        ("nonsense_of_mine = 3", "known are"),
        ("hard_loop_repeats = 1", "at least 2"),
        ("hard_loop_repeats = 'many'", "whole number"),
        ("min_changed_chars = 'many'", "whole number"),
        ("volatile_keys = 'session'", "list of argument names"),
        ("effects = 3", "wrong kind"),
        ("not toml", "cannot be read"),
    ],
)
def test_what_is_wrong_is_said_with_the_remedy(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_policy(written(tmp_path, text))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_policy(tmp_path / "nowhere.toml")


def test_what_is_given_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY", str(written(tmp_path, "hard_loop_repeats = 7")))
    assert policy_of(None).hard_loop_repeats == 7
    assert policy_of(Policy()).hard_loop_repeats == 3
    monkeypatch.delenv("OTEL_PROCESSOR_POLICY")
    assert policy_of(None) == Policy()
