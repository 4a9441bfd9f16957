"""Whatever breaks a run: its end is reported, every report is whole, nothing is left behind, and the error says what it
was. The faults are real ones: files that go away while the run goes on, disks that are full, limits of the system.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from command import Application, MakeApplication, Run, eventually
from faults import leaves_nothing, lines_of

from runner.record import events, fold
from runner.security.secrets import Secrets

AGENT = {
    "/assistants/demo/package.yao": '{"connector": "local"}',
    "/connectors/local.conn.yao": '{"type": "scripted", "options": {"replies": [{"text": "hello"}]}}',
}
CASES = "".join(json.dumps({"id": f"c{number}", "input": "hi"}) + "\n" for number in range(3))
TOO_LARGE_TO_KEEP = CASES + "\n" * (1 << 18)
"""Files up to this size are read once, before the run."""
REPORTS = ("r.json", "r.jsonl", "r.xml", "r.md", "r.html", "r.ctrf.json")


def with_moving_cases(app: MakeApplication, code: str, cases: str = TOO_LARGE_TO_KEEP) -> Application:
    """An application whose case file lies where scripts can write; `code` runs in a test before the cases run."""
    test = f'export function TestFirst(t) {{ const files = new FS("data"); {code} }}\n'
    here = app({**AGENT, "/data/cases.jsonl": cases, "a_test.ts": test})
    link = here.root / "assistants/demo/tests/cases.jsonl"
    link.parent.mkdir()
    link.symlink_to(here.root / "data/cases.jsonl")
    return here


def run_with_reports(here: Application, *arguments: str) -> Run:
    outputs = [word for name in REPORTS for word in ("-o", str(here.home / name))]
    return here.run(*arguments, *outputs)


def assert_whole(here: Application, test: str, error: str) -> None:
    """Every report is whole, and has the result of a test, and the error of the run."""
    for name in REPORTS:
        if name != "r.html":  # which holds its data compressed
            text = here.anonymous((here.home / name).read_bytes())
            assert test in text, name
            assert error in text or name == "r.ctrf.json", name
    json.loads((here.home / "r.json").read_text())
    json.loads((here.home / "r.ctrf.json").read_text())
    ET.parse(here.home / "r.xml")
    assert (here.home / "r.html").read_text().rstrip().endswith("</html>")
    summaries = [line for line in lines_of(here.home / "r.jsonl") if line["type"] == "summary"]
    assert [summary["status"] for summary in summaries] == ["error"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ('files.Remove("/cases.jsonl");', "there is no such file"),
        ('files.WriteFile("/cases.jsonl", "{");', "cases.jsonl"),
        ('files.Remove("/cases.jsonl"); files.MkdirAll("/cases.jsonl");', "cases.jsonl"),
        ('files.WriteFile("/cases.jsonl", "");', ""),
    ],
    ids=["removed", "torn", "a folder", "empty"],
)
def test_a_case_file_that_changes_under_a_run_does_not_cost_its_reports(
    app: MakeApplication, code: str, error: str
) -> None:
    here = with_moving_cases(app, code)
    run = run_with_reports(here, "-i", "assistants")
    assert "1 passed" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr
    if error:
        assert (run.code, run.stderr) == (3, "")
        assert "Stopped: the run was aborted; 3 not run" in run.stdout
        assert_whole(here, "TestFirst", error)


@pytest.mark.parametrize("code", ['files.Remove("/cases.jsonl");', 'files.WriteFile("/cases.jsonl", "{");'])
def test_what_becomes_of_a_small_case_file_under_a_run_changes_nothing(app: MakeApplication, code: str) -> None:
    run = with_moving_cases(app, code, CASES).run("-i", "assistants")
    assert (run.code, run.stderr) == (0, "")
    assert "3 passed" in run.stdout


def test_a_run_that_broke_can_be_resumed(app: MakeApplication) -> None:
    here = with_moving_cases(app, 'files.Remove("/cases.jsonl");')
    report = here.home / "r.jsonl"
    assert here.run("-i", "assistants", "-o", str(report)).code == 3
    (here.root / "data/cases.jsonl").write_text(CASES)
    run = here.run("--resume", str(report))
    assert (run.code, run.stderr) == (0, "")
    assert [line["id"] for line in lines_of(report) if line["type"] == "result"] == ["TestFirst", "c0", "c1", "c2"]


def limited(here: Application, limit: str, *arguments: str) -> Run:
    """A run under a limit of the system."""
    shell = f'ulimit {limit}; exec "$@"'
    with leaves_nothing(here) as sessions, here.start(*arguments, prefix=("/bin/sh", "-c", shell, "sh")) as process:
        sessions.append(process.pid)
        return here.finish(process)


def test_a_disk_without_room_is_said_of_each_report_alone(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) { t.assert.Equal(1, 2); }\n"})
    full, whole = here.home / "full.json", here.home / "whole.txt"
    full.symlink_to("/dev/full")
    run = here.run("-i", "scripts.demo.a", "-o", str(full), "-o", str(whole))
    assert (run.code, run.stderr) == (3, "")
    assert run.stdout.count("Error: ") == 1
    assert "Error: Cannot write <home>/full.json: No space left on device\n" in run.stdout
    assert "1 failed" in whole.read_text()


@pytest.mark.parametrize("files", [18, 22, 26, 30])
def test_a_system_without_file_descriptors_is_said(app: MakeApplication, files: int) -> None:
    modules = {f"m{number}_test.ts": "export function TestA(t) {}\n" for number in range(8)}
    run = limited(app(modules), f"-n {files}", "-i", "assistants", "--parallel", "8")
    assert "Traceback" not in run.stdout + run.stderr
    assert run.code == 0 or (run.code == 3 and "Too many open files" in run.stdout + run.stderr)


def test_snapshots_that_cannot_be_stored_are_named_and_nothing_else_is(app: MakeApplication) -> None:
    waits = 't.snapshot(1); new FS("data").WriteFile("/begun", "x"); while (!new FS("data").Exists("/go")) {}'
    here = app({"/data/.keep": "", "a_test.ts": f"export function TestA(t) {{ {waits} }}\n"})
    report = here.home / "r.json"
    with here.start("-i", "scripts.demo.a", "-o", str(report)) as process:
        eventually((here.root / "data/begun").exists, "the snapshot is known")
        (here.source / "__snapshots__").write_text("a file instead of the folder")
        (here.root / "data/go").touch()
        run = here.finish(process)
    assert run.code == 3
    assert run.stdout.count("Error: ") == 1
    assert "Error: Cannot store the snapshots: File exists: <app>/assistants/demo/src/__snapshots__" in run.stdout
    (error,) = json.loads(report.read_text())["errors"]
    assert error.startswith("Cannot store the snapshots: ")


def test_recordings_that_cannot_be_written_are_named_as_recordings(app: MakeApplication) -> None:
    here = with_moving_cases(app, 'files.RemoveAll("/rec"); files.WriteFile("/rec", "a file instead of the folder");')
    run = run_with_reports(here, "-i", "assistants", "--record", "data/rec")
    assert run.code == 3
    assert "Cannot write recordings" in run.stdout
    assert "snapshots" not in run.stdout + run.stderr
    assert_whole(here, "c2", "Cannot write recordings")


def test_secrets_are_removed_from_answers_that_are_nested_deeply(app: MakeApplication) -> None:
    code = """\
function deep(levels: number, end: any) { let value = end; for (let i = 0; i < levels; i++) value = [value]; return value; }
export function Next(ctx, payload) { return { data: deep(700, "the key is sk-hidden-in-the-depth") }; }
"""
    here = app({**AGENT, "/assistants/demo/src/index.ts": code, "/assistants/demo/tests/cases.jsonl": CASES})
    report = here.home / "r.jsonl"
    env = {**here.environment, "SOME_API_KEY": "sk-hidden-in-the-depth"}
    run = here.run("-i", "assistants/demo/tests/cases.jsonl", "-o", str(report), env=env)
    assert (run.code, run.stderr) == (0, "")
    text = report.read_text()
    assert "the key is ***SOME_API_KEY***" in text
    assert "hidden-in-the-depth" not in text + run.stdout


@pytest.mark.parametrize("of_errors", [False, True])
@pytest.mark.parametrize("first", [events.RunStart, events.SuiteStart, events.TestEnd])
def test_secrets_that_cannot_be_removed_do_not_cost_the_reports(
    app: MakeApplication, monkeypatch: pytest.MonkeyPatch, of_errors: bool, first: type
) -> None:
    remove = Secrets.value

    def broken(self: Secrets, event: Any) -> Any:
        if isinstance(event, first) or (of_errors and isinstance(event, events.RunError | events.RunEnd)):
            raise MemoryError
        return remove(self, event)

    here = app({"a_test.ts": "export function TestA(t) {}\nexport function TestB(t) {}\n"})
    monkeypatch.setattr(Secrets, "value", broken)
    run = run_with_reports(here, "-i", "scripts.demo.a")
    error = "An error of the run cannot be shown: MemoryError" if of_errors else "Out of memory while running the tests"
    assert (run.code, run.stderr) == (3, "")
    assert f"Error: {error}" in run.stdout
    assert_whole(here, "", error)


def test_counting_that_breaks_does_not_cost_the_reports(app: MakeApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    add = fold.count_result

    def broken(result: Any, *more: Any) -> None:
        if result.name == "TestB":
            raise KeyError("a mistake in the counts")
        add(result, *more)

    here = app({"a_test.ts": "export function TestA(t) {}\nexport function TestB(t) {}\n"})
    monkeypatch.setattr(fold, "count_result", broken)
    run = run_with_reports(here, "-i", "scripts.demo.a")
    error = "yao-test crashed while running the tests: KeyError: 'a mistake in the counts'"
    assert (run.code, run.stderr) == (3, "")
    assert f"Error: {error}" in run.stdout
    assert_whole(here, "TestA", error)
