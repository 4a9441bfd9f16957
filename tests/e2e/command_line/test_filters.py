"""What is run and how much is said: `-i`, `--run`, `--dry-run`, `--fail-fast`, `--parallel`, `-q`, `-v`."""

from __future__ import annotations

import json
import re

import pytest
from command import Application, MakeApplication, given_time
from table_tests import each

SUBTESTS = """
    export function TestAlpha(t) {
      t.run("one", (t) => { t.run("deep", (t) => t.log(t.name)); t.run("other deep", (t) => t.log(t.name)); });
      t.run("two words", (t) => t.log(t.name));
      t.run("a/b", (t) => t.log(t.name));
    }
    export function TestBeta(t) { t.run("one", (t) => t.log(t.name)); }
    export function TestBetaTwo(t) { t.log(t.name); }
    function TestÄ(t) { t.log(t.name); }
"""

RUN = {
    "Beta": ["TestBeta/one", "TestBetaTwo"],
    "^TestBeta$": ["TestBeta/one"],
    "TestSystem|Two$": ["TestBetaTwo"],
    "(?i)testbetatwo": ["TestBetaTwo"],
    ".": [
        "TestAlpha/one/deep",
        "TestAlpha/one/other_deep",
        "TestAlpha/two_words",
        "TestAlpha/a/b",
        "TestBeta/one",
        "TestBetaTwo",
        "TestÄ",
    ],
    "TestÄ": ["TestÄ"],
    r"^\w+$": [
        "TestAlpha/one/deep",
        "TestAlpha/one/other_deep",
        "TestAlpha/two_words",
        "TestAlpha/a/b",
        "TestBeta/one",
        "TestBetaTwo",
    ],
    "TestAlpha/one": ["TestAlpha/one/deep", "TestAlpha/one/other_deep"],
    "TestAlpha/one/^deep$": ["TestAlpha/one/deep"],
    "TestAlpha//deep": ["TestAlpha/one/deep", "TestAlpha/one/other_deep", "TestAlpha/two_words"],
    "TestAlpha/two|TestBeta$": ["TestAlpha/two_words", "TestBeta/one"],
    "TestBetaTwo|Alpha/one/^deep": ["TestAlpha/one/deep", "TestBetaTwo"],
    "Alpha/two|Alpha/one/other": ["TestAlpha/one/other_deep", "TestAlpha/two_words"],
    "Alpha/(two|a)/b|Nothing": ["TestAlpha/two_words", "TestAlpha/a/b"],
    "Alpha/[t|]wo": ["TestAlpha/two_words"],
    r"Alpha/\w+wo|TestÄ": ["TestAlpha/two_words", "TestÄ"],
    "Nothing|TestBetaTwo": ["TestBetaTwo"],
    "/one": ["TestAlpha/one/deep", "TestAlpha/one/other_deep", "TestBeta/one", "TestBetaTwo", "TestÄ"],
    "TestAlpha/two words": ["TestAlpha/two_words"],
    "TestAlpha/two_words": ["TestAlpha/two_words"],
    "TestAlpha/^a$/^b$": ["TestAlpha/a/b"],
    "TestBeta$/": ["TestBeta/one"],
    "Alpha/two/": ["TestAlpha/two_words"],
    "TestBetaTwo/|TestÄ//": ["TestBetaTwo", "TestÄ"],
    "Alpha/(one|two)/(deep|x)$": ["TestAlpha/one/deep", "TestAlpha/one/other_deep", "TestAlpha/two_words"],
}


@pytest.fixture(scope="module")
def filtered(shared_app: MakeApplication) -> Application:
    return shared_app({"a_test.ts": SUBTESTS})


@each("pattern", RUN)
def test_run_selects_tests_and_subtests_as_go_does(filtered: Application, pattern: str) -> None:
    results = filtered.results("-i", "scripts.demo.a", "--run", pattern, code=0)
    assert [line for record in results.values() for line in record["logs"]] == RUN[pattern]


def test_the_name_of_a_subtest_is_one_word_that_can_be_written_and_asked_for(app: MakeApplication) -> None:
    names = ["\ud800", "\udc00\ud800", "\U0001f600 a", "\x1b[31m", "\x85\u2028"]
    calls = "".join(f"t.run({json.dumps(name)}, (t) => t.fail('no'));" for name in names)
    here = app({"a_test.ts": f"export function TestA(t) {{ {calls} }}\n"})
    words = [r"\ud800", r"\udc00\ud800", "\U0001f600_a", r"\x1b[31m", r"\x85_"]
    result = here.results("-i", "scripts.demo.a", code=1)["TestA"]
    assert [step["name"] for step in result["steps"]] == [f"TestA/{word}" for word in words]
    for word in words:
        result = here.results("-i", "scripts.demo.a", "--run", f"^TestA$/^{re.escape(word)}$", code=1)["TestA"]
        assert [step["name"] for step in result["steps"]] == [f"TestA/{word}"]


def test_each_subtest_has_a_name_of_its_own(app: MakeApplication) -> None:
    """As in Go, also when a name looks like that of a repeated one."""
    names = ["a", "a", "a#01", "a#02", "a", "", "#00", "", "a b", "a_b"]
    calls = "".join(f"t.run({json.dumps(name)}, () => {{}});" for name in names)
    here = app(
        {"a_test.ts": f"export function TestA(t) {{ {calls} for (let i = 0; i < 12; i++) t.run('x', () => {{}}); }}\n"}
    )
    found = [step["name"].removeprefix("TestA/") for step in here.results("-i", "scripts.demo.a")["TestA"]["steps"]]
    assert found[:10] == ["a", "a#01", "a#01#01", "a#02", "a#03", "#00", "#00#01", "#01", "a_b", "a_b#01"]
    assert found[10:] == ["x", *(f"x#{number:02}" for number in range(1, 12))]


NOTHING = {
    "beta": "No test or case",
    "TestAlpa": "No test or case",
    "TestAlpha[/]one": "No test or case",
    "Nothing|None/one": "No test or case",
    "TestAlpha/none": "No subtest",
    "TestAlpha/a[/]b": "No subtest",
    "TestAlpha/one/dep$|TestBeta/two": "No subtest",
    "TestBetaTwo/one": "No subtest",
}
REPORTS = [f"report.{suffix}" for suffix in ("json", "jsonl", "md", "html", "xml")]


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("-q",), ("--runs", "2"), ("--shard", "1/1")])
@pytest.mark.parametrize("pattern", NOTHING)
def test_a_filter_that_matches_nothing_leaves_reports_alone(
    app: MakeApplication, pattern: str, more: tuple[str, ...]
) -> None:
    here = app({"a_test.ts": SUBTESTS, **{f"/{name}": "as it was" for name in REPORTS}})
    before = here.listing()
    outputs = [] if "--dry-run" in more else [word for name in REPORTS for word in ("-o", name)]
    run = here.run("-i", "scripts.demo.a", "--run", pattern, *outputs, *more)
    if "--dry-run" in more and NOTHING[pattern] == "No subtest":  # which are not known before the tests run
        assert run.code == 0
        return
    error, hint, *rest = run.stderr.splitlines()
    assert (run.code, error, rest) == (2, f"Error: {NOTHING[pattern]} matches --run {pattern}", [])
    assert hint.startswith("Hint: ") and (pattern == "TestBetaTwo/one" or "There are: " in hint)
    assert (run.stdout, here.listing()) == ("", before)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("TestAlpa", "TestAlpha"),
        ("beta", "TestBeta or TestBetaTwo"),
        ("TestAlpha/oen", "TestAlpha/one"),
        ("/tow_words", "TestAlpha/two_words"),
    ],
)
def test_the_nearest_names_are_said(filtered: Application, pattern: str, meant: str) -> None:
    assert f"Did you mean {meant}" in filtered.run("-i", "scripts.demo.a", "--run", pattern).stderr


CASES = '{"id": "trip/tokyo", "input": "a"}\n{"id": "hotel", "input": "b"}\n'
WITH_CASES = {
    "a_test.ts": SUBTESTS,
    "/assistants/demo/tests/cases.jsonl": CASES,
    "/assistants/demo/replies.yml": "- reply: yes\n",
    "/assistants/demo/package.yao": '{"connector": "scripted"}',
    "/assistants/demo/prompts.yml": "- { role: system, content: x }\n",
}
BOTH = ("-i", "scripts.demo.a", "-i", "assistants/demo/tests/cases.jsonl")


@pytest.mark.parametrize(
    ("pattern", "ran"),
    [("trip/tok", ["trip/tokyo"]), ("hotel|TestBeta$", ["TestBeta", "hotel"]), ("TestBetaTwo", ["TestBetaTwo"])],
)
def test_one_input_that_matches_is_enough(app: MakeApplication, pattern: str, ran: list[str]) -> None:
    here = app(WITH_CASES)
    here.run(*BOTH, "--run", pattern, "-o", "r.jsonl")
    lines = [json.loads(line) for line in (here.root / "r.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines if line["type"] == "result"] == ran
    assert here.run(*BOTH, "--run", pattern).code == 0


@pytest.mark.parametrize("inputs", [BOTH, BOTH[2:]], ids=["both", "cases"])
@pytest.mark.parametrize("more", [(), ("--dry-run",), ("-o", "old.jsonl"), ("-o", "old.json"), ("--shard", "1/2")])
def test_no_input_that_matches_leaves_everything_alone(
    app: MakeApplication, inputs: tuple[str, ...], more: tuple[str, ...]
) -> None:
    here = app({**WITH_CASES, "/old.jsonl": "as it was", "/old.json": "as it was"})
    before = here.listing()
    run = here.run(*inputs, "--run", "hotle", *more)
    if inputs == BOTH and "--shard" in more and run.code == 0:
        pytest.fail("the module is in the other part") if here.listing() != before else None
        return
    assert run.code == 2
    assert "Error: No test or case matches --run hotle\n" in run.stderr
    assert "Did you mean hotel" in run.stderr and here.listing() == before


def test_a_report_that_is_resumed_stays_when_nothing_matches(app: MakeApplication) -> None:
    here = app({"a_test.ts": SUBTESTS})
    assert here.run("-i", "scripts.demo.a", "-o", "r.jsonl").code == 0
    before = (here.root / "r.jsonl").read_bytes()
    assert here.run("-i", "scripts.demo.a", "--resume", "r.jsonl", "--run", "Nothing").code == 2
    assert (here.root / "r.jsonl").read_bytes() == before


def test_a_test_without_the_subtest_is_skipped_beside_one_that_has_it(filtered: Application) -> None:
    results = filtered.results("-i", "scripts.demo.a", "--run", "/one", code=0)
    assert {name: (record["status"], record.get("skip_reason")) for name, record in results.items()} == {
        "TestAlpha": ("passed", None),
        "TestBeta": ("passed", None),
        "TestBetaTwo": ("skipped", "no subtest matches --run /one"),
        "TestÄ": ("skipped", "no subtest matches --run /one"),
    }


def test_a_test_that_fails_before_its_subtests_is_a_failure(app: MakeApplication) -> None:
    here = app({"a_test.ts": 'export function TestA(t) { t.fatal("no"); t.run("x", () => {}); }'})
    assert here.results("-i", "scripts.demo.a", "--run", "TestA/x", code=1)["TestA"]["error"] == "no"


def test_a_module_that_does_not_compile_is_a_failure_whatever_is_selected(app: MakeApplication) -> None:
    assert app({"a_test.ts": "let a = {;"}).run("-i", "scripts.demo.a", "--run", "Nothing").code == 1


@pytest.mark.parametrize("part", range(1, 9))
def test_an_empty_part_passes(app: MakeApplication, part: int) -> None:
    run = app(WITH_CASES).run(*BOTH[2:], "--run", "hotel", "--shard", f"{part}/8")
    assert run.code == 0


@pytest.mark.parametrize("spelling", [("-run", "^TestBeta$"), ("--run=^TestBeta$",), ("--run", "^TestBeta$")])
def test_run_has_three_spellings(filtered: Application, spelling: tuple[str, ...]) -> None:
    assert list(filtered.results("-i", "scripts.demo.a", *spelling, code=0)) == ["TestBeta"]


def test_the_header_says_how_many_of_the_tests_are_selected(filtered: Application) -> None:
    run = filtered.run("-i", "scripts.demo.a", "--run", "Beta")
    assert "  Tests: 2 functions of 4" in run.stdout.splitlines()


def test_a_test_that_is_not_selected_is_not_in_the_report(filtered: Application) -> None:
    report = filtered.report("-i", "scripts.demo.a", "--run", "TestBetaTwo", code=0)
    assert report["summary"]["total"] == 1


# -i

PASSING = "export function TestPasses(t) {}\n"


@pytest.fixture(scope="module")
def several(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            "setup_test.ts": PASSING,
            "tools_test.ts": PASSING + "export function TestTools(t) {}\n",
            "inner/tools_test.ts": PASSING,
            "/assistants/other/package.yao": "// a comment\n{}",
            "/assistants/other/src/tools_test.js": PASSING,
            "/assistants/Mixed.Case/package.yao": "{}",
            "/assistants/Mixed.Case/src/Index_test.ts": PASSING,
            "/assistants/no_agent/src/stray_test.ts": PASSING,
        }
    )


DEMO = ["scripts.demo.setup", "scripts.demo.tools", "scripts.demo.inner.tools"]
ALL = ["scripts.Mixed_Case.Index", *DEMO, "scripts.other.tools"]
INPUTS = {
    "module": (["scripts.demo.setup"], "", ["scripts.demo.setup"]),
    "agent": (["scripts.demo"], "", DEMO),
    "nested module": (["scripts.demo.inner.tools"], "", ["scripts.demo.inner.tools"]),
    "with assistants": (["scripts.assistants.demo.setup"], "", ["scripts.demo.setup"]),
    "another case": (["scripts.mixed_case.index"], "", ["scripts.Mixed_Case.Index"]),
    "glob of modules": (["scripts.demo.*"], "", DEMO),
    "glob of agents": (
        ["scripts.*.tools"],
        "",
        ["scripts.demo.tools", "scripts.demo.inner.tools", "scripts.other.tools"],
    ),
    "glob with a set": (["scripts.demo.[st]*"], "", ["scripts.demo.setup", "scripts.demo.tools"]),
    "everything": (["scripts.*"], "", ALL),
    "several": (["scripts.other.tools", "scripts.demo.setup"], "", ["scripts.other.tools", "scripts.demo.setup"]),
    "the same twice": (["scripts.demo.setup", "scripts.demo.*", "assistants/demo/src/tools_test.ts"], "", DEMO),
    "folder": (["assistants/demo"], "", DEMO),
    "inner folder": (["assistants/demo/src/inner"], "", ["scripts.demo.inner.tools"]),
    "root": (["."], "", ALL),
    "dots": (["../.."], "assistants/demo", ALL),
    "file": (["assistants/demo/src/tools_test.ts"], "", ["scripts.demo.tools"]),
    "file from its folder": (["tools_test.ts"], "assistants/demo/src/inner", ["scripts.demo.inner.tools"]),
    "module from below": (["scripts.demo.setup"], "assistants/other/src", ["scripts.demo.setup"]),
}


@each("name", INPUTS)
def test_an_input_names_modules(several: Application, name: str) -> None:
    inputs, directory, expected = INPUTS[name]
    arguments = [word for input in inputs for word in ("-i", input)]
    run = several.run(*arguments, "--dry-run", directory=directory)
    assert [line for line in run.stdout.splitlines() if line.startswith("scripts.")] == expected
    assert (run.code, run.stderr) == (0, "")


def test_an_input_path_finds_its_application_from_anywhere(several: Application) -> None:
    run = several.run("-i", str(several.source / "setup_test.ts"), directory="../home")
    assert run.code == 0


def test_the_application_can_be_named(several: Application) -> None:
    assert several.run("-i", "scripts.demo.setup", "-a", "../app", directory="../home").code == 0
    assert several.run("-i", "scripts.demo.setup", f"--app={several.root}", directory="../home").code == 0


def test_the_root_may_be_marked_by_app_yao_alone(app: MakeApplication) -> None:
    here = app(
        {"/inner/app.yao": "{}", "/inner/assistants/x/package.yao": "{}", "/inner/assistants/x/src/a_test.ts": PASSING}
    )
    assert here.run("-i", "scripts.x.a", directory="inner/assistants").code == 0
    assert here.run("-i", "scripts.demo.a", directory="inner").code == 2


# --dry-run


def test_a_dry_run_lists_tests_and_runs_none(app: MakeApplication) -> None:
    body = 'Process("fs.data.WriteFile", "ran", "yes");'
    here = app(
        {
            "/data/.keep": "",
            "a_test.ts": f"export function TestA(t) {{ {body} }}\nfunction TestB(t) {{}}\n",
            "b_test.ts": PASSING,
        }
    )
    run = here.run("-i", "scripts.demo", "--dry-run", "--run", "TestA|TestP")
    assert run.stdout.splitlines() == [
        "scripts.demo.a",
        "  TestA",
        "scripts.demo.b",
        "  TestPasses",
        "2 tests in 2 modules",
    ]
    assert run.code == 0
    assert not (here.root / "data/ran").exists()


def test_dry_runs_of_shards_list_each_test_once(app: MakeApplication) -> None:
    cases = "".join(f'{{"id": "Test{number}", "input": "a"}}\n' for number in range(12))
    here = app({**WITH_CASES, "/assistants/demo/tests/cases.jsonl": cases})
    listed = list[str]()
    for number in (1, 2):
        run = here.run(*BOTH, "--run", "Test", "--shard", f"{number}/2", "--dry-run")
        *lines, total = run.stdout.splitlines()
        listed += [line for line in lines if line.startswith("  ")]
        assert (run.code, run.stderr) == (0, "")
        assert total.startswith(f"{sum(line.startswith('  ') for line in lines)} tests in ")
    assert len(listed) == len(set(listed)) == 12 + 4


def test_a_dry_run_writes_no_report_and_leaves_old_ones(app: MakeApplication) -> None:
    here = app({**WITH_CASES, "/old.json": "as it was"})
    before = here.listing()
    run = here.run(*BOTH, "--dry-run", "-o", "old.json", "-o", "new.jsonl")
    assert (run.code, run.stderr, here.listing()) == (0, "", before)
    assert run.stdout.splitlines()[-1] == "6 tests in 2 inputs"


def test_a_dry_run_says_what_cannot_be_loaded(app: MakeApplication) -> None:
    here = app({"a_test.ts": "const = 1;\n", "b_test.ts": PASSING})
    run = here.run("-i", "scripts.demo", "--dry-run")
    assert "     at assistants/demo/src/a_test.ts:1:7" in run.stdout.splitlines()
    assert run.code == 1


# --fail-fast, --parallel


def test_fail_fast_stops_at_the_first_failure(app: MakeApplication) -> None:
    code = "export function TestA(t) {}\nexport function TestB(t) { t.fail('x'); }\nexport function TestC(t) {}\n"
    here = app({"a_test.ts": code, "b_test.ts": PASSING})
    path = here.home / "report.json"
    run = here.run("-i", "scripts.demo", "--fail-fast", "--parallel", "1", "-o", str(path))
    assert run.code == 1
    assert re.search(r"  Summary: 1 passed, 1 failed, 0 skipped \(.*\) in 2 modules", run.stdout)
    assert '"TestC"' not in path.read_text()


def test_fail_fast_stops_at_a_module_that_cannot_be_loaded(app: MakeApplication) -> None:
    here = app({"a_test.ts": "const = 1;\n", "b_test.ts": "export function TestB(t) { for (;;) {} }\n"})
    run = here.run("-i", "scripts.demo", "--fail-fast", "--timeout", "1h")
    assert run.code == 1
    assert "Summary: 0 passed, 1 failed, 0 skipped" in run.stdout


@pytest.mark.parametrize("workers", ["1", "2", "4"])
def test_the_order_of_the_output_does_not_depend_on_the_workers(app: MakeApplication, workers: str) -> None:
    slow = "await new Promise((done) => setTimeout(done, {0})); t.log(t.name);"
    files = {
        f"m{number}_test.ts": "".join(
            f"export async function Test{letter}(t) {{ {slow.format(20 if number == 0 else 0)} }}\n" for letter in "AB"
        )
        for number in range(5)
    }
    run = app(files).run("-i", "scripts.demo", "-v", "--parallel", workers)
    assert run.code == 0
    lines = [line for line in run.stdout.splitlines() if line.startswith(("  Script Test:", "► ", "    Test"))]
    assert lines == [
        line
        for number in range(5)
        for line in (
            f"  Script Test: scripts.demo.m{number}",
            "► [TestA] ...",
            "    TestA",
            "► [TestB] ...",
            "    TestB",
        )
    ]


def test_one_slow_module_does_not_hold_up_the_others(app: MakeApplication) -> None:
    slow = "export function TestSlow(t) { for (;;) {} }\n"
    here = app({"a_test.ts": slow, "b_test.ts": PASSING})
    results = given_time(lambda t: here.results("-i", "scripts.demo", "--timeout", t, code=1), 0.4, "b.TestPasses")
    assert results["b.TestPasses"]["status"] == "passed"


def test_the_tests_of_one_module_are_shared_by_the_workers(app: MakeApplication) -> None:
    tests = "".join(
        f"export function Test{number}(t) {{ t.assert.Equal({number}, {number}); }}\n" for number in range(200)
    )
    results = app({"a_test.ts": tests}).results("-i", "scripts.demo.a", "--parallel", "3", code=0)
    assert list(results) == [f"Test{number}" for number in range(200)]


def test_all_names_count_when_nothing_matches(app: MakeApplication) -> None:
    cases = "".join(f'{{"id": "case-{number}", "input": "x"}}\n' for number in range(1200))
    files = {
        "/assistants/demo/package.yao": '{"connector": "scripted"}',
        "/assistants/demo/tests/many.jsonl": cases,
    }
    run = app(files).run("-i", "assistants/demo/tests/many.jsonl", "--run", "nope")

    assert run.code == 2
    assert run.stderr.endswith("case-0, case-1, case-2, case-3, case-4 and 1195 more\n"), run.stderr
