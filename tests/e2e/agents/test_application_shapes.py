"""Things that real applications contain: unknown MCP servers, hooks of an old form, folders of agents."""

from __future__ import annotations

import sys

import pytest
from agent_files import agent, run_cases, server
from command import MakeApplication

REPLIES = """\
- when: { tool.name: x }
  reply: "told: {{ tool.result }}"
- when: { input: call }
  reply: { tool_calls: [{ name: gone__x, arguments: {} }] }
- reply: "{{ tools }}"
"""


def test_an_unknown_server_is_a_warning_until_it_is_called(app: MakeApplication) -> None:
    cases = [{"id": "quiet", "input": "hello"}, {"id": "called", "input": "call"}]
    files = agent(package={"mcp": {"servers": ["gone", "here"]}}, replies=REPLIES, cases=cases)
    application = app({**files, **server("here", {"ping": "utils.now.Date"})})
    records = run_cases(application)
    assert records["quiet"]["output"] == '["ping"]'
    assert any("Cannot find MCP server gone; there are here" in line for line in records["quiet"]["logs"])
    assert "Cannot find MCP server gone; there are here" in str(records["called"]["tools"])


def test_hooks_of_an_old_form_say_what_to_write(app: MakeApplication) -> None:
    hooks = "function Create(input, option) { return { messages: input }; }"
    application = app(agent(hooks=hooks, cases=[{"id": "a", "input": "x"}]))
    said = run_cases(application)["a"]["error"]
    assert "Create(input, option) is an old form of hook" in said
    assert "write Create(ctx, messages, options)" in said


def test_a_folder_of_agents_is_not_taken_for_an_agent(app: MakeApplication) -> None:
    application = app({**agent("robot.one"), **agent("robot.two"), "a_test.ts": "export function TestA(t) {}"})
    run = application.run("-i", "scripts.robot")
    assert run.code == 2
    assert "robot is a folder of agents, not an agent: robot.one, robot.two" in run.stderr
    assert '-i "scripts.robot.*"' in run.stderr


def test_test_files_that_nobody_collects_are_named(app: MakeApplication) -> None:
    test = "export function TestA(t) {}"
    application = app({"a_test.ts": test, "/scripts/books/b_test.ts": test, "/data/pages/c_test.ts": test, **agent()})
    for inputs, named in (
        ((), "scripts/books/b_test.ts"),
        (("-i", "."), "data/pages/c_test.ts, scripts/books/b_test.ts"),
    ):
        run = application.run(*inputs)
        assert run.code == 0
        assert f"Not collected: {named}. Tests must be in the src/ folder of an agent" in run.stdout + run.stderr
    assert "Not collected" not in str(application.run("-i", "assistants"))


def test_tests_of_an_agent_that_is_not_below_assistants_are_named(app: MakeApplication) -> None:
    application = app({"a_test.ts": "export function TestA(t) {}"})
    for place in ("inner/assistants/one", "real/two"):
        application.write({f"/{place}/package.yao": "{}", f"/{place}/src/b_test.ts": "export function TestB(t) {}"})
    (application.root / "assistants/linked").symlink_to("../real/two")
    said = "Not collected: inner/assistants/one/src/b_test.ts. Tests must be in the src/ folder of an agent"
    run = application.run("-i", ".")
    assert said in run.stdout + run.stderr
    assert "Not collected" not in str(application.run("-i", "real"))


PLAIN = """\
function Twice() { return "first"; }
const arrow = () => `a
const TestQuoted = () => {}
`;
const kept = 1;
class Klass {
  name() { return "script"; }
}
function Sloppy() { leaked = 010; with ({ a: 3 }) { return [typeof leaked, leaked, a, arguments.callee.name, typeof this]; } }
function Twice(a, a) { return "last" + a; }
{ function Annex() { return "annex"; } }
function Assigns() { kept = 2; }
async function Later() { await null; throw new Error("later"); }
"""
PLAIN_TESTS = """\
class Klass {
  name() { return "test"; }
}
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
const TestNames = (t) => {
  t.assert.Equal([Twice(1, 2), Sloppy(), Annex(), arrow()], ["last2", ["number", 8, 3, "Sloppy", "object"], "annex", "a\\nconst TestQuoted = () => {}\\n"]);
  t.assert.Equal(tried(Assigns), "'kept' is read-only");
}, TestOther = async (t) => {
  await t.require.Panic(Later, "later");
};
function TestRequire(t) { t.require.True(true); }
async function TestLost(t) { Promise.reject(new Error("lost")); await null; }
"""


def test_plain_scripts_run_as_they_are(app: MakeApplication) -> None:
    files = {"a.js": PLAIN, "a_test.js": PLAIN_TESTS, "/scripts/a.js": PLAIN}
    process = 'export function TestProcess(t) { t.assert.Equal([Process("scripts.a.Twice", 1, 2), Process("scripts.a.arrow").length], ["last2", 30]); }'
    results = app({**files, "b_test.ts": process}).results("-i", "scripts.demo", code=1)
    assert {name: result["status"] for name, result in results.items()} == {
        "a.TestNames": "passed",
        "a.TestOther": "passed",
        "a.TestRequire": "passed",
        "a.TestLost": "failed",
        "b.TestProcess": "passed",
    }
    assert "a_test.js:12" in str(results["a.TestLost"])


def test_hooks_in_plain_scripts_run_as_they_are(app: MakeApplication) -> None:
    hooks = 'function Next() { return { data: "first" }; }\nfunction Next() { return { data: [typeof this, 010] }; }'
    application = app({**agent(cases=[{"id": "a", "input": "x"}]), "index.js": hooks})
    assert run_cases(application)["a"]["output"] == ["object", 8]


SYSTEM_FILES = """\
const fs = (name, ...args) => Process("fs.system." + name, ...args);
export function TestFiles(t) {
  t.assert.Equal([fs("WriteFile", "/d/a.txt", "hi"), fs("AppendFile", "/d/a.txt", "!"), fs("ReadFile", "/d/a.txt")], [2, 1, "hi!"]);
  t.assert.Equal([fs("Exists", "/d/a.txt"), fs("IsFile", "/d"), fs("IsDir", "/d"), fs("Size", "/d/a.txt")], [true, false, true, 3]);
  t.assert.Equal([fs("Copy", "/d/a.txt", "/d/b.txt"), fs("Move", "/d/b.txt", "/d/c.txt"), fs("ReadDir", "/d")], [null, null, ["/d/a.txt", "/d/c.txt"]]);
  t.assert.Equal([fs("BaseName", "/d/c.txt"), fs("ExtName", "/d/c.txt"), fs("DirName", "/d/c.txt")], ["c.txt", ".txt", "/d"]);
  t.assert.Equal([Process("fs.data.ReadFile", "/d/c.txt"), new FS("system").ReadFile("/d/c.txt")], ["hi!", "hi!"]);
  t.require.Panic(() => fs("ReadFile", "../app.yao"), "leaves the volume");
  t.assert.Equal([fs("RemoveAll", "/d"), fs("Exists", "/d")], [null, false]);
}
"""


def test_the_system_volume_is_the_data_of_the_application(app: MakeApplication) -> None:
    application = app({"a_test.ts": SYSTEM_FILES, **agent()})
    application.results("-i", "scripts.demo.a", code=0)
    assert not (application.root / "data/d").exists()


MEMBERS = """\
export function TestMembers(t, ctx) {
  const expected = {
    memory: ["user", "team", "chat", "context"],
    trace: ["id", "Add", "Parallel", "Info", "Debug", "Warn", "Error", "SetOutput", "SetMetadata", "Complete", "Fail", "MarkComplete", "IsComplete", "CreateSpace", "GetSpace", "Release"],
    mcp: ["ListTools", "CallTool", "CallTools", "CallToolsParallel", "All", "Any", "Race", "ListResources", "ReadResource", "ListPrompts", "GetPrompt", "ListSamples", "GetSample"],
    agent: ["Call", "All", "Any", "Race"],
    llm: ["Stream", "All", "Any", "Race", "GenerateImage"],
    search: ["Web", "KB", "DB", "All", "Any", "Race"],
  };
  const own = ["chat_id", "assistant_id", "locale", "theme", "route", "referer", "accept", "client", "metadata", "authorized",
    "Send", "SendStream", "Append", "Replace", "Merge", "Set", "End", "MessageID", "BlockID", "ThreadID", "EndBlock", "Release", "__release"];
  const missing = own.filter((name) => ctx[name] === undefined);
  for (const [group, names] of Object.entries(expected)) missing.push(...names.filter((name) => ctx[group][name] === undefined));
  for (const name of ["Get", "Set", "Del", "Has", "GetDel", "Keys", "Len", "Clear", "Incr", "Decr", "Push", "Pop", "Pull", "PullAll", "AddToSet", "ArrayLen", "ArrayGet", "ArraySet", "ArraySlice", "ArrayPage", "ArrayAll"])
    missing.push(...expected.memory.filter((space) => typeof ctx.memory[space][name] !== "function"));
  t.assert.Equal(missing, []);
  const [open, first] = [ctx.SendStream({ type: "text", props: { content: "a" } }), ctx.Send("b")];
  t.assert.Equal([ctx.Append(open, "c"), ctx.Merge(open, { x: 1 }, "props"), ctx.Set(open, 2, "props.y"), ctx.End(open)], [open, open, open, open]);
  t.assert.Equal([open, first, ctx.MessageID(), ctx.BlockID(), ctx.ThreadID()], ["M1", "M2", "M3", "B1", "T1"]);
  t.require.Panic(() => ctx.Send(), "Send requires a message argument");
  const user = ctx.memory.user;
  t.assert.Equal([user.Incr("n", 4), user.Decr("n"), user.Set("p:1", 1), user.Del("p:*"), user.Keys(), user.Get("p:1")], [4, 3, null, null, ["n"], null]);
  t.assert.Match(ctx.search.Web("x").error, "search.Web");
  t.assert.Match(ctx.llm.GenerateImage("scripted", "cat").error, "llm.ImageGeneration");
}
"""


def test_the_context_has_what_handlers_use(app: MakeApplication) -> None:
    record = app({"a_test.ts": MEMBERS, **agent()}).results("-i", "scripts.demo.a", code=0)["TestMembers"]
    missing = {call["call"] for call in record["outside"] if call["answered"] == "missing"}
    assert missing == {"search.Web", "llm.ImageGeneration scripted"}


def test_what_needs_an_extra_is_missing(app: MakeApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("bcrypt", "markdownify"):
        monkeypatch.setitem(sys.modules, library, None)
    test = """\
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
export function TestExtras(t) {
  t.assert.Match(Process("text.MarkdownToHTML", "# Hi"), "<h1.*>Hi</h1>");
  t.assert.Equal(tried(() => Process("text.HTMLToMarkdown", "<h1>Hi</h1>")), 'text.HTMLToMarkdown: the package "markdownify" is not installed: pip install \\'markdownify>=1.1\\'');
  t.assert.Equal(tried(() => Process("models.__yao.user.Create", { user_id: "a", password_hash: "b" })), 'password_hash: the package "bcrypt" is not installed: pip install \\'bcrypt>=4\\'');
}
"""
    record = app({"a_test.ts": test, **agent()}).results("-i", "scripts.demo.a", code=0)["TestExtras"]
    missing = {call["call"] for call in record["outside"] if call["answered"] == "missing"}
    assert missing == {"text.HTMLToMarkdown", "models.__yao.user.Create"}
