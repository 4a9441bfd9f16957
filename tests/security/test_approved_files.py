"""What is opened as code or as a definition is what was approved, wherever it lies and whatever leads to it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Run

CASES = case_file()
CONNECTOR = '{"type": "openai", "options": {"model": "m", "key": "$ENV.MODEL_KEY", "host": "http://127.0.0.1:9"}}'


def stdio(command: str, *arguments: str, **env: str) -> str:
    return json.dumps({"transport": "stdio", "command": command, "arguments": arguments, "env": env})


FILES = {
    **agent(cases=[{"id": "a", "input": "x"}]),
    "/app.yao": "{}",
    "/.env": "SERVER=spare/s.py\n",
    "/data/conns/c.conn.yao": CONNECTOR,
    "/data/other/c.conn.yao": CONNECTOR,
    "/data/presets/task.yml": "- { role: system, content: x }",
    "/data/words/en.yml": "a: b",
    "/data/schemes/find.in.yao": "{}",
    "/data/agent/package.yao": "{}",
    "/data/free.txt": "1",
    "/data/app.db": b"SQLite format 3\0",
    "/shared/one/package.yao": '{"connector": "scripted"}',
    "/shared/one/prompts.yml": "- { role: system, content: x }",
    "/mcps/plain.mcp.yao": stdio("python3", "tools/w.py", "--db", "data/app.db"),
    "/mcps/node.mcp.yao": stdio(
        "node", "--import=./hooks/h.mjs", "-r./hooks/r.cjs", "srv/main", "--config=conf/c.json"
    ),
    "/mcps/data.mcp.yao": stdio("./data/bin/run"),
    "/mcps/tests.mcp.yao": stdio("python3", "assistants/demo/tests/helper/server.txt"),
    "/mcps/dot.mcp.yao": stdio("python3", ".tools/x.py"),
    "/mcps/module.mcp.yao": stdio("python3", "-m", "pkg.server"),
    "/mcps/path.mcp.yao": stdio("python3", "--directory", "programs", "s.py", PYTHONPATH="lib:extra"),
    "/mcps/above.mcp.yao": stdio("python3", "../beside/w.py"),
    "/mcps/named.mcp.yao": stdio("python3", "$ENV.SERVER"),
    "/mcps/code.mcp.yao": stdio("node", "-e", "require('./loaded/it')"),
    "/yao-test.toml": 'variant = ["old", "new=prompts:trials/p.yml", "cases=prompts:tests/p.yml"]\n',
    "/trials/p.yml": "- { role: system, content: x }",
    "/assistants/demo/tests/p.yml": "- { role: system, content: x }",
    "/models/pet.mod.yao": '{"name": "pet", "table": {"name": "pet"}, "columns": [{"name": "id", "type": "ID"}]}',
    "/tsconfig.json": '{"extends": "./builds/base"}',
    "/builds/base.json": '{"extends": ["./strict.json"]}',
    "/builds/strict.json": "{}",
    "/mcps/tasks.mcp.yao": stdio("make", "serve"),
    "/Makefile": "serve:\n\tpython3 made/s.py\n",
    "/made/s.py": "1",
    "/mcps/shebang.mcp.yao": stdio("./spoken/w"),
    "/spoken/w": "#!./voices/in --of=tones/t.txt\n",
    "/voices/in": "1",
    "/tones/t.txt": "1",
    "/mcps/shell.mcp.yao": stdio("sh", "-c", "$PWD/shells/one/s; ${PWD}/shells/two/s"),
    "/shells/one/s": "1",
    "/shells/two/s": "1",
    "/mcps/globs.mcp.yao": stdio("sh", "-c", "cat steps/*/0?.txt data/steps/[0-9].txt | sh; echo --from=*"),
    "/steps/one/01.txt": "1",
    "/data/steps/1.txt": "1",
    "/mcps/files.mcp.yao": stdio("npx", "server-filesystem", "./data"),
    "/tools/w.py": "import helper",
    "/tools/helper.dat": "1",
    "/tools/.env": "HOST=good.example\nSERVICE_KEY=sk-one-secret",
    "/hooks/h.mjs": "1",
    "/hooks/r.cjs": "1",
    "/srv/main.js": "1",
    "/conf/c.json": "{}",
    "/data/bin/run": "#!/bin/sh\n",
    "/assistants/demo/tests/helper/server.txt": "print()",
    "/.tools/x.py": "1",
    "/pkg/server.py": "1",
    "/pkg/table.csv": "1",
    "/programs/s.py": "1",
    "/lib/one.py": "1",
    "/spare/s.py": "1",
    "/loaded/it.js": "1",
    "/data/code/y.ts": "export const y = 1;",
    "/lib/code.ts": "export const x = 1;",
}
LINKS = {
    "connectors": "data/conns",
    "assistants/linked": "../shared/one",
    "assistants/demo/prompts": "../../data/presets",
    "assistants/demo/locales": "../../data/words",
    "assistants/demo/src/lib": "../../../lib",
    "scripts/far": "../data/code",
    "mcps/mapping/s/schemes": "../../../data/schemes",
}


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Application:
    place = tmp_path_factory.mktemp("approved")
    (place / "home").mkdir()
    (place / ".git").mkdir()
    (place / "beside").mkdir()
    (place / "beside/w.py").write_text("1")
    here = Application(place / "app", place / "home")
    here.write(FILES)
    for name, target in LINKS.items():
        (here.root / name).parent.mkdir(parents=True, exist_ok=True)
        (here.root / name).symlink_to(target)
    assert here.run("trust").code == 0
    return here


def required(here: Application) -> Run:
    return here.run("-i", CASES, "--require-trust")


@pytest.fixture
def changed(approved: Application) -> Iterator[Callable[[str, str | None], None]]:
    """Writes a file, or makes a link `-> target`, until the test ends."""
    undo: list[Callable[[], object]] = []

    def change(name: str, content: str | None) -> None:
        path = approved.root / name
        made = [folder for folder in path.parents if not folder.exists()]
        if path.is_symlink():
            link = os.readlink(path)
            undo.append(lambda: (path.unlink(), path.symlink_to(link)))
            path.unlink()
        elif path.exists():
            old = path.read_bytes()
            undo.append(lambda: path.write_bytes(old))
        else:
            undo.append(lambda: (path.unlink(), [folder.rmdir() for folder in made]))
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None and content.startswith("-> "):
            path.symlink_to(content[3:])
        else:
            path.write_text(content or "")

    yield change
    for step in reversed(undo):
        step()


def test_an_application_whose_folders_are_links_runs_as_approved(approved: Application) -> None:
    """The control of all attempts below."""
    run = required(approved)
    assert run.code == 0, run


ATTEMPTS = {
    "what a link to a folder leads to": {"data/conns/c.conn.yao": ("{}", "changed")},
    "a new file there": {"data/conns/d.conn.yao": (CONNECTOR, "new")},
    "a link that leads elsewhere": {"connectors": ("-> data/other", "changed")},
    "an agent behind a link": {"shared/one/prompts.yml": ("- { role: system, content: y }", "changed")},
    "an agent that a link puts among cases": {"assistants/demo/tests/x": ("-> ../../../data/agent", "new")},
    "a preset behind a link": {"data/presets/task.yml": ("- { role: system, content: y }", "changed")},
    "a preset in a folder that is called as those of snapshots": {
        "data/presets/__snapshots__/x.yml": ("- { role: system, content: y }", "new")
    },
    "a locale behind a link": {"data/words/de.yml": ("a: c", "new")},
    "a mapping behind a link": {"data/schemes/find.in.yao": ('{"x-process-args": []}', "changed")},
    "a script behind a link, which has two names": {"lib/code.ts": ("export const x = 2;", "changed")},
    "a script that a link takes out of data": {"data/code/y.ts": ("export const y = 2;", "changed")},
    "translations": {"langs/en/x.yml": ("a: c", "new")},
    "a program": {"tools/w.py": ("import os", "changed")},
    "a module beside it": {"tools/json.py": ("1", "new")},
    "data beside it": {"tools/helper.dat": ("2", "changed")},
    "a folder beside it": {"tools/helper/__init__": ("1", "new")},
    "a hidden folder beside it": {"tools/.x/y": ("1", "new")},
    "a link to a folder elsewhere beside it": {"tools/pkg": ("-> /usr/share", "new")},
    "settings beside it": {"tools/.env": ("HOST=evil.example\nSERVICE_KEY=sk-one-secret", "changed")},
    "a link beside it": {"tools/helper.so": ("-> ../data/free.txt", "new")},
    "bytecode beside it": {"tools/__pycache__/helper.cpython-311.pyc": ("1", "new")},
    "a long argument": {"hooks/h.mjs": ("2", "changed")},
    "a short argument": {"hooks/r.cjs": ("2", "changed")},
    "a configuration": {"conf/c.json": ("[]", "changed")},
    "code beside a configuration": {"conf/c.py": ("1", "new")},
    "a program without its ending": {"srv/main": ("1", "new")},
    "code beside a data base": {"data/app.py": ("1", "new")},
    "a program in data": {"data/bin/run": ("#!/bin/bash\n", "changed")},
    "what is beside it there": {"data/bin/table.txt": ("1", "new")},
    "a program among cases": {"assistants/demo/tests/helper/server.txt": ("print(1)", "changed")},
    "what is beside that": {"assistants/demo/tests/helper/random.py": ("1", "new")},
    "a program in a folder with a dot": {".tools/x.py": ("2", "changed")},
    "a module": {"pkg/server.py": ("2", "changed")},
    "a table of a module": {"pkg/table.csv": ("2", "changed")},
    "a module of Python that shadows another": {"json.py": ("1", "new")},
    "a program in the folder of an option": {"programs/s.py": ("2", "changed")},
    "a folder of modules in a variable": {"lib/two.py": ("1", "new")},
    "a folder of modules that is new": {"extra/yaml.py": ("1", "new")},
    "a program above the application": {"../beside/w.py": ("2", "changed")},
    "a program in a variable of .env": {"spare/s.py": ("2", "changed")},
    "what code in an argument loads": {"loaded/it.js": ("2", "changed")},
    "settings of code": {"lib/tsconfig.json": ("{}", "new"), "jsconfig.json": ("{}", "new")},
    "what settings of code extend": {
        "builds/base.json": ('{"extends": "./strict"}', "changed"),
        "builds/strict.json": ("[]", "changed"),
    },
    "a model": {"models/pet.mod.yao": ("{}", "changed"), "models/new.mod.yao": ("{}", "new")},
    "the prompts of a variant": {
        "trials/p.yml": ("- { role: system, content: y }", "changed"),
        "assistants/demo/tests/p.yml": ("- { role: system, content: y }", "changed"),
    },
    "what a runner of tasks reads": {"Makefile": ("serve:", "changed"), "made/s.py": ("2", "changed")},
    "another file that it would take first": {"GNUmakefile": ("serve:", "new")},
    "the interpreter that a program names": {"voices/in": ("2", "changed"), "tones/t.txt": ("2", "changed")},
    "what a shell makes of a pattern": {
        "steps/one/01.txt": ("2", "changed"),
        "steps/two/02.txt": ("1", "new"),
        "data/steps/1.txt": ("2", "changed"),
    },
    "translations in a folder that is called as one of packages": {"langs/en/node_modules/x.yml": ("a: c", "new")},
    "programs from the working directory": {"shells/one/s": ("2", "changed"), "shells/two/s": ("2", "changed")},
}


TOGETHER = 8
"""Groups of attempts: those of one are made together, and each is named."""


@pytest.mark.parametrize("group", range(TOGETHER))
def test_what_is_not_as_approved_is_refused_by_its_name(
    approved: Application, changed: Callable[[str, str | None], None], group: int
) -> None:
    attempts = [one for files in [*ATTEMPTS.values()][group::TOGETHER] for one in files.items()]
    for name, (content, _) in attempts:
        changed(name, content)
    run = required(approved)
    assert run.code == 2, run
    assert [f"{name} ({kind})" for name, (_, kind) in attempts if f"{name} ({kind})" not in run.stderr] == []
    assert run.stdout == ""


def test_prompts_that_the_command_line_names_are_approved_too(app: MakeApplication) -> None:
    """The control is the same file, named by the configuration when it was approved."""
    here = app({**agent(cases=[{"id": "a", "input": "x"}]), "/trials/p.yml": "- { role: system, content: x }"})
    variants = ("--variant", "old", "--variant", "new=prompts:trials/p.yml")
    here.run("trust")
    run = here.run("-i", CASES, "--require-trust", *variants)
    assert (run.code, "trials/p.yml (new)" in run.stderr, "in files named in yao-test.toml" in run.stderr) == (
        2,
        True,
        True,
    )
    here.write({"/yao-test.toml": 'variant = ["old", "new=prompts:trials/p.yml"]'})
    here.run("trust")
    assert here.run("-i", CASES, "--require-trust", *variants).code == 0


FREE = {
    "the value of a secret beside a program": {"tools/.env": "HOST=good.example\nSERVICE_KEY=sk-other-secret"},
    "data": {"data/free.txt": "2", "data/new/x.bin": "1", "data/page.html": "<p>"},
    "the data base of a server": {"data/rows.json": "[]", "data/app.db": "SQLite format 3\0more"},
    "cases": {"assistants/demo/tests/more.jsonl": '{"id": "b", "input": "y"}\n'},
    "tests": {"assistants/demo/src/x_test.ts": "export function TestX() {}"},
    "snapshots": {"assistants/demo/src/__snapshots__/x_test.ts.snap": "1"},
    "documents": {"README.md": "2", "docs/a.md": "1"},
    "packages": {"node_modules/p/index.js": "1", ".venv/lib/p.py": "1"},
    "what no pattern matches": {"steps/one/x.txt": "1", "steps/01.txt": "1", "data/steps/x.txt": "1"},
    "reports": {"reports/run.json": "{}"},
}


def test_what_nothing_opens_as_code_or_definition_may_change(
    approved: Application, changed: Callable[[str, str | None], None]
) -> None:
    """All at once: a refusal would name the file."""
    for files in FREE.values():
        for name, content in files.items():
            changed(name, content)
    run = required(approved)
    assert run.code == 0, run


@pytest.mark.parametrize("name", ["__snapshots__", "node_modules", "dist", "types", ".hidden"])
def test_folders_that_hold_no_agents_hold_none_for_anybody(app: MakeApplication, name: str) -> None:
    """The control is the same agent in a folder of another name."""
    hooks = "export function Create() { return { messages: [{ role: 'user', content: 'y' }] }; }"
    made = agent("demo.parts.e", hooks=hooks, cases=[{"id": "z", "input": "x"}])
    here = app({**agent(cases=[{"id": "a", "input": "x"}]), "/app.yao": "{}"})
    assert here.run("trust").code == 0
    for folder, found in ((name, False), ("parts", True)):
        id = f"demo.{folder.replace('.', '_')}.e"
        here.write({
            **{path.replace("/parts/", f"/{folder}/"): text for path, text in made.items()},
            f"/assistants/demo/{folder}/e/src/m_test.ts": "export function TestM() {}",
        })  # fmt: skip
        ran = here.run("-i", "assistants", "--dry-run")
        assert (f"{folder}/e/tests" in ran.stdout, id in ran.stdout) == (found, found), ran
        below = here.run("-i", f"assistants/demo/{folder}", "--dry-run")
        assert (below.code == 0) is found, below
        assert (here.run("-i", "hello", "-n", id, "--dry-run").code == 0) is found
        test = here.run("-i", f"assistants/demo/{folder}/e/src/m_test.ts", "--dry-run")
        assert (test.code == 0) is found, test
        assert (here.run("-i", f"scripts.{id}.m", "--dry-run").code == 0) is found
        code = "export function TestX(t) { t.log(Process('agents." + id + ".index.Create')); }"
        here.write({"call_test.ts": code})
        called = here.run("-i", "scripts.demo.call")
        assert (called.code == 0) is found, called
        (here.source / "call_test.ts").unlink()
    assert required(here).code == 2


def test_an_agent_in_such_a_folder_is_named_once(app: MakeApplication) -> None:
    here = app({**agent("types", cases=[{"id": "a", "input": "x"}]), **agent(cases=[{"id": "a", "input": "x"}])})
    run = here.run("-i", "assistants", "-i", ".", "--dry-run")
    said = "Warning: Not collected: assistants/types. Folders with such names are not searched for agents or tests\n"
    assert (run.stdout + run.stderr).count(said) == 1


WRITES = {
    "a connector": ("/conns/late.conn.yao", CONNECTOR, "connectors", "late"),
    "a connector whose folder is moved there": ("/conns/sub/late.conn.yao", CONNECTOR, "connectors", "sub.late"),
    "the prompts of an agent": ("/agents/e/prompts.yml", "- { role: system, content: y }", "assistants/far", ""),
    "an agent": ("/agents/e/package.yao", '{"connector": "scripted", "name": "other"}', "assistants/far", ""),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("is_attack", [True, False])
def test_what_a_script_wrote_defines_nothing(app: MakeApplication, name: str, is_attack: bool) -> None:
    """The control writes the same to a place that no link leads to."""
    path, content, link, connector = WRITES[name]
    place = path if is_attack else f"/elsewhere{path}"
    writes = f"fs.WriteFile('/made/{Path(place).name}', {content!r}); fs.Move('/made', '{Path(place).parent}');"
    if "moved" not in name:
        writes = f"fs.WriteFile('{place}', {content!r});"
    hook = f"export function Before() {{ const fs = new FS('data'); {writes} }}"
    files = {
        **agent(cases=[{"id": "a", "input": "x", "before": "env_test.Before"}]),
        "/data/agents/e/package.yao": '{"connector": "scripted"}',
        "/data/agents/e/prompts.yml": "- { role: system, content: x }",
        "/data/agents/e/replies.yml": "- reply: hi",
        "/data/conns/old.conn.yao": CONNECTOR,
        "/data/elsewhere/conns/x": "",
        "env_test.ts": hook,
    }
    target = "data/conns" if link == "connectors" else "../data/agents"
    here = app(files)
    (here.root / link).symlink_to(target)
    call = (
        f"Process('llm.ChatCompletions', '{connector}', [{{ role: 'user', content: 'x' }}])"
        if connector
        else "ctx.agent.Call('far.e', [{ role: 'user', content: 'x' }])"
    )
    here.write({
        "index.ts": "export function Create(ctx) { const said = " + call + "; return { metadata: { said } }; }",
    })  # fmt: skip
    if connector and not is_attack:
        here.write({"/data/conns/late.conn.yao": CONNECTOR, "/data/conns/sub/late.conn.yao": CONNECTOR})
    run = here.run("-i", CASES, env={**here.environment, "MODEL_KEY": "sk-dummy-1234567"})
    if is_attack:
        assert run.code == 2, run
        assert f"data{path}" in run.stderr
    else:
        assert run.code != 2, run
        assert "a script wrote it" not in run.stdout + run.stderr


SERVER = """\
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        r = {"tools": [{"name": "weather", "inputSchema": {"type": "object"}}]}
        if m["method"] == "initialize":
            r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
                 "serverInfo": {"name": "w", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""


@pytest.mark.parametrize("place", ["/tools/json.py", "/other/json.py"])
def test_what_a_script_wrote_is_no_program_nor_beside_one(app: MakeApplication, place: str) -> None:
    hook = f"export function Before() {{ new FS('data').WriteFile('{place}', 'raise SystemExit(7)'); }}"
    case = {"id": "a", "input": "x", "before": "env_test.Before"}
    here = app({
        **agent(package={"mcp": {"servers": ["w"]}}, cases=[case]),
        "/mcps/w.mcp.yao": stdio("python3", "data/tools/w.py"),
        "/data/tools/w.py": SERVER,
        "env_test.ts": hook,
    })  # fmt: skip
    run = here.run("-i", CASES)
    if place.startswith("/tools"):
        assert run.code == 2, run
        assert "data/tools/json.py" in run.stderr
    else:
        assert run.code == 0, run
        assert not (here.root / "data/tools/__pycache__").exists()
