"""What a store keeps of runs of other kinds: watched ones, searches, benchmarks, and runs of pytest."""

from __future__ import annotations

from command import Application, MakeApplication
from pytest_command import run as run_pytest
from terminal import on_open_terminal

from runner.store.store import Store
from runner.store.stored import StoredRun

WAITING = r"Waiting for changes.*\n"
FILES = {
    "/.yao-test/.keep": "",
    "a_test.ts": "export function TestA(t) { t.assert.True(true); }\n",
    "b_test.ts": "export function TestB(t) {}\n"
    "export function FuzzB(f) { f.add('x'); f.fuzz((t, text) => t.assert.True(text.length < 3)); }\n"
    "export function BenchmarkB(b) { while (b.loop()); }\n",
}


def kept(here: Application) -> list[tuple[StoredRun, list[str]]]:
    """The runs, the first one first, with the tests that have results, in the order of their names."""
    with Store(here.root / ".yao-test") as store:
        return [(run, sorted(one.test for one in store.results(run.id))) for run in reversed(store.runs())]


def test_each_run_of_watching_is_kept(app: MakeApplication) -> None:
    here = app(FILES)
    with on_open_terminal(here, "--watch") as terminal:
        terminal.wait(WAITING)
        here.write({"a_test.ts": "export function TestA(t) { t.fatal('no'); }\n"})
        terminal.wait(WAITING)
    assert [(run.state, tests) for run, tests in kept(here)] == [
        ("passed", ["FuzzB", "TestA", "TestB"]),
        ("failed", ["TestA"]),
    ]
    assert "TestB" in here.run("history").stdout


def test_the_verdict_on_a_search_is_kept(app: MakeApplication) -> None:
    here = app(FILES)
    assert here.run("-i", "scripts.demo.b", "--fuzz", "FuzzB", "--fuzz-time", "20s").code == 1
    assert here.run("-i", "scripts.demo.b").code == 1  # by what was found
    assert [(run.counts, tests) for run, tests in kept(here)] == [
        ({"failed": 1}, ["FuzzB"]),
        ({"failed": 1, "passed": 1}, ["FuzzB", "TestB"]),
    ]


def test_measurements_and_runs_of_pytest_are_not_kept(app: MakeApplication) -> None:
    here = app(FILES | {"a_test.ts": "export function BenchmarkA(b) { b.fail('no'); while (b.loop()); }\n"})
    assert here.run("-i", "scripts.demo.*", "--bench", ".", "--bench-time", "2ms").code == 1
    _, output = run_pytest(here)
    assert "2 passed" in output, output
    assert here.run("-i", "scripts.demo.*", "--dry-run").code == 0
    assert [path.name for path in (here.root / ".yao-test").iterdir()] == [".keep"]
    named = here.run("-i", "scripts.demo.a", "--bench", ".", "--store", "x")
    assert named.code == 2
    assert "--store" in named.stderr

    (here.root / ".yao-test/.keep").unlink()
    (here.root / ".yao-test").rmdir()
    assert here.run("-i", "scripts.demo.*", "--bench", ".", "--bench-time", "2ms").code == 1
    assert "2 passed" in here.run("-i", "scripts.demo.*", "--last-failed").stdout  # no other run knows a benchmark


def test_a_fuzz_test_that_failed_is_known_until_it_runs_again(app: MakeApplication) -> None:
    here = app(
        {
            "a_test.ts": """
                export function TestA(t) {}
                export function FuzzB(f) { f.add(1); f.fuzz((t, n) => t.assert.Equal(n, 2)) }
            """,
            "/.yao-test/.keep": "",
        }
    )
    assert here.run("-i", "scripts.demo.a").code == 1
    assert here.run("-i", "scripts.demo.a", "--run", "TestA").code == 0

    again = here.run("-i", "scripts.demo.a", "--last-failed", "--dry-run")

    assert "FuzzB" in again.stdout
    assert "TestA" not in again.stdout
