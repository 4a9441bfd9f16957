"""What a watched run itself writes starts no other run; what somebody else saves meanwhile does."""

from __future__ import annotations

import json
import re
import sys

import pytest
from command import Application, MakeApplication, eventually
from terminal import Terminal, on_open_terminal
from watching import FILES, WAITING, verdict

from runner.watch.loop import MOST

AGENT = {name: text for name, text in FILES.items() if "/demo/" in name}
WRITES = """\
export function TestWrites(t) {
  const data = new FS("data"), now = String(Date.now() + Math.random());
  data.AppendFile("log.txt", "x");
  data.WriteFile(`seen-${now}.json`, now);
  data.MkdirAll("a/b");
  data.WriteFile("a/b/one.yml", now);
  data.Move("a/b", `moved-${now}`);
  data.Copy(`moved-${now}`, "copied");
  data.Zip("copied", "packed.zip");
  data.Unzip("packed.zip", "unpacked");
  data.WriteFile("old.ts", now);
  data.Remove("old.ts");
  data.RemoveAll("a");
  data.WriteFile(`${data.MkdirTemp("", "*")}/temporary.yml`, now);
  t.snapshot(now.length > 0);
}
"""
HOOK = """\
export function Before(ctx, cases) {
  ctx.workspace?.WriteFile("in.ts", "x");
  new FS("data").AppendFile("cases.yml", "x");
  return 1;
}
"""


def runs(here: Application, file: str = "log.txt") -> int:
    """How often something has appended to a file of the volume."""
    return len((here.root / "data" / file).read_text())


def is_quiet(terminal: Terminal) -> str:
    """What is shown until a change that one test depends on has been tested, and nothing else has run."""
    terminal.application.write({"quiet_test.ts": "export function TestQuiet(t) {}\n"})
    shown = terminal.wait(WAITING)
    assert re.search(r"demo/src/quiet_test\.ts\n|scripts\.demo\.quiet ", shown), shown
    assert len(re.findall("Summary: ", shown)) == 1, shown
    return shown


def test_what_scripts_write_starts_no_run(app: MakeApplication) -> None:
    here = app(
        {
            **AGENT,
            "/data/.keep": "",
            "a_test.ts": WRITES,
            "env_test.ts": HOOK,
            "broken_test.ts": "import { x } from './nowhere';\nexport function TestX(t) {}\n",
            "/assistants/demo/tests/hooked.jsonl": '{"id": "hooked", "input": "Hi", "before": "env_test.Before"}\n',
        }
    )
    with on_open_terminal(here, "--watch", "--parallel", "1") as terminal:
        shown = terminal.wait(WAITING)
        assert len(re.findall("Changed: ", shown)) == 0, shown
        assert (runs(here), runs(here, "cases.yml")) == (1, 1)
        is_quiet(terminal)
        assert (runs(here), runs(here, "cases.yml")) == (1, 1)


def test_reports_that_it_writes_start_no_run(app: MakeApplication) -> None:
    """Also where a module wants a file that is not there, which any other could be."""
    here = app({**AGENT, "/data/.keep": "", "a_test.ts": WRITES, "broken_test.ts": "import './nowhere.json';\n"})
    reports = ("r.json", "r.jsonl", "r.html", "r.xml", "assistants/demo/tests/r.md")
    flags = [word for report in reports for word in ("-o", report)]
    with on_open_terminal(here, "--watch", "--parallel", "1", "--record", "kept", *flags) as terminal:
        terminal.wait(WAITING)
        is_quiet(terminal)
        assert runs(here) == 1, terminal.output


SERVER = """\
import json, pathlib, sys
HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}, "protocolVersion": "2025-06-18"}
ANSWERS = {"initialize": HELLO, "tools/list": {"tools": [{"name": "note", "inputSchema": {"type": "object"}}]}}
def note():
    for name in ("assistants/writer/tests/noted.txt", "data/noted.json"):
        file = pathlib.Path(sys.argv[1], name)
        file.write_text(str(int(file.read_text()) + 1))
    return {"content": [{"type": "text", "text": "noted"}]}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        result = note() if asked["method"] == "tools/call" else ANSWERS[asked["method"]]
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
LATE = SERVER.replace("note() if", '{"content": []} if') + "note()\n"
FEW = 2 + MOST * (MOST + 1)
"""Calls in the runs of two modules, and in all that a file may start each of which it may end as often."""
CALLS = "export function TestCalls(t, ctx) { ctx.agent.Call('writer', [{ role: 'user', content: 'Hi' }]); }\n"


def with_program(app: MakeApplication, **files: str) -> Application:
    """An agent with a tool that counts its calls in two files."""
    here = app(
        {
            **{name.replace("demo", "writer"): text for name, text in AGENT.items() if not name.endswith("jsonl")},
            "/assistants/writer/package.yao": '{"connector": "scripted", "mcp": {"servers": ["notes"]}}',
            "/assistants/writer/replies.yml": "- when: {tool: false}\n  reply: {tool_calls: [note]}\n- reply: Done\n",
            "/assistants/writer/tests/noted.txt": "0",
            "/data/noted.json": "0",
            "/server.py": SERVER,
            **files,
        }
    )
    words = [str(here.root / "server.py"), str(here.root)]
    server = {"transport": "stdio", "command": sys.executable, "arguments": words}
    here.write({"/mcps/notes.mcp.yao": json.dumps(server)})
    return here


def test_what_programs_of_tools_write_starts_no_run(app: MakeApplication) -> None:
    cases = {f"/assistants/writer/tests/{name}.jsonl": f'{{"id": "{name}", "input": "Hi"}}\n' for name in ("a", "z")}
    here = with_program(app, **cases)
    with on_open_terminal(here, "--watch") as terminal:
        terminal.wait(WAITING)
        is_quiet(terminal)
        assert (here.root / "data/noted.json").read_text() == "2"


@pytest.mark.parametrize("server", [SERVER, LATE], ids=["in a call", "at its end"])
def test_a_file_that_each_run_writes_and_reads_starts_few(app: MakeApplication, server: str) -> None:
    """Somebody could have saved it: only that it happens again and again says that nobody did."""
    code = f'import noted from "../../../data/noted.json";\nexport const x = noted;\n{CALLS}'
    here = with_program(app, **{"calls_test.ts": code, "z_test.ts": CALLS.replace("Calls", "Z")})
    here.write({"/server.py": server})
    with on_open_terminal(here, "--watch", "--parallel", "1") as terminal:
        terminal.wait(WAITING)
        saves = settled = 0
        while not settled:
            if terminal.is_idle(WAITING, 2):
                saves += 1
                settled = runs_alone(terminal, f"quiet{saves}")
            # where the machine is so busy that changes come late, they end runs too, and what is saved here comes before
            assert int(counted(here)) <= FEW * (saves + 1 - settled), terminal.output
        assert int(counted(here)) >= 2, terminal.output


def runs_alone(terminal: Terminal, name: str) -> bool:
    """Whether a module that is saved starts a run of its own: changes are told in their order, so none of before is
    still to come."""
    here = terminal.application
    count, shown = counted(here), ""
    here.write({f"{name}_test.ts": "export function TestQuiet(t) {}\n"})
    while name not in shown:
        shown = terminal.wait(WAITING)
    return "noted.json" not in shown and counted(here) == count


def counted(here: Application) -> str:
    return eventually((here.root / "data/noted.json").read_text, "the count is written")  # it is empty while it is


SLOW = """\
export function TestSlow(t) {
  const data = new FS("data");
  data.AppendFile("log.txt", "x");
  while (!data.Exists("go")) Process("utils.time.Sleep", 20);
  data.AppendFile("log.txt", "x");
}
"""


def test_what_somebody_else_saves_meanwhile_starts_one(app: MakeApplication) -> None:
    """Also where scripts write the same file before and after, which a case attaches."""
    attached = {"role": "user", "content": [{"type": "file", "source": "file://../../../data/log.txt"}]}
    here = app(
        {
            **AGENT,
            "/data/log.txt": "",
            "slow_test.ts": SLOW,
            "b_test.ts": FILES["b_test.ts"],
            "data.json": FILES["data.json"],
            "/assistants/demo/tests/reads.jsonl": json.dumps({"id": "reads", "input": attached}) + "\n",
        }
    )
    go = here.root / "data/go"
    with on_open_terminal(here, "--watch", "--parallel", "1") as terminal:
        go.touch()
        terminal.wait(WAITING)
        is_quiet(terminal)
        for file, text, name in (
            ("b_test.ts", FILES["b_test.ts"] + "\n", "demo.b"),
            ("/data/log.txt", "mine", "reads"),
        ):
            go.unlink()
            before = runs(here)
            here.write({"slow_test.ts": f"{SLOW}// {file}\n"})
            while runs(here) == before:
                assert terminal.process.poll() is None
            here.write({file: text})
            go.touch()
            shown = terminal.wait(WAITING)
            if name not in shown.rpartition("Summary: ")[0].partition("slow_test.ts")[2]:
                shown = terminal.wait(WAITING)
            assert name in shown, shown
        here.write({"slow_test.ts": SLOW})
        assert verdict(terminal)[0] == "assistants/demo/src/slow_test.ts"
