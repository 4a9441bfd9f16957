"""Exit codes, and what happens to the output when nobody reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication
from table_tests import each

PASSES = "export function TestPasses(t) {}\n"
FAILS = "export function TestFails(t) { t.fail('x'); }\n"
SKIPS = "export function TestSkips(t) { t.skip(); }\n"


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    many = "".join(f"export function Test{number}(t) {{ t.fail('{'x' * 200}'); }}\n" for number in range(300))
    return shared_app(
        {
            "passes_test.ts": PASSES,
            "fails_test.ts": FAILS,
            "skips_test.ts": SKIPS,
            "broken_test.ts": "const = 1;\n",
            "none_test.ts": "export {};\n",
            "many_test.ts": many,
        }
    )


CODES = {
    "passes": (["passes"], 0),
    "skips": (["skips"], 0),
    "passes and skips": (["passes", "skips"], 0),
    "fails": (["fails"], 1),
    "fails among passes": (["passes", "fails", "skips"], 1),
    "cannot be loaded": (["broken"], 1),
    "has no tests": (["none"], 2),
    "unknown": (["unknown"], 2),
    "unknown beside a failing one": (["fails", "unknown"], 2),
}


@each("name", CODES)
def test_the_exit_code_says_how_it_went(here: Application, name: str) -> None:
    modules, code = CODES[name]
    arguments = [word for module in modules for word in ("-i", f"scripts.demo.{module}")]
    assert here.fork(*arguments, "-q").code == code


ONE_VALUE = {
    "two connectors": (["-c", "scripted", "-c", "other"], "-c"),
    "two spellings": (["-c", "scripted", "--connector", "other"], "-c"),
    "an equals sign": (["--connector=scripted", "--connector=scripted"], "-c"),
    "two filters": (["--run", "Passes", "--run", "Fails"], "--run"),
    "a filter in the other spelling": (["-run", "Passes", "--run", "Fails"], "--run"),
    "two agents": (["-n", "demo", "-n", "demo"], "-n"),
    "two contexts": (["--ctx", "a.json", "--ctx", "b.json"], "--ctx"),
    "two timeouts": (["--timeout", "1s", "--timeout", "2s"], "--timeout"),
    "two reporters": (["-r", "report.json", "-r", "report.html"], "-r"),
    "two users": (["-u", "a", "-u", "b"], "-u"),
    "two counts": (["--runs", "2", "--runs", "3"], "--runs"),
    "two shards": (["--shard", "1/2", "--shard", "2/2"], "--shard"),
    "two hooks": (["--before", "a.B", "--before", "a.C"], "--before"),
}


@each("name", ONE_VALUE)
def test_a_flag_that_takes_one_value_is_refused_twice(here: Application, name: str) -> None:
    flags, spelling = ONE_VALUE[name]
    run = here.run("-i", "scripts.demo.passes", *flags)
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == (f"Error: {spelling} is set twice, but takes only one value\nHint: See yao-test --help\n")


def test_flags_that_may_be_repeated_still_may(here: Application) -> None:
    flags = [
        "-i",
        "scripts.demo.passes",
        "-i",
        "scripts.demo.skips",
        "-v",
        "-v",
        "--allow-net",
        "a",
        "--allow-net",
        "b",
    ]
    assert here.fork(*flags, "--no-color", "--no-color").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["schema", "-o", "a.json", "-o", "b.json"],
        ["show", "report.json", "-r", "report.json", "-r", "report.html"],
        ["extract", "report.json", "-d", "a", "--directory", "b"],
        ["diff", "a.json", "b.json", "--slower-by", "1s", "--slower-by", "2s"],
    ],
    ids=lambda words: words[0],
)
def test_other_commands_refuse_it_too(here: Application, words: list[str]) -> None:
    run = here.run(*words)
    assert (run.code, run.stdout) == (2, "")
    assert "is set twice, but takes only one value" in run.stderr


@pytest.mark.parametrize("flag", ["--help", "-h", "--version"])
def test_help_and_version_succeed(here: Application, flag: str) -> None:
    run = here.fork(flag)
    assert (run.code, run.stderr) == (0, "")
    assert "yao-test" in run.stdout


@pytest.mark.parametrize("words", [("diff", "-h"), ("store", "prune", "-h")], ids=" ".join)
def test_other_commands_know_the_short_flag_for_help_too(here: Application, words: tuple[str, ...]) -> None:
    run = here.fork(*words)
    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.startswith(f"Usage: yao-test {' '.join(words[:-1])} ")


def test_help_names_every_flag_and_the_exit_codes(here: Application) -> None:
    text = " ".join(here.fork("--help", "all").stdout.split())
    for (
        flag
    ) in "--input --output --app --user --team --ctx --run --timeout --parallel --dry-run --fail-fast --quiet".split():
        assert flag in text
    assert "0 passed, 1 failed, 2 configuration error, 3 the tool itself failed, 130 interrupted" in text


def test_a_reader_that_leaves_early_gets_no_traceback(here: Application) -> None:
    report = here.home / "report.json"
    process = here.start("-i", "scripts.demo.many", "-v", "-o", str(report))
    assert process.stdout is not None and process.stderr is not None
    with process:
        first = process.stdout.readline().decode()
        process.stdout.close()
        errors = process.stderr.read().decode()
        code = process.wait()
    assert first == "═" * 79 + "\n"
    assert errors == ""
    assert code in (1, 3)
    assert report.exists()


def test_a_short_output_that_nobody_reads_keeps_the_verdict(here: Application) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with here.start("-i", "scripts.demo.fails", stdout=writing) as process:
        os.close(writing)
        run = here.finish(process)
    assert (run.code, run.stderr) == (1, "")


def test_closed_standard_streams_do_no_harm(here: Application) -> None:
    shell = 'exec "$@" >&- 2>&- <&-'
    with here.start("-i", "scripts.demo.fails", prefix=("/bin/sh", "-c", shell, "sh")) as process:
        assert here.finish(process).code == 1


def test_a_full_disk_is_said(here: Application) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "wb") as full, here.start("-i", "scripts.demo.passes", stdout=full) as process:
        run = here.finish(process)
    assert (run.code, run.stderr) == (3, "Error: Cannot write the output: No space left on device\n")


NOTHING_TO_RUN = {
    "a run": ("-i", "scripts.nothing"),
    "its document": ("-i", "scripts.nothing", "--json"),
    "another command": ("show", "nothing.jsonl"),
}


@pytest.mark.parametrize("arguments", NOTHING_TO_RUN.values(), ids=NOTHING_TO_RUN)
@pytest.mark.parametrize("streams", [">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_error_that_nobody_can_read_has_its_exit_code(
    here: Application, arguments: tuple[str, ...], streams: str, unbuffered: str
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    environment = {**here.environment, "PYTHONUNBUFFERED": unbuffered}
    shell = f'exec "$@" {streams}'
    with here.start(*arguments, prefix=("/bin/sh", "-c", shell, "sh"), env=environment) as process:
        run = here.finish(process)
    assert run.code == 2
    assert "Traceback" not in run.stderr
    if "--json" in arguments and streams == ">/dev/full":
        assert run.stderr == "Error: Cannot write the output: No space left on device\n"


WRITTEN = {
    "a run": ("-i", "scripts.demo.passes", "-o", "out.jsonl"),
    "much of a run": ("-i", "scripts.demo.passes", "-o", "out.jsonl", "--runs", "300", "-v"),
    "a list": ("-i", "scripts.demo.passes", "--dry-run"),
    "a document": ("-i", "scripts.demo.passes", "--json"),
    "another command": ("status", "kept.jsonl"),
    "what is graded again": ("regrade", "cases.jsonl", "-o", "out.jsonl"),
    "the help": ("--help",),
    "a history": ("history", "--store", "kept"),
}


@pytest.fixture(scope="module")
def kept(shared_app: MakeApplication) -> Application:
    """An application with reports of a script test and of a case, and a store."""
    here = shared_app({**agent(cases=[{"id": "c", "input": "Hi"}]), "passes_test.ts": "export function TestA(t) {}"})
    assert here.run("-i", "scripts.demo.passes", "-o", "kept.jsonl", "--store", "kept").code == 0
    assert here.run("-i", case_file(), "-o", "cases.jsonl").code == 0
    return here


@pytest.mark.parametrize("arguments", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_on_a_full_disk_is_said_once(kept: Application, arguments: tuple[str, ...], unbuffered: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    environment = {**kept.environment, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full, kept.start(*arguments, stdout=full, env=environment) as process:
        run = kept.finish(process)
    said = [line for line in run.stderr.splitlines() if not line.startswith("Warning: ")]
    assert (run.code, said) == (3, ["Error: Cannot write the output: No space left on device"])


def test_a_document_that_nobody_reads_is_no_error(here: Application) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**here.environment, "PYTHONUNBUFFERED": "1"}
    with here.start("-i", "scripts.nothing", "--json", stdout=writing, env=environment) as process:
        os.close(writing)
        run = here.finish(process)
    assert (run.code, run.stderr) == (2, "")


def test_a_report_that_cannot_be_finished_fails_the_run(app: MakeApplication) -> None:
    code = (
        'export function TestA(t) { Process("fs.data.Remove", "out/r.json"); Process("fs.data.RemoveAll", "out"); }\n'
    )
    run = app({"/data/out/.keep": "", "a_test.ts": code}).run("-i", "scripts.demo.a", "-o", "data/out/r.json")
    assert run.code == 3
    assert "Error: Cannot write <app>/data/out/r.json: No such file or directory\n" in run.stdout
    assert "Traceback" not in run.stdout + run.stderr


def test_an_output_in_ascii_is_escaped(here: Application) -> None:
    environment = {**here.environment, "PYTHONIOENCODING": "ascii"}
    run = here.spawn("-i", "scripts.demo.passes", "-q", env=environment)
    assert (run.code, run.stderr) == (0, "")
    assert "Summary: 1 passed, 0 failed, 0 skipped" in run.stdout


def test_a_working_directory_that_is_gone_does_no_harm(app: MakeApplication) -> None:
    here = app({"a_test.ts": PASSES, "/gone/.keep": ""})
    shell = 'rm -r ../gone; exec "$@"'
    arguments = ("-i", "scripts.demo.a", "-a", str(here.root))
    run = here.spawn(*arguments, cwd=here.root / "gone", prefix=("/bin/sh", "-c", shell, "sh"))
    assert (run.code, run.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("-i", "scripts.demo.a", "--timeout", "--no-color"), "--timeout needs a value, and --no-color is a flag"),
        (("-i", "-v"), "-i needs a value, and -v is a flag"),
        (("merge", "r.jsonl", "-o", "--partial"), "-o needs a value, and --partial is a flag"),
    ],
)
def test_a_flag_is_not_taken_for_the_value_of_another_one(
    app: MakeApplication, arguments: tuple[str, ...], error: str
) -> None:
    run = app({}).run(*arguments)
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith(f"Error: {error}\n")


def test_a_flag_that_may_stand_without_a_value_may_precede_another_one(app: MakeApplication) -> None:
    run = app({"a_test.ts": "export function TestA(t) {}\n"}).run("-i", "scripts.demo.a", "--coverage", "--no-color")
    assert run.code == 0
