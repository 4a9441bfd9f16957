"""What a script may touch: folders, hosts and environment names.

Scripts are untrusted. They read the application's own folder, write in its `data/` folder, and reach no network and no
environment variable unless the user said so. Every path that a script gives goes through `resolve`, every address
through `Policy.check_host`. All refusals are `ProcessError` with code 403.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from bindings.services import ProcessError

if TYPE_CHECKING:
    from pathlib import Path

_NOTHING: Mapping[str, str] = MappingProxyType({})
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Volume(NamedTuple):
    """A folder that scripts see as the root of a file system: `new FS("data")`, `fs.data.ReadFile`."""

    name: str
    root: Path
    """Absolute; need not exist."""
    writable: bool = False

    def locate(self, path: str, *, follow: bool = True) -> Path:
        """The real path of a path in this volume.

        `.env` files of a volume that scripts may only read are refused: their names and values are not for scripts.
        """
        target = resolve(self.root, path, follow=follow)
        if not self.writable and any(part.lower().startswith(".env") for part in self.parts(target)):
            raise ProcessError(f'"{path}" is not open to scripts: it may hold secrets', 403)
        return target

    def parts(self, target: Path) -> tuple[str, ...]:
        """The parts of a located path below the root; none for the root itself."""
        return target.relative_to(os.path.realpath(self.root)).parts

    def shown(self, target: Path) -> str:
        """A located path as scripts write it, from `/`; it never shows where the volume lies on this machine."""
        return "/" + "/".join(self.parts(target))


class Policy(NamedTuple):
    """The permissions of a run. The default allows the application's folders and nothing else."""

    allow_net: tuple[str, ...] | None = None
    """Hosts that scripts may reach, as `host` (any port) or `host:port`; `("*",)` is every host, None is no network."""
    environment: Mapping[str, str] = _NOTHING
    """The environment variables that scripts may see. Names that are not here look like missing ones."""

    def volumes(self, app_root: Path) -> dict[str, Volume]:
        """The volumes of an application, by name. Only `data` and its old name `system` can be written."""
        data = app_root / "data"
        return {
            "data": Volume("data", data, writable=True),
            "system": Volume("system", data, writable=True),
            "app": Volume("app", app_root),
            "dsl": Volume("dsl", app_root),
            "script": Volume("script", app_root / "scripts"),
            "seed": Volume("seed", app_root / "seeds"),
        }

    def check_host(self, url: str) -> None:
        """Refuses an address that scripts may not reach.

        Args:
            url: absolute `http` or `https` address, as the HTTP library will use it

        Raises:
            ProcessError: code 403, with the host and what to do about it.
        """
        host, port = _address(url)
        for entry in self.allow_net or ():
            if entry == "*" or _matches(entry, host, port):
                return
        why = "scripts have no network" if self.allow_net is None else "this host is not allowed"
        raise ProcessError(
            f'Cannot reach "{host}": {why}; allow it with --allow-net={host}, or answer it with t.mock.http', 403
        )


def resolve(volume_root: Path, path: str, *, follow: bool = True) -> Path:
    """Maps a path that a script gave to the real path inside a volume.

    Args:
        volume_root: folder that the script sees as `/`; need not exist
        path: with or without a leading `/`; `""` and `/` are the root; `..` may not climb above the root
        follow: False keeps the last part when it is a symbolic link, to look at or remove the link itself

    Returns: an absolute path without symbolic links (but for the last part when `follow` is False). It need not exist.

    Raises:
        ProcessError: code 403 when the path leaves the volume by `..`, by a symbolic link or by a drive, and 400 when
        it
            holds a NUL character.
    """
    if "\0" in path:
        raise ProcessError("a path cannot hold a NUL character", 400)
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/") if os.name == "nt" else path.split("/"):
        if part == "..":
            if not parts:
                raise _leaves(path)
            parts.pop()
        elif part not in ("", "."):
            if os.path.splitdrive(part)[0]:
                raise _leaves(path)
            parts.append(part)
    root = os.path.realpath(volume_root)
    if follow or not parts:
        real = os.path.realpath(os.path.join(root, *parts))
    else:
        real = os.path.join(os.path.realpath(os.path.join(root, *parts[:-1])), parts[-1])
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise _leaves(path)
    return type(volume_root)(real)


def open_file(path: Path, flags: int, mode: int = 0o666) -> int:
    """Opens a resolved path and returns the descriptor.

    A symbolic link put in its place since then is not followed, and only regular files open, so that a pipe cannot
    block.

    Raises:
        OSError: as `os.open`; ELOOP for a link.
    """
    from errno import EISDIR
    from stat import S_ISDIR, S_ISREG

    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # none of them exists everywhere
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, mode)
    mode = os.fstat(descriptor).st_mode
    if S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise OSError(EISDIR, "is a directory", str(path)) if S_ISDIR(mode) else OSError(0, "not a regular file", str(path))


def _leaves(path: str) -> ProcessError:
    return ProcessError(f'"{path}" leaves the volume', 403)


def _address(url: str) -> tuple[str, int]:
    from urllib.parse import urlsplit

    if any(character <= " " or character in "\\\x7f" for character in url):
        raise ProcessError("an address cannot hold blanks, backslashes or control characters", 403)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ProcessError(f'"{url}" is not an address: {error}', 403) from error
    if parts.scheme not in _DEFAULT_PORTS or not host:
        raise ProcessError(f'Cannot reach "{url}": scripts reach http:// and https:// addresses only', 403)
    return _plain(host), port or _DEFAULT_PORTS[parts.scheme]


def _matches(entry: str, host: str, port: int) -> bool:
    entry_host, colon, entry_port = entry.rpartition(":")
    if not colon or not entry_port.isdigit():
        return _plain(entry) == host
    if ":" in entry_host and not entry_host.startswith("["):  # a bare IPv6 address
        return _plain(entry) == host
    return _plain(entry_host) == host and int(entry_port) == port


def _plain(host: str) -> str:
    host = host.strip("[]").rstrip(".").lower()
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return host
