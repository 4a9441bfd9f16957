"""Values in the source of the tested code. Random values would never meet a comparison with one of them."""

from __future__ import annotations

import re

from scripttest.values import Value

MOST = 2000
"""Literals of each kind that are kept."""
LONGEST = 200
"""Characters of a text that is kept."""
_LARGEST = 2**53 - 1
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<template>`(?:[^`\\]|\\.)*`)"""
    r"""|(?<![\w$.])(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)n?(?![\w$])"""
    r"""|(?://[^\n]*|/\*[\s\S]*?\*/)"""
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.|\n))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class Literals(Value):
    """The literals in some sources, each once."""

    numbers: tuple[float, ...] = ()
    """With their neighbours; whole ones are of type int."""
    texts: tuple[str, ...] = ()


def literals_in(code: str) -> Literals:
    """The literals of JavaScript, as the compiler prints it. What looks like one in a regular expression counts too."""
    numbers: dict[float, None] = {}
    texts: dict[str, None] = {}
    for match in _TOKEN.finditer(code):
        if match["number"] is not None:
            for number in _numbers(match["number"]):
                numbers[number] = None
        elif match["text"] is not None:
            texts[_text(match["text"][1:-1])] = None
        elif match["template"] is not None:
            for piece in re.split(r"\$\{[^}]*\}", match["template"][1:-1]):
                texts[_text(piece)] = None
    kept = [text for text in texts if text and len(text) <= LONGEST]
    return Literals(numbers=tuple(numbers)[:MOST], texts=tuple(kept)[:MOST])


def _numbers(printed: str) -> list[float]:
    value = int(printed, 16) if printed[:2].lower() == "0x" else float(printed)
    if value != int(value):
        return [value, -value]
    whole = int(value)
    if whole > _LARGEST:
        return []
    return [whole, whole + 1, whole - 1, -whole]


def _text(printed: str) -> str:
    def letter(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code is None:
            return "" if match[4] == "\n" else _LETTERS.get(match[4], match[4])
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""

    text = _ESCAPE.sub(letter, printed)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
