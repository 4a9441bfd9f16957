"""A report that somebody else wrote opens no wall: what it would permit has to be typed again, and the message has the
line to type."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from agent_files import agent, case_file, lines
from command import Application, MakeApplication

SCRIPT = """\
try { http.Get("http://127.0.0.1:PORT/load"); } catch (error) {}
export function TestNet(t) { try { http.Get("http://127.0.0.1:PORT/test"); } catch (error) {} }
"""
JUDGE = """\
export function Ask() { try { http.Get("http://127.0.0.1:PORT/judge"); } catch (error) {} return true; }
"""
CASES = [{"id": "a", "input": "x", "assert": {"type": "script", "use": "scripts:demo.judge.Ask"}}]
LOCAL = {"type": "openai", "options": {"host": "$ENV.PLACE", "model": "m", "key": "k"}}


@pytest.fixture
def called() -> Iterator[tuple[int, list[str]]]:
    """The port of a host, and the paths that it was asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as host:
        Thread(target=host.serve_forever, args=(0.01,), daemon=True).start()
        yield host.server_port, paths
        host.shutdown()


@pytest.fixture
def here(app: MakeApplication, called: tuple[int, list[str]]) -> Application:
    port = str(called[0])
    files = agent(replies="- reply: hello\n", cases=CASES)
    files |= {"a_test.ts": SCRIPT.replace("PORT", port), "a.ts": "", "judge.ts": JUDGE.replace("PORT", port)}
    files |= {"/connectors/local.conn.yao": json.dumps(LOCAL), "/conf/ctx.json": "{}", "/recordings/.keep": ""}
    files |= {"/assistants/src/package.yao": "{}", "/assistants/src/mcps/w.mcp.yao": '{"url": "$ENV.SERVER"}'}
    made = app(files)
    (made.home / "ctx.json").write_text('{"locale": "de-de"}')
    (made.home / "cases.jsonl").write_text(lines(*CASES))
    (made.home / "prompts.yml").write_text("- {role: system, content: x}\n")
    return made


def report_with(here: Application, results: bool, **options: Any) -> Path:
    """A report of a run that says that it was made with these options."""
    path = here.root / "r.jsonl"
    assert here.run("-i", case_file(), "-i", "scripts.demo.a", "-o", str(path)).code == 0
    start, *rest = path.read_text().splitlines(True)
    told = json.loads(start)
    home = str(here.home)
    options = {name: json.loads(json.dumps(value).replace("<home>", home)) for name, value in options.items()}
    told["resume"]["options"] |= options
    path.write_text(json.dumps(told) + "\n" + ("".join(rest) if results else ""))
    return path


WALLS: dict[str, tuple[dict[str, Any], str]] = {
    "programs": ({"allow_exec": ["sh", "cat"]}, "--allow-exec sh --allow-exec cat"),
    "every host": ({"allow_net": ["*"]}, "--allow-net '*'"),
    "recording": ({"record": "recordings"}, "--record recordings"),
    "recording elsewhere": ({"record": "<home>/tapes"}, "--record <home>/tapes"),
    "recording what is missing": ({"record_missing": "recordings"}, "--record-missing recordings"),
    "a context elsewhere": ({"ctx": "<home>/ctx.json"}, "--ctx <home>/ctx.json"),
    "a context above": ({"ctx": "../home/ctx.json"}, "--ctx ../home/ctx.json"),
    "a context that holds keys": ({"ctx": "connectors/local.conn.yao"}, "--ctx connectors/local.conn.yao"),
    "recordings elsewhere": ({"replay": "<home>"}, "--replay <home>"),
    "cases elsewhere": ({"inputs": ["<home>/cases.jsonl"], "name": "demo"}, "-i <home>/cases.jsonl"),
    "prompts elsewhere": (
        {"variants": ["old", "new=prompts:<home>/prompts.yml"]},
        "--variant old --variant new=prompts:<home>/prompts.yml",
    ),
    "where a key goes": (
        {"variants": ["old", "new=env:PLACE=http://127.0.0.1:1"]},
        "--variant old --variant new=env:PLACE=http://127.0.0.1:1",
    ),
    "where an agent's server is, whose folder is called as those of scripts": (
        {"variants": ["old", "new=env:SERVER=http://127.0.0.1:1"]},
        "--variant old --variant new=env:SERVER=http://127.0.0.1:1",
    ),
    "two at once": ({"allow_exec": ["sh"], "allow_net": ["a.example"]}, "--allow-net a.example --allow-exec sh"),
}


@pytest.mark.parametrize("name", WALLS)
def test_a_resumed_run_opens_no_wall_that_nobody_typed(
    here: Application, called: tuple[int, list[str]], name: str
) -> None:
    options, words = WALLS[name]
    path = report_with(here, results=False, **options)
    before = path.read_bytes()

    run = here.run("--resume", "r.jsonl", "-v")

    shown = words.replace("<home>", str(here.home))
    assert (run.code, run.stdout) == (2, ""), run
    assert f"it was made with {words}, which cannot be taken from a report\n" in run.stderr
    (line,) = [line.partition("run: ")[2] for line in run.stderr.splitlines() if line.startswith("Hint: ")]
    program, *typed = shlex.split(line.replace("<home>", str(here.home)).replace("<app>", str(here.root)))
    assert program == "yao-test" and typed[:2] == ["--resume", "r.jsonl"] and "--verbose" in typed
    assert " ".join(shlex.split(shown)) in " ".join(typed)
    assert path.read_bytes() == before
    again = here.run(*typed)
    assert "which a report may not set" not in again.stderr, again
    assert "Cannot resume" not in again.stderr, again


def test_runs_without_such_flags_go_on_as_before(here: Application) -> None:
    told = {"ctx": "conf/ctx.json", "variants": ["old", "new=env:STYLE=terse"], "team": "t", "seed": 3}
    report_with(here, results=False, **told)
    run = here.run("--resume", "r.jsonl")
    assert run.code == 0, run
    assert "--team t" in run.stdout and "--ctx conf/ctx.json" in run.stdout


@pytest.mark.parametrize("told", [{"cluster": "local"}, {"otlp": "http://127.0.0.1:9"}, {"outputs": ["<home>/x.json"]}])
def test_what_a_report_has_no_use_for_is_left_aside(here: Application, told: dict[str, Any]) -> None:
    report_with(here, results=False, **told)
    run = here.run("--resume", "r.jsonl")
    assert run.code == 0, run
    assert not (here.home / "x.json").exists()


def test_a_host_is_asked_only_if_somebody_typed_it(here: Application, called: tuple[int, list[str]]) -> None:
    port, paths = called
    host = f"127.0.0.1:{port}"
    report_with(here, results=True, allow_net=[host])
    paths.clear()  # the first run was made without the flag

    stands = here.run("status", "r.jsonl")
    assert stands.code == 1 and paths == []
    assert f"to resume it, run: yao-test --resume r.jsonl --allow-net {host}\n" in stands.stdout
    refused = here.run("regrade", "r.jsonl")
    assert (refused.code, paths) == (2, [])
    assert f"Hint: To allow this, run: yao-test regrade r.jsonl --allow-net {host}\n" in refused.stderr

    assert here.run("regrade", "r.jsonl", f"--allow-net={host}").code == 0
    assert paths == ["/judge"]
    assert here.run("status", "r.jsonl", f"--allow-net={host}").code == 1
    assert "/load" in paths
    assert here.run("--resume", "r.jsonl", f"--allow-net={host}").code == 0
    assert "/test" in paths


def test_a_report_loosens_no_check_that_somebody_typed(here: Application) -> None:
    report_with(here, results=False, trust_from="HEAD")
    run = here.run("--resume", "r.jsonl", "--require-trust")
    assert run.code == 2
    assert "yao-test.trust" in run.stderr and "HEAD" not in run.stderr


def test_the_configuration_file_still_records(here: Application) -> None:
    here.write({"/yao-test.toml": 'record = "recordings"\n'})
    report_with(here, results=False)
    run = here.run("--resume", "r.jsonl")
    assert run.code == 0, run
