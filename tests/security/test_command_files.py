"""Attempts to have the command itself read and write outside of an application: by attachments of cases, and by links that
come with the application."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from attacks import MARK
from command import Application, MakeApplication, Run, unprivileged
from faults import lines_of, with_model
from model_server import ModelServer

SAYS = "a link leads outside the application"
CASE = '{"id": "T1", "input": "Hi", "assert": [{"type": "contains", "value": "hello"}]}\n'
PROMPTS = "- role: system\n  content: Be kind\n"
REPLIES = "- reply: hello\n"
AGENT = {
    "/app.yao": "{}",
    "/assistants/demo/package.yao": '{"name": "Demo", "connector": "scripted"}',
    "/assistants/demo/prompts.yml": PROMPTS,
    "/assistants/demo/replies.yml": REPLIES,
    "/assistants/demo/tests/cases.jsonl": CASE,
    "/connectors/scripted.conn.yao": '{"type": "scripted"}',
    "/connectors/other.conn.json": f'{{"type": "openai", "options": {{"key": "{MARK}"}}}}',
    "/.env": f"DEMO_NAMED={MARK}",
    "/assistants/demo/assets/note.txt": "inside",
}
CASES = "assistants/demo/tests/cases.jsonl"


@pytest.fixture
def here(app: MakeApplication) -> Application:
    made = app(AGENT)
    (made.root.parent / "secret.txt").write_text(MARK)
    (made.root.parent / "outside").mkdir()
    (made.root / "assistants/demo/tests/out.txt").symlink_to("../../../../secret.txt")
    (made.root / "assistants/demo/tests/env.txt").symlink_to("../../../.env")
    (made.root / "assistants/demo/tests/in.txt").symlink_to("../assets/note.txt")
    return made


def refused(run: Run, *texts: str) -> None:
    """A run did nothing but print the reason."""
    said = run.stdout + run.stderr
    assert run.code != 0, run
    assert MARK not in said
    assert "Traceback" not in said
    assert [text for text in texts if text not in said] == [], said


def test_the_application_works(here: Application) -> None:
    """The control of all below."""
    assert here.run("-i", CASES).code == 0


ATTACHED = {
    "an address of the machine": ("file:///etc/passwd", "it is not in the application"),
    "a path out of the application": ("file://../../../../secret.txt", "it is not in the application"),
    "a link": ("file://out.txt", "it is not in the application"),
    "a link to the environment file": ("file://env.txt", ".env may contain secrets"),
    "the environment file": ("file://../../../.env", ".env may contain secrets"),
    "a connector": ("file://../../../connectors/other.conn.json", "connectors/other.conn.json may contain secrets"),
    "the environment of the command": ("file:///proc/self/environ", "it is not in the application"),
    "a device": ("file:///dev/zero", "it is a device"),
    "a pipe": ("file://pipe.txt", "it is a pipe"),
    "a large file": ("file://large.bin", "it is larger than 64 MB"),
}
SHAPES = {
    "attachments": lambda part: {"input": "Hi", "attachments": [part]},
    "content of a message": lambda part: {"input": {"role": "user", "content": [part]}},
    "messages": lambda part: {"messages": [{"role": "user", "content": [part]}]},
    "turns": lambda part: {"turns": [{"input": "Hi", "attachments": [part]}]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_attachments_are_files_of_the_application(here: Application, shape: str) -> None:
    os.mkfifo(here.root / "assistants/demo/tests/pipe.txt")
    with (here.root / "assistants/demo/tests/large.bin").open("wb") as file:
        file.truncate((64 << 20) + 1)
    parts = {what: {"type": "file", "source": source} for what, (source, _) in ATTACHED.items()}
    lines = [json.dumps({"id": what, **SHAPES[shape](part)}) for what, part in parts.items()]
    here.write({f"/{CASES}": "\n".join(lines)})
    run = here.run("-i", CASES)
    refused(run, *{text for _, text in ATTACHED.values()})
    told = [line for line in (run.stdout + run.stderr).splitlines() if 'cannot read "file://' in line]
    assert len(told) == len(ATTACHED), "each is told, before any case runs"


@pytest.mark.parametrize("source", ["file://in.txt", "file://../assets/note.txt", "file://../../demo/assets/note.txt"])
def test_attachments_within_the_application_are_sent(here: Application, source: str) -> None:
    case = {"id": "T1", "input": "Hi", "attachments": [{"type": "file", "source": source}]}
    here.write({f"/{CASES}": json.dumps(case)})
    run = here.run("-i", CASES)
    assert run.code == 0, run


LINKED = {
    "case file": (CASES, SAYS),
    "prompts": ("assistants/demo/prompts.yml", SAYS),
    "replies": ("assistants/demo/replies.yml", SAYS),
    "environment file": (".env", SAYS),
    "settings of the agent": ("assistants/demo/package.yao", SAYS),
    "connector": ("connectors/scripted.conn.yao", SAYS),
}


@pytest.mark.parametrize("what", LINKED)
@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_link_out_of_the_application_is_not_read(here: Application, what: str, target: str) -> None:
    name, said = LINKED[what]
    path = here.root / name
    outside = here.root.parent / "outside"
    if target == "file" or path.parent == here.root:
        path.unlink()
        path.symlink_to(here.root.parent / "secret.txt")
    else:
        for file in path.parent.iterdir():
            if not file.is_dir():
                (outside / file.name).write_text(MARK if file == path else file.read_text(errors="replace"))
        os.rename(path.parent, here.root.parent / "aside")
        path.parent.symlink_to(outside)
        if path.parent.name == "demo":
            os.rename(here.root.parent / "aside/tests", outside / "tests")
    run = here.run("-i", CASES)
    refused(run, said)


def test_a_script_is_told_of_an_environment_file_that_is_a_link_out(app: MakeApplication) -> None:
    code = 'export function TestA(t: any) { t.log(Process("utils.env.Get", "DEMO_NAMED")); }'
    here = app({"a_test.ts": code})
    (here.root.parent / "secret.txt").write_text(f"DEMO_NAMED={MARK}")
    (here.root / ".env").symlink_to("../secret.txt")
    run = here.run("-i", "scripts.demo.a")
    refused(run, f"Cannot read <app>/.env: {SAYS}", "set its variables in the environment")


@pytest.mark.parametrize("name", ["assistants/demo/prompts.yml", CASES])
@pytest.mark.parametrize("target", [".env", "connectors/other.conn.json"])
def test_a_link_to_what_may_hold_secrets_is_not_read(here: Application, name: str, target: str) -> None:
    (here.root / name).unlink()
    (here.root / name).symlink_to(here.root / target)
    refused(here.run("-i", CASES), f"a link leads to {target}, which may contain secrets")


PIPES = {
    ".env": "it is a pipe",
    CASES: "it is not a file",
    "assistants/demo/prompts.yml": 'to contain "hello", found null',
    "assistants/demo/replies.yml": "there is no assistants/demo/replies.yml",
}


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_is_not_opened(here: Application, name: str) -> None:
    """Opening it would wait forever."""
    (here.root / name).unlink()
    os.mkfifo(here.root / name)
    refused(here.run("-i", CASES), PIPES[name])


KINDS = {
    "a pipe": os.mkfifo,
    "a socket": lambda path: bound(path),
    "a folder": lambda path: path.mkdir(),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "larger than 64 MB": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
    "Too many levels of symbolic links": lambda path: path.symlink_to(".env"),
}


def bound(path: Path) -> None:
    """Makes a socket; the folder it is in may have a longer name than an address may."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


@pytest.mark.parametrize("kind", KINDS)
def test_an_environment_file_that_is_no_file_is_said(
    here: Application, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(here.root)
    (here.root / ".env").unlink()
    KINDS[kind](here.root / ".env")
    for command in (["-i", CASES], ["doctor"]):
        run = here.run(*command)
        assert run.code == 2, run
        assert "Cannot read <app>/.env: " in run.stderr
        assert kind in run.stderr


def test_an_environment_file_that_may_not_be_read_is_said(here: Application) -> None:
    (here.root / ".env").chmod(0)
    with here.start("-i", CASES, prefix=unprivileged()) as process:
        run = here.finish(process)
    assert run.code == 2, run
    assert "Cannot read <app>/.env: Permission denied" in run.stderr


def test_a_case_file_that_may_not_be_read_is_said(here: Application) -> None:
    (here.root / CASES).chmod(0)
    run = here.spawn("-i", CASES, prefix=unprivileged())
    assert run.code == 2, run
    assert f"Cannot read cases from {CASES}: Permission denied" in run.stderr


def test_links_within_the_application_are_followed(here: Application) -> None:
    for name in ("assistants/demo/prompts.yml", ".env", CASES, "connectors/scripted.conn.yao"):
        path = here.root / name
        moved = path.with_name(f".env.{path.name}" if name == ".env" else f"moved-{path.name}")
        os.rename(path, moved)
        path.symlink_to(moved.name)
    assert here.run("-i", CASES).code == 0


OUTPUTS = {
    "a file": ("report.json", ["-i", CASES, "-o", "report.json"]),
    "a file that is written as it runs": ("report.jsonl", ["-i", CASES, "-o", "report.jsonl"]),
    "a folder": ("reports", ["-i", CASES, "-o", "reports/report.html"]),
    "a folder above": ("reports", ["-i", CASES, "-o", "reports/deep/er/report.xml"]),
    "recordings": ("recorded", ["-i", CASES, "--record", "recorded"]),
    "a schema": ("schema.json", ["schema", "-o", "schema.json"]),
    "declarations": ("types", ["types"]),
    "a declaration": ("types/yao-test/index.d.ts", ["types"]),
    "a record of trust": ("yao-test.trust", ["trust"]),
}


@pytest.mark.parametrize("what", OUTPUTS)
def test_nothing_is_written_through_a_link_out_of_the_application(here: Application, what: str) -> None:
    name, arguments = OUTPUTS[what]
    is_file = "." in name
    outside = here.root.parent / "outside"
    (outside / "victim").write_text("alive")
    (here.root / name).parent.mkdir(parents=True, exist_ok=True)
    (here.root / name).symlink_to(outside / "victim" if is_file else outside)
    refused(here.run(*arguments), SAYS, "use the actual path")
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("victim", "alive")]


JOURNALS = {
    "an empty file outside": "a link leads outside the application",
    "a file outside that is not there": "a link leads outside the application",
    "a device": "a link leads outside the application",
    "a pipe": "it is not a file",
    "a large file": "it has more than 1 GB",
}


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("what", JOURNALS)
def test_a_journal_that_comes_with_the_application_is_no_way_out(here: Application, what: str, resumed: bool) -> None:
    """The journal of calls has a name that nobody has typed, and that a repository may know and bring."""
    outside = here.root.parent / "outside"
    report, journal = here.root / "r.jsonl", here.root / "r.calls.jsonl"
    arguments = ("-i", CASES, "-o", "r.jsonl")
    with ModelServer() as server:
        here.write({"/assistants/demo/package.yao": '{"connector": "local"}', **with_model(server)})
        here.write({f"/{CASES}": '{"id": "T1", "input": "Hi"}\n'})
        if resumed:
            here.run(*arguments)
            report.write_bytes(report.read_bytes().splitlines(True)[0])
            arguments = ("--resume", "r.jsonl")
        if what == "a pipe":
            os.mkfifo(journal)
        elif what == "a large file":
            journal.touch()
            os.truncate(journal, 1_000_000_001)
        else:
            target = Path("/dev/zero") if what == "a device" else outside / "victim"
            if "not there" not in what and what != "a device":
                target.touch()
            journal.symlink_to(target)
        before = sorted((path.name, path.read_text()) for path in outside.iterdir())

        run = here.run(*arguments)

        assert run.code == 0, run
        assert f"Cannot save model responses to <app>/r.calls.jsonl: {JOURNALS[what]}" in run.stdout
        assert sorted((path.name, path.read_text()) for path in outside.iterdir()) == before
        assert [record["status"] for record in lines_of(report) if record["type"] == "result"] == ["passed"]


@pytest.mark.parametrize("command", ["status", "regrade", "show", "merge", "extract", "--resume"])
def test_a_report_that_is_a_pipe_is_not_waited_for(here: Application, command: str) -> None:
    os.mkfifo(here.root / "p.jsonl")
    refused(here.run(command, "p.jsonl", *(["-o", "x.html"] if command == "merge" else [])), "p.jsonl", "it is ")


@pytest.mark.parametrize("name", ["report.json", "report.md", "report.xml"])
def test_a_report_in_the_making_is_not_written_through_a_link(here: Application, name: str) -> None:
    """What is not whole yet has a name beside it, which a repository may know and bring."""
    victim = here.root.parent / "outside/victim"
    victim.write_text("alive")
    (here.root / f".yao-test.{name}").symlink_to(victim)
    run = here.run("-i", CASES, "-o", name)
    assert run.code == 0, run
    assert victim.read_text() == "alive"
    assert (here.root / name).is_file()
    assert not (here.root / name).is_symlink()


def test_a_report_is_not_written_over_what_may_hold_secrets(here: Application) -> None:
    (here.root / "report.json").symlink_to(".env")
    refused(here.run("-i", CASES, "-o", "report.json"), "a link leads to .env, which may contain secrets")
    assert (here.root / ".env").read_text() == f"DEMO_NAMED={MARK}"


def test_the_report_beside_a_case_file_is_not_written_through_a_link(here: Application) -> None:
    outside = here.root.parent / "outside"
    os.rename(here.root / "assistants/demo/tests", outside / "tests")
    (here.root / "assistants/demo/tests").symlink_to(outside / "tests")
    refused(here.run("-i", CASES), SAYS)
    assert [path.name for path in (outside / "tests").glob("output-*")] == []


def test_reports_are_written_where_the_user_names_it(here: Application) -> None:
    """The control: the place itself, also behind a link that is not of the application, and links within it."""
    elsewhere = here.root.parent / "elsewhere"
    elsewhere.symlink_to("outside")
    (here.root / "kept").mkdir()
    (here.root / "reports").symlink_to("kept")
    places = [here.root.parent / "outside/a.json", elsewhere / "b.json", Path("reports/c.json")]
    run = here.run("-i", CASES, *(word for place in places for word in ("-o", str(place))))
    assert run.code == 0, run
    written = [here.root.parent / "outside/a.json", here.root.parent / "outside/b.json", here.root / "kept/c.json"]
    assert [path.is_file() for path in written] == [True, True, True]
