"""Paths below a root: what is found, what is refused, and what happens when folders change on the way."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from bindings.errors import ProcessError
from bindings.rooted import MAX_DEPTH, Rooted


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A volume with a file, a folder, and links: inward, outward, to a folder outside, dangling, and around."""
    volume = tmp_path / "volume"
    (volume / "dir" / "sub").mkdir(parents=True)
    (volume / "file.txt").write_text("inside")
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "volume-next").mkdir()
    (volume / "in").symlink_to("dir")
    (volume / "out").symlink_to("../secret.txt")
    (volume / "absolute").symlink_to(tmp_path / "secret.txt")
    (volume / "outdir").symlink_to(tmp_path / "volume-next")
    (volume / "dangling").symlink_to(tmp_path / "not-there")
    (volume / "dir" / "hop").symlink_to("../out")
    (volume / "again").symlink_to(volume / "file.txt")
    (volume / "up").symlink_to("dir/sub/..")
    (volume / "back").symlink_to("../volume/file.txt")
    (volume / "circle").symlink_to("circle")
    return volume


def find(root: Path, path: str, follow: bool = True, make: bool = False) -> str:
    """Where a path leads, from the root."""
    return Rooted(root).find(path, follow=follow, make=make).shown[1:]


INSIDE = [
    ("", ""),
    ("/", ""),
    (".", ""),
    ("file.txt", "file.txt"),
    ("/file.txt", "file.txt"),
    ("//file.txt", "file.txt"),
    ("./dir/./sub/", "dir/sub"),
    ("dir/../file.txt", "file.txt"),
    ("dir/sub/../..", ""),
    ("new.txt", "new.txt"),
    ("in/hop/../sub", "dir/sub"),
    ("in/sub", "dir/sub"),
    ("..name", "..name"),
    ("a..b", "a..b"),
    ("/etc", "etc"),
    ("~", "~"),
    ("again", "file.txt"),
    ("up", "dir"),
    ("up/sub", "dir/sub"),
    ("a\\b", "a\\b"),
]


@pytest.mark.parametrize(("path", "expected"), INSIDE, ids=[repr(row[0]) for row in INSIDE])
def test_paths_stay_in_the_volume(root: Path, path: str, expected: str) -> None:
    assert find(root, path) == expected


OUTSIDE = [
    "..",
    "../secret.txt",
    "/../secret.txt",
    "dir/../../secret.txt",
    "dir/../../volume/file.txt",
    "out",
    "absolute",
    "dir/hop",
    "outdir",
    "outdir/new.txt",
    "dangling",
    "dangling/new.txt",
    "in/../../secret.txt",
    "back",
    "/proc/../../etc/passwd",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_that_leave_the_volume_are_refused(root: Path, path: str) -> None:
    with pytest.raises(ProcessError, match="leaves the volume") as caught:
        find(root, path)
    assert caught.value.code == 403
    assert str(root.parent) not in caught.value.message


def test_a_nul_is_refused(root: Path) -> None:
    with pytest.raises(ProcessError, match="NUL") as caught:
        find(root, "file.txt\0.png")
    assert caught.value.code == 400


def test_a_link_itself_can_be_named(root: Path) -> None:
    assert find(root, "out", follow=False) == "out"
    assert find(root, "in/hop", follow=False) == "dir/hop"
    with pytest.raises(ProcessError):
        find(root, "outdir/x", follow=False)


def test_a_circle_of_links_ends(root: Path) -> None:
    with pytest.raises(OSError, match="symbolic links"):
        find(root, "circle")


def test_a_root_behind_a_link_is_its_target(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    assert find(root.parent / "alias", "again") == "file.txt"


def test_folders_on_the_way_are_made_when_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find(tmp_path / "data", "a/b")
    assert find(tmp_path / "data", "a/b", make=True) == "a/b"
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == ["data", "data/a"]


def test_descriptors_are_closed(root: Path) -> None:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    for path in ("dir/sub", "in/sub", "out", "circle", "nope/x"):
        with suppress(OSError, ProcessError):
            find(root, path)
    after = os.listdir("/proc/self/fd") if before else []
    assert len(after) == len(before)


def test_only_regular_files_open(root: Path) -> None:
    os.mkfifo(root / "pipe")
    rooted = Rooted(root)
    for name, reason in (("pipe", "not a regular file"), ("dir", "is a directory")):
        with pytest.raises(OSError, match=reason):
            rooted.find(name).open(os.O_RDONLY)


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(root: Path) -> None:
    rooted = Rooted(root)
    place = rooted.find("file.txt")
    (root / "file.txt").unlink()
    (root / "file.txt").symlink_to("../secret.txt")
    with pytest.raises(OSError, match="symbolic links"):
        place.open(os.O_RDONLY)
    with pytest.raises(OSError, match="symbolic links"):
        place.open(os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with pytest.raises(OSError, match="symbolic links"):
        place.change_mode(0o600)
    with pytest.raises(OSError, match="irectory"):
        place.content()
    assert (root.parent / "secret.txt").read_text() == "outside"


def test_a_folder_that_becomes_a_link_stays_the_folder_that_was_found(root: Path) -> None:
    (root / "dir/sub/x.txt").write_text("right")
    (root.parent / "volume-next/x.txt").write_text("wrong")
    rooted = Rooted(root)
    place = rooted.find("dir/sub/x.txt")
    (root / "dir/sub").rename(root / "dir/moved")
    (root / "dir/sub").symlink_to(root.parent / "volume-next")
    with open(place.open(os.O_RDONLY)) as file:
        assert file.read() == "right"
    place.remove()
    assert (root.parent / "volume-next/x.txt").exists()
    assert not (root / "dir/moved/x.txt").exists()


@pytest.fixture
def swapped(root: Path) -> Iterator[Path]:
    """A volume in which `swap` is now a folder, now a link to a folder outside, as fast as that goes."""
    (root.parent / "volume-next/x.txt").write_text("outside")
    (root / "folder").mkdir()
    (root / "folder/x.txt").write_text("inside")
    (root / "link").symlink_to(root.parent / "volume-next")
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            for name in ("folder", "link"):
                (root / name).rename(root / "swap")
                (root / "swap").rename(root / name)

    thread = threading.Thread(target=swap)
    thread.start()
    yield root
    ended.set()
    thread.join()


def test_a_race_reads_nothing_outside(swapped: Path) -> None:
    seen = set()
    for _ in range(1500):
        rooted = Rooted(swapped)
        try:
            with open(rooted.find("swap/x.txt").open(os.O_RDONLY)) as file:
                seen.add(file.read())
        except (OSError, ProcessError):
            continue
    assert seen <= {"inside"}


def test_a_race_writes_nothing_outside(swapped: Path) -> None:
    for number in range(800):
        rooted = Rooted(swapped)
        try:
            place = rooted.find(f"swap/new-{number}.txt")
            os.close(place.open(os.O_WRONLY | os.O_CREAT))
            place.remove_all()
        except (OSError, ProcessError):
            continue
    assert sorted(path.name for path in (swapped.parent / "volume-next").iterdir()) == ["x.txt"]


def test_folders_inside_each_other_are_bounded(root: Path) -> None:
    assert find(root, "a/" * MAX_DEPTH + "x", make=True) == "a/" * MAX_DEPTH + "x"
    with pytest.raises(ProcessError, match="more than 100 nested folders"):
        find(root, "a/" * (MAX_DEPTH + 1) + "x", make=True)


def test_a_large_folder_takes_one_descriptor(root: Path) -> None:
    for number in range(300):
        (root / "dir" / f"{number}.txt").touch()
    gc.collect()  # folders of earlier tests
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    content = Rooted(root).find("dir").content()
    assert len(content) == 302
    assert {place.folder.descriptor for place in content} == {content[0].folder.descriptor}
    if before:
        assert len(os.listdir("/proc/self/fd")) == before + 1
