from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_processor.detection.effects import effect_of
from otel_processor.detection.shell import effect_of_command
from otel_processor.model import Effect

LOOKS = """
ls
ls -la src | head -20
cat a.py
cd repo && grep -rn 'x > y' src
git status
sed -n '1,40p' a.py
find . -name '*.py' 2>/dev/null
LC_ALL=C sort a.txt | uniq -c
sudo cat /etc/hosts
/usr/bin/wc -l a
docker inspect web
"""

WAITS = """
sleep 30
sleep 5 && cat log
kubectl get pods
kubectl top pods -n ingest
docker ps
ps aux
systemctl status web
"""

ANYTHING = """
rm -rf build
python3 a.py
cat a > b
cat a >> b
sed -i 's/a/b/' x
find . -name x -delete
find . -exec rm {} +
ls; rm a
git checkout a.py
git
git -C repo log
pytest -q
echo $(rm a)
echo `rm a`
grep -l x * | xargs rm
ls | tee out
curl -X POST http://x
npm install
kubectl delete pod x
"""


@pytest.mark.parametrize("command", LOOKS.strip().splitlines())
def test_what_only_looks(command: str) -> None:
    assert effect_of_command(command) is Effect.READ


@pytest.mark.parametrize("command", WAITS.strip().splitlines())
def test_what_waits_or_asks_for_a_state(command: str) -> None:
    assert effect_of_command(command) is Effect.POLL


@pytest.mark.parametrize("command", [*ANYTHING.strip().splitlines(), "cat <<E > a\nE", "", "   ", "x" * 1_000, "ls " + "a" * 500])
def test_what_may_do_anything(command: str) -> None:
    assert effect_of_command(command) is Effect.UNKNOWN


@given(st.text())
def test_any_text_has_an_effect(command: str) -> None:
    assert effect_of_command(command) in Effect


def test_a_shell_does_what_its_command_says() -> None:
    assert effect_of("bash", None, {"command": "ls -la"}) is Effect.READ
    assert effect_of("execute", None, {"cmd": "sleep 3"}) is Effect.POLL
    assert effect_of("bash", None, {"command": "make"}) is Effect.UNKNOWN
    assert effect_of("bash", {"bash": "write"}, {"command": "ls -la"}) is Effect.WRITE


def test_an_editor_does_what_its_action_says() -> None:
    assert effect_of("str_replace_editor", None, {"command": "view"}) is Effect.READ
    assert effect_of("str_replace_editor", None, {"command": "create"}) is Effect.WRITE
    assert effect_of("message", None, {"action": "send"}) is Effect.WRITE
    assert effect_of("browser_action", None, {"action": "scroll_down"}) is Effect.POLL
    assert effect_of("str_replace_editor", None, {"command": "undo_it"}) is Effect.WRITE
