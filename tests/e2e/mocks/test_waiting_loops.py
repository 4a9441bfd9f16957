"""A loop that waits for a stopped clock and calls processes meanwhile fails early; code that works never does."""

from __future__ import annotations

import json

from agent_files import agent, run_cases, server
from command import Files, MakeApplication

MODEL = json.dumps(
    {
        "name": "Job",
        "table": {"name": "job"},
        "columns": [{"name": "id", "type": "ID"}, {"name": "name", "type": "string"}, {"name": "n", "type": "integer"}],
        "option": {"timestamps": True},
    }
)
POLL = """\
export function Due(end) { return Date.now() >= end; }
"""
HOOKS = """\
function Create(ctx, messages) {
  const end = Date.now() + 10;
  const said = messages.at(-1).content;
  if (said === "wait") while (Date.now() < end) { Process("models.job.Count", {}); ctx.memory.chat.Get("state"); }
  if (said === "tool") while (!ctx.mcp.CallTool("jobs", "due", { end })) ;
  if (said === "work") for (let i = 0; i < 200; i++) { Process("models.job.Count", {}); Date.now(); }
  return {};
}
"""
LOOPS = {
    "EachOfMany": """t.mock.process("jobs.State", "busy");
while (performance.now() < 1e9) {
  await new Promise((go) => setTimeout(go, 0));
  Process("models.job.Count", {}); Process("models.job.Get", { limit: 1 }); Process("jobs.State");
}""",
    "Writes": 'while (Date.now() < end) Process("models.job.Update", 1, { n: 5 });',
    "HookWithTool": 'Process("agents.demo.Stream", "tool");',
}
"""In a loop with several calls, each must count as repeated: one that did not would be progress."""
WORK = {
    "SameRow": 'for (let i = 0; i < 2500; i++) { Process("models.job.Find", 1, {}); Date.now(); }',
    "MockedMany": 't.mock.process("config.Get", 1); for (let i = 0; i < 20000; i++) { Process("config.Get"); Date.now(); }',
    "OtherArguments": 'for (let i = 0; i < 3500; i++) { Process("models.job.Update", 1, { n: i }); Date.now(); }',
    "Inserts": 'for (let i = 0; i < 3500; i++) { Process("models.job.Create", { name: "x" }); Date.now(); }',
    "Pages": 'for (let i = 0; i < 16; i++) { for (let page = 1; page < 200; page++) Process("models.job.Paginate", {}, page, 10); Date.now(); }',
    "Queue": 'new Store("q").Push("l", ...Array(3500).fill(1)); let n = 0; while (new Store("q").Pop("l", 1) !== undefined) { Date.now(); n++; } t.assert.Equal(n, 3500);',
    "Moves": 'while (Date.now() < end + 3500) { Process("models.job.Count", {}); t.mock.advance(1); }',
    "Sleep": 'while (Date.now() < end + 3500) { Process("models.job.Count", {}); time.Sleep(1); }',
    "Hook": 'Process("agents.demo.Stream", "work");',
    "Scripts": 'for (let i = 0; i < 500; i++) Process("scripts.demo.poll.Due", end);',
    "SlowPoll": 'let n = 0; t.mock.process("jobs.State", () => ++n < 30 ? "busy" : "done"); while (Process("jobs.State") !== "done") { Date.now(); Process("models.job.Count", {}); }',
}
"""Most have more rounds than those of a loop that waits."""


def jobs(tests: str) -> Files:
    return {
        "loops_test.ts": tests,
        "loops.ts": "export {}",
        "poll.ts": POLL,
        "/models/job.mod.yao": MODEL,
        **agent(package={"mcp": {"servers": ["jobs"]}}, hooks=HOOKS),
        **server("jobs", {"due": "scripts.demo.tools.Due"}),
        "/assistants/demo/src/tools.ts": "function Due({ end }) { return Date.now() >= end; }",
    }


def functions(loops: dict[str, str]) -> str:
    return "".join(
        f"export async function Test{name}(t, ctx) {{ t.db.seed({{ job: [{{ name: 'a', n: 1 }}] }}); "
        f't.mock.now("2030-01-01"); const end = Date.now() + 10; {body} }}\n'
        for name, body in loops.items()
    )


def test_a_loop_that_waits_and_calls_processes_fails_early(app: MakeApplication) -> None:
    application = app(jobs(functions(LOOPS)))
    records = application.results("-i", "assistants/demo/src/loops_test.ts", "--timeout", "60s", code=1)
    wrong = {
        name: records[f"Test{name}"]
        for name in LOOPS
        if "The clock stands still" not in str(records[f"Test{name}"]["error"])
    }
    assert not wrong, {name: record["error"] for name, record in wrong.items()}
    assert "calls such as jobs.State in between were answered the same" in records["TestEachOfMany"]["error"]


def test_work_that_repeats_itself_never_fails(app: MakeApplication) -> None:
    application = app(jobs(functions(WORK)))
    records = application.results("-i", "assistants/demo/src/loops_test.ts", "--timeout", "60s")
    assert {record["status"] for record in records.values()} == {"passed"}, records


def test_loops_of_cases_fail_early_too(app: MakeApplication) -> None:
    mocks = {"now": "2030-01-01T00:00:00Z"}
    cases = [{"id": said, "input": said, "mocks": mocks} for said in ("wait", "work")]
    application = app(jobs("") | agent(package={"mcp": {"servers": ["jobs"]}}, hooks=HOOKS, cases=cases))
    records = run_cases(application, "--timeout", "60s", code=1)
    assert "The clock stands still" in records["wait"]["error"], records["wait"]["error"]
    assert records["work"]["status"] == "passed"
