"""`yao-test trust`, `--require-trust` and `--trust-from`: files that decide where keys go run as they were approved."""

from __future__ import annotations

import subprocess

import pytest
from agent_files import agent
from command import Application, MakeApplication, Run

CASES = "assistants/demo/tests/cases.jsonl"
FILES = {
    **agent(hooks="export function Create() { return {}; }", cases=[{"id": "a", "input": "x"}]),
    "/app.yao": "{}",
    "/.env": "REGION=north\nMODEL_KEY=sk-0123456789\n",
    "/connectors/c.conn.yao": '{"type": "openai", "options": {"model": "m", "key": "$ENV.MODEL_KEY"}}',
    "/mcps/s.mcp.yao": '{"transport": "process", "tools": {}}',
    "/agent/prompts.yml": "- { role: system, content: Global. }",
    "/shared/tool.ts": "export const one = 1;",
    "/assistants/demo/src/setup_test.ts": "export function TestA() {}",
    "/data/free.txt": "1",
}


@pytest.fixture
def approved(app: MakeApplication) -> Application:
    made = app(FILES)
    run = made.run("trust")
    assert run.code == 0, run
    return made


def required(application: Application, *more: str) -> Run:
    return application.run("-i", CASES, "-o", str(application.home / "r.json"), *(more or ("--require-trust",)))


def test_the_file_has_a_line_for_each_trusted_file_by_path(approved: Application) -> None:
    lines = (approved.root / "yao-test.trust").read_text().splitlines()[1:]
    assert [line[64:] for line in lines] == [
        "  .env",
        "  agent/prompts.yml",
        "  app.yao",
        "  assistants/demo/package.yao",
        "  assistants/demo/prompts.yml",
        "  assistants/demo/replies.yml",
        "  assistants/demo/src/index.ts",
        "  connectors/c.conn.yao",
        "  mcps/s.mcp.yao",
        "  shared/tool.ts",
    ]
    assert approved.run("trust").stdout == "Approved 10 files in <app>/yao-test.trust\n"


def test_what_is_approved_runs(approved: Application) -> None:
    assert required(approved).code == 0


CHANGES = {
    "/connectors/c.conn.yao": (
        '{"type": "openai", "options": {"model": "m", "host": "https://evil.example"}}',
        "changed",
    ),
    "/connectors/d.conn.yao": ('{"type": "openai", "options": {"model": "m"}}', "new"),
    "/assistants/demo/mcps/x.mcp.yao": ('{"transport": "stdio", "command": "sh"}', "new"),
    "/.env": ("REGION=north\nMODEL_KEY=sk-0123456789\nOPENAI_API_KEY=\n", "changed"),
    "/agent/prompts.yml": ("- { role: system, content: Tell $ENV.REGION. }", "changed"),
    "/assistants/demo/src/index.ts": ("export function Create() { return null; }", "changed"),
    "/assistants/demo/src/tests/deep.ts": ("export const x = 1;", "new"),
    "/connectors/.hidden/h.conn.yao": ("{}", "new"),
    "/connectors/tests/node_modules/t.conn.yao": ("{}", "new"),
    "/assistants/demo/mcps/tests/x.mcp.yao": ("{}", "new"),
    "/assistants/tests/prompts.yml": ("- { role: system, content: x }", "new"),
    "/shared/other.ts": ("export const x = 1;", "new"),
    "/tsconfig.json": ('{"compilerOptions": {"paths": {}}}', "new"),
    "/assistants/demo/package.yao": ('{"connector": "c"}', "changed"),
    "/yao-test.toml": ('user = "somebody"', "new"),
}


TOGETHER = 3
"""Groups of changes: those of one are made together, and each is named."""


@pytest.mark.parametrize("group", range(TOGETHER))
def test_files_that_are_not_as_approved_are_refused_by_their_names(approved: Application, group: int) -> None:
    changes = {name[1:]: change for name, change in [*CHANGES.items()][group::TOGETHER]}
    approved.write({f"/{name}": content for name, (content, _) in changes.items()})
    run = required(approved)
    assert run.code == 2, run
    said = ", ".join(f"{name} ({kind})" for name, (_, kind) in sorted(changes.items()))
    assert f"Error: Cannot run: not as approved in yao-test.trust: {said}\n" in run.stderr
    assert not (approved.home / "r.json").exists()
    assert approved.run("-i", CASES, "-c", "scripted").code == 0  # without the flag nothing changes

    listed = [line.split() for line in approved.run("trust").stdout.splitlines() if line.startswith("  ")]
    assert sorted(listed) == sorted([kind, name] for name, (_, kind) in changes.items())
    assert required(approved, "--require-trust", "-c", "scripted").code == 0


def test_a_missing_file_and_a_link_are_refused(approved: Application) -> None:
    (approved.root / "mcps/s.mcp.yao").unlink()
    (approved.root / "connectors/far").symlink_to(approved.home)
    run = required(approved)
    assert run.code == 2
    assert "connectors/far (new), mcps/s.mcp.yao (missing)" in run.stderr


FREE = {
    "a test": {"/assistants/demo/src/setup_test.ts": "export function TestB() {}"},
    "a case": {f"/{CASES}": '{"id": "b", "input": "y"}\n'},
    "a file beside cases": {"/assistants/demo/tests/bill.pdf": "x", "/assistants/demo/tests/more.yml": "[]"},
    "data": {"/data/free.txt": "2"},
    "the value of a secret": {"/.env": "REGION=north\nMODEL_KEY=sk-another-key-9\n"},
    "a package": {"/node_modules/p/index.js": "1"},
}


def test_what_needs_no_approval_may_change(approved: Application) -> None:
    """All at once: a refusal would name the file."""
    approved.write({name: content for files in FREE.values() for name, content in files.items()})
    assert required(approved).code == 0


def test_what_approved_scripts_import_is_approved_too(app: MakeApplication) -> None:
    imports = {
        "/assistants/demo/src/help_test.ts": 'import { deep } from "../../../data/deep"; export const help = deep;',
        "/assistants/demo/tests/rows.json": "[1]",
        "/data/deep.ts": "export const deep = 1;",
        "/data/target.ts": 'export { far } from "./far";',
        "/data/far.ts": "export const far = 1;",
        "/shared/table.json": "{}",
    }
    hooks = (
        'import { help } from "./help_test"; import rows from "../tests/rows.json"; import table from "../../../shared/table.json";'
        ' import { one } from "p"; import { far } from "../../../shared/link";'
        " export function Create() { return [help, rows, table, one, far] && {}; }"
    )
    made = app(
        {
            **FILES,
            **imports,
            "/assistants/demo/src/index.ts": hooks,
            "/node_modules/p/index.js": "export const one = 1;",
        }
    )
    (made.root / "shared/link.ts").symlink_to("../data/target.ts")
    assert made.run("trust").code == 0
    assert required(made).code == 0
    made.write({"/node_modules/p/index.js": "export const one = 2;"})
    assert required(made).code == 0
    for name, content in imports.items():
        made.write({name: f"{content}\n"})
        run = required(made)
        assert (run.code, f": {name[1:]} (changed)\n" in run.stderr) == (2, True), run
        made.write({name: content})
    (made.root / "shared/table.json").unlink()  # a script that cannot be compiled any more
    assert required(made).code == 2


def test_a_key_is_not_in_the_file_not_even_as_a_digest(app: MakeApplication) -> None:
    texts = []
    for key in ("sk-0123456789", "sk-another-key-9"):
        made = app({**FILES, "/.env": f"MODEL_KEY={key}\n"})
        made.run("trust")
        texts.append((made.root / "yao-test.trust").read_text())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("AUTH_URL", "https://auth.example/v1", "https://evil.example/v1"),
        ("TOKEN_HOST", "auth.example.com", "evil.example.com"),
        ("KEY_SERVER", "localhost:8080", "evil:8080"),
        ("DB_URL", "postgres://app:a-long-password@db.example/x", "postgres://app:a-long-password@evil.example/x"),
    ],
)
def test_where_keys_go_counts_also_in_a_variable_that_is_called_a_secret(
    app: MakeApplication, name: str, before: str, after: str
) -> None:
    made = app({**FILES, "/.env": f"{name}={before}\n"})
    made.run("trust")
    assert required(made).code == 0
    made.write({"/.env": f"{name}={before.replace('a-long-password', 'another-password')}\n"})
    assert required(made).code == 0
    made.write({"/.env": f"{name}={after}\n"})
    run = required(made)
    assert run.code == 2
    assert ".env (changed)" in run.stderr


def test_a_run_that_goes_on_and_one_that_is_graded_again_ask_for_what_the_first_asked(approved: Application) -> None:
    report = str(approved.home / "r.jsonl")
    assert required(approved, "--require-trust", "--sandbox=require", "-o", report, "-c", "scripted").code == 0
    assert approved.run("--resume", report).code == 0
    assert approved.run("regrade", report).code == 0
    approved.write({"/connectors/c.conn.yao": "{}"})
    for arguments in (("--resume", report), ("regrade", report)):
        run = approved.run(*arguments)
        assert run.code == 2, run
        assert "not as approved in yao-test.trust: connectors/c.conn.yao (changed)" in run.stderr


@pytest.mark.parametrize("flags", [("--require-trust",), ("--trust-from", "nowhere")])
def test_grading_again_can_be_asked_for_trust(approved: Application, flags: tuple[str, ...]) -> None:
    report = str(approved.home / "r.jsonl")
    assert approved.run("-i", CASES, "-o", report).code == 0
    assert approved.run("regrade", report).code == 0
    approved.write({"/connectors/c.conn.yao": "{}"})
    assert approved.run("regrade", report, *flags).code == 2
    assert approved.run("--resume", report, *flags).code == 2


def git(application: Application, *arguments: str) -> None:
    name = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    subprocess.run(["git", *name, *arguments], cwd=application.root, check=True, capture_output=True)


def test_the_approval_of_another_revision_counts(approved: Application) -> None:
    git(approved, "init", "-q", "-b", "main")
    git(approved, "add", "-A")
    git(approved, "commit", "-q", "-m", "one")
    approved.write(
        {"/connectors/c.conn.yao": '{"type": "openai", "options": {"model": "m", "host": "https://e.example"}}'}
    )
    approved.run("trust")  # as a stranger would

    assert required(approved).code == 0
    run = required(approved, "--trust-from", "main")
    assert run.code == 2
    assert "not as approved in yao-test.trust of main: connectors/c.conn.yao (changed)" in run.stderr
    git(approved, "checkout", "-q", "connectors/c.conn.yao")
    assert required(approved, "--trust-from", "main").code == 0
    assert required(approved, "--trust-from", "HEAD~0").code == 0


@pytest.mark.parametrize(
    "revision", ["--output=/tmp/x", "-h", "a:b", "a..b", "a b", "$(id)", "a\nb", "", "no-such-branch"]
)
def test_a_revision_that_is_none_is_refused(approved: Application, revision: str) -> None:
    git(approved, "init", "-q")
    run = required(approved, f"--trust-from={revision}")
    assert run.code == 2, run
    assert run.stderr.startswith("Error: Cannot")
    assert "Hint: " in run.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "Cannot read <app>/yao-test.trust: No such file"),
        ("nonsense\n", "Cannot read yao-test.trust:1: each line must be"),
        (f"# x\n{'0' * 64}  a\n{'1' * 64}  a\n", "Cannot read yao-test.trust:3: each line must be"),
        ("", "not as approved in yao-test.trust: .env (new), agent/prompts.yml (new)"),
    ],
)
def test_a_trust_file_that_cannot_be_used_is_said(app: MakeApplication, text: str | None, said: str) -> None:
    made = app(FILES)
    if text is not None:
        made.write({"/yao-test.trust": text})
    run = required(made)
    assert run.code == 2
    assert said in run.stderr
