"""What `--coverage` counts is what Istanbul counts on the TypeScript source: `expected.json`, made by `expected.mjs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import MakeApplication, Record
from table_tests import each

HERE = Path(__file__).parent
CORPUS = sorted((HERE / "corpus").iterdir())
EXPECTED: Record = json.loads((HERE / "expected.json").read_text("utf-8"))
ALL = "".join(f'import "./{file.name}";\n' for file in CORPUS)


@pytest.fixture(scope="module")
def counted(shared_app: MakeApplication) -> Record:
    """The Istanbul record of each file after all of them have been loaded."""
    made = shared_app(
        {
            **{file.name: file.read_bytes() for file in CORPUS},
            "all_test.ts": f"{ALL}export async function TestAll(t) {{ await new Promise((r) => setTimeout(r, 50)); }}\n",
            "/tsconfig.json": '{ "compilerOptions": { "experimentalDecorators": true } }',
        }
    )
    run = made.run("-i", "scripts.demo.all", "--coverage", "-o", "coverage-final.json")
    assert run.code == 0, run
    files: Record = json.loads((made.root / "coverage-final.json").read_text("utf-8"))
    return {Path(path).name: file for path, file in files.items()}


def place(where: Record) -> str:
    start, end = where["start"], where["end"]
    return f"{start['line']}:{start['column']}-{end['line']}:{end['column']}" if start else "?"


def in_order(where: dict[str, Any], texts: dict[str, str]) -> list[str]:
    def first(key: str) -> tuple[int, int, int]:
        start = where[key].get("loc", where[key])["start"]
        return start["line"], start["column"], int(key)

    return [texts[key] for key in sorted(where, key=first)]


def figures(file: Record) -> Record:
    """As `expected.mjs` writes them."""
    statements = {key: f"{place(where)} {file['s'][key]}" for key, where in file["statementMap"].items()}
    functions = {key: f"{place(where['loc'])} {file['f'][key]}" for key, where in file["fnMap"].items()}
    branches = {}
    for key, branch in file["branchMap"].items():
        arms = zip(branch["locations"], file["b"][key], strict=True)
        branches[key] = f"{branch['type']} {', '.join(f'{place(where)} {count}' for where, count in arms)}"
    return {
        "statements": in_order(file["statementMap"], statements),
        "functions": in_order(file["fnMap"], functions),
        "branches": in_order(file["branchMap"], branches),
    }


def test_the_same_files_have_something_to_count(counted: Record) -> None:
    assert len(CORPUS) > 60
    assert counted.keys() == EXPECTED.keys()


@each("name", EXPECTED)
def test_counts_are_those_of_istanbul(counted: Record, name: str) -> None:
    assert figures(counted[name]) == EXPECTED[name]
