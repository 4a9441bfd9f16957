"""Modules come from one file while it has what Python has written of their sources; else they are imported as always."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scripttest.shortcuts import PLAIN

REPOSITORY = Path(__file__).parents[3]
PROBE = """
import sys
from scripttest.shortcuts.imports import import_quickly
modules = import_quickly()
import runner.one, runner.room.two
for module in (runner, runner.one, runner.room, runner.room.two):
    spec = module.__spec__
    quickly = type(spec.loader).__name__ == "_Loader"
    print(spec.name, quickly, module.__file__, module.__cached__, getattr(module, "__path__", None))
print(runner.one.value(), runner.one.value.__code__.co_filename, spec.loader.get_source(spec.name))
if modules is not None:
    modules.save()
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with the packages of this one, of which only the shortcut is not made up."""
    root = tmp_path / "tree"
    for file in ("__init__.py", "shortcuts/__init__.py", "shortcuts/imports.py"):
        (root / "scripttest" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / "scripttest" / file, root / "scripttest" / file)
    (root / "runner/room").mkdir(parents=True)
    (root / "runner/__init__.py").write_text("")
    (root / "runner/one.py").write_text("def value():\n    return 1\n")
    (root / "runner/room/__init__.py").write_text("from runner.one import value\n")
    (root / "runner/room/two.py").write_text("TEXT = 'of two'\n")
    return root


def run(
    root: Path, code: str = PROBE, directory: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", PLAIN)}
    environment = {**kept, "PYTHONPATH": str(root), **variables}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=directory or root, env=environment, capture_output=True, text=True
    )


def probe(root: Path, **variables: str) -> str:
    """What the modules of a tree say of themselves."""
    done = run(root, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def the_file(root: Path) -> Path:
    """The one file."""
    (found,) = (root / "scripttest/shortcuts/__pycache__").glob("*.pycs")
    return found


def test_modules_are_as_if_imported_one_by_one(tree: Path) -> None:
    plain = probe(tree, **{PLAIN: "imports"})
    assert not list(tree.rglob("*.pycs"))
    assert " True " not in plain and "\n1 " in plain and "TEXT = 'of two'" in plain
    assert probe(tree) == plain
    assert probe(tree) == plain.replace(" False ", " True ")


def test_a_module_that_changed_is_read_again(tree: Path) -> None:
    probe(tree)
    probe(tree)
    changed = tree / "runner/one.py"
    changed.write_text("def value():\n    return 2\n")
    os.utime(changed, (1, 1))
    said = probe(tree)
    assert "runner.one False" in said and "runner.room True" in said and "\n2 " in said
    said = probe(tree)
    assert "runner.one True" in said and "\n2 " in said


def test_a_process_that_goes_on_adds_what_it_imports_later(tree: Path) -> None:
    code = (
        "import os\n"
        "from scripttest.shortcuts.imports import import_quickly; file = import_quickly()\n"
        "def saved():\n"
        "    before = os.stat(file._path).st_ino if os.path.exists(file._path) else 0\n"
        "    file.save()\n"
        "    return os.stat(file._path).st_ino != before\n"
        "import runner.one\n"
        "said = [saved(), saved(), saved()]\n"  # the first one has imported what it needs
        "import runner.room.two\n"
        "print(*said, saved(), saved())"
    )
    done = run(tree, code)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "True True False True False\n")
    said = probe(tree)
    assert [f"{name} True" in said for name in ("runner", "runner.one", "runner.room", "runner.room.two")] == [True] * 4


def test_what_another_process_has_written_meanwhile_stays(tree: Path) -> None:
    code = (
        "from scripttest.shortcuts.imports import import_quickly; file = import_quickly()\n"
        "import runner.one, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)\n"
        "file.save()"
    )
    other = (
        "from scripttest.shortcuts.imports import import_quickly; file = import_quickly()\n"
        "import runner.room.two\n"
        "file.save()"
    )
    (tree / "runner/room/__init__.py").write_text("")
    done = run(tree, code.replace("sys.argv[1]", repr(other)))
    assert (done.returncode, done.stderr) == (0, "")
    said = probe(tree)
    assert "runner.one True" in said and "runner.room.two True" in said


def test_a_file_that_another_process_is_writing_is_left_to_it(tree: Path) -> None:
    probe(tree)
    file = the_file(tree)
    written = file.read_bytes()
    unfinished = file.with_name(f"{file.name}.new")
    unfinished.write_text("of another")
    changed = tree / "runner/one.py"
    changed.write_text("def value():\n    return 33\n")
    assert "runner.one False" in probe(tree)
    assert (file.read_bytes() == written, unfinished.read_text()) == (True, "of another")
    os.utime(unfinished, (1, 1))
    assert "runner.one False" in probe(tree)
    assert not unfinished.exists()
    assert "runner.one True" in probe(tree)


def test_modules_that_are_imported_while_it_is_written_are_no_error(tree: Path) -> None:
    probe(tree)
    (tree / "runner/one.py").write_text("def value():\n    return 12\n")
    code = (
        "import os\n"
        "from scripttest.shortcuts.imports import import_quickly; file = import_quickly()\n"
        "import runner.room\n"
        "read, seen = os.pread, []\n"
        "def pread(*given):\n"
        "    if not seen:\n"
        "        seen.append(given)\n"
        "        import runner.room.two\n"
        "    return read(*given)\n"
        "os.pread = pread\n"
        "file.save()\n"
        "print(len(seen), runner.room.two.TEXT)"
    )
    done = run(tree, code)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "1 of two\n")


def test_a_module_that_is_gone_cannot_be_imported(tree: Path) -> None:
    probe(tree)
    (tree / "runner/one.py").unlink()
    assert "ModuleNotFoundError: No module named 'runner.one'" in run(tree).stderr


def test_bytecode_that_names_its_source_from_a_folder_gets_its_path(tree: Path) -> None:
    subprocess.run([sys.executable, "-m", "compileall", "-q", "runner"], cwd=tree, check=True)
    probe(tree)
    said = probe(tree)
    assert "runner.one True" in said and f"\n1 {tree}/runner/one.py " in said


def test_a_copy_is_read_where_it_is(tree: Path) -> None:
    probe(tree)
    there = shutil.copytree(tree, tree.with_name("there"))
    said = probe(there)
    assert f"runner.one False {there}/runner/one.py" in said and f"\n1 {there}/runner/one.py " in said
    assert f"runner.one True {there}/runner/one.py" in probe(there)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:5],
        lambda content: content[:60],
        lambda content: b"\xff" * len(content),
        lambda content: b"\0" * len(content),
        lambda content: b"\xff" * 5 + b"\0" * len(content),
        lambda content: content.replace(sys.version.encode(), sys.version.replace(".", ":").encode()),
    ],
    ids=["empty", "no number", "no table", "ones", "zeros", "a long table", "another Python"],
)
def test_a_file_that_cannot_be_used_is_replaced(tree: Path, damage: Callable[[bytes], bytes]) -> None:
    probe(tree)
    file = the_file(tree)
    file.write_bytes(damage(file.read_bytes()))
    assert "runner.one False" in probe(tree)
    assert "runner.one True" in probe(tree)


def test_bytecode_that_is_cut_off_is_read_where_python_has_it(tree: Path) -> None:
    whole = probe(tree)
    file = the_file(tree)
    file.write_bytes(file.read_bytes()[:-9])
    assert probe(tree).replace(" True ", " False ") == whole
    assert file.read_bytes()[-9:] != b""
    assert probe(tree) == whole.replace(" False ", " True ")


def test_nothing_is_written_where_python_writes_nothing(tree: Path) -> None:
    elsewhere = tree.with_name("elsewhere")
    probe(tree, PYTHONPYCACHEPREFIX=str(elsewhere))
    assert not list(tree.rglob("__pycache__")) and len(list(elsewhere.rglob("*.pycs"))) == 1
    probe(tree)
    the_file(tree).unlink()
    probe(tree, PYTHONDONTWRITEBYTECODE="1")
    assert not list(tree.rglob("*.pycs"))


def test_a_folder_that_takes_no_file_is_no_error(tree: Path) -> None:
    probe(tree)
    file = the_file(tree)
    file.unlink()
    file.mkdir()
    assert "runner.one False" in probe(tree)
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(f"{file.name}.")] == []


def test_the_standard_library_comes_from_it_and_no_other(tree: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for name in ("installed", "colorsys"):
        (library / f"{name}.py").write_text("")
    code = (
        "import sys; sys.meta_path[:] = [one for one in sys.meta_path if one.__module__.startswith('_frozen')]\n"
        "from scripttest.shortcuts.imports import import_quickly; file = import_quickly()\n"
        "import colorsys, installed\n"
        "print([type(module.__spec__.loader).__name__ == '_Loader' for module in (colorsys, installed)])\n"
        "file.save()"
    )

    def quick(*path: Path) -> str:
        done = run(tree, code, PYTHONPATH=os.pathsep.join(map(str, path)))
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.strip()

    assert [quick(library, tree), quick(library, tree)] == ["[False, False]"] * 2
    (library / "colorsys.py").unlink()
    assert [quick(tree, library), quick(tree, library)] == ["[False, False]", "[True, False]"]


def test_where_nothing_may_be_written_nothing_is_collected(tree: Path) -> None:
    code = "import os; os.access = lambda path, mode: False\n" + PROBE + "print('importlib.util' in sys.modules)"
    assert run(tree, code).stdout.endswith("\nFalse\n")
    assert run(tree, code.replace("False", "True")).stdout.endswith("\nTrue\n")
