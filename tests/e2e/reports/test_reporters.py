"""Reports by the real command: several formats at once, `-r` with built-in reporters and with agents, GitHub Actions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication

from runner.record.saved import load

TESTS = """\
export function TestA(t) {}
export function TestB(t) { console.log("::error::from a script"); t.assert.Equal(1, 2, "so: 100%"); }
"""
CASES = [
    {"id": "good", "input": "hello", "assertions": [{"type": "contains", "value": "hello"}]},
    {"id": "bad", "input": "hello", "assertions": [{"type": "contains", "value": "nobody"}]},
]
FORMATS = ("md", "xml", "ctrf.json", "json", "txt")
MODULE = ("-i", "scripts.demo.a")
BOTH = (*MODULE, "-i", case_file())


@pytest.fixture
def small(app: MakeApplication) -> Application:
    """An agent with a test module and a case file; one of two fails in each."""
    return app({"a_test.ts": TESTS, **agent(cases=CASES)})


def reporter(replies: str, **more: str) -> dict[str, str]:
    """The agent `my.reporter`."""
    return agent("my.reporter", replies=replies, **more)


# Several formats


def test_every_format_is_written_by_one_run_and_again_from_its_lines(small: Application) -> None:
    outputs = [part for extension in (*FORMATS, "jsonl") for part in ("-o", f"out/r.{extension}")]
    assert small.run(*BOTH, *outputs).code == 1

    again = [part for extension in FORMATS for part in ("-o", f"again/r.{extension}")]
    shown = small.run("show", "out/r.jsonl", *again)

    assert (shown.code, shown.stderr) == (0, "")
    assert shown.stdout == "".join(f"Wrote <app>/again/r.{extension}\n" for extension in FORMATS)
    for extension in FORMATS:
        assert (small.root / f"again/r.{extension}").read_bytes() == (small.root / f"out/r.{extension}").read_bytes()
    assert sorted(path.name for path in (small.root / "out").iterdir()) == sorted(
        f"r.{ext}" for ext in (*FORMATS, "jsonl")
    )


def test_the_name_of_a_link_says_the_format_and_its_target_is_written(small: Application) -> None:
    names = ("r.jsonl", "r.json", "r.md")
    for name in names:
        (small.root / name).symlink_to(small.root / f"kept/{name.replace('.', '-')}")

    outputs = [part for name in names for part in ("-o", name)]
    assert small.run(*BOTH, *outputs).code == 1
    shown = small.run("show", "r.jsonl", "-o", "r.md")

    assert (shown.code, shown.stderr, shown.stdout) == (0, "", "Wrote <app>/r.md\n")
    assert [(small.root / name).is_symlink() for name in names] == [True] * 3
    assert [len(load(small.root / f"kept/r-{end}").lines) for end in ("jsonl", "json")] == [4, 4]
    assert (small.root / "kept/r-md").read_text().startswith("# Test Report\n")


@pytest.mark.parametrize(
    ("id", "first"),
    [
        ("report.markdown", "# Test Report"),
        ("report.junit", '<?xml version="1.0" encoding="UTF-8"?>'),
        ("report.ctrf", "{"),
        ("report.json", "{"),
        ("report.summary", "2 passed, 2 failed, 0 skipped in"),
    ],
)
def test_a_built_in_reporter_decides_the_format_of_the_first_file(small: Application, id: str, first: str) -> None:
    small.run(*BOTH, "-r", id, "-o", "odd.name", "-o", "r.jsonl")

    assert (small.root / "odd.name").read_text().startswith(first)
    assert len(load(small.root / "r.jsonl").lines) == 4


def test_a_reporter_without_a_file_has_standard_output_and_the_console_standard_error(small: Application) -> None:
    run = small.run(*MODULE, "-r", "report.json")

    assert run.code == 1
    assert [result["name"] for result in json.loads(run.stdout)["results"]] == ["TestA", "TestB"]
    assert "1 passed, 1 failed, 0 skipped" in run.stderr


# Agents


def test_an_agent_gets_the_report_of_the_design_document(app: MakeApplication) -> None:
    echo = '- reply: "{{ messages.-1.content }}"\n'
    here = app({**agent(cases=CASES), **reporter(echo)})

    assert here.run("-i", case_file(), "-v", "-r", "my.reporter", "-o", "r.html").code == 1

    got = json.loads((here.root / "r.html").read_text())
    report = got.pop("report")
    assert got == {"format": "html", "options": {"verbose": True, "include_outputs": True}}
    summary = report["summary"]
    assert summary.pop("duration_ms") >= 0
    assert summary == {
        "total": 2,
        "passed": 1,
        "failed": 1,
        "skipped": 0,
        "usage": {"input_tokens": 6, "output_tokens": 4},
        "pass_rate": 0.5,
        "pass_rate_interval": [0.0945, 0.9055],
        "agent_id": "demo",
        "connector": "scripted",
        "runs_per_case": 1,
        "overall_pass_rate": 50.0,
    }
    assert report["environment"] == {"user_id": "test-user", "team_id": "test-team", "locale": "en-us"}
    assert [(result["id"], result["status"]) for result in report["results"]] == [("good", "passed"), ("bad", "failed")]
    assert {"id", "status", "input", "output", "expected", "duration_ms", "error"} <= report["results"][0].keys()
    assert sorted(report["metadata"]) == ["completed_at", "run_id", "started_at", "version"]
    assert not list(here.root.glob("r.html.*"))


def test_an_agent_gets_no_more_than_a_model_takes(app: MakeApplication) -> None:
    cases = [{"id": f"c{number:04}", "input": "x" * 5000} for number in range(2000)]
    cases[-1] |= {"id": "bad", "assertions": [{"type": "contains", "value": "nobody"}]}
    hook = "function Next(ctx, payload) { return { data: JSON.parse(payload.messages.at(-1).content) }; }"
    here = app({**agent(replies="- reply: fine\n", cases=cases), **reporter("- reply: x\n", hooks=hook)})

    run = here.run("-i", case_file(), "-q", "-r", "my.reporter", "-o", "r.json")

    assert run.code == 1, run
    text = (here.root / "r.json").read_text()
    got = json.loads(text)
    report = got["report"]
    assert len(json.dumps(report)) <= 400_000
    assert (report["summary"]["total"], got["options"]["include_outputs"]) == (2000, False)
    assert report["left_out"] == {"passed": 2000 - len(report["results"])}
    first, *others, last = report["results"]
    assert first["input"] == "x" * 2000 + "... (5000 characters)"
    assert (last["id"], last["input"], last["assertions"][0]["passed"]) == ("bad", first["input"], False)
    assert others[-1].keys() == {"id", "status", "duration_ms"}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("r.html", "html"),
        ("r.md", "markdown"),
        ("r.json", "json"),
        ("r.txt", "text"),
        ("r", "text"),
        ("r.slack", "text"),
    ],
)
def test_an_agent_is_told_the_format_of_the_extension(app: MakeApplication, name: str, format: str) -> None:
    here = app({"a_test.ts": "export function TestA(t) {}\n", **reporter('- reply: "<{{ input.format }}> & more"\n')})

    assert here.run(*MODULE, "-r", "my.reporter", "-o", name).code == 0

    assert (here.root / name).read_text() == f"<{format}> & more"


def test_what_the_hook_of_an_agent_gives_is_the_report(app: MakeApplication) -> None:
    hook = "function Next(ctx, payload) { return { data: { total: JSON.parse(payload.messages.at(-1).content).report.summary.total } }; }"
    here = app({"a_test.ts": TESTS, **reporter("- reply: ignored\n", hooks=hook)})

    assert here.run(*MODULE, "-r", "agents:my.reporter", "-o", "r.json").code == 1

    assert json.loads((here.root / "r.json").read_text()) == {"total": 2}


def test_an_agent_without_a_file_answers_on_standard_output(app: MakeApplication) -> None:
    here = app({"a_test.ts": TESTS, **reporter('- reply: "{{ input.report.summary.passed }} fine"\n')})

    run = here.run(*MODULE, "-r", "my.reporter")

    assert (run.code, run.stdout) == (1, "1 fine")


@pytest.mark.parametrize(
    ("reply", "flags", "why"),
    [
        ("{ error: { status: 400, message: too long } }", (), "too long"),
        ("{ delay: 60s, text: x }", ("--timeout", "400ms"), "it did not answer within 0.4s"),
        ('""', (), "it returned nothing"),
    ],
    ids=["an error", "no answer in time", "nothing"],
)
def test_an_agent_that_fails_loses_no_results(
    app: MakeApplication, reply: str, flags: tuple[str, ...], why: str
) -> None:
    here = app({"a_test.ts": TESTS, **reporter(f"- reply: {reply}\n")})

    run = here.run(*MODULE, "-r", "my.reporter", "-o", "r.html", *flags)

    assert run.code == 3
    (said,) = [line for line in run.stdout.splitlines() if line.startswith("Error: ")]
    assert said.startswith("Error: Cannot make <app>/r.html with my.reporter: ") and why in said
    assert said.endswith("; the results are in <app>/r.html.json")
    assert [record["id"] for record in load(here.root / "r.html.json").lines] == ["TestA", "TestB"]


def test_an_unknown_agent_is_said_before_anything_runs(small: Application) -> None:
    run = small.run(*MODULE, "-r", "my.other", "-o", "r.html")

    assert (run.code, run.stdout) == (2, "")
    assert "my.other" in run.stderr
    assert not (small.root / "r.html").exists()


def test_a_file_that_cannot_be_written_is_said_before_anything_runs(small: Application) -> None:
    (small.root / "folder.md").mkdir()
    run = small.run(*MODULE, "-o", "folder.md")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == "Error: Cannot write a report to <app>/folder.md: Is a directory\n"


# GitHub Actions


def on_github(app: Application, *arguments: str, **more: str) -> tuple[list[str], Path]:
    """The lines of standard output in a job, and the file for its summary."""
    summary = app.home / "summary.md"
    summary.touch()
    variables = {
        "GITHUB_ACTIONS": "true",
        "CI": "true",
        "GITHUB_WORKSPACE": str(app.root),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    run = app.run(*arguments, env={**app.environment, **variables, **more})
    assert run.code == 1, run
    return run.stdout.splitlines(), summary


def test_a_job_gets_an_annotation_for_each_failure_and_a_summary(small: Application) -> None:
    lines, summary = on_github(small, *BOTH)

    assert lines[-2:] == [
        "::error file=assistants/demo/src/a_test.ts,line=2,col=76,title=demo/src/a_test.ts › TestB::"
        "assertion failed: so: 100%25%0Aexpected: 2%0Aactual: 1",
        f"::error file={case_file()},line=2,title={case_file()} › bad::assertion failed: "
        + next(line for line in lines if "Expected the output" in line).partition("assertion failed: ")[2],
    ]
    assert summary.read_text().startswith("# Test Report\n")
    assert "### ❌ TestB - Failed" in summary.read_text()


def test_an_annotation_has_what_each_failure_compared(app: MakeApplication) -> None:
    module = (
        "export function TestTwo(t) {\n  t.assert.Greater(1, 2);\n  t.run('sub', (t) => t.assert.Equal('x', 'y'));\n}\n"
    )
    asserts = [{"type": "contains", "value": "bye"}, {"type": "equals", "value": {"a": 1}}]
    here = app(
        {**agent(replies="- reply: hello", cases=[{"id": "a", "input": "x", "assert": asserts}]), "a_test.ts": module}
    )
    lines, _ = on_github(here, "-i", case_file(), "-i", "scripts.demo.a")
    said = {
        line.split("title=")[1].split(" › ")[1].split("::")[0]: line.split("::", 2)[2].split("%0A")
        for line in lines
        if line.startswith("::error")
    }
    assert said["TestTwo"] == [
        "assertion failed: Should be greater than the limit",
        "expected: 2",
        "actual: 1",
        "subtest sub failed",
        "TestTwo/sub: assertion failed: Not equal",
        "- expected + actual",
        '- "y"',
        '+ "x"',
    ]
    contains, equals, *difference = said["a"]
    assert contains.startswith("assertion failed: ") and equals.startswith("assertion failed: ")
    assert difference == ["- expected + actual", '- {"a": 1}', '+ "hello"']


def test_what_a_script_prints_gives_a_job_no_commands(small: Application) -> None:
    lines, _ = on_github(small, *MODULE)

    stop = re.fullmatch(r"::stop-commands::(\w{32})", lines[0])
    assert stop
    begins = lines.index(f"::{stop[1]}::")
    inside = [number for number, line in enumerate(lines) if "::error::from a script" in line]
    assert inside and max(inside) < begins


def test_the_summary_of_a_job_grows_and_stays_within_its_limit(small: Application) -> None:
    summary = small.home / "summary.md"
    summary.write_text("# Before\n" + "x" * 990_000)
    on_github(small, *MODULE)

    text = summary.read_text()
    assert text.startswith("# Before\n")
    assert "# Script Test Report" in text
    assert len(text.encode()) <= 1024 * 1024


def test_a_summary_that_cannot_be_written_is_a_warning(small: Application) -> None:
    lines, _ = on_github(small, *MODULE, GITHUB_STEP_SUMMARY="/proc/none/summary.md")

    assert lines[-1] == "::warning title=yao-test::Cannot write the job summary: No such file or directory"


def test_nothing_of_github_is_printed_elsewhere(small: Application) -> None:
    assert "\n::" not in small.run(*MODULE).stdout
