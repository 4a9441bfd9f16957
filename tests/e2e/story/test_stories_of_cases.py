"""`-v`: the story of the hooks and tools of a failed case."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from agent_files import agent, server
from command import Application, MakeApplication, Record

HOOKS = """const LIMIT = 3;
function Create(ctx: agent.Context, messages: any[]) {
  const drawn = [Math.random(), Process("scripts.sky.Draw")];
  ctx.memory.chat.Set("drawn", drawn);
  const city = messages.at(-1).content.split(" ").at(1);
  return { messages: [{ role: "user", content: `Weather in ${city}?` }] };
}
function Next(ctx: agent.Context, payload: any) {
  const days = [1, 2, 3].filter((day) => day < LIMIT);
  const password = "open sesame";
  return { data: { days, drawn: ctx.memory.chat.Get("drawn"), celsius: payload.tools[0].result.celsius, password } };
}
"""
TOOL = """function Weather(args: any) {
  const fs = new FS("data");
  const asked = fs.Exists("asked.txt") ? Number(fs.ReadFile("asked.txt")) : 0;
  fs.WriteFile("asked.txt", String(asked + 1));
  const { fahrenheit } = http.Get(args.url).data;
  const celsius = (fahrenheit - 30) * 5 / 9;
  return { celsius, drawn: Math.random() };
}
function Draw() { return Math.random(); }
"""
CHECKS = [
    {"type": "json_path", "path": "days.length", "value": 3},
    {"type": "json_path", "path": "celsius", "value": 10},
]


class Sky(HTTPServer):
    """A host that counts how often it was asked."""

    asked = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Sky)
        self.server.asked += 1
        body = json.dumps({"fahrenheit": 50 + self.server.asked - 1}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


def made(app: MakeApplication, url: str, *cases: Record) -> Application:
    call = json.dumps({"name": "weather", "arguments": {"url": url}})
    replies = f"- when: {{ tool.name: weather }}\n  reply: done\n- reply: {{ tool_calls: [{call}] }}\n"
    package = {"mcp": {"servers": ["sky"]}}
    return app(
        {
            **agent(package=package, replies=replies, hooks=HOOKS, cases=list(cases)),
            **server("sky", {"weather": "scripts.sky.Weather"}),
            "/scripts/sky.ts": TOOL,
        }
    )


def test_hooks_and_tools_tell_where_the_bugs_are(app: MakeApplication) -> None:
    sky = Sky()
    good = {"id": "good", "input": "in Oslo"}
    here = made(app, sky.url, {"id": "bad", "input": "in Rome", "assert": CHECKS}, good)
    flags = ("--allow-net", "127.0.0.1", "--coverage", "-o", f"{here.home}/r.md", "-o", f"{here.home}/r.html")
    run = here.run("-i", "assistants", "--run", "bad", "--json", "-v", *flags)
    sky.shutdown()
    sky.server_close()
    found = json.loads(run.stdout)
    (failure,) = found["failures"]
    story = failure["story"]
    assert [line["text"] for line in story if line["kind"] in ("flaky", "note", "cut")] == []
    assert [line["calls"].partition("(")[0] for line in story if line["depth"] == 0 and "calls" in line] == [
        "Create",
        "Weather",
        "Next",
    ]
    at = {(line["file"], line["line"]): line for line in story}
    hook, tool = at["assistants/demo/src/index.ts", 9], at["scripts/sky.ts", 6]
    assert hook["assigned"]["days"] == [1, 2]
    assert tool["assigned"]["celsius"] == 20 * 5 / 9
    assert tool["read"]["fahrenheit"] == 50
    assert sum(line.get("assigned", {}).get("LIMIT") == 3 for line in story) == 1
    assert "open sesame" not in json.dumps(story)
    assert at["assistants/demo/src/index.ts", 3]["assigned"]["drawn"] == found["results"][0]["output"]["drawn"]
    assert sky.asked == 1
    assert (here.root / "data/asked.txt").read_text() == "1"
    shown = "celsius = 11.11111111111111"
    assert shown in (here.home / "r.md").read_text()
    assert "What happened before it failed" in (here.home / "r.html").read_text()


def test_who_gets_a_story(app: MakeApplication) -> None:
    case = {"input": "in Rome", "assert": CHECKS, "mocks": {"http": {"*": {"data": {"fahrenheit": 50}}}}}
    here = made(app, "http://sky.example/", *({**case, "id": f"bad{number}"} for number in range(4)))
    shown = "days = [1, 2]"
    counts = {
        flags: here.run("-i", "assistants", *flags).stdout.count(shown)
        for flags in [("-v",), (), ("--story",), ("--story=all",), ("-v", "--story=off")]
    }
    assert counts == {("-v",): 3, (): 0, ("--story",): 0, ("--story=all",): 4, ("-v", "--story=off"): 0}


def test_the_end_of_endless_hooks_and_what_differs(app: MakeApplication) -> None:
    endless = "function Create(ctx, messages) {\n  let at = 0;\n  while (true) at++;\n}\n"
    cases = [{"id": "endless", "input": "x", "timeout": "200ms"}]
    here = app(agent(hooks=endless, cases=cases))
    (failure,) = json.loads(here.run("-i", "assistants", "--story=all", "--json").stdout)["failures"]
    assert failure["cause"] == "timeout"
    assert {(line["line"], line["kind"]) for line in failure["story"]} >= {(1, "calls"), (3, "assigned")}
