"""A key that occurs twice in an object: parsers silently use the last one, so the file is refused with both
places."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read, refusal

FILES = {
    "assert, on a line": (
        "a.jsonl",
        '{"id": "A", "input": "Hi", "assert": {"type": "contains", "value": "x"}, "assert": []}\n',
        {(1, 74, "assert", 1, 28)},
    ),
    "deep in an assertion": (
        "a.jsonl",
        '{"id": "A", "input": "Hi", "assert": [{"type": "equals", "value": {"a": {"b": 1, "b": 2}}}]}\n',
        {(1, 82, "b", 1, 74)},
    ),
    "in a field of the user's own": (
        "a.jsonl",
        '{"id": "A", "input": "Hi", "x-me": {"k": [{"v": 1, "v": 1}]}}\n',
        {(1, 52, "v", 1, 44)},
    ),
    "spelled with an escape": (
        "a.jsonl",
        '{"id": "A", "input": "Hi", "metadata": {"key": 1, "\\u006bey": 2}}\n',
        {(1, 51, "key", 1, 41)},
    ),
    "three times, and in another case": (
        "a.jsonl",
        '{"id": "A", "id": "B", "input": "Hi", "id": "C"}\n{"id": "D", "input": "Hi", "input": "Ho"}\n',
        {(1, 13, "id", 1, 2), (1, 39, "id", 1, 2), (2, 28, "input", 2, 13)},
    ),
    "over several lines, with comments": (
        "a.jsonl",
        '{\n  "id": "A", // "input": no\n  # "input": "no"\n  "input": "Hi",\n  "input": "Ho",\n}\n',
        {(5, 3, "input", 4, 3)},
    ),
    "in a list": (
        "a.json",
        '[\n  {"id": "A", "input": "Hi"},\n  {"id": "B", "input": "Hi", "tags": [], "tags": ["a"]}\n]\n',
        {(3, 42, "tags", 3, 30)},
    ),
    "in a conversation": (
        "a.jsonl",
        '{"id": "A", "turns": [{"input": "Hi", "assert": "type"}, {"input": "Ho", "input": "Hu"}]}\n',
        {(1, 74, "input", 1, 59)},
    ),
    "in a mapping of YAML": (
        "a.yaml",
        "- id: A\n  input: Hi\n  assert: {type: contains, value: x}\n  assert: []\n",
        {(4, 3, "assert", 3, 3)},
    ),
    "deep in YAML, and quoted": (
        "a.yml",
        'tests:\n  - id: A\n    input: Hi\n    metadata:\n      k: {a: 1, "a": 2}\n',
        {(5, 17, "a", 5, 11)},
    ),
    "the list in YAML": (
        "a.yml",
        "tests:\n  - {id: A, input: Hi}\ntests:\n  - {id: B, input: Hi}\n",
        {(3, 1, "tests", 1, 1)},
    ),
    "keys that are one text in JSON": (
        "a.yml",
        "- id: A\n  input: Hi\n  metadata: {1: a, '1': b, true: c, \"true\": d}\n",
        {(3, 20, "1", 3, 14), (3, 37, "true", 3, 28)},
    ),
    "in the second document, through an anchor": (
        "a.yaml",
        "- {id: A, input: Hi}\n---\n- id: B\n  input: Hi\n  metadata: &m {k: 1, k: 2}\n- {id: C, input: Hi, metadata: *m}\n",
        {(5, 23, "k", 5, 17)},
    ),
}


@pytest.mark.parametrize(("name", "text", "found"), FILES.values(), ids=FILES.keys())
def test_a_key_that_stands_twice_is_refused_with_both_places(
    tmp_path: Path, name: str, text: str, found: set[tuple[int, int, str, int, int]]
) -> None:
    said = refusal(tmp_path, text, name)
    for line, column, key, first_line, first_column in found:
        assert f'{name}:{line}:{column}: "{key}" is set twice, first at {name}:{first_line}:{first_column}' in said
    assert said.count("is set twice") == len(found)


def test_the_hint_says_what_to_do(tmp_path: Path) -> None:
    said = refusal(tmp_path, '{"id": "A", "input": "Hi", "input": "Ho"}')
    assert said == (
        'Cannot read cases from cases.jsonl:1:28: "input" is set twice, first at cases.jsonl:1:13 [Keep one of the two]'
    )


def test_other_problems_of_the_file_are_told_as_well(tmp_path: Path) -> None:
    said = refusal(tmp_path, '{"id": "A", "id": "A", "inptu": "Hi"}\n{"id": "B"}\n')
    assert 'cases.jsonl:1:13: "id" is set twice' in said
    assert 'unknown field "inptu"' in said
    assert 'cases.jsonl:2:1: case "B": "input" is missing' in said


def test_a_large_file_is_refused_too(tmp_path: Path) -> None:
    rows = [f'{{"id": "case-{number}", "input": "{"Hello " * 20}"}}\n' for number in range(20_000)]
    rows[15_000] = '{"id": "twice", "input": "Hi", "input": "Ho"}\n'
    said = refusal(tmp_path, "".join(rows))
    assert 'cases.jsonl:15001:32: "input" is set twice, first at cases.jsonl:15001:17' in said


MERGED = {
    "by a key": "- &a {id: A, input: Hi, timeout: 5s}\n- {<<: *a, id: B, timeout: 9s}\n",
    "by the same mapping in a list": "- &a {id: A, input: Hi, timeout: 5s}\n- {<<: [*a, {timeout: 7s}], id: B, timeout: 9s}\n",
    "deep inside": (
        "x-base: &b {timeout: 1s, input: Hi}\n"
        "tests:\n- {<<: *b, id: A, timeout: 5s}\n- {id: B, timeout: 9s, input: Hi, metadata: {<<: {k: 1}, k: 2}}\n"
    ),
}


@pytest.mark.parametrize("text", MERGED.values(), ids=MERGED.keys())
def test_a_key_that_was_merged_in_may_be_overridden(tmp_path: Path, text: str) -> None:
    first, second = (located.case for located in read(tmp_path, text, "a.yaml"))
    assert (first.id, first.timeout, first.input) == ("A", "5s", "Hi")
    assert (second.id, second.timeout, second.input) == ("B", "9s", "Hi")


def test_two_keys_beside_a_merge_are_refused(tmp_path: Path) -> None:
    text = "- &a {id: A, input: Hi, timeout: 5s}\n- {<<: *a, id: B, timeout: 9s, timeout: 8s}\n"
    assert 'a.yaml:2:32: "timeout" is set twice, first at a.yaml:2:19' in refusal(tmp_path, text, "a.yaml")


def test_two_merges_are_one_list(tmp_path: Path) -> None:
    text = "- &a {id: A, input: Hi}\n- &b {id: B, input: Ho}\n- {<<: *a, <<: *b, id: C}\n"
    assert refusal(tmp_path, text, "a.yaml") == (
        'Cannot read cases from a.yaml:3:12: "<<" is set twice, first at a.yaml:3:4 '
        "[Merge several mappings with a list: <<: [*first, *second]]"
    )


ALLOWED = {
    "the same key in two objects": '{"id": "A", "input": "Hi", "metadata": {"a": {"b": 1}, "b": {"a": 2}}}',
    "the same key in neighbours": '{"id": "A", "input": "Hi", "tags": [], "x-a": [{"k": 1}, {"k": 2}, [{"k": 3}]]}',
    "a text that looks like a key": '{"id": "A", "input": "{\\"a\\": 1, \\"a\\": 2}", "name": "input"}',
    "letters of another size": '{"id": "A", "input": "Hi", "metadata": {"Key": 1, "key": 2}}',
}


@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED.keys())
def test_keys_of_different_objects_are_no_repetition(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).total == 1
