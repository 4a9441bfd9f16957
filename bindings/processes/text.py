"""`text.*`: extracts code blocks and data from a model's answer; converts Markdown to HTML and back.

Extraction works as in Yao. If there are fenced blocks, these are used; otherwise the whole text is one block whose type
is guessed, `text` if nothing fits. JSON and YAML blocks also have their value as `data`. JSON in prose without a fence
is not found. `start` and `end` count UTF-8 bytes of the trimmed text, as in Yao; a `start` of 0 is left out."""

from __future__ import annotations

import re
from typing import Any

from bindings.processes import formats
from bindings.processes.arguments import host_functions
from scripttest.typing_names import Json

_TAG = re.compile(r"\w*", re.ASCII)
_FENCE = "```"
_LONG_BLANK = re.compile(r"[ \t]{200,}")
_LANGUAGES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("go", ("package ", "func ", "import (", 'import "'), ("\npackage ", "\nfunc ")),
    ("typescript", (), ("interface ", ": string", ": number", ": boolean", ": any", "as const")),
    ("java", ("import java.",), ("public class ", "public static void main", "System.out.")),
    ("csharp", ("using System",), ("Console.Write", "static void Main")),
    ("rust", ("fn ",), ("pub fn ", "println!", "let mut ")),
    ("python", ("def ", "class "), ("if __name__", "print(")),
    ("javascript", ("function ",), ("console.log", "require(", "module.exports")),
    ("ruby", (), ("puts ", "attr_accessor")),
    ("shell", ("export ",), ("echo $",)),
)
"""Languages in the order in which they are tried: how the text starts, or what its first five lines contain."""
_SHEBANG = (("python", "python"), ("bash", "shell"), ("/sh", "shell"), ("node", "javascript"))
_SQL = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "DROP ", "ALTER ")
_CSS = ("margin:", "padding:", "display:", "color:", "background:", "font-")


def extract(text: str) -> list[dict[str, Json]]:
    """The blocks of a text: `{type, content, data?, start?, end?}`; none when the text is blank."""
    text = text.strip()
    if not text:
        return []
    blocks = _fenced(text) or [_block(guess(text) or "text", text, 0, len(text.encode(errors="surrogatepass")))]
    for block in blocks:
        if block["type"] in ("json", "yaml", "yml"):
            data = _data(block["type"], block["content"])
            if data is not None:
                block["data"] = data
    return blocks


def extract_json(text: str) -> Json:
    """The value of the first JSON or YAML block, or None."""
    return next((block["data"] for block in extract(text) if "data" in block), None)


def _fenced(text: str) -> list[dict[str, Json]]:
    blocks = []
    at = start = size = 0
    while (opening := text.find(_FENCE, at)) >= 0:
        tag = _TAG.match(text, opening + len(_FENCE))
        inside = tag.end() if tag else opening + len(_FENCE)
        closing = text.find(_FENCE, inside)
        if closing < 0:
            break
        content = text[inside:closing].strip()
        end = closing + len(_FENCE)
        start = size + len(text[at:opening].encode(errors="surrogatepass"))
        size = start + len(text[opening:end].encode(errors="surrogatepass"))
        name = text[opening + len(_FENCE) : inside].lower() or guess(content) or "text"
        blocks.append(_block(name, content, start, size))
        at = end
    return blocks


def _block(name: str, content: str, start: int, end: int) -> dict[str, Json]:
    block: dict[str, Json] = {"type": name, "content": content}
    if start:
        block["start"] = start
    block["end"] = end
    return block


def _data(name: str, content: str) -> Json:
    try:
        if name != "json" and not content.startswith(("{", "[")):
            return formats.parse(content, "yaml")
        return formats.parse(content)
    except (ValueError, RecursionError):
        return None


def guess(text: str) -> str:
    """The language of a text without a tag, or an empty string."""
    text = text.strip()
    if text.startswith(("{", "[")):
        return "json"
    if text.startswith("<") and (markup := _guess_markup(text)):
        return markup
    if text.startswith("---"):
        return "yaml"
    if text.startswith("#!/"):
        return next((name for mark, name in _SHEBANG if mark in text), "shell")
    if text[:7].upper().startswith(_SQL):
        return "sql"
    if text.startswith("#include"):
        return "cpp" if any(mark in text for mark in ("<iostream>", "<vector>", "std::")) else "c"
    if text.startswith(("# ", "## ", "### ")):
        return "markdown"
    head = "\n".join(text.split("\n", 5)[:5])
    for name, starts, marks in _LANGUAGES:
        if text.startswith(starts) or any(mark in head for mark in marks):
            return name
    if "{" in text and "}" in text and any(mark in text for mark in _CSS):
        return "css"
    first = head.split("\n", 1)[0].strip()
    return "yaml" if ": " in first and '":' not in first and "://" not in first else ""


def _guess_markup(text: str) -> str:
    if text.startswith(("<?php", "<?=")):
        return "php"
    if text[:5].lower().startswith(("<?xml", "<root", "<item", "<node")):
        return "xml"
    opens = ("<!doctype", "<html", "<div", "<span", "<p>", "<head", "<body", "<script", "<style", "<table", "<form")
    return "html" if ">" in text or text[:9].lower().startswith(opens) else ""


def markdown_to_html(text: str) -> str:
    """GitHub's Markdown, with hard line breaks and heading ids, as XHTML. Raw HTML and bare addresses stay text."""
    from markdown_it import MarkdownIt

    options = {"breaks": True, "html": False, "xhtmlOut": True}
    markdown = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    markdown.add_render_rule("s_open", lambda *_: "<del>")
    markdown.add_render_rule("s_close", lambda *_: "</del>")
    tokens = markdown.parse(text)
    used: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _heading_id(tokens[index + 1].content, used))
        elif token.type == "inline" and index > 1 and tokens[index - 2].type == "list_item_open":
            _mark_task(token)
    html: str = markdown.renderer.render(tokens, markdown.options, {})
    return html


def _heading_id(text: str, used: dict[str, int]) -> str:
    words = re.sub(r"[^a-z0-9 _-]", "", text.strip().lower())
    name = re.sub(r"[ _]", "-", words) or "heading"
    used[name] = count = used.get(name, -1) + 1
    return f"{name}-{count}" if count else name


def _mark_task(token: Any) -> None:
    first = token.children[0] if token.children else None
    if first is None or first.type != "text" or first.content[:4].lower() not in ("[ ] ", "[x] "):
        return
    box = type(first)("html_inline", "", 0)
    checked = "" if first.content[1] == " " else 'checked="" '
    box.content = f'<input {checked}disabled="" type="checkbox" /> '
    first.content = first.content[4:]
    token.children.insert(0, box)


def _html_to_markdown(html: str) -> Json:
    from markdownify import markdownify

    html = _LONG_BLANK.sub(" " * 200, html)  # the library takes time by the square of their length
    text: str = markdownify(html, heading_style="ATX", bullets="-")
    return text.strip()


FUNCTIONS = host_functions(
    "text",
    {
        "Extract": ("string", lambda text: extract(text) or None),
        "ExtractFirst": ("string", lambda text: next(iter(extract(text)), None)),
        "ExtractJSON": ("string", extract_json),
        "ExtractByType": (
            "string string",
            lambda text, name: [block for block in extract(text) if block["type"] == name.lower()],
        ),
        "MarkdownToHTML": ("string", markdown_to_html),
        "HTMLToMarkdown": ("string", _html_to_markdown),
    },
)
