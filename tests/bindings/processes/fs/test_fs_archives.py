"""`fs.<volume>.Zip` and `Unzip`, also of hostile archives."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindings.errors import ProcessError
from bindings.processes import file_access

Run = Callable[..., Any]


def test_zip_and_unzip(run: Run, app: Path) -> None:
    (app / "data/dir/z").symlink_to(app.parent / "secret.txt")
    assert run("data.Zip", "dir", "new/dir.zip") is None
    with zipfile.ZipFile(app / "data/new/dir.zip") as archive:
        assert sorted(archive.namelist()) == ["a.txt", "b.txt", "sub/c.json"]
    assert run("data.Unzip", "new/dir.zip", "/there") == ["/there/a.txt", "/there/b.txt", "/there/sub/c.json"]
    assert (app / "data/there/sub/c.json").read_text() == '{"c": 1}'
    assert run("data.Unzip", "new/dir.zip", "there/./again")[0] == "there/again/a.txt"


def test_zip_of_a_folder_into_itself_leaves_the_archive_out(run: Run, app: Path) -> None:
    for _ in range(2):
        run("data.Zip", "/", "all.zip")
    with zipfile.ZipFile(app / "data/all.zip") as archive:
        assert sorted(archive.namelist()) == ["dir/a.txt", "dir/b.txt", "dir/sub/c.json", "in", "note.txt"]


def test_zip_of_one_file(run: Run, app: Path) -> None:
    run("data.Zip", "dir/a.txt", "a.zip")
    assert zipfile.ZipFile(app / "data/a.zip").namelist() == ["a.txt"]


def packed(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/evil.txt", "..\\evil.txt", "link/evil.txt"])
def test_an_archive_cannot_write_beside_its_target(run: Run, app: Path, name: str) -> None:
    (app / "data/target").mkdir()
    (app / "data/target/link").symlink_to(app.parent)
    run("data.WriteFileBuffer", "x.zip", packed({"good.txt": b"good", name: b"evil"}))
    with pytest.raises(ProcessError, match="leaves the target folder") as caught:
        run("data.Unzip", "x.zip", "target")
    assert caught.value.code == 403
    assert [path.name for path in app.parent.rglob("*evil*")] == []
    assert not (app / "data/target/good.txt").exists()


def test_a_link_in_an_archive_is_unpacked_as_a_file(run: Run, app: Path) -> None:
    entry = zipfile.ZipInfo("link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, "../../secret.txt")
    run("data.WriteFileBuffer", "x.zip", buffer.getvalue())
    run("data.Unzip", "x.zip", "target")
    assert not (app / "data/target/link").is_symlink()
    assert run("data.ReadFile", "target/link") == "../../secret.txt"


def test_archives_that_unpack_to_too_much_are_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("data.WriteFileBuffer", "x.zip", packed({"a": b"0" * 600, "b": b"0" * 600}))
    monkeypatch.setattr(file_access, "MAX_UNZIPPED", 1199)
    with pytest.raises(ProcessError, match="has more than 1199 bytes"):
        run("data.Unzip", "x.zip", "t")
    monkeypatch.setattr(file_access, "MAX_UNZIPPED", 1200)
    assert len(run("data.Unzip", "x.zip", "t")) == 2
    monkeypatch.setattr(file_access, "MAX_ENTRIES", 1)
    with pytest.raises(ProcessError, match="has more than 1 files"):
        run("data.Unzip", "x.zip", "t")


def test_damaged_archives_are_refused(run: Run) -> None:
    data = bytearray(packed({"a.txt": b"hello hello hello"}))
    data[40] ^= 0xFF
    run("data.WriteFileBuffer", "x.zip", bytes(data))
    with pytest.raises(ProcessError, match=r'fs.data.Unzip: "x.zip" cannot be unpacked: '):
        run("data.Unzip", "x.zip", "t")
