"""Attempts to have the command itself read and write outside of an application: by its configuration, by links that
`doctor`, `trust` and sandboxes come across, and by links to other applications."""

from __future__ import annotations

import json

import pytest
from attacks import MARK
from command import Application
from test_command_files import CASES, SAYS, here, refused

__all__ = ["here"]


SETTINGS = {
    "a context to read": ("ctx", "context.json"),
    "a report to write": ("output", "report.json"),
    "a store": ("store", "kept"),
    "a database": ("db", "kept.db"),
    "recordings to write": ("record", "recorded"),
    "recordings to read": ("replay", "recorded"),
}


@pytest.mark.parametrize("table", ["", "[profile.ci]\n"])
@pytest.mark.parametrize("what", SETTINGS)
def test_the_configuration_names_no_place_outside(here: Application, what: str, table: str) -> None:
    """The file comes with the application; its scripts see the context."""
    flag, name = SETTINGS[what]
    outside = here.root.parent / "outside"
    (outside / "context.json").write_text(json.dumps({"metadata": {"seen": MARK}}))
    (outside / "report.json").write_text("alive")
    here.write({"/assistants/demo/src/a_test.ts": "export function TestA(t, ctx) { t.log(ctx.metadata); }"})
    before = sorted((path.name, path.read_bytes()) for path in outside.iterdir())
    for place in (f"../outside/{name}", str(outside / name), f"assistants/../../outside/{name}", "~/outside"):
        here.write({"/yao-test.toml": f'{table}{flag} = "{place}"\n'})
        run = here.run("-i", "assistants", "-v", *(["--profile", "ci"] if table else []))
        refused(run, f"yao-test.toml:{2 if table else 1}: {flag} leads outside the application")
        assert run.code == 2
    assert sorted((path.name, path.read_bytes()) for path in outside.iterdir()) == before


def test_the_configuration_names_no_file_that_may_hold_secrets(here: Application) -> None:
    here.write({"/yao-test.toml": '[agent.demo]\nctx = "connectors/other.conn.json"\n'})
    refused(here.run("-i", CASES), "connectors/other.conn.json may contain secrets")


def test_the_configuration_names_places_of_the_application(here: Application) -> None:
    """The control."""
    here.write({"/yao-test.toml": 'output = "reports/run.json"\nctx = "context.json"\n', "/context.json": "{}"})
    assert here.run("-i", CASES).code == 0
    assert (here.root / "reports/run.json").is_file()


@pytest.mark.parametrize("target", ["/dev/null", "../../outside", "../../secret.txt"])
def test_doctor_reads_through_no_link_out_of_the_application(here: Application, target: str) -> None:
    for name in ("mcps/m.mcp.yao", "connectors/linked.conn.yao", "assistants/demo/tests/more.jsonl"):
        (here.root / name).parent.mkdir(exist_ok=True)
        (here.root / name).symlink_to(target if target.startswith("/") else here.root / "x" / target)
    here.write({
        "/assistants/demo/package.yao": '{"connector": "linked", "mcp": {"servers": [{"server_id": "m"}]}}',
        "/assistants/demo/src/index.ts": 'export function Create() { Process("models.a.Get"); }',
    })  # fmt: skip
    run = here.run("doctor")
    assert run.code in (0, 1), run
    assert "Traceback" not in run.stdout + run.stderr
    assert MARK not in run.stdout + run.stderr


def test_a_record_of_trust_that_is_a_device_is_not_read(here: Application) -> None:
    (here.root / "yao-test.trust").symlink_to("/dev/null")
    run = here.run("-i", CASES, "--require-trust")
    assert (run.code, "Cannot read <app>/yao-test.trust: it is a device" in run.stderr) == (2, True), run


COPIED = {
    "a link out of the application": ("../../../../secret.txt", "template/copied: it is not in the application"),
    "a link to the environment file": ("../../../.env", "template/copied: .env may contain secrets"),
    "a link within the application": ("own.txt", None),
}


@pytest.mark.parametrize("what", COPIED)
def test_a_sandbox_is_prepared_with_files_of_the_application(here: Application, what: str) -> None:
    target, said = COPIED[what]
    sandbox = {
        "version": "2.0",
        "computer": {"image": "box"},
        "runner": {"name": "claude/cli"},
        "prepare": [{"action": "copy", "src": "template", "dst": "t"}],
    }
    here.write({
        "/assistants/demo/sandbox.yao": json.dumps(sandbox),
        "/assistants/demo/runner.yml": "- events: [{ type: text, text: hello }]",
        "/assistants/demo/template/own.txt": "hello from the template",
        "/assistants/demo/src/index.ts": 'function Next(ctx) { return { data: ctx.workspace.ReadFile("t/copied") }; }',
    })  # fmt: skip
    (here.root / "assistants/demo/template/copied").symlink_to(target)
    run = here.run("-i", CASES, "-v")
    if said is None:
        assert run.code == 0, run
    else:
        refused(run, said)


def test_a_link_to_another_application_leads_out_of_this_one(here: Application) -> None:
    other = here.root.parent / "outside"
    (other / "app.yao").touch()
    (other / "prompts.yml").write_text(MARK)
    (here.root / "reports").symlink_to(other)
    refused(here.run("-i", CASES, "-o", "reports/report.json"), SAYS)
    assert sorted(path.name for path in other.iterdir()) == ["app.yao", "prompts.yml"]
    (here.root / "assistants/demo/prompts.yml").unlink()
    (here.root / "assistants/demo/prompts.yml").symlink_to(here.root / "reports/prompts.yml")
    refused(here.run("-i", CASES), SAYS)
