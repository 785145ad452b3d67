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


def test_single_fields_come_from_the_environment_and_go_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY_MAX_STEPS", "20")
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY_REPEAT_SCOPE", "run")
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY_VOLATILE_KEYS", '["session"]')
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY_MIN_NEW_SHARE", " ")
    expected = Policy(max_steps=20, repeat_scope="run", volatile_keys=frozenset({"session"}))
    assert policy_of(None) == expected
    monkeypatch.setenv("OTEL_PROCESSOR_POLICY", str(written(tmp_path, "max_steps = 3\nmax_tool_calls = 4")))
    assert policy_of(None) == Policy(max_steps=20, max_tool_calls=4, repeat_scope="run", volatile_keys=frozenset({"session"}))
    assert policy_of(Policy()) == Policy()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "MAX_STEP",
            "3",
            "OTEL_PROCESSOR_POLICY_MAX_STEP names no field of the policy; did you mean OTEL_PROCESSOR_POLICY_MAX_STEPS",
        ),
        ("MAX_STEPS", "many", "policy.max_steps is 'many'"),
        ("PATTERNS", "cycle", "patterns is a list of pattern names"),
        ("MAX_STEPS", "1\nmax_tokens = 3", "policy.max_steps is"),
    ],
)
def test_a_variable_that_is_wrong_is_named(name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"OTEL_PROCESSOR_POLICY_{name}", value)
    with pytest.raises(ConfigError) as raised:
        policy_of(None)
    assert said in str(raised.value)


def test_a_type_of_task_may_go_by_other_fields(tmp_path: Path) -> None:
    text = """
        [task_types.research]
        no_progress_stop_steps = 8
        volatile_keys = ["cursor"]
    """
    policy = load_policy(written(tmp_path, text))
    assert policy.for_task_type("research") == Policy(no_progress_stop_steps=8, volatile_keys=frozenset({"cursor"}))
    assert policy.for_task_type("code") is policy
    with pytest.raises(ConfigError, match=r"no_progress_stop_step.*did you mean no_progress_stop_steps"):
        load_policy(written(tmp_path, "[task_types.research]\nno_progress_stop_step = 8"))
