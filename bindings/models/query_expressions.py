"""Expressions of the query language: columns, functions, values, with their aliases."""

from __future__ import annotations

import re
from collections.abc import Callable

from bindings.errors import ProcessError
from bindings.models.tables import quoted
from scripttest.values import Value

_ALIAS = re.compile(r"(.*\S)\s+as\s+([\w$@.]+)\s*", re.IGNORECASE | re.DOTALL)
_TYPE_NOTE = re.compile(r"(?<!\s)\s*+\(\s*+[a-zA-Z]++(?:\s[\d,\s]++)?+\)\s*+$")
_AGGREGATE = re.compile(r"(?:AVG|COUNT|MAX|MIN|SUM)\s*\(.*\)", re.IGNORECASE | re.DOTALL)
_FUNCTION = re.compile(r":(\w+)\s*\((.*)\)", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_BINDING = re.compile(r"\?:([\w.]+)")
_COLUMN = re.compile(
    r"(?:(?P<owner>\$?[\w.]*\w)\.)?(?P<name>\*|[\w]+)(?P<mark>[$@*])?(?P<path>(?:\.\w+|\[\d+\])+)?", re.DOTALL
)
_LONGEST = 2000
"""Characters of a column, with its owner and its path."""
_MODEL = re.compile(r"[a-zA-Z_.]+")

TableOf = Callable[[str], str]
"""Model id → its table; raises ProcessError."""


class Expression(Value):
    """An expression as SQL."""

    sql: str
    key: str
    """The key of its value in a row; empty: the database names it."""
    parsed: bool = False
    """Whether its value is JSON that is parsed."""
    bindings: tuple[str, ...] = ()
    """Names of values for the question marks, in order."""


def wrong(message: str, code: int = 400) -> ProcessError:
    """An error of the query language: here the head of exceptions stays in the message."""
    return ProcessError(f"Query: Exception|{code}: {message}", code)


def table_name(model: str, table_of: TableOf) -> str:
    """The table of `$model`. Raises ProcessError."""
    if not _MODEL.fullmatch(model):
        raise wrong(f"the name of the model {model} may have letters and dots only")
    return table_of(model)


def expression(text: str, table_of: TableOf) -> Expression:
    """Reads one expression. Raises ProcessError."""
    text = text.strip()
    alias = ""
    found = _ALIAS.fullmatch(text)
    if found:
        text, alias = found[1], found[2]
    if not text.startswith(":"):
        text = _TYPE_NOTE.sub("", text)
    inner = _plain(text, table_of)
    key = alias or inner.key
    return inner.replace(sql=f"{inner.sql} AS {quoted(key)}" if key else inner.sql, key=key)


def operand(text: str, table_of: TableOf) -> Expression:
    """The same without an alias, for conditions, groups and orders. An aggregate needs no colon here, because the key
    of a condition has one: `{":COUNT(id)": "", ">": 1}`."""
    text = text.strip()
    if _AGGREGATE.fullmatch(text):
        text = f":{text}"
    return _plain(text if text.startswith(":") else _TYPE_NOTE.sub("", text), table_of)


def _plain(text: str, table_of: TableOf) -> Expression:
    function = _FUNCTION.fullmatch(text)
    if function:
        args = [_plain(part.strip(), table_of) for part in split(function[2])] if function[2].strip() else []
        return Expression(
            sql=f"{function[1].upper()}({', '.join(arg.sql for arg in args)})",
            key="",
            bindings=tuple(name for arg in args for name in arg.bindings),
        )
    if _NUMBER.fullmatch(text) or _TEXT.fullmatch(text):
        return Expression(sql=text, key="")
    binding = _BINDING.fullmatch(text)
    if binding:
        return Expression(sql="?", key="", bindings=(binding[1],))
    column = _COLUMN.fullmatch(text) if len(text) <= _LONGEST else None
    if not column:
        raise wrong(f"the expression {text} cannot be read")
    return _column(column, table_of)


def _column(found: re.Match[str], table_of: TableOf) -> Expression:
    owner, name, mark, path = found["owner"], found["name"], found["mark"], found["path"]
    table = ""
    if owner:
        table = table_name(owner[1:], table_of) if owner.startswith("$") else owner
        table = f"{quoted(table)}."
    if name == "*":
        return Expression(sql=f"{table}*", key="")
    sql = f"{table}{quoted(name)}"
    if mark == "*":
        sql = f"AES_DECRYPT({sql})"
    if path:
        return Expression(sql=f"JSON_EXTRACT({sql}, '${path}')", key=name)
    return Expression(sql=sql, key=name, parsed=mark in ("$", "@"))


def split(text: str) -> list[str]:
    """Splits a list at commas that are outside brackets and quotes."""
    parts, depth, start, quote = [], 0, 0, False
    for at, letter in enumerate(text):
        if letter == "'":
            quote = not quote
        elif quote:
            continue
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
