"""Opening files that somebody names who is not trusted: the real path is judged, and only files are opened, in bounds.

What is judged is the file that was opened, not its name: a link that changes in between gains nothing. A device, a pipe
or a socket is never opened, so nothing waits and nothing is without end.

Also what the scripts of this process have written: it is data, whatever leads to it later, and no change by somebody
else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable

SOURCE_LIMIT = 16 << 20
"""Bytes of a source file."""
DATA_LIMIT = 64 << 20
"""Bytes of any other file that is read at once."""

_MORE = 1 << 16
"""Bytes that are read at once of a file that has grown."""

Judge = Callable[[str], "str | None"]
"""Returns why the file at a real path must not be read, as a text; None if it may be read."""

CODE = (".ts", ".js", ".tsx", ".jsx", ".mts", ".mjs", ".cts", ".cjs")
"""How the names of scripts end."""
_WITHOUT_KEYS = (*CODE, "package.json", "tsconfig.json")
"""What every run reads, and no pattern need look at."""
_OLD = r"(?:~|\.(?:(?:backup|bak|enc|old|orig|save?|sw[op]|tmp|copy)\d*|\d+))*"
_TEXT = r"\.(?:json|ya?ml|toml|ini|csv|xml|cfg|conf|properties)" + _OLD
_KEYS = (
    r"\.env.*|.+\.env" + _OLD + r"|(?:dot)?env\.(?:prod(?:uction)?|stag(?:e|ing)|dev(?:elopment)?|local)" + _OLD,
    # Formats of keys, stores of keys and states that hold them.
    r"(?:id|.+[-_.])_?(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:\.(?:txt|priv|private|ppk))*" + _OLD + r"|ssh_host_.*_key"
    r"|.*\.(?:pem|key|der|p8|p12|pfx|pkcs\d+|ppk|jks|jceks|bks|keystore|truststore|keytab|kdbx?|agekey|jwk|asc|gpg"
    r"|pgp|ovpn|publishsettings|keychain(?:-db)?|tfstate|tfvars|mobileprovision)(?:\.(?:json|txt))?" + _OLD,
    # Files in which programs keep what they log in with.
    r"[._]netrc|\.?(?:npmrc|yarnrc(?:\.yml)?|pypirc|pgpass|my\.cnf|mylogin\.cnf|dockercfg|dockerconfigjson|.*htpasswd"
    r"|git-credentials|vault-token|s3cfg|boto|terraformrc|databrickscfg|vault[-_]?pass(?:word)?(?:\.txt)?)|\.\w+_history"
    r"|(?:.+[-_.])?kube\.?config(?:\.ya?ml|\.json)?|wg\d+\.conf|wireguard\.conf|terraform\.rc|wp-config\.php"
    r"|local\.settings\.json|wallet\.dat|rclone\.conf|sftp(?:-config)?\.json|recentservers\.xml|sitemanager\.xml|passwd-?|shadow-?|auth\.json",
    # What people, and the consoles of clouds, call keys.
    rf"(?:.+[-_.])?cred(?:ential)?s?(?:{_TEXT}|\.(?:db|txt))?|gha-creds-.*|.*service[-_]?account.*{_TEXT}"
    rf"|.*firebase-adminsdk.*\.json|(?:.+[-_.])?(?:api|access|private|secret|service|sa|gcp|gcloud|aws|ssh"
    rf"|deploy|signing|encryption)[-_]?keys?(?:{_TEXT}|\.txt)?"
    rf"|key(?:file|store)?\.(?:json|properties)|(?:.+[-_.])?(?:client[-_]?)?secrets?(?:[-_]?\d.*|[-_](?:prod|staging|dev|local))?{_TEXT}|client[-_]?secrets?.*|\.secrets?"
    rf"|(?:.+[-_.])?passw(?:or)?ds?(?:{_TEXT}|\.txt)?|token\.(?:json|pickle|txt)"
    rf"|(?:.+[-_.])?(?:access|auth|api|refresh|bearer|oauth|github|gitlab|gh|npm)[-_]?tokens?(?:{_TEXT}|\.(?:txt|db))?|\.token",
)
"""Names of files that commonly contain keys."""
_KEY_FOLDERS = frozenset(".git .ssh .aws .azure .kube .docker .gnupg .gcloud .terraform .terraform.d .oci .m2".split())
_KINDS = {
    stat.S_IFBLK: "it is a device",
    stat.S_IFCHR: "it is a device",
    stat.S_IFDIR: "it is a folder",
    stat.S_IFIFO: "it is a pipe",
    stat.S_IFSOCK: "it is a socket",
}


class RefusedFileError(PermissionError):
    """A file that must not be read. `strerror` says why, and what to do if that is not obvious."""

    def __init__(self, reason: str, path: str) -> None:
        super().__init__(1, reason, path)


def holds_secrets(parts: tuple[str, ...]) -> bool:
    """Whether a path, as its parts from the root of an application, commonly holds keys. Names are taken in every case
    and spelling that a file system may take for the same."""
    plain = [_plain(name) for name in parts]
    if plain and (plain[0] == "connectors" or not _KEY_FOLDERS.isdisjoint(plain)):
        return True
    last = plain[-1] if plain else ""
    if any(name.startswith(".env") or ".conn." in name or ".mcp." in name for name in plain):
        return True
    return not last.endswith(_WITHOUT_KEYS) and re.fullmatch("|".join(_KEYS), last) is not None


def parts_below(path: str, folder: str) -> tuple[str, ...] | None:
    """The parts of a path from a folder that it is in, none for the folder itself; None when it is not in it. Both are
    absolute, without `..`."""
    if path == folder:
        return ()
    start = folder.rstrip("/") + "/"
    return tuple(path[len(start) :].split("/")) if path.startswith(start) else None


def open_file(path: str, judge: Judge, limit: int | None) -> int:
    """Opens a file for reading and returns the descriptor. Does not block. `judge`: called with the real path;
    returns why the file may not be read, or None. `limit`: largest size in bytes; None for files that are read in
    parts. Raises RefusedFileError: it is not a file, too large, or refused; OSError: as `os.open`."""
    check_kind(os.stat(path), path, limit)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        check_kind(os.fstat(descriptor), path, limit)
        if reason := judge(_real_path(descriptor, path)):
            raise RefusedFileError(reason, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_file(path: str, judge: Judge, limit: int | None = DATA_LIMIT) -> bytes:
    """The content of a file. Raises as `open_file`."""
    descriptor = open_file(path, judge, limit)
    try:
        size = os.fstat(descriptor).st_size
        content = os.read(descriptor, min(size, limit or size) + 1)  # more would be allocated, however short it is
        while (limit is None or len(content) <= limit) and (more := os.read(descriptor, _MORE)):
            content += more
    finally:
        os.close(descriptor)
    if limit is not None and len(content) > limit:  # it has grown
        raise RefusedFileError(_too_large(limit), path)
    return content


def check_kind(found: os.stat_result, path: str, limit: int | None) -> None:
    """Raises RefusedFileError for what is not a file, or larger than `limit`, in bytes."""
    if not stat.S_ISREG(found.st_mode):
        raise RefusedFileError(_KINDS.get(stat.S_IFMT(found.st_mode), "it is not a file"), path)
    if limit is not None and found.st_size > limit:
        raise RefusedFileError(_too_large(limit), path)


def anywhere(_: str) -> None:
    """A judge for files whose path was checked before."""


def _too_large(limit: int) -> str:
    return f"it is larger than {limit >> 20} MB"


def _real_path(descriptor: int, path: str) -> str:
    """Where an open file is. The kernel of Linux knows; elsewhere its name is looked up, and has to be that file."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        real = os.path.realpath(path)
        if os.path.samestat(os.stat(real, follow_symlinks=False), os.fstat(descriptor)):
            return real
        raise RefusedFileError("it changed while being opened", path) from None


def _plain(name: str) -> str:
    if name.isascii() and name.isprintable():
        return name.lower().rstrip(". ")
    from unicodedata import normalize

    return "".join(letter for letter in normalize("NFKC", name).casefold() if letter.isprintable()).rstrip(". ")


State = tuple[int, int, int]
"""The time of a file, its size and its number."""


class WrittenFiles:
    """The files that scripts have written, by their real paths. Threads may share it."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self.refused: list[str] = []
        """The real paths of those that were to be more than data, since a run began."""
        self._left: dict[str, State | None] = {}
        """Path → what was there when scripts had written it; None: nothing any more."""
        self._busy: list[str] = []
        """What scripts are writing at this moment, and folders in which nobody else writes."""
        self._changed: set[str] = set()
        """What somebody else has written between two times that scripts did."""

    def note(self, path: str) -> None:
        """Takes note of what a script writes, or moves to its place."""
        self._paths.add(path)

    def hold(self, folder: str) -> None:
        """Takes note of a folder in which only this process and what it starts write."""
        self._busy.append(folder)

    def begin(self, *paths: str) -> None:
        """A script writes, moves or removes what is at some paths, until `end`."""
        self._changed.update(path for path in paths if path in self._left and self._left[path] != _state(path))
        self._busy += paths

    def end(self, *paths: str) -> None:
        """It has done so."""
        for path in paths:
            below = [f"{folder}/{name}" for folder, _, names in os.walk(path) for name in names]
            if (state := _state(path)) is None:
                below = [file for file in self._left if file.startswith(f"{path}/")]
            self._left |= {path: state, **{file: _state(file) for file in below}}
            self._busy.remove(path)

    def is_own(self, path: str) -> bool:
        """Whether a file that has changed is as scripts have left it. What somebody else has written between two times
        that scripts did is not, once."""
        if not self._left and not self._busy:
            return False
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        above = _above(path)
        if any(one in above for one in self._busy):
            return True
        if path in self._changed:
            self._changed.discard(path)
            return False
        state = _state(path)
        if path in self._left:
            return self._left[path] == state
        return state is None and any(one in self._left and self._left[one] is None for one in above)

    def refuse(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file is among them, which is to be a definition or a program, and so is refused."""
        if not self._paths:
            return False
        real = os.path.realpath(path)
        if self._paths.isdisjoint(_above(real)):
            return False
        self.refused += [] if real in self.refused else [real]
        return True

    def __bool__(self) -> bool:
        return bool(self._paths)


written_files = WrittenFiles()


def _above(path: str) -> set[str]:
    """A path, and the folders that it is in."""
    return {path[:end] for end in (*(at for at, sign in enumerate(path) if sign == "/"), len(path))}


def _state(path: str) -> State | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
