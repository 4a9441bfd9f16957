"""Shell completion: what completes a command line, asked as each shell asks, and in a real bash."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import Application, MakeApplication
from table_tests import each

ROOT = Path(__file__).parents[3]
PACKAGE = '{"connector": "scripted"}'


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            "/assistants/demo/package.yao": PACKAGE,
            "/assistants/group/other/package.yao": PACKAGE,
            "/assistants/group/other/src/x_test.ts": "export function TestOther(t) {}\n",
            "a_test.ts": "// @tag smoke\nexport function TestOne(t) {}\nfunction TestTwo(t) {}\nfunction FuzzFour(f) {}\nfunction Fuzzy() {}\n",
            "deep/b_test.ts": "// @tag slow\nexport const TestThree = (t) => {};\n",
            "/assistants/demo/tests/cases.jsonl": '{"id": "asks", "input": "Hi"}\n',
        }
    )


def completed(here: Application, line: str, shell: str = "bash") -> set[str]:
    """What completes a line, whose last word is the one that is typed."""
    words = line.split(" ")
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "fish": {"COMP_WORDS": line, "COMP_CWORD": words[-1]},
    }[shell]
    run = here.fork(env={**here.environment, "_YAO_TEST_COMPLETE": f"{shell}_complete", **asked})
    assert (run.code, run.stderr) == (0, ""), run
    lines = run.stdout.splitlines()
    if shell == "zsh":
        return {value for kind, value in zip(lines[::3], lines[1::3], strict=True) if kind == "plain"}
    return {item.replace("\t", ",").split(",")[1] for item in lines if item.startswith("plain")}


LINES = {
    "yao-test --fail": {"--fail-fast", "--failed-first"},
    "yao-test -i scripts.d": {"scripts.demo", "scripts.demo.a", "scripts.demo.deep.b"},
    "yao-test -i ass": {"assistants/demo/tests/cases.jsonl"},
    "yao-test -q -n ": {"demo", "group.other"},
    "yao-test --run T": {"TestOne", "TestTwo", "TestThree", "TestOther"},
    "yao-test -i scripts.demo.a --run Test": {"TestOne", "TestTwo"},
    "yao-test -i scripts.demo.a --run Fuzz": {"FuzzFour"},
    "yao-test --run a": {"asks"},
    "yao-test sch": {"schema"},
    "yao-test schema c": {"case", "config"},
    "yao-test completion ": {"bash", "fish", "zsh"},
    "yao-test doctor --js": {"--json"},
}


@each("line", LINES)
def test_what_completes_a_line(here: Application, line: str) -> None:
    assert completed(here, line) == LINES[line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_asks_in_its_own_way(here: Application, shell: str) -> None:
    assert completed(here, "yao-test -i scripts.g", shell) == {"scripts.group.other", "scripts.group.other.x"}
    script = here.run("completion", shell)
    assert script.code == 0
    assert f"_YAO_TEST_COMPLETE={shell}_complete" in script.stdout


def test_where_nothing_is_known_nothing_is_completed(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "app").mkdir()
    bare = Application(tmp_path / "app", tmp_path / "home")
    assert completed(bare, "yao-test -n ") == set()


def test_a_real_bash(here: Application, tmp_path: Path) -> None:
    shim = tmp_path / "yao-test"
    shim.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m runner "$@"\n')
    shim.chmod(0o755)
    script = (
        'eval "$(yao-test completion bash)"; COMP_WORDS=(yao-test -i scripts.demo.); COMP_CWORD=2; '
        '_yao_test_completion yao-test; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    bash = shutil.which("bash")
    assert bash
    run = subprocess.run(
        [bash, "-c", script],
        cwd=here.root,
        env={**here.environment, "PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == ["scripts.demo.a", "scripts.demo.deep.b"], run
