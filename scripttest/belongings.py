"""Which files of an application scripts may read and cases may attach: those that belong to it. The first row decides.

| file | open |
| --- | --- |
| of a kind that commonly holds keys (`files.holds_secrets`) | if `readable` names the file itself, but never \
connectors, MCP servers and `.env` |
| a script, `package.json`, `tsconfig.json`, a picture, a sound, a film, a PDF | yes |
| below `data/` | yes |
| in a folder of an application (`FOLDERS`), or a text such as `README.md` at its root | yes, unless Git ignores it \
or a name in its path begins with a dot |
| tracked by Git, or in a submodule | yes |
| imported from a folder of scripts, or attached from that of the case file, below the root | yes, where there is no \
Git |
| named by `readable`, or in a folder that it names | yes |
| all others, such as credentials that a CI job leaves in the folder | no |

`readable = ["certs/ca.txt", "shared"]` is at the top of `yao-test.toml`; its paths count from the root. Git is asked,
and that file is read, when only they can decide.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from functools import cached_property, lru_cache

from scripttest.files import CODE, SOURCE_LIMIT, anywhere, holds_secrets, parts_below, read_file

FOLDERS = (
    "assistants", "scripts", "models", "data", "public", "seeds", "fixtures", "testdata", "flows", "mcps", "docs"
)  # fmt: skip
"""Folders of an application."""
CONFIGURATION = "yao-test.toml"
"""The file of an application that has `readable`."""
_DATA = "data"
_OPEN = (
    *(*CODE, ".css", ".map"),
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".tiff", ".ico", ".pdf"),
    *(".mp3", ".wav", ".ogg", ".oga", ".opus", ".m4a", ".flac", ".mp4", ".webm", ".mov"),
)
"""How the names of files end that hold no keys: scripts, pictures, sounds, films."""
_ROOT_TEXTS = (
    r"(?i:.+\.(?:md|mdx|markdown|rst|adoc)|(?:readme|license|licence|copying|notice|authors|contributors|changelog|changes"
    r"|history|news|todo|version)(?:\.txt)?|app\.(?:yao|jsonc?))"
)
_OF_TOOL = r"connectors|\.env.*|\.git|.*\.(?:conn|mcp)\.\w+"
KEYS = "may contain secrets"
"""Why a file is not open that commonly holds keys."""
_FOREIGN = (
    "does not belong to the application: Git does not track it, and it is not in one of its folders; "
    f"add it to readable in {CONFIGURATION}"
)
_IGNORED = f"does not belong to the application: Git ignores it; add it to readable in {CONFIGURATION}"
Parts = tuple[str, ...]


class _Listing:
    """What Git lists of a folder."""

    def __init__(self, is_known: bool, began: float, tracked: set[str], others: set[str]) -> None:
        """`others` are neither tracked nor ignored; where nothing `is_known`, there is no repository."""
        self.is_known = is_known
        self.began = began
        self.tracked = tracked
        self.others = others
        self.folders: set[str] = set()
        """Folders with tracked files."""
        for name in tracked:
            while (name := name.rpartition("/")[0]) and name not in self.folders:
                self.folders.add(name)


def _listed(root: str) -> _Listing:
    from scripttest.git import GitError, repositories_of

    began, tracked, others = time.time(), set[str](), set[str]()
    try:
        chain = repositories_of(root, os.environ)
        if not chain:
            return _Listing(False, began, tracked, others)
        start = os.path.relpath(root, chain[-1].top)
        found = chain[-1].ask("ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard", "--", start)
    except GitError:
        return _Listing(False, began, tracked, others)
    above = "" if start == "." else f"{start}/"
    for line in os.fsdecode(found).split("\0")[:-1]:
        (others if line.startswith("?") else tracked).add(line[2:].removeprefix(above).rstrip("/"))
    return _Listing(bool(found), began, tracked, others)  # of an application that it ignores, it lists nothing


class Belongings:
    """Judges the files of one application, by their real paths."""

    def __init__(self, root: str) -> None:
        """`root` is a real path."""
        self._root = root
        self._listing: _Listing | None = None
        self._readable: tuple[object, tuple[Parts, ...]] = (None, ())

    def refused(self, parts: Parts, is_folder: bool = False, near: Parts = ()) -> str | None:
        """Why a file is not open, as the end of a sentence; None if it is. `parts`: the parts of its real path from
        the root. `is_folder`: it is a folder, which is open for listing if something in it can be. `near`: a folder
        of which all files belong to the application where there is no Git, such as that of the case file that names
        it; not the root."""
        if not any(parts):
            return None
        last = parts[-1]
        if holds_secrets(parts):
            return None if self.is_named(parts) else KEYS
        if not is_folder and (last.lower().endswith(_OPEN) or _is_definition(last)):
            return None
        name = next((name for folder, name in self._folders.items() if parts[: len(folder)] == folder), None)
        if name == _DATA:
            return None
        is_own = name is not None or (len(parts) == 1 and not is_folder and re.fullmatch(_ROOT_TEXTS, last) is not None)
        is_own = is_own and not any(part.startswith(".") for part in parts)
        if (is_own and is_folder) or self._is_listed(parts, is_folder, is_own) or self.is_readable(parts, is_folder):
            return None
        if near and self._listing is not None and not self._listing.is_known and parts[: len(near)] == near:
            return None if not any(part.startswith(".") for part in parts) else _FOREIGN
        if not os.path.lexists("/".join((self._root, *parts))):
            return None  # what is missing is told as missing
        return _IGNORED if is_own else _FOREIGN

    def listed(self, names: Iterable[str]) -> tuple[str, ...] | None:
        """Those of some files, by their paths from the root, that are open since Git lists them; None where there is no
        repository."""
        self._is_listed(("",), False, False)
        if self._listing is None or not self._listing.is_known:
            return None
        return tuple(name for name in names if not name.endswith(CODE) and self.refused(tuple(name.split("/"))) is None)

    def know(self, names: Iterable[str]) -> None:
        """Takes what Git lists elsewhere for what it lists here, where there is no repository."""
        self._listing = _Listing(True, float("inf"), {*names}, set())

    def is_named(self, parts: Parts) -> bool:
        """Whether the configuration opens this very file, although it commonly holds keys."""
        return parts in self._named() and not is_never_readable(parts)

    def is_readable(self, parts: Parts, is_folder: bool = False) -> bool:
        """Whether the configuration opens a path, or, for a folder, something in it."""
        return any(
            parts[: len(named)] == named or (is_folder and named[: len(parts)] == parts) for named in self._named()
        )

    @cached_property
    def _folders(self) -> dict[Parts, str]:
        """Where the folders of the application are, of which some may be links."""
        found = {parts_below(os.path.realpath(f"{self._root}/{name}"), self._root): name for name in FOLDERS}
        return {parts: name for parts, name in found.items() if parts}

    def _named(self) -> tuple[Parts, ...]:
        """The paths of `readable`; none where the configuration cannot be read, which is told when it is used."""
        path = f"{self._root}/{CONFIGURATION}"
        try:
            found = os.stat(path)
            signature = (found.st_mtime_ns, found.st_size, found.st_ino)
            if self._readable[0] != signature:
                self._readable = (signature, _readable_in(read_file(path, anywhere, SOURCE_LIMIT).decode()))
        except (OSError, ValueError):
            self._readable = (None, ())
        return self._readable[1]

    def _is_listed(self, parts: Parts, is_folder: bool, is_own: bool) -> bool:
        """Whether Git lists a file, or, where there is no Git, it is in a folder of the application."""
        listing = self._listing
        if listing is None:
            listing = self._listing = _listed(self._root)
        if _holds(listing, parts, is_folder, is_own):
            return True
        if listing.is_known and self._is_newer(parts, listing):
            listing = self._listing = _listed(self._root)
            return _holds(listing, parts, is_folder, is_own)
        return False

    def _is_newer(self, parts: Parts, listing: _Listing) -> bool:
        try:
            return os.lstat("/".join((self._root, *parts))).st_ctime > listing.began - 0.1
        except OSError:
            return False


def _holds(listing: _Listing, parts: Parts, is_folder: bool, is_own: bool) -> bool:
    if not listing.is_known:
        return is_own
    path = "/".join(parts)
    if path in listing.tracked or (is_folder and path in listing.folders):
        return True
    above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    if any(name in listing.tracked for name in above):  # a submodule
        return not any(part.startswith(".") for part in parts)
    return is_own and any(name in listing.others for name in above)


def _is_definition(name: str) -> bool:
    return name == "package.json" or (name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"))


def _readable_in(text: str) -> tuple[Parts, ...]:
    import tomllib

    named = tomllib.loads(text).get("readable", [])
    paths = [
        os.path.normpath(path) for path in (named if isinstance(named, list) else [named]) if isinstance(path, str)
    ]
    return tuple(tuple(path.split("/")) for path in paths if path != "." and not path.startswith(("/", "..")))


def is_never_readable(parts: Parts) -> bool:
    """Whether not even the configuration opens a path: connectors, MCP servers, `.env`, the repository."""
    return any(re.fullmatch(_OF_TOOL, name, re.IGNORECASE) for name in parts)


@lru_cache(maxsize=16)
def belongings_of(root: str) -> Belongings:
    """What belongs to the application at a real path."""
    return Belongings(root)
