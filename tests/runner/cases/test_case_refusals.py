"""What is wrong with a case file is said with its place, all of it at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read, refusal, write

from runner.cases.model import Case, CaseOptions
from runner.cases.reader import CaseFile, chooser
from runner.errors import ConfigurationError

T1 = '{"id": "T1", "input": "Hi"'

B = Case(id="B", input="Bye")


REFUSED = {
    "unknown field": (
        f'{T1}}}\n{{"id": "T2", "expcted": 1, "input": "Hi"}}',
        'cases.jsonl:2:14: case "T2": unknown field "expcted" [Did you mean "expected"?]',
    ),
    "unknown key of a part": (
        f'{T1}, "attachments": [{{"type": "file", "url": "https://h/1", "filenam": "a.pdf"}}]}}',
        'cases.jsonl:1:84: case "T1": unknown field "filenam" in "attachments[0]" [Did you mean "filename"?]',
    ),
    "unknown key of a file in a part": (
        f'{T1}, "attachments": [{{"type": "file", "file": {{"url": "https://h/1", "titel": "a.pdf"}}}}]}}',
        'cases.jsonl:1:93: case "T1": unknown field "titel" in "attachments[0].file" [Allowed fields: url, filename, name, file_data, file_id, and any that starts with x-]',
    ),
    "unknown field over several lines": (
        '{\n  "id": "T1",\n  "input": "Hi",\n  "assert": [\n    {"type": "contains", "valu": "a"}\n  ]\n}',
        'cases.jsonl:5:26: case "T1": unknown field "valu" in "assert[0]" [Did you mean "value"?]',
    ),
    "unknown option": (
        f'{T1}, "options": {{"skip": {{"histry": true}}}}}}',
        'cases.jsonl:1:50: case "T1": unknown field "histry" in "options.skip" [Did you mean "history"?]',
    ),
    "id missing": ('{"input": "Hi"}', 'cases.jsonl:1:1: "id" is missing [Add one, such as "id": "T001"]'),
    "a report": (
        '{"type": "start", "agent_id": "demo"}\n{"type": "result", "id": "T1"}\n',
        "cases.jsonl: it is a report "
        "[Print it with yao-test show; a report in a folder tests is taken for cases, so write it elsewhere]",
    ),
    "type of an assertion as a key": (
        f'{T1}, "assert": [{{"contains": "x"}}]}}',
        'cases.jsonl:1:41: case "T1": unknown field "contains" in "assert[0]" [Write: {"type": "contains", "value": "x"}]',
    ),
    "words of another tool": (
        f'{T1}, "target": "a", "scorer": "match"}}',
        "cases.jsonl: 2 problems\n"
        '  cases.jsonl:1:29: case "T1": unknown field "target". Write: "expected": "a"\n'
        '  cases.jsonl:1:44: case "T1": unknown field "scorer". Write: "assert": [{"type": "icontains", "value": "..."}] '
        "[No cases were run; convert cases of another tool with: yao-test convert cases.jsonl]",
    ),
    "id empty": ('{"id": " ", "input": "Hi"}', 'cases.jsonl:1:2: "id" must not be empty'),
    "id a number": ('{"id": 7, "input": "Hi"}', 'cases.jsonl:1:2: "id" must be a string, not a number'),
    "no input": (
        '{"id": "T1"}',
        'cases.jsonl:1:1: case "T1": "input" is missing [Put the message to the agent in "input" or "messages"]',
    ),
    "no messages": ('{"id": "T1", "messages": []}', 'cases.jsonl:1:14: case "T1": it contains no message'),
    "wrong input": (
        '{"id": "T1", "input": 5}',
        'cases.jsonl:1:14: case "T1": "input" must be a string, an object or a list, not a number',
    ),
    "wrong content": (
        '{"id": "T1", "messages": [{"content": true}]}',
        'cases.jsonl:1:28: case "T1": "messages[0].content" must be a string, an object or a list, not true or false',
    ),
    "unknown role": (
        '{"id": "T1", "input": {"role": "asistant", "content": ""}}',
        'cases.jsonl:1:24: case "T1": unknown message role "asistant" [Did you mean "assistant"?]',
    ),
    "unknown part": (
        '{"id": "T1", "input": {"content": [{"type": "imag", "source": "file://a.png"}]}}',
        'cases.jsonl:1:37: case "T1": unknown part type "imag" [Did you mean "image"?]',
    ),
    "unknown assertion type": (
        f'{T1}, "assert": {{"type": "containz", "value": "a"}}}}',
        'cases.jsonl:1:40: case "T1": unknown assertion type "containz" [Did you mean "contains"?]',
    ),
    "unknown assertion type within another": (
        f'{T1}, "assert": {{"type": "any_of", "value": [{{"type": "containz"}}]}}}}',
        'cases.jsonl:1:29: case "T1": assertion 1: "any_of", assertion 1: unknown assertion type "containz"; Did you mean '
        '"contains"?',
    ),
    "unknown bare assertion": (
        f'{T1}, "assert": ["snapshott"]}}',
        'cases.jsonl:1:40: case "T1": unknown assertion type "snapshott" [Did you mean "snapshot"?]',
    ),
    "assertion a number": (
        f'{T1}, "assert": 5}}',
        'cases.jsonl:1:29: case "T1": "assert" must be a list, an object or a string, not a number',
    ),
    "incomplete assertion": (
        f'{T1}, "assertions": [{{"type": "json_path"}}]}}',
        'cases.jsonl:1:44: case "T1": assertion 1: "json_path" needs "path", such as "$.status"',
    ),
    "judge without prefix": (
        f'{T1}, "assert": {{"type": "agent", "use": "judge", "criteria": "kind"}}}}',
        'cases.jsonl:1:29: case "T1": assertion 1: "agent" needs the prefix "agents:" in "use", as in "agents:judge"',
    ),
    "both spellings": (
        f'{T1}, "assert": [], "assertions": []}}',
        'cases.jsonl:1:43: case "T1": "assert" and "assertions" set the same field [Keep one of them]',
    ),
    "both spellings in a message": (
        '{"id": "T1", "input": {"role": "user", "input": "a", "content": "b"}}',
        'cases.jsonl:1:40: case "T1": "content" and "input" set the same field in "input" [Keep one of them]',
    ),
    "option beyond a double": (
        f'{T1}, "options": {{"temperature": 1e400}}}}',
        'cases.jsonl:1:41: case "T1": "options.temperature" is too large for a number '
        "[The largest number is 1.8e308; put a larger one in quotes]",
    ),
    "timeout": (
        f'{T1}, "timeout": "soon"}}',
        'cases.jsonl:1:29: case "T1": cannot read timeout "soon": not a duration [Write it as 500ms, 30s, 1m30s or 2h]',
    ),
    "duplicate id": (
        f"{T1}}}\n\n{T1}}}\n",
        'cases.jsonl:3:2: the id "T1" is already used by cases.jsonl:1 [Give each case in the file its own id]',
    ),
    "comma missing": (
        '{"id": "T1" "input": "é"}',
        "cases.jsonl:1:13: broken JSON: a comma or a closing bracket is missing before this",
    ),
    "bracket missing": (
        f"{T1}\n",
        "cases.jsonl:1:26: broken JSON: unexpected end: a bracket or a quote is not closed",
    ),
    "quote missing": (
        '{"id": "é", "input": "Hi}\n',
        "cases.jsonl:1:25: broken JSON: unexpected end: a bracket or a quote is not closed",
    ),
    "wrong bracket": (
        '{"id": "T1", "tags": ["a"}}',
        "cases.jsonl:1:26: broken JSON: a comma or a closing bracket is missing before this",
    ),
    "not a number": (
        '{"id": "T1", "input": "", "expected": NaN}',
        "cases.jsonl:1:39: broken JSON: this is not a JSON value",
    ),
    "number beyond a double": (
        f'{T1}, "metadata": {{"rates": [1, 1e400]}}}}',
        'cases.jsonl:1:55: case "T1": "metadata.rates[1]" is too large for a number '
        "[The largest number is 1.8e308; put a larger one in quotes]",
    ),
    "number beyond a double in an assertion": (
        f'{T1}, "assert": {{"value": -1e400}}}}',
        'cases.jsonl:1:40: case "T1": "assert.value" is too large for a number '
        "[The largest number is 1.8e308; put a larger one in quotes]",
    ),
    "weight beyond a double": (
        '{"id": "T1", "mode": "conversation", "turns": [{"input": "Hi", "assertions": [{"value": 1, "weight": 1e400}]}]}',
        'cases.jsonl:1:92: case "T1": "turns[0].assertions[0].weight" is too large for a number '
        "[The largest number is 1.8e308; put a larger one in quotes]",
    ),
    "number with too many digits": (
        f'{T1}, "expected": {"1" * 5000}}}',
        "cases.jsonl:1:4342: broken JSON: a number has too many digits",
    ),
    "a reason to skip that says no": (
        f'{T1}, "skip": "No"}}',
        'cases.jsonl:1:29: case "T1": "skip" must be true, false or a reason, not "No" [Use false, or remove it]',
    ),
    "NUL": ('{"id": "T\0", "input": "Hi"}', "cases.jsonl:1:10: broken JSON: it contains a NUL byte"),
    "text": (
        "hello\n",
        'cases.jsonl:1:1: `hello` is not a case: a JSON object was expected [A case looks like {"id": "T1", "input": "Hello"}]',
    ),
    "text behind a case": (
        f"# one\n{T1}}} and }}\n",
        "cases.jsonl:2:29: `and` is not a case: a JSON object was expected "
        '[A case looks like {"id": "T1", "input": "Hello"}]',
    ),
    "open list": (f"[\n{T1}}}\n", 'cases.jsonl:1:1: the list that begins here is not closed [A "]" is missing]'),
    "part without source": (
        '{"id": "T1", "input": {"content": [{"type": "image"}]}}',
        'cases.jsonl:1:36: case "T1": "source" is missing in the image part',
    ),
    "calls that are none": (
        '{"id": "T1", "messages": [{"role": "assistant", "tool_calls": 5}, {"content": "x"}]}',
        'cases.jsonl:1:49: case "T1": "messages[0].tool_calls" must be a list, not a number',
    ),
    "a call that is none": (
        '{"id": "T1", "messages": [{"role": "assistant", "tool_calls": [5]}, {"content": "x"}]}',
        'cases.jsonl:1:64: case "T1": "messages[0].tool_calls[0]" must be an object, not a number',
    ),
    "source that is not a file": (
        f'{T1}, "attachments": [{{"type": "image", "source": "a.png"}}]}}',
        'cases.jsonl:1:45: case "T1": the image "a.png" is not a file: it must begin with file://',
    ),
    "missing attachment": (
        f'{T1}, "attachments": [{{"type": "image", "source": "file://./a.png"}}]}}',
        'cases.jsonl:1:45: case "T1": the file "file://./a.png" does not exist: <folder>/a.png',
    ),
    "attachment that is a folder": (
        f'{T1}, "attachments": [{{"type": "file", "source": "file://."}}]}}',
        'cases.jsonl:1:45: case "T1": "file://." is not a file: <folder>',
    ),
    "image of an unknown kind": (
        f'{T1}, "attachments": [{{"type": "image", "source": "file://cases.jsonl"}}]}}',
        'cases.jsonl:1:45: case "T1": "file://cases.jsonl" is not a supported image: bmp, gif, jpeg, jpg, png, webp',
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == f"Cannot read cases from {message}"


BAD_YAML = {
    "tab": (
        "tests:\n\t- id: A\n",
        "a.yaml:2:1: broken YAML: a tab, or another character that cannot start a value, is here; "
        "indent YAML with spaces, and quote strings that begin with @ or `",
    ),
    "syntax": ("- id: [A\n- b", "a.yaml:3:1: broken YAML: did not find expected ',' or ']'"),
    "unknown field": (
        "tests:\n  - id: A\n    inputt: Hi\n    input: Hi\n",
        'a.yaml:3:5: case "A": unknown field "inputt" [Did you mean "input"?]',
    ),
    "in an assertion": (
        "- id: A\n  input: Hi\n  assert:\n    - type: contains\n      valu: a\n",
        'a.yaml:5:7: case "A": unknown field "valu" in "assert[0]" [Did you mean "value"?]',
    ),
    "beside the list": (
        "tests: [{id: A, input: Hi}]\ntitle: x\n",
        'a.yaml:2:1: unknown field "title" [Write: "name": ...]',
    ),
    "a scalar": ("- hello\n", "a.yaml:1:3: 'hello' is not a case [A case is a mapping with id and input]"),
    "bytes": (
        "- id: A\n  input: !!binary aGk=\n",
        "a.yaml:2:10: broken YAML: a value of !!binary is not a JSON value",
    ),
    "a set": (
        "- id: A\n  metadata:\n    x: !!set {a}\n",
        "a.yaml:3:8: broken YAML: a value of !!set is not a JSON value",
    ),
    "a date": (
        "- id: A\n  metadata: {x: !!timestamp 2001-01-01}\n",
        "a.yaml:2:17: broken YAML: a value of !!timestamp is not a JSON value",
    ),
    "no number": ("- id: A\n  input: [.nan]\n", "a.yaml:2:11: broken YAML: .nan is not a JSON value"),
    "an infinite number": ("- id: A\n  input: -.INF\n", "a.yaml:2:10: broken YAML: -.INF is not a JSON value"),
    "a large number": ("- id: A\n  input: 1e999\n", "a.yaml:2:10: broken YAML: 1e999 is too large for a number"),
    "a large whole number": (
        f"- id: A\n  input: 0x{'f' * 6000}\n",
        f"a.yaml:2:10: broken YAML: 0x{'f' * 38} is too large for a number",
    ),
    "a key that is no number": (
        "- id: A\n  metadata: {.nan: 1}\n",
        "a.yaml:2:14: broken YAML: .nan is not a JSON value",
    ),
    "a key that is a list": (
        "- id: A\n  metadata: {[1]: 2}\n",
        "a.yaml:2:14: broken YAML: a key is a list or a mapping; keys must be strings",
    ),
    "a cycle": (
        "- id: A\n  metadata: &m\n    m: *m\n",
        "a.yaml:3:8: broken YAML: an alias refers to a value that contains it",
    ),
    "unknown tag": ("- id: !x A\n", "a.yaml:1:7: broken YAML: could not determine a constructor for the tag '!x'"),
}


@pytest.mark.parametrize(("text", "message"), BAD_YAML.values(), ids=BAD_YAML.keys())
def test_what_is_wrong_in_yaml_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text, "a.yaml") == f"Cannot read cases from {message}"


UNREADABLE = {
    "empty": (b"", "cases.jsonl: the file has no cases"),
    "comments only": (b"# nothing\n\n", "cases.jsonl: the file has no cases"),
    "empty list": (b"[]", "cases.jsonl: the file has no cases"),
    "not UTF-8": (b'{"id": "A"}\n{"id": "\xc3\xa9\xff"}', "cases.jsonl:2:10: not UTF-8 text [Save it as UTF-8]"),
    "UTF-16": ('{"id": "A"}'.encode("utf-16"), "cases.jsonl: it is UTF-16 text [Save it as UTF-8]"),
}


@pytest.mark.parametrize(("content", "message"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    assert refusal(tmp_path, content).replace(
        " [A case file contains JSON objects, one per line, or a list of them in JSON or YAML]", ""
    ) == (f"Cannot read cases from {message}")


@pytest.mark.parametrize(
    ("name", "why"), [("none.jsonl", "there is no such file"), ("folder.jsonl", "it is not a file")]
)
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(ConfigurationError) as caught:
        CaseFile.check(tmp_path / name, name=name)
    assert caught.value.message == f"Cannot read cases from {name}: {why}"


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    lines = [
        '{"id": "T1", "input": "Hi", "expcted": 1}',
        '{"id": "T2", "input": "Hi"',
        '{"id": "T3", "input": "Hi"}',
        "{",
        '  "id": "T4", "input": "Hi",',
        '  "skip": 3,',
        "},",
        '{"id": "T3", "input": "Hi", "attachments": [{"type": "file", "source": "file://gone.txt"}]}',
    ]
    assert refusal(tmp_path, "\n".join(lines)) == (
        "Cannot read cases from cases.jsonl: 5 problems\n"
        '  cases.jsonl:1:29: case "T1": unknown field "expcted". Did you mean "expected"?\n'
        "  cases.jsonl:2:26: broken JSON: unexpected end: a bracket or a quote is not closed\n"
        '  cases.jsonl:6:3: case "T4": "skip" must be true or false or a string, not a number\n'
        '  cases.jsonl:8:2: the id "T3" is already used by cases.jsonl:3. Give each case in the file its own id\n'
        '  cases.jsonl:8:45: case "T3": the file "file://gone.txt" does not exist: <folder>/gone.txt [No cases were run]'
    )


def test_the_list_of_problems_is_bounded(tmp_path: Path) -> None:
    message = refusal(tmp_path, "".join(f'{{"id": "T{n}"}}\n' for n in range(25)))
    assert message.splitlines()[0] == "Cannot read cases from cases.jsonl: 25 problems"
    assert message.splitlines()[20:] == [
        '  cases.jsonl:20:1: case "T19": "input" is missing. Put the message to the agent in "input" or "messages"',
        "  and 5 more [No cases were run]",
    ]


def test_a_bad_line_deep_in_a_large_file_is_found(tmp_path: Path) -> None:
    lines = [f'{{"id": "T{n}", "input": "Hi", "assert": {{"type": "contains", "value": "a"}}}}' for n in range(20_000)]
    lines[17_000] = '{"id": "T17000", "input": "Hi",, "skip": true}'
    lines[18_000] = lines[3]
    assert refusal(tmp_path, "\n".join(lines)) == (
        "Cannot read cases from cases.jsonl: 2 problems\n"
        "  cases.jsonl:17001:32: broken JSON: a field name in double quotes is missing here\n"
        '  cases.jsonl:18001:2: the id "T3" is already used by cases.jsonl:4. Give each case in the file its own id'
        " [No cases were run]"
    )


def test_lenient_reading_drops_unknown_fields_with_a_warning(tmp_path: Path) -> None:
    text = '{"id": "A", "input": "Hi", "colour": 1, "options": {"modus": 2, "mode": "m"}}\n{"id": "B", "input": "Bye"}'
    file = read(tmp_path, text, lenient=True)
    assert [located.case for located in file] == [Case(id="A", input="Hi", options=CaseOptions(mode="m")), B]
    assert file.warnings == [
        'cases.jsonl:1:28: case "A": unknown field "colour"',
        'cases.jsonl:1:53: case "A": unknown field "modus" in "options". Did you mean "mode"?',
    ]


def test_lenient_reading_refuses_everything_else(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match='"skip" must be true or false or a string'):
        read(tmp_path, '{"id": "A", "input": "Hi", "colour": 1, "skip": 1}', lenient=True)


def test_chosen_cases_keep_their_lines_and_are_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '{"id": "A", "input": "Hi"}\n{"id": "B", "name": "farewell", "input": "Bye"}\n{"id": "C", "input": ""}',
    )
    file = CaseFile.check(path, chosen=chooser("^fare|C"))
    assert [(located.line, located.case.id) for located in file] == [(2, "B"), (3, "C")]
    assert (file.total, file.count) == (3, 2)


def test_a_large_file_that_changed_after_its_check_is_refused_and_a_small_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = read(tmp_path, '{"id": "A", "input": "Hi"}')
    monkeypatch.setattr("runner.cases.reader.KEPT", 0)
    large = read(tmp_path, '{"id": "A", "input": "Hi"}')
    write(tmp_path, '{"id": "A", "inputt": "Hi"}')
    assert [located.case.input for located in kept] == ["Hi"]
    with pytest.raises(ConfigurationError, match='unknown field "inputt"'):
        list(large)
