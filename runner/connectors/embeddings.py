"""Embeddings of OpenAI's API (platform.openai.com/docs/api-reference/embeddings). The content of an answer is a list
of vectors as JSON, in the order of the texts."""

from __future__ import annotations

import json
from typing import Any

from runner.connectors.base import ModelRequest, Usage
from runner.connectors.faults import ProviderError, reported
from runner.connectors.provider import Answer, HttpConnector
from runner.connectors.usage import UsageReader

DIGITS = 6
"""Significant digits of a number that are kept: a recording has some 1 500 of them for each text."""


class EmbeddingsAnswer(Answer):
    """Takes a list of embeddings, which comes whole."""

    def __init__(self) -> None:
        super().__init__()
        self._reason, self._content = "stop", ""

    def feed(self, event: dict[str, Any]) -> str:
        """Takes an answer that is called a stream."""
        self.whole(event)
        return self._content

    def whole(self, value: dict[str, Any]) -> None:
        """Takes an answer. Raises ProviderError, and KeyError, TypeError or ValueError for one of another shape."""
        if error := value.get("error") or (value if value.get("object") == "error" else None):
            raise reported(error)
        items = value.get("data")
        if not isinstance(items, list) or not items:
            raise ProviderError("the response has no embedding", None)
        ordered = sorted(enumerate(items), key=lambda item: item[1].get("index", item[0]))
        vectors = [[float(f"{number:.{DIGITS}g}") for number in item["embedding"]] for _, item in ordered]
        self._content = json.dumps(vectors, separators=(",", ":"), allow_nan=False)
        model = value.get("model")
        self._model, self._said_usage = model if isinstance(model, str) else "", value.get("usage")

    def _said(self) -> dict[str, Any]:
        return {"content": self._content}

    def _usage(self, figures: UsageReader) -> Usage:
        return figures.usage(input_tokens=figures.count("prompt_tokens", "total_tokens"), cost=figures.amount("cost"))


class OpenAIEmbeddings(HttpConnector):
    """What a connector of `type: openai` asks for embeddings."""

    default_host = "https://api.openai.com"
    path = "embeddings"
    answer = EmbeddingsAnswer

    def write(self, request: ModelRequest) -> dict[str, Any]:
        """The body of a request for the embeddings of the texts of its messages."""
        texts = [message["content"] for message in request.messages]
        body = {"model": self.model, "input": texts, "encoding_format": "float"}
        return {**body, **self.options.get("extra_body", {})}
