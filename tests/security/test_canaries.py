"""Planted secrets: nothing that a run writes, and no process that it starts, contains one in any known form.

The environment, `.env`, a connector file and the `env` of an MCP server each have one. The run has failures, errors and
recordings, and what it tests says all secrets in all forms.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from agent_files import agent
from command import Application, MakeApplication
from model_server import ModelServer
from table_tests import each

VARIABLE, DOTENV, CONNECTOR, SERVER = (f'canary+{place}/"&x=-{number}' for number, place in enumerate("abcd"))
ADDRESS = "canary-of-an-address-77"
SECRETS = {"variable": VARIABLE, "dotenv": DOTENV, "connector": CONNECTOR, "server": SERVER, "address": ADDRESS}
CASES = "assistants/demo/tests/cases.jsonl"

SERVER_CODE = """
import json, os, pathlib, sys
def read(pid, name):
    try: return pathlib.Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="replace")
    except OSError: return ""
def parent(pid): return (read(pid, "stat").rpartition(")")[2].split() or ["", "0"])[1]
command = parent(os.getppid())
children = [pid for pid in os.listdir("/proc") if pid.isdigit() and parent(pid) == command]
pathlib.Path(OUT).write_text(json.dumps({pid: [read(pid, "cmdline"), read(pid, "environ")] for pid in children}))
sys.stderr.write("cannot use " + os.environ["OWN_TOKEN"] + "\\n")
sys.exit(3)
"""


def forms(secret: str) -> dict[str, str]:
    """A secret in the forms that programs write."""
    data = secret.encode()
    shifted = {f"base64, shifted by {n}": base64.b64encode(b"." * n + data + b"..").decode() for n in range(3)}
    return {
        "itself": secret,
        "JSON": json.dumps(secret)[1:-1],
        "JSON in JSON": json.dumps(json.dumps(secret))[3:-3],
        "URL": quote(secret, safe=""),
        "query": quote_plus(secret).lower(),
        "HTML": html.escape(secret),
        "XML": html.escape(secret).replace("&#x27;", "&apos;").replace("&quot;", "&#34;"),
        "hexadecimal": data.hex(),
        "HEXADECIMAL": data.hex().upper(),
        **shifted,
        "base64url": base64.urlsafe_b64encode(data).decode(),
    }


def found_in(text: str, secret: str) -> list[str]:
    """The forms of a secret that a text contains; of base64 only the characters that depend on the secret alone."""
    return [name for name, form in forms(secret).items() if (form[4:-4] if "base64" in name else form) in text]


SCRIPT = """
export function TestTells(t: any) {
  Process("utils.env.Get", "SERVICE_TOKEN"); // who has read a secret can tell it
  const forms: string[] = FORMS;
  for (const form of forms) { t.log(form); console.error(form); }
  t.snapshot(forms);
  t.assert.Equal(forms, []);
  throw new Error(forms.join(" "));
}
"""


@pytest.fixture(scope="module")
def told(shared_app: MakeApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    out = tmp_path_factory.mktemp("canaries") / "children.json"
    every = [form for secret in SECRETS.values() for form in forms(secret).values()]
    wrapped = [
        "\n".join(re.findall(".{1,64}", base64.b64encode(f"{'-' * 50}{s}{'-' * 50}".encode()).decode()))
        for s in SECRETS.values()
    ]
    said = json.dumps([*every, *wrapped])

    async def tells(exchange: Any) -> None:
        message = {"role": "assistant", "content": f"{said} {exchange.request.headers.get('authorization')}"}
        body = {"choices": [{"message": message, "finish_reason": "stop"}]}
        await exchange.respond(200, json.dumps(body).encode())

    with ModelServer(default=tells) as host:
        options = {"host": host.url, "model": "m", "key": CONNECTOR, "retries": 0, "streaming": False}
        server = {
            "transport": "stdio",
            "command": sys.executable,
            "arguments": ["-c", SERVER_CODE.replace("OUT", repr(str(out)))],
            "env": {"OWN_TOKEN": SERVER},
        }
        cases = [
            {"id": "plain", "input": "x"},
            {"id": f"named {VARIABLE}", "input": said, "assert": {"type": "equals", "value": said}},
        ]
        app = shared_app(
            {
                **agent(hooks="export function Create() { return {}; }", package={"connector": "c"}, cases=cases),
                **agent("tooled", package={"connector": "c", "mcp": {"servers": ["s"]}}, cases=cases[:1]),
                "/.env": f"SERVICE_TOKEN='{DOTENV}'\n",
                "/connectors/c.conn.yao": json.dumps({"type": "openai", "options": options}),
                "/mcps/s.mcp.yao": json.dumps(server),
                "tells_test.ts": SCRIPT.replace("FORMS", said),
            }
        )
        yield _told(app, out)


def _told(app: Application, out: Path) -> dict[str, str]:
    environment = {**app.environment, "MODEL_KEY": VARIABLE, "PROXY_URL": f"http://u:{ADDRESS}@proxy.example:1"}
    folder = app.home / "out"
    reports = [
        word
        for end in ("html", "xml", "json", "jsonl", "md", "ctrf.json", "txt")
        for word in ("-o", f"{folder}/r.{end}")
    ]
    inputs = ["-i", CASES, "-i", "assistants/tooled/tests/cases.jsonl", "-i", "scripts.demo.tells"]
    run = app.fork(*inputs, "-v", "-v", "--record", str(folder / "tapes"), *reports, env=environment)
    assert run.code == 1, run
    written = {str(path): unpacked(path.read_text()) for path in folder.rglob("*") if path.is_file()}
    snapshots = {str(path): path.read_text() for path in app.source.rglob("*.snap")}
    store = {str(path): path.read_text(errors="replace") for path in app.root.rglob(".yao-test/**/*") if path.is_file()}
    found = {"output": run.stdout, "errors": run.stderr, "children": out.read_text(), "names": "\n".join(written)}
    assert len(written) >= 9
    assert snapshots
    assert any("***" in text for text in written.values())
    return {**found, **{name.rpartition(".")[2] + name: text for name, text in (written | snapshots | store).items()}}


def unpacked(text: str) -> str:
    """A page with the data that it carries in blocks."""
    blocks = re.findall(r">([A-Za-z0-9+/=]{40,})<", text)
    return text + "".join(
        gzip.decompress(base64.b64decode(block)).decode() for block in blocks if block.startswith("H4sI")
    )


@each("secret", SECRETS)
def test_nothing_that_is_written_and_no_child_holds_a_planted_secret(told: dict[str, str], secret: str) -> None:
    places = {(place, form) for place, text in told.items() for form in found_in(text, SECRETS[secret])}
    own = {("children", form) for form in forms(SERVER)} if secret == "server" else set()  # what its file gives it
    assert places - own == set()


def test_the_secrets_were_told(told: dict[str, str]) -> None:
    everything = "".join(told.values()).replace("\\_", "_")
    names = ("MODEL_KEY", "SERVICE_TOKEN", "c.key", "s.OWN_TOKEN", "PROXY_URL")
    assert [name for name in names if f"***{name}***" not in everything] == []
    assert "esbuild" in told["children"]


def test_the_page_was_unpacked(told: dict[str, str]) -> None:
    page = next(text for name, text in told.items() if name.endswith("r.html"))
    assert '"TestTells"' in page


PLACES = ("environment", "dotenv", "connector")


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_in_the_name_of_a_case_is_nowhere_and_its_result_is_found(app: MakeApplication, place: str) -> None:
    """Plans, journals, fingerprints and all commands on reports name cases."""
    secret = "sk-canary-0123456789"
    cases: list[Any] = [
        {"id": "plain", "input": "x"},
        {"id": f"with {secret}", "input": "y", "assert": {"type": "contains", "value": "echo"}},
        {"id": "after", "input": "z", "depends_on": [f"with {secret}"]},
    ]
    with ModelServer() as host:
        options = {"host": host.url, "model": "m", "key": secret if place == "connector" else ""}
        here = app(
            {
                **agent(package={"connector": "c"}, cases=cases),
                "/connectors/c.conn.yao": json.dumps({"type": "openai", "options": options}),
                "/.env": f"API_KEY={secret}\n" if place == "dotenv" else "A=1\n",
            }
        )
        env = {**here.environment, **({"API_KEY": secret} if place == "environment" else {})}
        out = here.home / "out"
        report, again, shard = (str(out / f"{name}.jsonl") for name in ("r", "again", "shard"))
        commands: list[tuple[int, tuple[str, ...]]] = [
            (0, ("-i", CASES, "--dry-run")),
            (0, ("-i", CASES, "-o", report, "--record", str(out / "tapes"))),
            (0, ("-i", CASES, "-o", again, "--replay", str(out / "tapes"))),
            (0, ("status", report)),
            (0, ("regrade", report, "-o", again)),
            (0, ("--resume", report, "--record", str(out / "tapes"))),
            (0, ("merge", report, "-o", str(out / "whole.html"), "-o", str(out / "whole.json"))),
            (0, ("diff", report, again)),
            (0, ("doctor", "--json")),
            (0, ("-i", CASES, "--shard", "1/1", "-o", shard)),
            (2, ("-i", CASES, "--run", "nothing")),
        ]
        said = []
        for code, arguments in commands:
            run = here.run(*arguments, env=env)
            assert run.code == code, run
            said.append(run.stdout + run.stderr)
        assert "3 of 3 tests have a current result" in said[3]
        assert "3 cases; no agent was called" in said[4]
        assert host.connections
        assert len(host.requests) == 6, "the first run and the shard; all else takes up what there is"

    written = {str(path): unpacked(path.read_text()) for path in out.rglob("*") if path.is_file()}
    assert [path for path, text in written.items() if found_in(path + text, secret)] == []
    assert [text for text in said if found_in(text, secret)] == []
    assert "with ***" in written[report]


def test_a_run_of_scripts_alone_knows_the_secrets_of_files(app: MakeApplication) -> None:
    secrets = {"SERVICE_TOKEN": "tok-of-the-dotenv-63", "model.key": "sk-key-of-the-model-41"}
    code = "".join(f'  console.log("{secret}"); t.assert.Equal("{secret}", "x");\n' for secret in secrets.values())
    files = {
        "a_test.ts": f"export function TestA(t) {{\n{code}}}\n",
        "/.env": f"SERVICE_TOKEN={secrets['SERVICE_TOKEN']}\n",
        "/connectors/model.conn.yao": json.dumps({"type": "openai", "options": {"key": secrets["model.key"]}}),
    }
    outputs = ("-o", "r.json", "-o", "r.xml", "-o", "r.md", "-o", "r.jsonl")
    here = app(files)

    run = here.run("-i", "scripts.demo.a", "-v", *outputs)

    told = {name: (here.root / name).read_text() for name in outputs[1::2]} | {"console": run.stdout + run.stderr}
    assert run.code == 1
    for name, text in told.items():
        for label, secret in secrets.items():
            assert secret not in text, name
            assert f"***{label}***" in text, name
