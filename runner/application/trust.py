"""Approval of the files that decide where keys go: their digests are in a file that people review like code.

`yao-test.trust` has a line for each file, sorted by path: `<sha256>  <path>`, as `sha256sum` writes them.

| what is approved | where |
|---|---|
| connectors, MCP servers and their mappings | `connectors/`, `mcps/`, and `mcps/` of agents |
| what applies to all agents | `agent/`, `app.yao`, `package.json`, `tsconfig.json`, `yao-test.toml` |
| agents: connector, prompts, replies | below `assistants/`, except `tests/` |
| all scripts except tests (`*_test.ts`) | everywhere except in `node_modules/`, `data/`, `types/` |
| what these scripts import, also tests, and the files that links lead to | everywhere except in `node_modules/` |
| the variables of the application | `.env`: names, and values that are not secret, such as hosts; no keys |

The digest of a link is that of its target path; what it leads to in the application has a line of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from runner.application.dotenv import variables_of
from runner.errors import ConfigurationError
from runner.security.files import read_bytes, read_text
from runner.security.secrets import Secrets, is_secret
from scripttest import Compiled, GitError, Source, compile_all, read_at
from scripttest.values import Value

FILE = "yao-test.trust"
FOLDERS = ("agent", "assistants", "connectors", "mcps", "scripts")
"""Folders of which every file is trusted."""
_CODE = re.compile(r"\.[cm]?[jt]sx?\Z")
_TESTS = re.compile(r"_test\.[cm]?[jt]sx?\Z")
_SETTINGS = re.compile(r"app\.(?:yao|json|jsonc)|package\.json|tsconfig.*\.json|yao-test\.toml")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://|(?:[\w-]+\.)+[a-z]{2,24}(?::\d+)?(?:/|\Z)|[\w.-]+:\d+(?:/|\Z)", re.IGNORECASE | re.ASCII
)
"""With a scheme, or the name of a host, with a port or a path."""
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_REVISION = re.compile(r"[A-Za-z0-9_][\w./@^~-]*", re.ASCII)
_HEAD = "# Files that decide where keys go, as they were approved. Written by yao-test trust; review each change.\n"

Digests = Mapping[str, str]
"""Path below the application → SHA-256, hexadecimal."""


class Difference(Value):
    """What is not as it was approved."""

    path: str
    kind: str
    """`changed`, `new` or `missing`."""

    def __str__(self) -> str:
        return f"{self.path} ({self.kind})"


def digests_of(root: Path) -> Digests:
    """The digests of the files as they are now; blocks. Raises ConfigurationError for one that cannot be read, and
    HostError when there is no compiler."""
    found: dict[str, str] = {}
    files = list(_files(root))
    for path in dict.fromkeys([*files, *_reached(root, files)]):
        name = path.relative_to(root).as_posix()
        if not name.isprintable():
            raise ConfigurationError(f"Cannot approve {name!r}: its name holds a control character", "Rename it")
        try:
            content = b"link to " + os.fsencode(os.readlink(path)) if path.is_symlink() else read_bytes(path)
        except OSError as error:
            raise ConfigurationError(f"Cannot read {path}: {error.strerror}") from error
        found[name] = sha256(content).hexdigest()
    if (root / ".env").exists():
        found[".env"] = sha256(_settings(root).encode()).hexdigest()
    return found


def _files(root: Path) -> Iterator[Path]:
    of_cases: list[Path] = []
    for parent, folders, files in os.walk(root):
        folder = Path(parent)
        below = folder.relative_to(root).parts
        folders[:] = [name for name in folders if not _is_left_out(below, name)]
        if "tests" in folders and (folder / "package.yao").is_file() and not _holds_agents(folder / "tests"):
            of_cases.append(folder / "tests")
        yield from (folder / name for name in folders if (folder / name).is_symlink())
        is_plain = not any(folder.is_relative_to(one) for one in of_cases)
        yield from (folder / name for name in files if _is_trusted(below, name, is_plain))


def _reached(root: Path, files: Iterable[Path]) -> Iterator[Path]:
    """What files lead to: what scripts import, and files that links are. A script that cannot be compiled does not run,
    and imports nothing."""
    present = [path for path in files if os.path.isfile(path)]
    sources = [Source(key=str(path), test=path, script=None) for path in present if _CODE.search(path.name)]
    results = [one.result for one in compile_all(root, sources)]
    imports = [root / name for result in results if isinstance(result, Compiled) for name in result.inputs]
    real_root = root.resolve()
    for path in [*present, *filter(os.path.isfile, imports)]:
        for reached in (path, root / os.path.relpath(path.resolve(), real_root)):
            if reached.is_relative_to(root) and ".." not in reached.parts and "node_modules" not in reached.parts:
                yield reached


def _is_left_out(below: tuple[str, ...], name: str) -> bool:
    """Whether nothing in a folder is trusted. What the command would find in spite of its name is."""
    if not below:
        return name in ("data", "node_modules", "types") or name.startswith(".")
    if below[0] in ("agent", "connectors", "mcps") or "mcps" in below:
        return False
    return name in (".git", "node_modules", "__snapshots__")


def _holds_agents(folder: Path) -> bool:
    return any(folder.rglob("package.yao"))


def _is_trusted(below: tuple[str, ...], name: str, is_plain: bool) -> bool:
    """Whether a file decides where keys go; `is_plain`: it is not in a folder of cases."""
    if _TESTS.search(name):
        return False
    if _CODE.search(name) or ".mcp." in name or ".conn." in name:
        return True
    return is_plain and below[0] in FOLDERS if below else bool(_SETTINGS.fullmatch(name))


def _settings(root: Path) -> str:
    """The variables of `.env`, without the values of secrets. Of one that is the address of a host, such as `AUTH_URL`,
    only what is secret in it is left out: keys may go there."""
    named = variables_of(root, {}).named
    secrets = Secrets()
    for value in named.values():
        secrets.add_variables({"ADDRESS": value})
    shown = {}
    for name, value in named.items():
        if not is_secret(name, named):
            shown[name] = value
        elif _ADDRESS.match(value):
            shown[name] = secrets.text(value)
        else:
            shown[name] = "***"
    return "".join(f"{name}={shown[name]}\n" for name in sorted(shown))


def written(digests: Digests) -> str:
    """The text of a trust file."""
    return _HEAD + "".join(f"{digests[path]}  {path}\n" for path in sorted(digests))


def read(text: str, where: str) -> Digests:
    """The digests in a trust file. Raises ConfigurationError with the place of a line that cannot be read."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None or match[2] in found:
            raise ConfigurationError(
                f"Cannot read {where}:{number}: a line must be a SHA-256, two blanks and a path, each path once",
                "Write it again with yao-test trust, and review what changes",
            )
        found[match[2]] = match[1]
    return found


def differences(approved: Digests, now: Digests) -> list[Difference]:
    """What is not as it was approved, by path."""
    found = []
    for path in sorted({*approved, *now}):
        if approved.get(path) != now.get(path):
            kind = "new" if path not in approved else "missing" if path not in now else "changed"
            found.append(Difference(path=path, kind=kind))
    return found


def require(root: Path, revision: str | None, variables: Mapping[str, str]) -> str:
    """Raises ConfigurationError if a file differs from its approval. Returns the digest of the commit with which the
    files were compared; empty for the file on disk.

    Args:
        root: the application.
        revision: revision from which the trust file is taken, such as `origin/main`; None for the file on disk.
        variables: the environment, for finding Git.
    """
    where = FILE if revision is None else f"{FILE} of {revision}"
    text, commit = (_here(root), "") if revision is None else _of_revision(root, revision, variables)
    found = differences(read(text, where), digests_of(root))
    if found:
        compared = f"; compared with commit {commit}" if commit else ""
        raise ConfigurationError(
            f"Cannot run: not as approved in {where}: {', '.join(map(str, found))}{compared}",
            f"Review what has changed; then approve it with yao-test trust, and commit {FILE}",
        )
    return commit


def _here(root: Path) -> str:
    try:
        return read_text(root / FILE)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigurationError(
            f"Cannot read {root / FILE}: {why}", "Review connectors and prompts, then write it with yao-test trust"
        ) from error


def _of_revision(root: Path, revision: str, variables: Mapping[str, str]) -> tuple[str, str]:
    """The trust file in another revision of the repository, and the digest of its commit. Runs Git; blocks."""
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise ConfigurationError(
            f'Cannot read --trust-from "{revision}": it must be a branch, a tag or a commit', "Such as origin/main"
        )
    try:
        content, commit = read_at(revision, f"{root}/{FILE}", variables)
        return content.decode(), commit
    except (GitError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"Cannot read {FILE} of {revision}: {error}",
            "The revision must be there (in CI, fetch it first) and hold the file, which yao-test trust writes",
        ) from error
