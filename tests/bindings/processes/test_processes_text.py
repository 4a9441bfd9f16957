"""`text.*`: blocks and data out of model answers, Markdown and HTML."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from table_tests import each

from bindings.policy import HostCall, Policy
from bindings.processes import call
from bindings.processes.text import guess
from bindings.world import World

CALL = HostCall(
    app_root=Path("/nowhere"), policy=Policy(), locale="en-us", authorized={}, world=World(suite="", test="")
)


def run(name: str, *args: Any) -> Any:
    return call(f"text.{name}", args, CALL)


EXTRACTED: list[tuple[str, str, Any]] = [
    ("json fence", 'Here:\n```json\n{"k": ["a", "b"]}\n```', {"k": ["a", "b"]}),
    ("upper case tag", '```JSON\n{"a": 1}\n```', {"a": 1}),
    ("fence without tag", '```\n{"a": 1}\n```', {"a": 1}),
    ("bare object", '{"need": false, "confidence": 0.99}', {"need": False, "confidence": 0.99}),
    ("bare array", '  ["a", "b"]  ', ["a", "b"]),
    ("first data block wins", '```sql\nSELECT 1\n```\n```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```', {"a": 1}),
    ("broken block is passed over", '```json\nnot json at all\n```\n```json\n{"b": 2}\n```', {"b": 2}),
    ("inline fence", '```json {"a": 1} ```', {"a": 1}),
    ("crlf", '```json\r\n{"a": 1}\r\n```', {"a": 1}),
    ("yaml fence", "```yaml\nkeys:\n  - a\n  - b\n```", {"keys": ["a", "b"]}),
    ("yml fence", "```yml\na: 1\n```", {"a": 1}),
    ("yaml list fence", "```yaml\n- a\n- b\n```", ["a", "b"]),
    ("bare yaml", "name: test\nvalue: 123", {"name": "test", "value": 123}),
    ("yaml document", "---\nname: test\non: yes", {"name": "test", "on": "yes"}),
    ("yaml in a json fence", "```json\nname: x\nn: 2\n```", {"name": "x", "n": 2}),
    ("json in a yaml fence", '```yaml\n{"a": 1,}\n```', {"a": 1}),
    ("trailing comma", '```json\n{"key": "value",}\n```', {"key": "value"}),
    ("single quotes", "{'a': 'b'}", {"a": "b"}),
    ("bare keys", "{a: 1, b: two}", {"a": 1, "b": "two"}),
    ("missing comma", '{"k": "v" "k2": "v2"}', {"k": "v", "k2": "v2"}),
    ("truncated", '{"a": [1, 2, {"b": "c', {"a": [1, 2, {"b": "c"}]}),
    ("python constants", '{"a": None, "b": True, "c": False}', {"a": None, "b": True, "c": False}),
    ("comments", '{"a": 1, // one\n /* two */ "b": "//no"}', {"a": 1, "b": "//no"}),
    ("doubled key", '{"a": 1, "a": 2,}', {"a": 2}),
    ("line break in a string", '{"a": "x\ny"}', {"a": "x\ny"}),
    ("number", "```json\n42\n```", 42),
    ("plain text", "Just plain text without any code blocks", None),
    ("json inside prose", 'The answer is {"a": 1} as you see', None),
    ("prose after an object", '{"a": 1}\n\nHope this helps', None),
    ("prose that starts with a bracket", "[Note] this is fine", None),
    ("a link", "[click](http://x.example)", None),
    ("template braces", "{{name}} is here", None),
    ("unclosed fence", '```json\n{"a": 1}', None),
    ("json null", "```json\nnull\n```", None),
    ("not a number", "```json\nNaN\n```", None),
    ("empty", "", None),
    ("blank", " \n\t ", None),
    ("sentence with a colon", "Note: see http://x.example for more", None),
]


@each(("text", "expected"), [row[1:] for row in EXTRACTED], ids=[row[0] for row in EXTRACTED])
def test_extract_json(text: str, expected: Any) -> None:
    assert run("ExtractJSON", text) == expected


def test_extract_gives_blocks_with_positions_in_bytes() -> None:
    text = '  é\n```json\n{"a": 1}\n```\nand\n```sql\nSELECT 1\n```\n'
    assert run("Extract", text) == [
        {"type": "json", "content": '{"a": 1}', "data": {"a": 1}, "start": 3, "end": 23},
        {"type": "sql", "content": "SELECT 1", "start": 28, "end": 47},
    ]


def test_extract_of_text_without_fences_is_one_block() -> None:
    assert run("Extract", "Hello, how are you?") == [{"type": "text", "content": "Hello, how are you?", "end": 19}]
    assert run("Extract", "```\nnothing special\n```") == [{"type": "text", "content": "nothing special", "end": 23}]


def test_extract_of_nothing_is_null() -> None:
    assert [run("Extract", "  "), run("ExtractFirst", ""), run("ExtractByType", "", "json")] == [None, None, []]


def test_extract_first_and_by_type() -> None:
    text = '```json\n{"a": 1}\n```\n```SQL\nSELECT 1\n```\n```json\n{"b": 2}\n```'
    assert run("ExtractFirst", text)["data"] == {"a": 1}
    assert [block["data"] for block in run("ExtractByType", text, "JSON")] == [{"a": 1}, {"b": 2}]
    assert [block["content"] for block in run("ExtractByType", text, "sql")] == ["SELECT 1"]
    assert run("ExtractByType", text, "go") == []


LANGUAGES = [
    ('{"key": "value"}', "json"),
    ("[1, 2, 3]", "json"),
    ("<html><body></body></html>", "html"),
    ("<!DOCTYPE html>", "html"),
    ("<custom>x</custom>", "html"),
    ('<?xml version="1.0"?>', "xml"),
    ("<ROOT>", "xml"),
    ('<?php echo "Hello"; ?>', "php"),
    ("select * from users", "sql"),
    ("INSERT INTO t VALUES (1)", "sql"),
    ("---\nkey: value", "yaml"),
    ("name: value", "yaml"),
    ("package main", "go"),
    ("func main() {}", "go"),
    ('import "fmt"', "go"),
    ("def hello():", "python"),
    ('print("Hello")', "python"),
    ("#!/usr/bin/env python", "python"),
    ("function hello() {}", "javascript"),
    ('console.log("hi")', "javascript"),
    ("#!/usr/bin/env node\npush()", "javascript"),
    ("interface User { name: string; }", "typescript"),
    ("const x: number = 1", "typescript"),
    ("fn main() {}", "rust"),
    ("let mut x = 1", "rust"),
    ("public class Main {}", "java"),
    ('System.out.println("hi")', "java"),
    ("using System;", "csharp"),
    ('Console.WriteLine("hi")', "csharp"),
    ("#include <stdio.h>", "c"),
    ("#include <iostream>", "cpp"),
    ("#!/bin/bash", "shell"),
    ("echo $HOME", "shell"),
    ("puts 1", "ruby"),
    (".container { margin: 0; }", "css"),
    ("## Sub Heading", "markdown"),
    ("plain text without patterns", ""),
    ("a\nb\nc\nd\ne\nconsole.log(1)", ""),
]


@each(("text", "expected"), LANGUAGES, ids=[row[0][:20] for row in LANGUAGES])
def test_guess(text: str, expected: str) -> None:
    assert guess(text) == expected


MARKDOWN = [
    ("heading", "# Hello World", '<h1 id="hello-world">Hello World</h1>\n'),
    ("same heading twice", "# A\n\n# A", '<h1 id="a">A</h1>\n<h1 id="a-1">A</h1>\n'),
    ("heading without letters", "# 你好", '<h1 id="heading">你好</h1>\n'),
    ("emphasis", "**b** and *i*", "<p><strong>b</strong> and <em>i</em></p>\n"),
    ("link", "[E](https://x.example)", '<p><a href="https://x.example">E</a></p>\n'),
    ("script link", "[E](javascript:alert(1))", "<p>[E](javascript:alert(1))</p>\n"),
    ("hard break", "a\nb", "<p>a<br />\nb</p>\n"),
    ("code", "```go\nx < y\n```", '<pre><code class="language-go">x &lt; y\n</code></pre>\n'),
    ("strikethrough", "~~d~~", "<p><del>d</del></p>\n"),
    ("raw html is shown", "a <script>x</script>", "<p>a &lt;script&gt;x&lt;/script&gt;</p>\n"),
    (
        "table",
        "|A|\n|---|\n|1|",
        "<table>\n<thead>\n<tr>\n<th>A</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>\n",
    ),
    (
        "tasks",
        "- [x] Done\n- [ ] Todo\n- no",
        '<ul>\n<li><input checked="" disabled="" type="checkbox" /> Done</li>\n'
        '<li><input disabled="" type="checkbox" /> Todo</li>\n<li>no</li>\n</ul>\n',
    ),
]


@each(("text", "expected"), [row[1:] for row in MARKDOWN], ids=[row[0] for row in MARKDOWN])
def test_markdown_to_html(text: str, expected: str) -> None:
    assert run("MarkdownToHTML", text) == expected


HTML = [
    ("<h1>Hello</h1><p>This is <strong>bold</strong> and <em>it</em></p>", "# Hello\n\nThis is **bold** and *it*"),
    ('<a href="https://x.example">E</a>', "[E](https://x.example)"),
    ("<ul><li>1</li><li>2</li></ul>", "- 1\n- 2"),
    ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
    ("<code>inline</code>", "`inline`"),
    ("<blockquote>Quote</blockquote>", "> Quote"),
    ("<p>a</p><script>alert(1)</script><style>x{}</style>", "a"),
    ("", ""),
]


@each(("html", "expected"), HTML, ids=[row[0][:25] for row in HTML])
def test_html_to_markdown(html: str, expected: str) -> None:
    assert run("HTMLToMarkdown", html) == expected


HOSTILE = {
    "fence and blanks": "```" + " " * 300_000,
    "many fences": "```" * 100_001,
    "open brackets": "[" * 100_000,
    "open objects": '{"a":' * 50_000,
    "strings without commas": '["a" ' * 100_000,
    "yaml aliases": "---\na: &a [x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join(['*' + a] * 8)}]\n" for a, b in zip("abcdef", "bcdefg", strict=True)),
    "yaml loop": "---\n&a [*a]",
    "yaml depth": "---\n" + "[" * 1_000,
}


def test_long_blanks_in_html_are_answered_soon() -> None:
    started = time.thread_time()
    assert run("HTMLToMarkdown", "<p>a" + " " * 200_000 + "b</p>") == "a b"
    assert time.thread_time() - started < 30


@each("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_answered_soon(text: str) -> None:
    started = time.thread_time()
    assert run("ExtractJSON", text) is None
    assert time.thread_time() - started < 30
