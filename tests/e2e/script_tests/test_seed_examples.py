"""The script section of seed 004: every example works as it is written, by the real command.

The application is the one in `tests/apps/seed_004`; `test_seed_documents.py` has one made of the blocks of a document.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import Application, given_time
from seed_004 import ASSERTIONS, DOUBLE, HEADER, copied, shown, without_times


@pytest.fixture
def own(tmp_path: Path) -> Application:
    return copied(tmp_path)


def test_a_module_that_passes_prints_the_layout_of_the_seed_and_nothing_else(own: Application) -> None:
    run = own.run("-i", "scripts.expense.setup")

    tests = "".join(
        f"► [{name}] ...\n  ✓ PASSED (0ms)\n\n"
        for name in (
            "TestSystemReady",
            "TestSystemReadyWithInvalidContext",
            "TestSetupWithMockData",
            "TestFeatureA",
            "TestSetupWithMissingConfig",
            "TestWithGlobalState",
        )
    )
    summary = f"{DOUBLE}\n  Summary: 6 passed, 0 failed, 0 skipped (0ms)\n{DOUBLE}\n"
    assert (run.code, without_times(run.stdout), run.stderr) == (0, HEADER + tests + summary, "")


def test_functions_that_do_not_start_with_test_are_no_tests(own: Application) -> None:
    names = [record["name"] for record in own.report("-i", "scripts.expense.setup")["results"]]

    assert "createMockData" not in names
    assert "testLowerCase" not in names


def test_helpers_of_the_application_are_imported_by_their_alias(own: Application) -> None:
    assert own.report("-i", "scripts.expense.tools")["summary"] | {"duration_ms": 0} == {
        "total": 3,
        "passed": 3,
        "failed": 0,
        "skipped": 0,
        "duration_ms": 0,
    }


def test_the_context_of_a_test_has_the_defaults_of_the_seed(own: Application) -> None:
    assert shown(own) == {
        "User": {"ID": "test-user"},
        "Team": {"ID": "test-team"},
        "Locale": "en-us",
        "Client": {"Type": "test", "IP": "127.0.0.1"},
        "Metadata": {},
        "ChatID": "script-test-TestContextIsShown",
        "AssistantID": "expense",
        "authorized": {"sub": "test-user", "user_id": "test-user", "team_id": "test-team", "tenant_id": "test-team"},
        "client": {"type": "test", "user_agent": "yao-agent-test/1.0", "ip": "127.0.0.1"},
        "referer": "test",
    }


def test_user_and_team_of_the_command_line_reach_the_header_the_context_and_the_report(own: Application) -> None:
    arguments = ("-i", "scripts.expense.tools", "-u", "admin", "-t", "ops-team")

    assert "  User: admin\n  Team: ops-team\n" in own.run(*arguments).stdout
    context = shown(own, *arguments[2:])
    assert (context["User"], context["Team"]) == ({"ID": "admin"}, {"ID": "ops-team"})
    assert own.report(*arguments)["environment"] == {"user_id": "admin", "team_id": "ops-team", "locale": "en-us"}


def test_the_context_file_wins_over_user_and_team(own: Application) -> None:
    context = "assistants/expense/tests/context.json"
    arguments = ("--ctx", context, "-u", "admin", "-t", "ops-team")

    seen = shown(own, *arguments)
    given = json.loads((own.root / context).read_text("utf-8"))
    assert seen == {
        "User": {"ID": "olga"},
        "Team": {"ID": "treasury"},
        "Locale": "zh-cn",
        "Client": {"Type": "mobile", "IP": "10.1.2.3"},
        "Metadata": given["metadata"],
        "ChatID": "script-test-TestContextIsShown",
        "AssistantID": "expense",
        "authorized": given["authorized"],
        "client": given["client"],
        "referer": "https://example.com/inbox",
    }
    run = own.run("-i", "scripts.expense.tools", *arguments)
    assert "  User: olga\n  Team: treasury\n" in run.stdout


def test_a_context_file_that_names_no_user_leaves_the_one_of_the_command_line(own: Application) -> None:
    own.write({"/part.json": '{"authorized": {"team_id": "treasury"}, "metadata": {"a": 1}}'})

    context = shown(own, "--ctx", "part.json", "-u", "admin", "-t", "ops-team")

    assert (context["User"], context["Team"]) == ({"ID": "admin"}, {"ID": "treasury"})
    assert context["Metadata"] == {"a": 1}
    assert context["authorized"]["tenant_id"] == "treasury"


@pytest.mark.parametrize(
    ("pattern", "tests"),
    [
        ("TestSystemReady", ["TestSystemReady", "TestSystemReadyWithInvalidContext"]),
        ("^TestSystemReady$", ["TestSystemReady"]),
        ("TestSystem.*", ["TestSystemReady", "TestSystemReadyWithInvalidContext"]),
        ("With(Mock|Global)", ["TestSetupWithMockData", "TestWithGlobalState"]),
        ("(?i)featurea", ["TestFeatureA"]),
    ],
)
@pytest.mark.parametrize("flag", ["--run", "-run"])
def test_run_picks_tests_as_go_test_does(own: Application, flag: str, pattern: str, tests: list[str]) -> None:
    report = own.report("-i", "scripts.expense.setup", flag, pattern, code=0)

    assert [record["name"] for record in report["results"]] == tests
    assert report["summary"]["total"] == len(tests)


def test_a_pattern_that_picks_nothing_is_an_error(own: Application) -> None:
    run = own.run("-i", "scripts.expense.setup", "--run", ".*Error.*")

    assert (run.code, run.stderr.splitlines()[0]) == (2, "Error: No test or case matches --run .*Error.*")


def test_timeout_bounds_each_test_and_the_next_one_runs(own: Application) -> None:
    own.write(
        {
            "/assistants/expense/src/slow_test.ts": """\
                function TestEndless(t) { while (true); }
                async function TestWaits(t) { await new Promise((done) => setTimeout(done, 60_000)); }
                function TestNext(t) { t.assert.True(true); }
            """
        }
    )
    results = given_time(
        lambda time: own.results("-i", "scripts.expense.slow", "--timeout", time, code=1), 0.3, "TestNext"
    )

    assert [
        (name, record["status"], re.sub(r"[\d.]+", "N", record.get("error") or "")) for name, record in results.items()
    ] == [
        ("TestEndless", "failed", "timeout after Ns"),
        ("TestWaits", "failed", "timeout after Ns"),
        ("TestNext", "passed", ""),
    ]


def test_fail_fast_stops_at_the_first_failure(own: Application) -> None:
    own.write(
        {
            "/assistants/expense/src/order_test.ts": """\
                function TestFirst(t) { t.assert.True(true); }
                function TestSecond(t) { t.assert.True(false); }
                function TestThird(t) { t.assert.True(true); }
            """
        }
    )
    everything = own.report("-i", "scripts.expense.order", code=1)
    stopped = own.report("-i", "scripts.expense.order", "--fail-fast", code=1)

    assert [record["status"] for record in everything["results"]] == ["passed", "failed", "passed"]
    assert [record["name"] for record in stopped["results"]] == ["TestFirst", "TestSecond"]


def test_without_an_output_flag_no_file_is_written(own: Application) -> None:
    before = own.listing()
    assert own.run("-i", "scripts.expense.setup").code == 0
    assert own.listing() == before


def test_skip_fail_fatal_log_and_error_do_what_the_table_says(own: Application) -> None:
    own.write(
        {
            "/assistants/expense/src/control_test.ts": """\
                function TestLog(t) { t.log("one", { two: 2 }); t.log(t.name, t.failed); }
                function TestError(t) { t.error("went wrong:", 3); t.log("and on", t.failed); }
                function TestSkip(t) { t.skip("not today"); t.log("never"); }
                function TestFail(t) { t.fail("no good"); t.log("and on", t.failed); }
                function TestFatal(t) { t.fatal("no use"); t.log("never"); }
            """
        }
    )
    results = own.report("-i", "scripts.expense.control", code=1)["results"]

    ends = [(record["status"], record.get("error") or record.get("skip_reason"), record["logs"]) for record in results]
    assert ends == [
        ("passed", None, ["one {two: 2}", "TestLog false"]),
        ("failed", "went wrong: 3", ["[error] went wrong: 3", "and on true"]),
        ("skipped", "not today", []),
        ("failed", "no good", ["and on true"]),
        ("failed", "no use", []),
    ]


def test_skips_alone_pass_and_are_counted(own: Application) -> None:
    own.write({"/assistants/expense/src/later_test.ts": 'function TestLater(t) { t.skip("not yet"); }'})

    run = own.run("-i", "scripts.expense.later")

    assert run.code == 0
    assert "► [TestLater] ...\n  ○ SKIPPED (0ms)\n    └─ not yet\n" in without_times(run.stdout)
    assert "  Summary: 0 passed, 0 failed, 1 skipped (0ms)\n" in without_times(run.stdout)


def test_every_assertion_of_the_table_passes_and_fails(own: Application) -> None:
    source = "".join(
        f"function Test{name}Holds(t) {{ t.assert.{name}({holds}, 'the message'); }}\n"
        f"function Test{name}Fails(t) {{ t.assert.{name}({fails}, 'the message'); }}\n"
        for name, (holds, fails) in ASSERTIONS.items()
    )
    own.write({"/assistants/expense/src/table_test.ts": source})

    found = [
        (record["name"], record["status"], record.get("error"), record.get("assertion", {}).get("type"))
        for record in own.report("-i", "scripts.expense.table", code=1)["results"]
    ]

    expected: list[tuple[str, str, str | None, str | None]] = []
    for name in ASSERTIONS:
        expected.append((f"Test{name}Holds", "passed", None, None))
        expected.append((f"Test{name}Fails", "failed", "assertion failed: the message", name))
    assert found == expected
