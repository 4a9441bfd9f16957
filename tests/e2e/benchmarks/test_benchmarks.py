"""`--bench`: what is measured, Go's lines, and comparing with a baseline."""

from __future__ import annotations

import re
import shlex

import pytest
from command import Application, MakeApplication, Run, on_terminal

LINE = re.compile(r"Benchmark\S+-?\d*\s+\d+\s+[\d.]+ ns/op\s+[\d.]+ calls/op(\s+[\d.]+ \S+)*")
WORK = "export function Work(n: number) { let sum = 0; for (let i = 0; i < n; i++) sum += i; return sum; }\n"
TEST = """\
import { Work } from "./work";
export function BenchmarkWork(b: testing.B, ctx) { if (!ctx.User.ID) b.fail(); while (b.loop()) Work(10); }
export function BenchmarkCalls(b) {
  b.mock.process("models.x.Get", 1);
  while (b.loop()) { Process("models.x.Get"); Process("models.x.Get"); b.stopTimer(); Process("models.x.Get"); b.startTimer(); }
  b.reportMetric(2.5, "tokens/op");
}
export async function BenchmarkLater(b) { while (b.loop()) await Promise.resolve(1); }
export async function BenchmarkSubs(b) {
  b.run("one row", (b) => { while (b.loop()) Work(1); });
  await b.run("many-2", async (b) => { while (b.loop()) Work(100); });
}
export function BenchmarkStopped(b) { b.mock.now("2025-01-01T00:00:00Z"); while (b.loop()) { Date.now(); b.mock.advance(60000); } }
export function BenchmarkSkipped(b) { b.skip("not today"); }
export function TestPlain(t) { console.log("a test runs"); t.fail("no"); }
export function FuzzPlain(f) { f.fail("no"); }
export function Benchmarks() {}
"""
BROKEN = """\
export function BenchmarkThrows(b) { while (b.loop()) throw new Error("slow and wrong"); }
export function BenchmarkLeaves(b) { while (b.loop()) break; }
export function BenchmarkNoLoop(b) {}
export function BenchmarkTwice(b) { while (b.loop()); while (b.loop()); }
export function BenchmarkAssert(b) { while (b.loop()) b.assert.Equal(1, 2); }
export function BenchmarkGood(b) { while (b.loop()); }
"""


def bench(app: Application, *more: str, module: str = "scripts.demo.work") -> Run:
    return app.run("-i", module, "--bench", ".", "--bench-time", "2ms", *more)


@pytest.fixture(scope="module")
def shop(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            "work.ts": WORK,
            "work_test.ts": TEST,
            "broken_test.ts": BROKEN,
            "/assistants/demo/tests/a.jsonl": '{"id": "a", "input": "x"}',
        }
    )


@pytest.fixture(scope="module")
def measured(shop: Application) -> Run:
    return bench(shop, "--count", "2")


def test_standard_output_is_lines_of_benchmarks(measured: Run) -> None:
    assert measured.code == 0, measured
    lines = measured.stdout.splitlines()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    names = [re.sub(r"-\d+$", "", line.split()[0]) for line in lines]
    assert names == [
        *["BenchmarkWork"] * 2,
        *["BenchmarkCalls"] * 2,
        *["BenchmarkLater"] * 2,
        *["BenchmarkSubs/one_row", "BenchmarkSubs/many-2"] * 2,
        *["BenchmarkStopped"] * 2,
    ]
    assert "5 passed, 0 failed, 1 skipped" in measured.stderr


def test_each_run_has_a_world_of_its_own(shared_app: MakeApplication) -> None:
    test = (
        "export function BenchmarkFresh(b) {\n"
        "  b.assert.Nil(Process('session.Get', 'left')); Process('session.Set', 'left', 1);\n"
        "  while (b.loop()); }\n"
    )
    app = shared_app({"work_test.ts": test})
    run = bench(app, "--count", "3")
    assert (run.code, len(run.stdout.splitlines())) == (0, 3), run


def test_names_and_units_are_words(shared_app: MakeApplication) -> None:
    """As the format asks: fields are parted by white space, of Unicode too."""
    test = (
        "export function BenchmarkNames(b) { for (const name of ['a\\tb\\nc', '\\u2003x\\u0000', '', '2 rows-8'])\n"
        "  b.run(name, (b) => { while (b.loop()); b.reportMetric(1e300, 'µs/op'); b.reportMetric(-1e-20, 'x'); }); }\n"
        "export function BenchmarkUnits(b) { while (b.loop()); b.reportMetric(1, 'a\\tb'); }\n"
        "export function BenchmarkUnit(b) { while (b.loop()); b.reportMetric(1, '\\u2003'); }\n"
    )
    app = shared_app({"work_test.ts": test})
    run = bench(app, "-q")
    assert (run.code, run.stderr.count('b.reportMetric takes (number, unit), such as (12, "tokens/op")')) == (1, 2), run
    lines = run.stdout.split("\n")
    assert lines.pop() == ""
    names = [re.sub(r"-\d+$", "", line.split()[0]) for line in lines]
    assert names == [f"BenchmarkNames/{name}" for name in ("a_b_c", "_x\\x00", "#00", "2_rows-8")]
    assert [len(line.split()) for line in lines] == [10] * 4


def test_the_command_that_runs_it_again(shop: Application) -> None:
    run = bench(shop, module="scripts.demo.broken")
    again = re.search(r"Rerun: yao-test (.*BenchmarkLeaves.*)", run.stderr)
    assert again and again[1] == "-i scripts.demo.broken --bench '^BenchmarkLeaves$'", run.stderr
    assert "0 passed, 1 failed" in shop.run(*shlex.split(again[1])).stderr


def test_on_a_terminal_a_line_stands_alone(shop: Application) -> None:
    """What runs now is shown below it, and is away while it is written."""
    code, output = on_terminal(shop, "-i", "scripts.demo.work", "--bench", "^BenchmarkWork$", "--bench-time", "500ms")
    assert (code, "0 of 1 done" in output) == (0, True), output
    (line,) = (line for line in output.split("\n") if "ns/op" in line)
    assert re.fullmatch(rf"(.*\r\x1b\[K)?{LINE.pattern}", line), repr(line)


def test_what_is_counted(measured: Run) -> None:
    fields = {line.split("-")[0]: line.split()[1:] for line in measured.stdout.splitlines()}
    assert fields["BenchmarkCalls"][3:] == ["2", "calls/op", "2.500", "tokens/op"]
    assert fields["BenchmarkWork"][3:] == ["0", "calls/op"]
    assert int(fields["BenchmarkWork"][0]) > 10


def test_a_plain_run_knows_no_benchmarks(shop: Application) -> None:
    report = shop.results("-i", "scripts.demo.work", code=1)
    assert report.keys() == {"TestPlain", "FuzzPlain"}


def test_failures_fail_the_run(shop: Application) -> None:
    run = bench(shop, module="scripts.demo.broken")
    assert run.code == 1
    assert [line.split("-")[0].split()[0] for line in run.stdout.splitlines()] == ["BenchmarkGood"]
    for said in (
        "Error: slow and wrong",
        "at assistants/demo/src/broken_test.ts:1:",
        "BenchmarkLeaves left its loop before b.loop() returned false",
        "BenchmarkNoLoop ended without while (b.loop()) { ... }",
        "b.loop has ended: a benchmark can have only one loop",
        "Not equal",
        "1 passed, 5 failed",
    ):
        assert said.removeprefix("Error: ") in run.stderr, said
    assert run.stderr.count("└─ assertion failed: Not equal") == 1  # not one for each round


def test_a_snapshot_is_taken_outside_of_the_loop(shared_app: MakeApplication) -> None:
    code = """\
export function BenchmarkOutside(b) { b.snapshot(1); while (b.loop()); b.snapshot(2); b.snapshot.inline(3, `3`); }
export function BenchmarkInside(b) { while (b.loop()) b.snapshot(1); }
export function BenchmarkInline(b) { while (b.loop()) b.snapshot.inline(1); }
"""
    app = shared_app({"s_test.ts": code})
    run = bench(app, module="scripts.demo.s")
    assert run.code == 1
    assert run.stderr.count("└─ a snapshot in the loop of a benchmark would be taken in every round") == 2
    stored = (app.root / "assistants/demo/src/__snapshots__/s_test.ts.snap").read_text()
    assert stored.count("[Benchmark") == 2
    assert (app.root / "assistants/demo/src/s_test.ts").read_text() == code


def test_modules_are_packages(shop: Application) -> None:
    run = shop.run("-i", "assistants", "--bench", "Work|Good|Subs/one", "--bench-time", "2ms")
    found = [re.sub(r"-\d+\s.*", "", line) for line in run.stdout.splitlines()]
    assert (run.code, found) == (
        0,
        [
            "pkg: scripts.demo.broken",
            "BenchmarkGood",
            "pkg: scripts.demo.work",
            "BenchmarkWork",
            "BenchmarkSubs/one_row",
        ],
    )


def test_nothing_matches(shop: Application) -> None:
    run = shop.run("-i", "scripts.demo.work", "--bench", "Wurk")
    assert (run.code, run.stdout) == (2, "")
    assert "matches --bench Wurk" in run.stderr and "BenchmarkWork" in run.stderr


def baseline(app: Application, nanoseconds: float, runs: int = 6, calls: int = 0, name: str = "BenchmarkWork-8") -> str:
    lines = [f"{name}\t 1000\t {nanoseconds + number} ns/op\t {calls} calls/op" for number in range(runs)]
    path = app.home / "old.txt"
    path.write_text("\n".join(["goos: linux", *lines, "PASS", "ok  \tdemo\t1.2s", ""]))
    return str(path)


def against(app: Application, old: str, *more: str) -> Run:
    return app.run(
        "-i",
        "scripts.demo.work",
        "--bench",
        "^BenchmarkWork$",
        "--bench-time",
        "1ms",
        "--count",
        "6",
        "--baseline",
        old,
        *more,
    )


def test_slower_than_the_baseline_fails(shop: Application) -> None:
    run = against(shop, baseline(shop, 1))
    assert run.code == 1, run
    assert len(run.stdout.splitlines()) == 6
    assert re.search(r"^  BenchmarkWork ns/op +3\.5 ± \d+% .*\+[\d.]+%  \(p=0\.002 n=6\+6\)$", run.stderr, re.M), (
        run.stderr
    )
    assert re.search(r"^Regressed: BenchmarkWork by [\d,.]+% ns/op, more than --bench-threshold 10%$", run.stderr, re.M)


def test_faster_is_fine(shop: Application) -> None:
    run = against(shop, baseline(shop, 10**9))
    assert run.code == 0, run
    assert re.search(r"^  BenchmarkWork ns/op .* -\d", run.stderr, re.M)


def test_a_threshold_allows_more(shop: Application) -> None:
    assert against(shop, baseline(shop, 1), "--bench-threshold", "10000000%").code == 0


def test_more_calls_are_worse_too(shop: Application) -> None:
    old = baseline(shop, 10**9, calls=1, name="BenchmarkCalls")
    run = shop.run(
        "-i", "scripts.demo.work", "--bench", "Calls", "--bench-time", "1ms", "--count", "6", "--baseline", old
    )
    assert run.code == 1
    assert "Regressed: BenchmarkCalls by 100.0% calls/op" in run.stderr


def test_few_runs_prove_nothing(shop: Application) -> None:
    run = shop.run(
        "-i",
        "scripts.demo.work",
        "--bench",
        "Work|Later",
        "--bench-time",
        "1ms",
        "--baseline",
        baseline(shop, 1, runs=2),
    )
    assert run.code == 0, run
    assert "Fewer than 4 runs per side cannot tell a change from noise: use --count 6 on both sides" in run.stderr
    assert "BenchmarkLater is not in the baseline" in run.stderr


def test_a_baseline_that_cannot_be_used(shop: Application) -> None:
    (shop.home / "empty.txt").write_text("PASS\n")
    missing = against(shop, "nowhere.txt")
    assert (missing.code, missing.stdout) == (2, "")
    assert missing.stderr.startswith("Error: Cannot read --baseline nowhere.txt: No such file or directory")
    empty = against(shop, str(shop.home / "empty.txt"))
    assert empty.code == 2
    assert (
        "it has no benchmark results\nHint: Create it with: yao-test --bench '^BenchmarkWork$' --count 6 > "
        in empty.stderr
    )
    assert shop.run("--bench-threshold", "5%").stderr.startswith("Error: --bench-threshold needs --baseline")
    assert against(shop, "x", "--bench-threshold", "ten").stderr.startswith('Error: Cannot use --bench-threshold "ten"')
