"""Where reports say that something failed: files are named from the repository, else from the application, in every
format and in every message, so that reports of two machines agree."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from agent_files import agent, lines
from command import Application, MakeApplication, make_application

FORMATS = ("json", "jsonl", "md", "html", "xml", "ctrf.json", "txt")

FILES = {
    "sums.ts": "export const sum = (values) => values.list.length;\n",
    "sums_test.ts": """\
import { sum } from "./sums";
export function TestChecks(t) { t.assert.Equal(1, 2); }
export function TestThrows(t) { sum({}); }
export function TestSteps(t) { t.run("inner", (t) => t.assert.Nil(1)); }
""",
    "broken_test.ts": "const = 1;\n",
    "judge.ts": 'export function Assert() { throw new Error("no opinion"); }\n',
    **agent(
        replies="- reply: Hello\n",
        cases=[
            {"id": "judged", "input": "Hi", "assert": {"type": "script", "script": "scripts:judge"}},
            {"id": "turns", "turns": [{"input": "Hi", "assertions": {"type": "script", "script": "scripts:judge"}}]},
            {"id": "plain", "input": "Hi", "assert": {"type": "contains", "value": "x"}},
        ],
    ),
}
MISSING = """\
export function TestMissing(t, ctx) { ctx.agent.Call("nobody", [{ role: "user", content: "x" }]); t.assert.Agent("x", "nobody"); }
"""
CODE = "assistants/demo/src"
CASES = "assistants/demo/tests/cases.jsonl"


def application(folder: Path, repository: str | None) -> Application:
    """An application; `repository` is the folder, from its root, that holds `.git`."""
    app = make_application(folder, FILES)
    if repository is not None:
        (app.root / repository / ".git").mkdir()
    return app


def reports_of(app: Application, *more: str) -> dict[str, str]:
    """The text of a run in every format."""
    paths = {name: app.home / f"report.{name}" for name in FORMATS}
    outputs = [word for path in paths.values() for word in ("-o", str(path))]
    run = app.run("-i", "assistants", *outputs, *more)
    assert run.code == 1, run
    return {name: path.read_text("utf-8") for name, path in paths.items()}


@pytest.mark.parametrize(
    ("repository", "prefix"),
    [(None, ""), (".", ""), ("..", "app/"), ("assistants/demo", "")],
    ids=["no repository", "its root", "a folder above", "below it"],
)
def test_places_are_those_in_the_repository(tmp_path: Path, repository: str | None, prefix: str) -> None:
    app = application(tmp_path, repository)
    app.write({"missing_test.ts": MISSING})
    reports = reports_of(app)

    for name, text in reports.items():
        assert str(tmp_path) not in text, name
    records = {record["id"]: record for record in map(json.loads, reports["jsonl"].splitlines()) if "id" in record}
    assert records["TestChecks"]["location"] == f"{prefix}{CODE}/sums_test.ts:2:42"
    assert records["TestThrows"]["stack_trace"] == (
        f"at sum ({prefix}{CODE}/sums.ts:1:32)\nat TestThrows ({prefix}{CODE}/sums_test.ts:3:33)"
    )
    assert records["TestSteps"]["steps"][0]["location"] == f"{prefix}{CODE}/sums_test.ts:4:63"
    assert records["broken"]["location"] == f"{prefix}{CODE}/broken_test.ts:1:7"
    for id in ("judged", "turns"):
        assert f"no opinion (at {prefix}{CODE}/judge.ts:1:38)" in records[id]["error"]
    assert f"at `{prefix}{CODE}/sums_test.ts:2:42`" in reports["md"]
    assert f"`{prefix}{CASES}:3` · cause: assertion" in reports["md"]


def test_junit_and_ctrf_name_the_file_of_each_test_from_the_repository(tmp_path: Path) -> None:
    reports = reports_of(application(tmp_path, ".."))

    cases = {case.get("name"): case for case in ElementTree.fromstring(reports["xml"]).iter("testcase")}
    places = {name: (case.get("file"), case.get("line")) for name, case in cases.items()}
    assert places["TestChecks"] == (f"app/{CODE}/sums_test.ts", "2")
    assert places["plain"] == (f"app/{CASES}", "3")
    tests = {test["name"]: test for test in json.loads(reports["ctrf.json"])["results"]["tests"]}
    assert (tests["TestThrows"]["filePath"], tests["TestThrows"]["line"]) == (f"app/{CODE}/sums.ts", 1)
    assert (tests["plain"]["filePath"], tests["plain"]["line"]) == (f"app/{CASES}", 3)


def test_no_report_has_the_name_of_something_else_as_a_file(app: MakeApplication) -> None:
    """A message has no file, and a .json report does not say that of a module."""
    here = app({**agent(), "a_test.ts": "function TestA(t) {}\n"})
    for words, name in ((("-n", "demo", "-i", "Hello"), "r.jsonl"), (("-i", "scripts.demo.a"), "r.json")):
        here.run(*words, "-q", "-o", name)
        assert here.run("show", name, "-o", "r.xml", "-o", "r.ctrf.json").code == 0
        assert "file=" not in (here.root / "r.xml").read_text("utf-8")
        assert "filePath" not in (here.root / "r.ctrf.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("repository", "workspace", "file"),
    [("..", "", f"app/{CODE}/sums_test.ts"), (None, "..", f"app/{CODE}/sums_test.ts"), ("..", "../..", f"app/{CODE}/sums_test.ts")],
    ids=["repository", "workspace alone", "repository below the workspace"],
)  # fmt: skip
def test_annotations_name_files_as_github_knows_them(
    tmp_path: Path, repository: str | None, workspace: str, file: str
) -> None:
    app = application(tmp_path, repository)
    github = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str((app.root / workspace).resolve()) if workspace else ""}

    run = app.run("-i", "scripts.demo.sums", "--run", "TestChecks", env={**app.environment, **github})

    assert f"::error file={file},line=2,col=42,title=" in run.stdout


def test_the_console_names_places_from_the_working_directory(tmp_path: Path) -> None:
    app = application(tmp_path, "..")

    run = app.run("-i", "assistants")

    assert f"at {CODE}/sums_test.ts:2:42" in run.stdout
    assert f"no opinion (at {CODE}/judge.ts:1:38)" in run.stdout
    assert "<app>" not in run.stdout
    above = app.run("-i", "app/assistants", directory="..")
    assert f"no opinion (at app/{CODE}/judge.ts:1:38)" in above.stdout


def test_a_saved_report_finds_the_code_again(tmp_path: Path) -> None:
    """The page reads the lines around a failure from the repository of the working directory."""
    from base64 import b64decode
    from gzip import decompress

    app = application(tmp_path, "..")
    app.run("-i", "scripts.demo.sums", "-o", "run.jsonl")
    app.run("show", "run.jsonl", "-o", "page.html")

    page = (app.root / "page.html").read_text("utf-8")
    block = page.partition('id="block-0">')[2].partition("<")[0]
    entries = json.loads(decompress(b64decode(block)))
    frames = {record["id"]: extra.get("frames") for record, extra in entries}
    assert frames["TestChecks"][f"app/{CODE}/sums_test.ts:2:42"]["lines"][1].startswith("export function TestChecks")


def test_reports_of_two_places_of_the_same_repository_are_equal(tmp_path: Path) -> None:
    def comparable(value: object) -> object:
        if isinstance(value, dict):
            own = ("_ms", "_at", "run_id")
            return {key: comparable(item) for key, item in value.items() if not key.endswith(own)}
        return [comparable(item) for item in value] if isinstance(value, list) else value

    first = application(tmp_path, ".")
    shutil.copytree(first.root, tmp_path / "elsewhere/deeper")
    second = Application(tmp_path / "elsewhere/deeper", first.home)

    documents = [json.loads(reports_of(app)["json"]) for app in (first, second)]

    assert comparable(documents[0]) == comparable(documents[1])


def test_what_was_said_keeps_its_paths(tmp_path: Path) -> None:
    """Only our own messages are changed: what an agent answers, or a script prints, is theirs."""
    app = make_application(tmp_path, {})
    said = f"see {app.root}/assistants/demo/notes.ts:3:5"
    app.write(agent(replies=f"- reply: {said}\n", cases=[{"id": "a", "input": said, "assert": {"type": "contains", "value": "never"}}]))  # fmt: skip

    (record,) = app.report("-i", CASES, code=1)["results"]

    here = said.replace(str(app.root), "<app>")
    assert (record["input"], record["output"], record["assertions"][0]["actual"]) == (here, here, here)


def test_lines_of_case_files_are_unchanged(tmp_path: Path) -> None:
    app = make_application(
        tmp_path, {"/assistants/demo/tests/cases.jsonl": lines({"id": "a", "input": "x", "inputt": 1})}
    )

    run = app.run("-i", CASES)

    assert (run.code, f"{CASES}:1" in run.stderr) == (2, True)


def test_warnings_are_placed_in_the_repository_too(tmp_path: Path) -> None:
    app = make_application(tmp_path, {"a_test.ts": "export function TestA(t) {\n  setTimeout(() => {}, 60000);\n}\n"})
    (app.root / "../.git").mkdir()

    run = app.run("-i", "scripts.demo", "-o", "r.jsonl", "-o", "r.md", "-o", "r.xml")

    record = next(
        record for line in (app.root / "r.jsonl").read_text().splitlines() if (record := json.loads(line)).get("id")
    )
    (warning,) = record["warnings"]
    assert warning["location"].startswith(f"app/{CODE}/a_test.ts:2:")
    assert str(tmp_path) not in (app.root / "r.md").read_text() + (app.root / "r.xml").read_text()
    assert f"{CODE}/a_test.ts:2:" in run.stdout
    assert "<app>" not in run.stdout
