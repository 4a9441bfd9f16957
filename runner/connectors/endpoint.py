"""Where a model or an MCP server is reached over HTTP, and whose it is."""

from __future__ import annotations

from urllib.parse import urlsplit

from scripttest.values import Value

_PORTS = {"http": 80, "https": 443}
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


class Endpoint(Value):
    """The place of a server. Names and passwords of its address are not in it."""

    address: str
    """The name of the host, or its IP address."""
    port: int


def endpoint_of(url: str) -> Endpoint | None:
    """The endpoint of an address; None if it is none of HTTP."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return Endpoint(address=parts.hostname, port=port) if parts.hostname else None


def vendor_of(type: str, host: str) -> str:
    """The vendor of a connector's model, by its host, else its type: many hosts offer the API of another vendor. In the
    words of OpenTelemetry: `gen_ai.provider.name` (opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai)."""
    name = urlsplit(host).hostname or ""
    return next((vendor for end, vendor in _HOSTS.items() if f".{name}".endswith(f".{end}")), type)
