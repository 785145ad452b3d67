"""The help: every command and every option says in a sentence what it does."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from otel_processor.cli import cli
from otel_processor.store.scripts import creation_order

COMMANDS = sorted(cli.commands)


def test_the_commands_are_those_of_the_design() -> None:
    """Nobody's script breaks because a command went away."""
    assert COMMANDS == [
        "alert", "backup", "compact", "dashboard", "demo", "doctor", "export", "import", "prune", "replay", "serve", "sql",
    ]  # fmt: skip


def test_the_tour_comes_first() -> None:
    """Who asks for help sees first what to try first, each command with an untruncated sentence."""
    text = CliRunner().invoke(cli, ["--help"]).stdout
    listed = text.partition("Commands:\n")[2].splitlines()
    assert listed[0].split()[0] == "demo"
    assert len(listed) == len(COMMANDS)
    assert all(line.rstrip().endswith(".") and not line.rstrip().endswith("...") for line in listed)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described(name: str) -> None:
    """Each parameter of a command appears in its help with a sentence."""
    command = cli.commands[name]
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.name}"
            assert parameter.help.rstrip().endswith((".", "]")), f"{name} {parameter.name}"
            assert parameter.opts[-1] in result.stdout
        else:
            assert parameter.name is not None
            assert parameter.name.upper() in command.help, f"{name} does not say what {parameter.name.upper()} is"


def test_every_command_but_help_takes_the_database() -> None:
    """`--db` means the same everywhere, with the same default; but the demo keeps its runs apart."""
    for command in (command for name, command in cli.commands.items() if name not in {"alert", "demo"}):
        (option,) = [parameter for parameter in command.params if parameter.name == "db"]
        assert isinstance(option, click.Option)
        assert option.envvar == "OTEL_PROCESSOR_DB"
        assert str(option.default) == "agents.duckdb"
    (option,) = [parameter for parameter in cli.commands["demo"].params if parameter.name == "db"]
    assert (option.envvar, str(option.default)) == (None, "demo.duckdb")


def test_wrong_usage_is_exit_code_2() -> None:
    """An unknown command, an unknown option and a value out of range are wrong usage."""
    for words in (["nonsense"], ["sql", "--nonsense"], ["sql", "--limit", "0", "select 1"], ["dashboard", "--port", "70000"]):
        assert CliRunner().invoke(cli, words).exit_code == 2


def test_the_help_of_sql_names_every_view() -> None:
    text = CliRunner().invoke(cli, ["sql", "--help"]).stdout
    assert [view for view in creation_order("views") if view not in text] == []
