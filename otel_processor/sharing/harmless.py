"""Which attributes hold no content: an allow-list, so that what nobody thought of is taken for content."""

from __future__ import annotations

from typing import Final

from otel_processor.dialects import names

_KEPT: Final = (
    # What we wrote: hashes, numbers, words of ours.
    names.LOOP_RUN_ID, names.LOOP_RUN_DECLARED, names.LOOP_TASK, names.LOOP_TASK_TYPE, names.LOOP_PROGRESS_DECLARED,
    names.LOOP_STOP_REASON_DECLARED, names.LOOP_STEP, names.LOOP_SIGNATURE, names.LOOP_FINGERPRINT, names.LOOP_PROGRESS,
    names.LOOP_REPEATS, names.LOOP_FLAT_STEPS, names.LOOP_PATTERN, names.LOOP_VERDICT, names.LOOP_STOP_REASON,
    # Requests and failures, by their kinds.
    names.HTTP_METHOD, names.HTTP_METHOD_OLD, names.HTTP_STATUS_CODE, names.HTTP_STATUS_CODE_OLD, names.HTTP_RESEND_COUNT,
    names.HTTP_RESEND_COUNT_OLD, names.ERROR_TYPE, names.EXCEPTION_TYPE, names.MCP_METHOD,
    # What a span is, and of whom.
    names.OPERATION, names.PROVIDER, names.SYSTEM, names.AGENT_NAME, names.WORKFLOW_NAME, names.TASK_STATUS, names.TOOL_NAME,
    names.TOOL_CALL_ID, names.TOOL_CALL_ID_FLAT, names.TOOL_STATUS, names.TOOL_STATUS_OLD, names.LOGFIRE_SPAN_TYPE, names.OI_KIND,
    names.OI_TOOL_NAME, names.OI_TOOL_ID, names.OI_TOOL_CALL_ID, names.PHOENIX_TOOL_CALL_ID, names.OI_AGENT_NAME, names.TL_KIND,
    names.TL_ENTITY_NAME, names.TL_WORKFLOW_NAME, names.TL_LC_AGENT_NAME, names.TL_REQUEST_TYPE, names.PLAIN_TOOL_NAME,
    names.PLAIN_CALL_ID, names.PLAIN_SUCCESS, names.PYDANTIC_AGENT_NAME, names.CLAUDE_SPAN_TYPE, names.CLAUDE_TOOL_USE_ID,
    names.CODEX_TOOL_PHASE, names.CODEX_ABORTED, names.HAYSTACK_COMPONENT_TYPE, names.HAYSTACK_TOOL_NAME, names.CREWAI_CREW_ID,
    names.CREWAI_CREW_NAME, names.CREWAI_TASK_ID, names.VERCEL_OPERATION, names.VERCEL_TOOL_NAME, names.VERCEL_TOOL_CALL_ID,
    names.LANGSMITH_KIND, names.LANGSMITH_AGENT_NAME, names.LANGFUSE_TYPE, names.LANGFUSE_LEVEL, names.LANGFUSE_IS_ROOT,
    names.MLFLOW_TYPE, names.GENKIT_TYPE, names.GENKIT_SUBTYPE, names.GENKIT_STATE, names.GENKIT_IS_ROOT, names.MASTRA_TYPE,
    names.SPRING_KIND, names.SPRING_TOOL_NAME, names.LAMINAR_TYPE, names.AGENTOPS_KIND, names.AGENTOPS_TOOL_CALL_ID,
    names.AGENTOPS_TOOL_CALL_TYPE, names.AGENTOPS_END_STATE, names.LIVEKIT_TOOL_NAME, names.LIVEKIT_TOOL_CALL_ID,
    names.LIVEKIT_TOOL_IS_ERROR, names.LIVEKIT_AGENT_NAME, names.VOLTAGENT_ENTITY_TYPE, names.VOLTAGENT_ENTITY_NAME,
    # Models, and how an answer ended.
    names.REQUEST_MODEL, names.RESPONSE_MODEL, names.FINISH_REASONS, names.FINISH_REASON, names.EVENT_FINISH_REASON,
    names.RESPONSE_ID, names.OPENAI_SERVICE_TIER, names.OPENAI_SERVICE_TIER_OLD, names.ANTHROPIC_STOP_REASON, names.OI_MODEL,
    names.OI_REQUEST_MODEL, names.OI_RESPONSE_MODEL, names.OI_PROVIDER, names.OI_SYSTEM, names.OI_FINISH_REASON,
    names.TL_FIRST_FINISH_REASON, names.PLAIN_MODEL, names.CLAUDE_STOP_REASON, names.VERCEL_MODEL, names.VERCEL_PROVIDER,
    names.VERCEL_RESPONSE_MODEL, names.VERCEL_FINISH_REASON, names.LANGSMITH_MODEL, names.LANGSMITH_PROVIDER,
    names.LANGFUSE_MODEL,
    names.LANGFUSE_LC_PROVIDER, names.MLFLOW_MODEL, names.MLFLOW_PROVIDER, names.VOLTAGENT_MODEL, names.VOLTAGENT_ROOT_MODEL,
    names.VOLTAGENT_ROOT_FINISH_REASON,
    # Conversations, by their ids.
    names.SESSION_ID, names.CONVERSATION_ID, names.TL_SESSION_ID, names.TL_CONVERSATION_ID, names.TL_THREAD_ID,
    names.ADK_SESSION_ID, names.CODEX_CONVERSATION_ID, names.CODEX_THREAD_ID, names.VERCEL_SESSION_ID, names.VERCEL_THREAD_ID,
    names.VERCEL_CONVERSATION_ID, names.VERCEL_CHAT_ID, names.VERCEL_CONTEXT_SESSION_ID, names.LANGSMITH_THREAD_ID,
    names.LANGSMITH_SESSION_ID, names.LANGSMITH_CONVERSATION_ID, names.LANGFUSE_SESSION_ID, names.MLFLOW_SESSION_ID,
    names.GENKIT_SESSION_ID, names.MASTRA_THREAD_ID, names.MASTRA_SESSION_ID, names.SPRING_CONVERSATION_ID,
    names.LAMINAR_SESSION_ID,
)  # fmt: skip

_COUNTS: Final = ("token", "usage", "cost")

KNOWN: Final = frozenset(value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)) | {
    "service.name", "service.version", "service.namespace", "deployment.environment", "deployment.environment.name",
    "telemetry.sdk.name", "telemetry.sdk.version", "telemetry.sdk.language", "telemetry.distro.name", "telemetry.distro.version",
    "process.runtime.name", "process.runtime.version", "os.type", "flags", "parent_is_remote", "dropped_attributes_count",
    "dropped_events_count", "dropped_links_count", "resource_dropped_attributes_count", "scope_dropped_attributes_count",
    "otel.attribute_value_length_limit",
}  # fmt: skip
"""Names of attributes and events that say nothing themselves."""

NUMBERS: Final = frozenset(name for name in KNOWN if any(word in name.lower() for word in _COUNTS))
"""Counts of tokens, and costs: kept where they are numbers."""

KEPT: Final = frozenset(_KEPT) | (KNOWN - frozenset(value for value in vars(names).values() if isinstance(value, str)))
"""Names of attributes whose values are kept: numbers, ids, names of models, agents and tools, and how a thing ended."""

KEPT_EVIDENCE: Final = frozenset(
    "period rounds limit tools signatures steps span_ids tool signature repeats effect times flat_steps flat_calls equal_answers "
    "similarities failures attempts error_class pauses_seconds backs_off measure used usual runs shares language".split()
)
"""What an alert is founded on, without what was said or asked."""

KNOWN_EVIDENCE: Final = KEPT_EVIDENCE | {"said", "said_again", "said_each_time", "asked", "hedges"}
"""Names of all that an alert is founded on."""
