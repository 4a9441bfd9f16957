"""What the scripts of an agent ask of the outside, read off their code: processes, requests, agents, MCP servers,
connectors. Scripts that they call by a written name belong to them, and so do the processes of MCP tools. And what its
tests mock."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from bindings import agent_id
from runner.agents.mcp.servers import server_files
from runner.application.application import Application
from runner.application.documents import read_json
from runner.errors import ConfigurationError, did_you_mean, sentences
from runner.security.files import (
    CASE_FILES,
    SUFFIXES,
    files_below,
    holds_tests,
    is_report,
    is_test,
    no_packages,
    read_text,
)
from scripttest import CompileError, WrittenCall, WrittenCalls
from scripttest.values import Value

PROCESS, HTTP, EXEC, AGENT, HANDLER, SERVER, CONNECTOR, SCRIPT, MADE, BROKEN = (
    "process", "http", "exec", "agent", "handler", "server", "connector", "script", "made", "broken"
)  # fmt: skip
"""Kinds of what is asked; `handler`: an agent in `uses` of a package; `made`: a process whose name is made at run time;
`broken`: a script that cannot be compiled, whose name is the reason."""
_ANYWHERE = "(?s:.*)"
_ARGUMENTS = (
    (r"(?:globalThis\.)?Process", _ANYWHERE, PROCESS, 0),
    (r"(?:.*\.)?time\.After", _ANYWHERE, PROCESS, 1),
    (r"new Job", _ANYWHERE, PROCESS, 0),
    (r"process:", r"(?!(?:.*\.)?(?:Process|(?:mcp|agent|llm)\.\w+|Send\w*)$)(?s:.*)", PROCESS, 0),
    (r"http\.(?:Get|Post|Put|Patch|Delete|Head)", _ANYWHERE, HTTP, 0),
    (r"http\.(?:Send|Stream)", _ANYWHERE, HTTP, 1),
    (r"(?:.*\.)?computer\.Exec", _ANYWHERE, EXEC, 0),
    (r"(?:.*\.)?agent\.Call", _ANYWHERE, AGENT, 0),
    (r"(?:.*\.)?llm\.Stream", _ANYWHERE, CONNECTOR, 0),
    (r"(?:.*\.)?mcp\.(?!All$|Any$|Race$)\w+", _ANYWHERE, SERVER, 0),
    (r"new MCP", _ANYWHERE, SERVER, 0),
    (r"(?:assistant_id|agent_id):", _ANYWHERE, AGENT, 0),
    (r"server_id:", _ANYWHERE, SERVER, 0),
    (r"agent:", r"(?:.*\.)?agent\.(?:All|Any|Race)", AGENT, 0),
    (r"mcp:", r"(?:.*\.)?mcp\.(?:All|Any|Race)", SERVER, 0),
    (r"connector:", r"(?:.*\.)?llm\.(?:All|Any|Race)", CONNECTOR, 0),
)
"""Callee, or property, and the call among whose arguments it stands → what its argument of that number names."""
_CALL_OPTIONS = frozenset(
    """
    connector mode messages audio temperature max_tokens max_completion_tokens mcp_servers prompt_preset delegate
    disable_global_prompts locale theme route metadata uses force_uses search skip assistant_id agent_id
    """.split()
)
"""Properties of what a Create hook returns, and of the options of calls."""
MOST_NAMED = 10
"""Functions of a script that are named."""
_FIXED = (
    (r"(?:.*\.)?search\.(Web|KB|DB)", r"search.\1"),
    (r"(?:.*\.)?llm\.GenerateImage", "llm.ImageGeneration"),
    (r"new WebSocket", "websocket.Push"),
)
"""Callee → the process that it calls."""
ENGINE = "default"
"""The engine that a test has."""


_SEARCH_MOCK = re.compile(r"\bsearch\"?\s*:\s*[\[{\n]")
"""`mocks.search` of a case, as JSON or YAML."""
_UNKNOWN = r"[^\s\"'`]*"
"""What may stand in a name for what is known only at run time."""
_PATTERN = re.compile(r"[\w.:/-]*\w[\w.:/-]*\*[\w.:/*-]*")


class ScriptCall(Value):
    """Something that is asked for."""

    kind: str
    name: str
    """With `*` for what is made at run time."""
    place: str


class Reader:
    """Reads what agents of an application ask."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._written = WrittenCalls(application.root)
        self._servers = server_files(application)

    def of_agent(self, folder: Path, servers: Iterable[str]) -> Iterator[ScriptCall]:
        """What the agent in a folder asks that lists MCP servers in its package, each as often as it does. Raises
        HostError when there is no compiler."""
        seen: set[Path] = set()
        used: set[str] = set()
        new = _scripts(folder, self._application.root)
        asked = [found for id in servers for found in self._of_server(id, used)]
        while new or asked:
            for found in asked:
                yield found
                if found.kind == SCRIPT and "*" not in found.name:
                    path = self._application.script(found.name.rpartition(".")[0])
                    new += [] if path is None else [path]
            seen.update(fresh := [path for path in dict.fromkeys(new) if path not in seen])
            new, asked = [], []
            for path, calls in self._written.of(fresh).items():
                if isinstance(calls, CompileError):
                    line = f":{calls.location.line}" if calls.location and calls.location.line else ""
                    asked.append(ScriptCall(kind=BROKEN, name=calls.message, place=self._shown(path) + line))
                    continue
                asked += [found for call in calls for found in _asked(call)]
            for found in list(asked):
                if found.kind == SERVER:
                    asked += self._of_server(found.name, used)

    def mocks(self, folder: Path) -> list[str]:
        """The patterns of the mocks that are written in the tests of an agent."""
        root = self._application.root
        paths = [path for top in ("src", "tests") for path in files_below(folder / top, root=root, enters=holds_tests)]
        tests = [Path(path) for path in paths if is_test(path)]
        found = []
        for calls in self._written.of(tests).values():
            for call in () if isinstance(calls, CompileError) else calls:
                is_mock = re.fullmatch(r"(?:.*\.)?mock\.(process|agent|http|exec)", call.callee)
                if is_mock and call.arguments and call.arguments[0]:
                    found.append(call.arguments[0])
        return found

    def lacking(self, process: str) -> str:
        """What is missing in the script of a process; empty if nothing is. Raises HostError if there is no compiler."""
        module, _, function = process.rpartition(".")
        path = self._application.script(module)
        if path is None:
            return f"There is no script of the process {process}"
        declared = self._written.declared(path)
        if declared is None or function in declared:
            return ""
        names = sorted(name for name in declared if name != "default" and not name.startswith("__"))
        has = did_you_mean(function, names) or (f"It has {', '.join(names[:MOST_NAMED])}" if names else None)
        return sentences(f"{self._shown(path)} has no function {function}", has)

    def _of_server(self, id: str, used: set[str]) -> list[ScriptCall]:
        """The processes of the tools of an MCP server; none of one that is not in this application."""
        file = self._servers.get(id)
        if file is None or id in used:
            return []
        used.add(id)
        try:
            definition = read_json(file.path, "MCP server") or {}
        except ConfigurationError:  # reported where the server is used
            return []
        parts = [definition.get(part) for part in ("tools", "resources", "prompts")]
        names = [name for part in parts if isinstance(part, dict) for name in part.values() if isinstance(name, str)]
        return [_of_process(name, self._shown(file.path)) for name in names]

    def _shown(self, path: Path) -> str:
        return path.relative_to(self._application.root).as_posix()


class WrittenMocks:
    """What the tests and cases of an agent name."""

    def __init__(self, folder: Path, root: Path, reader: Reader) -> None:
        self._folder = folder
        self._root = root
        self._reader = reader
        self._read: tuple[str, list[str]] | None = None

    def has(self, method: str, name: str) -> bool:
        """Whether a mock of this is written somewhere, or a test or case has the name."""
        if self._read is None:
            texts = [text_of(path) for path in self._files()]
            patterns = [pattern for text in texts for pattern in _PATTERN.findall(text)]
            self._read = "\n".join(texts), patterns + self._reader.mocks(self._folder)
        text, patterns = self._read
        if name.startswith("search.") and _SEARCH_MOCK.search(text):
            return True
        bare = name.partition(" ")[2] if method == "http" else name
        if bare.strip("*") and re.search(_UNKNOWN.join(map(re.escape, bare.split("*"))), text):
            return True
        return any(_fits(pattern, name) or _fits(pattern, bare) for pattern in patterns)

    def _files(self) -> Iterator[Path]:
        for place, endings in (("src", ()), ("tests", (*CASE_FILES, *SUFFIXES))):
            for path in files_below(self._folder / place, root=self._root, enters=holds_tests):
                if is_test(path) or (path.endswith(endings) and not is_report(os.path.basename(path))):
                    yield Path(path)


def text_of(path: Path) -> str:
    """What a file says; nothing when it is not to be read, which is said where it is used."""
    try:
        return read_text(path, "replace")
    except OSError:
        return ""


def _fits(pattern: str, name: str) -> bool:
    expression = ".*".join(map(re.escape, agent_id(pattern).split("*")))
    return re.fullmatch(expression, name.replace("*", "x"), re.IGNORECASE | re.DOTALL) is not None


def _asked(call: WrittenCall) -> Iterator[ScriptCall]:
    place = f"{call.file}:{call.line}"
    for callee, within, kind, number in _ARGUMENTS:
        if re.fullmatch(callee, call.callee) and re.fullmatch(within, call.within):
            name = call.arguments[number] if number < len(call.arguments) else None
            if kind == PROCESS:
                yield _of_process(name, place)
                yield from () if call.callee == "process:" else _of_arguments(name or "", call, place)
            elif kind == HTTP:
                given = call.callee.rpartition(".")[2].upper()
                method = given if number == 0 else call.arguments[0] or "*"
                yield ScriptCall(kind=HTTP, name=f"{method} {name or '*'}", place=place)
            elif kind == EXEC:
                yield ScriptCall(kind=EXEC, name=name or "*", place=place)
            elif name and "*" not in name:
                yield ScriptCall(kind=kind, name=name, place=place)
    if call.callee == "connector:" and call.beside <= _CALL_OPTIONS and "*" not in (call.arguments[0] or "*"):
        yield ScriptCall(kind=CONNECTOR, name=call.arguments[0] or "", place=place)
    for pattern, process in _FIXED:
        if match := re.fullmatch(pattern, call.callee):
            yield ScriptCall(kind=PROCESS, name=match.expand(process), place=place)
    if call.callee == "new Query" and call.arguments[:1] not in ((), (ENGINE,), (None,)):
        yield ScriptCall(kind=PROCESS, name=f"query.{call.arguments[0]}.Get", place=place)


def _of_process(name: str | None, place: str) -> ScriptCall:
    if not name or not re.match(r"[\w$]", name):
        return ScriptCall(kind=MADE, name="*", place=place)
    group, _, rest = name.partition(".")
    lower = group.lower()
    id, _, method = rest.rpartition(".")
    if lower in ("agents", "assistants", "ai") and method.lower() in ("stream", "call"):
        return ScriptCall(kind=AGENT, name=id, place=place)
    if lower in ("scripts", "services", "agents", "assistants", "ai"):
        return ScriptCall(kind=SCRIPT, name=name, place=place)
    return ScriptCall(kind=PROCESS, name=name, place=place)


def _of_arguments(name: str, call: WrittenCall, place: str) -> Iterator[ScriptCall]:
    """What the arguments of a process name, where the process says that they do."""
    lower = name.lower()
    first, second = [*call.arguments[1:3], None, None][:2]
    if lower.startswith("mcp.") and first and "*" not in first:
        yield ScriptCall(kind=SERVER, name=first, place=place)
    elif lower in ("llm.stream", "llm.chatcompletions") and first and "*" not in first:
        yield ScriptCall(kind=CONNECTOR, name=first, place=place)
    elif lower.startswith("http."):
        method = lower.removeprefix("http.")
        given, url = (first or "*", second) if method in ("send", "stream") else (method, first)
        yield ScriptCall(kind=HTTP, name=f"{given.upper()} {url or '*'}", place=place)


def _scripts(folder: Path, root: Path) -> list[Path]:
    found = files_below(folder / "src", root=root, enters=no_packages)
    return [Path(path) for path in found if path.endswith(SUFFIXES) and not is_test(path)]
