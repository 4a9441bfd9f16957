"""`--coverage-threshold`, and coverage of merged reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import case_file
from command import MakeApplication
from covered_app import FILES, Covered


@pytest.fixture(scope="module")
def covered(shared_app: MakeApplication) -> Covered:
    return Covered(shared_app(FILES))


@pytest.mark.parametrize(
    ("threshold", "miss"),
    [
        ("lines=10", ""),
        ("scripts:lines=100%", ""),
        ("branches=99.5", "Coverage of branches is "),
        ("assistants/demo/src:functions=100", "Coverage of functions below assistants/demo/src is "),
        ("elsewhere:lines=1", "No file below elsewhere is counted"),
    ],
)
def test_thresholds(covered: Covered, threshold: str, miss: str) -> None:
    run = covered.app.run(
        "-i", case_file(), "--coverage", "--coverage-threshold", "functions=1", "--coverage-threshold", threshold
    )
    if threshold in ("lines=10", "scripts:lines=100%"):
        expected = 1 if threshold.startswith("scripts") else 0
        assert run.code == expected, run
    else:
        assert run.code == 1
        assert f"Warning: {miss}" in run.stdout


@pytest.mark.parametrize(
    ("flags", "message", "hint"),
    [
        (["--coverage", "--coverage-threshold", "90"], '--coverage-threshold "90"', "lines=90"),
        (["--coverage", "--coverage-threshold", "line=90"], 'no metric "line"', 'Did you mean "lines"?'),
        (["--coverage", "--coverage-threshold", "lines=101"], "101 is not a percentage", ""),
        (["--coverage-threshold", "lines=90"], "--coverage-threshold needs --coverage", ""),
        (["-o", "lcov.info"], "Cannot write lcov.info: nothing is counted", "Add --coverage"),
    ],
)
def test_what_cannot_be(covered: Covered, flags: list[str], message: str, hint: str) -> None:
    run = covered.app.run("-i", case_file(), *flags)
    assert run.code == 2
    assert message in run.stderr
    assert hint in run.stderr


def test_a_report_without_coverage_has_none_to_merge(covered: Covered) -> None:
    app = covered.app
    app.run("-i", case_file(), "-o", f"{app.home}/without.jsonl")
    run = app.run("merge", f"{app.home}/without.jsonl", "-o", f"{app.home}/lcov.info2/lcov.info")
    assert (run.code, run.stderr) == (
        2,
        "Error: Cannot write lcov.info: the report has no coverage\nHint: Run the tests with --coverage\n",
    )


def test_a_threshold_in_the_configuration_file_holds_when_something_is_counted(app: MakeApplication) -> None:
    here = app({**FILES, "/yao-test.toml": 'coverage-threshold = ["assistants/demo/src:lines=100"]\n'})
    assert here.run("-i", case_file()).code == 0
    missed = here.run("-i", case_file(), "--coverage", "-q")
    assert missed.code == 1
    assert "Warning: Coverage of lines below assistants/demo/src is " in missed.stdout
    document = json.loads(here.run("-i", case_file(), "--coverage", "--json").stdout)
    assert (document["status"], document["exit_code"]) == ("failed", 1)
    assert document["warnings"][0].startswith("Coverage of lines below assistants/demo/src is ")


@pytest.mark.parametrize(
    ("threshold", "code", "said"),
    [
        ("assistants/demo:lines=10", 0, ""),
        ("statements=100", 1, "Warning: Coverage of statements is "),
        ("assistants/none:lines=1", 1, "Warning: No file below assistants/none is counted"),
        ("line=1", 2, 'there is no metric "line"'),
    ],
)
def test_merge_has_thresholds(covered: Covered, threshold: str, code: int, said: str) -> None:
    app = covered.app
    report = f"{app.home}/report.jsonl"
    run = app.run("merge", report, "-o", f"{app.home}/merged.json", "--coverage-threshold", threshold)
    assert (run.code, said in run.stderr) == (code, True), run
    if code == 1:
        warnings = json.loads(Path(f"{app.home}/merged.json").read_text())["warnings"]
        assert warnings[-1].endswith(f"; --coverage-threshold {threshold}")


def test_merge_has_nothing_to_measure_without_coverage(covered: Covered) -> None:
    app = covered.app
    app.run("-i", case_file(), "-o", f"{app.home}/uncounted.jsonl")
    threshold = ("--coverage-threshold", "lines=1")
    run = app.run("merge", f"{app.home}/uncounted.jsonl", "-o", f"{app.home}/uncounted.json", *threshold)
    assert run.code == 2
    assert "Cannot use --coverage-threshold: no part has coverage" in run.stderr
    assert not Path(f"{app.home}/uncounted.json").exists()


def test_shards_merge_to_the_whole(covered: Covered) -> None:
    app = covered.app
    for part in (1, 2):
        app.run("-i", "assistants", "--coverage", "--shard", f"{part}/2", "-o", f"{app.home}/part{part}.jsonl")
    outputs = ("-o", f"{app.home}/merged.json", "-o", f"{app.home}/all-coverage-final.json")
    merged = app.run("merge", f"{app.home}/part1.jsonl", f"{app.home}/part2.jsonl", *outputs)
    assert merged.code == 0, merged
    assert json.loads(covered.text("all-coverage-final.json")).keys() == covered.files.keys()
    whole = json.loads(covered.text("merged.json"))["summary"]["coverage"]["totals"]
    assert whole == json.loads(covered.text("report.json"))["summary"]["coverage"]["totals"]
