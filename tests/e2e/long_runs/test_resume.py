"""`--resume` and `--shard`: what is missing runs, and nothing twice."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import random
import signal
import sys
import termios
import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication, Record, eventually
from faults import assert_complete, leaves_nothing, lines_of, results_in, with_model, worker_pids
from model_server import Exchange, ModelServer, echo, silence

CASES = [{"id": f"c{number}", "input": f"say {number}"} for number in range(6)]
IDS = {case["id"] for case in CASES}
REPLIES = "- reply: 'heard {{ input }}'"
SCRIPT = "".join(f"export function Test{name}(t) {{ t.assert.True(true); }}\n" for name in "ABC")
BOTH = ("-i", case_file(), "-i", "scripts.demo.some")
EVERYTHING = IDS | {"TestA", "TestB", "TestC"}


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app({**agent(replies=REPLIES, cases=CASES), "some_test.ts": SCRIPT})


def report_of(here: Application, *arguments: str) -> Path:
    """The report of a whole run."""
    path = here.home / "whole.jsonl"
    run = here.run(*BOTH, "-o", str(path), *arguments)
    assert run.code == 0, run
    return path


def cut_to(here: Application, whole: Path, length: int) -> Path:
    path = here.home / "cut.jsonl"
    path.write_bytes(whole.read_bytes()[:length])
    return path


def without(whole: Path, *ids: str) -> bytes:
    """A report without some of its results, and without its end."""
    kept = [line for line in whole.read_bytes().splitlines(True) if json.loads(line).get("id") not in ids]
    return b"".join(kept[:-1])


def places_to_cut(content: bytes) -> list[int]:
    """Around and between the lines, and in characters of several bytes."""
    ends = [place + 1 for place, byte in enumerate(content) if byte == 10]
    around = {place + off for place in ends for off in (-1, 0, 1)}
    middles = {(begin + end) // 2 for begin, end in pairwise([0, *ends])}
    letter = content.index("漢".encode())
    smiley = content.index("😀".encode(), content.index(b'"c3"'))
    in_letters = {letter + 1, letter + 2, smiley + 1, smiley + 2, smiley + 3}
    return sorted(place for place in {0, 1, 8} | around | middles | in_letters if place <= len(content))


def test_a_report_that_is_cut_off_anywhere_is_finished(app: MakeApplication) -> None:
    cases = [{"id": f"c{number}", "input": f"say {number} 漢字 😀"} for number in range(6)]
    here = app({**agent(replies=REPLIES, cases=cases), "some_test.ts": SCRIPT})
    path = report_of(here)
    content = path.read_bytes()
    places = places_to_cut(content)
    assert len(places) > 40
    for place in places:
        path.write_bytes(content[:place])
        whole_lines = content[:place].splitlines(True)[: content[:place].count(b"\n")]
        kept = [line for line in whole_lines if b'"type": "result"' in line]

        assert here.run(*BOTH, "--resume", str(path), "-q").code == 0, place

        assert_complete(path, EVERYTHING)
        lines = [line for line in path.read_bytes().splitlines(True) if b'"type": "result"' in line]
        assert sorted(lines[: len(kept)]) == sorted(kept), place


def test_what_is_missing_runs_and_every_report_has_everything(here: Application) -> None:
    path = here.home / "cut.jsonl"
    path.write_bytes(without(report_of(here), "c1", "c4", "TestB"))
    other = here.home / "other.json"

    run = here.run(*BOTH, "--resume", str(path), "-o", str(other))

    assert run.code == 0, run
    assert f"Warning: 6 results of {str(path).replace(str(here.home), '<home>')} are kept\n" in run.stdout
    assert "Summary: 9 passed, 0 failed, 0 skipped" in run.stdout
    assert_complete(path, EVERYTHING)
    new = [record["id"] for record in lines_of(path)[7:] if record["type"] == "result"]
    assert new == ["TestB", "c1", "c4"]
    cases, script = json.loads(other.read_text())["reports"]
    assert [record["id"] for record in cases["results"]] == sorted(IDS)
    assert [record["output"] for record in cases["results"]] == [f"heard say {number}" for number in range(6)]
    assert [record["name"] for record in script["results"]] == ["TestA", "TestB", "TestC"]


def test_the_flags_of_the_first_run_hold_for_the_second(here: Application) -> None:
    path = here.home / "cut.jsonl"
    path.write_bytes(without(report_of(here, "-u", "ann"), "c1"))

    assert here.run("--resume", str(path)).code == 0

    assert_complete(path, EVERYTHING)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-u", "bob"), "it was made with --user ann, not with --user bob"),
        (("-c", "scripted"), "it was made with no --connector, not with --connector scripted"),
        (("-i", case_file()), f"it was made with -i {case_file()} -i scripts.demo.some, not with -i {case_file()}"),
        (("--shard", "1/2"), "it was made with no --shard, not with --shard 1/2"),
    ],
    ids=["user", "connector", "inputs", "shard"],
)
def test_other_flags_than_before_are_an_error(here: Application, arguments: tuple[str, ...], said: str) -> None:
    path = cut_to(here, report_of(here, "-u", "ann"), 2000)
    before = path.read_bytes()

    run = here.run(*arguments, "--resume", str(path))

    assert (run.code, run.stdout) == (2, "")
    assert f"Error: Cannot resume <home>/cut.jsonl: {said}\n" in run.stderr
    assert path.read_bytes() == before


def test_what_is_no_report_is_left_alone(here: Application) -> None:
    for content, why in [
        (b'{"id": "a"}\n', "it is not a .jsonl report of yao-test"),
        (report_of(here).read_bytes() * 2, "it is made of several reports"),
        (None, "No such file or directory"),
    ]:
        path = here.home / "other.jsonl"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        run = here.run(*BOTH, "--resume", str(path))
        assert (run.code, run.stderr.splitlines()[0]) == (2, f"Error: Cannot resume <home>/other.jsonl: {why}")
        assert content is None or path.read_bytes() == content


def test_changed_and_new_cases_run_and_are_said(here: Application) -> None:
    path = here.home / "cut.jsonl"
    path.write_bytes(without(report_of(here), "c5"))
    changed = [{"id": "new", "input": "say new"}, *CASES[1:]]
    changed[2] = {**CASES[2], "input": "say other"}
    here.write({f"/{case_file()}": lines(*changed), "some_test.ts": SCRIPT + "export function TestD(t) {}\n"})

    run = here.run("--resume", str(path))

    assert run.code == 0, run
    assert f"Warning: {case_file()}: re-run because case changed: c2\n" in run.stdout
    assert f"Warning: {case_file()}: no longer exist, so their results are left out: c0\n" in run.stdout
    assert f"Warning: {case_file()}: without a result: new, c5\n" in run.stdout
    changed_module = "re-run because assistants/demo/src/some_test.ts changed: TestA, TestB, TestC"
    assert f"Warning: demo/src/some_test.ts: {changed_module}\n" in run.stdout
    assert_complete(path, (IDS - {"c0"}) | {"new", "TestA", "TestB", "TestC", "TestD"})
    outputs = {record["id"]: record.get("output") for record in lines_of(path) if record["type"] == "result"}
    assert outputs["c2"] == "heard say other"


def test_cases_of_changed_prompts_run_again(here: Application) -> None:
    path = report_of(here)
    here.write({"/assistants/demo/prompts.yml": "- { role: system, content: Be long. }"})

    run = here.run("--resume", str(path))

    assert run.code == 0, run
    said = "re-run because prompts of demo changed: c0, c1, c2, c3, c4, c5"
    assert f"Warning: {case_file()}: {said}\n" in run.stdout
    assert [record["id"] for record in lines_of(path) if record["type"] == "result"][:3] == ["TestA", "TestB", "TestC"]
    assert_complete(path, EVERYTHING)


def test_missing_runs_of_a_case_are_made(here: Application) -> None:
    whole = report_of(here, "--runs", "3")
    kept = []
    for line in whole.read_bytes().splitlines(True)[:-1]:
        record = json.loads(line)
        if record.get("id") == "c2" and (record.get("run") == 2 or record["type"] == "stability"):
            continue
        if record.get("id") == "TestB" and (record.get("run") == 3 or record["type"] == "stability"):
            continue
        kept.append(line)
    path = here.home / "cut.jsonl"
    path.write_bytes(b"".join(kept))

    run = here.run("--resume", str(path), "-o", str(here.home / "r.json"))

    assert run.code == 0, run
    runs = sorted((r["id"], r["run"]) for r in lines_of(path) if r["type"] == "result")
    assert runs == sorted((id, run) for id in EVERYTHING for run in (1, 2, 3))
    stable = [record["id"] for record in lines_of(path) if record["type"] == "stability"]
    assert sorted(stable) == sorted(EVERYTHING)


@pytest.mark.parametrize("kept", [{1}, {2}, {3}, {1, 2}, {2, 3}, {1, 3}], ids=str)
def test_each_missing_run_of_a_case_is_made_once(app: MakeApplication, kept: set[int]) -> None:
    here = app(agent(cases=[{"id": "a", "input": "x"}]))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "--runs", "3", "-o", str(path)).code == 0
    lines = path.read_bytes().splitlines(keepends=True)
    left = [line for line in lines if (record := json.loads(line))["type"] == "start" or record.get("run") in kept]
    path.write_bytes(b"".join(left))

    assert here.run("--resume", str(path), "--parallel", "3").code == 0

    runs = [record["run"] for record in lines_of(path) if record["type"] == "result"]
    assert (len(runs), set(runs)) == (3, {1, 2, 3})


def test_a_failure_of_the_first_run_fails_the_second(app: MakeApplication) -> None:
    cases: list[Record] = [
        {"id": "bad", "input": "x", "expected": "y"},
        {"id": "after", "input": "x", "depends_on": ["bad"]},
        {"id": "good", "input": "x"},
    ]
    here = app(agent(replies=REPLIES, cases=cases))
    path = here.home / "r.jsonl"
    here.run("-i", case_file(), "-o", str(path))
    path.write_bytes(without(path, "good", "after"))

    run = here.run("--resume", str(path))

    assert run.code == 1
    assert "› bad" in run.stdout
    assert results_in(path) == [("after", "skipped"), ("bad", "failed"), ("good", "passed")]


@pytest.mark.parametrize("seed", [2, 3])
def test_a_command_that_is_killed_is_finished(app: MakeApplication, seed: int) -> None:
    chance = random.Random(seed)
    cases = [{"id": f"d{number}", "input": f"x{number}"} for number in range(30)]
    tests = [f"Test{number}" for number in range(20)]
    code = "".join(
        f"export async function {name}(t) {{ await new Promise((done) => setTimeout(done, 5)); }}\n" for name in tests
    )
    wanted = {(case["id"], run) for case in cases for run in (1, 2)} | {(name, run) for name in tests for run in (1, 2)}
    with ModelServer(echo(0.01)) as server:
        here = app({**agent(package={"connector": "local"}, cases=cases), **with_model(server), "many_test.ts": code})
        path = here.home / "r.jsonl"
        arguments: tuple[str, ...] = ("-i", "assistants", "--runs", "2", "--parallel", "4", "-o", str(path))
        asked: Counter[str] = Counter()
        with leaves_nothing(here) as sessions:
            for _ in range(1 + seed % 2):
                least = chance.randrange(100)
                with here.start(*arguments) as process:
                    sessions.append(process.pid)
                    eventually(lambda: runs_in(path).total() >= least or process.poll() is not None, "results")  # noqa: B023
                    process.kill()
                    process.communicate()
                done = runs_in(path)
                assert set(done.values()) <= {1}
                server.wait_for_quiet()
                asked = Counter(request.last_text for request in server.requests)
                arguments = ("--resume", str(path), "--parallel", "4") if path.stat().st_size else arguments
            run = here.run(*arguments)
        assert run.code == 0, run
        assert runs_in(path) == dict.fromkeys(wanted, 1)
        again = Counter(request.last_text for request in server.requests) - asked
        assert again <= Counter(case["input"] for case in cases for run in (1, 2) if (case["id"], run) not in done)
        assert [record["type"] for record in lines_of(path)].count("summary") == 1


def runs_in(path: Path) -> Counter[tuple[str, int]]:
    """How often each run of each test is in a report."""
    return Counter((record["id"], record["run"]) for record in lines_of(path) if record["type"] == "result")


def test_workers_that_are_killed_in_hooks_cost_their_cases_only(app: MakeApplication) -> None:
    hooks = "function Create(ctx, messages) { if (messages[0].content === 'slow') { new FS('data').WriteFile('/begun', 'x'); for (;;) {} } }"
    cases = [{"id": "slow", "input": "slow"}, *CASES]
    here = app({**agent(replies=REPLIES, hooks=hooks, cases=cases), "/data/.keep": ""})
    path = here.home / "r.jsonl"
    with leaves_nothing(here) as sessions, here.start("-i", case_file(), "-o", str(path)) as process:
        sessions.append(process.pid)
        eventually((here.root / "data/begun").exists, "the hook begins")
        for pid in worker_pids(process.pid):
            os.kill(pid, signal.SIGKILL)
        run = here.finish(process)
    assert run.code == 1, run
    assert results_in(path) == sorted([("slow", "failed"), *((id, "passed") for id in IDS)])
    (slow,) = [record for record in lines_of(path) if record.get("id") == "slow"]
    assert (slow["cause"], slow["error"]) == (
        "infrastructure",
        "agent error: Create of demo: The worker process was killed by signal 9 (SIGKILL)",
    )


def is_stopped(pid: int) -> bool:
    """Whether a process has taken note of its SIGSTOP; until then it may still read."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def unread(pid: int) -> int:
    """Bytes that wait in the pipe from which a process reads."""
    with Path(f"/proc/{pid}/fd/0").open("rb", buffering=0) as pipe:
        return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize("stopped", [False, True], ids=["before_their_next_call", "before_they_read_their_next_call"])
def test_idle_workers_that_are_killed_cost_nothing(app: MakeApplication, stopped: bool) -> None:
    arrived, go_on = threading.Event(), threading.Event()

    async def hold(exchange: Exchange) -> None:
        arrived.set()
        await asyncio.to_thread(go_on.wait, 30)
        await echo()(exchange)

    with ModelServer() as server:
        server.plan(hold)
        hooks = "function Create(ctx, messages) { return { messages }; }"
        here = app({**agent(package={"connector": "local"}, hooks=hooks, cases=CASES), **with_model(server)})
        with leaves_nothing(here) as sessions, here.start("-i", case_file()) as process:
            sessions.append(process.pid)
            assert arrived.wait(30)
            killed = worker_pids(process.pid)
            if stopped:
                for pid in killed:
                    os.kill(pid, signal.SIGSTOP)
                eventually(lambda: all(map(is_stopped, killed)), "the workers stop")
                go_on.set()
                eventually(lambda: any(map(unread, killed)), "the next case calls its hook")
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            go_on.set()
            run = here.finish(process)
    assert killed
    assert run.code == 0, run


# Shards


def test_shards_have_every_test_once(here: Application) -> None:
    found: list[str] = []
    for number in (1, 2, 3):
        path = here.home / f"{number}.jsonl"
        run = here.run(*BOTH, "--shard", f"{number}/3", "-o", str(path))
        assert run.code == 0, run
        found += [id for id, _ in results_in(path)]
    assert sorted(found) == sorted(EVERYTHING)


def test_a_case_stays_in_its_shard_when_others_are_added(here: Application) -> None:
    before = ids_of(here, "--shard", "1/2")
    here.write({f"/{case_file()}": lines({"id": "first", "input": "x"}, *CASES, {"id": "last", "input": "x"})})
    assert ids_of(here, "--shard", "1/2") - {"first", "last"} == before


def ids_of(here: Application, *arguments: str) -> set[str]:
    path = here.home / "ids.jsonl"
    run = here.run("-i", case_file(), *arguments, "-o", str(path))
    assert run.code == 0, run
    return {id for id, _ in results_in(path)}


def test_cases_that_depend_on_each_other_are_in_one_shard(app: MakeApplication) -> None:
    chain = [{"id": f"k{n}", "input": "x", **({"depends_on": [f"k{n - 1}"]} if n else {})} for n in range(5)]
    here = app(agent(replies=REPLIES, cases=[*chain, *CASES]))
    parts = [ids_of(here, "--shard", f"{number}/4") for number in (1, 2, 3, 4)]
    assert [len(part & {case["id"] for case in chain}) for part in parts].count(5) == 1
    assert sorted(id for part in parts for id in part) == sorted(IDS | {case["id"] for case in chain})


def test_a_shard_without_tests_passes(app: MakeApplication) -> None:
    here = app(agent(replies=REPLIES, cases=CASES[:1]))
    runs = [here.run("-i", case_file(), "--shard", f"{number}/9", "-o", "r.jsonl") for number in range(1, 10)]
    assert [run.code for run in runs] == [0] * 9
    said = [run.stderr for run in runs if run.stderr]
    assert (len(said), said[0]) == (8, said[0]) and said[0].startswith("Warning: no tests are in --shard ")


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0"])
def test_a_bad_shard_is_an_error(here: Application, text: str) -> None:
    run = here.run(*BOTH, "--shard", text)
    assert (run.code, run.stderr) == (
        2,
        f'Error: Cannot read --shard "{text}": it must be I/N, with I from 1 to N\nHint: For example: 1/4, 2/4, 3/4 and 4/4\n',
    )


# What had failed


def test_a_resumed_run_of_what_had_failed_runs_only_that(here: Application) -> None:
    fails = {id: {"type": "equals", "value": "x"} for id in ("c1", "c2")}
    cases = [{**case, **({"assert": fails[case["id"]]} if case["id"] in fails else {})} for case in CASES]
    script = SCRIPT.replace("TestB(t) { t.assert.True(true)", "TestB(t) { t.assert.True(false)")
    here.write({"some_test.ts": script, f"/{case_file()}": lines(*cases)})
    assert here.run(*BOTH, "-q").code == 1
    path = here.home / "r.jsonl"
    failed = {"c1", "c2", "TestB"}
    assert here.run(*BOTH, "--last-failed", "-o", str(path)).code == 1
    assert {id for id, _ in results_in(path)} == failed
    content = path.read_bytes()
    start = content.splitlines(True)[0]
    here.write({"some_test.ts": SCRIPT})
    assert here.run("-i", "scripts.demo.some", "-q").code == 0, "now other tests are known to fail"

    for left in (start, without(path, "c2")):
        path.write_bytes(left)
        state = here.run("status", str(path))
        assert (state.code, " of 3 tests have a current result" in state.stdout) == (1, True), state
        run = here.run("--resume", str(path), "--last-failed")
        assert run.code == 1
        assert "Running only tests that failed last time: 3 tests\n" in run.stdout
        assert "--last-failed\n" in run.stdout
        assert {id for id, _ in results_in(path)} == failed
        assert here.run("status", str(path)).code == 0

    path.write_bytes(content)
    here.write({f"/{case_file()}": lines(*CASES[:2])})
    assert "no longer exist, so their results are left out: c2" in here.run("--resume", str(path)).stdout
    assert {id for id, _ in results_in(path)} == failed - {"c2"}


def test_a_resumed_run_of_which_no_failure_was_known_runs_all(here: Application) -> None:
    path = here.home / "r.jsonl"
    assert here.run(*BOTH, "--last-failed", "-o", str(path)).code == 0
    path.write_bytes(without(path, "c2", "TestA"))
    assert here.run("--resume", str(path)).code == 0
    assert_complete(path, EVERYTHING)
    other = report_of(here)
    before = other.read_bytes()
    refused = here.run("--resume", str(other), "--last-failed")
    assert (refused.code, other.read_bytes()) == (2, before)
    assert "it was made with no --last-failed, not with --last-failed" in refused.stderr


# One report, one writer


def test_a_report_that_is_named_twice_is_written_once(here: Application) -> None:
    path = here.home / "whole.jsonl"
    assert report_of(here, "-o", str(path.parent / "." / "whole.jsonl")) == path
    assert_complete(path, EVERYTHING)


def test_a_report_that_a_run_still_writes_is_left_to_it(app: MakeApplication) -> None:
    with ModelServer() as server:
        here = app({**agent(package={"connector": "local"}, cases=CASES), **with_model(server)})
        path = here.home / "r.jsonl"
        run = here.run("-i", case_file(), "-o", str(path))
        assert run.code == 0, run
        path.write_bytes(without(path, "c2", "c3"))
        server.default = silence()
        refused = "another yao-test is writing it\nHint: Wait until it ends, or name another file with -o\n"
        with leaves_nothing(here) as sessions, here.start("--resume", str(path)) as process:
            sessions.append(process.pid)
            eventually(lambda: len(server.requests) == 7, "the first resumed case runs")
            before = path.read_bytes()
            for arguments in (("--resume", str(path)), ("-i", case_file(), "-o", str(path))):
                second = here.run(*arguments)
                assert (second.code, second.stdout) == (2, "")
                assert second.stderr == f"Error: Cannot write <home>/r.jsonl: {refused}"
            assert path.read_bytes() == before
            process.kill()
            process.communicate()
            assert results_in(path) == [(f"c{number}", "passed") for number in (0, 1, 4, 5)]
            server.default = echo()
            assert here.run("--resume", str(path)).code == 0
        assert_complete(path, IDS)
        assert len(server.requests) == 9
