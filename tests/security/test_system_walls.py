"""The walls of the system around the compiler and the command, and what happens on a machine that lacks one.

Each attempt has a control: the same without the wall.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import eventually

from scripttest.compile.esbuild import BINARY
from scripttest.process import LIFELINE, spawn
from scripttest.walls.confinement import confine_compiler, missing_landlock, missing_seccomp

ROOT = Path(__file__).parent.parent.parent

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="walls of Linux"),
    pytest.mark.skipif(bool(missing_landlock() or missing_seccomp()), reason="this machine lacks them"),
]


@pytest.fixture
def application(tmp_path: Path) -> Path:
    root = tmp_path / "app"
    agent = root / "assistants" / "demo"
    (agent / "src").mkdir(parents=True)
    (root / "app.yao").write_text("{}")
    (agent / "package.yao").write_text('{"name": "demo"}')
    (agent / "src" / "a_test.ts").write_text("export function TestA(t: any) { t.assert.True(true); }\n")
    return root


def bundled(folder: Path, name: str, walls: bool) -> str:
    """What the compiler makes of a module of a folder."""

    def confine() -> None:
        confine_compiler(str(BINARY), [str(folder)])

    child = spawn([str(BINARY), "--bundle", str(folder / name)], {}, confine if walls else None)
    output = b""
    while data := os.read(child.stdout, 1 << 16):
        output += data
    ending = child.end()
    return output.decode() or ending.text


@pytest.mark.parametrize("path", ["FOLDER/secret.txt", "./link.txt", "/etc/passwd", "/proc/self/environ"])
def test_the_compiler_reads_nothing_outside_of_its_folders(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("canary root:")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    name = path.replace("FOLDER", str(tmp_path))
    (folder / "a.ts").write_text(f'import s from "{name}" with {{ type: "text" }}; console.log(s, "compiled");\n')
    free = bundled(folder, "a.ts", walls=False)
    assert "compiled" in free
    assert "root:" in free or path.startswith("/proc")
    walled = bundled(folder, "a.ts", walls=True)
    assert "compiled" not in walled
    assert "root:" not in walled
    assert "ermission denied" in walled


@pytest.mark.parametrize(
    "arguments", [["--outfile=OUT"], ["--serve=127.0.0.1:0", "--outdir=OUT"]], ids=["write", "listen"]
)
def test_the_compiler_neither_writes_nor_listens(tmp_path: Path, arguments: list[str]) -> None:
    source, out = tmp_path / "a.ts", tmp_path / "out.js"
    source.write_text("console.log(1)\n")
    command = [str(BINARY), str(source), *(argument.replace("OUT", str(out)) for argument in arguments)]

    def said(walls: bool) -> str:
        def confine() -> None:
            confine_compiler(str(BINARY), [str(tmp_path)])

        child = spawn(command, {}, confine if walls else None)
        text = b""
        while b"Done" not in text and b"Local" not in text and (data := os.read(child.stderr, 1 << 16)):
            text += data
        child.end()
        return text.decode()

    assert "Done" in said(walls=False) or "Local" in said(walls=False)
    out.unlink(missing_ok=True)
    walled = said(walls=True)
    assert "permitted" in walled or "denied" in walled, walled
    assert not out.exists()


STARTS = """
import os, sys
from scripttest.walls.confinement import confine_compiler
try:
    os.posix_spawn(sys.argv[1], [sys.argv[1], "--version"], {})
    print("started", flush=True)
    if sys.argv[2] == "fork":
        os._exit(0) if not os.fork() else None
    else:
        os.execv(sys.argv[2], [sys.argv[2], "replaced"])
    print("copied")
except OSError as error:
    print("refused", error.strerror)
"""
"""What native code in the compiler could try: to start the compiler, which it may, and then something else."""


@pytest.mark.parametrize(("attempt", "said"), [("fork", "copied"), ("/bin/echo", "replaced")])
def test_the_compiler_starts_no_other_program(tmp_path: Path, attempt: str, said: str) -> None:
    def output(walls: bool) -> str:
        wall = f"confine_compiler({str(BINARY)!r}, [{str(tmp_path)!r}])\ntry:" if walls else "try:"
        code = STARTS.replace("try:", wall, 1)
        done = subprocess.run(
            [sys.executable, "-c", code, str(BINARY), attempt], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        return done.stdout

    free = output(walls=False)
    assert "started" in free
    assert said in free
    walled = output(walls=True)
    assert "started" in walled
    assert said not in walled
    assert "refused" in walled


def descriptors(pid: int) -> list[int]:
    return sorted(map(int, os.listdir(f"/proc/{pid}/fd")))


def test_a_child_has_a_session_of_its_own_and_no_descriptor_of_its_parent() -> None:
    inherited = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    control = subprocess.Popen(["sleep", "60"], close_fds=False)
    child = spawn(["/bin/sleep", "60"], {})
    try:
        assert str(inherited) in os.listdir(f"/proc/{control.pid}/fd")
        assert os.getsid(control.pid) == os.getsid(0)
        eventually(
            lambda: descriptors(child.pid) == [0, 1, 2, LIFELINE], "its libraries are loaded, and nothing is open"
        )
        assert os.getsid(child.pid) == child.pid
    finally:
        os.close(inherited)
        child.end()
        control.kill()
        control.wait()


HIDING = """
import os, subprocess, sys
from scripttest import hide_environment
block = f"/proc/{os.getpid()}/environ"
reader = [sys.executable, "-c", "import sys; print(b'canary-4711' in open(sys.argv[1], 'rb').read())", block]
print(subprocess.run(reader, capture_output=True, text=True).stdout.strip())
hide_environment()
done = subprocess.run(reader, capture_output=True, text=True)
print(done.stdout.strip() or done.stderr.strip().splitlines()[-1].partition(":")[0])
print(os.environ["CANARY"], subprocess.run(["printenv", "CANARY"], capture_output=True, text=True).stdout.strip())
"""


def test_the_environment_of_the_command_is_not_in_its_block_any_more() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HIDING], cwd=ROOT, env={**os.environ, "CANARY": "canary-4711"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    before, after, still = done.stdout.splitlines()
    assert before == "True"
    assert after == ("False" if os.getuid() == 0 else "PermissionError")
    assert still == "canary-4711 canary-4711"


WITHOUT_LANDLOCK = """
import os, sys
from scripttest.walls import seccomp
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x00050000 | 95), (6, 0, 0, 0x7FFF0000)]
seccomp._set(0, b"".join(c.to_bytes(2, "little") + bytes((y, n)) + v.to_bytes(4, "little") for c, y, n, v in steps))
os.execv(sys.executable, [sys.executable, "-m", "runner", *sys.argv[1:]])
"""
"""Starts the command on a kernel that says that it has no Landlock."""


def command(application: Path, *arguments: str, landlock: bool = True) -> subprocess.CompletedProcess[str]:
    start = ["-m", "runner"] if landlock else ["-c", WITHOUT_LANDLOCK]
    return subprocess.run(
        [sys.executable, *start, *arguments], cwd=application, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_a_machine_without_a_wall_runs_tests_unless_all_are_required(application: Path) -> None:
    tests = ["-i", "scripts.demo.a"]
    assert command(application, *tests, "--sandbox=require", "-o", "whole.json").returncode == 0
    assert "sandbox" not in (application / "whole.json").read_text()
    told = command(application, *tests, "-v", "-o", "report.json", landlock=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Note: this machine lacks sandbox walls\n  files: it needs Landlock" in told.stderr
    assert '"sandbox": "without files"' in (application / "report.json").read_text()
    assert command(application, *tests, landlock=False).stderr == ""
    refused = command(application, *tests, "--sandbox=require", landlock=False)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert "lacks 1 sandbox walls\n  files: it needs Landlock" in refused.stderr


def test_only_require_can_be_asked_of_the_sandbox(application: Path) -> None:
    refused = command(application, "-i", "scripts.demo.a", "--sandbox=requires")
    assert refused.returncode == 2
    assert "--sandbox" in refused.stderr


def test_doctor_names_a_wall_that_is_off(application: Path) -> None:
    with_all, without = command(application, "doctor"), command(application, "doctor", landlock=False)
    assert with_all.returncode == without.returncode == 0
    assert "  on  files" in with_all.stdout
    assert "  off  files         it needs Landlock" in without.stdout
