"""`--runs N`: what runs, what counts, and what reports show."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from case_runs import run_here
from command import PATIENCE, Application, MakeApplication, Record
from model_server import Exchange, ModelServer, says, silence

from runner.record import events as stream
from runner.record.saved import load

REPLIES = """\
- when: { input: shaky, metadata.run: 2 }
  reply: "No."
- when: { input: broken, metadata.run: 2 }
  reply: "{{ metadata.nothing }}"
- when: { input: never }
  reply: "No."
- when: { input: counted }
  reply: "Yes, {{ metadata.run }}."
- reply: "Yes."
"""
SAYS_YES = {"type": "contains", "value": "Yes"}


def case(id: str, input: str = "steady", **more: Any) -> Record:
    """A case that passes when the agent says yes."""
    return {"id": id, "input": input, "assert": SAYS_YES, **more}


def demo(app: MakeApplication, *cases: Record, **files: str) -> Application:
    """An application whose agent says no in the second run of what is shaky."""
    return app({**agent(replies=REPLIES, cases=list(cases)), **files})


def figures(record: Record) -> Record:
    """A result in the stability report of seed 004, without times and outputs."""
    keys = ("id", "runs", "passed", "failed", "pass_rate", "consistency", "stable")
    return {key: record[key] for key in keys}


def lines_of(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_json_report_has_the_stability_report_of_the_seed(app: MakeApplication) -> None:
    application = demo(app, case("T001"), case("T002", "shaky"))

    report = application.report("-i", case_file(), "--runs", "3", code=1)

    summary = {key: value for key, value in report["summary"].items() if key != "duration_ms"}
    assert summary == {
        "total": 2,
        "passed": 1,
        "failed": 1,
        "skipped": 0,
        "usage": {"input_tokens": 18, "output_tokens": 6},
        "pass_rate": 0.8333,
        "pass_rate_interval": [0.4033, 0.9737],
        "agent_id": "demo",
        "connector": "scripted",
        "total_cases": 2,
        "total_runs": 6,
        "runs_per_case": 3,
        "overall_pass_rate": 83.3,
        "stable_cases": 1,
        "unstable_cases": 1,
    }
    assert [figures(record) for record in report["results"]] == [
        {"id": "T001", "runs": 3, "passed": 3, "failed": 0, "pass_rate": 100.0, "consistency": 1.0, "stable": True},
        {"id": "T002", "runs": 3, "passed": 2, "failed": 1, "pass_rate": 66.7, "consistency": 0.67, "stable": False},
    ]
    shaky = report["results"][1]
    assert {type(shaky[f"{which}_duration_ms"]) for which in ("avg", "min", "max")} == {int}
    assert isinstance(shaky["std_deviation_ms"], int | float)
    details = [{key: value for key, value in run.items() if key != "duration_ms"} for run in shaky["run_details"]]
    error = 'assertion failed: Expected the output to contain "Yes", found "No."'
    assert details == [
        {"run": 1, "status": "passed", "output": "Yes.", "tokens": 4},
        {"run": 2, "status": "failed", "output": "No.", "error": error, "tokens": 4},
        {"run": 3, "status": "passed", "output": "Yes.", "tokens": 4},
    ]
    assert (shaky["status"], shaky["output"], shaky["error"]) == ("failed", "No.", error)
    assert (shaky["avg_tokens"], sum(shaky["usage"].values())) == (4, 12), "usage is what all runs took"


def test_a_case_passes_from_the_given_pass_rate_up(app: MakeApplication) -> None:
    application = demo(app, case("shaky", "shaky"), case("never", "never"))

    records = run_cases(application, "--runs", "4", "--min-pass-rate", "75", code=1)
    alone = application.run("-i", case_file(), "--run", "shaky", "--runs", "4", "--min-pass-rate", "75%")
    above = application.run("-i", case_file(), "--run", "shaky", "--runs", "4", "--min-pass-rate", "75.1")

    found = {id: (record["status"], record["error"] is None, record["pass_rate"]) for id, record in records.items()}
    assert found == {"shaky": ("passed", True, 75.0), "never": ("failed", False, 0.0)}
    assert (alone.code, above.code) == (0, 1)


def test_jsonl_has_a_line_for_each_run_and_the_figures_of_each_case(app: MakeApplication, tmp_path: Path) -> None:
    application = demo(app, case("a"), case("b", "shaky"), case("c", skip=True))
    path = tmp_path / "r.jsonl"

    application.run("-i", case_file(), "--runs", "2", "--parallel", "2", "-o", str(path))

    start, *lines, summary = lines_of(path)
    assert (start["runs_per_case"], start["min_pass_rate"]) == (2, 100)
    assert {(line["id"], line["run"]) for line in lines if "run" in line} == {("a", 1), ("a", 2), ("b", 1), ("b", 2)}
    ends = {line["id"]: (line["status"], line["pass_rate"]) for line in lines if line["type"] == "stability"}
    assert ends == {"a": ("passed", 100.0), "b": ("failed", 50.0)}
    for id in ends:
        places = [place for place, line in enumerate(lines) if line["id"] == id]
        assert lines[places[-1]]["type"] == "stability", "the figures follow the last run of a case"
    assert [line["status"] for line in lines if line["id"] == "c"] == ["skipped"]
    assert (summary["total"], summary["passed"], summary["failed"], summary["skipped"]) == (3, 1, 1, 1)


def test_saved_lines_and_a_saved_document_are_the_same_report(app: MakeApplication, tmp_path: Path) -> None:
    cases = [case("a"), case("b", "shaky"), case("c", "counted"), case("d", skip="later"), case("e", "never")]
    application = demo(app, *cases, **{"x_test.ts": SCRIPT})
    paths = [tmp_path / "r.jsonl", tmp_path / "r.json"]

    application.run(
        "-i", "assistants", "--runs", "3", "--min-pass-rate", "50", "-o", str(paths[0]), "-o", str(paths[1])
    )

    of_lines, of_document = (json.loads(json.dumps(load(path).lines)) for path in paths)
    for record in of_lines:
        for key in (
            "fingerprint",
            "regrade",
            "assertion_count",
        ):  # of the lines only: documents have the keys of the design
            record.pop(key, None)
    assert of_lines == of_document
    assert [(record["id"], record["status"]) for record in of_lines] == [
        ("TestShaky", "passed"),
        ("TestOnce", "passed"),
        ("TestNever", "skipped"),
        ("a", "passed"),
        ("b", "passed"),
        ("c", "passed"),
        ("d", "skipped"),
        ("e", "failed"),
    ]


SCRIPT = """
let calls = 0;
export function TestShaky(t: testing.T, ctx: agent.Context) {
  calls++;
  t.log(`run ${ctx.metadata.run}, call ${calls}`);
  t.assert.NotEqual(ctx.metadata.run, 2);
}
export function TestOnce(t: testing.T, ctx: agent.Context) {
  if ((ctx.metadata.run as number) > 1) t.skip("once is enough");
}
export function TestNever(t: testing.T) { t.skip("not today"); }
"""


@pytest.mark.parametrize("parallel", ["1", "3"])
def test_each_run_of_a_script_test_has_a_realm_of_its_own(app: MakeApplication, parallel: str) -> None:
    application = app({"x_test.ts": SCRIPT})

    records = application.results("-i", "scripts.demo.x", "--runs", "3", "--parallel", parallel, code=1)

    shaky, once, never = (records[name] for name in ("TestShaky", "TestOnce", "TestNever"))
    assert [(run["run"], run["status"]) for run in shaky["run_details"]] == [
        (1, "passed"),
        (2, "failed"),
        (3, "passed"),
    ]
    assert shaky["logs"] == ["run 2, call 1"], "what is shown is the run that failed"
    assert (shaky["pass_rate"], shaky["consistency"], shaky["location"].rpartition("/")[2]) == (
        66.7,
        0.67,
        "x_test.ts:6:12",
    )
    assert (once["status"], once["runs"], [run["status"] for run in once["run_details"]]) == (
        "passed",
        1,
        ["passed", "skipped", "skipped"],
    )
    assert (never["status"], never["skip_reason"], "runs" in never) == ("skipped", "not today", False)


def test_many_tests_run_often_end_each_exactly_once(app: MakeApplication, tmp_path: Path) -> None:
    tests = "\n".join(f"export function Test{number}(t: testing.T) {{ t.assert.True(true); }}" for number in range(50))
    path = tmp_path / "r.jsonl"

    run = app({"x_test.ts": tests}).run("-i", "scripts.demo.x", "--runs", "4", "--parallel", "3", "-o", str(path))

    runs = [(line["id"], line["run"]) for line in lines_of(path) if line["type"] == "result"]
    assert run.code == 0
    assert sorted(runs) == sorted((f"Test{test}", number) for test in range(50) for number in range(1, 5))


def test_runs_of_a_script_test_share_no_session_and_one_snapshot(app: MakeApplication) -> None:
    script = """
    export function TestOwn(t: testing.T) {
      t.assert.Nil(Process("session.Get", "seen"));
      Process("session.Set", "seen", true);
      t.snapshot({ is: "the same" });
    }
    """
    application = app({"x_test.ts": script})

    first = application.results("-i", "scripts.demo.x", "--runs", "3", code=0)
    again = application.results("-i", "scripts.demo.x", "--runs", "3", code=0)

    assert (first["TestOwn"]["pass_rate"], again["TestOwn"]["pass_rate"]) == (100.0, 100.0)


def test_a_module_that_cannot_be_loaded_fails_once(app: MakeApplication) -> None:
    report = app({"x_test.ts": "throw new Error('no');"}).report("-i", "scripts.demo.x", "--runs", "3", code=1)

    summary = report["summary"]
    assert (summary["failed"], summary["total_runs"], len(report["results"])) == (1, 1, 1)


def test_runs_of_one_case_are_under_way_at_the_same_time(app: MakeApplication) -> None:
    arrived = 0
    all_there = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 3:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), PATIENCE)
        await says("Yes.")(exchange)

    with ModelServer(answer) as server:
        files = agent(package={"connector": "local"}, cases=[case("a")])
        options = {"host": server.url, "model": "m", "key": "k"}
        files["/connectors/local.conn.yao"] = json.dumps({"type": "openai", "options": options})
        records = run_cases(app(files), "--runs", "3", "--parallel", "3", code=0)

    assert records["a"]["passed"] == 3


def test_an_interrupt_leaves_the_runs_that_have_ended(app: MakeApplication, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ModelServer() as server:
        server.plan(says("Yes."), says("Yes."), silence())
        files = agent(package={"connector": "local"}, cases=[case("a"), case("b")])
        options = {"host": server.url, "model": "m", "key": "k"}
        files["/connectors/local.conn.yao"] = json.dumps({"type": "openai", "options": options})
        with app(files).start("-i", case_file(), "--runs", "3", "-o", str(path)) as process:
            for _ in range(3):
                assert server.arrivals.acquire(timeout=PATIENCE)
            process.send_signal(signal.SIGINT)
            code = process.wait(PATIENCE)

    _, *lines, summary = lines_of(path)
    assert code == 130
    assert [(line["type"], line["id"], line.get("run"), line.get("count")) for line in lines] == [
        ("result", "a", 1, None),
        ("result", "a", 2, None),
        ("stability", "a", None, 2),
    ]
    assert (summary["status"], summary["total"]) == ("interrupted", 1)


HOOKS = """
export function Before(ctx: agent.Context) { console.log(`before ${ctx.metadata.run} in ${ctx.chat_id}`); }
export function After(ctx: agent.Context) { console.log(`after ${ctx.metadata.run}`); }
export function BeforeAll(ctx: agent.Context, cases: { id: string }[]) {
  const fs = new FS("data");
  fs.WriteFile("/all.txt", (fs.Exists("/all.txt") ? fs.ReadFile("/all.txt") : "") + cases.map((c) => c.id).join());
}
export function AfterAll(ctx: agent.Context, results: unknown[]) {
  new FS("data").WriteFile("/results.json", JSON.stringify(results));
}
"""


def test_hooks_of_a_case_surround_each_run_and_those_of_all_cases_the_whole(app: MakeApplication) -> None:
    one = case("a", "never", before="env_test.Before", after="env_test.After")
    application = demo(app, one, case("b"), **{"env_test.ts": HOOKS})
    around = ("--before", "env_test.BeforeAll", "--after", "env_test.AfterAll")

    path = application.home / "r.jsonl"
    application.run("-i", case_file(), "--runs", "2", *around, "-o", str(path))

    logs = [line["logs"] for line in lines_of(path) if line["type"] == "result" and line["id"] == "a"]
    assert logs == [[f"before {run} in agent-test-a-run-{run}", f"after {run}"] for run in (1, 2)]
    assert (application.root / "data/all.txt").read_text() == "a,b"
    results = json.loads((application.root / "data/results.json").read_text())
    assert [(result["id"], result["run"], result["status"]) for result in results] == [
        ("a", 1, "failed"),
        ("a", 2, "failed"),
        ("b", 1, "passed"),
        ("b", 2, "passed"),
    ]


def test_trials_of_a_conversation_are_held_in_each_run(app: MakeApplication) -> None:
    turns = [{"input": "counted", "assertions": [SAYS_YES]}]
    application = demo(app, {"id": "c", "mode": "conversation", "turns": turns, "trials": 2})

    record = run_cases(application, "--runs", "3", code=0)["c"]

    assert (record["runs"], record["consistency"], len(record["trials"])) == (3, 0.33, 2)
    assert [run["score"] for run in record["run_details"]] == [1.0, 1.0, 1.0]


def test_a_dependent_waits_for_all_runs_and_needs_the_case_to_pass(app: MakeApplication, tmp_path: Path) -> None:
    cases = [case("b", depends_on=["a"]), case("d", depends_on=["c"]), case("a", "shaky"), case("c")]
    application = demo(app, *cases)
    path = tmp_path / "r.jsonl"

    application.run("-i", case_file(), "--runs", "2", "--parallel", "3", "-o", str(path))

    results = [line for line in lines_of(path) if line["type"] == "result"]
    skipped = [(line["id"], line["skip_reason"], line.get("run")) for line in results if line["status"] == "skipped"]
    assert skipped == [("b", 'depends on "a", which failed', None)]
    order = [line["id"] for line in results]
    assert order.index("d") > max(place for place, id in enumerate(order) if id == "c")
    assert order.count("d") == 2


def ends(events: list[Any]) -> list[tuple[str, int]]:
    return [(event.result.name, event.result.run) for event in events if isinstance(event, stream.AttemptEnd)]


def test_fail_fast_stops_after_the_first_run_that_fails(app: MakeApplication) -> None:
    files = demo(app)
    cases = [case("a"), case("b", "shaky"), case("c")]

    events = run_here(files, *cases, runs=3, fail_fast=True)

    assert ends(events) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2)]
    whole = {event.result.name: event.result for event in events if isinstance(event, stream.TestEnd)}
    assert {name: (result.outcome.status, len(result.attempts)) for name, result in whole.items()} == {
        "a": ("passed", 3),
        "b": ("failed", 2),
    }
    assert len([event for event in events if isinstance(event, stream.TestStart)]) == 5


def test_fail_fast_goes_on_while_the_pass_rate_can_be_reached(app: MakeApplication) -> None:
    cases = [case("a", "shaky"), case("b", "never"), case("c")]

    events = run_here(demo(app), *cases, runs=4, min_pass_rate=75, fail_fast=True)

    assert ends(events) == [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 1), ("b", 2)]


def test_a_script_test_that_fails_ends_a_run_that_fails_fast(app: MakeApplication) -> None:
    application = app({"x_test.ts": SCRIPT, "y_test.ts": SCRIPT})

    report = application.report("-i", "scripts.demo", "--runs", "3", "--parallel", "1", "--fail-fast", code=1)

    found = [(record["name"], record["status"], record["runs"]) for record in report["reports"][0]["results"]]
    assert found == [("TestShaky", "failed", 2)]


def test_the_console_shows_the_runs_of_each_test_and_a_table(app: MakeApplication) -> None:
    application = demo(app, case("a"), case("b", "shaky"))

    shown = application.run("-i", case_file(), "--runs", "3", "--min-pass-rate", "60").stdout

    assert "  Runs: ✓✗✓ 2 of 3 passed (66.7%), unstable\n" in shown
    table = shown[shown.index("  Stability (3 runs of each test)") :]
    rows = [line.split()[:5] for line in table.splitlines() if line.startswith(("  a ", "  b "))]
    assert [row[:4] for row in rows] == [["a", "3/3", "100%", "stable"], ["b", "2/3", "66.7%", "unstable"]]
    detailed = application.run("-i", case_file(), "--runs", "3", "--min-pass-rate", "60", "-v").stdout
    rows = [line.split()[:5] for line in detailed.splitlines() if line.startswith(("  a  ", "  b  "))]
    assert rows == [["a", "3/3", "100%", "43.9-100%", "1.00"], ["b", "2/3", "66.7%", "20.8-93.9%", "0.67"]]
    assert "  5 of 6 runs passed (83.3%): 1 stable, 1 unstable\n  pass@1 0.83, pass@3 1.00, pass^3 0.50\n" in table
    assert "  Passed:  2\n" in table


def test_a_case_that_failed_is_run_again_as_often(app: MakeApplication) -> None:
    shown = demo(app, case("a", "never")).run("-i", case_file(), "--runs", "3", "--min-pass-rate", "50").stdout

    assert f"Rerun: yao-test -i {case_file()} --run '^a$' --runs 3 --min-pass-rate 50\n" in shown


def test_one_run_says_nothing_of_stability(app: MakeApplication) -> None:
    application = demo(app, case("a", "counted", metadata={"run": "own"}))

    report = application.report("-i", case_file(), "--runs", "1", code=0)

    assert report["summary"]["runs_per_case"] == 1
    assert "total_runs" not in report["summary"] and "run_details" not in report["results"][0]


def test_metadata_of_the_case_win_over_the_number_of_the_run(app: MakeApplication) -> None:
    application = demo(app, case("a", "counted", metadata={"run": "own"}), case("b", "counted"))

    records = run_cases(application, "--runs", "2", code=0)

    said = {id: [run["output"] for run in record["run_details"]] for id, record in records.items()}
    assert said == {"a": ["Yes, own.", "Yes, own."], "b": ["Yes, 1.", "Yes, 2."]}


def test_a_run_that_breaks_is_no_verdict_and_the_case_does_not_pass(app: MakeApplication) -> None:
    """The rule asks for metadata that there are not: the model cannot answer."""
    application = demo(app, case("a", "broken"))

    report = application.report("-i", case_file(), "--runs", "3", "--min-pass-rate", "10", code=1)

    (record,) = report["results"]
    figures = (record["runs"], record["passed"], record["failed"], record["errors"], record["pass_rate"])
    assert figures == (2, 2, 0, 1, 100.0)
    assert (record["status"], record["cause"], record["run_details"][1]["cause"]) == ("failed", *["infrastructure"] * 2)
    assert (report["summary"]["failed"], report["summary"]["errors"]) == (0, 1)


MISTAKES = {
    "no number": (("--runs", "often"), 'Cannot read --runs "often": it must be a whole number of at least 1'),
    "none": (("--runs", "0"), 'Cannot read --runs "0": it must be a whole number of at least 1'),
    "a share": (
        ("--runs", "2", "--min-pass-rate", "0.8"),
        'Cannot read --min-pass-rate "0.8": it must be a percentage from 1 to 100, such as 80',
    ),
    "more than all": (
        ("--runs", "2", "--min-pass-rate", "101"),
        'Cannot read --min-pass-rate "101": it must be a percentage from 1 to 100, such as 80',
    ),
    "no words": (
        ("--runs", "2", "--min-pass-rate", "most"),
        'Cannot read --min-pass-rate "most": it must be a percentage from 1 to 100, such as 80',
    ),
    "without runs": (("--min-pass-rate", "80"), "--min-pass-rate needs --runs"),
}


@pytest.mark.parametrize(("flags", "message"), MISTAKES.values(), ids=MISTAKES)
def test_what_cannot_be_read_ends_the_command(app: MakeApplication, flags: tuple[str, ...], message: str) -> None:
    run = demo(app, case("a")).run("-i", case_file(), *flags)

    assert (run.code, run.stdout, run.stderr.splitlines()[0]) == (2, "", f"Error: {message}")
