"""A launcher gets a command and an environment, and needs no Streamlit for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dashboard
from dashboard import launch


def test_the_command_serves_the_app_on_the_host_and_port_asked_for() -> None:
    command = launch.command(8510, "0.0.0.0")
    assert command[:5] == [sys.executable, "-P", "-m", "streamlit", "run"]
    assert Path(command[5]).is_file()
    assert "--server.port=8510" in command
    assert "--server.address=0.0.0.0" in command
    assert "--browser.gatherUsageStats=false" in command
    assert "--server.headless=true" in command


def test_every_flag_is_an_option_that_streamlit_has() -> None:
    from streamlit import config

    known = config.get_config_options()
    for flag in launch.command(8510, "localhost")[6:]:
        assert flag.removeprefix("--").split("=")[0] in known


def test_the_environment_names_the_database_and_where_the_pages_are() -> None:
    assert launch.environment("a.duckdb", "parent") == {"OTEL_PROCESSOR_DB": "a.duckdb", "PYTHONPATH": "parent"}
    assert launch.environment("a", "parent", python_path="mine")["PYTHONPATH"].split(":")[0].split(";")[0] == "parent"


def test_it_imports_no_streamlit() -> None:
    code = "import sys, dashboard.launch; sys.exit('streamlit' in sys.modules)"
    parent = Path(dashboard.__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=parent, check=False).returncode == 0
