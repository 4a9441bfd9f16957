"""How often SQLite writes out the views of scripts and the tables of `WITH` in a statement: once for each time that
they are named, also by each other, before it looks at any clock."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

MOST = 20_000
"""Times that a statement of a script may have."""
_NAME = r"(?<![\w$])[\w$]++|\"[^\"]*+\"|\[[^\]]*+\]|`[^`]*+`"
_WORD = re.compile(_NAME)
_DEFINITION = re.compile(rf"({_NAME})\s*+(?:\([^()]*+\)\s*+)?as\s*+(?:(?:not\s++)?materialized\s*+)?\(", re.IGNORECASE)
_OWN = ""
"""Stands for what is written out for the tables of a view itself."""

Words = Counter[str]
"""What a definition names, in lower case → how often."""


def words(sql: str, own: int = 0) -> Words:
    """What the definition of a view names, which by itself has so many expansions."""
    return Counter({**Counter(map(_plain, _WORD.findall(sql))), _OWN: own})


def expansions(sql: str, views: Mapping[str, Words]) -> int:
    """How often a statement names views, by their names in lower case, and tables of its own, about; above `MOST` the
    number is not exact."""
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
        return MOST + 1
    counts = {_OWN: 1}

    def count(body: Words) -> int:
        total = 1
        for word, times in body.items():
            if word in bodies and word not in counts:
                counts[word] = 1  # while it is counted: a recursive table names itself
                counts[word] = count(bodies[word])
            total += times * counts.get(word, 0)
        return min(total, MOST + 1)

    return count(main) + sum(count(words(match[0])) for match in defined)


def _plain(name: str) -> str:
    return name.strip('"[]`').lower()
