"""Every way out of a run that handles secrets, beside its reports: recordings, terminals, commands on saved reports,
messages of broken files, tool servers, step summaries, agents that write reports, generated cases."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, lines
from command import COMMAND, Application, MakeApplication, Run
from model_server import ModelServer, says
from table_tests import each

KEY = "sk-key-of-the-model-41"
VARIABLE = "tok-of-the-environment-52"
DOTENV = "tok-of-the-dotenv-63"
PASSWORD = "pw-before-a-host-74"
QUERY = "key-in-a-query-85"
ARGUMENT = "tok-in-an-argument-96"
SECRETS = [KEY, VARIABLE, DOTENV, PASSWORD, QUERY, ARGUMENT]

LEAKY_SERVER = """
import os, sys
sys.stderr.write("cannot use " + os.environ["SERVER_TOKEN"] + " and " + sys.argv[2] + "\\n")
sys.exit(3)
"""
REPORTER = 'export function Next(ctx: any, payload: any) { return { data: "report with " + Process("utils.env.Get", "SERVICE_TOKEN") }; }'
GENERATOR = (
    'export function Generate() { return [{ id: "g", input: "use " + Process("utils.env.Get", "SERVICE_TOKEN") }]; }'
)
HOOKS = """
export function Create(ctx: any, messages: any) { const s = Process("utils.env.Get", "SERVICE_TOKEN"); ctx.Send(s.slice(0, 7)); ctx.Send({ type: "text", props: { content: s.slice(7) } }); return { messages: [...messages, { role: "user", content: "and " + Process("utils.env.Get", "SERVICE_TOKEN") }] }; }
"""


def leaks() -> Any:
    """A model that returns the key of the request, in pieces of two characters, and as the name of a tool."""

    async def behave(exchange: Any) -> None:
        key = exchange.request.headers.get("authorization", "").partition(" ")[2] or "none"
        said = f"{key} {VARIABLE} " + json.dumps({"k": key})
        if any(message["role"] == "tool" for message in exchange.request.body["messages"]):
            await says(said)(exchange)
        else:
            await says(said, tool_calls=[("call_1", f"t__{key}", json.dumps({"key": key}))])(exchange)

    return behave


class Leaking(Application):
    """An application whose commands inherit secret variables."""

    @property
    def environment(self) -> dict[str, str]:
        return {
            **super().environment,
            "SERVER_TOKEN": VARIABLE,
            "MODEL_HOST_URL": f"http://user:{PASSWORD}@127.0.0.1:9/v1?api_key={QUERY}",
        }


@pytest.fixture(scope="module")
def told(shared_app: MakeApplication) -> Iterator[dict[str, str]]:
    """What every way out showed."""
    cases: list[dict[str, Any]] = [
        {"id": "a", "input": f"say {KEY}"},
        {"id": "b", "input": "x", "assert": {"type": "equals", "value": 1}},
        {"id": f"with {VARIABLE}", "input": "x"},
    ]
    server_file = {
        "transport": "stdio",
        "command": sys.executable,
        "arguments": ["-c", LEAKY_SERVER, "--token", ARGUMENT],
        "env": {"SERVER_TOKEN": "$ENV.SERVER_TOKEN"},
    }
    with ModelServer(default=leaks()) as model:

        def connector(host: str, **more: Any) -> str:
            options = {"host": host, "model": "m", "key": KEY, "retries": 0, **more}
            return json.dumps({"type": "openai", "options": options})

        app = shared_app(
            {
                **agent(hooks=HOOKS, package={"connector": "local"}, cases=cases),
                **agent("tooled", package={"connector": "local", "mcp": {"servers": ["leaky"]}}, cases=cases[:1]),
                **agent("lost", package={"connector": "lost"}, cases=cases[:1]),
                **agent("writer", prompts=None, replies=None, hooks=REPORTER),
                "/.env": f"SERVICE_TOKEN={DOTENV}\n",
                "/connectors/local.conn.yao": connector(model.url),
                "/connectors/lost.conn.yao": connector("$ENV.MODEL_HOST_URL", key="sk-another-key-of-a-model"),
                "/mcps/leaky.mcp.yao": json.dumps(server_file),
                "/scripts/make.ts": GENERATOR,
            }
        )
        app.__class__ = Leaking
        yield _all_told(app)


def _all_told(app: Application) -> dict[str, str]:
    found: dict[str, str] = {}
    home = app.home

    def take(name: str, run: Run, *, traced: bool = False) -> Run:
        assert "yao-test crashed" not in run.stderr, run
        assert ("Traceback" in run.stdout + run.stderr) == traced, run
        found[name] = run.stdout + run.stderr
        return run

    cases = "assistants/demo/tests/cases.jsonl"
    saved = str(home / "saved.json")
    take("a recorded run", app.run("-i", cases, "--record", "tapes", "-o", saved, "-v", "-v"))
    found["a saved report"] = Path(saved).read_text()
    found["recordings"] = "".join(f"{path}\n{path.read_text()}" for path in (app.root / "tapes").rglob("*.json"))
    take("a replayed run", app.run("-i", cases, "--replay", "tapes", "-o", str(home / "again.jsonl"), "-v"))
    app.write({"/assistants/demo/prompts.yml": "- { role: system, content: Something else. }"})
    take("a missed recording", app.run("-i", cases, "--replay", "tapes", "-v"))
    take("show", app.run("show", saved))
    take("extract", app.run("extract", saved))
    take("diff", app.run("diff", saved, str(home / "again.jsonl"), "-o", str(home / "diff.html")))
    take("merge", app.run("merge", saved, str(home / "again.jsonl"), "-o", str(home / "merged.md")))
    for name in ("diff.html", "merged.md"):
        found[name] = (home / name).read_text() if (home / name).exists() else ""
    summary = home / "summary.md"
    actions = {**app.environment, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    with app.start("-i", cases, env=actions) as process:
        take("annotations", app.finish(process))
    found["the step summary"] = summary.read_text()
    take("a tool server that ends", app.run("-i", "assistants/tooled/tests/cases.jsonl", "-v", "-v"))
    take("a host that is not there", app.run("-i", "assistants/lost/tests/cases.jsonl", "-v", "-v"))
    take("an agent's report", app.run("-i", cases, "-r", "writer", "-o", str(home / "report.txt")))
    found["an agent's file"] = (home / "report.txt").read_text()
    take("generated cases", app.run("-i", "scripts:make.Generate", "-n", "demo", "--dry-run"))
    made = home / "made.jsonl"
    take("written cases", app.run("-i", "scripts:make.Generate", "-n", "demo", "--dry-run", "-o", str(made)))
    found["the file of cases"] = made.read_text()
    found["a terminal"] = on_terminal(app, "-i", cases, "--interactive")
    good = (app.root / "connectors/local.conn.yao").read_text()
    for number, broken in enumerate([good[:-1], good.replace('"key"', '"kee"'), good.replace('"key": ', '"key" ')]):
        app.write({"/connectors/local.conn.yao": broken})
        take(f"a broken connector {number}", app.run("-i", cases, "-v", "-v"), traced=number != 1)
    app.write(
        {"/connectors/local.conn.yao": good, "/mcps/leaky.mcp.yao": f'{{"transport": "stdio", "env": {{"KEY": "{KEY}"'}
    )
    take("a broken server", app.run("-i", "assistants/tooled/tests/cases.jsonl", "-v", "-v"))
    app.write({cases: lines({"id": "a", "inptu": KEY})})
    take("a broken case", app.run("-i", cases, "-v", "-v"))
    take("schema", app.run("schema"))
    return found


def on_terminal(app: Application, *arguments: str) -> str:
    """What a command shows on a terminal."""
    ours, theirs = pty.openpty()
    environment = {**app.environment, "TERM": "xterm"}
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=app.root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    process.wait(60)
    os.close(ours)
    return shown.decode(errors="replace")


PLACES = [
    "a recorded run",
    "a saved report",
    "recordings",
    "a replayed run",
    "a missed recording",
    "show",
    "extract",
    "diff",
    "merge",
    "diff.html",
    "merged.md",
    "annotations",
    "the step summary",
    "a tool server that ends",
    "a host that is not there",
    "an agent's report",
    "an agent's file",
    "generated cases",
    "written cases",
    "the file of cases",
    "a terminal",
    "a broken connector 0",
    "a broken connector 1",
    "a broken connector 2",
    "a broken server",
    "a broken case",
    "schema",
]


@each("place", PLACES)
def test_no_secret_is_told(told: dict[str, str], place: str) -> None:
    assert [secret for secret in SECRETS if secret in told[place]] == [], told[place]


HIDDEN = {
    "recordings": ["SERVER_TOKEN", "local.key", "SERVICE_TOKEN"],
    "a tool server that ends": ["SERVER_TOKEN", "leaky.token"],
    "an agent's file": ["SERVICE_TOKEN"],
    "the file of cases": ["SERVICE_TOKEN"],
    "a terminal": ["local.key"],
    "the step summary": ["local.key"],
}


@each("place", HIDDEN)
def test_it_would_have_been_told(told: dict[str, str], place: str) -> None:
    text = told[place].replace("\\_", "_")
    assert [name for name in HIDDEN[place] if f"***{name}***" not in text] == [], text


def test_pieces_of_a_secret_that_are_sent_one_by_one_are_hidden(told: dict[str, str]) -> None:
    records = json.loads(told["a saved report"])["results"]
    assert [json.dumps(record["sent"]) for record in records if DOTENV[:7] in json.dumps(record["sent"])] == []
    assert len(records[0]["sent"]) == 2


def test_the_places_are_all_of_them(told: dict[str, str]) -> None:
    assert sorted(told) == sorted(PLACES)
