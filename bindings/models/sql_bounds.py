"""Bounds for statements of scripts in SQLite, which looks at no clock while it prepares one, or inside a function.

It writes out the views of scripts and the tables of `WITH` once for each time that they are named, also by each other.
Functions whose work or answer is not in proportion to what they are given are replaced by bounded ones, which give what
those of SQLite give; above the bounds they raise OverflowError, of which SQLite makes `string or blob too big`."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from scripttest.typing_names import Json

MOST_EXPANSIONS = 20_000
"""Times that a statement of a script may have."""
_NAME = r"(?<![\w$])[\w$]++|\"[^\"]*+\"|\[[^\]]*+\]|`[^`]*+`"
_WORD = re.compile(_NAME)
_DEFINITION = re.compile(rf"({_NAME})\s*+(?:\([^()]*+\)\s*+)?as\s*+(?:(?:not\s++)?materialized\s*+)?\(", re.IGNORECASE)
_OWN = ""
"""Stands for what is written out for the tables of a view itself."""

Words = Counter[str]
"""What a definition names, in lower case → how often."""
MOST = 1_000_000_000
"""Characters of one text times those of the other."""
WIDEST = 4_000_000
"""Characters of all widths and precisions of a format."""
_WIDTH = re.compile(r"%[-+ 0#,!]*+([0-9]*+)\.?+[-+]?+([0-9]*+)")
_INTEGER = re.compile(r"\s*+[-+]?+([0-9]++)")
Evaluate = Callable[..., Json]
"""Name and arguments of a function → what SQLite answers."""


def words(sql: str, own: int = 0) -> Words:
    """What the definition of a view names, which by itself has so many expansions."""
    return Counter({**Counter(map(_plain, _WORD.findall(sql))), _OWN: own})


def expansions(sql: str, views: Mapping[str, Words]) -> int:
    """How often a statement names views, by their names in lower case, and tables of its own, about; above
    `MOST_EXPANSIONS` the number is not exact."""
    defined = list(_DEFINITION.finditer(sql))
    if not defined and not views:
        return 0
    ends = [*(match.start() for match in defined[1:]), len(sql)]
    main = words(sql[: defined[0].start()] if defined else sql)
    bodies = dict(views)
    for match, end in zip(defined, ends, strict=False):
        name = _plain(match[1])
        bodies[name] = bodies.get(name, Counter()) + words(sql[match.end() : end])
    if len(bodies) > 400:
        return MOST_EXPANSIONS + 1
    counts = {_OWN: 1}

    def count(body: Words) -> int:
        total = 1
        for word, times in body.items():
            if word in bodies and word not in counts:
                counts[word] = 1  # while it is counted: a recursive table names itself
                counts[word] = count(bodies[word])
            total += times * counts.get(word, 0)
        return min(total, MOST_EXPANSIONS + 1)

    return count(main) + sum(count(words(match[0])) for match in defined)


def _plain(name: str) -> str:
    return name.strip('"[]`').lower()


def bound(connection: sqlite3.Connection, evaluate: Evaluate) -> None:
    """Puts the functions in place of those of SQLite; `evaluate` asks another connection."""

    def function(name: str, arguments: int, work: Callable[..., Json]) -> None:
        connection.create_function(name, arguments, work, deterministic=True)

    for name in ("printf", "format"):
        function(name, -1, partial(_formatted, evaluate, name))
    of_two = {"replace": 3, "instr": 2, "trim": 2, "ltrim": 2, "rtrim": 2, "json_patch": 2, "unhex": 2}
    if sqlite3.sqlite_version_info < (3, 41):
        del of_two["unhex"]
    for name, arguments in of_two.items():
        function(name, arguments, partial(_of_two, evaluate, name))


def _of_two(evaluate: Evaluate, name: str, *given: Json) -> Json:
    if _size(given[0]) * _size(given[1]) > MOST:
        raise OverflowError
    return evaluate(name, *given)


def _formatted(evaluate: Evaluate, name: str, *given: Json) -> Json:
    form = str(given[0]) if given else ""
    numbers = [int(number) for pair in _WIDTH.findall(form) for number in pair if _is_narrow(number)]
    if "*" in form:
        numbers += [form.count("*") * _width(value) for value in given[1:]]
    if sum(numbers) > WIDEST:
        raise OverflowError
    return evaluate(name, *given)


def _is_narrow(number: str) -> bool:
    if len(number.lstrip("0")) > len(str(WIDEST)):
        raise OverflowError
    return bool(number)


def _width(value: Json) -> int:
    """What SQLite takes a value for where a format has `*`, or more."""
    if isinstance(value, str | bytes):
        found = _INTEGER.match(value if isinstance(value, str) else value.decode("latin-1"))
        return int(found[1]) if found and _is_narrow(found[1]) else 0
    return abs(int(max(-1e18, min(1e18, value)))) if isinstance(value, int | float) else 0


def _size(value: Json) -> int:
    return len(value) if isinstance(value, str | bytes) else 30
