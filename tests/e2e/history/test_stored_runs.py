"""`--store`: runs are stored in addition to their reports, even if the run, the store or the machine fails."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, eventually, unprivileged
from faults import lines_of

from runner.record.saved import load
from runner.store.database import TABLES
from runner.store.places import FILE, SCHEMA
from runner.store.store import Store
from runner.store.stored import CUT_SHORT, UNDER_WAY

CASES = [
    {"id": "good", "input": "say fine", "assert": {"type": "contains", "value": "fine"}},
    {"id": "bad", "input": "say no", "assert": {"type": "contains", "value": "yes"}},
    {"id": "off", "input": "x", "skip": "not now"},
]
FILES = {
    **agent(replies="- reply: 'heard {{ input }}'", cases=CASES),
    "some_test.ts": "export function TestA(t) { t.assert.True(true); }\nexport function TestB(t) { t.fatal('no'); }\n",
}
BOTH = ("-i", case_file(), "-i", "scripts.demo.some")


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app(FILES)


def kept(here: Application, folder: str = "store") -> Store:
    return Store(here.root / folder)


def test_a_run_is_kept_as_its_report_has_it(here: Application) -> None:
    run = here.run(*BOTH, "-o", "r.jsonl", "--store", "store")
    assert run.code == 1, run
    report = load(here.root / "r.jsonl")
    with kept(here) as store:
        (found,) = store.runs()
        again = store.report(found.id)
        assert (again.start, again.lines, again.summary) == (report.start, report.lines, report.summary)
        assert report.start.run_id == found.id
        assert (found.state, found.reports) == ("failed", ("r.jsonl",))
        assert found.counts == {"passed": 2, "failed": 2, "skipped": 1}
        results = {result.test: result for result in store.results(found.id)}
        assert results["bad"].verdict == "failed"
        assert results["bad"].cause == "assertion"
        assert results["bad"].suite == "assistants/demo/tests/cases.jsonl"
        assert (results["good"].passed, results["good"].judged, results["off"].judged) == (1, 1, 0)
        assert store.fingerprint(results["good"].made_of) == again.lines[0]["fingerprint"]
        line = store.line(results["bad"].seq)
        assert line == next(record for record in report.lines if record["id"] == "bad")


def test_each_run_of_a_test_is_kept_and_the_verdict_on_it(here: Application) -> None:
    here.run(*BOTH, "-o", "r.jsonl", "--store", "store", "--runs", "2")
    report = load(here.root / "r.jsonl")
    with kept(here) as store:
        again = store.report("latest")
        assert (again.lines, again.summary) == (report.lines, report.summary)
        results = [result for result in store.results(store.run("latest").id) if result.test == "good"]
        assert [(result.attempt, result.passed, result.judged) for result in results] == [
            (1, 1, 1),
            (2, 1, 1),
            (0, 2, 2),
        ]


def test_the_folder_of_an_application_is_its_store(here: Application) -> None:
    assert here.run("-i", "scripts.demo.some").code == 1
    assert not (here.root / ".yao-test").exists()
    (here.root / ".yao-test").mkdir()
    assert here.run("-i", "scripts.demo.some").code == 1
    assert here.run("-i", "tests", directory="assistants/demo").code == 1
    assert here.run("-i", case_file(), "--dry-run").code == 0
    with kept(here, ".yao-test") as store:
        assert [len(store.results(run.id)) for run in store.runs()] == [3, 2]
        assert len(store.over_time("assistants/demo/tests/cases.jsonl", "bad")) == 1


def test_several_commands_keep_their_runs_at_once(here: Application) -> None:
    (here.root / "a").mkdir()
    commands = [here.start(*BOTH, "--store", "store") for _ in range(4)]
    assert [here.finish(command).code for command in commands] == [1] * 4
    with kept(here) as store:
        assert [run.counts for run in store.runs()] == [{"passed": 2, "failed": 2, "skipped": 1}] * 4


def put_in_later(here: Application, said: str) -> None:
    """Does what a message says that puts a run into the store."""
    (again,) = re.findall(r"Then add the run to the store: yao-test (.*)\n", said)
    assert here.run(*again.replace("<app>", str(here.root)).split()).code in (0, 1)


@pytest.fixture
def temporary(here: Application, tmp_path: Path) -> Path:
    """The folder for temporary files of its commands."""
    here.temporary = tmp_path / "temporary"
    here.temporary.mkdir()
    return here.temporary


SLOW = "".join(
    f"export async function Test{n}(t) {{ await new Promise((go) => setTimeout(go, {0 if n < 3 else 60_000})); }}\n"
    for n in range(5)
)


def test_a_run_is_followed_killed_and_resumed_as_one(here: Application) -> None:
    here.write({"slow_test.ts": SLOW})
    run = ("-i", "scripts.demo.slow", "-o", "r.jsonl", "--store", "store")
    with here.start(*run) as command:
        eventually(lambda: (here.root / "store" / FILE).exists(), "the store is made")
        with kept(here) as store:
            (found,) = eventually(store.runs, "the run is in the store")
            seen = eventually(lambda: store.results(found.id)[2:] and store.results(found.id), "its results come")
            assert store.run(found.id).state == UNDER_WAY
            os.killpg(command.pid, signal.SIGKILL)
            command.wait()
            cut = eventually(lambda: (state := store.run(found.id)).state == CUT_SHORT and state, "it was cut short")
            assert (cut.reports, cut.ended_at) == (("r.jsonl",), None)
            assert [result.test for result in seen] == ["Test0", "Test1", "Test2"]
            assert store.report(found.id).summary["status"] == "interrupted"

            here.write(
                {"slow_test.ts": SLOW.replace("60000", "1").replace("Test2(t) {", "Test2(t) { t.fatal('now'); ")}
            )
            assert here.run("--resume", "r.jsonl", "--store", "store").code == 1
            (whole,) = store.runs()
            assert (whole.id, whole.session, whole.state) == (found.id, 1, "failed")
            assert whole.counts == {"passed": 4, "failed": 1}
            later = store.results(found.id, after=seen[-1].seq)
            assert {result.test for result in later} == {f"Test{n}" for n in range(5)}
            assert sorted(record["id"] for record in store.report(found.id).lines) == [f"Test{n}" for n in range(5)]
    assert lines_of(here.root / "r.jsonl")[0]["run_id"] == found.id


def test_a_run_without_a_report_that_was_killed_goes_on(here: Application) -> None:
    here.write({"slow_test.ts": SLOW})
    with here.start("-i", "scripts.demo.slow", "--store", "my store") as command:
        eventually(lambda: (here.root / "my store" / FILE).exists(), "the store is made")
        with kept(here, "my store") as store:
            (found,) = eventually(store.runs, "the run is in the store")
            eventually(lambda: store.results(found.id), "a test has ended")
            os.killpg(command.pid, signal.SIGKILL)
            command.wait()
    here.write({"slow_test.ts": SLOW.replace("60000", "1")})
    listed = here.run("store", "list", "--store", "my store").stdout
    (again,) = re.findall(r"was interrupted. To continue it: (.*)\n", listed)
    for part in again.split(" && "):
        assert here.run(*shlex.split(part)[1:]).code == 0, part
    with kept(here, "my store") as store:
        assert [(run.id, run.state, run.counts) for run in store.runs()] == [(found.id, "passed", {"passed": 5})]


def test_a_run_that_is_interrupted_says_so(here: Application) -> None:
    here.write({"slow_test.ts": SLOW})
    with here.start("-i", "scripts.demo.slow", "--store", "store") as command:
        eventually(lambda: (here.root / "store" / FILE).exists(), "the store is made")
        with kept(here) as store:
            (found,) = eventually(store.runs, "the run is in the store")
            eventually(lambda: store.results(found.id), "a test has ended")
            command.send_signal(signal.SIGINT)
            command.wait()
            assert command.returncode == 130
            assert store.run(found.id).state == "interrupted"
    listed = here.run("store", "list", "--store", "store").stdout
    assert re.search(rf"{found.id}  \S+ \S+  interrupted  \d+\n", listed), listed


def test_secrets_are_in_no_store(here: Application) -> None:
    secret = "sk-very-secret-4711"
    here.write(
        {"some_test.ts": f"export function TestA(t) {{ console.log('the key {secret}'); t.fatal('{secret}'); }}"}
    )
    here.run("-i", "scripts.demo.some", "--store", "store", env={**here.environment, "OPENAI_API_KEY": secret})
    with kept(here) as store:
        assert "the key ***" in store.text("latest")
    assert not any(secret.encode() in path.read_bytes() for path in (here.root / "store").rglob("*") if path.is_file())


def made(here: Application, version: int) -> Path:
    """A store of another version."""
    folder = here.root / "store"
    folder.mkdir()
    with closing(sqlite3.connect(folder / FILE)) as database:
        database.executescript(TABLES)
        database.execute("PRAGMA application_id = 0x79616F54")
        database.execute(f"PRAGMA user_version = {version}")
        database.execute(
            "INSERT INTO runs (id, session, started_at, reports, start) VALUES ('old', 0, '2026-01-01T00:00:00Z', '[]',"
            """ '{"type": "start", "timestamp": "2026-01-01T00:00:00Z", "suites": []}')"""
        )
        database.commit()
    return folder


def test_a_store_of_a_newer_version_is_left_alone(here: Application) -> None:
    folder = made(here, SCHEMA + 1)
    before = (folder / FILE).read_bytes()
    run = here.run(*BOTH, "-o", "r.jsonl", "--store", "store")
    assert run.code == 2
    assert run.stderr == (
        "Error: Cannot use the store <app>/store: it was written by a newer yao-test"
        f" (schema {SCHEMA + 1}, this version supports {SCHEMA})\n"
        "Hint: Update yao-test, or choose another folder with --store; nothing in it was changed\n"
    )
    assert (folder / FILE).read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [FILE]
    assert not (here.root / "r.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("store", b"a file", "it is not a folder"),
        (f"store/{FILE}", b"no database, and some bytes of it" * 10, f"its {FILE} was not written by yao-test"),
        (f"store/{FILE}", None, f"its {FILE} was not written by yao-test"),
    ],
)
def test_what_is_no_store_is_refused(here: Application, name: str, content: bytes | None, said: str) -> None:
    if content is None:  # of another program
        (here.root / "store").mkdir()
        with closing(sqlite3.connect(here.root / name)) as database:
            database.executescript("CREATE TABLE mine (a); PRAGMA application_id = 5")
    else:
        here.write({f"/{name}": content})
    run = here.run("-i", "scripts.demo.some", "--store", "store")
    assert run.code == 2
    assert f"Cannot use the store <app>/store: {said}\n" in run.stderr


def test_a_name_that_is_no_path_is_said(here: Application, temporary: Path) -> None:
    here.run("-i", "scripts.demo.some", "--store", "store")
    named, lists = "Error: Cannot use the store: its name is empty", "Error: Cannot use --store: it is empty"
    for command, said in (("store list --store=", lists), ("store merge '' store", named), ("history --store=", lists)):
        run = here.run(*shlex.split(command))
        assert (run.code, run.stderr.splitlines()[0]) == (2, said)
    assert not (here.root / FILE).exists()
    long = "x" * 300
    run = here.spawn("-i", "scripts.demo.some", "--store", long)
    assert run.code == 3
    assert f"Cannot use the store <app>/{long}: File name too long\n" in run.stdout
    assert len(list(temporary.iterdir())) == 1


def test_a_pipe_in_place_of_the_database_holds_nobody_up(here: Application) -> None:
    (here.root / "store").mkdir()
    os.mkfifo(here.root / "store" / FILE)
    run = here.run("-i", "scripts.demo.some", "--store", "store")
    assert (run.code, run.stderr.splitlines()[0]) == (
        2,
        f"Error: Cannot use the store <app>/store: its {FILE} is not a file",
    )


def test_a_folder_that_takes_nothing_costs_the_store_alone(here: Application) -> None:
    (here.root / "store").mkdir(mode=0o500)
    run = here.spawn(*BOTH, "-o", "r.jsonl", "--store", "store", prefix=unprivileged())
    assert run.code == 3
    assert "Cannot use the store <app>/store: " in run.stdout
    report = load(here.root / "r.jsonl")
    assert len(report.lines) == 5
    assert report.summary["total"] == 5


def test_a_folder_that_nobody_may_enter_is_said(here: Application) -> None:
    (here.root / "store").mkdir(mode=0o000)
    for command in (("store", "list"), ("history",), ("view",)):
        run = here.spawn(*command, "--store", "store", prefix=unprivileged())
        assert run.code == 2, run
        assert run.stderr == (
            "Error: Cannot use the store <app>/store: Permission denied\n"
            "Hint: Make the folder accessible, or choose another one with --store\n"
        )


def test_a_store_is_named_by_its_folder_or_its_file(here: Application) -> None:
    here.run(*BOTH, "--store", "store")
    file = here.root / "store" / FILE
    listed = here.run("store", "list", "--store", str(file))
    assert (listed.code, listed.stdout) == (0, here.run("store", "list", "--store", "store").stdout)
    restored = here.root / "restored.sqlite"
    restored.write_bytes(file.read_bytes())
    for arguments in (("history", "--store", "restored.sqlite"), ("store", "merge", "store", "restored.sqlite")):
        run = here.run(*arguments)
        assert (run.code, run.stderr) == (
            2,
            "Error: Cannot use the store <app>/restored.sqlite: it is not a folder\n"
            f"Hint: Put the file into a folder as {FILE}, and pass that folder\n",
        )


def test_a_store_that_cannot_be_written_is_read(here: Application) -> None:
    here.run(*BOTH, "--store", "store")
    folder = here.root / "store"
    for path in (folder / FILE, folder):
        path.chmod(path.stat().st_mode & ~0o222)
    code = (
        "import sys; from pathlib import Path; from runner.store.store import Store\n"
        "with Store(Path(sys.argv[1])) as store: print(len(store.report('latest').lines))"
    )
    said = subprocess.run(
        [*unprivileged(), sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False
    )
    folder.chmod(0o700)
    assert said.stdout == "5\n", said.stderr


def test_a_disk_that_takes_no_more_costs_the_store_alone(here: Application) -> None:
    run = here.spawn(*BOTH, "-o", "r.jsonl", "--store", "store", prefix=("/usr/bin/prlimit", "--fsize=30000"))
    assert run.code == 3, run
    assert "Cannot use the store <app>/store: writing to the disk" in run.stdout
    assert len(load(here.root / "r.jsonl").lines) == 5
    put_in_later(here, run.stdout)
    listed = here.run("store", "list", "--store", "store").stdout
    assert listed.endswith("\n1 run\n")


@pytest.mark.parametrize("output", [(), ("-o", "r.json")])
def test_a_run_without_a_report_to_resume_has_a_spare_one(
    here: Application, temporary: Path, output: tuple[str, ...]
) -> None:
    prefix = ("/usr/bin/prlimit", "--fsize=30000")
    run = here.spawn("-i", "scripts.demo.some", *output, "--store", "store", prefix=prefix)
    assert run.code == 3, run
    assert "Cannot use the store <app>/store: writing to the disk" in run.stdout
    (spare,) = temporary.iterdir()
    assert spare.stat().st_mode & 0o077 == 0
    put_in_later(here, run.stdout)
    with kept(here) as store:
        (found,) = store.runs()
        assert (found.state, found.counts) == ("failed", {"passed": 1, "failed": 1})
        assert found.start.run_id == found.id == load(spare).start.run_id


def test_a_spare_report_goes_where_it_can_be_written(here: Application, temporary: Path) -> None:
    (here.root / "store").mkdir(mode=0o500)
    temporary.chmod(0o500)
    command = ("-i", "scripts.demo.some", "--store", "store")
    run = here.spawn(*command, prefix=unprivileged())
    assert run.code == 3, run
    (here.root / "store").chmod(0o700)
    put_in_later(here, run.stdout)
    (spare,) = re.findall(r"--resume (\S+) --store", run.stdout)
    Path(spare.replace("<app>", str(here.root))).unlink()
    with kept(here) as store:
        assert [found.counts for found in store.runs()] == [{"passed": 1, "failed": 1}]


@pytest.mark.parametrize("what", ["removed", "moved", "damaged"])
def test_a_store_that_breaks_during_a_run_costs_no_result(here: Application, temporary: Path, what: str) -> None:
    here.write({"slow_test.ts": SLOW.replace("60000", "1000")})
    folder = here.root / "store"
    with here.start("-i", "scripts.demo.slow", "--store", "store") as command:
        eventually(lambda: (folder / FILE).exists(), "the store is made")
        with kept(here) as store:
            (found,) = eventually(store.runs, "the run is in the store")
            eventually(lambda: store.results(found.id), "a test has ended")
        if what == "removed":
            shutil.rmtree(folder)
        elif what == "moved":
            folder.rename(here.root / "elsewhere")
        else:
            for path in (folder / FILE, folder / f"{FILE}-wal"):
                path.write_bytes(b"\xa5" * path.stat().st_size)
        run = here.finish(command)
    assert run.code == 3, run
    if what == "damaged":
        assert re.search(
            r"Error: Cannot use the store <app>/store: (it is damaged|its .* is not a database)\n", run.stdout
        )
        folder.rename(here.root / "elsewhere")
    else:
        assert "Error: The run is not in the store <app>/store: the store was removed, moved or replaced" in run.stdout
    put_in_later(here, run.stdout)
    with kept(here) as store:
        assert [(run.id, run.counts) for run in store.runs()] == [(found.id, {"passed": 5})]


NOISE = """
    export function TestNoise(t) {
        let text = "";
        for (let x = 1, i = 0; i < 5000; i++) { x = (x * 1103515245 + 12345) % 2147483648; text += x.toString(36); }
        console.log(text);
    }
"""


def test_what_can_be_read_of_a_damaged_store_is_merged(here: Application) -> None:
    for _ in range(2):
        here.run("-i", "scripts.demo.some", "--store", "bad")
    here.write({"some_test.ts": NOISE})
    here.run("-i", "scripts.demo.some", "--store", "bad")
    here.run("-i", "scripts.demo.some", "--store", "other")
    path = here.root / "bad" / FILE
    with closing(sqlite3.connect(path)) as database:
        ((line,),) = database.execute("SELECT line FROM results ORDER BY length(line) DESC LIMIT 1").fetchall()
    content = path.read_bytes()
    found = (content.find(line[at : at + 40]) for at in range(len(line) // 2, len(line), 40))
    page = next(at for at in found if at > 0) // 4096 * 4096
    path.write_bytes(content[:page] + b"\xa5" * 4096 + content[page + 4096 :])
    merged = here.run("store", "merge", "good", "bad", "other")
    assert merged == (
        2,
        "bad: 2 runs added\nother: 1 run added\n",
        "Error: Cannot read 1 run of bad: damaged\nHint: All other runs were copied\n",
    )
    with kept(here, "good") as store:
        assert [len(store.report(run.id).lines) for run in store.runs()] == [1, 2, 2]


def test_a_damaged_store_costs_the_store_alone(here: Application) -> None:
    here.run(*BOTH, "--store", "store")
    path = here.root / "store" / FILE
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    run = here.run(*BOTH, "-o", "r.jsonl", "--store", "store")
    assert run.code == 3
    assert "Cannot use the store <app>/store: it is damaged\n" in run.stdout
    assert len(load(here.root / "r.jsonl").lines) == 5
