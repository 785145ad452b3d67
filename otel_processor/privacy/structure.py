"""What of a span is structure and no content: kept where nothing is kept that people, models or tools said.

Numbers and truth values are, wherever they stand; texts only under names that are known to hold names, ids, models or words of
a fixed list, and only where they look like it. All else becomes a stand-in of its length and hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from otel_processor.dialects import names

_LETTERS: Final = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")
_LONGEST_NAME: Final = 128
_MOST_WORDS: Final = 6
_LONGEST_LIST: Final = 16

_ID: Final = re.compile(r"[\w.:/#+=$<>-]{1,200}")
_KEY: Final = re.compile(r"[A-Za-z][\w.:\[\]-]{0,127}")
_INDEX: Final = re.compile(r"\.[0-9]{1,4}(?=\.|$)")

_FREE: Final = (
    "traceloop.association.properties.", "ai.telemetry.metadata.", "ai.settings.context.", "langsmith.metadata.",
    "langfuse.trace.metadata.", "langfuse.observation.metadata.", "mastra.metadata.", "genkit:metadata:", "lmnr.association.",
    "metadata.",
)  # fmt: skip
"""Beginnings of names whose rest users choose."""

_SPACES: Final = frozenset(
    "gen_ai ai llm loop openinference traceloop input output tool agent graph session user metadata embedding retrieval document "
    "langsmith langfuse mlflow mastra haystack crewai codex agentops gcp spring lmnr lk pydantic_ai logfire operation "
    "anthropic openai aws azure google mcp jsonrpc rpc http url server client network net peer db messaging faas code thread "
    "process host os service telemetry deployment cloud k8s container error exception event otel span entity subagent usage "
    "conversation prompt completion message messages content role id index finish_reason".split()
)
"""First parts of names that conventions define."""

NAMES: Final = frozenset(
    {
        names.LOOP_RUN_ID, names.LOOP_TASK, names.LOOP_TASK_TYPE, names.LOOP_STOP_REASON_DECLARED,
        names.LOOP_FLAGGED_REASON_DECLARED, names.LOOP_SIGNATURE,
        names.LOOP_FINGERPRINT, names.LOOP_PATTERN, names.LOOP_VERDICT, names.LOOP_STOP_REASON, names.HTTP_METHOD,
        names.HTTP_METHOD_OLD, names.ERROR_TYPE, names.EXCEPTION_TYPE, names.SESSION_ID, names.MCP_METHOD, names.OPERATION,
        names.PROVIDER, names.SYSTEM, names.CONVERSATION_ID, names.AGENT_NAME, "gen_ai.agent.id", names.WORKFLOW_NAME,
        names.TASK_STATUS, names.TOOL_NAME, "gen_ai.tool.type", names.TOOL_CALL_ID, names.TOOL_CALL_ID_FLAT, names.TOOL_STATUS,
        names.TOOL_STATUS_OLD, names.REQUEST_MODEL, names.RESPONSE_MODEL, names.FINISH_REASONS, names.FINISH_REASON,
        names.RESPONSE_ID, "gen_ai.output.type", names.OPENAI_SERVICE_TIER, names.OPENAI_SERVICE_TIER_OLD, names.EVENT_NAME,
        names.EVENT_FINISH_REASON, names.PLAIN_AGENT_NAME, names.LOGFIRE_SPAN_TYPE, names.ANTHROPIC_STOP_REASON,
        names.OI_KIND, names.OI_TOOL_NAME, names.OI_TOOL_ID, names.OI_TOOL_CALL_ID, names.PHOENIX_TOOL_CALL_ID,
        names.OI_AGENT_NAME, names.OI_NODE_NAME, names.OI_NODE_ID, names.OI_MODEL, names.OI_REQUEST_MODEL,
        names.OI_RESPONSE_MODEL, names.OI_PROVIDER, names.OI_SYSTEM, names.OI_FINISH_REASON, "input.mime_type",
        names.OI_OUTPUT_MIME_TYPE, names.TL_KIND, names.TL_ENTITY_NAME, names.TL_WORKFLOW_NAME, names.TL_SESSION_ID,
        names.TL_CONVERSATION_ID, names.TL_THREAD_ID, names.TL_LC_AGENT_NAME, names.TL_REQUEST_TYPE, names.PLAIN_TOOL_NAME,
        names.PLAIN_CALL_ID, names.PLAIN_MODEL, names.ADK_SESSION_ID, names.CLAUDE_SPAN_TYPE, names.CLAUDE_TOOL_USE_ID,
        names.CLAUDE_AGENT_ID, names.CLAUDE_STOP_REASON, names.CODEX_TOOL_PHASE, names.CODEX_CONVERSATION_ID,
        names.CODEX_THREAD_ID, names.HAYSTACK_COMPONENT_TYPE, names.HAYSTACK_TOOL_NAME, names.CREWAI_CREW_ID,
        names.CREWAI_CREW_NAME, names.CREWAI_TASK_ID, names.CREWAI_AGENT_ROLE, names.CREWAI_CREW_KEY, names.LOGFIRE_GROUP_ID,
        names.AUTOGEN_RECIPIENT_CLASS, names.VERCEL_OPERATION, names.VERCEL_FUNCTION_ID, names.VERCEL_SESSION_ID,
        names.VERCEL_THREAD_ID, names.VERCEL_CONVERSATION_ID, names.VERCEL_CHAT_ID, names.VERCEL_CONTEXT_SESSION_ID,
        names.VERCEL_TOOL_NAME, names.VERCEL_TOOL_CALL_ID, names.VERCEL_MODEL, names.VERCEL_PROVIDER,
        names.VERCEL_RESPONSE_MODEL, names.VERCEL_FINISH_REASON, names.LANGSMITH_KIND, names.LANGSMITH_AGENT_NAME,
        names.LANGSMITH_NODE, names.LANGSMITH_THREAD_ID, names.LANGSMITH_SESSION_ID, names.LANGSMITH_CONVERSATION_ID,
        names.LANGSMITH_MODEL, names.LANGSMITH_PROVIDER, names.LANGFUSE_TYPE, names.LANGFUSE_MODEL, names.LANGFUSE_LEVEL,
        names.LANGFUSE_SESSION_ID, names.LANGFUSE_LC_AGENT_NAME, names.LANGFUSE_LC_PROVIDER, names.MLFLOW_TYPE,
        names.MLFLOW_FUNCTION, names.MLFLOW_MODEL, names.MLFLOW_PROVIDER, names.MLFLOW_SESSION_ID, names.GENKIT_TYPE,
        names.GENKIT_SUBTYPE, names.GENKIT_NAME, names.GENKIT_STATE, names.GENKIT_SESSION_ID, names.MASTRA_TYPE,
        names.MASTRA_THREAD_ID, names.MASTRA_SESSION_ID, names.SPRING_KIND, names.SPRING_TOOL_NAME,
        names.SPRING_CONVERSATION_ID, names.LAMINAR_TYPE, names.LAMINAR_SESSION_ID, names.AGENTOPS_KIND,
        names.AGENTOPS_REQUEST_TYPE, names.AGENTOPS_NAME, names.AGENTOPS_ENTITY_NAME, names.AGENTOPS_TOOL_CALL_ID,
        names.AGENTOPS_TOOL_CALL_TYPE, names.AGENTOPS_END_STATE, names.OPENLIT_SDK_VERSION, names.LIVEKIT_TOOL_NAME,
        names.LIVEKIT_TOOL_CALL_ID, names.LIVEKIT_GENERATION_ID, names.LIVEKIT_AGENT_LABEL, names.LIVEKIT_AGENT_NAME,
        names.VOLTAGENT_ENTITY_TYPE, names.VOLTAGENT_ENTITY_NAME, names.VOLTAGENT_SUBAGENT_NAME, names.VOLTAGENT_MODEL,
        names.VOLTAGENT_ROOT_MODEL, names.VOLTAGENT_ROOT_FINISH_REASON,
        # Log records of coding agents.
        names.LOG_EVENT, names.LOG_APART, names.LOG_TRACED, names.EVENT_TIMESTAMP, names.DURATION_MS, names.CLAUDE_PROMPT_ID,
        names.CLAUDE_REQUEST_ID, names.CODEX_EVENT_KIND, names.GEMINI_LOG_TOOL, names.GEMINI_LOG_FINISH_REASONS,
        # What is told of our own alerts, of other systems, and of what made the span.
        "alert_id", "pattern", "severity", "action", "stop_reason", "rpc.system", "rpc.method", "db.system", "db.system.name",
        "db.operation.name", "messaging.system", "messaging.operation.name", "network.protocol.name", "service.name",
        "service.version", "service.namespace", "telemetry.sdk.name", "telemetry.sdk.language", "telemetry.sdk.version",
        "telemetry.auto.version", "telemetry.distro.name", "telemetry.distro.version", "deployment.environment",
        "deployment.environment.name", "process.runtime.name", "process.runtime.version", "os.type", "trace_id",
        "span_id",
    }
)  # fmt: skip
"""Attributes, each with a name, an id or a word of a list."""

_PLACES: Final = frozenset(
    "server.address service.instance.id host.arch cloud.provider cloud.region container.id "
    "k8s.namespace.name k8s.deployment.name k8s.pod.name schema_url resource_schema_url".split()
)
"""Attributes that say where something runs or stands: no content, and nobody's business but the owner's."""

_WORDS: Final = frozenset({names.ERROR_TYPE, names.EXCEPTION_TYPE, names.FINISH_REASONS, names.FINISH_REASON, names.OPERATION})
"""Of these, what holds one word: writers put whole messages there as well."""


def withheld(text: str) -> str:
    """Return what stands for a text that is not kept: enough of its hash that the same one is known again, and its characters.

    The hash is written so that nothing takes it for a number, an id or a word of any language.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16].translate(_LETTERS)
    return f"[withheld:h1{digest}:{len(text)}]"


def is_stand_in(text: str) -> bool:
    """Return whether a text stands for one that is not kept."""
    return text.startswith("[withheld:h1")


def as_name(text: str) -> str:
    """Return a name as it is, and what is none, a sentence or a whole text, as its stand-in."""
    if is_stand_in(text) or (len(text) <= _LONGEST_NAME and "\n" not in text and len(text.split()) <= _MOST_WORDS):
        return text
    return withheld(text)


def as_id(text: str) -> str:
    """Return an id or a word of a list as it is, and anything else as its stand-in."""
    return text if not text or is_stand_in(text) or _ID.fullmatch(text) else withheld(text)


def key_of(name: str) -> str:
    """Return the name of an attribute as it is where a convention defines it or may, else as its stand-in."""
    if name in NAMES or name in _PLACES:
        return name
    if not _KEY.fullmatch(name) or name.startswith(_FREE):
        return withheld(name)
    return name if _INDEX.sub("", re.split(r"[.:]", name, maxsplit=1)[0]) in _SPACES else withheld(name)


def value_of(name: str, value: Any, as_text: Any) -> Any:
    """Return the value of an attribute as far as it is structure.

    Args:
        name: of the attribute.
        value: any value.
        as_text: gives the text of a value that is no text, for its length and hash.
    """
    if isinstance(value, bool | int | float) or value is None:
        return value
    if name in NAMES or name in _PLACES:
        kept = as_id if name in _WORDS or name.lower().endswith("id") else as_name
        if isinstance(value, str):
            return kept(value)
        if isinstance(value, list | tuple) and len(value) <= _LONGEST_LIST and all(isinstance(inner, str) for inner in value):
            return [kept(inner) for inner in value]
    return withheld(value if isinstance(value, str) else as_text(value))


def attributes_of(attributes: Mapping[str, Any], as_text: Any) -> dict[str, Any]:
    """Return attributes as far as they are structure."""
    return {key_of(str(name)): value_of(str(name), value, as_text) for name, value in attributes.items()}
