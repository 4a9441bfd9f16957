"""Which results hold when a flag has another value, wherever it is set; parts of one run have the same flags."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication, Record
from table_tests import each

VALIDATOR = "agents:workers.test.validator"
HELLO = {"type": "contains", "value": "hello"}
JUDGED = {"type": "agent", "use": VALIDATOR, "value": 'Says "hello"'}
CASES: list[Record] = [
    {"id": "plain", "input": "you"},
    {"id": "checked", "input": "you", "assert": [HELLO]},
    {"id": "agent", "input": "you", "assert": [JUDGED]},
    {
        "id": "any",
        "input": "you",
        "assert": [{"type": "any_of", "value": [{"type": "contains", "value": "bye"}, JUDGED]}],
    },
    {"id": "criterion", "turns": [{"input": "you", "assertions": ['Says "hello"']}]},
    {"id": "final", "turns": [{"input": "you"}], "final_assertions": [JUDGED]},
    {
        "id": "checkpoint",
        "input": "you",
        "simulator": {"use": "agents:workers.test.user-simulator", "goal": "tea"},
        "checkpoints": [{"id": "greeted", "assert": JUDGED}],
        "max_turns": 2,
    },
    {"id": "rubric", "input": "you", "grader": VALIDATOR, "rubrics": [{"id": "r", "outcome": 'Says "hello"'}]},
    {"id": "not judged", "input": "you", "assert": [{"type": "script", "use": "scripts:demo.judge.Own"}]},
]
SCRIPT = """\
export function TestPlain(t) { t.assert.Equal(1, 1); }
export function TestJudged(t) {
  t.assert.Agent("Hi", "workers.test.validator", { criteria: 'Says "hi"', connector: "scripted" });
}
"""
ALL = {case["id"] for case in CASES} | {"TestPlain", "TestJudged"}
GRADED = ALL - {"plain", "TestPlain", "TestJudged"}
WITH_JUDGES = GRADED - {"checked"} | {"TestJudged"}
SCRIPTED = '{"type": "scripted"}'


@pytest.fixture(scope="module")
def made(shared_app: MakeApplication) -> Application:
    """An application with a report of a run without flags."""
    files = agent(replies="- reply: hello you\n", cases=CASES)
    files |= {"a_test.ts": SCRIPT, "a.ts": "", "judge.ts": "export function Own() { return { judged: false }; }\n"}
    here = shared_app({**files, "/connectors/other.conn.yao": SCRIPTED})
    run = here.run("-i", case_file(), "-i", "scripts.demo.a", "-o", "r.jsonl")
    assert run.code == 0, run
    return here


def stale(here: Application, report: str = "r.jsonl") -> dict[str, set[str]]:
    """Why tests would run again → their names."""
    run = here.run("status", report)
    assert run.code in (0, 1), run
    found: dict[str, set[str]] = {}
    for line in (line for line in run.stdout.splitlines()[1:] if "re-run" in line):
        _, said, names = line.strip().rsplit(": ", 2)
        found.setdefault(said, set()).update(names.split(", "))
    return found


def test_a_user_that_is_named_counts_also_where_it_is_the_default_one(app: MakeApplication) -> None:
    here = app(agent(cases=[{"id": "a", "input": "Hi", "user": "karl"}]))
    assert here.run("-i", case_file(), "-o", "r.jsonl").code == 0
    assert stale(here) == {}

    here.write({"/yao-test.toml": 'user = "test-user"\n'})

    assert stale(here) == {"re-run because context changed": {"a"}}


@each(
    ("setting", "expected"),
    [
        ('judge-connector = "other"', WITH_JUDGES),
        ("judge-samples = 3", WITH_JUDGES),
        ('on-inconclusive = "pass"', WITH_JUDGES),
        ("require-judge = true", WITH_JUDGES),
        ("threshold = 0.5", GRADED),
        ("seed = 7", ALL),
        ('connector = "other"', ALL),
        ("strict = true", ALL),
        ("strict-db = true", ALL),
        ('on-missing-input = "end"', ALL),
        ("skip-interactive = true", ALL),
        ("[agent.demo]\nthreshold = 0.5", GRADED),
        ("[agent.demo]\nrequire-judge = true", WITH_JUDGES),
        (
            'timeout = "9s"\nparallel = 2\nretry-errors = 1\nmax-errors = 1\ndurations = 3\ntrace = "off"\nruns = 1',
            set(),
        ),
    ],
)
def test_a_changed_flag_makes_those_results_stale_that_depend_on_it(
    made: Application, setting: str, expected: set[str]
) -> None:
    file = made.root / "yao-test.toml"
    file.write_text(f"{setting}\n")
    try:
        found = stale(made)
    finally:
        file.unlink()
    flag = setting.splitlines()[-1].partition(" ")[0]
    assert found == ({f"re-run because --{flag} changed": expected} if expected else {})


def fingerprints(path: Path) -> dict[str, Record]:
    records = map(json.loads, path.read_text().splitlines())
    return {record["id"]: record["fingerprint"] for record in records if record["type"] == "result"}


def test_a_flag_counts_alike_wherever_it_is_set(app: MakeApplication) -> None:
    here = app({**agent(replies="- reply: hello you\n", cases=CASES[:3]), "/recordings/.keep": ""})
    flags = ("--judge-samples", "3", "--threshold", "0.7", "--seed", "4", "--record-missing", "recordings", "--strict")
    text = 'judge-samples = 3\nthreshold = 0.7\nseed = 4\nrecord-missing = "recordings"\nstrict = true\n'
    assert here.run("-i", case_file(), *flags, "-o", "typed.jsonl").code == 0
    here.write({"/yao-test.toml": text})
    assert here.run("-i", case_file(), "-o", "file.jsonl").code == 0
    assert stale(here, "file.jsonl") == {}
    assert here.run("-i", f"../../{case_file()}", "-o", "../../below.jsonl", directory="assistants/demo").code == 0
    here.write({"/yao-test.toml": f"[profile.ci]\n{text}"})
    assert here.run("-i", case_file(), "--profile", "ci", "-o", "profile.jsonl").code == 0
    typed, *others = (fingerprints(here.root / f"{name}.jsonl") for name in ("typed", "file", "below", "profile"))
    assert [other == typed for other in others] == [True] * 3

    assert here.run("merge", "typed.jsonl", "profile.jsonl", "-o", "m.json").code == 0
    (here.root / "yao-test.toml").unlink()
    gone = here.run("status", "file.jsonl")
    assert gone.code == 1
    assert gone.stdout.count("--judge-samples") == 1  # only one case has a judge
    resumed = here.run("--resume", "file.jsonl", *flags)
    assert (resumed.code, "3 results of file.jsonl are kept" in resumed.stdout) == (0, True), resumed


def test_a_seed_of_the_first_run_is_kept(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) { t.log(Math.random()); }\nexport function TestB(t) {}\n"})
    assert here.run("-i", "scripts.demo.a", "--seed", "5", "-o", "r.jsonl").code == 0
    path = here.root / "r.jsonl"
    whole = path.read_text()
    path.write_text("".join(line for line in whole.splitlines(True) if '"id": "TestA"' not in line))

    assert here.run("--resume", "r.jsonl").code == 0

    def drawn(text: str) -> list[list[str]]:
        return [record["logs"] for record in map(json.loads, text.splitlines()) if record.get("id") == "TestA"]

    assert drawn(path.read_text()) == drawn(whole)
    refused = here.run("--resume", "r.jsonl", "--seed", "6")
    assert (refused.code, "it was made with --seed 5, not with --seed 6" in refused.stderr) == (2, True)


PARTS = {
    "judges": (("--judge-samples", "3"), "--judge-samples 3", "no --judge-samples"),
    "connector": (("-c", "other"), "--connector other", "no --connector"),
    "seed": (("--seed", "7"), "--seed 7", "no --seed"),
    "switch": (("--strict",), "--strict", "no --strict"),
    "context": (("-u", "ann"), "--user ann", "no --user"),
}


@pytest.mark.parametrize("extension", ["jsonl", "json"])
@pytest.mark.parametrize("name", PARTS)
def test_parts_that_were_made_with_other_flags_are_not_merged(
    made: Application, tmp_path: Path, name: str, extension: str
) -> None:
    flags, given, lacks = PARTS[name]
    first, second = (str(tmp_path / f"{part}.{extension}") for part in (1, 2))
    assert made.run("-i", "scripts.demo.a", "--shard", "1/2", "-o", first).code == 0
    assert made.run("-i", "scripts.demo.a", "--shard", "2/2", *flags, "-o", second).code in (0, 2)

    run = made.run("merge", first, second, "-o", str(tmp_path / "whole.json"))

    assert run.code == 2, run
    assert run.stderr.startswith(f"Error: Cannot merge {second}: it was made with {given}, and {first} with {lacks}\n")
    assert not (tmp_path / "whole.json").exists()
    both = made.run("merge", second, second, "-o", str(tmp_path / "same.json"), "--partial")
    assert both.code == 0, both


def test_parts_with_another_configuration_are_not_merged(made: Application, tmp_path: Path) -> None:
    file, parts = made.root / "yao-test.toml", [str(tmp_path / f"{part}.jsonl") for part in (1, 2)]
    for part, samples in zip(parts, (1, 3), strict=True):
        file.write_text(f"judge-samples = {samples}\nparallel = {samples}\n")
        made.run("-i", "scripts.demo.a", "-o", part)
    file.unlink()
    run = made.run("merge", *parts, "-o", str(tmp_path / "whole.json"))
    assert (run.code, "--judge-samples 3" in run.stderr) == (2, True), run


def test_parts_with_other_settings_of_an_agent_are_not_merged(made: Application, tmp_path: Path) -> None:
    file, parts = made.root / "yao-test.toml", [str(tmp_path / f"{part}.jsonl") for part in (1, 2)]
    for part, connector in zip(parts, ("scripted", "other"), strict=True):
        file.write_text(f'[agent.demo]\nconnector = "{connector}"\n')
        made.run("-i", case_file(), "--run", "plain", "-o", part)
    file.unlink()

    run = made.run("merge", *parts, "-o", str(tmp_path / "whole.json"))

    said = f"Error: Cannot merge {parts[1]}: results of demo were made with another --connector than in {parts[0]}\n"
    assert (run.code, run.stderr.startswith(said)) == (2, True), run


def test_a_repeated_line_has_what_was_typed(made: Application, tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    made.run(
        "-i", case_file(), "--seed", "5", "--judge-samples=3", "--timeout", "90s", "--max-errors", "2", "-o", str(path)
    )
    assert json.loads(path.read_text())["metadata"]["flags"] == [
        *("--timeout", "1m30s", "--judge-samples", "3", "--seed", "5")
    ]


def test_cases_that_were_read_from_elsewhere_are_found(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: hello\n"))
    (here.home / "c.jsonl").write_text(lines({"id": "a", "input": "x"}))
    outside = str(here.home / "c.jsonl")
    assert here.run("-i", outside, "-n", "demo", "-o", "r.jsonl").code == 0
    refused = here.run("status", "r.jsonl")
    assert refused.code == 2
    assert "run: yao-test status r.jsonl -i <home>/c.jsonl" in refused.stderr
    assert here.run("status", "r.jsonl", "-i", outside).code == 0
