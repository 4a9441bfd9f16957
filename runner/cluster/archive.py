"""The application as one archive, named by the digest of its content. It is sent to a worker once.

| part of the application | is it sent? |
| --- | --- |
| names that begin with a dot, or are not UTF-8; virtual environments, caches of Python | no |
| reports: those that this run writes, and `output-<time>.jsonl` of earlier ones | no |
| `node_modules` | yes, at the root, in `assistants/` and in `scripts/` |
| files that commonly hold keys | no |
| definitions of connectors and MCP servers | yes; one that contains a key is refused, because keys are never sent |
| links | their target, if it is in the application |
| everything else | yes |"""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from runner.errors import ConfigurationError
from runner.security.files import DEFINING, is_report, reader_below, walk
from scripttest import holds_secrets
from scripttest.values import Value

MOST_BYTES = 1 << 30
"""At most this many bytes in all files together."""
_LEFT_OUT = frozenset(("__pycache__",))
_PACKAGES = "node_modules"
_OF_SCRIPTS = ("assistants/", "scripts/")
"""Folders, other than the root, in which imports from `node_modules` are searched."""
_DEFINITIONS = (".conn.yao", ".conn.jsonc", ".conn.json", ".mcp.yao", ".mcp.jsonc", ".mcp.json")
"""Suffixes of files that workers need although they may contain keys."""
_EARLY = (1980, 1, 1, 0, 0, 0)


class Content(Value):
    """What of an application is sent."""

    digest: str
    """The digest of its files: equal files have the same digest."""
    names: tuple[str, ...]
    """The paths of the files, from the root."""


def content_of(root: Path, reports: Collection[str], redact: Callable[[str], str]) -> Content:
    """The content of an application, which is read for it. Raises ConfigurationError. `reports`: paths below the
    root, of what this run writes. `redact`: removes secrets from a text. If it changes a definition, that contains a
    key."""

    def check(name: str, data: bytes) -> None:
        if name.endswith(_DEFINITIONS):
            _check_definition(root / name, data, redact)

    return _digested(root, reports, check)


def archive_of(root: Path, reports: Collection[str], content: Content | None) -> bytes:
    """A zip with the content of an application. Raises ConfigurationError if it is not the same any more.
    `reports` are as for `content_of`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:

        def write(name: str, data: bytes) -> None:
            archive.writestr(zipfile.ZipInfo(name, _EARLY), data, zipfile.ZIP_DEFLATED)

        found = _digested(root, reports, write)
    if found != content:
        raise ConfigurationError(
            f"Cannot send {root} to workers: its files changed during the run", "Rerun the command"
        )
    return packed.getvalue()


def _digested(root: Path, reports: Collection[str], take: Callable[[str, bytes], None]) -> Content:
    """The content of an application, after `take` was called with each of its files."""
    names, digest = [], sha256()
    for name, data in _contents(root, reports):
        take(name, data)
        encoded = name.encode()
        digest.update(b"%d:%b%d:" % (len(encoded), encoded, len(data)))
        digest.update(data)
        names.append(name)
    return Content(digest=digest.hexdigest()[:32], names=tuple(names))


def check_definitions(root: Path, redact: Callable[[str], str]) -> None:
    """Looks whether an application that stays where it is could be sent: raises ConfigurationError for a key in a
    definition, as `content_of` does."""
    read = reader_below(root, MOST_BYTES)
    for name in _files(root):
        if name.endswith(_DEFINITIONS):
            with suppress(OSError):  # which is told when it is needed
                _check_definition(root / name, read(name), redact)


def unpack(data: bytes, folder: Path) -> None:
    """Unpacks an archive into a folder, which is there in whole or not at all. Raises OSError, and ValueError for what
    would lead out of it."""
    beside = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if name.startswith("/") or ".." in name.split("/"):
                raise ValueError(f"{name} leads outside the application")
        archive.extractall(beside)
    try:
        beside.rename(folder)
    except OSError:  # another has done it
        shutil.rmtree(beside, ignore_errors=True)
        if not folder.is_dir():
            raise


def _contents(root: Path, reports: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The files that are sent, by their paths from the root."""

    read, total = reader_below(root, MOST_BYTES), 0
    for name in _files(root):
        if name in reports or is_report(os.path.basename(name)):
            continue
        try:
            data = read(name)
        except PermissionError:  # a link out of the application, or one to a file with keys
            continue
        except OSError as error:
            raise ConfigurationError(f"Cannot send {root / name} to workers: {error.strerror}") from error
        total += len(data)
        if total > MOST_BYTES:
            raise ConfigurationError(
                f"Cannot send {root} to workers: it has more than {MOST_BYTES >> 30} GB",
                "Name the folder of the application with --app, and keep unrelated data out of it",
            )
        yield name, data


def travels(name: str) -> bool:
    """Whether a file travels, by its path below the root."""
    parts = tuple(name.split("/"))
    if not name.isascii() and os.fsencode(name) != name.encode("utf-8", "replace"):
        return False
    if any(part.startswith(".") or part in _LEFT_OUT for part in parts):
        return False
    return name.endswith(_DEFINITIONS) or not holds_secrets(parts)


def _files(root: Path) -> Iterator[str]:
    top = f"{root}/"

    def enters(folder: str, name: str) -> bool:
        if name.startswith(".") or name in _LEFT_OUT:
            return False
        if name == _PACKAGES and folder != str(root) and not f"{folder}/".removeprefix(top).startswith(_OF_SCRIPTS):
            return False
        return not os.path.exists(f"{folder}/{name}/pyvenv.cfg")

    met: set[str] = set()
    for place in (root, *(root / name for name in DEFINING)):  # a folder has more than one name if links lead to it
        for folder in walk(place, root=root, enters=enters, follows=place != root):
            names = (f"{folder.path}/{name}".removeprefix(top) for name in folder.files)
            new = [name for name in names if name not in met and travels(name) and os.path.isfile(root / name)]
            met.update(new)
            yield from new


def _check_definition(path: Path, data: bytes, redact: Callable[[str], str]) -> None:
    text = data.decode("utf-8", "replace")
    if redact(text) != text:
        raise ConfigurationError(
            f"Cannot send {path} to workers: it contains a key, and keys are never sent",
            'Replace it with "$ENV.NAME", and set NAME where the workers run',
        )
