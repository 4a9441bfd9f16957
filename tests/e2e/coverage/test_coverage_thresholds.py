"""`--coverage-threshold`, and coverage of merged reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import case_file
from command import MakeApplication
from covered_app import FILES, Covered
from table_tests import each


@pytest.fixture(scope="module")
def covered(shared_app: MakeApplication) -> Covered:
    return Covered(shared_app(FILES))


@each(
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


@each(
    ("flags", "message", "hint"),
    [
        (["--coverage", "--coverage-threshold", "90"], '--coverage-threshold "90"', "lines=90"),
        (["--coverage", "--coverage-threshold", "line=90"], 'unknown metric "line"', 'Did you mean "lines"?'),
        (["--coverage", "--coverage-threshold", "lines=101"], "101 must be a percentage", ""),
        (["--coverage-threshold", "lines=90"], "--coverage-threshold needs --coverage", ""),
        (["-o", "lcov.info"], "Cannot write lcov.info: coverage is not measured", "Add --coverage"),
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
        ("line=1", 2, 'unknown metric "line"'),
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


UNREAD = {
    "one.ts": "export const one = () => 1;\n",
    "one_test.ts": 'import { one } from "./one";\nfunction TestOne(t) { t.assert.Equal(one(), 1); }\n',
    "torn.ts": "export function torn( {\n  return 2;\n}\n",
    "/scripts/deep.ts": f"export const deep = {'(' * 30_000}1{')' * 30_000};\n",
}
TORN = "assistants/demo/src/torn.ts"


@pytest.mark.parametrize("metric", ["statements", "branches", "functions", "lines"])
def test_a_file_that_cannot_be_read_misses_every_threshold(app: MakeApplication, metric: str) -> None:
    run = app(UNREAD).run("-i", "scripts.demo.one", "--coverage", "--coverage-threshold", f"assistants:{metric}=1")
    assert run.code == 1
    assert f"), and {TORN} cannot be read; --coverage-threshold assistants:{metric}=1" in run.stdout
    assert (
        f'Warning: {TORN} counts as uncovered, because it cannot be read: Unexpected token, expected ","' in run.stdout
    )


def test_a_file_that_cannot_be_read_is_in_the_reports(app: MakeApplication) -> None:
    here = app(UNREAD)
    formats = ("coverage-final.json", "lcov.info", "cobertura.xml", "report.json", "part.jsonl")
    run = here.run("-i", "scripts.demo.one", "--coverage", *(word for name in formats for word in ("-o", name)))
    assert run.code == 0, run
    rows = {line.split()[0]: line.split()[1:] for line in run.stdout.splitlines() if "%" not in line and ".ts" in line}
    assert rows[TORN] == rows["scripts/deep.ts"] == ["0.00", "0.00", "0.00", "0.00", "unread"]
    texts = {name: (here.root / name).read_text() for name in formats}
    file = json.loads(texts["coverage-final.json"])[TORN]
    assert (file["s"], file["f"], file["b"], file["unread"][:16]) == (
        {"0": 0},
        {"0": 0},
        {"0": [0]},
        "Unexpected token",
    )
    assert f"SF:{TORN}\nFN:1,(unread)\nFNF:1\nFNH:0\n" in texts["lcov.info"]
    assert f'filename="{TORN}" line-rate="0"' in texts["cobertura.xml"]
    assert json.loads(texts["report.json"])["summary"]["coverage"]["totals"]["branches"]["total"] == 2
    merged = here.run("merge", "part.jsonl", "-o", "merged.json", "--coverage-threshold", "lines=10")
    assert (merged.code, f"and {TORN}, scripts/deep.ts cannot be read" in merged.stderr) == (1, True), merged
