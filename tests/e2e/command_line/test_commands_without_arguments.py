"""Commands without arguments work; on systems that are not supported, they say so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import Application, make_application

ROOT = Path(__file__).parents[3]
DECLARATIONS = sorted(path.name for path in (ROOT / "bindings/types").glob("*.d.ts"))


@pytest.fixture
def app(tmp_path: Path) -> Application:
    return make_application(tmp_path, {"a_test.ts": "export function TestA(t) {}\n"})


@pytest.mark.parametrize("directory", ["", "assistants/demo/src"], ids=["in the application", "in a folder of it"])
def test_types_installs_the_declarations(app: Application, directory: str) -> None:
    run = app.run("types", directory=directory)

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout == f"Installed {len(DECLARATIONS)} files in <app>/types/yao-test\nWrote <app>/tsconfig.json\n"
    assert sorted(path.name for path in (app.root / "types/yao-test").glob("*.ts")) == DECLARATIONS
    config = json.loads((app.root / "tsconfig.json").read_text())
    assert "types/yao-test" in config["include"]


def test_types_leaves_a_configuration_alone(app: Application) -> None:
    app.write({"/tsconfig.json": "{}"})

    run = app.run("types")

    assert run.code == 0
    assert run.stdout.endswith(
        'Add "types/yao-test" to "include" in <app>/tsconfig.json so that editors complete t.assert and ctx\n'
    )
    assert (app.root / "tsconfig.json").read_text() == "{}"


def test_types_may_run_again(app: Application) -> None:
    assert [app.run("types").code for _ in range(2)] == [0, 0]


def test_types_without_an_application_says_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "empty").mkdir()

    run = Application(tmp_path / "empty", home).run("types")

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.endswith("\nHint: Pass its folder: yao-test types FOLDER\n")


@pytest.mark.parametrize("arguments", [(), ("file",), ("case",)], ids=["alone", "file", "case"])
def test_schema_prints_a_schema(app: Application, arguments: tuple[str, ...]) -> None:
    run = app.run("schema", *arguments)

    assert (run.code, run.stderr) == (0, "")
    schema = json.loads(run.stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert (run.stdout == app.run("schema").stdout) is (arguments != ("case",))


def test_schema_writes_a_file(app: Application) -> None:
    run = app.run("schema", "-o", "case-file.schema.json")

    assert (run.code, run.stdout) == (0, "Wrote <app>/case-file.schema.json\n")
    assert (app.root / "case-file.schema.json").read_text() == app.run("schema").stdout


@pytest.mark.parametrize("command", ["show", "extract", "diff", "merge"])
def test_a_command_that_needs_a_report_says_so(app: Application, command: str) -> None:
    run = app.run(command)

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith(f"Error: yao-test {command} needs ")
    assert run.stderr.endswith(f"\nHint: See yao-test {command} --help\n")


@pytest.mark.parametrize("command", ["types", "schema", "show", "extract", "diff", "merge"])
def test_each_command_has_help(app: Application, command: str) -> None:
    run = app.run(command, "--help")

    assert (run.code, run.stdout.startswith(f"Usage: yao-test {command} ")) == (0, True)


# Platforms


def run_on(platform: str, *arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """The command in a Python that takes itself for one of another system."""
    code = f"import sys; sys.platform = {platform!r}; import runpy; runpy.run_module('runner', run_name='__main__')"
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(directory)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("platform", "arguments"),
    [("win32", ()), ("cygwin", ("--version",)), ("freebsd14", ("-i", "scripts.demo")), ("emscripten", ("types",))],
)
def test_another_system_is_told_in_one_sentence(app: Application, platform: str, arguments: tuple[str, ...]) -> None:
    run = run_on(platform, *arguments, directory=app.root)

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"Error: yao-test runs on Linux, on macOS, and on Windows within WSL, not on {platform}.\n"


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_linux_and_macos_are_served(app: Application, platform: str) -> None:
    run = run_on(platform, "--version", directory=app.root)

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("yao-test")
