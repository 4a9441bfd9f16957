"""Where scripts may read and write, and which hosts they may reach."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bindings.policy import Policy, open_file, resolve
from bindings.services import ProcessError


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
    return volume


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
    ("new/deep/file.txt", "new/deep/file.txt"),
    ("in/sub", "dir/sub"),
    ("..name", "..name"),
    ("a..b/c", "a..b/c"),
    ("/etc/passwd", "etc/passwd"),
    ("~/x", "~/x"),
    ("a\\b", "a\\b"),
]


@pytest.mark.parametrize(("path", "expected"), INSIDE, ids=[repr(row[0]) for row in INSIDE])
def test_paths_stay_in_the_volume(root: Path, path: str, expected: str) -> None:
    assert resolve(root, path) == root / expected


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
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_that_leave_the_volume_are_refused(root: Path, path: str) -> None:
    with pytest.raises(ProcessError, match="leaves the volume") as caught:
        resolve(root, path)
    assert caught.value.code == 403
    assert str(root.parent) not in caught.value.message


def test_a_nul_is_refused(root: Path) -> None:
    with pytest.raises(ProcessError, match="NUL") as caught:
        resolve(root, "file.txt\0.png")
    assert caught.value.code == 400


def test_a_link_itself_can_be_named(root: Path) -> None:
    assert resolve(root, "out", follow=False) == root / "out"
    assert resolve(root, "in/hop", follow=False) == root / "dir" / "hop"
    with pytest.raises(ProcessError):
        resolve(root, "outdir/x", follow=False)


def test_a_volume_behind_a_link_is_its_target(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    assert resolve(root.parent / "alias", "file.txt") == root / "file.txt"


def test_a_volume_need_not_exist(tmp_path: Path) -> None:
    assert resolve(tmp_path / "data", "a/b") == tmp_path / "data" / "a" / "b"


def test_a_regular_file_opens(root: Path) -> None:
    with open(open_file(root / "file.txt", os.O_RDONLY)) as file:
        assert file.read() == "inside"


def test_opening_does_not_follow_a_link_put_there_later(root: Path) -> None:
    path = resolve(root, "file.txt")
    path.unlink()
    path.symlink_to("../secret.txt")
    with pytest.raises(OSError, match="symbolic links"):
        open_file(path, os.O_RDONLY)


def test_only_regular_files_open(root: Path) -> None:
    os.mkfifo(root / "pipe")
    for name, reason in (("pipe", "not a regular file"), ("dir", "is a directory")):
        with pytest.raises(OSError, match=reason):
            open_file(root / name, os.O_RDONLY)


def test_the_volumes_of_an_application(tmp_path: Path) -> None:
    volumes = Policy().volumes(tmp_path)
    assert [volume.name for volume in volumes.values()] == list(volumes)
    assert {
        name: (volume.root.relative_to(tmp_path).as_posix(), volume.writable) for name, volume in volumes.items()
    } == {
        "data": ("data", True),
        "system": ("data", True),
        "app": (".", False),
        "dsl": (".", False),
        "script": ("scripts", False),
        "seed": ("seeds", False),
    }


@pytest.mark.parametrize("path", [".env", "/.env.local", "sub/.ENV", "dir/../.env"])
def test_environment_files_of_the_application_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ProcessError, match="may hold secrets") as caught:
        Policy().volumes(tmp_path)["app"].locate(path)
    assert caught.value.code == 403


def test_a_link_to_an_environment_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "harmless").symlink_to(".env")
    with pytest.raises(ProcessError, match="may hold secrets"):
        Policy().volumes(tmp_path)["app"].locate("harmless")


def test_environment_files_in_data_are_the_scripts_own(tmp_path: Path) -> None:
    volume = Policy().volumes(tmp_path)["data"]
    assert volume.shown(volume.locate(".env")) == "/.env"


def test_paths_are_shown_from_the_root_of_their_volume(root: Path, tmp_path: Path) -> None:
    volume = Policy().volumes(tmp_path)["app"]
    assert [volume.shown(volume.locate(path)) for path in ("volume/in/sub", "", "/new")] == [
        "/volume/dir/sub",
        "/",
        "/new",
    ]


ALLOWED = [
    (("*",), "http://anything.example/x"),
    (("api.example.com",), "https://api.example.com/v1?x=1"),
    (("api.example.com",), "http://api.example.com:8080/"),
    (("API.Example.COM",), "https://api.example.com"),
    (("api.example.com",), "https://API.EXAMPLE.COM."),
    (("api.example.com:443",), "https://api.example.com/"),
    (("api.example.com:80",), "http://api.example.com/"),
    (("api.example.com:8080",), "http://api.example.com:8080/"),
    (("a.example", "b.example"), "http://b.example/"),
    (("api.example.com",), "http://user:word@api.example.com/"),
    (("127.0.0.1:9000",), "http://127.0.0.1:9000/"),
    (("[::1]:9000",), "http://[::1]:9000/"),
    (("::1",), "http://[::1]:9000/"),
    (("[::1]",), "http://[::1]/"),
    (("bücher.example",), "http://xn--bcher-kva.example/"),
]


@pytest.mark.parametrize(("allow", "url"), ALLOWED, ids=[row[1] for row in ALLOWED])
def test_allowed_hosts_pass(allow: tuple[str, ...], url: str) -> None:
    Policy(allow_net=allow).check_host(url)


REFUSED = [
    (None, "http://api.example.com/", "api.example.com"),
    ((), "http://api.example.com/", "api.example.com"),
    (("api.example.com",), "http://evil.example/", "evil.example"),
    (("api.example.com",), "http://api.example.com.evil.example/", "api.example.com.evil.example"),
    (("api.example.com",), "http://notapi.example.com/", "notapi.example.com"),
    (("example.com",), "http://api.example.com/", "api.example.com"),
    (("api.example.com",), "http://api.example.com@evil.example/", "evil.example"),
    (("api.example.com",), "http://evil.example/?api.example.com", "evil.example"),
    (("api.example.com",), "http://evil.example#@api.example.com", "evil.example"),
    (("api.example.com:443",), "https://api.example.com:8443/", "api.example.com"),
    (("api.example.com:443",), "http://api.example.com/", "api.example.com"),
    (("127.0.0.1",), "http://127.1/", "127.1"),
    (("[::1]:9000",), "http://[::1]:9001/", "::1"),
]


@pytest.mark.parametrize(("allow", "url", "host"), REFUSED, ids=[f"{row[0]} {row[1]}" for row in REFUSED])
def test_other_hosts_are_refused_with_the_two_ways_out(allow: tuple[str, ...] | None, url: str, host: str) -> None:
    with pytest.raises(ProcessError) as caught:
        Policy(allow_net=allow).check_host(url)
    assert caught.value.code == 403
    why = "scripts have no network" if allow is None else "this host is not allowed"
    assert caught.value.message == (
        f'Cannot reach "{host}": {why}; allow it with --allow-net={host}, or answer it with t.mock.http'
    )


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/",
        "file:///etc/passwd",
        "a.example/x",
        "//a.example",
        "http://",
        "http:///x",
        "http://a.example:99999/",
        "http://[::1/",
        "http://a.example\\@b.example/",
        "http://a.example\n/",
        " http://a.example/",
        "javascript:alert(1)",
        "",
    ],
)
def test_what_is_no_web_address_is_refused_even_when_everything_is_allowed(url: str) -> None:
    with pytest.raises(ProcessError) as caught:
        Policy(allow_net=("*",)).check_host(url)
    assert caught.value.code == 403
