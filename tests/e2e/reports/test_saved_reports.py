"""The commands on saved reports, by the real command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import Application, MakeApplication
from saved_runs import case, run_of
from table_tests import each

from runner.commands.show import named, safe
from runner.record.lines import result_of
from runner.record.saved import load

GOLDEN = Path(__file__).parents[2] / "runner/reporters/files/golden"


@pytest.fixture
def saved(app: MakeApplication) -> Application:
    """An application with recorded reports."""
    names = ("mixed.jsonl", "mixed.json", "cases.jsonl", "scripts.jsonl", "cases.ctrf.json")
    return app({f"/{name}": (GOLDEN / name).read_bytes() for name in names})


def test_a_report_may_come_through_a_pipe(saved: Application) -> None:
    shell = ("/bin/sh", "-c", 'cat mixed.jsonl | "$@"', "sh")

    assert saved.spawn("show", "/dev/stdin", prefix=shell).stdout == saved.run("show", "mixed.jsonl").stdout
    assert saved.spawn("merge", "/dev/stdin", "-o", "merged.json", prefix=shell).code == 0
    assert saved.spawn("status", "/dev/stdin", prefix=shell).stderr.endswith(": it is not a file\n")


# show


@pytest.mark.parametrize("name", ["mixed.jsonl", "mixed.json"])
def test_show_prints_a_run_as_the_console_did(saved: Application, name: str) -> None:
    run = saved.run("show", name)

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.splitlines()[:4] == [
        "✗ scripts.demo.broken  1 failed (134ms)",
        "✗ scripts.demo.setup  1 passed, 3 failed, 1 skipped (2.17s)",
        "✗ scripts.demo.slow  1 failed (734ms)",
        "✗ assistants/demo/tests/cases.jsonl  3 passed, 2 failed, 1 skipped, 1 error (7.94s)",
    ]
    for line in (
        "✗ scripts.demo.setup › TestFails",
        "  └─ assertion failed: should | be *equal*",
        '     -   "id": 2,',
        "     at assistants/demo/src/setup_test.ts:5:12",
        "  Rerun: yao-test -i scripts.demo.setup --run '^TestFails$'",
        "  TestSteps/b/c_d",
        "✗ assistants/demo/tests/cases.jsonl › turns",
        '  │          ✗ contains "never said"',
    ):
        assert line in run.stdout.splitlines(), line


def test_show_prints_the_tests_of_one_suite(saved: Application) -> None:
    run = saved.run("show", "cases.jsonl", "-v")

    assert run.code == 0
    assert "ℹ Input: assistants/demo/tests/cases.jsonl (7 test cases)" in run.stdout
    assert "✓ [T001] A trip (134ms)" in run.stdout
    assert '  ├─ Turn 3: [Simulated] "I confirm" → PASSED' in re.sub(r" \(\S+\)$", "", run.stdout, flags=re.M)
    assert "  │          Agent: [tool: book({amount: 3500})]" in run.stdout


def test_show_writes_and_prints_any_format(saved: Application) -> None:
    written = saved.run("show", "mixed.json", "-o", "deep/r.md", "-o", "r.jsonl")
    printed = saved.run("show", "mixed.jsonl", "-r", "report.markdown")

    assert (written.code, written.stdout) == (0, "Wrote <app>/deep/r.md\nWrote <app>/r.jsonl\n")
    golden = (GOLDEN / "mixed.md").read_text()
    assert (saved.root / "deep/r.md").read_text() == golden
    assert (printed.code, printed.stdout) == (0, golden)
    assert load(saved.root / "r.jsonl").lines == load(GOLDEN / "mixed.jsonl").lines


def test_show_uses_what_there_is_of_a_run_that_was_killed(saved: Application) -> None:
    text = (GOLDEN / "mixed.jsonl").read_text().splitlines(keepends=True)
    saved.write({"/cut.jsonl": "".join(text[:4]) + text[4][:50]})

    run = saved.run("show", "cut.jsonl")

    assert run.code == 0
    assert run.stderr.splitlines() == [
        "Warning: <app>/cut.jsonl:5: the file ends in the middle of this line",
        "Warning: <app>/cut.jsonl: the run did not end, so there is no summary",
    ]
    assert "interrupted: 1 passed, 2 failed, 0 skipped" in run.stdout


HINT = "Hint: Only .jsonl and .json reports of yao-test can be read"


MISTAKES: dict[str, tuple[tuple[str, ...], list[str] | None]] = {
    "missing": (
        ("show", "none.jsonl"),
        ["Error: Cannot read the report <app>/none.jsonl: No such file or directory"],
    ),
    "foreign": (
        ("extract", "cases.ctrf.json"),
        [
            "Error: Cannot read the report <app>/cases.ctrf.json: it is a CTRF report, which has too little data, not a "
            "report of a run",
            HINT,
        ],
    ),
    "script": (
        ("diff", "mixed.json", "assistants/demo/package.yao"),
        [
            'Error: Cannot read the report <app>/assistants/demo/package.yao:1: it is not an object with a "type"',
            HINT,
        ],
    ),
    "unknown format": (
        ("merge", "mixed.json", "-o", "r.pdf"),
        None,
    ),
    "diff in another format": (
        ("diff", "mixed.json", "mixed.jsonl", "-o", "r.xml"),
        [
            'Error: Cannot write <app>/r.xml: unknown extension ".xml"',
            "Hint: The extensions are .md, .json, .html",
        ],
    ),
    "nothing to merge": (("merge", "-o", "r.md"), None),
    "nowhere to merge": (("merge", "mixed.json"), None),
    "unwritable": (
        ("merge", "mixed.json", "-o", "/proc/none/r.md"),
        ["Error: Cannot write a report to /proc/none/r.md: No such file or directory"],
    ),
    "extract into a file": (
        ("extract", "mixed.json", "-d", "cases.jsonl"),
        ["Error: Cannot write results into <app>/cases.jsonl: it is not a folder"],
    ),
    "extract where nothing can be made": (
        ("extract", "mixed.json", "-d", "/proc/none"),
        None,
    ),
    "other runs": (
        ("diff", "scripts.jsonl", "cases.jsonl"),
        [
            "Error: Cannot compare scripts.jsonl with cases.jsonl: they have no case in common",
            "Hint: Cases are matched by suite and id: start both runs in the same folder",
        ],
    ),
    "unknown reporter": (
        ("show", "mixed.json", "-r", "report.markdwon"),
        [
            'Error: Cannot use --reporter "report.markdwon": there is no such reporter',
            'Hint: Did you mean "report.markdown"?',
        ],
    ),
    "two ways": (("show", "mixed.json", "-r", "report.json", "-o", "r.md"), None),
    "no duration": (("diff", "mixed.json", "mixed.json", "--slower-by", "2"), None),
}


@pytest.mark.parametrize(("arguments", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_said(saved: Application, arguments: tuple[str, ...], said: list[str] | None) -> None:
    run = saved.run(*arguments)

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: ") and "Traceback" not in run.stderr
    if said is not None:
        assert run.stderr.splitlines() == said


@pytest.mark.parametrize("part", ["turns", "assertions", "steps", "tools", "usage", "runs", "logs", "scores", "tags"])
@pytest.mark.parametrize("value", [7, "x", ["x"], {"a": 1}], ids=["number", "text", "list", "object"])
def test_a_result_of_another_shape_is_no_traceback(app: MakeApplication, part: str, value: object) -> None:
    here = app({"/r.jsonl": run_of(case("a", "failed", **{part: value}))})

    for arguments in (("show", "r.jsonl"), ("show", "r.jsonl", "-o", "r.md", "-o", "r.xml", "-o", "r.ctrf.json")):
        run = here.run(*arguments)
        assert run.code in (0, 2)
        assert run.code == 0 or re.match(
            rf'Error: Cannot (read the report <app>/r.jsonl:2: the "{part}"|make .*: a result is not as yao-test)',
            run.stderr,
        )
        assert "Traceback" not in run.stderr and "broke" not in run.stderr


# extract


def test_extract_writes_a_file_for_each_result(saved: Application) -> None:
    run = saved.run("extract", "mixed.jsonl")

    assert (run.code, run.stdout) == (0, "Wrote 14 files into <app>/mixed\n")
    found = sorted(
        str(path.relative_to(saved.root / "mixed")) for path in (saved.root / "mixed").rglob("*.*") if path.is_file()
    )
    assert found == [
        "assistants-demo-tests-cases.jsonl/T-2-id-b.md",
        "assistants-demo-tests-cases.jsonl/T001.md",
        "assistants-demo-tests-cases.jsonl/T003.md",
        "assistants-demo-tests-cases.jsonl/T004.md",
        "assistants-demo-tests-cases.jsonl/dynamic.md",
        "assistants-demo-tests-cases.jsonl/turns.md",
        "assistants-demo-tests-cases.jsonl/مرحبا.md",
        "scripts.demo.broken/broken.md",
        "scripts.demo.setup/TestFails.md",
        "scripts.demo.setup/TestPasses.md",
        "scripts.demo.setup/TestSkips.md",
        "scripts.demo.setup/TestSteps.md",
        "scripts.demo.setup/TestThrows.md",
        "scripts.demo.slow/TestHangs.md",
    ]
    text = (saved.root / "mixed/scripts.demo.setup/TestFails.md").read_text()
    assert text.startswith("# ❌ TestFails - Failed (334ms)\n\n`demo/src/setup_test.ts` · cause: assertion\n")


def test_extract_writes_some_results_as_json(saved: Application) -> None:
    run = saved.run(
        "extract", "cases.jsonl", "-d", "out", "--format", "json", "--status", "failed", "--status", "skipped"
    )

    assert (run.code, run.stdout) == (0, "Wrote 4 files into <app>/out\n")
    records = {path.name: json.loads(path.read_text()) for path in (saved.root / "out").iterdir()}
    assert sorted(records) == ["T-2-id-b.json", "T003.json", "T004.json", "turns.json"]
    by_id = {record["id"]: record for record in load(GOLDEN / "cases.jsonl").lines}
    assert records["turns.json"] == by_id["turns"]


@each(
    ("name", "file"),
    [
        ("T001", "T001"),
        ("a/b\\c:d", "a-b-c-d"),
        ("..", "result"),
        ("../../etc/passwd", "etc-passwd"),
        ("/etc/passwd", "etc-passwd"),
        (".hidden", "hidden"),
        ("", "result"),
        ("👩‍🚀", "result"),
        ("Grüße 你好", "Grüße-你好"),
        ("a\0b\nc", "a-b-c"),
        ("ends. ", "ends"),
        ("x" * 300, "x" * 100),
        ("é" * 300, "é" * 50),
    ],
)
def test_a_name_becomes_one_that_every_file_system_takes(name: str, file: str) -> None:
    assert safe(name) == file


def test_files_of_equal_names_are_told_apart() -> None:
    ids = ["a", "A", "a/", "a-2", "a", "é", "e\u0301"]

    names = [name for name, _ in named([result_of(case(id)) for id in ids], several=False)]

    assert names == ["a", "A-2", "a-3", "a-2-2", "a-4", "é", "é-2"]


def test_extract_stays_in_its_folder(app: MakeApplication) -> None:
    here = app({"/r.jsonl": run_of(*(case(id) for id in ("../up", "/abs", "a/../../b", "..", "x" * 300)))})

    before = set(here.root.rglob("*"))
    assert here.run("extract", "r.jsonl", "-d", "out").code == 0

    new = {path.relative_to(here.root) for path in set(here.root.rglob("*")) - before}
    assert {path.parts[0] for path in new} == {"out"}
    assert len(new) == 6


# merge


def test_merge_joins_parts_and_the_later_one_wins(app: MakeApplication) -> None:
    here = app(
        {
            "/1.jsonl": run_of(case("a"), case("b", "failed", error="no")),
            "/2.jsonl": run_of(case("b"), case("c", "skipped"), timestamp="2024-12-17T09:00:00Z"),
        }
    )

    run = here.run("merge", "1.jsonl", "2.jsonl", "-o", "all.jsonl", "-o", "all.md")

    assert (run.code, run.stderr) == (0, "Warning: c.jsonl b is in 1.jsonl and 2.jsonl: the latter is used\n")
    assert run.stdout == "Wrote <app>/all.jsonl\nWrote <app>/all.md\n2 passed, 0 failed, 1 skipped in 2 parts\n"
    whole = load(here.root / "all.jsonl")
    assert sorted((record["id"], record["status"]) for record in whole.lines) == [
        ("a", "passed"),
        ("b", "passed"),
        ("c", "skipped"),
    ]
    assert whole.start.started_at == "2024-12-17T09:00:00Z"
    assert {**whole.summary, "completed_at": None} == {
        "total": 3,
        "passed": 2,
        "failed": 0,
        "skipped": 1,
        "duration_ms": 2000,
        "pass_rate": 1.0,
        "pass_rate_interval": [0.3424, 1.0],
        "status": "passed",
        "completed_at": None,
    }


def test_merge_of_the_suites_of_a_run_is_the_run(saved: Application) -> None:
    start, *results, summary = (GOLDEN / "mixed.jsonl").read_text().splitlines(keepends=True)
    ended = json.dumps({**json.loads(summary), "duration_ms": 767}) + "\n"
    for name, part in (("1", results[:6]), ("2", results[6:])):
        saved.write({f"/part{name}.jsonl": start + "".join(part) + ended})

    run = saved.run("merge", "part1.jsonl", "part2.jsonl", "-o", "all.md", "-o", "all.json")

    assert (run.code, run.stderr) == (0, "")
    assert (saved.root / "all.md").read_text() == (GOLDEN / "mixed.md").read_text()
    assert (saved.root / "all.json").read_text() == (GOLDEN / "mixed.json").read_text()


def test_merge_takes_both_formats_and_says_what_differs(saved: Application) -> None:
    text = (GOLDEN / "scripts.jsonl").read_text().replace('"0.10.5"', '"0.9.0"').replace("test-user", "ann")
    saved.write({"/old.jsonl": text})

    run = saved.run("merge", "mixed.json", "old.jsonl", "-o", "all.json")

    assert run.code == 0
    assert run.stderr.splitlines()[:3] == [
        "Warning: mixed.json was made by yao-test 0.10.5, old.jsonl by yao-test 0.9.0",
        "Warning: mixed.json and old.jsonl ran with a different user, team or locale",
        "Warning: scripts.demo.setup TestPasses is in mixed.json and old.jsonl: the latter is used",
    ]


@pytest.mark.parametrize(
    ("status", "whole"),
    [("passed", "passed"), ("interrupted", "interrupted"), ("error", "error"), ("failed", "passed")],
)
def test_a_merged_run_is_as_bad_as_its_worst_part(app: MakeApplication, status: str, whole: str) -> None:
    first = re.sub(r'("type": "summary".*"status": ")\w+', rf"\g<1>{status}", run_of(case("a")))
    here = app({"/1.jsonl": first, "/2.jsonl": run_of(case("b"))})

    assert here.run("merge", "1.jsonl", "2.jsonl", "-o", "all.jsonl").code == 0

    assert load(here.root / "all.jsonl").summary["status"] == whole


def test_merge_of_a_report_with_itself_changes_nothing(app: MakeApplication) -> None:
    here = app({"/a.jsonl": run_of(case("good"), case("bad", "failed"))})

    run = here.run("merge", "a.jsonl", "a.jsonl", "-o", "m.json")

    assert run.stdout.endswith("1 passed, 1 failed, 0 skipped in 2 parts\n")
    assert [record["id"] for record in load(here.root / "m.json").lines] == ["good", "bad"]


def test_a_result_that_was_edited_so_that_no_format_can_show_it_is_named(app: MakeApplication) -> None:
    edited = case("a", trace={"calls": [], "steps": [{"kind": "model", "role": "agent", "duration_ms": "soon"}]})
    here = app({"/r.jsonl": run_of(edited)})
    run = here.run("show", "r.jsonl", "-o", "r.md")
    said = "Error: Cannot make <app>/r.md: a result is not valid for yao-test "
    assert (run.code, run.stderr.startswith(said)) == (2, True), run.stderr
    assert "It may have been edited, or written by another version" in run.stderr
