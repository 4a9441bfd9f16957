"""Fuzz tests: their inputs in every run, and `--fuzz`."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from command import Application, MakeApplication, Record, eventually
from faults import leaves_nothing

PARSE = """\
export function Parse(text: string): number {
  if (text === "over-9000") throw new RangeError("too large");
  return text.length;
}
export function Shelf(place: number): number {
  if (place === 4096) throw new Error("no such shelf");
  return place;
}
export function Greet(order: any): string {
  return order.customer.name.toUpperCase();
}
export function Loop(n: number): void {
  while (n === 77) {}
}
"""
HEAD = 'import { Greet, Loop, Parse, Shelf } from "./parse";\n'
SHELF = (
    HEAD
    + "export function FuzzShelf(f) { f.add(1); f.fuzz((t, place) => { t.assert.Equal(Shelf(place), place); }); }\n"
)
ORDER = HEAD + (
    'export function FuzzGreet(f) { f.add({ customer: { name: "Ann" } });\n'
    "  f.fuzz((t, order) => { t.log(order); Greet(order); }); }\n"
)
CORPUS = "testdata/fuzz"


def fuzz(app: Application, *more: str, code: int = 1) -> dict[str, Record]:
    """The results of a search that ends when it has found something."""
    return app.results("-i", "scripts.demo.parse", "--fuzz", ".", "--fuzz-time", "30s", "--seed", "1", *more, code=code)


def kept(app: Application, function: str) -> dict[str, list[object]]:
    """Name → arguments of the corpus of a function."""
    files = sorted((app.source / CORPUS / function).glob("*"))
    return {file.name: json.loads(file.read_text("utf-8"))["args"] for file in files}


def steps(result: Record) -> dict[str, str]:
    """Name of each input → its status."""
    return {step["name"].partition("/")[2]: step["status"] for step in result.get("steps", ())}


@pytest.fixture(scope="module")
def plain(shared_app: MakeApplication) -> Application:
    test = (
        HEAD
        + "let calls = 0;\n"
        + 'export function FuzzParse(f: testing.F, ctx) { f.add("a"); f.add("bc");\n'
        + "  f.fuzz((t: testing.T, text: string) => { t.log(`${t.name} ${text} ${++calls} ${ctx.User.ID}`); Parse(text); }); }\n"
        + "export async function FuzzLater(f) { f.add(1, { a: [2] });\n"
        + "  await f.fuzz(async (t, n, o) => { await new Promise((r) => setTimeout(r, 1)); t.assert.Equal([n, o], [1, { a: [2] }]); o.a = 0; }); }\n"
        + "export function FuzzAwaited(f) { for (const n of [1, 2]) f.add(n);\n"
        + "  f.fuzz(async (t, n) => { await null; if (n === 2) throw new Error('late'); }); }\n"
        + "export function FuzzNever(f) { f.add(1); }\n"
        + "export function FuzzTwice(f) { f.fuzz(() => {}); f.fuzz(() => {}); }\n"
        + "export function FuzzOdd(f) { f.add(() => 1); f.fuzz(() => {}); }\n"
        + "export function FuzzNaN(f) { f.add([NaN]); f.fuzz(() => {}); }\n"
        + "export function FuzzUneven(f) { f.add(1); f.add(1, 2); f.fuzz(() => {}); }\n"
        + "export function FuzzSkipped(f) { f.skip('later'); }\n"
        + "export function FuzzSnap(f) { f.add(1); f.fuzz((t) => t.snapshot(1)); }\n"
        + "function Fuzzy() { throw new Error('no test'); }\n"
        + "export function BenchmarkParse(b) { throw new Error('not measured'); }\n"
        + "export function TestPlain(t) { t.assert.Equal(typeof t.add, 'undefined'); t.assert.Equal(typeof Fuzzy, 'function'); }\n"
    )
    files = {
        f"{CORPUS}/FuzzParse/found.json": '{"args": ["over-9000"]}',
        f"{CORPUS}/FuzzParse/good.json": '{"args": ["\\u00e9"]}',
        f"{CORPUS}/FuzzParse/bad_json.json": '{"args": [\n  oops]}',
        f"{CORPUS}/FuzzParse/bad_form.json": '["a"]',
        f"{CORPUS}/FuzzParse/bad_count.json": '{"args": ["a", 1]}',
        f"{CORPUS}/FuzzParse/bad_field.json": '{"args": ["a"], "arg": 1}',
        f"{CORPUS}/FuzzParse/bad_bytes.json": b'{"args": ["\xff"]}',
        f"{CORPUS}/FuzzParse/NOTES.md": "no input",
    }
    return shared_app({"parse.ts": PARSE, "parse_test.ts": test, **files})


@pytest.fixture(scope="module")
def results(plain: Application) -> dict[str, Record]:
    return plain.results("-i", "scripts.demo.parse", code=1)


class TestEveryRun:
    """Seeds and corpus, without `--fuzz`."""

    def test_functions_are_tests_by_their_names(self, results: dict[str, Record]) -> None:
        kinds = {name for name, result in results.items() if result["status"] == "passed"}
        assert kinds == {"FuzzLater", "TestPlain"}
        assert not {"Fuzzy", "BenchmarkParse"} & results.keys()

    def test_seeds_and_corpus_are_subtests(self, results: dict[str, Record]) -> None:
        assert steps(results["FuzzParse"]) == {
            "seed#0": "passed",
            "seed#1": "passed",
            "found": "failed",
            "good": "passed",
            **dict.fromkeys(("bad_json", "bad_form", "bad_count", "bad_field", "bad_bytes"), "failed"),
        }
        assert results["FuzzParse"]["logs"] == [
            "FuzzParse/seed#0 a 1 test-user",
            "FuzzParse/seed#1 bc 2 test-user",
            "FuzzParse/found over-9000 3 test-user",
            "FuzzParse/good é 4 test-user",
        ]

    def test_a_failure_says_with_which_input(self, plain: Application) -> None:
        printed = plain.run("-i", "scripts.demo.parse", "--run", "FuzzParse/found").stdout
        assert "RangeError: too large" in printed
        assert "at assistants/demo/src/parse.ts:2:" in printed
        assert 'input: ["over-9000"]' in printed
        assert f"file : assistants/demo/src/{CORPUS}/FuzzParse/found.json" in printed
        assert "Rerun: yao-test -i scripts.demo.parse --run '^FuzzParse$'" in printed
        assert "seed#0" not in printed

    def test_a_bad_file_fails_its_own_test(self, results: dict[str, Record]) -> None:
        place = f"Cannot read assistants/demo/src/{CORPUS}/FuzzParse"
        said = {step["name"].partition("/")[2]: step.get("error") for step in results["FuzzParse"]["steps"]}
        form = 'Write {"args": [...]} with the arguments after t'
        assert {name: text for name, text in said.items() if name.startswith("bad")} == {
            "bad_json": f"{place}/bad_json.json:2:3: Expecting value. Fix or remove the file",
            "bad_form": f"{place}/bad_form.json: it has no list of arguments. {form}",
            "bad_count": f"{place}/bad_count.json: it has 2 arguments, but the function takes 1. {form}",
            "bad_field": f'{place}/bad_field.json: unknown field "arg". {form}',
            "bad_bytes": f"{place}/bad_bytes.json: byte 11 is not UTF-8. Fix or remove the file",
        }

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("FuzzAwaited", "subtest seed#1 failed"),
            ("FuzzNever", "FuzzNever ended without f.fuzz((t, ...args) => ...)"),
            ("FuzzTwice", "f.fuzz must be called before f.fuzz, which is called once"),
            ("FuzzOdd", "f.add takes JSON values, got"),
            ("FuzzNaN", "f.add takes JSON values, got"),
            ("FuzzUneven", "f.add takes as many arguments as before, 1, got 2"),
            ("FuzzSnap", "subtest seed#0 failed"),
        ],
    )
    def test_mistakes_are_said(self, results: dict[str, Record], name: str, said: str) -> None:
        assert said in json.dumps(results[name])

    def test_it_may_be_skipped(self, results: dict[str, Record]) -> None:
        assert results["FuzzSkipped"]["status"] == "skipped"

    def test_run_picks_inputs(self, plain: Application) -> None:
        result = plain.results("-i", "scripts.demo.parse", "--run", "FuzzParse/(good|seed#1)", code=0)["FuzzParse"]
        assert steps(result) == {"seed#1": "passed", "good": "passed"}


def test_what_is_found_is_kept_and_fails_from_then_on(shared_app: MakeApplication) -> None:
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": SHELF})
    before = set(os.listdir(app.root))
    assert app.results("-i", "scripts.demo.parse", code=0)["FuzzShelf"]["status"] == "passed"
    run = app.run("-i", "scripts.demo.parse", "--fuzz", "Shelf", "--seed", "1")
    assert run.code == 1
    ((name, args),) = kept(app, "FuzzShelf").items()
    assert args == [4096]
    input = name.removesuffix(".json")
    assert re.fullmatch(r"[0-9a-f]{16}", input)
    assert f"FuzzShelf/{input}" in run.stdout and "no such shelf" in run.stdout
    again = f"yao-test -i scripts.demo.parse --run '^FuzzShelf$/{input}'"
    assert f"found by --fuzz; to rerun it: {again}" in run.stdout
    found = re.search(r"^FuzzShelf: found after (\d+) inputs? \(.* \(--seed 1\)$", run.stdout, re.M)
    assert found and int(found[1]) < 1000, run.stdout
    assert set(os.listdir(app.root)) == before
    assert app.run("-i", "scripts.demo.parse", "--run", f"^FuzzShelf$/{input}").code == 1
    app.write({"parse.ts": PARSE.replace("4096", "5000")})
    assert steps(app.results("-i", "scripts.demo.parse", code=0)["FuzzShelf"]) == {"seed#0": "passed", input: "passed"}


def test_objects_lose_keys_and_finds_are_small(shared_app: MakeApplication) -> None:
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": ORDER})
    result = fuzz(app)["FuzzGreet"]
    assert list(kept(app, "FuzzGreet").values()) == [[{}]]
    assert [line for line in result["logs"] if "customer" not in line] == ["{}"]  # of its last realm alone
    assert "cannot read property 'name' of undefined" in json.dumps(result)


def test_a_hang_is_found(shared_app: MakeApplication) -> None:
    test = HEAD + "export function FuzzLoop(f) { f.add(1); f.fuzz(async (t, n) => { Loop(n); }); }\n"
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": test})
    result = fuzz(app, "--timeout", "300ms")["FuzzLoop"]
    ((name, args),) = kept(app, "FuzzLoop").items()
    assert args == [77]
    (failed,) = [step for step in result["steps"] if step["status"] == "failed"]
    assert failed["name"] == f"FuzzLoop/{name.removesuffix('.json')}"
    assert "timeout after 300ms" in failed["error"].replace("0.3s", "300ms")
    assert fuzz(app, "--timeout", "300ms")["FuzzLoop"]["status"] == "failed"  # no search: its corpus fails


def test_a_search_that_is_interrupted_leaves_no_temporary_files(shared_app: MakeApplication) -> None:
    test = HEAD + "export function FuzzFine(f) { f.add('a'); f.fuzz((t, text) => { t.assert.True(true); }); }\n"
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": test})
    with leaves_nothing(app):
        temporary = app.temporary
        assert temporary is not None
        with app.start("-i", "scripts.demo.parse", "--fuzz", ".", "--fuzz-time", "60s") as process:
            eventually(lambda: [*temporary.glob("*/*")], "the search has files")
            process.send_signal(signal.SIGINT)
            assert app.finish(process).code == 130
        assert list(temporary.iterdir()) == []


def test_inputs_come_from_a_schema(shared_app: MakeApplication) -> None:
    schema = {
        "type": "object",
        "required": ["kind", "count"],
        "properties": {
            "kind": {"enum": ["plain", "gift"]},
            "count": {"$ref": "#/$defs/count"},
            "note": {"type": "string"},
        },
        "$defs": {"count": {"type": "integer", "minimum": 10, "maximum": 20}},
    }
    test = (
        f"export function FuzzOrder(f) {{ f.schema({json.dumps(schema)}, {{ type: 'boolean' }});\n"
        "  f.fuzz((t, order, fast) => {\n"
        "    t.require.True(order.count >= 10 && order.count <= 20 && ['plain', 'gift'].includes(order.kind));\n"
        "    if (order.kind === 'gift' && order.count === 17 && fast) throw new Error('gift 17');\n  }); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    result = fuzz(app)["FuzzOrder"]
    assert list(kept(app, "FuzzOrder").values()) == [[{"kind": "gift", "count": 17}, True]]
    assert "gift 17" in json.dumps(result)


def test_an_input_that_fails_only_after_others_is_no_find(shared_app: MakeApplication) -> None:
    test = (
        "let seen = 0;\n"
        "export function FuzzState(f) { f.add(1); f.fuzz((t, n) => { if (++seen > 3) throw new Error('worn out'); }); }\n"
        "export function FuzzStop(f) { f.add(true); f.fuzz((t, b) => { t.skip('not this one'); }); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    run = app.run("-i", "scripts.demo.parse", "--fuzz", ".", "--fuzz-time", "300ms")
    assert run.code == 0
    assert re.search(
        r"^FuzzState: .*nothing found .*; \d+ of them failed only after others, not alone$", run.stdout, re.M
    )
    assert re.search(r"^FuzzStop: 2 inputs .*nothing found", run.stdout, re.M)
    assert not (app.source / "testdata").exists()


def test_each_realm_of_a_search_has_a_world_of_its_own(shared_app: MakeApplication) -> None:
    """Mocks, stores and files of earlier inputs do not exist when a find is confirmed."""
    test = (
        "export function FuzzStore(f) { f.add(1); f.fuzz((t, n) => {\n"
        "  const store = new Store('kept'); const count = (store.Get('count') ?? 0) + 1; store.Set('count', count);\n"
        "  Process('session.Set', 'count', count);\n"
        "  if (count > 5 && Process('session.Get', 'count') > 5) throw new Error('left over'); }); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    run = app.run("-i", "scripts.demo.parse", "--fuzz", ".", "--fuzz-time", "250ms")
    assert (run.code, "nothing found" in run.stdout) == (0, True), run


def test_a_search_needs_to_know_what_inputs_look_like(shared_app: MakeApplication) -> None:
    test = (
        "export function FuzzNothing(f) { f.fuzz((t, n) => {}); }\n"
        "export function FuzzEmpty(f) { f.add(); f.fuzz((t) => {}); }\n"
        "export function FuzzSchema(f) { f.schema({ type: 'nothing' }); f.fuzz((t, n) => {}); }\n"
        "export function FuzzFailing(f) { f.add(1); f.fuzz((t, n) => t.fail('as it is')); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    results = fuzz(app)
    said = {name: result["error"] for name, result in results.items()}
    assert (
        said["FuzzNothing"]
        == "Cannot search FuzzNothing: its inputs are unknown: add one with f.add, or pass f.schema(...)"
    )
    assert said["FuzzEmpty"] == "Cannot search FuzzEmpty: its inputs have no arguments: add one with f.add(value)"
    assert said["FuzzSchema"].startswith("Cannot search FuzzSchema: Cannot use the schema: invalid JSON Schema")
    assert said["FuzzFailing"] == "subtest seed#0 failed"
    flags = ("--fuzz", ".", "--fuzz-time", "3s", "--seed", "1")
    printed = app.run("-i", "scripts.demo.parse", *flags, "--json").stdout
    again = {failure["test"]: failure["run_again"] for failure in json.loads(printed)["failures"]}
    command = "yao-test -i scripts.demo.parse"
    assert again["FuzzNothing"] == f"{command} --fuzz '^FuzzNothing$' --fuzz-time 3s --seed 1"
    assert again["FuzzFailing"] == f"{command} --run '^FuzzFailing$' --seed 1"
    assert f"  Rerun: {again['FuzzNothing']}\n" in app.run("-i", "scripts.demo.parse", *flags).stdout


def test_no_other_test_runs(shared_app: MakeApplication) -> None:
    test = SHELF + "export function TestFails(t) { t.fail('no'); }\nexport function FuzzFails(f) { f.fail('no'); }\n"
    app = shared_app(
        {
            "parse.ts": PARSE.replace("4096", "1.5"),
            "parse_test.ts": test,
            "/assistants/demo/tests/a.jsonl": '{"id": "a", "input": "x"}',
        }
    )
    run = app.run("-i", "assistants", "--fuzz", "Shelf", "--fuzz-time", "100ms")
    assert (run.code, "1 passed, 0 failed" in run.stdout) == (0, True), run
    missing = app.run("-i", "scripts.demo.parse", "--fuzz", "Shelv")
    assert (missing.code, missing.stderr.splitlines()[0]) == (2, "Error: No Fuzz function matches --fuzz Shelv")
    assert "Did you mean FuzzShelf?" in missing.stderr
    assert app.run("-i", "scripts.demo.parse", "--fuzz", "").stderr.startswith("Error: Cannot use --fuzz: it is empty")
    assert app.run("-i", "scripts.demo.parse", "--fuzz", "A", "--run", "B").code == 2


def test_what_cannot_be_kept_is_shown(shared_app: MakeApplication) -> None:
    """A link out of the application is not followed."""
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": SHELF})
    outside = app.home / "elsewhere"
    outside.mkdir()
    (app.source / "testdata").symlink_to(outside)
    text = json.dumps(fuzz(app)["FuzzShelf"])
    assert "found an input that fails on its own: [4096] (not saved: " in text
    assert list(outside.iterdir()) == []


def test_without_its_library_a_search_names_the_extra(
    shared_app: MakeApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": SHELF})
    run = app.run("-i", "scripts.demo.parse", "--fuzz", ".")
    assert (run.code, run.stderr) == (
        2,
        "Error: --fuzz requires the extra fuzz\nHint: Install it with: pip install 'hypothesis>=6.100,<7'\n",
    )
    assert app.run("-i", "scripts.demo.parse").code == 0


def test_an_interrupted_search_ends_at_once(shared_app: MakeApplication) -> None:
    test = "export function FuzzLong(f) { f.add(1); f.fuzz((t, n) => { console.log(n); }); }\n"
    app = shared_app({"parse_test.ts": test})
    process = app.start("-i", "scripts.demo.parse", "--fuzz", ".", "--fuzz-time", "10m")
    eventually(lambda: _children(process.pid), "a search")
    os.kill(process.pid, signal.SIGINT)
    run = app.finish(process)
    assert run.code == 130, run
    eventually(lambda: not _children(process.pid), "its process ended")


def _children(pid: int) -> list[int]:
    """The running searches of a command."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if (
                b"runner.test_kinds.searching" in path.read_bytes()
                and f"\nPPid:\t{pid}\n" in (path.parent / "status").read_text()
            ):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_the_corpus_is_what_a_result_was_made_of(shared_app: MakeApplication) -> None:
    """A resumed run runs a fuzz test again whose corpus has changed."""
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": SHELF + "export function TestPlain(t) {}\n"})
    report = str(app.home / "report.jsonl")
    assert app.run("-i", "scripts.demo.parse", "-o", report).code == 0
    assert app.run("--resume", report).code == 0
    app.write({f"{CORPUS}/FuzzShelf/new.json": '{"args": [4096]}'})
    run = app.run("--resume", report)
    assert (run.code, "FuzzShelf/new" in run.stdout) == (1, True), run
    assert f"corpus assistants/demo/src/{CORPUS}/FuzzShelf" in run.stdout + run.stderr


def test_a_search_goes_on_in_ci(shared_app: MakeApplication) -> None:
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": SHELF})
    variables = {**app.environment, "CI": "true"}
    assert app.run("-i", "scripts.demo.parse", "--fuzz", ".", "--seed", "1", env=variables).code == 1
    assert list(kept(app, "FuzzShelf").values()) == [[4096]]


def test_the_configuration_file_may_say_how_long(shared_app: MakeApplication) -> None:
    app = shared_app({"parse.ts": PARSE, "parse_test.ts": SHELF.replace("Shelf(place)", "place")})
    app.write({"/yao-test.toml": 'fuzz-time = "100ms"\nseed = 7\nbench-threshold = "20%"\n'})
    plain = app.run("-i", "scripts.demo.parse", "-q")
    assert (plain.code, plain.stderr) == (0, "")
    run = app.run("-i", "scripts.demo.parse", "--fuzz", ".")
    assert re.search(r"^FuzzShelf: \d+ inputs? \([\d.]+s\), nothing found \(--seed 7\)$", run.stdout, re.M), run
    app.write({"/yao-test.toml": 'fuzz = "."\n'})
    assert "fuzz cannot be set here: it applies to one run" in app.run("-i", "scripts.demo.parse").stderr


def test_only_fuzz_tests_ask_for_inputs(shared_app: MakeApplication) -> None:
    test = (
        "export function TestAsks(t) { t.assert.Panic(() => Process('fuzz.Next', null)); t.assert.Panic(() => Process('benchmark.Begin')); }\n"
        "export function FuzzAsks(f) { f.add(1); f.fuzz((t) => { t.assert.Panic(() => Process('fuzz.Other')); }); }\n"
    )
    app = shared_app({"parse_test.ts": test})
    assert app.run("-i", "scripts.demo.parse").code == 0
