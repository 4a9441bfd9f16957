"""The digests of what tests and cases use. Each is made once in a run, on first use.

| part | digest of |
| --- | --- |
| `agent ID` | `package.yao` but for its connector |
| `asks ID` | not a digest, but the connector that an agent names |
| `prompts ID` | its prompts and presets, files that they include, the prompts of all agents, and its translations |
| `replies ID` | the replies of an agent with the scripted model |
| `runner ID` | its `runner.yml` |
| `model ID` | not a digest, but the kind of model host of a connector, and its model |
| `connector ID` | the rest of a connector's file, without its key |
| `server ID` | the definition of an MCP server, and the descriptions of its tools |
| `program ID` | the files of the program that an MCP server is |
| `script PATH` | a script and everything that it imports, compiled |
| `module PATH` | a test file, the script that it tests, and everything that they import, compiled |
| `handler ID` | the script of a test module or an agent that had none |
| `missing NAME` | the script or the agent for a call that nothing answered |
| `models all` | all models of the application and its agents |
| `fixture PATH` | a file of rows that a test inserts |
| `corpus PATH` | the files of the corpus of a fuzz test |
| `recording PATH` | the recorded answers of a case |
| `env NAME` | the value of an environment variable, with a key that only the report has |

Paths are relative to the application. The digest of something that does not exist is empty."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from runner.errors import ConfigurationError, shown_path
from runner.parts import Dependency
from runner.security.files import files_below, read_bytes, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import OwnDatabase, World
    from runner.agents.assistant import Assistants
    from runner.agents.mcp.servers import ServerFile
    from runner.application.application import Application
    from runner.connectors.load import Connectors
    from scripttest import Compiled, Source


SCRIPTS = ("script", "module")
"""Kinds of parts that are compiled."""
_KINDS = {
    *("agent", "asks", "prompts", "replies", "runner", "model", "connector", "server", "program"),
    *("handler", "missing", "models", "fixture", "corpus", "recording", "env"),
}
"""All others: each has a method of its name with an underscore."""
SIZE = 8
"""Bytes of a digest."""
_VARIABLE = re.compile(r"\$ENV\.(\w+)")
_NUMBERS = re.compile(r"(\$yaoHits\[|\$yaoM === |\$yao[RV]\()\d+")
"""The numbers of counters of `--coverage`, and of mutants: files get theirs in the order in which they are loaded."""
_OF_SECRETS = ("key",)
"""Options of a connector that do not count."""
_OF_SCRIPTS = ("scripts.", "services.", "agents.", "assistants.")
"""Beginnings of the names of processes that scripts and agents answer."""


def digest_of(value: Any) -> str:
    """A hash of a JSON value, whatever the order of its keys."""
    return digest_of_bytes(json.dumps(value, sort_keys=True, default=str).encode())


def digest_of_bytes(*content: bytes) -> str:
    """A hash of several pieces, which is another one when they are cut elsewhere."""
    digest = blake2b(digest_size=SIZE)
    for piece in content:
        digest.update(len(piece).to_bytes(8, "big"))
        digest.update(piece)
    return digest.hexdigest()


def without_numbers(code: str) -> str:
    """Compiled code without the numbers of counters and mutants."""
    return _NUMBERS.sub(r"\1", code)


class PartDigests:
    """The digests of the parts that the results of one run depend on."""

    def __init__(
        self, application: Application, variables: Mapping[str, str], key: str, recordings: Path | None
    ) -> None:
        """Reads nothing yet. `variables`: the environment, with the application's `.env`. `key`: the key for digests
        of variables. `recordings`: the folder of `--replay`."""
        self._application = application
        self.root = application.root
        self._variables = variables
        self.key = key
        """What values of variables are hashed with; reports keep it."""
        self._recordings = recordings
        self._known: dict[Dependency, str] = {}
        self._used: dict[Dependency, dict[Dependency, str]] = {}
        self.files: dict[Dependency, frozenset[str]] = {}
        """Script that was compiled, or attachments, which have their digest as a name → the absolute paths of all files
        that it was made of."""

    def of(self, part: Dependency) -> str:
        """The digest of a part; empty if it does not exist, or cannot be read, or is a script that was not compiled."""
        if part not in self._known:
            digest: Callable[[str], str] | None = getattr(self, f"_{part.kind}") if part.kind in _KINDS else None
            try:
                self._known[part] = digest(part.name) if digest is not None else ""
            except (ConfigurationError, OSError, AttributeError):
                self._known[part] = ""
        return self._known[part]

    def used_with(self, part: Dependency) -> Mapping[Dependency, str]:
        """The digests of a part, and of the parts that are used where it is: the connector of an agent, the environment
        variables that it names as `$ENV.NAME`, but for those of keys, and the program of an MCP server."""
        if part not in self._used:
            self._used[part] = {one: self.of(one) for one in (part, *self._along_with(part))}
        return self._used[part]

    def _along_with(self, part: Dependency) -> Iterable[Dependency]:
        kind, name = part.kind, part.name
        try:
            if kind == "agent":
                return [Dependency(kind="asks", name=name)]
            if kind == "connector":
                _, options = self._definition(name)
                return _variables_in(options)
            if kind == "server":
                program = [Dependency(kind="program", name=name)] if self._programs_of(name) else []
                return [*_variables_in(read_text(self._server_file(name).path)), *program]
            if kind == "prompts":
                return _variables_in([text.decode("utf-8", "replace") for text in self._prompt_texts(name)])
        except (AttributeError, ConfigurationError, OSError, UnicodeDecodeError):
            return ()
        return ()

    def take(self, compiled: Compiled) -> None:
        """Takes note of a script that was compiled."""
        from scripttest import without_comments

        texts = (without_numbers(without_comments(script.code)) for script in compiled.scripts)
        codes = (text.encode("utf-8", "replace") for text in texts)
        part = part_of(compiled.source, self.root)
        self._known[part] = digest_of_bytes(*codes)
        self._used.pop(part, None)
        root = str(self.root)
        self.files[part] = frozenset(os.path.normpath(f"{root}/{path}") for path in compiled.inputs)

    # one method for each kind of part

    def _agent(self, id: str) -> str:
        assistant = self._assistants.get(id)
        kept = ["name", "description", "type", "parameters", "servers", "loops", "turns", "uses"]
        kept += [] if assistant.sandbox is None else ["sandbox"]
        return digest_of([{field: getattr(assistant, field) for field in kept}, assistant.global_prompts])

    def _asks(self, id: str) -> str:
        connector: str = self._connectors.resolve(self._assistants.get(id).connector)
        return connector

    def _prompts(self, id: str) -> str:
        return digest_of_bytes(*self._prompt_texts(id))

    def _prompt_texts(self, id: str) -> Iterator[bytes]:
        assistants = self._assistants
        assistant = assistants.get(id)
        own = [assistant.prompts, assistants.global_prompts if assistant.global_prompts else ()]
        yield json.dumps(own, ensure_ascii=False, default=str).encode("utf-8", "replace")
        presets = assistant.folder / "prompts"
        folders = [presets, *([assistant.folder / "assets"] if presets.is_dir() else [])]
        if "{{" in assistant.name + assistant.description:
            folders += [assistant.folder / "locales", self._application.root / "agent" / "locales"]
        for folder in folders:
            yield from _content(folder, self.root)

    def _replies(self, id: str) -> str:
        folder = self._assistants.get(id).folder if id else self._application.root / "agent"
        return digest_of_bytes(read_bytes(folder / "replies.yml"))

    def _runner(self, id: str) -> str:
        return digest_of_bytes(read_bytes(self._assistants.get(id).folder / "runner.yml"))

    def _model(self, id: str) -> str:
        kind, _ = self._definition(id)
        return f"{kind} {self._connectors.model(id)}"

    def _connector(self, id: str) -> str:
        _, options = self._definition(id)
        return digest_of(options)

    def _definition(self, id: str) -> tuple[str, dict[str, Any]]:
        """The kind of a connector, and its other fields that count, as they are written."""
        from runner.application.documents import read_json

        path = self._connectors.find(id)
        if path is None:
            return id, {}
        content = read_json(path, "connector file")
        options = content.get("options")
        said = options.items() if isinstance(options, dict) else ()
        return str(content.get("type")), {name: value for name, value in said if name not in (*_OF_SECRETS, "model")}

    def _server(self, id: str) -> str:
        file = self._server_file(id)
        return digest_of_bytes(read_bytes(file.path), *_content(file.mapping, self.root))

    def _program(self, id: str) -> str:
        return digest_of_bytes(*(read_bytes(Path(path), None) for path in self._programs_of(id)))

    def _programs_of(self, id: str) -> list[str]:
        from runner.application.documents import read_json
        from runner.application.programs import program_files

        found = program_files(read_json(self._server_file(id).path, "MCP server"), self.root, self._variables)
        return [path for path in found if os.path.isfile(path) and "/__pycache__/" not in path]

    def _server_file(self, id: str) -> ServerFile:
        file = self._servers.get(id)
        if file is None:
            raise ConfigurationError(f"Cannot find MCP server {id}")
        return file

    def _handler(self, id: str) -> str:
        path = self._application.script(id)
        return "" if path is None else digest_of(shown_path(path, self.root))

    def _missing(self, name: str) -> str:
        group, _, id = name.partition(".")
        return self._handler(name.rpartition(".")[0]) or (self._agent(id) if group == "agents" else "")

    def _models(self, _: str) -> str:
        folders = [self._application.root, *(agent.folder for agent in self._application.agents())]
        return digest_of_bytes(*(piece for folder in folders for piece in _content(folder / "models", self.root)))

    def _fixture(self, path: str) -> str:
        return digest_of_bytes(read_bytes(self._application.root / path))

    def _corpus(self, path: str) -> str:
        return digest_of_bytes(*_content(self.root / path, self.root))

    def _recording(self, name: str) -> str:
        return "" if self._recordings is None else digest_of_bytes(read_bytes(self._recordings / name, None))

    def _env(self, name: str) -> str:
        value = self._variables.get(name)
        if value is None:
            return ""
        keyed = blake2b(value.encode("utf-8", "surrogateescape"), digest_size=SIZE, key=self.key.encode())
        return keyed.hexdigest()

    @cached_property
    def _assistants(self) -> Assistants:
        from runner.agents.assistant import Assistants

        return Assistants(self._application)

    @cached_property
    def _connectors(self) -> Connectors:
        from runner.connectors.load import Connectors

        return Connectors(self._application.root, self._variables)

    @cached_property
    def _servers(self) -> Mapping[str, ServerFile]:
        from runner.agents.mcp.servers import server_files

        return server_files(self._application)


def parts_of_world(world: World | None) -> list[Dependency]:
    """What a test has used of the application's models, which scripts and agents that are not there it has called, and
    which environment variables its scripts have read."""
    if world is None:
        return []
    from bindings import DATABASE

    names = [("missing", call.name) for call in world.ledger.missing if call.name.startswith(_OF_SCRIPTS)]
    names += [("env", name) for name in sorted(world.variables)]
    database: OwnDatabase | None = world.held(DATABASE)
    if database is not None and database.is_used:
        names = [("models", "all"), *(("fixture", file) for file in sorted(database.fixtures)), *names]
    return [Dependency(kind=kind, name=name) for kind, name in names]


def take_scripts(parts: Iterable[Dependency], root: Path, digests: PartDigests) -> None:
    """Compiles the scripts among parts, and has their digests known; blocks. One that is not there, or
    cannot be compiled, has the digest of nothing. Raises HostError when there is no compiler."""
    from runner.application.application import tested_by
    from scripttest import Compiled, Source, compile_all

    wanted = [(part, root / part.name) for part in parts if part.kind in SCRIPTS]
    sources = [
        Source(key=part.text, test=path, script=tested_by(path) if part.kind == "module" else None)
        for part, path in wanted
        if path.is_file()
    ]
    for result in compile_all(root, sources).values():
        if isinstance(result, Compiled):
            digests.take(result)


def part_of(source: Source, root: Path) -> Dependency:
    """A script as a part of results."""
    kind = "script" if source.script is None else "module"
    return Dependency(kind=kind, name=str(source.test).removeprefix(f"{root}/"))


def _variables_in(value: Any) -> Iterable[Dependency]:
    return [
        Dependency(kind="env", name=name) for name in sorted(set(_VARIABLE.findall(json.dumps(value, default=str))))
    ]


def _content(folder: Path, root: Path) -> Iterator[bytes]:
    for path in files_below(folder, root=root):
        if os.path.isfile(path):
            yield path[len(str(folder)) + 1 :].encode("utf-8", "surrogateescape")
            yield read_bytes(Path(path))
