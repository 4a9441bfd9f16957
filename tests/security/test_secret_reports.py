"""Runs in which scripts, tools, models and errors output secrets: no report, no stream and no stored file shows one."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from agent_files import lines
from command import Application, MakeApplication, Run
from model_server import ModelServer, says, status
from table_tests import each

from runner.reporters import EXTENSIONS

IN_FILE = "sk-file/Written+here=9"
IN_VARIABLE = "sk-variable-of-the-process-7"
IN_DOTENV = "tok-of-the-dotenv-file-5"
PASSWORD = "pw-in-an-address-3"
HEADER = "token-that-a-script-sends"
SECRETS = [IN_FILE, IN_VARIABLE, IN_DOTENV, PASSWORD, HEADER]


def forms(secret: str) -> list[str]:
    """What would give a secret away."""
    inner = base64.b64encode(secret.encode()).decode().rstrip("=")[:-2]
    return [secret, quote(secret, safe=""), inner, secret.encode().hex()]


class WithSecrets(Application):
    """An application whose commands inherit secret variables."""

    @property
    def environment(self) -> dict[str, str]:
        address = f"postgres://app:{PASSWORD}@db.example/x"
        return {**super().environment, "MODEL_API_KEY": IN_VARIABLE, "DATABASE_URL": address}


SCRIPTS = """
const get = (name: string) => Process("utils.env.Get", name);
export function TestLog(t) { const s = get("SERVICE_TOKEN"); t.log(s); console.log({ s, list: [s] }); console.error(btoa(s)); console.log(s.slice(0, 9)); console.log(s.slice(9)); t.fail("told"); }
export function TestThrow(t) { throw new Error("cannot use " + get("SERVICE_TOKEN")); }
export function TestThrowCode(t) { throw new Exception(get("SERVICE_TOKEN"), 403); }
export function TestCompare(t) { t.assert.Equal({ [get("SERVICE_TOKEN")]: get("SERVICE_TOKEN") }, { a: encodeURIComponent(get("SERVICE_TOKEN")) }, get("SERVICE_TOKEN")); }
export function TestSubtest(t) { t.run(get("SERVICE_TOKEN"), (t) => t.fail(get("SERVICE_TOKEN"))); }
export function TestSkip(t) { t.skip(get("SERVICE_TOKEN")); }
export function TestSnapshot(t) { t.snapshot({ token: get("SERVICE_TOKEN") }, "s"); t.log("snapshot"); }
export function TestRequest(t) { const r = http.Get("SERVER/echo", {}, { Authorization: "Bearer HEADER" }); t.fail(JSON.stringify(r)); }
export function TestModel(t) { t.fail(JSON.stringify(Process("llm.ChatCompletions", "plain", [{ role: "user", content: "hello" }]))); }
export function TestRefused(t) { Process("llm.ChatCompletions", "refusing", [{ role: "user", content: "hello" }]); }
export function TestConstant(t) { t.fail("VARIABLE"); }
""".replace("HEADER", HEADER).replace("VARIABLE", IN_VARIABLE)


def unpacked(text: str) -> str:
    """A report with the unpacked data of an HTML page."""
    blocks = re.findall(r'<script type="text/plain"[^>]*>([^<]*)</script>', text)
    return text + "".join(gzip.decompress(base64.b64decode(block)).decode() for block in blocks)


def echoes_the_header() -> Any:
    """A model that answers with the headers it got, also in a tool call."""

    async def behave(exchange: Any) -> None:
        told = exchange.request.headers.get("authorization", "none")
        await says(f"you sent {told}, in base64 {base64.b64encode(told.encode()).decode()}")(exchange)

    return behave


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(default=echoes_the_header()) as running:
        yield running


@pytest.fixture(scope="module")
def told(shared_app: MakeApplication, server: ModelServer) -> dict[str, str]:
    """Everything that came out of several runs, by where it came out."""
    address = server.url
    hooks = """
        export function Create(ctx, messages) { return { messages }; }
        export function Next(ctx, payload) { return { data: { said: payload.completion?.content, token: Process("utils.env.Get", "SERVICE_TOKEN") } }; }
    """
    cases = [
        {"id": "echo", "input": "hello", "assert": {"type": "equals", "value": "x"}},
        {"id": "regex", "input": IN_VARIABLE, "assert": {"type": "regex", "value": f"^{IN_FILE}$"}},
        {
            "id": "turns",
            "turns": [{"input": "one"}, {"input": IN_DOTENV}],
            "assert": {"type": "contains", "value": "zz"},
        },
    ]
    app = shared_app(
        {
            "/.env": f"SERVICE_TOKEN={IN_DOTENV}\n",
            "/connectors/plain.conn.yao": json.dumps(
                {"type": "openai", "options": {"host": address, "model": "m", "key": IN_FILE}}
            ),
            "/connectors/variable.conn.yao": json.dumps(
                {"type": "openai", "options": {"host": address, "model": "m", "key": "$ENV.MODEL_API_KEY"}}
            ),
            "/connectors/refusing.conn.yao": json.dumps(
                {"type": "openai", "options": {"host": f"{address}/refuse", "model": "m", "key": IN_FILE, "retries": 0}}
            ),
            "/assistants/demo/package.yao": json.dumps({"connector": "variable"}),
            "/assistants/demo/prompts.yml": f"- {{ role: system, content: 'Be brief. {IN_VARIABLE}' }}",
            "/assistants/demo/src/index.ts": hooks,
            "/assistants/demo/tests/cases.jsonl": lines(*cases),
            "leaks_test.ts": SCRIPTS.replace("SERVER", address),
        }
    )
    app.__class__ = WithSecrets
    found: dict[str, str] = {}

    def take(name: str, run: Run) -> None:
        found[f"{name}: output"] = run.stdout
        found[f"{name}: errors"] = run.stderr
        assert "yao-test crashed" not in run.stderr, run

    outputs = {extension: Path(f"{app.home}/all{extension}") for extension in EXTENSIONS}
    flags = [word for path in outputs.values() for word in ("-o", str(path))]
    both = (
        "-i",
        "scripts.demo.leaks",
        "-i",
        "assistants/demo/tests/cases.jsonl",
        "--allow-net",
        server.url.partition("//")[2],
    )
    take("all", app.run(*both, "-v", "-v", *flags))
    found |= {extension: unpacked(path.read_text("utf-8", "replace")) for extension, path in outputs.items()}
    take("quiet", app.run(*both, "-q"))
    take("dry run", app.run(*both, "--dry-run"))
    take("message", app.run("-i", f"say {IN_VARIABLE}", "-n", "demo"))
    take("unknown connector", app.run(*both, "-c", IN_VARIABLE))
    take("unknown input", app.run("-i", f"scripts.{IN_VARIABLE}.x", "-v", "-v"))
    take("unknown flag", app.run(f"--{IN_VARIABLE}"))
    server.default = status(401, f"Incorrect API key provided: {IN_VARIABLE}")
    take("refused", app.run(*both, "-v", "-v"))
    server.default = echoes_the_header()
    found["snapshots"] = "".join(path.read_text() for path in app.source.rglob("*.snap"))
    return found


PLACES = [*EXTENSIONS, "snapshots"] + [
    f"{run}: {stream}"
    for run in ("all", "quiet", "dry run", "message", "unknown connector", "unknown input", "unknown flag", "refused")
    for stream in ("output", "errors")
]


@each("place", PLACES)
def test_no_secret_is_told(told: dict[str, str], place: str) -> None:
    text = told[place]
    assert [form for secret in SECRETS for form in forms(secret) if form in text] == []


@each("extension", EXTENSIONS)
def test_reports_say_which_secret_was_there(told: dict[str, str], extension: str) -> None:
    text = told[extension].replace("\\_", "_")
    assert "SERVICE_TOKEN***" in text
    assert "MODEL_API_KEY***" in text


def test_parts_of_a_secret_on_two_log_lines_are_hidden(told: dict[str, str]) -> None:
    assert IN_DOTENV[:9] not in told[".json"]
    assert IN_DOTENV[9:] not in told[".json"]


def test_the_model_was_asked_with_the_real_key(told: dict[str, str], server: ModelServer) -> None:
    keys = {request.headers.get("authorization") for request in server.requests}
    assert keys >= {f"Bearer {IN_VARIABLE}", f"Bearer {IN_FILE}"}
