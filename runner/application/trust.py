"""Approval of the files that decide where keys go: their digests are in a file that people review like code.

`yao-test.trust` has a line for each file, sorted by path: `<sha256>  <path>`, as `sha256sum` writes them.

| what is approved | where |
|---|---|
| connectors, MCP servers and their mappings | `connectors/`, `mcps/`, and `mcps/` of agents |
| what applies to all agents | `agent/`, `langs/`, `models/`, `app.yao`, `package.json`, `yao-test.toml` |
| how scripts are compiled | `package.json`, `tsconfig.json` and what it extends |
| agents: connector, prompts, replies, locales | below `assistants/`, except `tests/` |
| prompts of variants | those that `yao-test.toml` names |
| all scripts except tests (`*_test.ts`) | everywhere except in `node_modules/`, `data/`, `types/` |
| what these scripts import, also tests | everywhere except in `node_modules/` |
| the programs of MCP servers, what their arguments name, and what lies beside a program | everywhere, see `programs` |
| links to folders and files, and what they lead to in their place | everywhere except in `node_modules/`, `data/` |
| the variables of the application | `.env`: names, and values that are not secret, such as hosts; no keys |

The digest of a link is that of its target path; what it leads to in the application has a line of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path

from runner.application.application import Application
from runner.application.context import variables_of
from runner.application.documents import read_json
from runner.application.programs import program_files
from runner.errors import ConfigurationError
from runner.options.options import RunOptions
from runner.security.files import CODE, DEFINING, read_text, walk
from runner.security.keys import is_secret
from runner.security.secrets import Secrets
from scripttest import Compiled, GitError, Source, anywhere, compile_all, names_in, open_file, read_at
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.options.values import Variant

FILE = "yao-test.trust"
FOLDERS = (*DEFINING, "langs", "models")
"""Folders of which every file is trusted."""
_ENTERED = {"agent", "connectors", "mcps", "prompts", "locales", "langs", "assets"}
"""Folders that are read to their end, whatever the names of those in them."""
_TESTS = re.compile(r"_test\.[cm]?[jt]sx?\Z")
_SETTINGS = re.compile(r"app\.(?:yao|json|jsonc)|yao-test\.toml")
_COMPILED_BY = r"tsconfig.*\.json|jsconfig\.json"
_SETTINGS_OF_CODE = re.compile(rf"package\.json|{_COMPILED_BY}")
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


def digests_of(root: Path, variants: Iterable[Variant] = (), directory: Path | None = None) -> Digests:
    """The digests of the files as they are now; blocks. Raises ConfigurationError for one that cannot be read, and
    HostError when there is no compiler. `variants`: beside those in `yao-test.toml`; their prompts in the
    application count. `directory`: from which their paths count."""
    real = os.path.realpath(root)
    found: dict[str, str] = {}
    prompts = [*_prompts(root, root, _variants(root)), *_prompts(root, directory or root, variants)]
    trusted = [*_files(real), *_with_targets(prompts, real)]
    found_by = (_extended(trusted, real), _programs(root, trusted), _imported(root, trusted))
    for path in dict.fromkeys((*trusted, *(path for paths in found_by for path in paths))):
        name = os.path.relpath(path, real)
        if not name.isprintable():
            raise ConfigurationError(f"Cannot approve {name!r}: its name contains a control character", "Rename it")
        try:
            is_env = os.path.basename(path) == ".env"
            found[name] = _digest_of_settings(Path(path).parent) if is_env else _digest(path)
        except OSError as error:
            raise ConfigurationError(f"Cannot read {path}: {error.strerror}") from error
    if (root / ".env").exists():
        found[".env"] = _digest_of_settings(root)
    return found


def _digest(path: str) -> str:
    if os.path.islink(path):
        return sha256(b"link to " + os.fsencode(os.readlink(path))).hexdigest()
    with open(open_file(path, anywhere, None), "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _files(root: str) -> list[str]:
    """What is trusted wherever it lies, and links, by real paths. What links lead to is trusted as it would be in
    their place."""
    found: list[str] = []
    tops = [f"{root}/{name}" for name in FOLDERS]
    for top in [top for top in tops if _is_below(os.path.realpath(top), root)]:
        for folder in walk(top, root=root, enters=partial(_may_define, root)):
            found += (f"{folder.real}/{name}" for name in folder.links)
            found += (f"{folder.real}/{name}" for name in folder.files if _is_trusted(name, not folder.holds_cases))
    for folder in walk(root, root=root, enters=partial(_may_hold_code, root), follows=False):
        paths = [f"{folder.path}/{name}" for name in folder.links]
        found += (path for path in paths if path in tops or os.path.basename(path) not in folder.closed)
        names = [name for name in folder.files if _is_trusted(name, False) or _SETTINGS_OF_CODE.fullmatch(name)]
        names += [name for name in folder.files if folder.path == root and _SETTINGS.fullmatch(name)]
        found += (f"{folder.path}/{name}" for name in names)
    return list(dict.fromkeys(_with_targets(found, root)))


def _with_targets(paths: Iterable[str], root: str) -> Iterator[str]:
    """Files and links, and the files in the application to which links lead."""
    for path in paths:
        yield path
        if os.path.islink(path) and _is_below(target := os.path.realpath(path), root) and os.path.isfile(target):
            yield target


def _programs(root: Path, files: Iterable[str]) -> Iterator[str]:
    """The programs that MCP servers start."""
    named: Mapping[str, str] = variables_of(root, {}).named
    for path in files:
        if ".mcp." in os.path.basename(path) and os.path.isfile(path):
            try:
                definition = read_json(Path(path), "MCP server")
            except ConfigurationError:  # what cannot be read starts nothing
                continue
            yield from program_files(definition, root, named)


def _imported(root: Path, files: Iterable[str]) -> Iterator[str]:
    """What scripts import. A script that cannot be compiled does not run, and imports nothing."""
    sources = [Source(key=path, test=Path(path), script=None) for path in files if path.endswith(CODE)]
    results = compile_all(root, [source for source in sources if source.test.is_file()]).values()
    inputs = [os.path.normpath(f"{root}/{name}") for one in results if isinstance(one, Compiled) for name in one.inputs]
    real = os.path.realpath(root)
    for path in _with_targets(filter(os.path.isfile, dict.fromkeys(inputs)), real):
        if _is_below(path, real) and "node_modules" not in path.split("/"):
            yield path


def _variants(root: Path) -> list[Variant]:
    """The variants in the application's `yao-test.toml`."""
    if not (root / "yao-test.toml").is_file():
        return []
    from runner.application.configuration import read_configuration

    file = read_configuration(Application(root))
    tables = file.tables.values() if file is not None else ()
    return [variant for table in tables if "variant" in table for variant in table["variant"].value]


def _prompts(root: Path, directory: Path, variants: Iterable[Variant]) -> Iterator[str]:
    """The prompts of variants in the application: from a folder, and from those of agents."""
    names = [variant.prompts for variant in variants if variant.prompts]
    folders = [directory, *(agent.folder for agent in Application(root).agents())] if names else []
    paths = [os.path.realpath(folder / name) for folder in folders for name in names]
    yield from (path for path in paths if _is_below(path, os.path.realpath(root)) and os.path.isfile(path))


def _extended(files: Iterable[str], root: str) -> list[str]:
    """`tsconfig.json` and the like, and the files in the application that they name, which they may extend."""
    found = [path for path in files if re.fullmatch(_COMPILED_BY, os.path.basename(path)) and os.path.isfile(path)]
    for path in found:  # which grows
        try:
            names = list(names_in(path))
        except OSError:  # the compiler cannot read it either
            continue
        places = [os.path.normpath(os.path.join(os.path.dirname(path), name)) for name in names]
        for target in _with_targets((f"{place.removesuffix('.json')}.json" for place in places), root):
            if target not in found and _is_below(target, root) and os.path.isfile(target):
                found.append(target)
    return found


def _is_below(path: str, root: str) -> bool:
    return path.startswith(f"{root}/")


def _may_define(root: str, folder: str, name: str) -> bool:
    """Whether there may be definitions in a folder below `FOLDERS`: loaders enter all folders of some kinds."""
    if name in ("node_modules", ".git", "__snapshots__"):
        return bool(_ENTERED & {*folder[len(root) :].split("/")})
    return True


def _may_hold_code(root: str, folder: str, name: str) -> bool:
    """The same of all other folders, and of code."""
    if folder == root:
        return name not in ("data", "node_modules", "types", *FOLDERS) and not name.startswith(".")
    return name not in ("node_modules", ".git", "__snapshots__")


def _is_trusted(name: str, defines: bool) -> bool:
    """Whether a file decides where keys go; `defines`: in its folder, all files but tests do."""
    return not _TESTS.search(name) and (defines or name.endswith(CODE) or ".mcp." in name or ".conn." in name)


def _digest_of_settings(folder: Path) -> str:
    """The digest of the variables of the `.env` in a folder, without the values of secrets. Of one that is the address
    of a host, such as `AUTH_URL`, only what is secret in it is left out: keys may go there."""
    named = variables_of(folder, {}).named
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
    return sha256("".join(f"{name}={shown[name]}\n" for name in sorted(shown)).encode()).hexdigest()


def approvals_text(digests: Digests) -> str:
    """The text of a trust file. Python writes `__pycache__` anew, and what is in it may be anything, so it is never
    approved."""
    return _HEAD + "".join(f"{digests[path]}  {path}\n" for path in sorted(digests) if not _is_cache(path))


def _is_cache(path: str) -> bool:
    return "__pycache__" in path.split("/")


def read(text: str, where: str) -> Digests:
    """The digests in a trust file. Raises ConfigurationError with the place of a line that cannot be read."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None or match[2] in found:
            raise ConfigurationError(
                f"Cannot read {where}:{number}: each line must be a SHA-256, two spaces and a path, once per path",
                "Recreate it with yao-test trust, and review the changes",
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


def require(options: RunOptions, root: Path, directory: Path, variables: Mapping[str, str]) -> str:
    """Raises ConfigurationError if a file differs from its approval. Returns the digest of the commit with which the
    files were compared; empty for the file on disk. `options`: `trust_from` is the revision from which the trust
    file is taken, such as `origin/main`; None for the file on disk. `variants` are approved too. `directory`: the
    working directory. `variables`: the environment, for finding Git."""
    revision = options.trust_from
    where = FILE if revision is None else f"{FILE} of {revision}"
    text, commit = (_here(root), "") if revision is None else _of_revision(root, revision, variables)
    found = differences(read(text, where), digests_of(root, options.variants, directory))
    if found:
        compared = f"; compared with commit {commit}" if commit else ""
        has_cache = any(_is_cache(one.path) for one in found)
        more = ". Files in __pycache__ are never approved: delete them" if has_cache else ""
        new = [os.path.basename(one.path) for one in found if one.kind == "new"]
        if any(os.path.basename(variant.prompts) in new for variant in options.variants):
            more += ". Prompts of variants can be approved below assistants/, or in files named in yao-test.toml"
        raise ConfigurationError(
            f"Cannot run: not as approved in {where}: {', '.join(map(str, found))}{compared}",
            f"Review the changes, approve them with yao-test trust, and commit {FILE}{more}",
        )
    return commit


def _here(root: Path) -> str:
    try:
        return read_text(root / FILE)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigurationError(
            f"Cannot read {root / FILE}: {why}", "Review connectors and prompts, then create it with yao-test trust"
        ) from error


def _of_revision(root: Path, revision: str, variables: Mapping[str, str]) -> tuple[str, str]:
    """The trust file in another revision of the repository, and the digest of its commit. Runs Git; blocks."""
    if not _REVISION.fullmatch(revision) or ".." in revision:
        raise ConfigurationError(
            f'Cannot read --trust-from "{revision}": it must be a branch, a tag or a commit', "For example: origin/main"
        )
    try:
        content, commit = read_at(revision, f"{root}/{FILE}", variables)
        return content.decode(), commit
    except (GitError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"Cannot read {FILE} of {revision}: {error}",
            "The revision must exist (in CI, fetch it first) and contain the file, which yao-test trust writes",
        ) from error
