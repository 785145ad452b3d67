"""How writers name models and providers, and under which names a price list may know them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

LONGEST_NAME: Final = 256

_PROVIDERS: Final = {
    # As the GenAI conventions, their older vintages and the frameworks spell them → the price list's id.
    "anthropic": "anthropic",
    "aws": "aws",
    "aws_bedrock": "aws",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "amazon_bedrock": "aws",
    "azure": "azure",
    "az": "azure",
    "azure_openai": "azure",
    "azureopenai": "azure",
    "azure_ai": "azure",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "fireworks_ai": "fireworks",
    "gcp": "google",
    "google": "google",
    "googleai": "google",
    "google_genai": "google",
    "google_gla": "google",
    "google_vertex": "google",
    "google_vertexai": "google",
    "gemini": "google",
    "vertex": "google",
    "vertex_ai": "google",
    "vertexai": "google",
    "groq": "groq",
    "mistral": "mistral",
    "mistral_ai": "mistral",
    "mistralai": "mistral",
    "moonshot": "moonshotai",
    "moonshot_ai": "moonshotai",
    "moonshotai": "moonshotai",
    "openai": "openai",
    "openrouter": "openrouter",
    "perplexity": "perplexity",
    "together": "together",
    "together_ai": "together",
    "x_ai": "x-ai",
    "xai": "x-ai",
    "zai": "zai",
}

_OWN_MACHINE: Final = frozenset(
    {"ollama", "vllm", "lmstudio", "lm_studio", "llama_cpp", "llamacpp", "llamafile", "localai", "sglang"}
)
_LOCAL_NAME: Final = re.compile(r":(\d+(\.\d+)?[bm]\b|latest$)|\.gguf$")
"""`deepseek-r1:7b`, whichever client it was called with."""

_MAKERS: Final = frozenset({"openai", "anthropic", "google", "deepseek", "mistral", "x-ai", "cohere"})
"""Their SDKs are used against other providers too, who take the same requests."""

_RESOURCE: Final = re.compile(r"^(projects/.*/)?(publishers/[^/]+/)?models/")
_BEDROCK: Final = re.compile(r"^([a-z]+(-[a-z]+)?\.)?(anthropic|amazon|meta|cohere|mistral|deepseek|ai21|openai|qwen)\.[a-z]")
_ONE_SELLER: Final = re.compile(
    r"(?!gpt-oss)(gpt-|chatgpt-|o[134](-|$)|claude-|gemini-|grok-)|deepseek-(chat|reasoner)$|[a-z]*stral-[a-z0-9-]*latest$"
)
"""Names under which the maker itself sells. Open weights cost what their host takes, so a name alone says nothing."""


class Candidate(NamedTuple):
    """A name to look a model up by, and with whom; None: with whoever makes it."""

    name: str
    provider: str | None


def provider_id(provider: str | None) -> str | None:
    """Return the price list's id of a provider as a span names it (`az.ai.openai`, `ChatOpenAI`), or None."""
    if not provider:
        return None
    word = provider.strip().lower().replace("-", "_")
    # `google.generative-ai`, `openai.responses`, `gcp.vertex_ai`, `aws.bedrock`: the first part is who is paid.
    return _PROVIDERS.get(word) or _PROVIDERS.get(word.partition(".")[0]) or _PROVIDERS.get(word.removeprefix("chat"))


def candidates(model: str, provider: str | None) -> tuple[Candidate, ...]:
    """Return under which names to look for a model, best first; none where it surely has no list price."""
    if len(model) > LONGEST_NAME:
        return ()
    name = _RESOURCE.sub("", model.strip().lower())
    told = (provider or "").strip().lower().replace("-", "_").replace(".", "_")
    if not name or told in _OWN_MACHINE or _LOCAL_NAME.search(name):
        return ()
    hint = provider_id(provider)
    found = [] if hint is None else [Candidate(name, hint)]
    for separator in ("/", ":"):
        head, there_is, tail = name.partition(separator)
        if there_is and head in _OWN_MACHINE:
            return ()
        if there_is and (owner := provider_id(head)) is not None and (hint in (None, owner) or hint in _MAKERS):
            found.append(Candidate(tail, owner))
    if hint is None or hint in _MAKERS:
        if _BEDROCK.match(name):
            found.append(Candidate(name, "aws"))
        elif _ONE_SELLER.match(name):
            found.append(Candidate(name, None))
    return tuple(dict.fromkeys(found))
