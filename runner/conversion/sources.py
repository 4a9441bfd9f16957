"""The files that other tools read, as values: JSON, JSONL, YAML, and tables as a list of rows by column; and what their
conversion has made so far."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path
from typing import Any

from bindings import PatternError, compile
from runner.application.documents import read_json, read_yaml
from runner.cases.csv_rows import open_table, rows_of
from runner.cases.entries import Problems
from runner.errors import ConfigurationError
from runner.security.files import TABLES, read_text
from scripttest.typing_names import Record

YAML = (".yaml", ".yml")
CODE = (".js", ".cjs", ".mjs", ".ts", ".py", ".rb", ".sh", ".exe")


def value_of(path: Path, shown: str) -> Any:
    """The value of a file; a list for JSONL and tables. Raises ConfigurationError, in which the file has the name
    `shown`."""
    suffix = path.suffix.lower()
    try:
        if not path.is_file():
            raise ConfigurationError(f"Cannot read {shown}: there is no such file")
        if suffix in CODE:
            hint = "Save its output to a file: .json, .jsonl, .yaml or .csv"
            raise ConfigurationError(f"Cannot read {shown}: it is code", hint)
        if suffix in TABLES:
            return _table(path, shown)
        if suffix in YAML:
            return read_yaml(path, "cases")
        if suffix == ".json":
            return read_json(path, "cases", is_data=True)
        return _lines(read_text(path), shown)
    except OSError as error:
        raise ConfigurationError(f"Cannot read {shown}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"Cannot read {shown}: it is not UTF-8 text") from error


def _lines(text: str, shown: str) -> list[Any]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            hint = "Each line of .jsonl is a JSON object; .json, .yaml and .csv are read too"
            raise ConfigurationError(f"Cannot read {shown}:{number}: broken JSON: {error}", hint) from error
    return found


def _table(path: Path, shown: str) -> list[dict[str, str]]:
    problems = Problems(shown)
    with open_table(path) as file:
        rows = rows_of(file, path, problems)
        _, header = next(rows, (1, []))
        found = [dict(zip(header, cells, strict=False)) for _, cells in rows if any(cells)]
    if problems.count:
        raise ConfigurationError(f"Cannot read {problems.lines()[0]}")
    return [{name: cell for name, cell in row.items() if name} for row in found]


SAME_MEANING = "Means the same as: {}"
"""The criterion of a judge that compares an answer with a reference."""
JUDGE = "agents:workers.test.validator"


class Converted:
    """Cases in the form of case files, and what has no counterpart in them."""

    def __init__(self) -> None:
        self.cases: list[Record] = []
        self.at = ""
        """What is converted: the id of a case, or a row of a table."""
        self._ids: set[str] = set()
        self.lacking: dict[str, list[str]] = {}
        """What has no counterpart, and what to do instead → the cases that have it; none where it concerns them all."""

    def lacks(self, what: str, case: str = "") -> None:
        """Takes note of something without a counterpart, of one case or of all."""
        places = self.lacking.setdefault(what, [])
        if case and case not in places:
            places.append(case)

    def add(self, id: str, said: Record, checks: Iterable[Record], **more: Any) -> None:
        """Adds a case: what is said to the agent, and the assertions. Fields that are empty are left out.
        Assertions that are `lost` stay beside the others, where no run reads them."""
        id = next(one for one in chain([id], (f"{id}-{number}" for number in count(2))) if one not in self._ids)
        self._ids.add(id)
        found = list(checks)
        if lost := more.pop("lost", None):
            more["x-not-converted"] = lost
        fields = {"assert": found[0] if len(found) == 1 else found, **more}
        self.cases.append({"id": id, **said, **{name: value for name, value in fields.items() if value}})


def parsed(text: str, otherwise: Any = None) -> Any:
    """The value of a text that is JSON, else another one."""
    try:
        return json.loads(text)
    except ValueError:
        return otherwise


def judged(criteria: str) -> Record:
    """An assertion by the judge that there is in every application."""
    return {"type": "agent", "use": JUDGE, "criteria": criteria}


def pattern_problem(pattern: object) -> str | None:
    """Why a regular expression of another tool cannot be used here; None: it can."""
    try:
        compile(str(pattern))
    except PatternError as error:
        return str(error)
    return None


def one_of(type: str, values: Iterable[Any]) -> Record:
    """An assertion that holds for one of some values."""
    checks = [{"type": type, "value": value} for value in values]
    return checks[0] if len(checks) == 1 else {"type": "any_of", "value": checks}
