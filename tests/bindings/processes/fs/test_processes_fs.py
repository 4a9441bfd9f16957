"""`fs.<volume>.*` on real folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindings.errors import ProcessError
from bindings.policy import HostCall, Policy
from bindings.processes import call, file_access
from bindings.world import World

Run = Callable[..., Any]


READS: list[tuple[str, list[Any], Any]] = [
    ("data.Exists", ["note.txt"], True),
    ("data.Exists", ["/note.txt"], True),
    ("data.Exists", ["nope"], False),
    ("data.Exists", ["/"], True),
    ("data.IsDir", ["dir"], True),
    ("data.IsDir", ["note.txt"], False),
    ("data.IsDir", ["nope"], False),
    ("data.IsFile", ["note.txt"], True),
    ("data.IsFile", ["dir"], False),
    ("data.IsFile", ["nope"], False),
    ("data.IsLink", ["in"], True),
    ("data.IsLink", ["out"], True),
    ("data.IsLink", ["note.txt"], False),
    ("data.IsLink", ["nope"], False),
    ("data.ReadFile", ["note.txt"], "héllo"),
    ("data.ReadFile", ["in"], "héllo"),
    ("data.ReadFile", ["dir/../note.txt"], "héllo"),
    ("system.ReadFile", ["/note.txt"], "héllo"),
    ("data.ReadFileBuffer", ["note.txt"], "héllo".encode()),
    ("data.ReadCloser", ["note.txt"], "héllo".encode()),
    ("data.ReadFileBase64", ["note.txt"], "aMOpbGxv"),
    ("data.Download", ["note.txt"], {"type": "text/plain; charset=utf-8", "content": "aMOpbGxv"}),
    ("data.Size", ["note.txt"], 6),
    ("data.MimeType", ["dir/sub/c.json"], "application/json"),
    ("data.ReadDir", ["dir"], ["/dir/a.txt", "/dir/b.txt", "/dir/sub"]),
    ("data.ReadDir", ["/dir/", True], ["/dir/a.txt", "/dir/b.txt", "/dir/sub", "/dir/sub/c.json"]),
    ("data.ReadDir", ["/"], ["/dir", "/in", "/note.txt", "/out"]),
    ("data.Glob", ["dir/*.txt"], ["/dir/a.txt", "/dir/b.txt"]),
    ("data.Glob", ["/**/*.json"], ["/dir/sub/c.json"]),
    ("data.Glob", ["*"], ["/dir", "/in", "/note.txt"]),
    ("data.Glob", ["nope*"], []),
    ("data.Abs", ["dir/../x"], "/x"),
    ("data.Abs", ["/note.txt"], "/note.txt"),
    ("data.BaseName", ["/a/b.txt"], "b.txt"),
    ("data.DirName", ["/a/b.txt"], "/a"),
    ("data.ExtName", ["/a/b.tar.gz"], ".gz"),
    ("app.ReadFile", ["app.yao"], "{}"),
    ("dsl.ReadFile", ["app.yao"], "{}"),
    ("app.ReadFile", ["scripts/run.ts"], "function run() {}"),
    ("script.ReadFile", ["run.ts"], "function run() {}"),
    ("seed.ReadFile", ["users.json"], "[]"),
]


@pytest.mark.parametrize(("name", "args", "expected"), READS, ids=[f"{row[0]} {row[1]}" for row in READS])
def test_reading(run: Run, name: str, args: list[Any], expected: Any) -> None:
    assert run(name, *args) == expected


WRITES: list[tuple[str, list[Any], Any, str, str | bytes | None]] = [
    ("WriteFile", ["new.txt", "né"], 3, "new.txt", "né"),
    ("WriteFile", ["half \ud83d.txt", "\ud83d!"], 4, "half \ufffd.txt", "\ufffd!"),
    ("WriteFile", ["note.txt", "x"], 1, "note.txt", "x"),
    ("WriteFile", ["/deep/er/new.txt", ""], 0, "deep/er/new.txt", ""),
    ("WriteFile", ["in", "via link"], 8, "note.txt", "via link"),
    ("WriteFileBuffer", ["new.bin", b"\xff\x00"], 2, "new.bin", b"\xff\x00"),
    ("WriteFileBase64", ["new.bin", "/wA="], 2, "new.bin", b"\xff\x00"),
    ("AppendFile", ["note.txt", "é"], 2, "note.txt", "hélloé"),
    ("AppendFile", ["new/new.txt", "x"], 1, "new/new.txt", "x"),
    ("AppendBuffer", ["note.txt", b"!"], 1, "note.txt", "héllo!"),
    ("AppendFileBuffer", ["note.txt", b"!"], 1, "note.txt", "héllo!"),
    ("AppendBase64", ["note.txt", "IQ=="], 1, "note.txt", "héllo!"),
    ("InsertFile", ["note.txt", 1, "--"], 2, "note.txt", "h--éllo"),
    ("InsertFile", ["note.txt", 0, "-"], 1, "note.txt", "-héllo"),
    ("InsertFile", ["note.txt", 6, "-"], 1, "note.txt", "héllo-"),
    ("InsertFile", ["note.txt", 99, "-"], 1, "note.txt", "héllo-"),
    ("InsertFile", ["new.txt", 5, "-"], 1, "new.txt", "-"),
    ("InsertBuffer", ["note.txt", 1, b"-"], 1, "note.txt", "h-éllo"),
    ("InsertFileBuffer", ["note.txt", 1, b"-"], 1, "note.txt", "h-éllo"),
    ("InsertBase64", ["note.txt", 1, "LQ=="], 1, "note.txt", "h-éllo"),
    ("Remove", ["note.txt"], None, "note.txt", None),
    ("Remove", ["nope"], None, "nope", None),
    ("RemoveAll", ["dir"], None, "dir", None),
    ("RemoveAll", ["note.txt"], None, "note.txt", None),
    ("RemoveAll", ["nope"], None, "nope", None),
    ("Move", ["note.txt", "new/moved.txt"], None, "new/moved.txt", "héllo"),
    ("Move", ["note.txt", "dir/a.txt"], None, "dir/a.txt", "héllo"),
    ("Move", ["dir", "other"], None, "other/sub/c.json", '{"c": 1}'),
    ("Copy", ["note.txt", "new/copy.txt"], None, "new/copy.txt", "héllo"),
    ("Copy", ["in", "copy.txt"], None, "copy.txt", "héllo"),
    ("Copy", ["dir", "other"], None, "other/sub/c.json", '{"c": 1}'),
    ("MoveAppend", ["note.txt", "dir/a.txt"], None, "dir/a.txt", "ahéllo"),
    ("MoveAppend", ["note.txt", "new.txt"], None, "new.txt", "héllo"),
    ("MoveInsert", ["note.txt", "dir/a.txt", 0], None, "dir/a.txt", "hélloa"),
]


@pytest.mark.parametrize(
    ("name", "args", "result", "path", "content"), WRITES, ids=[f"{row[0]} {row[1]}" for row in WRITES]
)
def test_writing(
    run: Run, app: Path, name: str, args: list[Any], result: Any, path: str, content: str | bytes | None
) -> None:
    assert run(f"data.{name}", *args) == result
    target = app / "data" / path
    if content is None:
        assert not target.exists()
    else:
        assert target.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    if name.startswith("Move"):
        assert not (app / "data" / args[0]).exists()
    if name == "Copy":
        assert (app / "data" / args[0]).exists()


def test_folders(run: Run, app: Path) -> None:
    assert run("data.Mkdir", "new") is None
    assert run("data.MkdirAll", "/a/b/c") is None
    assert run("data.MkdirAll", "a/b/c") is None
    assert (app / "data/new").is_dir()
    assert (app / "data/a/b/c").is_dir()
    with pytest.raises(ProcessError, match=r'fs\.data\.Mkdir: "/new": file exists'):
        run("data.Mkdir", "new")
    with pytest.raises(ProcessError, match="no such file or directory"):
        run("data.Mkdir", "x/y")
    with pytest.raises(ProcessError, match=r'fs\.data\.Remove: "/dir": directory not empty'):
        run("data.Remove", "dir")
    run("data.Remove", "new")
    assert not (app / "data/new").exists()


def test_temporary_folders_have_names_of_their_own(run: Run, app: Path) -> None:
    first, second = run("data.MkdirTemp"), run("data.MkdirTemp")
    assert first != second
    assert first.startswith("/tmp/")
    named = run("data.MkdirTemp", "work/logs", "x-*-end")
    assert named.startswith("/work/logs/x-")
    assert named.endswith("-end")
    started = run("data.MkdirTemp", "work", "start")
    assert started.startswith("/work/start")
    assert not started.endswith("start")
    assert all((app / "data" / path[1:]).is_dir() for path in (first, second, named))
    with pytest.raises(ProcessError, match="without a slash"):
        run("data.MkdirTemp", "", "../x")


def test_modes_and_times(run: Run, app: Path) -> None:
    run("data.WriteFile", "a", "x")
    run("data.WriteFile", "b", "x", 0o600)
    run("data.AppendFile", "c", "x", 0o640)
    run("data.InsertFile", "d", 0, "x", 0o604)
    run("data.Mkdir", "e", 0o700)
    run("data.MkdirAll", "f", 0o710)
    assert [run("data.Mode", name) for name in "abcdef"] == [0o755, 0o600, 0o640, 0o604, 0o700, 0o710]
    assert run("data.Chmod", "a", 0o4640) is None
    assert stat.S_IMODE((app / "data/a").stat().st_mode) == 0o640
    os.utime(app / "data/a", (5, 1_700_000_000.9))
    assert run("data.ModTime", "a") == 1_700_000_000


def test_removing_a_link_leaves_its_target(run: Run, app: Path) -> None:
    run("data.Remove", "in")
    run("data.RemoveAll", "out")
    assert sorted(path.name for path in (app / "data").iterdir()) == ["dir", "note.txt"]
    assert (app.parent / "secret.txt").read_text() == "secret"


def test_removing_a_folder_does_not_follow_links(run: Run, app: Path) -> None:
    outside = app.parent / "outside"
    outside.mkdir()
    (outside / "keep.txt").write_text("keep")
    (app / "data/dir/link").symlink_to(outside)
    run("data.RemoveAll", "dir")
    assert not (app / "data/dir").exists()
    assert (outside / "keep.txt").read_text() == "keep"


READ_METHODS = [
    "ReadFile",
    "ReadFileBuffer",
    "ReadFileBase64",
    "ReadCloser",
    "Download",
    "Size",
    "Mode",
    "ModTime",
    "MimeType",
]


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/../secret.txt", "dir/../../secret.txt", "out", "dir/../../../secret.txt"]
)
@pytest.mark.parametrize("method", [*READ_METHODS, "Exists", "IsFile", "IsDir", "ReadDir"])
def test_nothing_outside_the_volume_is_read(run: Run, app: Path, method: str, path: str) -> None:
    with pytest.raises(ProcessError) as caught:
        run(f"data.{method}", path)
    assert caught.value.message == f'fs.data.{method}: "{path}" leaves the volume'
    assert caught.value.code == 403


OUTSIDE_WRITES: list[tuple[str, list[Any]]] = [
    ("WriteFile", ["../x", "x"]),
    ("WriteFile", ["out", "x"]),
    ("WriteFileBuffer", ["../x", b"x"]),
    ("AppendFile", ["out", "x"]),
    ("InsertFile", ["out", 0, "x"]),
    ("Remove", ["../secret.txt"]),
    ("RemoveAll", [".."]),
    ("Mkdir", ["../x"]),
    ("MkdirAll", ["../x/y"]),
    ("MkdirTemp", [".."]),
    ("Chmod", ["out", 0]),
    ("Move", ["../secret.txt", "x"]),
    ("Move", ["note.txt", "../x"]),
    ("Copy", ["out", "x"]),
    ("Copy", ["note.txt", "../x"]),
    ("MoveAppend", ["out", "x"]),
    ("MoveInsert", ["note.txt", "out", 0]),
    ("Zip", ["..", "x.zip"]),
    ("Zip", ["dir", "../x.zip"]),
    ("Unzip", ["../x.zip", "x"]),
    ("Unzip", ["x.zip", "../x"]),
    ("Glob", ["../*"]),
    ("Glob", ["dir/../../*"]),
    ("Abs", ["../x"]),
]


@pytest.mark.parametrize(("method", "args"), OUTSIDE_WRITES, ids=[f"{row[0]} {row[1]}" for row in OUTSIDE_WRITES])
def test_nothing_outside_the_volume_is_touched(run: Run, app: Path, method: str, args: list[Any]) -> None:
    before = sorted(path.name for path in app.parent.iterdir())
    with pytest.raises(ProcessError, match="leaves the volume") as caught:
        run(f"data.{method}", *args)
    assert caught.value.code == 403
    assert sorted(path.name for path in app.parent.iterdir()) == before
    assert (app.parent / "secret.txt").read_text() == "secret"
    assert (app / "data/note.txt").read_text() == "héllo"


READ_ONLY_CALLS: dict[str, list[Any]] = {
    "WriteFile": ["x", "y"],
    "WriteFileBuffer": ["x", b""],
    "WriteFileBase64": ["x", ""],
    "AppendFile": ["x", "y"],
    "AppendBuffer": ["x", b""],
    "AppendBase64": ["x", ""],
    "InsertFile": ["x", 0, "y"],
    "InsertBuffer": ["x", 0, b""],
    "InsertBase64": ["x", 0, ""],
    "Remove": ["x"],
    "RemoveAll": ["x"],
    "Mkdir": ["x"],
    "MkdirAll": ["x"],
    "MkdirTemp": [],
    "Chmod": ["x", 0],
    "Move": ["x", "y"],
    "MoveAppend": ["x", "y"],
    "MoveInsert": ["x", "y", 0],
    "Copy": ["x", "y"],
    "Zip": ["x", "y"],
    "Unzip": ["x", "y"],
}


@pytest.mark.parametrize("volume", ["app", "dsl", "script", "seed"])
def test_only_data_is_written(run: Run, app: Path, volume: str) -> None:
    before = sorted(app.rglob("*"))
    for method, args in READ_ONLY_CALLS.items():
        with pytest.raises(ProcessError) as caught:
            run(f"{volume}.{method}", *args)
        assert caught.value.message == f'fs.{volume}.{method}: the volume "{volume}" is read only'
        assert caught.value.code == 403
    assert sorted(app.rglob("*")) == before


def test_secrets_of_the_application_are_not_read(run: Run) -> None:
    for volume in ("app", "dsl"):
        with pytest.raises(ProcessError, match="may contain secrets"):
            run(f"{volume}.ReadFile", "/.env")
    assert "/.env" not in run("app.Glob", "*")


MISSING: list[tuple[str, list[Any], str]] = [
    ("ReadFile", ["nope.txt"], '"/nope.txt": no such file or directory'),
    ("ReadFile", ["dir"], '"/dir": is a directory'),
    ("ReadFile", ["note.txt/x"], '"/note.txt": not a directory'),
    ("WriteFile", ["dir", "x"], '"/dir": is a directory'),
    ("WriteFile", ["note.txt/x", "x"], '"/note.txt": not a directory'),
    ("Size", ["nope"], '"/nope": no such file or directory'),
    ("ReadDir", ["nope"], '"/nope": no such file or directory'),
    ("ReadDir", ["note.txt"], '"/note.txt": not a directory'),
    ("Chmod", ["nope", 0], '"/nope": no such file or directory'),
    ("Move", ["nope", "x"], '"/nope": no such file or directory'),
    ("Copy", ["nope", "x"], '"/nope": no such file or directory'),
    ("MoveAppend", ["nope", "x"], '"/nope": no such file or directory'),
    ("Zip", ["nope", "x.zip"], '"/nope": no such file or directory'),
    ("Unzip", ["nope.zip", "x"], '"/nope.zip": no such file or directory'),
    ("Unzip", ["note.txt", "x"], '"note.txt" cannot be unpacked: File is not a zip file'),
    ("MimeType", ["nope"], '"/nope": no such file or directory'),
    ("Copy", ["dir", "dir/sub"], "a file or folder cannot be copied into itself"),
    ("Copy", ["dir", "dir"], "a file or folder cannot be copied into itself"),
    ("InsertFile", ["note.txt", -1, "x"], "argument 2 must not be negative, got -1"),
    ("MoveInsert", ["note.txt", "x", -1], "argument 3 must not be negative, got -1"),
    ("WriteFileBase64", ["x", "*"], "argument 2 is not base64"),
    ("ReadFile", ["a\0b"], "a path cannot contain a NUL character"),
    ("RemoveAll", ["/"], "the root of a volume stays where it is"),
    ("Move", ["/", "x"], "the root of a volume stays where it is"),
]


@pytest.mark.parametrize(("method", "args", "message"), MISSING, ids=[f"{row[0]} {row[1]}" for row in MISSING])
def test_failures_name_the_path_as_the_script_knows_it(
    run: Run, app: Path, method: str, args: list[Any], message: str
) -> None:
    before = sorted(app.rglob("*"))
    with pytest.raises(ProcessError) as caught:
        run(f"data.{method}", *args)
    assert caught.value.message.startswith(f"fs.data.{method}: {message}")
    assert str(app.parent) not in caught.value.message
    assert sorted(app.rglob("*")) == before


def test_a_volume_that_does_not_exist_yet_is_made_by_writing(tmp_path: Path) -> None:
    surroundings = HostCall(
        app_root=tmp_path / "fresh", policy=Policy(), locale="en-us", authorized={}, world=World(suite="", test="")
    )
    assert call("fs.data.Exists", ["/"], surroundings) is False
    assert call("fs.data.WriteFile", ["a.txt", "x"], surroundings) == 1
    assert (tmp_path / "fresh/data/a.txt").read_text() == "x"


def test_files_that_are_too_large_are_refused(run: Run, app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_access, "MAX_READ", 5)
    with pytest.raises(ProcessError, match=r'"/note\.txt" is larger than 5 bytes'):
        run("data.ReadFile", "note.txt")


def test_listings_that_are_too_long_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_access, "MAX_ENTRIES", 3)
    assert len(run("data.ReadDir", "dir")) == 3
    for name, args in (("ReadDir", ["dir", True]), ("Glob", ["**"]), ("Zip", ["/", "x.zip"])):
        with pytest.raises(ProcessError, match="more than 3 files"):
            run(f"data.{name}", *args)


def test_a_pipe_does_not_block_a_read(run: Run, app: Path) -> None:
    os.mkfifo(app / "data/pipe")
    with pytest.raises(ProcessError, match='"/pipe": not a regular file'):
        run("data.ReadFile", "pipe")


def test_copying_a_folder_with_a_link_out_is_refused(run: Run, app: Path) -> None:
    (app / "data/dir/z").symlink_to(app.parent / "secret.txt")
    with pytest.raises(ProcessError, match='"/dir/z" leaves the volume'):
        run("data.Copy", "dir", "other")
    assert not (app / "data/other/z").exists()


def test_copying_a_folder_with_a_link_to_a_folder_is_refused(run: Run, app: Path) -> None:
    (app / "data/dir/up").symlink_to("..")
    with pytest.raises(ProcessError, match='"/dir/up" is a link to a folder'):
        run("data.Copy", "dir", "other")
