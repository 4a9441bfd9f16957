"""Case files as tables: CSV and TSV, as Excel, LibreOffice, Numbers and databases write them (RFC 4180, also with `;`
or tabs between cells, and `sep=;` in a first line). The first row names the fields; each row below is a case.

| column | is |
| --- | --- |
| `input`, `expected`, any field of a case | that field |
| `options.temperature` | a field within a field |
| `assert.contains` | an assertion of that type, whose `value` the cell is |
| `assert.json_path:$.a` | the same, with a `path` |
| `assert.regex` | an assertion whose `pattern` the cell is; `criteria` of `agent`, `name` of `tool_called` |
| any other | a variable, which `{{ name }}` in the other cells stands for |

Cells are texts, except where a field is a number, a boolean or a list (with commas between its elements). Where a field
is an object, and for assertions on more than texts, they are JSON (`5`, `true`, `"5"`). Empty cells are absent. Without
an `id`, a case is called after its row: `row 2`. Places are rows and columns as a spreadsheet counts them, from 1."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from runner.application.documents import JsonPath, Position
from runner.assertions.model import Assertion
from runner.cases.entries import Entry, Problem, Problems
from runner.cases.kinds import further_models
from runner.cases.model import Case
from runner.cases.tables import VARS, text_of
from runner.cells import from_cell
from runner.security.files import open_binary
from runner.shapes.declared import known_fields
from runner.shapes.shape import ANY, Shape
from scripttest.values import Value

ASSERT = "assert"
_AT_ONCE = 500
"""Rows that are checked together."""
_LONGEST = 16 << 20
"""Characters of a cell."""
_ANSI = "cp1252"
"""What Excel writes on Windows as plain CSV, in Western countries."""
_BETWEEN = ",;\t|"
_SAME_IN_ANY_CASE = ("id", "input", "expected")
"""Fields whose columns may be named as people begin names, `Input`."""
_AFTER_COLON = {"tool_called": "name", "tool_not_called": "name", "snapshot": "name", "agent": "use"}
"""Type of an assertion → what stands behind the colon of its column, if that is not a path."""
_CELL = {"regex": "pattern", "agent": "criteria", "script": "script", "tool_called": "name", "tool_not_called": "name"}
"""Type of an assertion → what its cell is, if that is not the value."""
_OF_TEXT = (
    "equals",
    "contains",
    "not_contains",
    "icontains",
    "starts_with",
    "delegated",
    "file_contains",
    "preference",
)
"""Types of assertions whose value is a text, also where it looks like a number."""
_WORDS = {
    **dict.fromkeys("true yes on t y 1 wahr vrai verdadero vero verdadeiro waar".split(), True),
    **dict.fromkeys("false no off f n 0 falsch faux falso onwaar".split(), False),
}
"""As databases write them, and spreadsheets in some languages."""
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:[.,'\u2019 \u00a0\u202f]\d{3})+")
"""A whole number as spreadsheets show it, `1,000`: where no fraction is taken, this is no `1.0`."""
_NULL = r"\N"
"""As databases write an empty cell in text."""


class _Column(Value):
    """What the cells of a column are."""

    path: JsonPath
    shape: Shape = ANY
    """What the field takes; of any value, the cell stays a text."""
    is_json: bool = False
    """Whether a cell that is JSON counts as that: the value that a path leads to may be a number."""
    assertion: Mapping[str, str] | None = None
    """What the assertion has besides the cell."""


def entries_of(path: Path, problems: Problems, warnings: Problems) -> Iterator[list[Entry]]:
    """The rows of a table as entries, some hundred at a time. What cannot be read is added to the problems, and what is
    a guess to the warnings. Raises OSError and UnicodeDecodeError."""
    with open_table(path) as file:
        if file.encoding == _ANSI:
            text = "not UTF-8 text: read as Windows-1252"
            warnings.add(Problem(position=Position(line=1, column=1), text=text, hint='Save it as "CSV UTF-8"'))
        rows = rows_of(file, path, problems)
        row, header = next(rows, (1, []))
        columns = list(_columns(header, row, problems))
        if problems.count:
            return
        entries = (_entry(number, cells, columns, problems) for number, cells in rows if any(cells))
        while some := list(islice(entries, _AT_ONCE)):
            yield some


def open_table(path: Path) -> TextIO:
    """Opens a table in its encoding: UTF-8, UTF-16, or else Windows-1252. Raises OSError, and UnicodeDecodeError where
    it is none of them."""
    raw = open_binary(path)
    try:
        encoding = _encoding_of(raw)
        raw.seek(0)
    except BaseException:
        raw.close()
        raise
    return io.TextIOWrapper(raw, encoding=encoding, newline="")


def _encoding_of(raw: BinaryIO) -> str:
    start = raw.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(start) == 2 and 0 in start:
        return "utf-16-be" if start[0] == 0 else "utf-16-le"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(start)
        while some := raw.read(1 << 16):
            decoder.decode(some)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raw.seek(0)
        while some := raw.read(1 << 16):
            if "\ufffd" in some.decode(_ANSI, "replace"):
                raise error
        return _ANSI
    return "utf-8-sig"


def rows_of(file: TextIO, path: Path, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The rows of an open table with their numbers, from 1, up to one that is broken; cells without blanks around
    them."""
    csv.field_size_limit(_LONGEST)
    first, begin = file.readline(), 1
    if first.lower().startswith("sep=") and len(first.rstrip("\r\n")) == 5:
        between, lines, begin = first[4], iter(file), 2
    else:
        head = first
        while head.count('"') % 2 and (more := file.readline()):
            head += more
        unquoted = "".join(head.split('"')[::2])
        between = "\t" if path.suffix.lower() == ".tsv" else max(_BETWEEN, key=unquoted.count)
        lines = chain(io.StringIO(head, newline=""), file)
    number = begin - 1
    try:
        for number, cells in enumerate(csv.reader(lines, delimiter=between, strict=True), begin):
            yield number, [from_cell(cell.strip()) for cell in cells]
    except csv.Error as error:
        problems.add(Problem(position=Position(line=number + 1, column=1), text=f"broken CSV: {error}"))


def _columns(header: list[str], row: int, problems: Problems) -> Iterator[_Column | None]:
    known = {}
    for model in (*further_models(), Case):
        known.update(known_fields(model))
    seen: set[str] = set()
    for at, name in enumerate(header, 1):
        if name.lower() in _SAME_IN_ANY_CASE and name.lower() not in header:
            name = name.lower()
        if name and name in seen and not name.startswith(f"{ASSERT}."):
            text = f'there are two columns "{name}"'
            problems.add(Problem(position=Position(line=row, column=at), text=text, hint="Rename one of them"))
        seen.add(name)
        first, *within = name.split(".")
        if within and first != ASSERT and first in known and first in header:
            text = f'the column "{first}" has the whole field, and "{name}" a part of it'
            problems.add(Problem(position=Position(line=row, column=at), text=text, hint="Remove one of them"))
        if not name:
            yield None
        elif first == ASSERT and within:
            yield _asserted(name.partition(".")[2])
        elif first in known or first.startswith("x-"):
            shape = known[first].shape if first in known else ANY
            for part in within:
                field = known_fields(shape.model).get(part) if shape.model else None
                shape = field.shape if field else ANY
            yield _Column(path=(first, *within), shape=shape)
        else:
            yield _Column(path=(VARS, name))


def _asserted(said: str) -> _Column:
    type, _, behind = said.partition(":")
    extra = {_AFTER_COLON.get(type, "path"): behind} if behind else {}
    field = "value" if _CELL.get(type) in extra else _CELL.get(type, "value")
    is_json = field == "value" and type not in _OF_TEXT
    shape = known_fields(Assertion)[field].shape
    return _Column(path=(ASSERT, field), shape=shape, is_json=is_json, assertion={"type": type, **extra})


def _entry(row: int, cells: list[str], columns: list[_Column | None], problems: Problems) -> Entry:
    value: dict[str, Any] = {}
    places: dict[JsonPath, Position] = {(): Position(line=row, column=1)}
    for at, cell in enumerate(cells, 1):
        column = columns[at - 1] if at <= len(columns) else None
        place = Position(line=row, column=at)
        if column is None and cell:
            problems.add(Problem(position=place, text=f"`{cell[:40]}` is in a column without a name"))
        if column is None or cell in ("", _NULL):
            continue
        content = cell if column.path == ("input",) else _read(cell, column)
        if column.path[0] == ASSERT:
            checks = value.setdefault(ASSERT, [])
            if column.assertion is not None:
                content = {**column.assertion, str(column.path[-1]): content}
            for check in content if isinstance(content, list) else [content]:
                places |= {(ASSERT, len(checks)): place}
                checks.append(check)
            continue
        inside: Any = value
        for name in column.path[:-1]:
            inside = inside.setdefault(name, {})
        inside[column.path[-1]] = content
        places |= {column.path[:depth]: place for depth in range(1, len(column.path) + 1)}
    value.setdefault("id", f"row {row}")
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        place = Position(line=row, column=next(at for at, cell in enumerate(cells, 1) if "\\ud" in cell.lower()))
        problems.add(Problem(position=place, text="broken JSON: a lone surrogate is not a character"))
        text = text.encode("utf-8", "replace").decode()
    return Entry(line=row, column=1, text=text, places=places)


def row_of(case: Mapping[str, Any]) -> dict[str, str]:
    """The cells of a case by their columns, as `entries_of` reads them; assertions that have no column of their own are
    JSON in the column `assert`."""
    row: dict[str, str] = {}
    left: list[Any] = []
    given = {name: value for name, value in case.items() if value not in (None, "", [], {})}
    asserted = given.pop("assertions", [])
    for check in asserted if isinstance(asserted, list) else [asserted]:
        found = next(_cells_of(check), None) if isinstance(check, dict) else None
        if found is None or found[0] in row:
            left.append(check)
        else:
            row[found[0]] = found[1]
    if not asserted and not isinstance(given.get("expected", ""), str):
        left.append({"type": "equals", "value": given.pop("expected")})
    if not isinstance(given.get("input", ""), str):
        said = given.pop("input")
        given["messages"] = said if isinstance(said, list) else [said]
    if not any("," in tag for tag in given.get("tags", ())):
        given |= {"tags": ", ".join(given["tags"])} if "tags" in given else {}
    return {name: text_of(value) for name, value in given.items()} | row | ({ASSERT: text_of(left)} if left else {})


def _cells_of(check: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The columns and cells that are just this assertion."""
    type = check.get("type", "")
    if type == "regex" and "value" in check:
        check = {"type": type, "pattern": check["value"], **check}
        del check["value"]
    behind = check.get(_AFTER_COLON.get(type, "path"))
    for name in (type, f"{type}:{behind}"):
        column = _asserted(name)
        field = str(column.path[-1])
        for cell in (check.get(field), json.dumps(check.get(field), ensure_ascii=False)):
            if not isinstance(cell, str) or cell in ("", _NULL) or cell != cell.strip() or column.assertion is None:
                continue
            if {**column.assertion, field: _read(cell, column)} == check:
                yield f"{ASSERT}.{name}", cell


def _read(cell: str, column: _Column) -> Any:
    return _json(cell) if column.is_json else _content(cell, column.shape)


def _content(cell: str, shape: Shape) -> Any:
    """The cell as its field takes it; a text where it does not fit, of which the check of the case tells."""
    kinds, items = shape.takes.keys(), shape.items
    if object in kinds or kinds == {str}:
        return cell
    if bool in kinds and cell.lower() in _WORDS:
        return _WORDS[cell.lower()]
    if int in kinds and float not in kinds and _GROUPED.fullmatch(cell):
        return int(re.sub(r"\D", "", cell))
    if int in kinds:
        return _number(cell)
    if cell[0] in "[{":
        return _json(cell)
    is_list = items is not None and items.takes.keys() == {str} and (str not in kinds or shape.words)
    return [part.strip() for part in cell.split(",") if part.strip()] if is_list else cell


def _json(cell: str) -> Any:
    try:
        value = json.loads(cell)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return cell
    return value


def _number(cell: str) -> Any:
    try:
        number = float(cell.replace(",", "."))
    except ValueError:
        return cell
    if not isfinite(number):
        return cell
    return int(number) if number.is_integer() else number
