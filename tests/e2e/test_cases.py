"""Cases by the real command: their fields, hooks and inputs, what is written, and how a run ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, errors, outputs, run_cases, server
from command import MakeApplication, Record, eventually
from model_server import ModelServer, status

SHOWS_CONTEXT = """\
function Next(ctx) {
  const { authorized, metadata, locale, chat_id, assistant_id, referer, client } = ctx;
  return { data: { authorized, metadata, locale, chat_id, assistant_id, referer, client } };
}
"""
CLIENT = {"type": "test", "user_agent": "yao-agent-test/1.0", "ip": "127.0.0.1"}


def identity(user: str, team: str) -> Record:
    return {"sub": user, "user_id": user, "team_id": team, "tenant_id": team}


def hooked(hooks: str, *cases: Record, **files: str) -> dict[str, str]:
    """An agent that is its hooks, with its cases."""
    return {**agent(prompts=None, replies=None, hooks=hooks, cases=list(cases)), **files}


# Who asks

WHO = hooked(
    SHOWS_CONTEXT,
    {"id": "T001", "input": "Hello"},
    {"id": "T002", "input": "Admin action", "user": "admin", "team": "admin-team"},
    {"id": "T003", "input": "User specific test", "user": "special-user"},
    {"id": "T004", "input": "Hi", "metadata": {"a": 1, "b": 1}, "options": {"metadata": {"b": 2}}},
)


def test_a_case_has_the_default_context_of_the_seed(app: MakeApplication) -> None:
    assert outputs(app(WHO), "--run", "T001") == {
        "T001": {
            "authorized": identity("test-user", "test-team"),
            "metadata": {},
            "locale": "en-us",
            "chat_id": "agent-test-T001",
            "assistant_id": "demo",
            "referer": "test",
            "client": CLIENT,
        }
    }


def test_user_and_team_come_from_flags_then_the_case_then_the_context_file(app: MakeApplication) -> None:
    application = app(
        {**WHO, "/ctx.json": '{"authorized": {"user_id": "olga"}, "locale": "de-de", "metadata": {"a": 0, "c": 3}}'}
    )

    def seen(*arguments: str) -> list[tuple[str, str]]:
        found = [output["authorized"] for output in outputs(application, *arguments).values()]
        assert all(who["sub"] == who["user_id"] and who["tenant_id"] == who["team_id"] for who in found)
        return [(who["user_id"], who["team_id"]) for who in found[:3]]

    assert seen() == [("test-user", "test-team"), ("admin", "admin-team"), ("special-user", "test-team")]
    assert seen("-u", "root") == [("root", "test-team"), ("root", "admin-team"), ("root", "test-team")]
    assert seen("-u", "root", "-t", "ops") == [("root", "ops")] * 3
    assert seen("--ctx", "ctx.json") == [("olga", "test-team"), ("admin", "admin-team"), ("special-user", "test-team")]


def test_metadata_comes_from_the_context_file_the_case_and_its_options(app: MakeApplication) -> None:
    application = app({**WHO, "/ctx.json": '{"locale": "de-de", "metadata": {"a": 0, "c": 3}}'})

    output = outputs(application, "--run", "T004", "--ctx", "ctx.json")["T004"]

    assert (output["metadata"], output["locale"]) == ({"a": 1, "b": 2, "c": 3}, "de-de")


# Time and skipping


def test_a_case_has_so_much_time_as_it_says_or_the_flag_or_five_minutes(app: MakeApplication) -> None:
    replies = "- reply: { text: late, delay: 1h }"
    cases = [{"id": "own", "input": "a", "timeout": "300ms"}, {"id": "flag", "input": "b"}]

    found = errors(app(agent(replies=replies, cases=cases)), "--timeout", "400ms", "--parallel", "2")

    assert found == {"own": "timeout after 300ms", "flag": "timeout after 400ms"}


def test_skipped_cases_do_not_run_and_say_why(app: MakeApplication) -> None:
    hooks = 'function Create() { throw new Error("must not run"); }'
    cases = [
        {"id": "a", "input": "x", "skip": True},
        {"id": "b", "input": "x", "skip": "not yet"},
        {"id": "c", "input": "x", "skip": True, "before": "none.Before"},
    ]

    records = run_cases(app(hooked(hooks, *cases)), code=0)

    assert [(record["status"], record.get("skip_reason"), record["error"]) for record in records.values()] == [
        ("skipped", None, None),
        ("skipped", "not yet", None),
        ("skipped", None, None),
    ]


# Hooks around cases

ENVIRONMENT = """\
export function Before(ctx: agent.Context, test: any) {
  console.log("before " + JSON.stringify(test) + " as " + ctx.authorized.user_id);
  ctx.memory.user.Set("prepared", test.id);
  return { data: { id: 7 } };
}
export function Plain(ctx: agent.Context, test: any) { return [test.id]; }
export function Broken() { throw new Error("no database"); }
export function Async(): Promise<string> { return Promise.resolve("later"); }
export function After(ctx: agent.Context, test: any, result: any, data: any) {
  console.log("after " + JSON.stringify([test.id, { ...result, duration_ms: typeof result.duration_ms }, data]));
}
"""
PREPARED = 'function Next(ctx, { messages }) { if (messages[0].content === "throw") throw new Error("broken"); return { data: ctx.memory.user.Get("prepared") }; }'
AROUND: list[Record] = [
    {"id": "both", "input": "x", "metadata": {"m": 1}, "user": "ann", "assert": {"type": "type", "value": "string"}, "before": "env_test.Before", "after": "env_test.After"},
    {"id": "fails", "input": "x", "expected": "else", "before": "src/env_test.Plain", "after": "scripts.demo.env_test.After"},
    {"id": "throws", "input": "throw", "before": "env.Async", "after": "env_test.After"},
    {"id": "no before", "input": "x", "before": "env_test.Broken", "after": "env_test.After"},
    {"id": "bad after", "input": "x", "after": "env_test.Broken"},
    {"id": "bare", "input": "x", "before": "Before"},
]  # fmt: skip


@pytest.fixture(scope="module")
def around(shared_app: MakeApplication) -> dict[str, Record]:
    """The results of AROUND."""
    return run_cases(shared_app({**hooked(PREPARED, *AROUND), "env_test.ts": ENVIRONMENT}), code=1)


def test_before_prepares_a_case_and_after_gets_what_it_returned(around: dict[str, Record]) -> None:
    record = around["both"]

    assert (record["status"], record["output"]) == ("passed", "both")
    said = {"id": "both", "input": "x", "metadata": {"m": 1}, "assert": [{"type": "type", "value": "string"}]}
    result = {"id": "both", "status": "passed", "duration_ms": "number", "output": "both", "error": None}
    before, after = record["logs"]
    assert before.startswith("before ") and before.endswith(" as ann")
    assert json.loads(before.removeprefix("before ").removesuffix(" as ann")) == said
    assert json.loads(after.removeprefix("after ")) == ["both", result, {"id": 7}]


def test_after_runs_when_the_case_failed(around: dict[str, Record]) -> None:
    (failed,) = around["fails"]["logs"]
    id, result, data = json.loads(failed.removeprefix("after "))
    assert (id, result["status"], data) == ("fails", "failed", ["fails"])
    assert result["error"]
    (thrown,) = around["throws"]["logs"]
    id, result, data = json.loads(thrown.removeprefix("after "))
    assert (id, result["error"], data) == ("throws", "agent error: Next of demo: broken", "later")


def test_a_failing_before_fails_the_case_which_is_not_run(around: dict[str, Record]) -> None:
    record = around["no before"]

    assert (record["status"], record["cause"], record["error"]) == (
        "failed",
        "setup",
        "before env_test.Broken: no database",
    )
    assert record["location"] == "assistants/demo/src/env_test.ts:7:38"
    assert (record["output"], record.get("logs")) == (None, None), "after does not run either"


def test_a_failing_after_is_a_warning(around: dict[str, Record]) -> None:
    assert (around["bad after"]["status"], around["bad after"]["logs"]) == (
        "passed",
        ["[warn] after env_test.Broken: no database"],
    )


def test_a_hook_is_found_by_its_bare_name(around: dict[str, Record]) -> None:
    assert (around["bare"]["status"], around["bare"]["output"]) == ("passed", "bare")


def test_a_hook_in_a_test_file_may_use_the_module_beside_it(app: MakeApplication) -> None:
    files = {
        **hooked(
            'function Next(ctx) { return { data: ctx.memory.user.Get("ready") }; }',
            {"id": "a", "input": "x", "before": "setup_test.Before"},
        ),
        "setup.ts": "function Setup(ctx) { ctx.memory.user.Set('ready', 'yes'); }",
        "setup_test.ts": "function Before(ctx) { Setup(ctx); }",
    }

    assert outputs(app(files)) == {"a": "yes"}


ALL = """\
function BeforeAll(ctx: agent.Context, cases: any[]) {
  console.log("all");
  return { data: cases.map((test) => [test.id, test.input]) };
}
function AfterAll(ctx: agent.Context, results: any[], data: any) {
  throw new Error(JSON.stringify({ data, results: results.map(({ id, status, output, error }) => [id, status, output, error]), who: ctx.assistant_id }));
}
function Broken() { throw new Error("no database"); }
"""


def test_hooks_around_all_cases_run_once_for_each_input(app: MakeApplication) -> None:
    hooks = "function Next(ctx, { messages }) { return { data: messages[0].content }; }"
    application = app(
        {
            **hooked(
                hooks,
                {"id": "a", "input": "x"},
                {"id": "b", "input": "y", "expected": "z"},
                {"id": "c", "input": "z", "skip": True},
            ),
            "env_test.ts": ALL,
        }
    )

    run = application.run(
        "-i",
        case_file(),
        "--before",
        "env_test.BeforeAll",
        "--after",
        "env_test.AfterAll",
        "--parallel",
        "3",
        "-o",
        str(application.home / "r.json"),
    )

    assert run.code == 1
    (warning,) = [line for line in run.stdout.split("\n") if line.startswith("Warning: ")]
    start = "Warning: assistants/demo/tests/cases.jsonl: after env_test.AfterAll: "
    assert warning.startswith(start)
    said = json.loads(warning.removeprefix(start))
    assert said["data"] == [["a", "x"], ["b", "y"], ["c", "z"]]
    assert sorted(said["results"], key=lambda result: result[0])[0] == ["a", "passed", "x", None]
    assert [result[:2] for result in sorted(said["results"], key=lambda result: result[0])] == [
        ["a", "passed"],
        ["b", "failed"],
        ["c", "skipped"],
    ]
    assert said["who"] == "demo"


def test_a_failing_hook_before_all_cases_fails_those_that_would_run(app: MakeApplication) -> None:
    hooks = 'function Create() { throw new Error("must not run"); }'
    application = app(
        {
            **hooked(
                hooks, {"id": "a", "input": "x"}, {"id": "b", "input": "y", "skip": True}, {"id": "c", "input": "z"}
            ),
            "env_test.ts": ALL,
        }
    )

    records = run_cases(application, "--before", "env_test.Broken", code=1)

    failed = ("failed", "before env_test.Broken: no database", "setup")
    assert {id: (record["status"], record["error"], record.get("cause")) for id, record in records.items()} == {
        "a": failed,
        "b": ("skipped", None, None),
        "c": failed,
    }


def test_mocks_answer_for_the_length_of_their_case(app: MakeApplication) -> None:
    hooks = """\
function call(work) { try { return work(); } catch (error) { return "failed"; } }
function Next(ctx) {
  return { data: {
    one: call(() => Process("models.user.Find", 1)),
    agent: ctx.agent.Call("other", [{ role: "user", content: "x" }]).content,
    http: call(() => http.Get("https://rates.example/eur").data),
    year: new Date().getFullYear() === 2030,
  } };
}
"""
    mocks = {
        "process": {"models.user.*": {"id": 1}},
        "agent": {"other": "a stand-in"},
        "http": {"GET https://rates.example/*": {"status": 200, "data": {"EUR": 1}}},
        "now": "2030-05-01T09:00:00Z",
    }
    application = app(
        {
            **hooked(hooks, {"id": "mocked", "input": "x", "mocks": mocks}, {"id": "real", "input": "x"}),
            **agent("other", replies="- reply: the real one"),
        }
    )

    assert outputs(application) == {
        "mocked": {"one": {"id": 1}, "agent": "a stand-in", "http": {"EUR": 1}, "year": True},
        "real": {"one": "failed", "agent": "the real one", "http": "failed", "year": False},
    }


def test_mocks_answer_for_tools_and_delegates_too(app: MakeApplication) -> None:
    hooks = "function Create(ctx, messages) { if (messages[0].content === 'delegate') return { delegate: { agent_id: 'other' } }; }"
    replies = "- reply: { tool_calls: [find] }\n"
    given = {
        "a text": ({"agent": {"ot*": "a stand-in"}}, "a stand-in"),
        "data": ({"agent": {"other": {"data": [1]}}}, [1]),
        "a conclusion": ({"agent": {"*": "not this", "other": {"a": 1}}}, {"a": 1}),
        "nothing": ({"agent": {"else": "x"}}, "the real one"),
    }
    cases = [{"id": id, "input": "delegate", "mocks": mocks} for id, (mocks, _) in given.items()]
    cases += [
        {"id": "an error", "input": "delegate", "mocks": {"agent": {"other": {"error": "out of order"}}}},
        {"id": "a tool", "input": "x", "mocks": {"process": {"Models.user.*": {"id": 1}}}},
    ]
    application = app(
        {
            **agent(package={"mcp": {"servers": ["users"]}}, replies=replies, hooks=hooks, cases=cases),
            **agent("other", replies="- reply: the real one"),
            **server("users", {"find": "models.user.Find"}),
        }
    )

    records = run_cases(application, code=1)

    assert {id: records[id]["output"] for id in given} == {id: output for id, (_, output) in given.items()}
    assert records["an error"]["error"] == "agent error: out of order"
    assert [use["result"] for use in records["a tool"]["tools"]] == [{"id": 1}]


# Expectations

EXPECTED: list[tuple[str, Record, str]] = [
    ("object in a fence", {"input": "fence", "expected": {"a": 1}}, "passed"),
    ("other object", {"input": "fence", "expected": {"a": 2}}, "failed"),
    ("text", {"input": "text", "expected": "plain"}, "passed"),
    ("other text", {"input": "text", "expected": "plai"}, "failed"),
    ("null is not given", {"input": "text", "expected": None}, "passed"),
    ("assert wins", {"input": "text", "expected": "no", "assert": {"type": "contains", "value": "lain"}}, "passed"),
    ("all have to hold", {"input": "text", "assertions": [{"value": "plain"}, {"type": "contains", "value": "x"}]}, "failed"),
    ("a type name alone", {"input": "text", "assert": [{"type": "type", "value": "string"}]}, "passed"),
    ("nothing", {"input": "text"}, "passed"),
    ("messages win", {"input": "fence", "messages": [{"content": "text"}], "expected": "plain"}, "passed"),
]  # fmt: skip


def test_expected_is_the_output_and_assert_wins_over_it(app: MakeApplication) -> None:
    replies = '- when: { input: text }\n  reply: plain\n- reply: "```json\\n{\\"a\\": 1,}\\n```"\n'
    cases = [{"id": id, **case} for id, case, _ in EXPECTED]

    records = run_cases(app(agent(replies=replies, cases=cases)), code=1)

    assert {id: record["status"] for id, record in records.items()} == {id: status for id, _, status in EXPECTED}
    both = records["all have to hold"]
    assert [assertion["passed"] for assertion in both["assertions"]] == [True, False]
    assert len(both["assertion_errors"]) == 1


JUDGES = """\
export function Assert(output, input, expected, metadata) {
  return { pass: output === expected, message: `saw ${output} for ${input}, ${JSON.stringify(metadata ?? null)}` };
}
export function Short(output: string) { return output.length < 3; }
export function Nonsense() { return "maybe"; }
export function Throws() { throw new Error("no rates"); }
"""
SCRIPTS: dict[str, tuple[Record, str | None]] = {
    "app function": ({"script": "scripts.test.Assert", "value": "hi"}, None),
    "app function fails": ({"script": "scripts.test.Assert", "value": "ho"}, "saw hi for x"),
    "by use": ({"use": "scripts:test.Short"}, None),
    "by role": ({"use": "scripts:tests.validate-expense", "value": "hi"}, None),
    "by role, in the agent's tests": ({"use": "scripts:tests.judge-expense", "value": "hi"}, None),
    "by role, in the agent's src": ({"use": "scripts:tests.check-amount", "value": "hi"}, None),
    "by role, in the module": ({"use": "scripts:judges.validate-expense", "value": "hi"}, None),
    "by its letters, in the module": ({"use": "scripts:judges.check-total", "value": "hi"}, None),
    "the other role": ({"use": "scripts:judges.assert-it"}, "Assert says no"),
    "default export": ({"use": "scripts:tests.default"}, None),
    "own module": ({"script": "checks.Polite"}, None),
    "own module in full": ({"script": "scripts.demo.checks.Polite"}, None),
    "metadata": ({"use": "scripts:test.Assert", "options": {"metadata": {"min": 1}}}, '{"min":1}'),
    "nonsense": ({"script": "scripts.test.Nonsense"}, "maybe"),
    "throws": ({"script": "scripts.test.Throws"}, "scripts.test.Throws: no rates (at scripts/test.ts:6:38)"),
    "negated throws": ({"script": "scripts.test.Throws", "negate": True}, "no rates"),
    "broken": ({"use": "scripts:tests.broken"}, 'scripts/tests/broken.ts:1:10: '),
}  # fmt: skip


def test_script_assertions_find_their_function(app: MakeApplication) -> None:
    cases = [
        {"id": id, "input": "x", "assert": {"type": "script", **assertion}} for id, (assertion, _) in SCRIPTS.items()
    ]
    application = app(
        {
            **agent(replies="- reply: hi", cases=cases),
            "checks.ts": "function Polite(output) { return output === 'hi'; }",
            "/scripts/test.ts": JUDGES,
            "/scripts/tests/validate-expense.ts": "export function Validate(output, input, expected) { return output === expected; }",
            "/assistants/demo/tests/judge-expense.ts": "export function Validate(output: string, _: any, expected: string) { return output === expected; }",
            "tests/check-amount.ts": "function Validate(output, input, expected) { return output === expected; }",
            "/scripts/judges.ts": "export function Validate(o, i, e) { return o === e; }\nexport function checkTotal(o) { return true; }\nexport function Assert() { return {pass: false, message: 'Assert says no'}; }",
            "/scripts/tests/default.ts": "export default function (output) { return { pass: output === 'hi' }; }",
            "/scripts/tests/helpers.ts": "export function help() {}\nfunction other() {}",
            "/scripts/tests/broken.ts": "let a = {;",
        }
    )

    found = errors(application)

    passing = {id for id, (_, error) in SCRIPTS.items() if error is None}
    assert {id for id, error in found.items() if error is None} == passing
    for id, error in found.items():
        part = SCRIPTS[id][1]
        assert part is None or part in (error or ""), (id, error)


def test_a_validator_judges_and_one_that_answers_prose_fails_the_case(app: MakeApplication) -> None:
    def judged(use: str, **more: Any) -> Record:
        return {"type": "agent", "use": f"agents:{use}", **more}

    assertions: dict[str, Record] = {
        "shipped": judged("workers.test.validator", value='Mentions "hi"'),
        "by metadata": judged("workers.test.validator", options={"metadata": {"criteria": 'Mentions "hi"'}}),
        "unhappy": judged("workers.test.validator", value='Mentions "tea"'),
        "negated": judged("workers.test.validator", value='Mentions "tea"', negate=True),
        "own": judged("judge", value="Is polite"),
        "prose": judged("prose", value="Is polite"),
        "negated prose": judged("prose", value="Is polite", negate=True),
    }
    cases = [{"id": id, "input": "x", "assert": assertion} for id, assertion in assertions.items()]
    judge = '- when: { input.criteria: Is polite, metadata.test_mode: validator, input.output: hi, input.input: x }\n  reply: { json: { passed: true, score: 0.9, reason: "It is." } }'
    application = app(
        {
            **agent(replies="- reply: hi", cases=cases),
            **agent("judge", replies=judge),
            **agent("prose", replies="- reply: Looks good to me."),
        }
    )

    records = run_cases(application, code=1)

    found = {id: record["error"] for id, record in records.items()}
    assert [id for id, error in found.items() if error is None] == ["shipped", "by metadata", "negated", "own"]
    assert records["own"]["assertions"][0]["score"] == 0.9
    assert found["unhappy"] == (
        'assertion failed: Expected the output to meet "Mentions \\"tea\\"", but workers.test.validator says: '
        'The answer does not contain "tea"'
    )
    assert "validator prose did not answer with a verdict" in found["prose"]
    assert "validator prose did not answer with a verdict" in found["negated prose"]
    causes = {id: records[id]["cause"] for id in ("prose", "negated prose", "unhappy")}
    assert causes == {
        "prose": "infrastructure",
        "negated prose": "infrastructure",
        "unhappy": "assertion",
    }


# Inputs

TWO = {
    **agent(replies="- reply: '{{ agent }}: {{ input }}'", cases=[{"id": "a", "name": "First case", "input": "x"}, {"id": "b", "input": "y"}]),
    **agent("workers.other", replies="- reply: '{{ agent }}: {{ input }}'", cases=[{"id": "a", "input": "z"}]),
    "/assistants/workers/other/tests/more.yaml": "- { id: yaml, input: w }\n",
    "/assistants/workers/other/tests/output-20241217100000.jsonl": '{"type": "start"}\n',
    "/assistants/workers/other/tests/output-20241217100000-2.jsonl": '{"type": "start"}\n',
    "sum_test.ts": "function TestSum(t) { t.assert.Equal(1 + 1, 2); }",
}  # fmt: skip
LABELS = {
    "everything": (("assistants",), ["scripts.demo.sum", "assistants/demo/tests/cases.jsonl", "assistants/workers/other/tests/cases.jsonl", "assistants/workers/other/tests/more.yaml"]),
    "an agent": (("assistants/workers/other",), ["assistants/workers/other/tests/cases.jsonl", "assistants/workers/other/tests/more.yaml"]),
    "a tests folder": (("assistants/demo/tests",), ["assistants/demo/tests/cases.jsonl"]),
    "a src folder": (("assistants/demo/src",), ["scripts.demo.sum"]),
    "several": (("scripts.demo.sum", "assistants/workers/other/tests/more.yaml", "assistants/demo/tests/cases.jsonl"), ["scripts.demo.sum", "assistants/workers/other/tests/more.yaml", "assistants/demo/tests/cases.jsonl"]),
    "the same twice": (("assistants/demo/tests", "assistants/demo/tests/cases.jsonl", "@assistants/demo/tests/cases.jsonl"), ["assistants/demo/tests/cases.jsonl"]),
}  # fmt: skip


@pytest.mark.parametrize("id", LABELS)
def test_inputs_name_modules_and_case_files_in_one_report(app: MakeApplication, id: str) -> None:
    inputs, labels = LABELS[id]

    report = app(TWO).report(*[argument for input in inputs for argument in ("-i", input)], code=0)

    parts = report.get("reports", [report])
    assert [part.get("script") or part["input"] for part in parts] == labels
    passed = {"scripts.demo.sum": 1, "assistants/demo/tests/cases.jsonl": 2}
    assert [part["summary"]["passed"] for part in parts] == [passed.get(label, 1) for label in labels]
    assert report["summary"]["total"] == sum(part["summary"]["total"] for part in parts)


def test_a_mixed_run_has_one_report_and_one_exit_code(app: MakeApplication) -> None:
    application = app(
        {**TWO, "sum_test.ts": "function TestSum(t) { t.assert.Equal(1 + 1, 3); }\nfunction TestFine(t) {}"}
    )
    report = application.report("-i", "scripts.demo.sum", "-i", "assistants/demo", code=1)

    assert report["summary"] | {"duration_ms": 0} == {
        "total": 4,
        "passed": 3,
        "failed": 1,
        "skipped": 0,
        "checks_nothing": 2,
        "checks_nothing_first": ["a", "b"],
        "usage": {"input_tokens": 6, "output_tokens": 4},
        "pass_rate": 1.0,
        "pass_rate_interval": [0.3424, 1.0],
        "duration_ms": 0,
    }
    run = application.run("-i", "scripts.demo.sum", "-i", case_file(), "-q", "-o", str(application.home / "r.jsonl"))
    written = [json.loads(line) for line in (application.home / "r.jsonl").read_text().splitlines()]
    assert run.code == 1
    assert [(record["type"], record.get("id")) for record in written] == [
        ("start", None),
        ("result", "TestSum"),
        ("result", "TestFine"),
        ("result", "a"),
        ("result", "b"),
        ("summary", None),
    ]


@pytest.mark.parametrize(
    ("directory", "arguments", "said"),
    [
        ("assistants/demo", (), "demo: Hello there"),
        ("assistants/workers/other/tests", (), "workers.other: Hello there"),
        ("", ("-n", "workers.other"), "workers.other: Hello there"),
        ("assistants/demo", ("-n", "assistants.workers.other"), "workers.other: Hello there"),
    ],
    ids=["from its folder", "from below it", "by name", "the name wins"],
)
def test_a_message_goes_to_the_agent_of_the_folder_or_of_the_flag(
    app: MakeApplication, directory: str, arguments: tuple[str, ...], said: str
) -> None:
    application = app(TWO)
    before = application.listing()

    run = application.run("-i", "Hello there", *arguments, directory=directory)

    assert run.code == 0, run
    assert f"  Output: {said}\n" in run.stdout
    assert application.listing() == before, "only -o makes a message leave a file"


def test_a_message_without_an_agent_is_a_configuration_error(app: MakeApplication) -> None:
    run = app(TWO).run("-i", "Hello there")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == (
        'Error: Cannot find the agent for message "Hello there": no folder from <app> upward holds package.yao\n'
        "Hint: Name the agent with -n\n"
    )


def test_the_id_of_an_agent_is_taken_for_a_message_and_the_folder_is_named(app: MakeApplication) -> None:
    run = app(TWO).run("-i", "demo")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.splitlines()[-1] == (
        "Hint: Name the agent with -n; demo is an agent, -i assistants/demo runs all its tests"
    )


RUN = {
    "an id": ("^b$", ["b"]),
    "a name": ("First", ["a"]),
    "without case": ("(?i)FIRST", ["a"]),
    "everything": (".", ["a", "b"]),
}


@pytest.mark.parametrize("id", RUN)
def test_run_searches_ids_and_names(app: MakeApplication, id: str) -> None:
    pattern, ids = RUN[id]

    assert list(run_cases(app(TWO), "--run", pattern, code=0)) == ids


def test_a_dry_run_lists_cases_and_runs_nothing(app: MakeApplication) -> None:
    application = app(
        {
            **TWO,
            **agent(
                hooks='function Create() { throw new Error("runs"); }',
                cases=[{"id": "a", "input": "x"}, {"id": "b", "input": "y"}],
            ),
        }
    )
    before = application.listing()

    run = application.run("-i", case_file(), "-i", "scripts.demo.sum", "--dry-run")

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.split("\n") == [
        "assistants/demo/tests/cases.jsonl",
        "  a",
        "  b",
        "scripts.demo.sum",
        "  TestSum",
        "3 tests in 2 inputs",
        "",
    ]
    assert application.listing() == before


# What is written


def test_runs_of_the_same_second_do_not_share_a_report(app: MakeApplication) -> None:
    application = app(TWO)

    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda _: application.fork("-i", case_file()), range(4)))

    assert [run.code for run in runs] == [0, 0, 0, 0], runs
    reports = list((application.root / "assistants/demo/tests").glob("output-*.jsonl"))
    assert [len(path.read_text().splitlines()) for path in reports] == [4, 4, 4, 4]


def test_results_go_beside_the_case_file_by_default(app: MakeApplication) -> None:
    application = app(TWO)

    run = application.run("-i", case_file())

    assert run.code == 0, run
    (written,) = [path for path in (application.root / "assistants/demo/tests").iterdir() if path.name != "cases.jsonl"]
    assert re.fullmatch(r"output-20\d{12}\.jsonl", written.name)
    start, first, second, summary = [json.loads(line) for line in written.read_text().splitlines()]
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", start.pop("timestamp"))
    assert start.pop("version")
    resume = start.pop("resume")
    assert resume.pop("key")
    assert resume == {
        "options": {"inputs": [case_file()]},
        "planned": {case_file(): {"cases": 2, "ids": [first["id"], second["id"]]}},
    }
    assert start == {
        "type": "start",
        "agent_id": "demo",
        "total_cases": 2,
        "scripts": [],
        "inputs": ["assistants/demo/tests/cases.jsonl"],
        "suites": [
            {
                "id": "assistants/demo/tests/cases.jsonl",
                "kind": "agent_test",
                "label": "assistants/demo/tests/cases.jsonl",
                "file": case_file(),
                "agent": "demo",
                "connector": "",
            }
        ],
        "environment": {"user_id": "test-user", "team_id": "test-team", "locale": "en-us"},
    }
    assert {
        key: first[key]
        for key in ("type", "id", "name", "status", "output", "response", "messages_count", "assertions")
    } == {
        "type": "result",
        "id": "a",
        "name": "First case",
        "status": "passed",
        "output": "demo: x",
        "response": "demo: x",
        "messages_count": 1,
        "assertions": [],
    }
    assert isinstance(first["duration_ms"], int) and "name" not in second
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", summary.pop("completed_at"))
    assert summary | {"duration_ms": 0} == {
        "type": "summary",
        "total": 2,
        "passed": 2,
        "failed": 0,
        "skipped": 0,
        "checks_nothing": 2,
        "checks_nothing_first": ["a", "b"],
        "usage": {"input_tokens": 6, "output_tokens": 4},
        "duration_ms": 0,
        "pass_rate": 1.0,
        "pass_rate_interval": [0.3424, 1.0],
        "status": "passed",
    }


def test_a_json_report_has_the_keys_of_the_seed(app: MakeApplication) -> None:
    cases = [
        {"id": "a", "input": "x", "expected": "demo: x"},
        {"id": "b", "input": "y", "assert": {"type": "contains", "value": "z"}},
        {"id": "c", "input": "z", "skip": True},
    ]
    report = app(agent(replies="- reply: '{{ agent }}: {{ input }}'", cases=cases)).report("-i", case_file(), code=1)

    assert list(report) == ["type", "input", "summary", "environment", "results", "metadata"]
    assert report["summary"] | {"duration_ms": 0} == {
        "total": 3,
        "passed": 1,
        "failed": 1,
        "skipped": 1,
        "pass_rate": 0.5,
        "pass_rate_interval": [0.0945, 0.9055],
        "usage": {"input_tokens": 6, "output_tokens": 4},
        "duration_ms": 0,
        "agent_id": "demo",
        "connector": "scripted",
        "runs_per_case": 1,
        "overall_pass_rate": 50.0,
    }
    assert list(report["metadata"]) == ["started_at", "completed_at", "version"]
    first, second, _ = report["results"]
    assert {key: first[key] for key in ("id", "status", "input", "output", "expected", "error")} == {
        "id": "a",
        "status": "passed",
        "input": "x",
        "output": "demo: x",
        "expected": "demo: x",
        "error": None,
    }
    (assertion,) = second["assertions"]
    assert {key: assertion[key] for key in ("type", "value", "passed")} == {
        "type": "contains",
        "value": "z",
        "passed": False,
    }
    assert second["error"] == f"assertion failed: {assertion['message']}"
    assert second["assertion_errors"] == [second["error"]]


def test_the_console_has_the_layout_of_the_seed(app: MakeApplication) -> None:
    cases = [
        {"id": "turn1", "name": "First turn", "input": "x", "assert": {"type": "contains", "value": "x"}},
        {
            "id": "turn2",
            "messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": "y"},
                {"role": "user", "content": "z"},
            ],
            "assert": [{"type": "contains", "value": "z"}, {"type": "contains", "value": "q"}],
        },
    ]
    run = app(
        agent(
            replies="- reply: { text: 'heard {{ input }}', usage: { input_tokens: 0, output_tokens: 0 } }", cases=cases
        )
    ).run("-i", case_file(), "-o", "report.json")

    text = re.sub(r"\d+(\.\d+)?m?s\b", "0ms", run.stdout)
    head, _, rest = text.partition("Running Tests")
    assert "  Agent Test\n" in head
    assert "ℹ Agent: demo\nℹ Input: assistants/demo/tests/cases.jsonl (2 test cases)\n" in head
    assert "✓ [turn1] First turn (0ms)\n  Messages: 1, Assertions: 1/1 passed\n\n" in rest
    assert "✗ [turn2] (0ms)\n  Messages: 3, Assertions: 1/2 passed\n" in rest
    assert "  Total:   2 tests\n  Passed:  1\n  Failed:  1\n  Time:    0ms\n" in rest
    assert "  Run it again: yao-test -i assistants/demo/tests/cases.jsonl --run '^turn2$'\n" in rest


def test_results_keep_the_order_of_the_file_when_cases_run_in_parallel(app: MakeApplication) -> None:
    replies = "- when: { input: slow }\n  reply: { text: x, delay: 200ms }\n- reply: y\n"
    cases = [{"id": str(number), "input": "fast" if number % 5 else "slow"} for number in range(12)]
    application = app(agent(replies=replies, cases=cases))

    assert list(run_cases(application, "--parallel", "4", code=0)) == [str(number) for number in range(12)]
    shown = application.run("-i", case_file(), "--parallel", "4", "-o", str(application.home / "r.json")).stdout
    assert re.findall(r"✓ \[(\d+)\]", shown) == [str(number) for number in range(12)]


def test_fail_fast_begins_no_further_case_and_no_further_input(app: MakeApplication) -> None:
    cases = [{"id": "a", "input": "x"}, {"id": "b", "input": "x", "expected": "y"}, {"id": "c", "input": "x"}]
    application = app({**agent(cases=cases), **agent("zero", cases=[{"id": "z", "input": "x"}])})

    report = application.report("-i", case_file(), "-i", case_file("zero"), "--fail-fast", code=1)

    assert [record["id"] for part in report["reports"] for record in part["results"]] == ["a", "b"]
    assert report["summary"]["total"] == 2


def test_the_hook_after_all_cases_runs_when_the_first_failure_ends_the_run(app: MakeApplication) -> None:
    cases = [{"id": "a", "input": "x", "expected": "y"}, {"id": "b", "input": "x"}]
    hooks = """\
function BeforeAll() { return "prepared"; }
function AfterAll(ctx, results, data) { throw new Error(data + " " + results.map(({ id }) => id)); }
"""
    application = app({**agent(cases=cases), "env_test.ts": hooks})

    around = ("--before", "env_test.BeforeAll", "--after", "env_test.AfterAll")
    run = application.run("-i", case_file(), "--fail-fast", *around, "-o", "r.json")

    assert run.code == 1
    assert "Warning: assistants/demo/tests/cases.jsonl: after env_test.AfterAll: prepared a\n" in run.stdout


def test_unknown_fields_are_an_error_and_a_warning_when_lenient(app: MakeApplication) -> None:
    application = app(agent(cases=[{"id": "a", "input": "x", "asert": {"value": "x"}}]))

    strict = application.run("-i", case_file())
    lenient = application.run("-i", case_file(), "--lenient", "-o", "r.json")

    assert (strict.code, strict.stdout) == (2, "")
    assert "assistants/demo/tests/cases.jsonl:1:" in strict.stderr and 'Did you mean "assert"?' in strict.stderr
    assert lenient.code == 0
    assert "Warning: " in lenient.stdout and '"asert"' in lenient.stdout


# Ends of a run


def test_an_interrupt_reports_what_ended_and_leaves_no_process(app: MakeApplication, tmp_path: Path) -> None:
    replies = "- when: { input: slow }\n  reply: { text: late, delay: 1h }\n- reply: done\n"
    hooks = "function Create(ctx, messages) { if (messages[0].content === 'slow') Process('agent.Call', { assistant_id: 'slow', messages }); }"
    cases = [{"id": f"c{number}", "input": "fast" if number < 10 else "slow"} for number in range(60)]
    application = app({**agent(replies=replies, hooks=hooks, cases=cases), **agent("slow", replies=replies)})
    path = tmp_path / "r.jsonl"

    def ended() -> list[str]:
        written = path.read_text().splitlines() if path.exists() else []
        return [record["id"] for record in map(json.loads, written) if record["type"] == "result"]

    process = application.start("-i", case_file(), "--parallel", "50", "-o", str(path), "-o", str(tmp_path / "r.json"))
    eventually(lambda: len(ended()) == 10, "the quick cases end")
    process.send_signal(signal.SIGINT)
    run = application.finish(process)

    assert run.code == 130, run
    assert "Traceback" not in run.stdout + run.stderr
    assert sorted(ended()) == sorted(f"c{number}" for number in range(10))
    assert json.loads(path.read_text().splitlines()[-1])["status"] == "interrupted"
    report = json.loads((tmp_path / "r.json").read_text())
    assert [record["id"] for record in report["results"]] == [f"c{number}" for number in range(10)]
    assert (report["summary"]["total"], report["summary"]["passed"]) == (10, 10)
    eventually(lambda: not session_members(process.pid), "all processes of the command end")


def session_members(leader: int) -> list[str]:
    """The living processes of the session of a command."""
    listed = subprocess.run(["ps", "-eo", "sid,stat,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return [row[2] for row in rows if row[0] == str(leader) and not row[1].startswith("Z")]


# Bad input

BAD: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "no such case file": ({}, ("-i", "assistants/demo/tests/none.jsonl"), "Error: Cannot read case file <app>/assistants/demo/tests/none.jsonl: there is no such file\n"),
    "no such folder": ({}, ("-i", "assistants/dmeo/tests"), "Error: Cannot use -i assistants/dmeo/tests: there is no such file or folder\n"),
    "an empty input": ({}, ("-i", "", "-n", "demo"), "Error: Cannot use -i: it is empty\n"),
    "unknown agent": ({}, ("-i", "Hello there", "-n", "dmeo"), 'Hint: Did you mean "demo"?\n'),
    "unknown part of an agent": ({}, ("-i", "Hello there", "-n", "demo.other"), 'Error: Cannot find agent "demo.other": there is no <app>/assistants/demo/other/package.yao\n'),
    "bad timeout": ({}, ("-i", case_file(), "--timeout", "soon"), 'Error: Cannot read --timeout "soon": not a duration\n'),
    "unknown connector": ({"/connectors/model.conn.yao": '{"type": "scripted"}'}, ("-i", case_file(), "-c", "modl"), 'Error: Cannot use -c modl: Cannot find connector "modl": no such file below <app>/connectors\nHint: Did you mean "model"?\n'),
    "bad case": ({"/assistants/demo/tests/cases.jsonl": '{"id": "a", "input": "x"}\n{"id": "a", "input": 5}\n'}, ("-i", case_file()), "assistants/demo/tests/cases.jsonl:2:"),
}  # fmt: skip


@pytest.mark.parametrize("id", BAD)
def test_what_cannot_be_used_is_a_configuration_error_before_anything_runs(app: MakeApplication, id: str) -> None:
    files, arguments, said = BAD[id]
    application = app({**agent(cases=[{"id": "a", "input": "x"}]), **files})
    before = application.listing()

    run = application.run(*arguments)

    assert (run.code, run.stdout) == (2, ""), run
    assert said in run.stderr
    assert run.stderr.startswith("Error: ") and "Traceback" not in run.stderr
    assert application.listing() == before


CONNECTORS: dict[str, tuple[Record, dict[str, str], str]] = {
    "missing key": (
        {"connector": "model"},
        {"/connectors/model.conn.yao": '{"type": "openai",\n "options": {"model": "gpt-4o", "key": "$ENV.DEMO_KEY"}}'},
        "DEMO_KEY",
    ),
    "broken file": (
        {"connector": "model"},
        {"/connectors/model.conn.yao": '{"type": "openai",\n "options": {"model" "gpt-4o"}}'},
        "connectors/model.conn.yao:2:22",
    ),
    "unknown": ({"connector": "modl"}, {"/connectors/model.conn.yao": '{"type": "scripted"}'}, 'Did you mean "model"?'),
    "none": ({"connector": ""}, {}, 'Cannot resolve the connector of role "default"'),
    "no variable": ({"connector": "$ENV.WHICH"}, {}, "the environment variable WHICH is not set"),
    "no replies": ({}, {"/assistants/demo/replies.yml": "- when: { input: q }\n  reply: x"}, "replies.yml"),
}


@pytest.mark.parametrize("id", CONNECTORS)
def test_a_connector_that_cannot_be_used_fails_the_case_with_the_reason(app: MakeApplication, id: str) -> None:
    package, files, said = CONNECTORS[id]
    application = app({**agent(package=package, cases=[{"id": "a", "input": "x"}]), **files})

    error = errors(application)["a"]

    assert error is not None and said.lower() in error.lower(), error


def test_a_key_is_never_written(app: MakeApplication, tmp_path: Path) -> None:
    key = "sk-very-secret-1234567890"
    with ModelServer(status(401, f"Incorrect API key provided: {key}")) as models:
        options = {"host": models.url, "model": "gpt-4o", "key": "$ENV.DEMO_KEY"}
        application = app(
            {
                **agent(package={"connector": "model"}, cases=[{"id": "a", "input": "x"}]),
                "/connectors/model.conn.yao": json.dumps({"type": "openai", "options": options}),
                "/.env": f"DEMO_KEY={key}\n",
            }
        )
        run = application.run("-i", case_file(), "-v", "-v", "-o", str(tmp_path / "r.json"))

    assert run.code == 1
    assert models.requests[0].headers["authorization"] == f"Bearer {key}"
    written = run.stdout + run.stderr + (tmp_path / "r.json").read_text()
    assert "401" in written and "sk-very-secret" not in written
