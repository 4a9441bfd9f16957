"""Results have fingerprints: only tests that depend on a change run again, and the reason is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_files import agent, case_file, lines, server
from command import Application, MakeApplication, Record, Run, on_terminal
from faults import lines_of
from model_server import ModelServer
from table_tests import each

TOOLS = Path(__file__).parents[2] / "runner/agents/mcp/servers"
LOCAL = {"type": "openai", "options": {"model": "m1", "key": "$ENV.KEY", "host": "$ENV.HOST", "max_tokens": 100}}
CASES: list[Record] = [
    {"id": "plain", "input": "x"},
    {"id": "judged", "input": "x", "assert": {"type": "agent", "use": "agents:judge", "value": "Is it fine?"}},
    {"id": "checked", "input": "x", "assert": {"type": "script", "use": "scripts:checks.Check"}},
    {"id": "hooked", "input": "x", "before": "env_test.Before"},
    {
        "id": "shown",
        "input": {
            "role": "user",
            "content": [{"type": "file", "source": "file://data.txt"}, {"type": "text", "text": "y"}],
        },
    },
    {
        "id": "played",
        "turns": [{"input": "Anything else?"}],
        "simulator": {"use": "agents:player", "options": {"metadata": {"goal": "g"}}},
    },
    {"id": "broken", "skip": "for now", "input": "x"},
]
SCRIPT = """
export async function TestAlone(t) { t.assert.Equal(1, 1); }
"""
CALLING = """
export function TestCalling(t) { t.assert.Equal(Process("scripts." + "math.Double", 2), 4); }
export function TestAgent(t) { t.assert.NotNil(Process("agents.demo.Stream", "hi")); }
"""
DATA = {
    "/assistants/demo/tests/data.txt": "data",
    "/scripts/math.ts": "export function Double(x: number) { return 2 * x; }",
    "/scripts/checks.ts": "import { fine } from './fine';\nexport function Check(out: any) { return { passed: fine() }; }",
    "/scripts/fine.ts": "export const fine = () => /* always */ true; // so it is\n",
    "/scripts/tools.ts": "export function Look(x: any) { return 1; }",
    "env_test.ts": "export function Before(ctx, cases) { return 1; }",
    "alone_test.ts": SCRIPT,
    "calling_test.ts": CALLING,
    "/.env": "TONE=\nKEY=\nHOST=\n",
    "/agent/prompts.yml": "- { role: system, content: Be kind. }",
    **server("tools", {"look": "scripts.tools.Look"}),
}
HOOKS = "import { same } from './same';\nexport function Create(ctx: any, messages: any) { return { messages: same(messages /* these */) }; }"
OF_CASES = {"plain", "judged", "checked", "hooked", "shown", "played"}
AGENTS = {
    **agent(
        package={"connector": "local", "mcp": {"servers": ["tools"]}},
        prompts="- { role: system, content: 'Be $ENV.TONE.' }",
        replies=None,
        hooks=HOOKS,
        cases=CASES,
    ),
    **agent("judge", replies='- reply: { json: { passed: true, reason: "so it is" } }'),
    **agent("player", replies='- reply: { json: { input: "bye", goal_achieved: true } }'),
}
INPUTS = ("-i", "assistants/demo")


class Fixture:
    """An application of which everything has run once, and its report."""

    def __init__(self, here: Application, variables: dict[str, str]) -> None:
        self.here = here
        self.variables = variables
        self.path = here.home / "r.jsonl"

    def run(self, *arguments: str, **variables: str) -> Run:
        return self.here.run(*arguments, env={**self.here.environment, **self.variables, **variables})

    def status(self, **variables: str) -> tuple[int, dict[str, str]]:
        """The exit code, and each test that would run with the reason."""
        run = self.run("status", str(self.path), **variables)
        assert run.stderr == "", run
        found = {}
        for line in run.stdout.splitlines()[1:]:
            _, reason, ids = line.strip().split(": ")
            found |= dict.fromkeys(ids.split(", "), reason)
        return run.code, found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fixture]:
    """Shared by the tests that change something and put it back."""
    with ModelServer() as model:
        home = tmp_path_factory.mktemp("home")
        here = Application(home / "app", home)
        here.write({"/app.yao": "{}", **AGENTS, **DATA, "same.ts": "export const same = (m: any) => m;"})
        here.write({"/connectors/local.conn.yao": json.dumps(LOCAL)})
        fixture = Fixture(here, {"KEY": "sk-secret-1", "HOST": model.url, "TONE": "brief"})
        run = fixture.run(*INPUTS, "-o", str(fixture.path))
        assert run.code == 0, run
        assert fixture.status() == (0, {})
        yield fixture


CASE_AND_AGENT = OF_CASES | {"TestAgent"}


@each(
    ("file", "old", "new", "reason", "ids"),
    [
        ("/assistants/demo/prompts.yml", "Be", "Do be", "prompts of demo", CASE_AND_AGENT),
        ("/assistants/demo/package.yao", '"mcp"', '"description": "d", "mcp"', "package.yao of demo", CASE_AND_AGENT),
        (
            "/assistants/demo/src/index.ts",
            "same(messages",
            "same(!messages",
            "assistants/demo/src/index.ts",
            CASE_AND_AGENT,
        ),
        ("/assistants/demo/src/same.ts", "=> m", "=> m.slice()", "assistants/demo/src/index.ts", CASE_AND_AGENT),
        ("/connectors/local.conn.yao", "m1", "m2", "model of local", CASE_AND_AGENT),
        ("/connectors/local.conn.yao", "100", "50", "connector local", CASE_AND_AGENT),
        ("/mcps/tools.mcp.yao", '"label"', '"description": "d", "label"', "MCP server tools", CASE_AND_AGENT),
        ("/assistants/demo/tests/data.txt", "data", "date", "attachments", {"shown"}),
        ("/assistants/demo/tests/cases.jsonl", '"plain", "input": "x"', '"plain", "input": "y"', "case", {"plain"}),
        ("/assistants/judge/prompts.yml", "brief", "strict", "prompts of judge", {"judged"}),
        ("/assistants/judge/replies.yml", "so it is", "it is", "replies of judge", {"judged"}),
        ("/assistants/player/prompts.yml", "brief", "loud", "prompts of player", {"played"}),
        ("/scripts/checks.ts", "passed: ", "passed:   ", None, set()),
        ("/scripts/fine.ts", "true", "[true][0]", "scripts/checks.ts", {"checked"}),
        ("/scripts/math.ts", "2 * x", "x + x", "scripts/math.ts", {"TestCalling", "TestAgent"}),
        ("/assistants/demo/src/env_test.ts", "return 1", "return 2", "assistants/demo/src/env_test.ts", {"hooked"}),
        ("/assistants/demo/src/alone_test.ts", "1, 1", "2, 2", "assistants/demo/src/alone_test.ts", {"TestAlone"}),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value and " " not in value else "",
)
def test_what_was_made_of_something_else_is_stale(
    whole: Fixture, file: str, old: str, new: str, reason: str | None, ids: set[str]
) -> None:
    path = whole.here.root / file[1:]
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    try:
        code, found = whole.status()
    finally:
        path.write_text(before)
    assert found == dict.fromkeys(ids, f"re-run because {reason} changed")
    assert code == bool(ids)


def test_what_has_its_old_content_is_fresh_again(whole: Fixture) -> None:
    path = whole.here.root / "scripts/math.ts"
    before = path.read_text()
    path.write_text(before.replace("2 * x", "x + x"))
    assert whole.status()[0] == 1
    path.write_text(before)
    assert whole.status() == (0, {})


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [("TONE", "loud", "$ENV.TONE"), ("HOST", "http://127.0.0.1:9", "$ENV.HOST"), ("KEY", "sk-secret-2", None)],
)
def test_what_variables_say_counts_and_keys_do_not(
    whole: Fixture, variable: str, value: str, reason: str | None
) -> None:
    code, found = whole.status(**{variable: value})
    assert found == (dict.fromkeys(CASE_AND_AGENT, f"re-run because {reason} changed") if reason else {})
    assert code == bool(reason)


def test_the_prompts_of_all_agents_are_part_of_each(whole: Fixture) -> None:
    path = whole.here.root / "agent/prompts.yml"
    before = path.read_text()
    path.write_text(before.replace("kind", "rude"))
    code, found = whole.status()
    path.write_text(before)
    assert (code, found.keys()) == (1, CASE_AND_AGENT)
    assert found["judged"] == "re-run because prompts of demo, prompts of judge changed"


def test_a_comment_changes_nothing(whole: Fixture) -> None:
    files = {
        "/scripts/fine.ts": "// first\nexport const fine = () => /* and ever */ true;\n",
        "/assistants/demo/src/index.ts": HOOKS.replace("these", "those") + "\n// last",
        "/assistants/demo/src/calling_test.ts": CALLING.replace("{ t", "{ /* t */ t"),
    }
    before = {name: (whole.here.root / name[1:]).read_text() for name in files}
    whole.here.write(files)
    found = whole.status()
    whole.here.write(before)
    assert found == (0, {})


def test_a_report_holds_no_value_of_a_variable(whole: Fixture) -> None:
    text = whole.path.read_text()
    assert "sk-secret" not in text and whole.variables["HOST"] not in text
    made_of = [record["fingerprint"] for record in lines_of(whole.path) if record["type"] == "result"]
    assert all(found["format"] == 2 and "context" in found for found in made_of)
    assert len(lines_of(whole.path)[0]["resume"]["key"]) == 16


def test_missing_results_and_gone_cases_are_said(whole: Fixture) -> None:
    before = whole.path.read_bytes()
    gone = [line for line in before.splitlines(True) if json.loads(line).get("id") not in ("plain", "TestAlone")]
    whole.path.write_bytes(b"".join(gone))
    cases = (whole.here.root / case_file()).read_text()
    (whole.here.root / case_file()).write_text("".join(cases.splitlines(True)[:-1]))
    code, found = whole.status()
    whole.path.write_bytes(before)
    (whole.here.root / case_file()).write_text(cases)
    assert (code, found) == (
        1,
        {
            "plain": "without a result",
            "TestAlone": "without a result",
            "broken": "no longer exist, so their results are left out",
        },
    )


def test_a_resumed_run_runs_what_is_stale_and_nothing_else(whole: Fixture) -> None:
    path = whole.here.root / "scripts/fine.ts"
    before, report = path.read_text(), whole.path.read_bytes()
    path.write_text("export const fine = () => [true][0];")
    run = whole.run("--resume", str(whole.path))
    ran = [record["id"] for record in lines_of(whole.path) if record["type"] == "result"][-1]
    after = whole.status()
    path.write_text(before)
    whole.path.write_bytes(report)
    assert run.code == 0, run
    assert f"Warning: {case_file()}: re-run because scripts/checks.ts changed: checked\n" in run.stdout
    assert (ran, after) == ("checked", (0, {}))


def test_a_comparison_says_what_results_were_made_of(whole: Fixture) -> None:
    connector, replies = whole.here.root / "connectors/local.conn.yao", whole.here.root / "assistants/judge/replies.yml"
    before = {path: path.read_text() for path in (connector, replies)}
    connector.write_text(before[connector].replace("m1", "m2"))
    replies.write_text(before[replies].replace("true", "false"))
    newer = whole.here.home / "newer.jsonl"
    run = whole.run("-i", case_file(), "-o", str(newer), TONE="other")
    for path, text in before.items():
        path.write_text(text)
    assert run.code == 1, run

    said = whole.run("diff", str(whole.path), str(newer), "-o", "d.json", "-o", "d.md")
    same = whole.run("diff", str(whole.path), str(whole.path))
    _, table = on_terminal(whole.here, "diff", str(whole.path), str(newer), NO_COLOR="1", COLUMNS="200")

    assert "Changed since" not in same.stdout
    line = "model of local (6 results); replies of judge (1 result)"
    assert f"Changed since the baseline: {line}\n" in said.stdout
    assert "    changed: model of local, replies of judge\n" in said.stdout
    assert line in (whole.here.root / "d.md").read_text()
    assert f"Changed since the baseline: {line}\n" in table
    assert "model of local, replies of judge" in table
    changes = json.loads((whole.here.root / "d.json").read_text())
    assert changes["changed_parts"] == {"model local": 6, "replies judge": 1}
    (failure,) = changes["new_failures"]
    assert (failure["id"], failure["changed_parts"]) == ("judged", ["model local", "replies judge"])


# Recordings, versions, and what cannot be told


def test_another_recording_is_another_result(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: 'heard {{ input }}'", cases=CASES[:1]))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "--record", "rec").code == 0
    assert here.run("-i", case_file(), "--replay", "rec", "-o", str(path)).code == 0
    assert here.run("status", str(path)).code == 0
    recording = next(here.root.rglob("plain.json"))
    recording.write_text(recording.read_text().replace("heard x", "heard y"))

    run = here.run("status", str(path))

    assert run.code == 1
    assert "because recording assistants/demo/tests/cases.jsonl/plain.json changed: plain" in run.stdout


def changed_lines(path: Path, **fields: object) -> None:
    """Changes fields of the start line, and of the fingerprints (`made_of_format`)."""
    records = lines_of(path)
    records[0] |= {name: value for name, value in fields.items() if not name.startswith("made_of_")}
    for record in records:
        if "fingerprint" in record and "made_of_format" in fields:
            record["fingerprint"]["format"] = fields["made_of_format"]
    path.write_text(lines(*records))


def test_another_version_is_said_and_results_of_another_format_are_stale(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: x", cases=CASES[:1]))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "-o", str(path)).code == 0
    changed_lines(path, version="0.0.1", made_of_format=99)

    run = here.run("status", str(path))

    assert (run.code, run.stdout) == (
        1,
        "<home>/r.jsonl: 0 of 1 test has a current result\n"
        f"  {case_file()}: re-run because format of fingerprints changed: plain\n"
        "  r.jsonl was started by yao-test 0.0.1, but this is 0.1.0\n",
    )


def test_a_result_that_does_not_say_what_it_was_made_of_runs_again(app: MakeApplication) -> None:
    here = app(agent(replies="- reply: x", cases=CASES[:1]))
    path = here.home / "r.jsonl"
    assert here.run("-i", case_file(), "-o", str(path)).code == 0
    records = lines_of(path)
    path.write_text(lines(*({k: v for k, v in record.items() if k != "fingerprint"} for record in records)))
    run = here.run("status", str(path))
    assert run.code == 1 and "re-run because their results have no fingerprint: plain" in run.stdout


@pytest.mark.parametrize("content", [None, b"", b'{"type": "start"}\n', b"no report\n"])
def test_what_is_no_report_has_no_status(app: MakeApplication, content: bytes | None) -> None:
    here = app(agent(cases=CASES[:1]))
    if content is not None:
        (here.root / "r.jsonl").write_bytes(content)
    run = here.run("status", "r.jsonl")
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith("Error: Cannot ")


def test_nothing_is_computed_without_a_report(app: MakeApplication) -> None:
    here = app({"alone_test.ts": SCRIPT})
    probe = "import sys, atexit; sys.argv[1:] = ['-i', 'scripts.demo.alone']\n" + (
        "import os; end = os._exit\n"
        "def told(code): print([name for name in sys.modules if 'fingerprint' in name]); sys.stdout.flush(); end(code)\n"
        "from runner.commands.main import main; told(main())\n"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", probe], cwd=here.root, env={**here.environment, "PYTHONPATH": str(Path(__file__).parents[3])}, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["status", "--resume"])
@pytest.mark.parametrize("maker", ["merge", "regrade"])
def test_a_report_that_no_run_has_made_is_refused(app: MakeApplication, command: str, maker: str) -> None:
    here = app({**agent(cases=[{"id": "a", "input": "x"}])})
    made = str(here.home / "made.jsonl")
    parts = [str(here.home / f"{part}.jsonl") for part in ((1, 2) if maker == "merge" else (1,))]
    for number, part in enumerate(parts, 1):
        assert here.run("-i", case_file(), "-o", part, "--shard", f"{number}/{len(parts)}").code == 0
    assert here.run(maker, *parts, "-o", made).code == 0

    run = here.run(command, made)

    done = "show the status of <home>/made.jsonl" if command == "status" else "resume <home>/made.jsonl"
    said = f"Error: Cannot {done}: its flags are unknown\nHint: Reports of merge "
    assert (run.code, run.stderr[: len(said)]) == (2, said)


ABSENT = {
    "/scripts/late.ts": ("export function Go() {}", "provider of scripts.late.Go", "TestScript"),
    "/assistants/late/package.yao": ('{"connector": "scripted"}', "provider of agents.late", "TestAgent"),
    "plain.ts": ("function Plain() {}", "handler scripts.demo.plain", "TestPlain"),
    "index.ts": ("export function Next() {}", "handler agents.demo.index", "hooked"),
}


def test_what_is_there_now_and_was_not_there_counts(app: MakeApplication) -> None:
    calls = (
        "export function TestScript(t) { t.assert.Panic(() => Process('scripts.late.Go')); }\n"
        "export function TestAgent(t) { t.assert.Panic(() => Process('agents.late.Stream', 'x')); }\n"
    )
    plain = "function TestPlain(t) { t.assert.Equal(typeof Plain, 'undefined'); }\n"
    here = app(
        {
            **agent(cases=[{"id": "hooked", "input": "x"}], replies="- reply: Hello\n"),
            "calls_test.ts": calls,
            "calls.ts": "",
            "plain_test.ts": plain,
        }
    )
    assert here.run("-i", "assistants/demo", "-o", "r.jsonl").code == 0
    assert here.run("status", "r.jsonl").code == 0

    for file, (text, reason, test) in ABSENT.items():
        here.write({file: text})
        said = here.run("status", "r.jsonl")
        path = here.root / file[1:] if file.startswith("/") else here.source / file
        path.unlink()
        assert said.code == 1
        assert [line.partition(": ")[2] for line in said.stdout.splitlines()[1:]] == [
            f"re-run because {reason} changed: {test}"
        ]
    assert here.run("status", "r.jsonl").code == 0


def test_the_program_of_a_server_counts(app: MakeApplication) -> None:
    """A server that is a program of the application, and one whose file does not lie in it."""
    program = (TOOLS / "rude.py").read_text()
    local = {"transport": "stdio", "command": sys.executable, "arguments": ["bin/rude.py", "noisy"]}
    away = {"transport": "stdio", "command": sys.executable, "arguments": [str(TOOLS / "rude.py"), "noisy"]}
    tests = "".join(
        f"export function Test{id.title()}(t) {{ t.assert.True(new MCP('{id}').ListTools() !== null); }}\n"
        for id in ("local", "away")
    )
    here = app(
        {
            "/bin/rude.py": program,
            "/mcps/local.mcp.yao": json.dumps(local),
            "/mcps/away.mcp.yao": json.dumps(away),
            "some_test.ts": tests,
        }
    )
    run = here.run("-i", "scripts.demo.some", "-o", "r.jsonl")
    assert run.code == 0, run
    made_of = {line["id"]: line["fingerprint"] for line in lines_of(here.root / "r.jsonl") if line["type"] == "result"}
    assert ("program local" in made_of["TestLocal"], "program away" in made_of["TestAway"]) == (True, False)
    assert here.run("status", "r.jsonl").code == 0

    here.write({"/bin/rude.py": program + "# changed\n"})

    said = here.run("status", "r.jsonl")
    assert (said.code, said.stdout.splitlines()[1:]) == (
        1,
        ["  demo/src/some_test.ts: re-run because program of the MCP server local changed: TestLocal"],
    )
