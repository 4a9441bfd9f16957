"""What people write as JSON is read as pydantic's core reads it, with and without the core."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic_core import from_json
from table_tests import each

from runner.shapes.shape import DoubtError, json_of, plain_json

ROOT = Path(__file__).parents[3]
scalars: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from([1 << 60, 0.5, 1.0, 2.5, -0.0, float("inf"), 10**400, "", " ", "\x1f", "a", "äöü", "\u2003", "😀"]),
)
json_texts = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
).map(json.dumps)


@settings(deadline=None, database=None, max_examples=150)
@given(st.one_of(json_texts, st.text(max_size=6), st.text('[]{}",:0123456789.eE+- ntrufalse\\ud8', max_size=10)))
@example("-0")
@example("1e999")
@example('"\\ud800"')
@example('"\\uD83D\\uDE00"')
@example('"\\uDE00\\uD83D"')
@example('"\\\\ud83d"')
@example('"\ud800"')
@example('{"a": 1, "a": 2}')
@example("[" * 150 + "]" * 150)
@example("[" * 300 + "]" * 300)
@example("9" * 5000)
@example("0.1e-400")
@example("\ufeff1")
@example('"\x01"')
@example("[1,]")
@example("01")
def test_plain_texts_are_read_as_pydantic_reads_them(text: str) -> None:
    try:
        wanted = repr(from_json(text, allow_inf_nan=False))
    except (ValueError, TypeError):
        wanted = None
    try:
        found = repr(plain_json(text))
    except (ValueError, RecursionError):
        found = wanted
    assert found == wanted
    if wanted is not None:
        assert repr(json_of(text)) == wanted


@each("text", ['{"a": 1, "a": 2}', '"\\ud800"', "NaN", "[" * 300 + "]" * 300], ids=str)
def test_what_is_unusual_is_left_to_pydantic(text: str) -> None:
    try:
        plain_json(text)
    except DoubtError:
        return
    raise AssertionError(text)


def test_a_file_with_something_wrong_says_the_same_whether_pydantic_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"id": "a", "input": "x"}\n{"id": "b", "input": 1, "tags": "c"}\n{"id": "c", "timeout": "soon", "input": null}\n'
        '{"id": "d", "input": "x" "y"}\n{"id": "e", "input": "\\ud800"}\n'
    )
    (tmp_path / "app.yao").write_text("{}")
    agent = tmp_path / "assistants/demo"
    agent.mkdir(parents=True)
    (agent / "package.yao").write_text('{"name": "demo", "connector": "scripted"}')
    code = "import sys; from runner.__main__ import main; sys.argv[1:] = ['-i', 'a.jsonl', '--name', 'demo']; main()"
    said = [
        subprocess.run(
            [sys.executable, "-c", f"{first}{code}"],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        for first in ("", "import pydantic_core; ")
    ]
    assert said[0].returncode == said[1].returncode == 2
    assert said[0].stderr == said[1].stderr
    assert all(f"a.jsonl:{line}" in said[0].stderr for line in (2, 3, 4, 5))
