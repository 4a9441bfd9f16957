"""The rules of an agent's prompts: its sentences, bullets and examples, each of which can be left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scripttest.values import Value

_BULLET = re.compile(r"[ \t]*(?:[-*•]|\d+[.)])[ \t]+")
_HEADING = re.compile(r"[ \t]*#|.*:[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.S)
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|z\.B|etc|vs|Mr|Ms|Dr|No)\.$")

Prompts = tuple[Mapping[str, Any], ...]


class Rule(Value):
    """A part of the prompts, and the prompts without it; or the description of a tool."""

    text: str
    """On one line."""
    prompts: Prompts
    tool: str = ""
    """The tool, as the model knows it."""


def rules_of(prompts: Sequence[Mapping[str, Any]]) -> list[Rule]:
    """The rules of prompts, in their order. Headings, and lines that lead to a list, are none; a block of code is one,
    and so is an example: a message of the user with the answer that follows it."""
    found = []
    for number, prompt in enumerate(prompts):
        before, after = prompts[:number], prompts[number + 1 :]
        if prompt.get("role") == "user":
            answer = after[:1] if after and after[0].get("role") == "assistant" else ()
            rest = after[len(answer) :]
            said = " → ".join(str(one.get("content", "")) for one in (prompt, *answer))
            found.append(Rule(text=_on_one_line(said), prompts=(*before, *rest)))
            continue
        text = prompt.get("content")
        if prompt.get("role") != "system" or not isinstance(text, str):
            continue
        for start, end in _spans(text):
            left = f"{text[:start]}{text[end:]}"
            prompts_left = ({**prompt, "content": left},) if left.strip() else ()
            found.append(Rule(text=_on_one_line(text[start:end]), prompts=(*before, *prompts_left, *after)))
    return found


def rules_of_tools(tools: Iterable[Mapping[str, Any]], prompts: Prompts) -> list[Rule]:
    """The rules of tools, `{name, description}`: their descriptions; `prompts` stay."""
    return [
        Rule(text=f"{tool['name']}: {_on_one_line(tool['description'])}", prompts=prompts, tool=tool["name"])
        for tool in tools
        if tool["description"].strip()
    ]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each rule of a text begins and ends."""
    paragraph: tuple[int, int] | None = None
    item: tuple[int, int] | None = None
    fence: int | None = None
    place = 0
    for line in text.splitlines(keepends=True):
        end = place + len(line)
        if fence is not None:
            if _FENCE.match(line):
                yield fence, end
                fence = None
        elif item is not None and line.startswith((" ", "\t")) and line.strip() and not _BULLET.match(line):
            item = item[0], end
        else:
            if item is not None:
                yield item
                item = None
            starts = _BULLET.match(line) or _FENCE.match(line) or _HEADING.match(line) or not line.strip()
            if starts and paragraph is not None:
                yield from _sentences(text, *paragraph)
                paragraph = None
            if _FENCE.match(line):
                fence = place
            elif _BULLET.match(line):
                item = place, end
            elif not starts:
                paragraph = (paragraph or (place, end))[0], end
        place = end
    if fence is not None:
        yield fence, place
    if item is not None:
        yield item
    if paragraph is not None:
        yield from _sentences(text, *paragraph)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begun: int | None = None
    for match in _SENTENCE.finditer(text, start, end):
        begun = match.start() if begun is None else begun
        if not match[0].strip() or (_ABBREVIATED.search(match[0]) and match.end() < end):
            continue
        yield begun, match.end()
        begun = None


def _on_one_line(text: str) -> str:
    return " ".join(_BULLET.sub("", text, count=1).split())
