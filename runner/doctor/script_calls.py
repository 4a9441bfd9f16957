"""What the scripts of an agent ask of the outside, read off their code: processes, requests, agents, MCP servers,
connectors. Scripts that they call by a written name belong to them, and so do the processes of MCP tools. Queries
are read too, in objects of the query language and in SQL, for the tables that they name. And what its tests mock."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

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

PROCESS, HTTP, EXEC, AGENT, HANDLER, SERVER, TOOL, CONNECTOR, SCRIPT, TABLE, MADE, BROKEN = (
    "process", "http", "exec", "agent", "handler", "server", "tool", "connector", "script", "table", "made", "broken"
)  # fmt: skip
"""Kinds of what is asked; `handler`: an agent in `uses` of a package; `tool`: an MCP server and a tool of it; `table`:
of a query, whose name is that of the process and that of the table, or of the model with `$` before it; `made`: a
process whose name is made at run time; `broken`: a script that cannot be compiled, whose name is the reason."""
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
_CALLS_TOOL = r"(?:.*\.)?mcp\.CallTool"
_OF_PLAN = ((r"(?:.*\.)?Add", 2), (r"(?:.*\.)?Subscribe", 1))
"""Callee → which of its arguments names a process, in scripts that have a `Plan`."""
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
_METHOD = re.compile(r"(?!http\.)(?:.*\.)?(Get|First|Paginate|Run)")
_OPERANDS = ("select:", "groups:", "orders:", "field:", "key:", "foreign:")
_OF_MODEL = re.compile(r"\$(?!(?:ENV|CTX|SYS)\.)([A-Za-z_.]+)\.\w")
_NAME = r"[`\"\[]?(?!set\b)([A-Za-z_]\w*)\b(?![*.(])"
_IN_SQL = re.compile(
    rf"(?<!distinct )\b(?:from|join|into|update|(?:truncate|drop|alter)\s+table(?:\s+if\s+exists)?)\s+{_NAME}", re.I
)
_MADE_IN_SQL = re.compile(
    rf"\bcreate\s+(?:temp(?:orary)?\s+)?table\s+(?:if\s+not\s+exists\s+)?[`\"\[]?(\w+)|{_NAME}\s+as\s*\(", re.I
)
_NO_TABLE = re.compile(r"'(?:[^']|'')*'|--[^\n]*|\b(?:extract|trim|substring|overlay)\s*\([^()]*\)", re.I)
_MAKES = re.compile(r"schemas\.\w+\.table(?:create|save)", re.I)
_OWN = ("sqlite_", "dual")
"""How names of tables begin that the database has by itself."""


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
                if any(call.callee == "new Plan" for call in calls):
                    asked += [found for call in calls for found in _of_plan(call)]
                asked += _queried(calls)
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

    def tools(self, server: str) -> list[str] | None:
        """The tools that the file of an MCP server declares; None where only the server itself can tell."""
        definition = self._definition(server)
        tools = definition.get("tools") if definition else None
        is_here = bool(definition) and definition.get("transport", "process") == "process"
        return [*tools] if is_here and isinstance(tools, dict) else None

    def _definition(self, server: str) -> dict[str, Any]:
        """What the file of an MCP server says; nothing of one that has none, or whose file cannot be used."""
        file = self._servers.get(server)
        try:
            return (read_json(file.path, "MCP server") if file is not None else None) or {}
        except ConfigurationError:  # reported where the server is used
            return {}

    def _of_server(self, id: str, used: set[str]) -> list[ScriptCall]:
        """The processes of the tools of an MCP server; None of one that is not in this application."""
        file = self._servers.get(id)
        if file is None or id in used:
            return []
        used.add(id)
        definition = self._definition(id)
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


def _queried(calls: Sequence[WrittenCall]) -> Iterator[ScriptCall]:
    """The tables, and models, of the queries in the calls of a script and of what it imports, without those that it
    makes. The method of the process is `*` where it is not known."""
    engines = _engines(calls)
    every = {engine for known in engines.values() for engine in known}
    made = {name.lower() for call in calls for name in _made(call)}
    for call in calls:
        if ENGINE not in engines.get(call.file, every):
            continue
        method = _METHOD.fullmatch(call.within)
        for name in _named(call, is_query=method is not None):
            if name.lower() not in made and not name.lower().startswith(_OWN):
                process = f"query.{ENGINE}.{method[1] if method else '*'}"
                yield ScriptCall(kind=TABLE, name=f"{process} {name}", place=f"{call.file}:{call.line}")


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
    if re.fullmatch(_CALLS_TOOL, call.callee):
        yield from _tool(call.arguments[:2], place)
    if call.callee == "connector:" and call.beside <= _CALL_OPTIONS and "*" not in (call.arguments[0] or "*"):
        yield ScriptCall(kind=CONNECTOR, name=call.arguments[0] or "", place=place)
    for pattern, process in _FIXED:
        if match := re.fullmatch(pattern, call.callee):
            yield ScriptCall(kind=PROCESS, name=match.expand(process), place=place)
    if call.callee == "new Query" and call.arguments[:1] not in ((), (ENGINE,), (None,)):
        yield ScriptCall(kind=PROCESS, name=f"query.{call.arguments[0]}.Get", place=place)


def _tool(names: Sequence[str | None], place: str) -> Iterator[ScriptCall]:
    """A tool, by the id of its server and its name, where both are written out."""
    if len(names) == 2 and names[0] and names[1] and "*" not in names[0] + names[1]:
        yield ScriptCall(kind=TOOL, name=f"{names[0]} {names[1]}", place=place)


def _of_plan(call: WrittenCall) -> Iterator[ScriptCall]:
    """The process that a task of a plan calls, or what listens to it."""
    for pattern, number in _OF_PLAN:
        name = call.arguments[number] if number < len(call.arguments) else None
        if name and re.fullmatch(pattern, call.callee):
            yield _of_process(name, f"{call.file}:{call.line}")


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
        if lower == "mcp.calltool":
            yield from _tool((first, second), place)
    elif lower in ("llm.stream", "llm.chatcompletions") and first and "*" not in first:
        yield ScriptCall(kind=CONNECTOR, name=first, place=place)
    elif lower.startswith("http."):
        method = lower.removeprefix("http.")
        given, url = (first or "*", second) if method in ("send", "stream") else (method, first)
        yield ScriptCall(kind=HTTP, name=f"{given.upper()} {url or '*'}", place=place)


def _scripts(folder: Path, root: Path) -> list[Path]:
    found = files_below(folder / "src", root=root, enters=no_packages)
    return [Path(path) for path in found if path.endswith(SUFFIXES) and not is_test(path)]


def _engines(calls: Iterable[WrittenCall]) -> dict[str, set[str]]:
    """File → the engines that it asks."""
    found: dict[str, set[str]] = {}
    for call in calls:
        first = call.arguments[0] if call.arguments else None
        if call.callee == "new Query":
            found.setdefault(call.file, set()).add(first or ENGINE)
        elif first and call.callee in ("Process", "process:") and first.lower().startswith("query."):
            found.setdefault(call.file, set()).add(first.split(".")[1])
    return found


def _named(call: WrittenCall, *, is_query: bool) -> Iterator[str]:
    """The tables and models that a property names. `is_query`: it stands in an argument of a query."""
    text = (call.arguments[0] if call.arguments else None) or ""
    is_join = {"key", "foreign"} <= call.beside
    if call.callee == "from:" and (is_query or is_join or "select" in call.beside):
        source = re.fullmatch(r"\s*(\$[A-Za-z_.]+|\w+)(?:\s+(?:as\s+)?\w+)?\s*", text, re.I)
        if source and not (is_join and source[1].startswith("$")):
            yield source[1]
    elif call.callee in _OPERANDS:
        yield from (f"${model}" for model in _OF_MODEL.findall(text))
    elif call.callee == "stmt:":
        sql = _NO_TABLE.sub(" ", text)
        own = {name.lower() for name in _made(call)}
        yield from (name for name in _IN_SQL.findall(sql) if name.lower() not in own)


def _made(call: WrittenCall) -> Iterator[str]:
    """The tables that a call makes, and those that stand for a part of a statement."""
    first, second = (*call.arguments[:2], None, None)[:2]
    if call.callee == "stmt:":
        yield from (name for pair in _MADE_IN_SQL.findall(_NO_TABLE.sub(" ", first or "")) for name in pair if name)
    elif call.callee == "Process" and first and second and _MAKES.fullmatch(first):
        yield second
