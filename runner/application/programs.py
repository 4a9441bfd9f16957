"""The files of the programs that MCP servers over stdio are: what the words of a definition name in the application, or
in its repository.

| word | its files |
|---|---|
| the command, and an argument that is a program | all in its folder and below: a program loads what lies beside it |
| another file, but for a data base of SQLite | itself, and the programs in its folder and below |
| a folder | the programs in it and below; other words may name files in it |
| a pattern that a shell expands, such as `tools/*.mjs` | what it matches, each as if it were named |

Words are the command, the arguments and the values of `env`, also their parts, as in `--import=./hook.mjs`, and modules
as Python has them (`-m tools.server`). Left out are packages that are installed in the application (`node_modules`,
`.venv`), and files from elsewhere, which do not come with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from runner.application.application import repository_of
from runner.errors import ConfigurationError
from runner.security.files import CODE, DEFINING, is_at_or_below, is_test, walk
from scripttest import anywhere, open_file

_PARTS = re.compile(r"[\s\"'`=:;,()|&<>@\[\]{}]+")
_WORDS_OF_SHELL = re.compile(r"[\s\"'`;|&()<>]+")
_SHELL = re.compile(r"(?:ba|z|da|fi|k|c|tc)?sh")
_HAS_WILDCARD = re.compile(r"[*?\[]")
_ENDINGS = frozenset(
    (
        *CODE,
        *".py .pyc .pyd .pyw .pyz .pth .so .dll .dylib .node .wasm .sh .bash .zsh .fish .rb .pl .pm .php .lua".split(),
        *".tcl .r .jl .jar .class .exe .bat .cmd .ps1 .go .rs .java .kts .cs .swift .ex .exs .pkl .pickle .pt".split(),
    )
)
_SETTINGS = frozenset(
    (
        *"package.json pyproject.toml deno.json deno.jsonc bunfig.toml tsconfig.json cargo.toml go.mod pom.xml".split(),
        *"makefile gnumakefile justfile .justfile taskfile.yml taskfile.yaml rakefile gemfile procfile".split(),
        *"dockerfile containerfile compose.yml compose.yaml docker-compose.yml docker-compose.yaml".split(),
    )
)
_BEGINNINGS = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""Of scripts that name their interpreter, and of programs of Linux, Windows and macOS."""
_INTERPRETER = re.compile(r"(?:python|node|deno|bun|ruby|perl|php|lua|sh|bash|zsh|dash|rscript|tsx|uv|env)[\d.]*")
_RUNS_TASKS = re.compile(
    r"g?make|just|task|rake|bundle|npm|pnpm|yarn|bun|deno|uv|poetry|pdm|hatch|cargo|go|mvn|gradle|foreman"
    r"|(?:docker|podman)(?:-compose)?"
)
"""Programs that read from the working directory what they run."""
_IMPORTS_FROM_ROOT = re.compile(r"-[A-Za-z]*[ce]\Z|-[A-Za-z]*m|--module|-\Z|\./?\Z")
"""Words with which interpreters load modules from the working directory."""
_LEFT_OUT = ("", *CODE, ".json", ".node", ".py")
"""What the name of a module may leave out."""
_MOST_NAMES, _MOST_FOLDERS = 20_000, 20
"""Names in the words of a command, and folders among them in which files are looked for."""
_INSTALLED = ("node_modules", ".venv", "venv", ".git")


def program_files(definition: Any, root: Path, variables: Mapping[str, str]) -> list[str]:
    """The real paths of the files of a server's program, sorted; none for a server that is no program. `definition`:
    the value in the file of the server. `root`: the application, which is the working directory of the program.
    `variables`: what `$ENV.NAME` stands for."""
    if not isinstance(definition, dict) or not isinstance(definition.get("command"), str):
        return []
    said, env = definition.get("arguments") or definition.get("args"), definition.get("env")
    filled = [_filled(word, variables) for word in (definition["command"], *(said if isinstance(said, list) else ()))]
    words = [*filled, *(_filled(value, variables) for value in (env.values() if isinstance(env, dict) else ()))]
    places = _Places(root)
    named = places.named(name for word in words for name in _names(word))
    of_shell = [part for word in words for part in _WORDS_OF_SHELL.split(word)]
    if any(_SHELL.fullmatch(os.path.basename(part)) for part in of_shell):
        named += places.matching(part for part in of_shell if _HAS_WILDCARD.search(part))
    mains, found = places.mains(filled), set()
    for interpreter in [_interpreter(path) for path in mains]:
        mains += places.mains(interpreter) if interpreter else []
        named += places.named(name for word in interpreter for name in _names(word))
    for path in named:
        if os.path.isdir(path):
            found |= places.below(path, everything=False)
        elif os.path.isfile(path):
            folder, is_data = os.path.dirname(path), _beginning(path).startswith(b"SQLite format")
            found |= places.below(folder, everything=path in mains or is_program(path)) | (set() if is_data else {path})
    parts = [part for word in words[1:] for part in _PARTS.split(word)]
    started = [os.path.basename(filled[0]), *(parts if _INTERPRETER.fullmatch(os.path.basename(filled[0])) else ())]
    if any(map(_IMPORTS_FROM_ROOT.match, parts)) or any(map(_RUNS_TASKS.fullmatch, started)):
        found |= places.below(os.path.realpath(root), everything=False)
    return sorted(found)


def is_program(path: str) -> bool:
    """Whether a file is a program, or code that one may load, by its name or its first bytes."""
    name = os.path.basename(path)
    if os.path.splitext(name)[1].lower() in _ENDINGS or name.lower() in _SETTINGS:
        return True
    return _beginning(path).startswith(_BEGINNINGS)


class _Places:
    """Finds files by the words of one definition."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._top = os.path.realpath(repository_of(root))
        if not is_at_or_below(self._root, self._top):
            self._top = self._root
        self._folders = [self._root]
        """Folders that words may be relative to."""

    def named(self, names: Iterable[str]) -> list[str]:
        """The real paths of the files and folders that names are."""
        names = list(dict.fromkeys(names))
        if len(names) > _MOST_NAMES:
            raise ConfigurationError(f"Cannot use an MCP server of {self._root}: its command has too many words")
        folders = [path for name in names if (path := self._inside(self._root, name)) and os.path.isdir(path)]
        self._folders += list(dict.fromkeys(folders))[:_MOST_FOLDERS]
        found = (self._inside(folder, name) for folder in self._folders for name in names)
        return list(dict.fromkeys(path for path in found if path is not None))

    def matching(self, patterns: Iterable[str]) -> list[str]:
        """The real paths of the files and folders that a shell makes of patterns."""
        beside = [part.partition("/")[2] if part.startswith("$") else part for part in dict.fromkeys(patterns)]
        return [path for folder in self._folders for part in beside for path in self._matching(folder, part)]

    def _matching(self, folder: str, pattern: str) -> Iterator[str]:
        pattern = os.path.normpath(os.path.join(folder, pattern))
        fixed = _HAS_WILDCARD.split(pattern)[0].rpartition("/")[0]
        top, wanted = os.path.realpath(fixed), pattern[len(fixed) + 1 :].split("/")
        if not is_at_or_below(top, self._top):
            return

        def enters(above: str, name: str) -> bool:
            is_deep = above[len(top) :].count("/") >= len(wanted) and "**" not in wanted
            return not is_deep and self._enters(above, name)

        for one in walk(top, root=self._top, enters=enters):
            for path in (one.path, *(f"{one.path}/{name}" for name in one.files)):
                if _fits(path[len(top) + 1 :].split("/"), wanted) and (real := self._inside(one.path, path)):
                    yield real

    def mains(self, words: list[str]) -> list[str]:
        """The real path of the command, and of the file that an interpreter runs."""
        command, *arguments = words
        found = [self._inside(self._root, command)]
        if _INTERPRETER.fullmatch(os.path.basename(command).lower()):
            for before, word in zip(words, arguments, strict=False):
                path = next((path for folder in self._folders if (path := self._inside(folder, word))), None)
                if path is not None and os.path.isfile(path) and not before.startswith("--"):
                    found += [] if b"\0" in _beginning(path) else [path]
                    break
        return [path for path in found if path is not None]

    def below(self, folder: str, *, everything: bool) -> set[str]:
        """The real paths of the files in a folder and below: all, or only programs. Of the whole application, and of
        cases and snapshots in the folder, only programs count."""
        found = set()
        everything = everything and not is_at_or_below(self._root, folder)
        for one in walk(folder, root=self._top, enters=self._enters):
            is_free = one.holds_cases or "/__snapshots__" in one.path[len(folder) :]
            for name in one.files:
                if is_test(name) and one.real != folder:  # it does not run there
                    continue
                path = f"{one.real}/{name}"
                real = os.path.realpath(path)
                if (everything and not is_free) or is_program(real):
                    found |= {path} if os.path.islink(path) else set()
                    found |= {real} if is_at_or_below(real, self._top) and os.path.isfile(real) else set()
            found |= {f"{one.real}/{name}" for name in one.links if everything and not is_free}
        return found

    def _enters(self, folder: str, name: str) -> bool:
        if self._root.startswith(f"{folder.rstrip('/')}/"):  # a folder above the application
            return False
        return name not in _INSTALLED and not (folder == self._root and name in ("data", *DEFINING))

    def _inside(self, folder: str, name: str) -> str | None:
        """The real path of a file or folder that is there and comes with the application."""
        endings = _LEFT_OUT if name.startswith(("./", "../")) else ("",)
        there = next((path for end in endings if os.path.exists(path := os.path.join(folder, name + end))), None)
        path = os.path.realpath(there) if there is not None else self._root
        if not is_at_or_below(path, self._top) or is_at_or_below(self._root, path):
            return None
        return None if set(path[len(self._top) :].split("/")) & set(_INSTALLED) else path


def _filled(word: Any, variables: Mapping[str, str]) -> str:
    text = str(word)
    return variables.get(text[len("$ENV.") :], "") if text.startswith("$ENV.") else text


def _fits(parts: list[str], wanted: list[str]) -> bool:
    """Whether a path fits a pattern, part by part; `**` stands for any folders."""
    if "**" in wanted:
        return fnmatchcase("/".join(parts), "/".join(wanted).replace("**/", "*"))
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _names(word: str) -> Iterator[str]:
    """What may be a path in a word."""
    for part in (word, *_PARTS.split(word)):
        yield part
        if part.startswith("-"):
            yield part[2:]
        if part.startswith(("$", "/")):  # $PWD/tools/run, and ${PWD}/tools/run
            yield part.partition("/")[2]
        if re.fullmatch(r"\w+(\.\w+)*", part):  # a module of Python
            yield part.replace(".", "/")
            yield f"{part.replace('.', '/')}.py"


def _interpreter(path: str) -> list[str]:
    """The words of the line in which a script names its interpreter; none of other files."""
    line = _beginning(path).partition(b"\n")[0]
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []


def _beginning(path: str) -> bytes:
    """The first bytes of a file; none of what cannot be read, which is said where it is used."""
    try:
        with open(open_file(path, anywhere, None), "rb") as file:
            return file.read(1024)
    except OSError:
        return b""
