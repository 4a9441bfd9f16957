"""The text of a message, which conditions of scripted replies and providers read in the same way."""

from __future__ import annotations

from typing import Any

from table_tests import each

from runner.connectors.base import message_text

TEXTS: dict[str, tuple[Any, str]] = {
    "text": ("hello", "hello"),
    "nothing": (None, ""),
    "no content": ("", ""),
    "one part": ({"type": "text", "text": "hello"}, "hello"),
    "parts": (
        [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": "x"}, {"type": "text", "text": "b"}],
        "a\nb",
    ),
    "texts among the parts": (["a", {"type": "text", "text": "b"}], "a\nb"),
    "a part without its text": (
        [{"type": "text", "text": None}, {"type": "text"}, {"type": "text", "text": "b"}],
        "\n\nb",
    ),
}


@each("name", TEXTS)
def test_the_text_of_a_message(name: str) -> None:
    content, text = TEXTS[name]
    assert message_text({"role": "user", "content": content}) == text
