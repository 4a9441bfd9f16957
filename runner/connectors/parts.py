"""The parts of a message's content, and the data in their URLs."""

from __future__ import annotations

from typing import Any

from runner.connectors.base import ConnectorError, Message
from scripttest.values import Value

_SHOWN = 40
"""Characters that an error quotes of a file."""


class Data(Value):
    """The content of a `data:` url."""

    mime: str
    base64: str

    @property
    def is_text(self) -> bool:
        """Whether it is text, source code and JSON included."""
        kind = self.mime.partition(";")[0]
        return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))

    def text(self) -> str:
        """The content as text. Raises ConnectorError when it is not base64."""
        import base64

        try:
            return base64.b64decode(self.base64).decode("utf-8", "replace")
        except ValueError as error:
            said = f'cannot send a file of {self.mime}: "{self.base64[:_SHOWN]}" is not base64'
            raise ConnectorError(said, hint="Attach it as file://<path>") from error


_TEXTS = (
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/javascript",
    "application/typescript",
    "application/x-sh",
    "application/sql",
    "application/toml",
)


def data_of(url: str) -> Data | None:
    """The content of a `data:` url; None for other urls."""
    if not url.startswith("data:"):
        return None
    head, _, body = url[5:].partition(",")
    if head.endswith(";base64"):
        return Data(mime=head.removesuffix(";base64") or "text/plain", base64=body)
    import base64
    from urllib.parse import unquote_to_bytes

    return Data(mime=head or "text/plain", base64=base64.b64encode(unquote_to_bytes(body)).decode())


def content_parts(message: Message) -> list[dict[str, Any]]:
    """The content of a message as a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if isinstance(content, dict):
        return [content]
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in content or []]


def text_of(message: Message) -> str:
    """The text of a message's content, its parts joined by newlines."""
    return "\n".join(str(part.get("text") or "") for part in content_parts(message) if part.get("type") == "text")


def url_of(part: dict[str, Any], kind: str) -> str:
    """The url of an `image_url` or `file` part, which is `{url}` or, of an image, the url itself."""
    value = part.get(kind)
    return str(value.get("url", "")) if isinstance(value, dict) else str(value or "")
