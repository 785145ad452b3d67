"""Everything that is known of the state of the system, asked once for all parts of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard import data
from dashboard.questions import health as questions
from otel_processor.store.creating import SCHEMA_MAJOR, SCHEMA_MINOR
from otel_processor.store.surroundings import Surroundings, look_around

if TYPE_CHECKING:
    from dashboard.data import Answer


@dataclass(frozen=True, slots=True)
class State:
    """What was found around the database and in it."""

    around: Surroundings
    schema: Answer
    writers: Answer
    signs: Answer
    sinks: Answer
    messages: Answer
    tables: Answer
    seal: Answer | None = None
    """What a sealed copy says of itself; None where nobody made the database to be given away."""

    @property
    def is_older(self) -> bool:
        """Whether the database lacks what this version added: the next write adds it."""
        if not self.schema.is_usable or self.schema.frame.empty:
            return False
        row = self.schema.frame.iloc[0]
        return (int(row["schema_major"]), int(row["schema_minor"])) < (SCHEMA_MAJOR, SCHEMA_MINOR)

    def is_to_come(self, answer: Answer) -> bool:
        """Whether an answer is missing for that reason only."""
        return self.is_older and answer.state is data.State.UNREADABLE


def ask() -> State:
    """Look around the database, and ask it."""
    schema = questions.schema_version()
    is_sealed = schema.is_usable and bool(schema.frame["is_sealed"].any())
    return State(
        around=look_around(data.database_path()),
        schema=schema,
        writers=questions.writers(),
        signs=questions.open_run_signs(),
        sinks=questions.delivery_summary(),
        messages=questions.deliveries(),
        tables=questions.table_rows(),
        seal=questions.seal() if is_sealed else None,
    )
