"""The tables that queries of scripts name: in objects of the query language, and in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from scripttest import WrittenCall
from scripttest.values import Value

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


class Queried(Value):
    """A table, or a model, of which a query asks."""

    name: str
    """Of the table; of the model, with `$` before it."""
    process: str
    """That answers the query; with `*` where its method is not known."""
    place: str


def queried(calls: Iterable[WrittenCall]) -> Iterator[Queried]:
    """The tables of the queries in the calls of a script and of what it imports, without those that it makes."""
    calls = list(calls)
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
                yield Queried(name=name, process=process, place=f"{call.file}:{call.line}")


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
