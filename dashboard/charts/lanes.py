"""Which lane of a timeline a call is drawn in: a lane for each agent's model and each tool it calls, as many as can be read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dashboard.charts.bands import agents, tool_calls
from dashboard.charts.base import safe
from dashboard.language import counted, t
from dashboard.wording import short, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

AGENTS_SHOWN = 6
LANES_SHOWN = 18
VERDICTS = "verdicts"
MODEL = "model"


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane; the one for verdicts belongs to no agent."""

    agent: str
    kind: str
    """`model`, `tool` or `verdicts`."""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes from top to bottom, those of one agent together; calls beyond them share one more."""

    shown: tuple[Lane, ...]
    agents_left_out: int
    tools_left_out: int
    """Of the agents that have lanes."""

    def place(self, agent: str, kind: str, tool: object) -> int:
        """Return the lane of a call, the one for the rest where it has none of its own."""
        wanted = Lane(agent, MODEL) if kind == "model" else Lane(agent, "tool", text_of(tool, ""))
        return self.shown.index(wanted) if wanted in self.shown else len(self.shown)

    def of_agent(self, agent: str) -> list[int]:
        """Return the places of an agent's lanes."""
        return [place for place, lane in enumerate(self.shown) if lane.agent == agent and lane.kind != VERDICTS]

    def borders(self) -> list[float]:
        """Return where the lanes of one agent end and those of the next begin."""
        own = [lane for lane in self.shown if lane.kind != VERDICTS]
        first = len(self.shown) - len(own)
        return [first + place - 0.5 for place, (one, next_) in enumerate(pairwise(own), start=1) if one.agent != next_.agent]

    def labels(self, *, with_rest: bool) -> list[str]:
        """Return what the lanes are called; the first of an agent names it where there are several."""
        several = len({lane.agent for lane in self.shown if lane.kind != VERDICTS}) > 1
        named: set[str] = set()
        labels = []
        for lane in self.shown:
            label = _label(lane)
            if several and lane.kind != VERDICTS and lane.agent not in named:
                named.add(lane.agent)
                label = f"{safe(short(lane.agent, 14)) or t('timeline.no_agent')}: {label}"
            labels.append(label)
        return [*labels, f"<i>{self._rest()}</i>"] if with_rest else labels

    def _rest(self) -> str:
        return counted("timeline.other_agents", self.agents_left_out) if self.agents_left_out else t("timeline.other_tools")


def lanes_of(calls: pd.DataFrame, *, with_verdicts: bool) -> Lanes:
    """Choose the lanes: of the first agents, each with its model and the tools that it calls most.

    Args:
        calls: rows of `run_calls`.
        with_verdicts: whether there is a lane for verdicts on top.
    """
    groups = [(str(agent), rows) for agent, rows in calls.groupby(agents(calls), sort=False)]
    shown = [Lane("", VERDICTS)] if with_verdicts else []
    room = LANES_SHOWN - len(shown)
    left_out = 0
    for place, (agent, rows) in enumerate(groups[:AGENTS_SHOWN]):
        own = _lanes_of_agent(agent, rows)
        # What earlier agents left over is there for the later ones.
        share = max(room // (min(len(groups), AGENTS_SHOWN) - place), 1)
        shown += own[:share]
        room -= len(own[:share])
        left_out += len(own) - len(own[:share])
    return Lanes(tuple(shown), max(len(groups) - AGENTS_SHOWN, 0), left_out)


def _lanes_of_agent(agent: str, rows: pd.DataFrame) -> list[Lane]:
    tools = tool_calls(rows)["tool"].map(lambda tool: text_of(tool, "")).value_counts()
    # The one called first goes first among those called as often: a lane keeps its place while a run goes on.
    own = [Lane(agent, "tool", str(name)) for name in tools.index]
    return [Lane(agent, MODEL), *own] if (rows["kind"] == "model").any() else own


def agents_shown(lanes: Sequence[Lane]) -> int:
    """Return how many agents have lanes."""
    return len({lane.agent for lane in lanes if lane.kind != VERDICTS})


def _label(lane: Lane) -> str:
    match lane.kind:
        case "verdicts":
            return t("timeline.verdicts")
        case "model":
            return t("timeline.model")
        case _:
            return safe(short(lane.tool, 18)) if lane.tool else t("wording.no_name")
