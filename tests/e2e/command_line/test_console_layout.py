"""How much the console shows: one module, several, with `--verbose` and with `--quiet`."""

from __future__ import annotations

import re

import pytest
from command import Application, MakeApplication

# -q, -v

PASSING = "export function TestPasses(t) {}\n"
LOUD = """
    export function TestPasses(t) { t.log("from passing"); console.warn("careful"); }
    export function TestFails(t) { t.log("from failing"); t.assert.Equal([1, 2], [1, 3], "lists"); }
    export function TestSkips(t) { t.skip("no network"); }
"""
RULE = "═" * 79
LINE = "─" * 79
FAILURE = [
    "✗ scripts.demo.a › TestFails",
    "  └─ assertion failed: lists",
    "     - expected + actual",
    "       [",
    "         1,",
    "     -   3,",
    "     +   2,",
    "       ]",
]


def without_times(text: str) -> list[str]:
    return re.sub(r"\d+(\.\d+)?m?s\b", "0ms", text).splitlines()


@pytest.fixture(scope="module")
def loud(shared_app: MakeApplication) -> Application:
    return shared_app(
        {"a_test.ts": LOUD, "quiet/b_test.ts": PASSING, "quiet/c_test.ts": "export function TestS(t) { t.skip(); }\n"}
    )


def test_one_module_is_shown_test_by_test(loud: Application) -> None:
    lines = without_times(loud.run("-i", "scripts.demo.a", "-u", "ann", "-t", "ops").stdout)
    assert lines[: lines.index("    └─ assertion failed: lists")] == [
        RULE,
        "  Script Test: scripts.demo.a",
        RULE,
        "  Script: demo/src/a_test.ts",
        "  Tests: 3 functions",
        "  User: ann",
        "  Team: ops",
        LINE,
        "  Running Tests",
        LINE,
        "► [TestPasses] ...",
        "  ✓ PASSED (0ms)",
        "",
        "► [TestFails] ...",
        "  ✗ FAILED (0ms)",
        "    from failing",
    ]
    skipped = lines.index("► [TestSkips] ...")
    assert lines[skipped : skipped + 4] == [
        "► [TestSkips] ...",
        "  ○ SKIPPED (0ms)",
        "    └─ no network",
        "",
    ]
    assert [line[2:] for line in lines[:skipped] if line[2:] in FAILURE] == [line for line in FAILURE if line[0] == " "]
    assert lines[-4:] == [
        "",
        RULE,
        "  Summary: 1 passed, 1 failed, 1 skipped (0ms)",
        RULE,
    ]
    assert lines[skipped - 2] == "  Rerun: yao-test -i scripts.demo.a --run '^TestFails$' --user ann --team ops"


def test_verbose_shows_the_output_of_passing_tests_and_the_number_of_assertions(loud: Application) -> None:
    lines = without_times(loud.run("-i", "scripts.demo.a", "-v").stdout)
    start = lines.index("► [TestPasses] ...")
    assert lines[start : start + 5] == [
        "► [TestPasses] ...",
        "  ✓ PASSED (0ms)",
        "    from passing",
        "    [warn] careful",
        "",
    ]
    assert any(re.fullmatch(r"  ✗ FAILED \(0ms, 1 assertions?\)", line) for line in lines)


def test_several_modules_take_a_line_each(loud: Application) -> None:
    lines = without_times(loud.run("-i", "scripts.demo").stdout)
    assert lines[:4] == [
        "✗ scripts.demo.a  1 passed, 1 failed, 1 skipped (0ms)",
        "✓ scripts.demo.quiet.b  1 passed (0ms)",
        "○ scripts.demo.quiet.c  1 skipped (0ms)",
        RULE,
    ]
    assert "     from failing" in lines
    assert lines[-2] == "  Summary: 2 passed, 1 failed, 2 skipped (0ms) in 3 modules"


def test_several_modules_are_shown_in_full_with_verbose(loud: Application) -> None:
    lines = loud.run("-i", "scripts.demo", "-v").stdout.splitlines()
    assert [line for line in lines if line.startswith("  Script Test:")] == [
        "  Script Test: scripts.demo.a",
        "  Script Test: scripts.demo.quiet.b",
        "  Script Test: scripts.demo.quiet.c",
    ]


def test_quiet_shows_failures_and_the_summary(loud: Application) -> None:
    lines = without_times(loud.run("-i", "scripts.demo", "-q").stdout)
    assert lines[:4] == [RULE, "  Failures", RULE, "✗ scripts.demo.a › TestFails"]
    assert lines[-3:] == [RULE, "  Summary: 2 passed, 1 failed, 2 skipped (0ms) in 3 modules", RULE]
    passing = without_times(loud.run("-i", "scripts.demo.quiet.b", "-q").stdout)
    assert passing == [RULE, "  Summary: 1 passed, 0 failed, 0 skipped (0ms)", RULE]


def test_there_are_no_colours_in_a_pipe(loud: Application) -> None:
    assert "\x1b" not in loud.run("-i", "scripts.demo").stdout
