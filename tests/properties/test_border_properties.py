"""The boundary of the engine: JSON is passed to a script, from it to a host function, and back, without a change."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from made_up import alike, json_values, letters

from bindings import SCRIPT_GLOBALS, envelope, revived
from bindings.world import Clock
from runner.application.context import build_context
from runner.options.options import RunOptions
from scripttest import FunctionCall, FunctionPool, worker_command

PARTS = Path(__file__).parent.parent.parent / "bindings/js"
SCRIPT = """\
export function Back(...values) { return values; }
export function Through(...values) { return values.map((value) => Process("test.Back", value)); }
export function Together(...values) { return Process("test.All", ...values); }
export function Nested(...values) { return Process("scripts.other.Back", ...values); }
export function Bytes(text) {
  const bytes = Process("test.Bytes", text);
  return [bytes instanceof Uint8Array, Array.from(bytes), Process("test.Text", bytes, { $bytes: text })];
}
"""
CLOCK = Clock()
CONTEXT = json.dumps(build_context(RunOptions(inputs=()), Path()))


class Services:
    """Host functions that give back what they get."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def at_once(self, owner: Any, name: str, arguments: str, world: str) -> None:
        """Nothing is answered on the event loop itself."""

    async def answer(self, owner: Any, name: str, arguments: str, world: str) -> str:
        args = revived(arguments)
        if name == "test.Bytes":
            return envelope(args[0].encode("utf-8", "surrogatepass"), CLOCK)
        if name == "test.Text":
            return envelope([isinstance(args[0], bytes), args[0].decode("utf-8", "surrogatepass"), args[1]], CLOCK)
        return envelope(args if name == "test.All" else args[0], CLOCK)

    def returned(self, owner: Any, world: str, mocked: Any) -> None:
        """Nothing of it is looked at here."""

    def library(self, module: str, script: str) -> Path:
        return self.folder / "some.ts"


class Border:
    """Functions of a script, called from a loop of this test."""

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        (folder / "some.ts").write_text(SCRIPT)
        self.script = folder / "some.ts"
        self.pool = FunctionPool(folder, worker_command(PARTS), Services(folder), SCRIPT_GLOBALS, 1)

    def call(self, function: str, *values: Any) -> Any:
        call = FunctionCall(script=self.script, function=function, arguments=json.dumps(values), context=CONTEXT)
        return self.loop.run_until_complete(self.pool.call(call, None)).value

    def close(self) -> None:
        self.loop.run_until_complete(self.pool.close())
        self.loop.close()


@pytest.fixture(scope="module")
def border(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Border]:
    made = Border(tmp_path_factory.mktemp("border"))
    yield made
    made.close()


any_texts = st.one_of(
    st.text(letters, max_size=8),
    st.text(st.characters(), max_size=5),
    st.sampled_from(
        [
            "__proto__",
            "constructor",
            "toJSON",
            "then",
            "length",
            "0",
            "-1",
            "$bytes",
            "ok",
            "error",
            "\ud800",
            "\udc00\ud800",
            "a\0b",
        ]
    ),
)


def in_script(value: Any) -> Any:
    """What a JSON value is once a script had it: its numbers are doubles."""
    if isinstance(value, dict):
        return {key: in_script(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(in_script, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    double = float(value)
    return int(double) if double.is_integer() and abs(double) < 1e21 else double


def nested(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


@given(st.lists(json_values(any_texts), max_size=5))
@example([2**53 + 1, -(2**53) - 1, 2**63, 2**31, -(2**31) - 1, 10**30, -0.0, 5e-324, 1.7976931348623157e308, 0.1])
@example([{"__proto__": {"a": 1}, "constructor": 1, "": {"": [""]}, "toJSON": "x", "hasOwnProperty": None}])
@example([{"$bytes": "AAAA"}, {"$bytes": "!"}, {"$bytes": ""}])
@example([{"error": {"message": "no"}}, {"ok": 1}, {"bytes": "AAAA"}, {"missing": True}])
@example([nested(400)])
@example(["x" * 1_000_000, {"k" * 100_000: "😀\0\ud800" * 50_000}])
@example([list(range(20_000)), {key: [] for key in map(str, range(5000))}])
def test_json_is_the_same_after_it_was_in_a_script_and_in_the_host(border: Border, values: list[Any]) -> None:
    expected = list(map(in_script, values))
    for function in ("Back", "Through", "Together", "Nested"):
        found = border.call(function, *values)
        assert alike(in_script(found), expected), (function, found)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@example("")
@example("é😀" * 100_000)
def test_bytes_are_the_same_and_no_object_is_taken_for_them(border: Border, text: str) -> None:
    expected = [True, list(text.encode()), [True, text, {"$bytes": text}]]
    assert border.call("Bytes", text) == expected
