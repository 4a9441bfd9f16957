"""The files that other tools read, as values: JSON, JSONL, YAML, and tables as a list of rows by column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner.application.documents import read_json, read_yaml
from runner.cases.csv_rows import open_table, rows_of
from runner.cases.problems import Problems
from runner.errors import ConfigurationError
from runner.security.files import read_text

YAML = (".yaml", ".yml")
TABLES = (".csv", ".tsv")
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
