"""`t.only`, `t.skip`, `t.todo` and `t.each`: which tests and subtests run, and how reports show them."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from command import Application, MakeApplication, Record
from table_tests import each

LOGS = {
    "TestPlain": "t.log('plain');",
    "TestOnly": "t.only(); t.log('only');",
    "TestAsync": "t.only(); await null; t.log('async');",
}
MODULE = "\n".join(f"export async function {name}(t) {{ {body} }}" for name, body in LOGS.items())
SUBTESTS = """
    function shared(t) { t.only(); t.log("shared"); }
    export function TestInline(t) {
      t.run("a", (t) => t.log("a"));
      t.run("b", (t) => { t.only(); t.log("b"); });
      t.run("c", function (sub) { const x = 1; sub.only(); t.log("c"); });
    }
    export async function TestAwaited(t) {
      await t.run("a", async (t) => { await null; t.log("a"); });
      await t.run("b", async (t) => { t.only(); await null; t.log("b"); });
    }
    export function TestNamed(t) { t.run("a", (t) => t.log("a")); t.run("b", shared); }
    export function TestLocal(t) { const own = (t) => { t.only(); t.log("own"); }; t.run("a", (t) => t.log("a")); t.run("b", own); }
    export function TestInner(t) {
      t.run("x", (t) => { t.run("in", (t) => { t.only(); t.log("in"); }); t.run("out", (t) => t.log("out")); });
      t.run("y", (t) => t.log("y"));
    }
    export function TestTable(t) { t.run("a", (t) => t.log("a")); t.each([1, 2], "%d", (t, n) => { t.only(); t.log(n); }); }
    export function TestText(t) { t.run("a", (t) => t.log("t.run('b', (t) => { t.only(); })")); }
"""
RAN = {
    "TestInline": ["b", "c"],
    "TestAwaited": ["b"],
    "TestNamed": ["shared"],
    "TestLocal": ["own"],
    "TestInner": ["in", "y"],
    "TestTable": ["1", "2"],
    "TestText": ["t.run('b', (t) => { t.only(); })"],
}


def logs(app: Application, *arguments: str, code: int = 0) -> list[str]:
    results = app.results("-i", "scripts.demo.a", *arguments, code=code)
    return [line for record in results.values() for line in record["logs"]]


def test_only_leaves_out_the_other_tests_of_its_module(app: MakeApplication) -> None:
    here = app({"a_test.ts": MODULE, "b_test.ts": "export function TestOther(t) { t.log('other'); }"})
    assert logs(here) == ["only", "async"]
    both = here.run("-i", "scripts.demo.*")
    assert (
        "t.only in scripts.demo.a › TestOnly, scripts.demo.a › TestAsync: other tests of the same module did not run"
        in both.stdout
    )
    assert "3 passed" in both.stdout
    listed = here.run("-i", "scripts.demo.a", "--dry-run").stdout
    assert "TestPlain" not in listed
    assert json.loads(here.run("-i", "scripts.demo.a", "--json").stdout)["summary"]["only"] == [
        "scripts.demo.a › TestOnly",
        "scripts.demo.a › TestAsync",
    ]


@each("name", RAN)
def test_only_leaves_out_the_subtests_beside_it(shared_app: MakeApplication, name: str) -> None:
    here = shared_app({"a_test.ts": SUBTESTS})
    assert logs(here, "--run", name) == RAN[name]


def test_run_chooses_before_only_does(app: MakeApplication) -> None:
    here = app({"a_test.ts": MODULE + SUBTESTS})
    assert logs(here, "--run", "Plain|Inner") == ["plain", "in", "y"]
    assert logs(here, "--run", "Plain|TestOnly") == ["only"]
    assert logs(here, "--run", "TestInline/a") == ["a"]
    assert logs(here, "--run", "TestInner/x/out") == ["out"]


def test_only_that_cannot_be_seen_before_other_tests_ran_fails(app: MakeApplication) -> None:
    source = """
        const wrapped = (body) => (t) => body(t);
        export const TestWrapped = wrapped((t) => t.only());
        export function TestSub(t) { t.run("a", () => 1); t.run("b", wrapped((t) => t.only())); }
        export function TestFirst(t) { t.run("a", wrapped((t) => t.only())); }
    """
    results = app({"a_test.ts": source}).results("-i", "scripts.demo.a", code=1)
    assert {name: record["status"] for name, record in results.items()} == {
        "TestWrapped": "failed",
        "TestSub": "failed",
        "TestFirst": "passed",
    }
    assert results["TestWrapped"]["error"].startswith("t.only() came too late: other tests of the module may have run")
    assert results["TestWrapped"]["location"].startswith("assistants/demo/src/a_test.ts:3:")


@pytest.mark.parametrize(("arguments", "ci"), [((), "true"), (("--forbid-only",), ""), ((), "")])
def test_forbid_only_fails_such_tests_and_runs_all_others(
    app: MakeApplication, arguments: tuple[str, ...], ci: str
) -> None:
    here = app({"a_test.ts": MODULE + SUBTESTS})
    run = here.run("-i", "scripts.demo.a", *arguments, "--run", "Plain|Only|Inline", env={**here.environment, "CI": ci})
    if not (arguments or ci):
        assert run.code == 0 and "1 passed, 0 failed" in run.stdout
        return
    assert run.code == 1
    assert "1 passed, 2 failed" in run.stdout
    assert "t.only() skips other tests, which --forbid-only does not allow" in run.stdout
    assert "did not run" not in run.stdout


def test_workers_of_a_cluster_do_what_the_command_decides(app: MakeApplication) -> None:
    pytest.importorskip("distributed")
    here = app({"a_test.ts": MODULE})
    done = here.fork("-i", "scripts.demo.a", "--cluster", "local:1")  # each worker is as in CI
    assert "2 passed, 0 failed" in done.stdout
    ci = here.fork("-i", "scripts.demo.a", "--cluster", "local:1", env={**here.environment, "CI": "true"})
    assert "1 passed, 2 failed" in ci.stdout


def test_a_resumed_run_keeps_to_the_same_tests(app: MakeApplication) -> None:
    here = app({"a_test.ts": MODULE})
    report = str(here.home / "r.jsonl")
    here.run("-i", "scripts.demo.a", "-o", report)
    lines = (here.home / "r.jsonl").read_text().splitlines()
    (here.home / "r.jsonl").write_text("\n".join(line for line in lines if '"TestAsync"' not in line[:200]) + "\n")
    again = here.run("--resume", report, "--json")
    assert [one["test"] for one in json.loads(again.stdout)["results"]] == ["TestOnly", "TestAsync"]


MARKS = """
    export function TestFails(t) { t.todo("halves"); t.assert.Equal(1, 2); }
    export function TestThrows(t) { t.todo(); throw new Error("no"); }
    export async function TestLater(t) { t.todo("async"); await null; t.require.True(false); }
    export function TestEmpty(t) { t.todo("nothing yet"); }
    export function TestPasses(t) { t.todo("done?"); t.assert.True(true); }
    export function TestSkipped(t) { t.assert.True(true); t.skip("no data"); }
    export function TestFailedFirst(t) { t.assert.True(false); t.skip("no data"); }
    export function TestSubtests(t) {
      t.assert.True(true);
      t.assert.True(t.run("todo", (t) => { t.todo("sub"); t.assert.True(false); }));
      t.run("skip", (t) => t.skip("why"));
    }
"""


@pytest.fixture(scope="module")
def marked(shared_app: MakeApplication) -> Application:
    return shared_app({"a_test.ts": MARKS})


def test_todo_runs_and_does_not_fail(marked: Application) -> None:
    results = marked.results("-i", "scripts.demo.a", code=1)

    def shown(record: Record) -> list[object]:
        return [record["status"], record.get("todo", False), record.get("skip_reason")]

    assert {name: shown(record) for name, record in results.items()} == {
        "TestFails": ["skipped", True, "halves"],
        "TestThrows": ["skipped", True, None],
        "TestLater": ["skipped", True, "async"],
        "TestEmpty": ["skipped", True, "nothing yet"],
        "TestPasses": ["passed", False, None],
        "TestSkipped": ["skipped", False, "no data"],
        "TestFailedFirst": ["failed", False, "no data"],
        "TestSubtests": ["passed", False, None],
    }
    assert results["TestFails"]["logs"] == ["t.todo: TestFails fails: Not equal"]
    assert [shown(step) for step in results["TestSubtests"]["steps"]] == [
        ["skipped", True, "sub"],
        ["skipped", False, "why"],
    ]
    [warning] = results["TestPasses"]["warnings"]
    assert warning["kind"] == "todo" and "remove t.todo" in warning["message"]


def test_a_todo_that_passes_fails_with_strict(marked: Application) -> None:
    assert marked.results("-i", "scripts.demo.a", "--strict", "--run", "Passes", code=1)


def test_every_report_shows_todo_and_why_tests_were_skipped(marked: Application) -> None:
    files = {name: marked.home / f"marks.{name}" for name in ("jsonl", "xml", "ctrf.json", "md")}
    outputs = [word for path in files.values() for word in ("-o", str(path))]
    console = marked.run("-i", "scripts.demo.a", *outputs).stdout
    assert "└─ todo: halves" in console and "└─ no data" in console and "TestSubtests/todo (" in console
    assert "4 todo" in console
    cases = ElementTree.fromstring(files["xml"].read_bytes()).iter("testcase")
    skipped = {case.get("name"): found.get("message") for case in cases if (found := case.find("skipped")) is not None}
    assert skipped == {
        "TestFails": "todo: halves",
        "TestThrows": "todo",
        "TestLater": "todo: async",
        "TestEmpty": "todo: nothing yet",
        "TestSkipped": "no data",
    }
    found = json.loads(files["ctrf.json"].read_text())["results"]
    assert (found["summary"]["skipped"], found["summary"]["pending"], found["summary"]["failed"]) == (1, 4, 1)
    assert [test["status"] for test in found["tests"]][:4] == ["pending"] * 4
    markdown = files["md"].read_text()
    assert "Skipped: todo: halves" in markdown and re.search(r"\| Todo +\| 4 +\|", markdown)
    assert json.loads(files["jsonl"].read_text().splitlines()[-1])["todo"] == 4


TABLE = r"""
    export function TestTable(t) {
      t.each([{ name: "ann", of: { age: 3 } }, { name: "bob lee", of: {} }], "$name is $of.age, $nothing, $#", (t, row) => t.log(row.name));
      t.each([[1, 2.5, "a"], [3, NaN, "b"]], "%i %f %s %s %# %$ %%", (t, [a]) => t.log(a));
      t.each(["x", "x", ""], "%s", (t, row) => t.log(row));
      t.each(new Map([["k", { v: [1] }]]), "%s=%j", (t, [key]) => t.log(key));
      t.each([{ a: 1 }], "%o", (t, row, ctx) => t.log(ctx.User.ID));
    }
    export async function TestInTurn(t) {
      const order = [];
      const passed = await t.each([3, 1, 2], "%d", async (t, n) => {
        await new Promise((done) => setTimeout(done, n));
        order.push(n);
        t.assert.NotEqual(n, 3);
      });
      t.log(order.join(), passed);
    }
    export function TestLeft(t) { t.each([1, 2], "%d", async (t, n) => { await null; t.log(n); }); }
    export function TestNoRows(t) { t.each([], "%d", () => 1); }
    export function TestNoTable(t) { t.each(5, "%d", () => 1); }
"""


def test_each_runs_a_named_subtest_for_every_row(app: MakeApplication) -> None:
    here = app({"a_test.ts": TABLE})
    results = here.results("-i", "scripts.demo.a", code=1)
    assert [step["name"].partition("/")[2] for step in results["TestTable"]["steps"]] == [
        "ann_is_3,_$nothing,_0",
        "bob_lee_is_$of.age,_$nothing,_1",
        "1_2.5_a_%s_0_1_%",
        "3_NaN_b_%s_1_2_%",
        "x",
        "x#01",
        "#00",
        'k={"v":[1]}',
        "{a:_1}",
    ]
    assert results["TestInTurn"]["logs"] == ["3,1,2 false"]
    assert [step["status"] for step in results["TestInTurn"]["steps"]] == ["failed", "passed", "passed"]
    assert results["TestLeft"]["logs"] == ["1", "2"]
    assert results["TestNoRows"]["error"] == "t.each has no rows, so it would check nothing"
    assert results["TestNoTable"]["error"] == "TypeError: t.each takes (rows, name, (t, row) => ...)"


def test_run_chooses_rows_of_a_table(app: MakeApplication) -> None:
    here = app({"a_test.ts": TABLE})
    assert logs(here, "--run", "TestTable/bob lee|TestTable/^x$") == ["bob lee", "x"]
    assert logs(here, "--run", "TestTable/x#01") == ["x"]
