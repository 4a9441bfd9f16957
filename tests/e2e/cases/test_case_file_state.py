"""What the cases of a file share: what the hook before all of them has written, and a chat that the context names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from command import MakeApplication

HOOKS = """\
const shelf = () => {
  Process("stores.shelf.Set", "counted", (Process("stores.shelf.Get", "counted") ?? 0) + 1);
  return Process("models.book.Get", {}).map((book) => book.title);
};
function Next(ctx, { messages, tools }) {
  const said = messages.at(-1).content;
  if (said.startsWith("buy")) Process("models.book.Create", { title: said });
  const memory = Object.fromEntries(["chat", "user", "team"].map((space) => [space, ctx.memory[space].Get("from")]));
  return { data: { books: shelf(), counted: Process("stores.shelf.Get", "counted"), memory,
    session: Process("session.Get", "from"), tool: tools?.[0]?.result ?? null } };
}
"""
ENV = """\
export function BeforeAll(ctx, cases) {
  Process("models.book.Create", { title: "Atlas" });
  Process("stores.shelf.Set", "counted", 10);
  Process("session.Set", "from", "all");
  for (const space of ["chat", "user", "team"]) ctx.memory[space].Set("from", "all");
  console.log("one book for", cases.length, "cases");
}
export function AfterAll(ctx, results) {
  console.log("left:", Process("models.book.Get", {}).map((book) => book.title).join());
}
"""
BOOK = {
    "name": "Book",
    "table": {"name": "book"},
    "columns": [{"name": "id", "type": "ID"}, {"name": "title", "type": "string"}],
}
ALL = ("--before", "env_test.BeforeAll", "--after", "env_test.AfterAll")


def shelf(cases: list[dict[str, Any]], *, hooks: str = HOOKS) -> dict[str, str]:
    return {
        **agent(
            hooks=hooks,
            cases=cases,
            package={"mcp": {"servers": ["desk"]}},
            replies="- when: { input: ask }\n  reply: { tool_calls: [count] }\n- reply: ok",
        ),
        "/assistants/demo/src/env_test.ts": ENV,
        "/models/book.mod.yao": json.dumps(BOOK),
        "/stores/shelf.lru.yao": json.dumps({"name": "Shelf", "option": {"size": 100}}),
        "/mcps/desk.mcp.yao": json.dumps(
            {"label": "Desk", "transport": "process", "tools": {"count": "scripts.desk.Count"}}
        ),
        "/scripts/desk.ts": 'function Count() { return Process("models.book.Get", {}).length }',
        "/assistants/demo/tests/fixtures/more.jsonl": '{"model": "book", "rows": [{"title": "Fixture"}]}\n',
    }


CASES = [{"id": "one", "input": "count"}, {"id": "buys", "input": "buy"}, {"id": "asks", "input": "ask"}]


@pytest.mark.parametrize("flags", [(), ("--parallel", "3"), ("--shuffle=3",)], ids=["in order", "parallel", "shuffled"])
def test_what_the_hook_before_all_cases_writes_is_the_start_of_each_of_them(
    app: MakeApplication, flags: tuple[str, ...]
) -> None:
    records = run_cases(app(shelf(CASES)), *ALL, *flags)

    memory = {"chat": "all", "user": "all", "team": "all"}
    start = {"books": ["Atlas"], "counted": 11, "memory": memory, "session": "all", "tool": None}
    assert {id: record["output"] for id, record in records.items()} == {
        "one": start,
        "buys": {**start, "books": ["Atlas", "buy"]},
        "asks": {**start, "tool": 1},
    }


def test_each_run_of_a_case_has_its_own_copy(app: MakeApplication) -> None:
    report = app(shelf([CASES[1]])).report("-i", case_file(), *ALL, "--runs", "3")

    (result,) = report["results"]
    assert [run["output"]["books"] for run in result["run_details"]] == [["Atlas", "buy"]] * 3


def test_what_hooks_around_all_cases_print_is_shown(app: MakeApplication) -> None:
    output = app(shelf(CASES)).run("-i", case_file(), *ALL).stdout

    assert "before env_test.BeforeAll:\n  one book for 3 cases\n" in output
    assert "after env_test.AfterAll:\n  left: Atlas\n" in output


NOTES = """\
function Next(ctx, { messages }) {
  const seen = [...(ctx.memory.chat.Get("seen") ?? []), messages.map((message) => message.content).join()];
  ctx.memory.chat.Set("seen", seen);
  return { data: seen };
}
"""
TALK = [{"id": id, "input": id} for id in ("bread", "salt", "oil")]


@pytest.mark.parametrize("flags", [(), ("--parallel", "3")], ids=["in turn", "parallel"])
def test_cases_of_a_file_share_the_memory_of_a_chat_that_the_context_names(
    app: MakeApplication, flags: tuple[str, ...]
) -> None:
    application = app({**agent(hooks=NOTES, cases=TALK), "/ctx.json": '{"chat_id": "monday"}'})

    records = run_cases(application, "--ctx", "ctx.json", *flags)

    assert [record["output"] for record in records.values()] == [["bread"], ["bread", "salt"], ["bread", "salt", "oil"]]
    assert records["salt"]["logs"] == ["the chat monday continues, with its memory, after bread"]


def test_the_second_run_of_the_cases_is_another_chat(app: MakeApplication) -> None:
    application = app({**agent(hooks=NOTES, cases=TALK[:2]), "/ctx.json": '{"chat_id": "monday"}'})

    report = application.report("-i", case_file(), "--ctx", "ctx.json", "--runs", "2")

    seen = {result["id"]: [run["output"] for run in result["run_details"]] for result in report["results"]}
    assert seen == {"bread": [["bread"]] * 2, "salt": [["bread", "salt"]] * 2}


def test_without_a_chat_in_the_context_each_case_is_alone(app: MakeApplication) -> None:
    records = run_cases(app(agent(hooks=NOTES, cases=TALK)))

    assert [record["output"] for record in records.values()] == [["bread"], ["salt"], ["oil"]]


def test_the_cases_of_one_chat_are_in_one_shard(app: MakeApplication) -> None:
    application = app({**agent(hooks=NOTES, cases=TALK), "/ctx.json": '{"chat_id": "monday"}'})

    shards = [run_cases(application, "--ctx", "ctx.json", "--shard", f"{part}/2") for part in (1, 2)]

    assert sorted(map(len, shards)) == [0, 3]
