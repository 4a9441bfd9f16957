"""Keys go to the hosts that they belong to, and to nobody else: other hosts, prompts, children."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, lines
from command import Application, MakeApplication
from model_server import ModelServer

KEY = "sk-0123456789-abcdef"
CASES = "assistants/demo/tests/cases.jsonl"


def redirects_to(url: str) -> Any:
    async def behave(exchange: Any) -> None:
        await exchange.respond(307, b"", {"location": f"{url}/v1/chat/completions"})

    return behave


@pytest.mark.parametrize("mode", ["bearer", "api-key", "x-api-key"])
def test_a_key_does_not_follow_a_redirect(app: MakeApplication, mode: str) -> None:
    with ModelServer() as thief, ModelServer(default=redirects_to(thief.url)) as host:
        options = {"host": host.url, "model": "m", "key": "$ENV.MODEL_KEY", "auth_mode": mode, "retries": 0}
        made = app(
            {
                **agent(package={"connector": "c"}, cases=[{"id": "a", "input": "x"}]),
                "/connectors/c.conn.yao": json.dumps({"type": "openai", "options": options}),
            }
        )
        run = made.run("-i", CASES, env={**made.environment, "MODEL_KEY": KEY})
        assert run.code == 1, run
        assert KEY in repr(host.requests)
        assert thief.requests == []


def test_a_script_that_is_redirected_to_another_host_does_not_take_its_key_along(app: MakeApplication) -> None:
    names = ["Authorization", "X-Api-Key", "Api-Key", "Cookie"]
    with ModelServer() as thief, ModelServer(default=redirects_to(thief.url)) as host:
        headers = json.dumps({name: f"{KEY}-{name}" for name in names} | {"X-Other": "stays"})
        code = f'export function TestA(t: any) {{ http.Post("{host.url}/", {{}}, {{}}, {{}}, {headers}); }}'
        made = app({"a_test.ts": code})
        allowed = ",".join(server.url.partition("//")[2] for server in (thief, host))
        assert made.run("-i", "scripts.demo.a", f"--allow-net={allowed}").code == 0
        assert [f"{KEY}-{name}" in repr(host.requests) for name in names] == [True] * 4
        assert KEY not in repr(thief.requests)
        assert thief.requests[0].headers["x-other"] == "stays"


PROMPTS: dict[str, tuple[str, str, str]] = {
    "a secret of the environment": ("$ENV.MODEL_KEY", "", "$ENV.MODEL_KEY is a secret"),
    "a secret that .env names": ("$ENV.MODEL_KEY", "MODEL_KEY=\n", "$ENV.MODEL_KEY is a secret"),
    "a secret of .env": ("{{ $ENV.SERVICE_TOKEN }}", "SERVICE_TOKEN=tok-0123456\n", "$ENV.SERVICE_TOKEN is a secret"),
    "the key of a connector": ("$ENV.PLAIN", "PLAIN=plain-value-1\n", "$ENV.PLAIN is a secret"),
    "a variable that .env does not name": ("$ENV.MACHINE", "", "the application's .env does not name it"),
}


def prompted(app: MakeApplication, prompt: str, dotenv: str) -> Application:
    options = {"host": "http://127.0.0.1:9", "model": "m", "key": "$ENV.PLAIN"}
    return app(
        {
            **agent(prompts=f"- {{ role: system, content: 'Say: {prompt}' }}", cases=[{"id": "a", "input": "x"}]),
            "/assistants/demo/replies.yml": "- reply: { json: '{{ messages }}' }",
            "/connectors/c.conn.yao": json.dumps({"type": "openai", "options": options}),
            "/.env": dotenv,
        }
    )


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_gets_no_secret_and_nothing_that_env_does_not_name(app: MakeApplication, name: str) -> None:
    prompt, dotenv, why = PROMPTS[name]
    made = prompted(app, prompt, dotenv)
    run = made.fork("-i", CASES, "-v", env={**made.environment, "MODEL_KEY": KEY, "MACHINE": "of-the-machine"})
    assert run.code == 1, run
    assert f"Cannot use the prompts of demo: {prompt.strip('{ }')}" in run.stdout
    assert why in run.stdout
    assert "of-the-machine" not in run.stdout
    assert KEY not in run.stdout


@pytest.mark.parametrize(
    ("prompt", "dotenv", "said"),
    [
        ("$ENV.REGION", "REGION=north\n", "Say: north"),
        ("$ENV.REGION", "export REGION=\n", "Say: south"),
        ("$ENV.MAX_TOKENS", "MAX_TOKENS=4000\n", "Say: 4000"),
        ("$ENV.MISSING.", "", "Say: ."),
        ("$ENV.MISSING_KEY.", "", "Say: ."),
    ],
)
def test_a_prompt_gets_what_env_names(app: MakeApplication, prompt: str, dotenv: str, said: str) -> None:
    made = prompted(app, prompt, dotenv)
    environment = {**made.environment, **({"REGION": "south"} if "=\n" in dotenv else {})}
    path = made.home / "out.json"
    run = made.run("-i", CASES, "-o", str(path), env=environment)
    assert run.code == 0, run
    assert said in path.read_text()


SERVER = """
import json, os, pathlib
def environ(pid):
    try: return pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError: return ""
pids = [p for p in os.listdir("/proc") if p.isdigit()]
def parent(pid):
    try: return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    except OSError: return ""
command = parent(os.getppid())
children = [p for p in pids if parent(p) == command] + [str(os.getpid())]
found = {p: [pathlib.Path(f"/proc/{p}/cmdline").read_text(), environ(p)] for p in children}
pathlib.Path(OUT).write_text(json.dumps(found))
raise SystemExit(3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of processes")
def test_no_child_inherits_a_secret_variable(app: MakeApplication, tmp_path: Path) -> None:
    out = tmp_path / "children.json"
    server = {
        "transport": "stdio",
        "command": sys.executable,
        "arguments": ["-c", SERVER.replace("OUT", repr(str(out)))],
        "env": {"OWN_TOKEN": "$ENV.OWN_TOKEN"},
    }
    hooks = "export function Create(ctx: any) { return {}; }"
    package = {"mcp": {"servers": ["s"]}}
    made = app(
        {
            **agent(hooks=hooks, package=package, cases=[{"id": "a", "input": "x"}]),
            "/mcps/s.mcp.yao": json.dumps(server),
            CASES: lines({"id": "a", "input": "x"}),
        }
    )
    own = "tok-of-the-server-1"
    secrets = {"MODEL_KEY": KEY, "DATABASE_URL": f"postgres://app:{KEY}@db/x", "OWN_TOKEN": own, "PLAIN": "plain"}
    made.fork("-i", CASES, env={**made.environment, **secrets})
    found: dict[str, list[str]] = json.loads(out.read_text())
    shown = {command.replace("\0", " "): environment for command, environment in found.values()}
    assert any("esbuild" in command for command in shown)
    assert any("worker" in command for command in shown)
    assert [command for command, environment in shown.items() if KEY in environment] == []
    assert [own in environment for command, environment in shown.items() if "esbuild" in command] == [False]
    assert any(own in environment for environment in shown.values())
