"""What fits without pydantic is what pydantic makes of it; all else is left to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic_core import from_json
from table_tests import each

from runner.cases.model import Case
from runner.shapes.declared import Field, Model, schema_of, validator_of
from runner.shapes.fast_validation import DoubtError, fitted, json_of, plain_json

ROOT = Path(__file__).parents[3]
CASES = schema_of(list[Case])
PYDANTIC = validator_of(CASES)
BUILT = sorted(path for path in (ROOT / "assistants").rglob("tests/*.jsonl") if not path.name.startswith("output-"))

scalars: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from([1 << 60, 0.5, 1.0, 2.5, -0.0, float("inf"), 10**400]),
    st.sampled_from(["", " ", "\x1f", "a", "user", "text", "30s", "soon", "4 of 5", "2030-01-31", "äöü", "\u2003"]),
)
free: st.SearchStrategy[Any] = st.one_of(
    scalars, st.lists(scalars, max_size=2), st.dictionaries(st.sampled_from("abc"), scalars, max_size=2)
)
parts: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["type", "text", "source", "url", "name", "more"]), scalars, max_size=3
)
messages: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["role", "content", "input", "name", "tool_calls"]),
    st.one_of(free, parts, st.lists(parts, max_size=2)),
    max_size=3,
)
checks: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(
        [
            "type",
            "value",
            "path",
            "pattern",
            "name",
            "script",
            "use",
            "options",
            "judge",
            "weight",
            "threshold",
            "negate",
            "message",
            "case_sensitive",
        ]
    ),
    st.one_of(free, st.sampled_from(["equals", "contains", "regex", "json_path"])),
    max_size=4,
)
texts: st.SearchStrategy[Any] = st.sampled_from(["", " ", "a", "äöü", "\u2003", "\x1f"])
judges: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["samples", "quorum", "judges"]),
    st.one_of(
        st.sampled_from([True, 1, 1.0, 0.5, 9, 10]), st.lists(st.sampled_from(["agents:a", "agents:", "a"]), max_size=2)
    ),
    max_size=2,
)
plain_checks: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": st.sampled_from(["equals", "contains", "regex"])},
    optional={"value": free, "path": texts, "negate": st.booleans(), "judge": judges},
)
plain_parts: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "file", "other"])}, optional={"text": texts, "more": free}
)
plain_messages: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"])},
    optional={
        "content": st.one_of(texts, plain_parts, st.lists(plain_parts, max_size=2)),
        "input": texts,
        "name": texts,
    },
)
several_texts: st.SearchStrategy[Any] = st.lists(texts, max_size=2)
objects: st.SearchStrategy[Any] = st.dictionaries(st.sampled_from("abc"), free, max_size=2)
repeats: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["pass", "stop", "good", "bad", "most", "error"]),
    st.sampled_from(["4 of 5", True, 0, 1, 1.0, 0.5, 3, 1 << 60]),
    max_size=3,
)
options: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {}, optional={"connector": texts, "search": free, "skip": st.dictionaries(st.sampled_from(["history", "output"]), st.sampled_from([True, False, 1])), "metadata": objects, "strictDatabase": st.booleans(), "strict_database": st.booleans()}
)  # fmt: skip
mocks: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {}, optional={"process": objects, "agent": objects, "http": st.dictionaries(st.just("GET x"), st.one_of(texts, st.dictionaries(st.sampled_from(["status", "data", "body"]), scalars)), max_size=1), "now": st.sampled_from(["2030-01-31", "soon"])}
)  # fmt: skip
SHAPED: dict[str, st.SearchStrategy[Any]] = {
    "id": texts, "name": texts, "type": st.sampled_from(["single_turn", "other"]), "input": st.one_of(texts, plain_messages, st.lists(plain_messages, max_size=2)),
    "messages": st.lists(plain_messages, max_size=2), "assert": st.one_of(plain_checks, st.lists(plain_checks, max_size=2)), "assertions": plain_checks, "expected": free,
    "user": texts, "team": texts, "metadata": objects, "options": options, "tags": several_texts, "depends_on": several_texts, "skip": st.sampled_from([True, False, "why", 1]),
    "repeat": st.one_of(st.just("4 of 5"), repeats), "timeout": st.sampled_from(["30s", "1m30s", "soon"]), "before": texts, "mocks": mocks, "fixtures": several_texts,
    "attachments": st.lists(plain_parts, max_size=2), "unknown": scalars,
}  # fmt: skip
others: st.SearchStrategy[Any] = st.one_of(
    free, messages, st.lists(messages, max_size=2), checks, st.lists(checks, max_size=2)
)
entries: st.SearchStrategy[Any] = st.lists(st.sampled_from(list(SHAPED)), unique=True, max_size=4).flatmap(
    lambda names: st.fixed_dictionaries(
        {"id": st.just("a"), **{name: st.one_of(*[SHAPED[name]] * 7, others) for name in names}}
    )
)


def form(value: Any) -> Any:
    """All that there is to know of a record, types included."""
    if isinstance(value, Model):
        slots = sorted(value.model_fields_set), form(value.model_extra)
        return type(value), [(name, form(inner)) for name, inner in value.__dict__.items()], slots
    if isinstance(value, dict):
        return [(key, form(inner)) for key, inner in value.items()]
    return (
        [form(inner) for inner in value]
        if isinstance(value, list)
        else (type(value), repr(value), getattr(value, "seconds", None))
    )


def accepted(value: Any) -> Any:
    """What pydantic makes of the text of a list of cases, None if it refuses it."""
    try:
        return form(PYDANTIC.validate_json(json.dumps(value)))
    except ValueError:
        return None


@settings(deadline=None, database=None, max_examples=300)
@given(entries)
@example({"id": "a", "repeat": {"pass": "4 of 5", "good": 1}})
@example(
    {
        "id": "a",
        "timeout": "30s",
        "mocks": {"now": "2030-01-31", "http": {"GET x": {"status": 200}}, "exec": {"ls": "a"}},
    }
)
@example({"id": "a", "input": {"role": "user", "content": [{"type": "text", "text": "b"}], "more": 1}})
@example(
    {
        "id": "a",
        "assert": {"type": "equals", "value": {"a": [1, 2.5, None]}},
        "options": {"strictDatabase": True, "skip": {"history": True}},
    }
)
@example({"id": "a", "mocks": {"http": {"GET x": {"statusCode": 200}}}})
def test_what_fits_is_what_pydantic_makes_of_it(entry: dict[str, Any]) -> None:
    try:
        found = form(fitted(CASES, [entry]))
    except DoubtError:
        return
    assert found == accepted([entry])


@pytest.mark.parametrize("path", BUILT, ids=lambda path: str(path.relative_to(ROOT)))
def test_cases_that_people_write_fit(path: Path) -> None:
    lines = [line for line in path.read_text("utf-8").splitlines() if line.startswith("{") and line.endswith("}")]
    values = [
        json.loads(line) for line in lines if "turns" not in line and "checkpoints" not in line and "mode" not in line
    ]
    for value in values:
        if accepted([value]) is not None:
            assert form(fitted(CASES, [value])) == accepted([value])


@each(
    "entry",
    [
        {"input": "x"},
        {"id": "\x1f"},
        {"id": "a", "unknown": 1},
        {"id": "a", "skip": 1},
        {"id": "a", "name": "\ud800"},
        {"id": "a", "tags": ["b", 1]},
        {"id": "a", "timeout": "soon"},
        {"id": "a", "assert": [], "assertions": []},
        {"id": "a", "expected": 10**400},
        {"id": "a", "repeat": {"good": 0}},
        {"id": "a", "type": "other"},
        {"id": "a", "input": {"role": "user", "content": "b", "input": "c"}},
        {"id": "a", "assert": {"type": "agent", "judge": {"samples": True}}},
        {"id": "a", "assert": {"type": "agent", "judge": {"samples": 0}}},
        {"id": "a", "options": {"disable_global_prompts": 1}},
        "a",
    ],
    ids=str,
)
def test_what_is_wrong_or_doubtful_is_left_to_pydantic(entry: Any) -> None:
    with pytest.raises(DoubtError):
        fitted(CASES, [entry])


class One(Model):
    a: int = 1


class Other(Model):
    a: int | None = None
    b: str = "x"


class Several(Model):
    one: One | Other | None = None
    flags: list[bool | int] = Field(default_factory=list)
    weight: float = 1


def test_objects_of_two_shapes_and_inexact_numbers_are_left_to_pydantic() -> None:
    schema, plain = schema_of(Several), {"one": None, "flags": [True, 1], "weight": 2}
    assert form(fitted(schema, plain)) == form(validator_of(schema).validate_python(plain))
    for doubtful in ({"one": {"a": 1}}, {"weight": (1 << 53) + 1}):
        with pytest.raises(DoubtError):
            fitted(schema, doubtful)


json_texts = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
).map(json.dumps)


@settings(deadline=None, database=None, max_examples=300)
@given(st.one_of(json_texts, st.text(max_size=6), st.text('[]{}",:0123456789.eE+- ntrufalse\\ud8', max_size=10)))
@example("-0")
@example("1e999")
@example('"\\ud800"')
@example('"\\uD83D\\uDE00"')
@example('"\ud800"')
@example('"äöü"')
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
        wanted: Any = form(from_json(text, allow_inf_nan=False))
    except (ValueError, TypeError):
        wanted = None
    try:
        found = form(plain_json(text))
    except (DoubtError, ValueError, RecursionError):
        found = wanted
    assert found == wanted
    if wanted is not None:
        assert form(json_of(text)) == wanted


def test_a_file_with_something_wrong_says_the_same_whether_pydantic_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"id": "a", "input": "x"}\n{"id": "b", "input": 1, "tags": "c"}\n{"id": "c", "timeout": "soon", "input": null}\n'
    )
    (tmp_path / "app.yao").write_text("{}")
    agent = tmp_path / "assistants/demo"
    agent.mkdir(parents=True)
    (agent / "package.yao").write_text('{"name": "demo", "connector": "scripted"}')
    said = [
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"{first}import sys; from runner.__main__ import main; sys.argv[1:] = ['-i', 'a.jsonl', '--name', 'demo']; main()",
            ],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        for first in ("", "import pydantic_core; ")
    ]
    assert said[0].returncode == said[1].returncode == 2
    assert said[0].stderr == said[1].stderr
    assert "a.jsonl:2" in said[0].stderr and "a.jsonl:3" in said[0].stderr
