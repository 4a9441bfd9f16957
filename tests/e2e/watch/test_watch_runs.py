"""Which tests `--watch` runs when files change, on a real terminal."""

from __future__ import annotations

import json
import os
import re

from command import Application, MakeApplication
from terminal import Terminal, on_open_terminal
from watching import FILES, SUMMARY, WAITING, save_at_once, unending, verdict

PET = '{"table": {"name": "pet"}, "columns": [{"name": "id", "type": "ID"}, {"name": "name", "type": "string"}]}'
SAVES = {
    "a module": ("a.ts", "export const a = () => 4;\n", 0, 1),
    "what it imports": ("shared.ts", "export const two = 5;\n", 0, 1),
    "JSON": ("data.json", '{"n": 2}', 0, 1),
    "a script that is called": ("/scripts/lib.ts", "function Two() { return 3; }\n", 0, 1),
    "a test": ("b_test.ts", "export function TestB(t) {}\nexport function TestB2(t) {}\n", 2, 0),
    "a broken test": ("b_test.ts", "export function TestB(t) {\n", 0, 1),
    "a new test": ("d_test.ts", "export function TestD(t) {}\n", 1, 0),
    "the configuration of the compiler": ("/tsconfig.json", '{"compilerOptions": {}}', 4, 0),
    "replies": ("/assistants/demo/replies.yml", "- reply: Bye\n", 0, 1),
    "prompts": ("/assistants/demo/prompts.yml", "- {role: system, content: Ho}\n", 1, 0),
    "the package": ("/assistants/demo/package.yao", '{"connector": "scripted", "name": "x"}', 1, 0),
    "a case": (
        "/assistants/demo/tests/cases.jsonl",
        '{"id": "greets", "input": "Hi"}\n{"id": "x", "input": "x"}\n',
        2,
        0,
    ),
}


def test_a_save_runs_what_depends_on_it_and_nothing_else(watched: Terminal) -> None:
    here = watched.application
    for name, (file, text, passed, failed) in SAVES.items():
        path = here.root / file[1:] if file.startswith("/") else here.source / file
        before = path.read_text() if path.exists() else None
        here.write({file: text})
        found = verdict(watched)
        assert found == (str(path.relative_to(here.root)), passed, failed), name
        if before is None:
            path.unlink()
            here.write({"a.ts": FILES["a.ts"] + "// again\n"})
            assert verdict(watched)[1:] == (1, 0), name
            here.write({"a.ts": FILES["a.ts"]})
        else:
            path.write_text(before)
        assert verdict(watched)[2] == 0, name


def test_what_changes_nothing_starts_nothing(watched: Terminal) -> None:
    here = watched.application
    (here.source / "a.ts").write_text(FILES["a.ts"])
    here.write({"types.ts": "export type Shape = number | string;\n", "unused.ts": "export const x = 1;\n"})
    here.write({"/README.md": "x", "/assistants/demo/tests/__snapshots__/x.snap": "x", "/.git/HEAD": "x"})
    os.utime(here.source / "a.ts")
    here.write({"shared.ts": "export const two = 2; // still\n"})

    assert verdict(watched)[1:] == (1, 0)
    assert "types.ts" not in watched.output.rpartition("Changed:")[0]


def verdicts(terminal: Terminal) -> list[tuple[int, int]]:
    """How many passed and failed in each run until nothing is left to run, of which there may be several."""
    found = re.findall(r"Summary: (\d+) passed, (\d+) failed", terminal.wait(WAITING))
    return [(int(passed), int(failed)) for passed, failed in found]


def test_the_last_content_counts_however_it_came(watched: Terminal) -> None:
    here = watched.application
    for number in range(30):
        here.write({"shared.ts": f"export const two = {number};\n"})
    save_at_once(here, "shared.ts", "export const two = 2; // new\n")
    while (found := verdicts(watched))[-1:] != [(1, 0)]:
        assert set(found) <= {(0, 1), (1, 0)}

    many = {f"many/m{number}_test.ts": f"export function TestM{number}(t) {{}}\n" for number in range(100)}
    here.write(many)
    passed = 0
    while passed < 100:
        passed += sum(passed for passed, _ in verdicts(watched))
    assert passed >= 100


def test_a_save_during_a_run_gives_up_what_it_makes_stale(here: Application) -> None:
    with on_open_terminal(here, "--watch", "-i", "scripts.demo.a", "--timeout", "1h") as terminal:
        terminal.wait(WAITING)
        unending(here)
        terminal.wait("Changed: ")
        terminal.wait("Running Tests")
        save_at_once(here, "a_test.ts", FILES["a_test.ts"])
        shown = terminal.wait(WAITING)
        assert len(re.findall(SUMMARY, shown)) == 1, shown
        assert "1 passed, 0 failed" in shown, shown
        terminal.press("q")
        assert terminal.ends() == 0


def test_tests_of_later_runs_have_fresh_realms_too(app: MakeApplication) -> None:
    """Realms are made ahead between runs."""
    spoil = """
        t.assert.Equal(typeof seen, "undefined"); t.assert.Equal([].more, undefined); t.assert.Equal(count++, 0);
        seen = 1; Array.prototype.more = 1;
    """
    tests = "".join(f"function TestT{n}(t) {{ {spoil} }}\n" for n in range(30))
    here = app({"a_test.js": f"let count = 0;\n{tests}function TestLoop(t) {{ for (;;) {{}} }}\n"})
    with on_open_terminal(here, "--watch", "--timeout", "400ms", "--parallel", "1") as terminal:
        for _ in range(2):
            shown = terminal.wait(WAITING)
            assert "Summary: 30 passed, 1 failed" in shown, shown
            assert "timeout after" in shown
            terminal.press("\r")


def test_without_a_terminal_or_in_ci_there_is_one_run(here: Application) -> None:
    run = here.run("--watch")
    assert run.code == 0
    assert "Summary: 4 passed" in run.stdout
    assert "Waiting" not in run.stdout
    with on_open_terminal(here, "--watch", CI="true") as terminal:
        assert terminal.ends() == 0
        assert "Waiting" not in terminal.output


def test_what_is_wrong_is_said_and_watching_goes_on(watched: Terminal) -> None:
    here = watched.application
    save_at_once(here, "/assistants/demo/tests/cases.jsonl", '{"id": 3}\n')
    assert "Error: Cannot read cases from" in watched.wait(WAITING)
    save_at_once(here, "/assistants/demo/tests/cases.jsonl", FILES["/assistants/demo/tests/cases.jsonl"])
    assert verdict(watched)[1:] == (1, 0)
    for name in ("package.yao", "replies.yml", "prompts.yml"):
        file = f"/assistants/demo/{name}"
        save_at_once(here, file, "{ - broken")
        assert "1 error" in (shown := watched.wait(WAITING)) or re.search("Errors: +1|Error: ", shown), shown
        save_at_once(here, file, FILES[file])
        assert re.search(r"Passed: +1", watched.wait(WAITING)), name
    save_at_once(here, "/yao-test.toml", "paralel = 3\n")
    assert "there is no flag paralel" in " ".join(watched.wait(WAITING).split())
    save_at_once(here, "/yao-test.toml", "parallel = 3\n")
    assert verdict(watched)[1:] == (4, 0)
    watched.press("t")
    watched.wait("Tests that match: ")
    watched.press("(\r")
    watched.wait(r"Cannot read --run \"\(\"")
    save_at_once(here, "b_test.ts", "export function TestB(t) { t.fail('no'); }\n")
    assert verdict(watched)[1:] == (0, 1)
    for file in here.source.glob("*_test.ts"):
        file.unlink()
    (here.root / "assistants/demo/tests/cases.jsonl").unlink()
    while "Nothing to test" not in (shown := watched.wait(WAITING)):
        assert "Changed: " in shown
    save_at_once(here, "b_test.ts", FILES["b_test.ts"])
    assert verdict(watched)[1:] == (1, 0)


def test_whatever_cases_use_runs_them_again(app: MakeApplication) -> None:
    """Files that no script imports."""
    talk = [{"role": "user", "content": [{"type": "text", "text": "y"}, {"type": "file", "source": "file://data.txt"}]}]
    said = [
        {"id": "shown", "input": talk[0]},
        {"id": "calls", "input": "x", "assert": {"type": "agent", "use": "agents:judge", "value": "Is it fine?"}},
        {"id": "hooked", "input": "x", "before": "env_test.Before"},
        {"id": "turns", "turns": [{"input": "a", "attachments": [{"type": "file", "source": "file://more.txt"}]}]},
    ]
    cases = {f"/assistants/demo/tests/{case['id']}.jsonl": json.dumps(case) + "\n" for case in said}
    here = app(
        {
            **cases,
            **{name: FILES[name] for name in FILES if "/demo/" in name and not name.endswith("jsonl")},
            "/assistants/demo/package.yao": '{"connector": "scripted", "mcp": {"servers": ["tools"]}}',
            "/assistants/demo/tests/data.txt": "data",
            "/assistants/demo/tests/more.txt": "more",
            "/assistants/judge/package.yao": '{"connector": "scripted"}',
            "/assistants/judge/prompts.yml": "- {role: system, content: Judge}\n",
            "/assistants/judge/replies.yml": '- reply: { json: { passed: true, reason: "so it is" } }\n',
            "/mcps/tools.mcp.yao": '{"transport": "process", "label": "a", "tools": {"look": "scripts.tools.Look"}}',
            "/scripts/tools.ts": "export function Look() { return 1; }\n",
            "index.ts": "export function Next(ctx, payload) { return null; }\n",
            "env_test.ts": "export function Before(ctx, cases) { return 1; }\n",
            "rows_test.ts": 'export function TestRows(t) { t.db.seed("dogs"); t.assert.Len(t.db.rows("pet"), 1); }\n',
            "/assistants/demo/fixtures/dogs.jsonl": '{"model": "pet", "row": {"name": "Rex"}}\n',
            "/models/pet.mod.yao": PET,
            "/.env": "A=1\n",
        }
    )
    everything = {"shown", "calls", "hooked", "turns"}
    saves = {
        "/assistants/demo/tests/data.txt": ("date", {"shown"}),
        "/assistants/demo/tests/more.txt": ("less", {"turns"}),
        "/assistants/judge/prompts.yml": ("- {role: system, content: Judge well}\n", {"calls"}),
        "/mcps/tools.mcp.yao": (
            '{"transport": "process", "label": "b", "tools": {"look": "scripts.tools.Look"}}',
            everything,
        ),
        "/assistants/demo/src/index.ts": ("export function Next(ctx, payload) { return undefined; }\n", everything),
        "/assistants/demo/src/env_test.ts": ("export function Before(ctx, cases) { return 2; }\n", {"hooked"}),
        "/models/pet.mod.yao": (PET.replace('"pet"', '"pets"'), {"rows"}),
        "/assistants/demo/fixtures/dogs.jsonl": ('{"model": "pet", "row": {"name": "Bo"}}\n', {"rows"}),
        "/assistants/demo/replies.yml": ("- reply: Bye\n", everything),
        "/.env": ("A=2\n", {*everything, "rows"}),
        "/yao-test.toml": ('user = "me"\n', {*everything, "rows"}),
    }
    with on_open_terminal(here, "--watch") as terminal:
        terminal.wait(WAITING)
        for file, (text, expected) in saves.items():
            here.write({file: text})
            shown = terminal.wait(WAITING)
            assert f"Changed: {file[1:]}\n" in shown
            ran = {name for name in (*everything, "rows") if name in shown.partition("Changed: ")[2].partition("\n")[2]}
            assert ran == expected, shown


def test_a_new_file_runs_what_uses_it_from_now_on(app: MakeApplication) -> None:
    here = app(
        {
            **{name: FILES[name] for name in FILES if "/demo/" in name},
            "beside_test.ts": "function TestBeside(t) { t.log(typeof Beside); }\n",
            "calls_test.ts": "export function TestCalls(t) { t.assert.NotNil(Process('scripts.late.Go')); }\n",
            "/scripts/.keep": "",
            "picks_test.ts": "import { x } from './x';\nexport function TestPicks(t) { t.assert.True(x); }\n",
            "x.js": "export const x = 1;\n",
            "enters_test.ts": "import { y } from './y';\nexport function TestEnters(t) { t.assert.True(y); }\n",
            "y/index.ts": "export const y = 1;\n",
        }
    )
    saves = {
        "beside.ts": ("function Beside() {}\n", "beside"),
        "/scripts/late.ts": ("export function Go() { return 1; }\n", "calls"),
        "x.ts": ("export const x = 2;\n", "picks"),
        "y.ts": ("export const y = 2;\n", "enters"),
        "index.ts": ("export function Next() { return null; }\n", "cases"),
    }
    with on_open_terminal(here, "--watch") as terminal:
        terminal.wait(WAITING)
        for file, (text, expected) in saves.items():
            here.write({file: text})
            shown = terminal.wait(WAITING).partition("Changed: ")[2].partition("\n")[2]
            assert {name for _, name in saves.values() if f"demo.{name}" in shown or f"/{name}." in shown} == {expected}


def test_a_change_behind_a_link_runs_what_uses_it(app: MakeApplication) -> None:
    here = app(
        {
            "a_test.ts": "export function TestA(t) {}\n",
            "/real/agent/package.yao": "{}",
            "/real/agent/src/d_test.ts": "export function TestD(t) {}\n",
        }
    )
    (here.root / "assistants/linked").symlink_to("../real/agent")
    with on_open_terminal(here, "--watch") as terminal:
        terminal.wait(WAITING)
        here.write({"/real/agent/src/d_test.ts": "export function TestD(t) { t.fail('x'); }\n"})
        assert verdict(terminal)[1:] == (0, 1)
