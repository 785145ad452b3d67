"""Which attributes hold no content: an allow-list, so that what nobody thought of is taken for content."""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names
from otel_processor.model import Pattern
from otel_processor.privacy.structure import NAMES

_NUMBERS_AND_FLAGS: Final = frozenset(
    {
        names.LOOP_RUN_DECLARED, names.LOOP_PROGRESS_DECLARED, names.LOOP_STEP, names.LOOP_PROGRESS, names.LOOP_REPEATS,
        names.LOOP_FLAT_STEPS, names.HTTP_STATUS_CODE, names.HTTP_STATUS_CODE_OLD, names.HTTP_RESEND_COUNT,
        names.HTTP_RESEND_COUNT_OLD, names.PLAIN_SUCCESS, names.CODEX_ABORTED, names.LANGFUSE_IS_ROOT, names.GENKIT_IS_ROOT,
        names.LIVEKIT_TOOL_IS_ERROR, "flags", "parent_is_remote", "dropped_attributes_count", "dropped_events_count",
        "dropped_links_count", "resource_dropped_attributes_count", "scope_dropped_attributes_count",
        names.VALUE_LIMIT,
    }
)  # fmt: skip

_COUNTS: Final = ("token", "usage", "cost")

KNOWN: Final = (
    frozenset(value for name, value in vars(names).items() if name.isupper() and isinstance(value, str))
    | NAMES
    | _NUMBERS_AND_FLAGS
)
"""Names of attributes and events that say nothing themselves."""

NUMBERS: Final = frozenset(name for name in KNOWN if any(word in name.lower() for word in _COUNTS))
"""Counts of tokens, and costs: kept where they are numbers."""

KEPT: Final = NAMES | _NUMBERS_AND_FLAGS
"""Names of attributes whose values are kept: numbers, ids, names of models, agents and tools, and how a thing ended."""

KEPT_EVIDENCE: Final = frozenset(
    "period rounds limit tools signatures steps span_ids tool signature repeats effect times flat_steps flat_calls equal_answers "
    "similarities failures attempts error_class pauses_seconds backs_off measure used usual runs shares language".split()
)
"""What an alert is founded on, without what was said or asked."""

KNOWN_EVIDENCE: Final = KEPT_EVIDENCE | {"said", "said_again", "said_each_time", "asked", "hedges"}
"""Names of all that an alert is founded on."""

PATTERNS_IN_WORDS_OF_OURS: Final = frozenset(
    {
        Pattern.HARD_LOOP, Pattern.SOFT_LOOP, Pattern.CYCLE, Pattern.RETRY_STORM, Pattern.SEMANTIC_LOOP, Pattern.NO_PROGRESS,
        Pattern.UNCERTAINTY, Pattern.LIMIT, Pattern.SPEND_SPIKE,
    }
)  # fmt: skip
"""Patterns whose message is a sentence of ours with numbers and names of tools; where one quotes, its evidence says so."""
