"""Prints the page `docs/assertions.md`: rules and examples from the declarations, failures as the host prints them.

python tests/declarations/assertions.py > docs/assertions.md
"""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from command import make_application
from declarations.markdown import SHORTER, code, entry, link, page
from declarations.reader import Declaration, load

FAILING = Path(__file__).with_name("failing_test.ts")
"""One test per assertion, which fails."""
INTRODUCTION = """# Assertions

All checks of `t.assert` and `t.require`, with examples that fail, and what is printed for them. [The editor](editor.md)
shows examples that hold. {}

<!-- made by: python tests/declarations/assertions.py > docs/assertions.md -->
"""
TELLING = 7
"""Words of a parameter that say no more than its name."""
SHOWN = "Equal False NotNil NotContains GreaterOrEqual LessOrEqual NoError NotMatch".split()
"""Assertions whose failures stand above, or look like those of their opposites."""
RULES = """## Two ways to fail

A failing check of `t.assert` fails the test, which goes on; each returns whether it holds. One of `t.require` stops the test.
The last argument, `message`, replaces the standard text unless it is empty.

What cannot be evaluated fails the opposite check too: the length of a number, an invalid pattern, a wrong number of
arguments, a promise instead of a value (`got a Promise: await it`).
"""
FAILURE = """## The text of a failure

What is wrong, both values (of long values, the differences), the place of the check in the TypeScript file, and the
command that runs the test again.
"""


def tests() -> dict[str, str]:
    """The failing tests: name without `Test` → body."""
    found = re.findall(r"^export function Test(\w+)\(.*?\) \{\n(.*?)^\}$", FAILING.read_text("utf-8"), re.M | re.S)
    return {name: textwrap.dedent(body).strip("\n") for name, body in found}


def failures() -> dict[str, str]:
    """What the host prints for them when a run ends."""
    with tempfile.TemporaryDirectory() as folder:
        app = make_application(Path(folder), {FAILING.name: FAILING.read_bytes()})
        output = app.run("-i", "scripts.demo.failing", "--quiet").stdout.partition("  Failed tests\n")[0]
    blocks = re.split(r"^✗ scripts\.demo\.failing › Test", output.rpartition("\n═")[0], flags=re.M)[1:]
    found = {name: text for name, _, text in (block.partition("\n") for block in blocks)}
    assert list(found) == list(tests()), output
    return {name: f"✗ scripts.demo.failing › Test{name}\n{text.rstrip()}" for name, text in found.items()}


def essence(failure: str) -> str:
    """A failure without its title, its places and its command."""
    items = re.findall(r"^  (└─ .*?)^     at ", failure, re.M | re.S)
    return "\n".join(re.sub(r"^(└─ assertion failed: |   ?)", "", item, flags=re.M).rstrip() for item in items)


def checks() -> tuple[Declaration, ...]:
    """The declarations of the assertions."""
    parts = load()["testing.d.ts"].declarations[0].members
    return next(part.members for part in parts if part.path == "testing.Assert")


def paragraphs() -> Iterator[str]:
    """The whole page."""
    bodies, printed, found = tests(), failures(), checks()
    yield INTRODUCTION.format(SHORTER)
    yield "## Overview"
    yield ", ".join(link(check.name) for check in found)
    yield RULES
    yield from shown("WrongNumberOfArguments", bodies, printed)
    yield FAILURE
    yield code(bodies["Equal"])
    yield code(printed["Equal"], "text")
    told: set[str] = set()
    for check in found:
        yield f"## `{check.name}`"
        assert check.doc is not None
        params = {
            name: text for name, text in check.doc.params.items() if len(text.split()) > TELLING and text not in told
        }
        told.update(params.values())
        yield from entry(replace(check, doc=replace(check.doc, params=params, example="")))
        if check.name not in SHOWN:
            yield from shown(check.name, bodies, printed)


def shown(name: str, bodies: dict[str, str], printed: dict[str, str]) -> Iterator[str]:
    """A failing test and what is printed for it."""
    yield code(bodies[name])
    yield code(essence(printed[name]), "text")


if __name__ == "__main__":
    sys.stdout.write(page(paragraphs()))
