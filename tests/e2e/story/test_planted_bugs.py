"""`--story`: the line of a bug, with the value there, is among the last ten lines of the story."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import MakeApplication, Record
from planted_bugs import BUGS
from table_tests import each

TEST = 'import * as m from "./bug{}";\nexport async function TestBug(t: testing.T) {{\n  t.assert.{};\n}}\n'
HERE = Path(__file__).parent
CORPUS = sorted((Path(__file__).parents[2] / "scripttest/coverage/corpus").iterdir())


@pytest.fixture(scope="module")
def stories(shared_app: MakeApplication) -> Record:
    """The story of each bug."""
    files = {}
    for number, bug in enumerate(BUGS.values()):
        files |= {f"bug{number}.ts": bug.handler, f"bug{number}_test.ts": TEST.format(number, bug.call)}
    run = shared_app(files).run("--story=all", "--json")
    found = {failure["suite"]: failure["story"] for failure in json.loads(run.stdout)["failures"]}
    return {name: found[f"scripts.demo.bug{number}"] for number, name in enumerate(BUGS)}


@each("name", BUGS)
def test_the_last_lines_have_the_place_and_the_value(name: str, stories: Record) -> None:
    bug, number = BUGS[name], list(BUGS).index(name)
    place = (f"assistants/demo/src/bug{number}.ts", bug.line)
    found = [line.get(bug.key) for line in stories[name][-10:] if (line["file"], line["line"]) == place]
    assert bug.value in found, stories[name]


def test_scripts_of_all_kinds_run_as_without_a_recorder(app: MakeApplication) -> None:
    imports = "".join(f'import "./{file.name}";\n' for file in CORPUS)
    wait = "await new Promise((done) => setTimeout(done, 50));"
    made = app(
        {
            **{file.name: file.read_bytes() for file in CORPUS},
            "all_test.ts": f"{imports}export async function TestAll(t) {{ {wait} t.assert.Equal(1, 2); }}\n",
            "more_test.ts": (HERE / "sequences.ts").read_text(),
            "texts_test.ts": (HERE / "functions.ts").read_text(),
            "/tsconfig.json": '{ "compilerOptions": { "experimentalDecorators": true } }',
        }
    )
    failures = json.loads(made.run("--story", "--json").stdout)["failures"]
    assert [failure["test"] for failure in failures] == ["TestAll", "TestSeq", "TestTexts"]
    for failure in failures:
        assert {line["kind"] for line in failure["story"]} >= {"calls", "returned", "assigned"}
        assert [line["text"] for line in failure["story"] if line["kind"] in ("flaky", "note")] == []
