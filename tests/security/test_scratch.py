"""The scratch folder of a run: all temporary files are in it, and it is removed however the run ends."""

from __future__ import annotations

import signal

import pytest
from agent_files import agent, run_cases
from command import Application, MakeApplication, eventually
from faults import leaves_nothing

MAKE = 'const folder = new FS("data").MkdirTemp(); new FS("data").WriteFile(folder + "/x.txt", "x");'
MODULE = f"""
export function TestFirst(t) {{ {MAKE} t.log(folder); }}
export function TestSecond(t) {{ {MAKE} t.assert.True(/^\\/tmp\\/yao-test-\\w+\\/\\w+$/.test(folder)); t.log(folder); }}
"""
HANG = f"export function TestHang(t) {{ {MAKE} Process('utils.time.Sleep', 60_000); }}"
ENDINGS = {
    "a failure": "t.fail('x');",
    "an exception": "throw new Error('x');",
    "a loop": "for (;;) {}",
    "exhausted memory": "const all: any[] = []; for (;;) all.push(new ArrayBuffer(1 << 24));",
    "a folder that nobody may enter": "new FS('data').Mkdir(folder + '/in'); new FS('data').Chmod(folder, 0); new FS('data').Chmod(folder.replace(/[^/]+$/, ''), 0);",
    "many folders": "new FS('data').MkdirAll(folder + '/a'.repeat(90));",
    "a folder of another kind": "new FS('data').RemoveAll('/tmp'); new FS('data').WriteFile('/tmp', 'x'); new FS('data').Remove('/tmp');",
}


def folders_of(here: Application) -> list[str]:
    tmp = here.root / "data/tmp"
    return sorted(path.name for path in tmp.iterdir()) if tmp.exists() else []


def begun(here: Application) -> list[str]:
    return eventually(lambda: folders_of(here), "the scratch folder is made")


def test_temporary_folders_of_a_run_are_in_one_folder_that_ends_with_it(app: MakeApplication) -> None:
    here = app({"a_test.ts": MODULE, "b_test.ts": MODULE})
    results = here.results("-i", "scripts.demo", "--parallel", "2", code=0)
    made = [record["logs"][0] for record in results.values()]
    assert len(set(made)) == 4
    assert len({path.rpartition("/")[0] for path in made}) == 1
    assert not (here.root / "data").exists()


def test_a_run_whose_scripts_ask_for_nothing_makes_nothing(app: MakeApplication) -> None:
    here = app({"a_test.ts": "export function TestA(t) {}", "/data/tmp/own.txt": "kept"})
    before = here.listing()
    assert here.run("-i", "scripts.demo.a").code == 0
    assert here.listing() == before


def test_what_the_application_has_stays(app: MakeApplication) -> None:
    here = app({"a_test.ts": MODULE, "/data/tmp/own/file.txt": "kept", "/data/note.txt": "kept"})
    assert here.run("-i", "scripts.demo.a").code == 0
    assert folders_of(here) == ["own"]
    assert (here.root / "data/tmp/own/file.txt").read_text() == "kept"


def test_a_temporary_folder_at_a_place_that_was_named_stays(app: MakeApplication) -> None:
    code = 'export function TestA(t) { new FS("data").MkdirTemp("work", "x-*"); }'
    here = app({"a_test.ts": code})
    assert here.run("-i", "scripts.demo.a").code == 0
    assert [path.name[:2] for path in (here.root / "data/work").iterdir()] == ["x-"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_is_removed_after(app: MakeApplication, ending: str) -> None:
    here = app({"a_test.ts": f"export function TestA(t: any) {{ {MAKE} {ENDINGS[ending]} }}"})
    with leaves_nothing(here):
        run = here.run("-i", "scripts.demo.a", "--timeout", "200ms" if "for (;;)" in ENDINGS[ending] else "20s")
    assert run.code in (0, 1), run
    assert not (here.root / "data").exists()


@pytest.mark.parametrize("signals", [1, 2], ids=["Ctrl-C", "Ctrl-C twice"])
def test_it_is_removed_when_a_run_is_interrupted(app: MakeApplication, signals: int) -> None:
    here = app({"a_test.ts": HANG})
    with leaves_nothing(here), here.start("-i", "scripts.demo.a") as process:
        begun(here)
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
        assert here.finish(process).code == 130
    assert not (here.root / "data").exists()


def test_the_next_run_removes_that_of_a_run_that_was_killed(app: MakeApplication) -> None:
    here = app({"a_test.ts": HANG, "b_test.ts": "export function TestB(t) {}"})
    with here.start("-i", "scripts.demo.a") as process:
        (left,) = begun(here)
        process.kill()
        here.finish(process)
    assert folders_of(here) == [left]
    assert here.run("-i", "scripts.demo.b").code == 0
    assert folders_of(here) == []


def test_the_workspaces_of_sandbox_agents_are_in_it_too(app: MakeApplication) -> None:
    box = '{"version": "2.0", "runner": {"name": "claude"}, "lifecycle": "oneshot"}'
    write = 'ctx.workspace.WriteFile("in/x.txt", "x");'
    tests = {
        "a_test.ts": f"export function TestHang(t, ctx) {{ {write} Process('utils.time.Sleep', 60_000); }}",
        "b_test.ts": "export function TestB(t, ctx) {}",
        "c_test.ts": f"export function TestC(t, ctx) {{ {write} t.assert.Equal(ctx.workspace.ReadFile('in/x.txt'), 'x'); }}",
    }
    here = app({**tests, "/assistants/demo/sandbox.yao": box})
    with here.start("-i", "scripts.demo.a") as process:
        eventually(lambda: list(here.root.glob("data/tmp/yao-test-*/workspace-*/in/x.txt")), "the file is written")
        process.kill()
        here.finish(process)
    assert here.run("-i", "scripts.demo.b").code == 0
    assert folders_of(here) == []
    assert here.run("-i", "scripts.demo.c").code == 0
    assert not (here.root / "data/tmp").exists() or folders_of(here) == []


def test_a_run_leaves_that_of_another_alone(app: MakeApplication) -> None:
    here = app({"a_test.ts": HANG, "b_test.ts": MODULE})
    with here.start("-i", "scripts.demo.a") as process:
        made = begun(here)
        assert here.run("-i", "scripts.demo.b").code == 0
        assert folders_of(here) == made
        process.send_signal(signal.SIGINT)
        here.finish(process)
    assert not (here.root / "data").exists()


def test_what_a_killed_run_left_is_removed_without_following_links(app: MakeApplication) -> None:
    here = app({"b_test.ts": "export function TestB(t) {}", "/data/tmp/yao-test-0/in/x.txt": "x"})
    outside = here.root.parent / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("kept")
    (here.root / "data/tmp/yao-test-1").symlink_to(outside)
    (here.root / "data/tmp/yao-test-0/link").symlink_to(outside)
    assert here.run("-i", "scripts.demo.b").code == 0
    assert folders_of(here) == ["yao-test-1"]
    assert (outside / "kept.txt").read_text() == "kept"


def test_hooks_have_it_too(app: MakeApplication) -> None:
    hooks = 'export function Next() { return { data: new FS("data").MkdirTemp("", "hook-*") }; }'
    here = app(agent(hooks=hooks, cases=[{"id": "a", "input": "x"}]))
    output = run_cases(here, code=0)["a"]["output"]
    assert output.startswith("/tmp/yao-test-")
    assert not (here.root / "data").exists()
