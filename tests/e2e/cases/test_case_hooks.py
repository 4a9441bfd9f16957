"""Who asks in a case, its time, hooks and mocks around it, by the real command."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, case_file, errors, outputs, run_cases, server
from command import MakeApplication, Record

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


def test_user_and_team_come_from_the_context_file_then_flags_then_the_case(app: MakeApplication) -> None:
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
    assert seen("--ctx", "ctx.json") == [("olga", "test-team"), ("olga", "admin-team"), ("olga", "test-team")]


def test_the_name_of_a_user_of_the_context_file_is_not_that_of_the_user_of_a_case(app: MakeApplication) -> None:
    people = {"user_name": "Olga", "team_name": "North"}
    shows = "function Next(ctx) { return { data: { user: ctx.User, team: ctx.Team } }; }"
    cases = [{"id": "hers", "input": "Hi"}, {"id": "other", "input": "Hi", "user": "otto", "team": "south"}]
    application = app(hooked(shows, *cases, **{"/ctx.json": json.dumps({"authorized": people})}))

    assert outputs(application, "--ctx", "ctx.json") == {
        "hers": {"user": {"ID": "test-user", "Name": "Olga"}, "team": {"ID": "test-team", "Name": "North"}},
        "other": {"user": {"ID": "otto"}, "team": {"ID": "south"}},
    }


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
    record = around["bad after"]
    (warning,) = record["warnings"]

    assert record["status"] == "passed"
    assert (warning["kind"], warning["message"]) == ("after", "after env_test.Broken: no database")
    assert warning["location"] == "assistants/demo/src/env_test.ts:7:38"


def test_a_failing_after_fails_a_strict_run(app: MakeApplication) -> None:
    cases: list[Record] = [{"id": "bad", "input": "x", "after": "env_test.Broken"}]
    slow: Record = {"id": "slow", "input": "x", "after": "env_test.Endless", "timeout": "300ms"}
    environment = f"{ENVIRONMENT}export function Endless() {{ while (true); }}\n"
    here = app({**hooked(PREPARED, *cases, slow), "env_test.ts": environment})

    assert "Warnings: 2" in here.run("-i", case_file()).stdout
    found = {record["id"]: record for record in here.report("-i", case_file(), "--strict", code=1)["results"]}
    assert (found["bad"]["cause"], found["bad"]["error"]) == ("error", "after env_test.Broken: no database")
    assert (found["slow"]["cause"], found["slow"]["error"]) == ("error", "after env_test.Endless: timeout after 300ms")


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
