"""Agents with `sandbox.yao`: a workspace for each test, commands that are mocked, a runner that is scripted."""

from __future__ import annotations

import json

import pytest
from agent_files import agent, run_cases
from command import Application, Files, MakeApplication

from scripttest import system_walls

SANDBOX = {
    "version": "2.0",
    "computer": {"image": "yaoapp/box:1"},
    "runner": {"name": "claude/cli"},
    "lifecycle": "session",
}
HOOKS = """\
function Create(ctx, messages) {
  ctx.workspace.WriteFile("seen/create.txt", messages[0].content);
  const { stdout, exit_code } = ctx.computer.Exec("unzip -o game.zip");
  return { messages, metadata: { unzipped: [stdout, exit_code] } };
}
function Next(ctx, payload) {
  return { data: {
    files: ctx.workspace.ReadDir().map((file) => file.name), readme: ctx.workspace.Exists("README.md") ? ctx.workspace.ReadFile("README.md") : null,
    completion: payload.completion, tools: payload.tools, unzipped: ctx.metadata.unzipped, id: ctx.metadata.workspace_id,
  } };
}
"""
RUNNER = """\
- when: { message: "add a readme" }
  files: { README.md: "# Hello {{ metadata.who }}\\n", seen/create.txt: null }
  events: [ { type: text, text: "Do" }, { type: tool, name: Write, input: { path: README.md } }, { type: text, text: "ne" } ]
  exit: 0
- when: { message: break }
  exit: 3
- when: { message: nothing }
  events: []
- error: "quota exceeded"
"""


def sandbox(cases: list[dict[str, object]] | None = None, **more: object) -> Files:
    """The agent `demo` with a sandbox."""
    return {
        **agent(hooks=HOOKS, cases=cases, replies="- reply: a model\n", **more),  # type: ignore[arg-type]
        "/assistants/demo/sandbox.yao": json.dumps({**SANDBOX}) + " // comments are fine",
        "/assistants/demo/runner.yml": RUNNER,
    }


UNZIP = {"unzip": {"stdout": "ok"}}


def test_a_text_of_a_runner_that_is_one_template_is_said_as_text(app: MakeApplication) -> None:
    files = sandbox([{"id": "turn", "input": "which turn?", "mocks": {"exec": UNZIP}}])
    files["/assistants/demo/runner.yml"] = '- events: [{ type: text, text: "{{ turn }}" }]\n'
    assert run_cases(app(files), code=0)["turn"]["output"]["completion"]["content"] == "1"


def test_a_scripted_runner_answers_and_writes_files(app: MakeApplication) -> None:
    readme = {"type": "file_contains", "path": "README.md", "value": "# Hello Ada"}
    cases = [
        {
            "id": "readme",
            "input": "please add a readme",
            "metadata": {"who": "Ada"},
            "mocks": {"exec": UNZIP},
            "assert": [
                {"type": "file_exists", "path": "README.md"},
                readme,
                {"type": "file_exists", "path": "seen/create.txt", "negate": True},
                {"type": "workspace"},
                {"type": "tool_called", "name": "Write", "value": {"name": "Write", "arguments": {"path": "README.md"}}}
                | {"name": None},
            ],
        },
        {"id": "nothing", "input": "nothing", "mocks": {"exec": UNZIP}},
    ]
    cases[0]["assert"][-1].pop("name")  # type: ignore[index]
    application = app(sandbox(cases))
    records = run_cases(application, code=0)
    assert records["readme"]["output"] == {
        "files": ["README.md", "seen"],
        "readme": "# Hello Ada\n",
        "completion": {"role": "assistant", "content": "Done", "finish_reason": "stop"},
        "tools": None,
        "unzipped": ["ok", 0],
        "id": "test-workspace",
    }
    assert records["nothing"]["output"]["completion"] == {"role": "assistant", "finish_reason": "stop"}
    assert records["nothing"]["output"]["files"] == ["seen"]
    said = [line for line in records["nothing"]["logs"] if "runner.yml stands in for its runner claude" in line]
    assert len(said) == 1
    calls = {(call["call"], call["answered"]) for call in records["readme"]["outside"]}
    assert ("exec unzip -o game.zip", "mocked") in calls
    snapshot = next(application.root.rglob("*.snap")).read_text()
    assert "README.md" in snapshot and "# Hello Ada" in snapshot


def test_what_a_runner_cannot_do_fails_the_request(app: MakeApplication) -> None:
    cases = [
        {"id": "exit", "input": "break", "mocks": {"exec": UNZIP}},
        {"id": "error", "input": "other", "mocks": {"exec": UNZIP}},
        {"id": "unmocked", "input": "nothing"},
        {
            "id": "files",
            "input": "nothing",
            "mocks": {"exec": UNZIP},
            "assert": [
                {"type": "file_exists", "path": "none.txt"},
                {"type": "file_contains", "path": "seen/create.txt", "value": "something"},
            ],
        },
    ]
    application = app(sandbox(cases))
    records = run_cases(application, code=1)
    assert "runner.Stream: exit 3" in records["exit"]["error"]
    assert "runner.Stream: quota exceeded" in records["error"]["error"]
    assert 'mocks: {"exec": {"unzip -o game.zip": ...}}' in records["unmocked"]["error"]
    assert ("exec unzip -o game.zip", "missing") in {
        (call["call"], call["answered"]) for call in records["unmocked"]["outside"]
    }
    assert "Expected the workspace to have" in records["files"]["error"]
    assert 'Expected seen/create.txt to contain "something", found "nothing"' in str(records["files"])
    (application.root / "assistants/demo/runner.yml").unlink()
    told = run_cases(application, "--run", "error")["error"]
    assert 'Cannot run the sandbox of agent "demo": there is no assistants/demo/runner.yml' in told["error"]


@pytest.mark.parametrize(
    ("runner", "said"),
    [
        ("- nothing: 1", 'unknown field "nothing" in a rule'),
        ("- files: [a]", '"files" must be an object'),
        ("- events: [{ type: txt, text: a }]", 'unknown type "txt" of an event'),
        ("- when: { message: a }", "it does nothing"),
        ("- error: 1", '"error" must be text'),
        ("- files: { ../out.txt: a }", "permission denied"),
    ],
)
def test_rules_that_are_wrong_say_so(app: MakeApplication, runner: str, said: str) -> None:
    application = app(sandbox([{"id": "a", "input": "x", "mocks": {"exec": UNZIP}}]))
    application.write({"/assistants/demo/runner.yml": runner})
    assert said in run_cases(application)["a"]["error"]


def test_the_answers_of_a_runner_are_recorded_and_replayed(app: MakeApplication) -> None:
    case = {"id": "a", "input": "add a readme", "metadata": {"who": "Bo"}, "mocks": {"exec": UNZIP}}
    application = app(sandbox([case]))
    first = run_cases(application, "--record", "recordings", code=0)["a"]["output"]
    (application.root / "assistants/demo/runner.yml").unlink()
    assert run_cases(application, "--replay", "recordings", code=0)["a"]["output"] == first


def test_an_old_sandbox_is_a_plain_agent(app: MakeApplication) -> None:
    files = agent(
        package={"sandbox": {"command": "claude"}}, cases=[{"id": "a", "input": "x"}], replies="- reply: a model\n"
    )
    record = run_cases(app(files), code=0)["a"]
    assert record["output"] == "a model"
    assert any("it is ignored, as in Yao" in line for line in record["logs"])


def test_a_sandbox_of_another_version_is_refused(app: MakeApplication) -> None:
    application = app(sandbox([{"id": "a", "input": "x"}]))
    application.write({"/assistants/demo/sandbox.yao": '{"version": "1.0"}'})
    assert 'sandbox.yao version must be "2.0", got "1.0"' in str(
        application.run("-i", "assistants/demo/tests/cases.jsonl")
    )


def test_a_failing_step_of_prepare_fails_the_request(app: MakeApplication) -> None:
    steps = [
        {"action": "copy", "src": "template", "dst": "~/work"},
        {"action": "exec", "cmd": "npm install", "once": True},
        {"action": "exec", "cmd": "make", "ignore_error": True},
    ]
    cases = [
        {"id": "ok", "input": "nothing", "mocks": {"exec": {**UNZIP, "npm *": "", "make": {"exit_code": 2}}}},
        {"id": "bad", "input": "nothing", "mocks": {"exec": {**UNZIP, "/^npm/": {"exit_code": 1, "stderr": "no net"}}}},
        {"id": "left", "input": "nothing", "mocks": {"exec": UNZIP}},
    ]
    application = app(sandbox(cases))
    application.write(
        {
            "/assistants/demo/sandbox.yao": json.dumps({**SANDBOX, "prepare": steps}),
            "/assistants/demo/template/a/b.txt": "b",
        }
    )
    records = run_cases(application, code=1)
    assert records["ok"]["output"]["files"] == [".yao", "seen", "work"]
    assert "runner.Prepare: prepare step 1 (exec): exec: exit 1: no net" in records["bad"]["error"]
    assert any('"npm install" was skipped' in line for line in records["left"]["logs"])


TESTS = """
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
export function TestFiles(t, ctx) {
  const { workspace: space } = ctx;
  t.assert.Nil(space.WriteFile("a/b.txt", "text"));
  space.WriteFile("/c.txt", { toString: () => "shown" });
  t.assert.Equal(space.ReadDir(), [{ name: "a", is_dir: true, size: 0 }, { name: "c.txt", is_dir: false, size: 5 }]);
  const { mtime, mode, ...stat } = space.Stat("a/b.txt");
  t.assert.Equal(stat, { name: "b.txt", size: 4, is_dir: false });
  t.assert.Equal([typeof mtime, typeof mode], ["number", "number"]);
  space.Copy("a", "d/e");
  space.Rename("c.txt", "d/c.txt");
  t.assert.Equal([space.ReadFile("d/e/b.txt"), space.ReadFile("d/c.txt"), space.Exists("c.txt"), space.Exists("./c.txt")], ["text", "shown", false, true]);
  space.MkdirAll("x/y");
  t.assert.Equal(space.ReadDir("x/y"), []);
  t.assert.Equal(tried(() => space.Remove("x")), "Remove failed: remove x: directory not empty");
  t.assert.Equal(tried(() => space.Remove("none")), "Remove failed: remove none: no such file or directory");
  space.RemoveAll("none");
  space.RemoveAll("x");
  t.assert.Equal(tried(() => space.ReadFile("x")), "ReadFile failed: read x: no such file or directory");
  for (const path of ["/a", "./a", "a/", "a/../b", ""]) t.assert.Equal(tried(() => space.ReadFile(path)), `ReadFile failed: read ${path}: invalid argument`);
  t.assert.Equal(tried(() => space.WriteFile("../out", "x")), "WriteFile failed: write ../out: permission denied");
  t.assert.Equal(tried(() => space.WriteFile("only")), "WriteFile requires path and content arguments");
  t.assert.Contains(tried(() => space.Copy("local:///etc/passwd", "p")), "host files are not available offline");
  t.assert.Nil(ctx.sandbox);
}
export function TestNothingIsLeft(t, ctx) { t.assert.Equal(ctx.workspace.ReadDir(), []); }
export function TestExec(t, ctx) {
  const { computer } = ctx;
  const echo = t.mock.exec("echo", { stdout: "hi\\n" });
  const rest = t.mock.exec(/^sh -c .*rm/, (argv) => ({ stderr: argv[2], exit_code: 1 }));
  t.mock.exec("uname *", "Linux");
  t.assert.Equal(computer.Exec("echo  hi"), { stdout: "hi\\n", stderr: "", exit_code: 0 });
  t.assert.Equal(computer.Exec(["sh", "-c", "rm -rf x"]), { stdout: "", stderr: "rm -rf x", exit_code: 1 });
  t.assert.Equal(computer.Exec("uname -a").stdout, "Linux");
  t.assert.Equal([echo.last.name, rest.last.args[0]], ["echo hi", ["sh", "-c", "rm -rf x"]]);
  t.assert.Contains(tried(() => computer.Exec("echoes")), 't.mock.exec("echoes", ...)');
  t.assert.Equal([tried(() => computer.Exec()), tried(() => computer.Exec(7))], ["Exec requires a command argument", "command must be a string or array of strings"]);
  t.assert.Contains(tried(() => t.mock.exec("a", { code: 1 })), 'Did you mean "exit_code"');
  t.assert.Contains(tried(() => t.mock.exec("a", { delay: "soon" })), "delay must be");
  t.mock.now("2030-01-01T00:00:00Z");
  t.mock.exec("slow", { delay: "1h" });
  computer.Exec("slow");
  t.assert.Equal(new Date().toISOString(), "2030-01-01T01:00:00.000Z");
}
export function TestComputer(t, ctx) {
  const info = ctx.computer.Info();
  t.assert.Equal([info.kind, info.status, info.system.os, info.node_id, info.image, info.policy], ["box", "running", "linux", "test", "yaoapp/box:1", "session"]);
  t.assert.Equal(ctx.computer.id, info.box_id);
  t.assert.Contains(tried(() => ctx.computer.VNC()), "VNC failed");
  t.assert.Equal(tried(() => ctx.computer.Proxy("x")), "Proxy requires a port number");
}
export function TestShared(t, ctx) {
  t.mock.exec("unzip *", "done");
  const { next } = Process("agents.demo.Stream", "add a readme", { metadata: { who: "Cy" } }).response;
  t.assert.Equal([next.readme, next.unzipped], ["# Hello Cy\\n", ["done", 0]]);
  t.assert.Equal(ctx.workspace.ReadFile("README.md"), "# Hello Cy\\n");
}
"""


def test_scripts_have_a_workspace_and_a_computer(app: MakeApplication) -> None:
    application = app({**sandbox(), "box_test.ts": TESTS})
    run = application.run("-i", "assistants/demo/src/box_test.ts", "-v")
    assert run.code == 0, run.stdout


def test_a_context_that_names_a_workspace_has_its_files(app: MakeApplication) -> None:
    test = """
export function TestNone(t, ctx) { t.assert.Equal([ctx.workspace, ctx.computer], [undefined, undefined]); }
"""
    named = """
export function TestNamed(t, ctx) { ctx.workspace.WriteFile("a", "b"); t.assert.Equal([ctx.workspace.ReadFile("a"), ctx.computer], ["b", undefined]); }
"""
    application: Application = app({**agent(), "none_test.ts": test, "named_test.ts": named})
    application.write({"/context.json": '{"metadata": {"workspace_id": "w"}}'})
    assert application.run("-i", "scripts.demo.none").code == 0
    run = application.run("-i", "scripts.demo.named", "--ctx", "context.json")
    assert run.code == 0, run.stdout


def test_unknown_parts_of_mocked_commands_are_named(app: MakeApplication) -> None:
    application = app(sandbox([{"id": "a", "input": "x", "mocks": {"exec": {"a": {"exitCode": 1}}}}]))
    run = application.run("-i", "assistants/demo/tests/cases.jsonl")
    assert run.code == 2
    assert 'Did you mean "exit_code"' in run.stderr


JAILED = """
const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
export function TestJail(t, ctx) {
  const run = (...argv) => ctx.computer.Exec(argv);
  t.assert.Equal(run("echo", "hi"), { stdout: "hi\\n", stderr: "", exit_code: 0 });
  ctx.workspace.WriteFile("a.txt", "text");
  t.assert.Equal(run("ls").stdout, "a.txt\\n");
  t.assert.Equal(run("sh", "-c", "mkdir b; cp a.txt b/c.txt; exit 3").exit_code, 3);
  t.assert.Equal(ctx.workspace.ReadFile("b/c.txt"), "text");
  t.assert.Equal(run("sh", "-c", "env | grep -v ^PWD= | grep -v ^_= | grep -v ^SHLVL= | grep -v ^OLDPWD=").stdout, "");
  for (const attempt of ["cat SECRET", "ls HOME", "cat /proc/1/status", "echo x > SECRET", "cat /etc/passwd", "kill -9 PARENT", "chmod 777 SECRET", "touch -d 2001-01-01 SECRET"]) {
    const { stdout, exit_code } = run("sh", "-c", attempt.replace("PARENT", "$PPID"));
    t.assert.NotEqual(exit_code, 0, attempt);
    t.assert.Equal(stdout, "", attempt);
  }
  t.assert.NotEqual(run("python3", "-c", "import socket; socket.socket()").exit_code, 0);
  t.assert.Equal(run("python3", "-c", "print(6 * 7)").stdout, "42\\n");
  t.assert.Contains(tried(() => run("cat", "a.txt")), "--allow-exec=cat");
  t.assert.Contains(tried(() => run("nosuchprogram")), "executable file not found");
  t.mock.exec("echo", "mocked");
  t.assert.Equal(run("echo", "hi").stdout, "mocked");
}
"""


def test_an_allowed_program_runs_in_a_jail(app: MakeApplication) -> None:
    secret = "s3cret"
    application = app(sandbox())
    application.write({"/secret.txt": secret})
    text = JAILED.replace("SECRET", str(application.root / "secret.txt")).replace("HOME", str(application.root))
    application.write({"jail_test.ts": text})
    names = "echo,ls,sh,python3,nosuchprogram"
    run = application.run("-i", "scripts.demo.jail", f"--allow-exec={names}", "-v")
    if any(wall.missing for wall in system_walls() if wall.name in ("files", "system calls")):
        assert "Cannot run echo in a jail" in run.stdout
    else:
        assert run.code == 0, run.stdout
    assert (application.root / "secret.txt").read_text() == secret
    assert (application.root / "secret.txt").stat().st_mode & 0o777 != 0o777
    told = application.run("-i", "scripts.demo.jail", "--allow-exec=/bin/sh")
    assert (told.code, "it must be the name of a program" in told.stderr) == (2, True)
