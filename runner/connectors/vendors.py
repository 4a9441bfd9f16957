"""The vendor of a model, in the words of OpenTelemetry: `gen_ai.provider.name` of its semantic conventions for
generative AI (opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai)."""

from __future__ import annotations

from urllib.parse import urlsplit

_HOSTS = {
    "anthropic.com": "anthropic",
    "amazonaws.com": "aws.bedrock",
    "cohere.ai": "cohere",
    "cohere.com": "cohere",
    "deepseek.com": "deepseek",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "aiplatform.googleapis.com": "gcp.vertex_ai",
    "googleapis.com": "gcp.gen_ai",
    "groq.com": "groq",
    "mistral.ai": "mistral_ai",
    "openai.azure.com": "azure.ai.openai",
    "azure.com": "azure.ai.inference",
    "perplexity.ai": "perplexity",
    "x.ai": "x_ai",
}
"""End of a host's name → who has it; the first that fits decides."""


def vendor_of(type: str, host: str) -> str:
    """The vendor of a connector's model, by its host, else its type: many hosts offer the API of another vendor."""
    name = urlsplit(host).hostname or ""
    return next((vendor for end, vendor in _HOSTS.items() if f".{name}".endswith(f".{end}")), type)
