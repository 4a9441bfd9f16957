"""Tables (CSV, TSV) as case files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import read, refusal

from runner.cases.reader import CaseFile
from runner.security.files import is_collected


def cases(folder: Path, text: str | bytes, name: str = "cases.csv") -> list[dict[str, Any]]:
    return [located.case.model_dump(exclude_unset=True) for located in read(folder, text, name)]


SPREADSHEETS = {
    "commas": b'id,input,tags\r\na,"say ""hi"", please","x, y"\r\nb,"two\r\nlines",\r\n',
    "semicolons and a mark": b'\xef\xbb\xbfid;input;tags\r\na;"say ""hi"", please";x, y\r\nb;"two\r\nlines";\r\n',
    "a separator line": b'sep=;\r\nid;input;tags\r\na;"say ""hi"", please";x,y\r\nb;"two\r\nlines";\r\n',
    "UTF-16 with tabs": 'id\tinput\ttags\r\na\t"say ""hi"", please"\tx, y\r\nb\t"two\r\nlines"\t\r\n'.encode("utf-16"),
    "a quoted header": b'"id","input","tags"\na,"say ""hi"", please","x,y"\nb,"two\r\nlines",""\n',
    "UTF-16 without a mark": 'id\tinput\ttags\r\na\t"say ""hi"", please"\tx, y\r\nb\t"two\r\nlines"\r\n'.encode(
        "utf-16-le"
    ),
    "columns without names": b'id,input,tags,,\na,"say ""hi"", please","x,y",,\nb,"two\r\nlines",,,\n',
    "bars": b'ID|Input|tags\na|"say ""hi"", please"|x,y\nb|"two\r\nlines"|\n',
    "empty rows": b'id,input,tags\n,,\na,"say ""hi"", please","x,y"\n,,\nb,"two\r\nlines",\n',
}


def test_what_excel_writes_as_plain_csv_is_read_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_bytes("id;input;skip\r\na;Größe, 5 €;\r\nb;x;WAHR\r\n".encode("cp1252"))
    file = CaseFile.check(tmp_path / "cases.csv", False, None, "cases.csv")
    assert [(one.case.input, one.case.skip) for one in file] == [("Größe, 5 €", False), ("x", True)]
    assert file.warnings == ['cases.csv:1:1: not UTF-8 text: read as Windows-1252. Save it as "CSV UTF-8"']


@pytest.mark.parametrize("name", SPREADSHEETS)
def test_what_spreadsheets_write_is_read(tmp_path: Path, name: str) -> None:
    assert cases(tmp_path, SPREADSHEETS[name]) == [
        {"id": "a", "input": 'say "hi", please', "tags": ["x", "y"]},
        {"id": "b", "input": "two\r\nlines"},
    ]


COLUMNS = [
    ("skip", "TRUE", {"skip": True}),
    ("skip", "not ready", {"skip": "not ready"}),
    ("expected", "5", {"expected": "5"}),
    ("user", "007", {"user": "007"}),
    ("user", "'=SUM", {"user": "=SUM"}),
    ("options.connector", "gpt", {"options": {"connector": "gpt"}}),
    ("options.skip.history", "yes", {"options": {"skip": {"history": True}}}),
    ("options.max_tokens", '"1,000"', {"options": {"max_tokens": 1000}}),
    ("options.max_tokens", "2.048.000", {"options": {"max_tokens": 2_048_000}}),
    ("options.max_tokens", "300.0", {"options": {"max_tokens": 300}}),
    ("options.temperature", "0.125", {"options": {"temperature": 0.125}}),
    ("metadata.a.b", "1", {"metadata": {"a": {"b": "1"}}}),
    ("metadata", '"{""a"": 1}"', {"metadata": {"a": 1}}),
    ("x-note", "mine", {}),
]


@pytest.mark.parametrize(("column", "cell", "expected"), COLUMNS)
def test_a_cell_is_what_its_field_takes(tmp_path: Path, column: str, cell: str, expected: dict[str, Any]) -> None:
    (found,) = cases(tmp_path, f"input,{column}\nhi,{cell}\n")
    assert found == {"input": "hi", "id": "row 2", **expected}


def test_numbers_may_have_a_comma(tmp_path: Path) -> None:
    (found,) = cases(tmp_path, 'input;rubrics;threshold\nhi;"[""Is polite""]";0,5\n')
    assert found["threshold"] == 0.5


ASSERTIONS = [
    ("assert.contains", "5", {"type": "contains", "value": "5"}),
    ("assert.json_path:$.a", "5", {"type": "json_path", "path": "$.a", "value": 5}),
    ("assert.json_path:$.a", '"""5"""', {"type": "json_path", "path": "$.a", "value": "5"}),
    ("assert.json_path:$.a.b", "Oslo", {"type": "json_path", "path": "$.a.b", "value": "Oslo"}),
    ("assert.regex", "a.c", {"type": "regex", "pattern": "a.c"}),
    ("assert.tool_called", "search", {"type": "tool_called", "name": "search"}),
    ("assert.tool_calls", '"{""max"": 2}"', {"type": "tool_calls", "value": {"max": 2}}),
    ("assert.agent:agents:judge", "Is polite", {"type": "agent", "use": "agents:judge", "criteria": "Is polite"}),
]


@pytest.mark.parametrize(("column", "cell", "expected"), ASSERTIONS)
def test_columns_of_assertions(tmp_path: Path, column: str, cell: str, expected: dict[str, Any]) -> None:
    (found,) = cases(tmp_path, f"input,{column},{column}\nhi,{cell},{cell}\n")
    assert found["assertions"] == [expected, expected]


def test_assertions_of_one_column_and_of_several_are_one_list(tmp_path: Path) -> None:
    text = (
        'assert.contains,input,assert,assert.icontains\na,hi,"{""type"": ""type"", ""value"": ""string""}",b\n,hi,,c\n'
    )
    first, second = cases(tmp_path, text)
    assert [check["type"] for check in first["assertions"]] == ["contains", "type", "icontains"]
    assert [check["type"] for check in second["assertions"]] == ["icontains"]


@pytest.mark.parametrize("cell", ["NaN", "Infinity", "1e400"])
def test_what_json_has_no_number_for_stays_a_text(tmp_path: Path, cell: str) -> None:
    (found,) = cases(tmp_path, f"input,assert.json_path:$.a\nhi,{cell}\n")
    assert found["assertions"][0]["value"] == cell


def test_other_columns_are_variables(tmp_path: Path) -> None:
    text = "input,city,assert.contains\nA night in {{ city }},Oslo,{{city}}\nNo variable,Rome,\n"
    first, second = cases(tmp_path, text)
    assert (first["id"], first["input"], first["assertions"][0]["value"]) == ("row 2", "A night in Oslo", "Oslo")
    assert (second["id"], second["input"]) == ("row 3", "No variable")


WRONG = {
    b"input,timeout\nhi,soon\n": 'cases.csv:2:2: case "row 2": cannot read timeout "soon"',
    b"input,options.other\nhi,1\n": 'cases.csv:2:2: case "row 2": unknown field "other" in "options"',
    b"id,input\na,hi\na,hi\n": 'cases.csv:3:1: the id "a" is already used by cases.csv:2',
    b"input,input.a\nhi,x\n": 'cases.csv:1:2: the column "input" has the whole field, and "input.a" a part of it',
    b"options.connector,options,input\na,b,hi\n": 'cases.csv:1:1: the column "options" has the whole field',
    b"input,timeout\n" + b"hi,5s\n" * 700 + b'hi,"a"b"\n': "cases.csv:702:1: broken CSV: ",
    b"input,mocks\nhi," + b"[" * 5000 + b"\n": 'case "row 2": ',
    b'input,rubrics,threshold\nhi,"[""a""]",inf\n': 'cases.csv:2:3: case "row 2": ',
    b"input,input\nhi,ho\n": 'cases.csv:1:2: there are two columns "input"',
    b"input,\nhi,ho\n": "cases.csv:2:2: `ho` is in a column without a name",
    b'input,name\nhi,"a"b"\n': "cases.csv:2:1: broken CSV: ",
    b"input,name\nhi,\xe9\x81\n": 'cases.csv:2:4: not UTF-8 text [Save it as "CSV UTF-8"]',
    b'input,assert\nhi,"{""type"": ""equals"", ""value"": ""\\uDC00""}"\n': "cases.csv:2:2: broken JSON: a lone surrogate",
    b"input\n": "the file has no cases [The first row of a table must contain field names",
    b"": "the file has no cases [The first row of a table must contain field names",
    b"question,answer\n1,2\n": 'cases.csv:2:1: case "row 2": "input" is missing',
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_with_row_and_column(tmp_path: Path, text: bytes) -> None:
    assert WRONG[text] in refusal(tmp_path, text, "cases.csv")


@pytest.mark.parametrize(
    ("name", "text", "collected"),
    [
        ("a.csv", b"id,input\na,hi\n", True),
        ("a.tsv", b"id\tinput\na\thi\n", True),
        ("a.csv", b"sep=;\r\nid;input\r\na;hi\r\n", True),
        ("a.csv", 'id;"input"\na;hi\n'.encode("utf-16"), True),
        ("a.csv", b"ID|Input\na|hi\n", True),
        ("a.csv", "id;input;gr\xf6\xdfe\ra;hi\r".encode("cp1252"), True),
        ("a.csv", "id,input\n".encode("utf-16-be"), True),
        ("a.csv", b"day,input_tokens\n1,2\n", False),
        ("a.csv", b"", False),
    ],
)
def test_a_table_with_inputs_is_a_case_file(tmp_path: Path, name: str, text: bytes, collected: bool) -> None:
    (tmp_path / name).write_bytes(text)
    assert is_collected(str(tmp_path / name)) is collected
