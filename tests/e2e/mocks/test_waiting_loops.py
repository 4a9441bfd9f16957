"""A loop that waits for a stopped clock and calls processes meanwhile fails early; code that works never does."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, run_cases, server
from command import Files, MakeApplication
from worker_forks import impatient_workers

MODEL = json.dumps(
    {
        "name": "Job",
        "table": {"name": "job"},
        "columns": [{"name": "id", "type": "ID"}, {"name": "name", "type": "string"}, {"name": "n", "type": "integer"}],
        "option": {"timestamps": True},
    }
)
HOOKS = """\
function Create(ctx, messages) {
  const end = Date.now() + 10;
  const said = messages.at(-1).content;
  if (said === "wait") while (Date.now() < end) { Process("models.job.Count", {}); ctx.memory.chat.Get("state"); }
  if (said === "tool") while (!ctx.mcp.CallTool("jobs", "due", { end })) ;
  if (said === "look") while (Date.now() < end) ;
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
    "HookWithTool": 'Process("agents.demo.Stream", "tool");',
}
"""In a loop with several calls, each must count as repeated: one that did not would be progress."""


def jobs(tests: str) -> Files:
    return {
        "loops_test.ts": tests,
        "loops.ts": "export {}",
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


def test_a_loop_that_waits_and_calls_processes_fails_early(
    app: MakeApplication, tmp_path_factory: pytest.TempPathFactory
) -> None:
    application = app(jobs(functions(LOOPS)))
    with impatient_workers(tmp_path_factory.mktemp("parts")):
        records = application.results("-i", "assistants/demo/src/loops_test.ts", "--timeout", "60s", code=1)
    wrong = {
        name: records[f"Test{name}"]
        for name in LOOPS
        if "The clock is stopped" not in str(records[f"Test{name}"]["error"])
    }
    assert not wrong, {name: record["error"] for name, record in wrong.items()}
    assert "calls such as jobs.State in between were answered the same" in records["TestEachOfMany"]["error"]


def test_loops_of_cases_fail_early_too(app: MakeApplication) -> None:
    mocks = {"now": "2030-01-01T00:00:00Z"}
    cases = [{"id": said, "input": said, "mocks": mocks} for said in ("wait", "look", "work")]
    application = app(jobs("") | agent(package={"mcp": {"servers": ["jobs"]}}, hooks=HOOKS, cases=cases))
    records = run_cases(application, "--timeout", "60s", code=1)
    for said in ("wait", "look"):
        assert "The clock is stopped" in records[said]["error"], records[said]["error"]
    assert records["work"]["status"] == "passed"
