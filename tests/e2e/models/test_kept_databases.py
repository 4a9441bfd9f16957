"""How strict the databases of tests are, how they are kept, and when they end."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from command import MakeApplication
from model_files import HOOK, NAMES, PET, ROOT

STRICT = "export function Create() { Process('models.pet.Create', { tag: 'x' }); }"


@pytest.mark.parametrize(
    ("flags", "options", "passes"),
    [
        ([], {}, True),
        (["--strict-db"], {}, False),
        ([], {"strictDatabase": True}, False),
        ([], {"strictDatabase": False, "metadata": {"a": 1}}, True),
        (["--strict-db"], {"strictDatabase": False}, False),
    ],
)
def test_a_strict_database_refuses_what_mysql_refuses(
    app: MakeApplication, flags: list[str], options: dict[str, Any], passes: bool
) -> None:
    case = {"id": "a", "input": "x", "options": options}
    files = {
        **PET,
        **agent(hooks=STRICT, cases=[case]),
        "pets_test.ts": f"{STRICT}\nexport function TestIt() {{ Create(); }}",
    }
    application = app(files)
    record = run_cases(application, *flags)["a"]
    said = "Field 'name' doesn't have a default value"
    assert (record["status"] == "passed", said in str(record.get("error"))) == (passes, not passes), record
    if "strictDatabase" not in options:
        result = application.results("-i", "scripts.demo.pets", *flags)["TestIt"]
        assert (result["status"] == "passed", said in str(result.get("error"))) == (passes, not passes), result


KEPT = """\
export function TestA(t) { Process("models.pet.Create", { name: "A" }); }
export function TestB(t) { Process("models.pet.Create", { name: "B" }); t.fail("and it is kept"); }
export function TestC(t) { t.assert.True(true); }
"""


def names(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM pet ORDER BY id")]


def test_the_database_of_the_test_is_kept(app: MakeApplication) -> None:
    application = app({**PET, "pets_test.ts": KEPT})
    for run, left in (("TestA", "A"), ("TestB", "B")):  # the second replaces what the first has left
        done = application.run("-i", "scripts.demo.pets", "--run", run, "--db", "out/../one.db")
        assert "Wrote one.db" in done.stdout, done
        assert names(application.root / "one.db") == ["Rex", left]
    done = application.run("-i", "scripts.demo.pets", "--db", "one.db")
    assert "Wrote one.db\n" in done.stdout
    assert {path.name: names(path) for path in (application.root / "one.db").iterdir()} == {
        "scripts.demo.pets.TestA.db": ["Rex", "A"],
        "scripts.demo.pets.TestB.db": ["Rex", "B"],
    }
    assert "Wrote" not in application.run("-i", "scripts.demo.pets", "--run", "TestC", "--db", "none.db").stdout
    assert sorted(path.name for path in application.root.iterdir() if path.name.endswith(".db")) == ["one.db"]


def test_each_run_of_a_case_leaves_a_database(app: MakeApplication) -> None:
    files = {**PET, **agent(hooks=HOOK, replies=json.dumps(NAMES), cases=[{"id": "a/b", "input": "Mia"}])}
    application = app(files)
    assert application.run("-i", case_file(), "--runs", "2", "--db", "kept").code == 0
    assert sorted(path.name for path in (application.root / "kept").iterdir()) == [
        "assistants_demo_tests_cases.jsonl.a_b.2.db",
        "assistants_demo_tests_cases.jsonl.a_b.db",
    ]


def test_no_file_of_somebody_else_is_replaced(app: MakeApplication) -> None:
    application = app({**PET, "pets_test.ts": KEPT, "/notes.txt": "mine", "/empty": ""})
    with sqlite3.connect(application.root / "real.db") as connection:
        connection.execute("CREATE TABLE customers (id)")
    before = application.listing()
    for name in ("notes.txt", "real.db", "empty"):
        run = application.run("-i", "scripts.demo.pets", "--db", name)
        assert run.code == 2, run
        assert f"Cannot write --db <app>/{name}: the file already exists and was not created by --db" in run.stderr
    assert "there is no folder" in application.run("-i", "scripts.demo.pets", "--db", "no/such.db").stderr
    assert application.listing() == before


def test_a_run_without_models_loads_nothing_of_them(app: MakeApplication) -> None:
    application = app(
        {**PET, **agent(cases=[{"id": "a", "input": "x"}]), "plain_test.ts": KEPT.replace("Process", "String")}
    )
    code = (
        "import os, sys; import runner.commands.main as c\n"
        "def leave(code):\n"
        "    print('LOADED', sorted({'sqlite3', 'bindings.models.database', 'bindings.models.definition'} & sys.modules.keys()))\n"
        "    sys.stdout.flush(); os.kill(os.getpid(), 9)\n"
        "sys.argv[0] = 'yao-test'; leave(c.main())"
    )
    for arguments, loaded in (
        (["-i", "scripts.demo.plain"], "[]"),
        (["-i", case_file()], "[]"),
    ):
        environment = {**application.environment, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=application.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.splitlines()[-1] == f"LOADED {loaded}", done


def test_a_database_is_closed_when_its_test_has_ended(app: MakeApplication) -> None:
    """The second test sees what --db has kept of the first, and not of itself."""
    files = {
        **PET,
        "/data/readme.md": "",
        "pets_test.ts": """\
            const kept = () => Process("fs.data.ReadDir", "/.yao-test.kept").map((path) => path.split("/").pop());
            export function TestA(t) { t.db.seed({ pet: [{ name: "A" }] }); }
            export function TestB(t) {
              t.db.seed({ pet: [{ name: "B" }] });
              t.assert.Equal(kept(), ["scripts.demo.pets.TestA.db"]);
            }
        """,
    }
    results = app(files).results("-i", "scripts.demo.pets", "--parallel", "1", "--db", "data/kept")
    assert (results["TestA"]["status"], results["TestB"]["status"]) == ("passed", "passed"), results


def test_a_statement_ends_with_the_time_of_its_test(app: MakeApplication) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    ask = f'Process("query.default.Get", {{ sql: {{ stmt: "{endless}" }} }});'
    files = {
        **PET,
        **agent(hooks=f"export function Create() {{ {ask} }}", cases=[{"id": "a", "input": "x"}]),
        "pets_test.ts": f"export function TestA(t) {{ {ask} }}",
    }
    run = app(files).run("-i", "scripts.demo.pets", "-i", case_file(), "--timeout", "300ms")
    assert (run.code, "Summary: 0 passed, 2 failed" in run.stdout, run.stdout.count("timeout after")) == (
        1,
        True,
        2,
    ), run
