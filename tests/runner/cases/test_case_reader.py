"""Case files in all their forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_files import read

from runner.assertions.model import Assertion
from runner.cases.model import Case, CaseOptions, Message
from runner.cases.reader import LocatedCase
from runner.shapes.fields import SkipOptions

A = Case(id="A", input="Hi")

B = Case(id="B", input="Bye")


PRETTY = '{\n  "id": "A",\n  "input": "Hi"\n}'


FORMS = {
    "a line each": ("a.jsonl", '{"id": "A", "input": "Hi"}\n{"id": "B", "input": "Bye"}\n', [1, 2]),
    "no line end at the end": ("a.jsonl", '{"id": "A", "input": "Hi"}\n{"id": "B", "input": "Bye"}', [1, 2]),
    "blank lines and comments": (
        "a.jsonl",
        '# the first\n\n{"id": "A", "input": "Hi"}\n  // the second, {not a case}\n{"id": "B", "input": "Bye"} // "\n',
        [3, 5],
    ),
    "windows line ends": ("a.jsonl", '{"id": "A", "input": "Hi"}\r\n\r\n{"id": "B", "input": "Bye"}\r\n', [1, 3]),
    "byte order mark": ("a.jsonl", '\ufeff{"id": "A", "input": "Hi"}\n{"id": "B", "input": "Bye"}\n', [1, 2]),
    "over several lines": ("a.jsonl", PRETTY + '\n\n// next\n{\n  "id": "B",\n  "input": "Bye"\n}\n', [1, 7]),
    "not indented": ("a.jsonl", '{\n"id": "A",\n"input": \n{"content": "Hi"}\n}\n', None),
    "comments and commas inside": (
        "a.jsonl",
        '{\n  # who\n  "id": "A", // the id\n  "input": "Hi",\n}\n{"id": "B", "input": "Bye",}\n',
        [1, 6],
    ),
    "a bracket in a comment on the first line": (
        "a.jsonl",
        '{ // {one}\n  "id": "A", "input": "Hi"\n}\n{ # }\n  "id": "B", "input": "Bye"\n}\n',
        [1, 4],
    ),
    "two in a line": ("a.jsonl", '{"id": "A", "input": "Hi"}, {"id": "B", "input": "Bye"}\n', [1, 1]),
    "array": ("a.json", '[\n  {"id": "A", "input": "Hi"},\n  {"id": "B", "input": "Bye"},\n]\n', [2, 3]),
    "array in a line": ("a.json", '[{"id": "A", "input": "Hi"}, {"id": "B", "input": "Bye"}]', [1, 1]),
    "indented array": (
        "a.jsonl",
        json.dumps([{"id": "A", "input": "Hi"}, {"id": "B", "input": "Bye"}], indent=2),
        [2, 6],
    ),
    "list in YAML": ("a.yaml", "- id: A\n  input: Hi\n- {id: B, input: Bye}\n", [1, 3]),
    "tests in YAML": ("a.yml", "x-owner: me\ntests:\n  - id: A\n    input: Hi\n  - id: B\n    input: Bye\n", [3, 5]),
    "cases in YAML": ("a.yml", "cases:\n- id: A\n  input: Hi\n- id: B\n  input: Bye\n", [2, 4]),
    "documents in YAML": ("a.yaml", "id: A\ninput: Hi\n---\n- id: B\n  input: Bye\n---\n", [1, 4]),
}


@pytest.mark.parametrize(("name", "text", "lines"), FORMS.values(), ids=FORMS.keys())
def test_every_form_gives_the_same_cases(tmp_path: Path, name: str, text: str, lines: list[int] | None) -> None:
    file = read(tmp_path, text, name)
    if lines is None:
        assert list(file) == [LocatedCase(line=1, case=Case(id="A", input=Message(content="Hi")))]
    else:
        assert list(file) == [LocatedCase(line=lines[0], case=A), LocatedCase(line=lines[1], case=B)]
        assert (file.total, file.count, file.warnings) == (2, 2, [])


def test_a_json_file_may_hold_one_case(tmp_path: Path) -> None:
    assert [located.case for located in read(tmp_path, PRETTY, "one.json")] == [A]


def test_every_field_is_read(tmp_path: Path) -> None:
    record = {
        "id": "all",
        "name": "Everything",
        "messages": [
            {"role": "system", "content": "Be brief"},
            {"content": [{"type": "text", "text": "Look"}], "name": "maria"},
        ],
        "assert": [{"type": "regex", "pattern": "a+", "negate": True, "message": "no a"}, {"type": "snapshot"}],
        "expected": {"a": [1]},
        "user": "u",
        "team": "t",
        "metadata": {"k": 1},
        "options": {"connector": "c", "skip": {"history": True}, "metadata": {"m": 1}},
        "tags": ["smoke"],
        "skip": "later",
        "timeout": "1m30s",
        "before": "env_test.Before",
        "after": "env_test.After",
        "mocks": {"process": {"models.user.Find": {"id": 1}}, "now": "2026-01-01T00:00:00Z"},
        "x-ticket": 12,
    }
    (located,) = read(tmp_path, json.dumps(record))
    expected = Case.model_validate({key: value for key, value in record.items() if key != "x-ticket"})
    assert located.case == expected
    assert located.case.options == CaseOptions(connector="c", skip=SkipOptions(history=True), metadata={"m": 1})


ASSERTIONS = {
    "list": ([{"type": "contains", "value": "a"}], [Assertion(type="contains", value="a")]),
    "one": ({"type": "contains", "value": "a"}, [Assertion(type="contains", value="a")]),
    "default type": ({"value": "a"}, [Assertion(type="equals", value="a")]),
    "bare name": ("snapshot", [Assertion(type="snapshot")]),
    "bare name in a list": (["snapshot"], [Assertion(type="snapshot")]),
    "free field": ({"value": "a", "x-why": "because"}, [Assertion(value="a")]),
}


@pytest.mark.parametrize("spelling", ["assert", "assertions"])
@pytest.mark.parametrize(("written", "read_as"), ASSERTIONS.values(), ids=ASSERTIONS.keys())
def test_assertions_are_a_list_however_they_are_written(
    tmp_path: Path, spelling: str, written: object, read_as: list[Assertion]
) -> None:
    (located,) = read(tmp_path, json.dumps({"id": "A", "input": "Hi", spelling: written}))
    assert located.case.assertions == read_as


def test_free_fields_are_allowed_wherever_fields_are_checked(tmp_path: Path) -> None:
    record = {"id": "A", "input": "Hi", "x-a": 1, "options": {"x-b": 1}, "mocks": {"x-c": 1}, "metadata": {"x-d": 1}}
    (located,) = read(tmp_path, json.dumps(record))
    assert located.case.metadata == {"x-d": 1}
    assert located.case.options == CaseOptions()


def test_yaml_words_and_dates_are_texts(tmp_path: Path) -> None:
    text = "id: A\ninput: yes\nname: True story\nexpected: {day: 2026-01-02, sure: true, n: 3}\n"
    (located,) = read(tmp_path, text, "a.yaml")
    assert (located.case.input, located.case.name) == ("yes", "True story")
    assert located.case.expected == {"day": "2026-01-02", "sure": True, "n": 3}
