"""An agent that asks the guard over HTTP, as one in any language does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from tests.integration.service.serving import JSON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.service.serving import Answer, Serving


@dataclass(frozen=True, slots=True)
class Agent:
    """Asks and tells; what it says of itself goes along with every request."""

    service: Serving
    about: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def post(self, name: str, **said: Any) -> Answer:
        """Say something; the answer as it came."""
        return self.service.post(orjson.dumps({**self.about, **said}), JSON, f"/v1/guard/{name}", **self.headers)

    def say(self, name: str, **said: Any) -> Any:
        """Say something that must be taken; the answer's body."""
        answer = self.post(name, **said)
        assert answer.status == 200, (name, answer)
        assert answer.headers["content-type"] == JSON
        return answer.json

    def call(self, tool: str, arguments: Any = None, result: Any = "nothing", **more: Any) -> str:
        """Ask, do as one is told, and return what was answered to the question."""
        answer = self.say("before_tool", tool=tool, arguments=arguments, **more)
        if answer["allowed"]:
            self.say("after_tool", call_id=answer["call_id"], result=result)
        else:
            self.say("skip_tool", call_id=answer["call_id"])
        action: str = answer["action"]
        return action

    def loop(self, times: int, **more: Any) -> list[str]:
        """Make the same call again and again, until stopped; return what was answered."""
        answers = []
        for _ in range(times):
            self.say("step")
            answers.append(self.call("search", {"q": "x"}, **more))
            if answers[-1] == "stop":
                break
        return answers
