"""Entries of a case file that stand for several cases: entries with `vars`, a table of inputs, or with several personas
or goals of a simulated user.

| field | cases |
| --- | --- |
| `vars: [{...}, {...}]` | one for each row |
| `vars: {a: [1, 2], b: [3, 4]}` | one for each combination; a value that is not a list is the same in all |
| `simulator.persona`, `simulator.goal`: lists | one for each combination |

In all texts of the entry, `{{ name }}` is replaced by the variable, and `{{ name.field }}` by a part of it. A text that
is nothing else becomes the value itself. The id of a case is the id of the entry with its values, `trip[Oslo,2]`,
unless the id itself has variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from runner.application.documents import JsonPath
from runner.errors import did_you_mean
from runner.shapes.shape import misfit

VARS, SIMULATOR = "vars", "simulator"
LISTED = ("persona", "goal")
"""Fields of a simulator that may be lists."""
MOST = 10_000
"""Cases of one entry."""
_TOO_MANY = f"this makes more than {MOST} cases"
LABEL = 30
"""Characters of a value in an id."""
_VARIABLE = re.compile(r"\{\{\s*([\w-]+(?:\.[\w-]+)*)\s*\}\}")


def text_of(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def is_table(entry: Mapping[str, Any]) -> bool:
    """Whether an entry stands for several cases."""
    return entry.get(VARS) is not None or bool(_lists(entry))


def cases_of(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The entries of its cases, in the order of the table. Raises Misfit."""
    rest = {key: value for key, value in entry.items() if key != VARS}
    rows = _rows(entry[VARS]) if entry.get(VARS) is not None else [{}]
    lists = _lists(entry)
    if len(rows) * prod(map(len, lists.values())) > MOST:
        raise misfit(_TOO_MANY, VARS if VARS in entry else SIMULATOR)
    varying = [name for name in rows[0] if any(row[name] != rows[0][name] for row in rows)]
    labels = _labels([[row[name] for name in varying] for row in rows])
    names = [_labels([[item] for item in items]) for items in lists.values()]
    for row, label in zip(rows, labels, strict=True):
        filled = _filled(rest, row, ()) if entry.get(VARS) is not None else rest
        for chosen in product(*[range(len(items)) for items in lists.values()]):
            case = dict(filled)
            given = [label] if len(rows) > 1 and filled.get("id") == rest.get("id") else []
            if lists:
                simulator = dict(filled[SIMULATOR])
                for field, at, of_field in zip(lists, chosen, names, strict=True):
                    simulator[field] = simulator[field][at]
                    given += [of_field[at]] if len(of_field) > 1 else []
                case[SIMULATOR] = simulator
            if given and isinstance(case.get("id"), str):
                case["id"] = f"{case['id']}[{','.join(given)}]"
            yield case


def _lists(entry: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The fields of the simulator that are lists."""
    simulator = entry.get(SIMULATOR)
    if not isinstance(simulator, Mapping):
        return {}
    return {name: simulator[name] for name in LISTED if isinstance(simulator.get(name), list) and simulator[name]}


def _rows(table: Any) -> list[dict[str, Any]]:
    if isinstance(table, list):
        for at, row in enumerate(table):
            if not isinstance(row, dict):
                raise misfit('row {number} of "vars" must be an object', VARS, at, number=at + 1)
            if row.keys() != table[0].keys():
                odd = sorted(row.keys() ^ table[0].keys())[0]
                text = 'row {number} of "vars" has different variables from the first: "{odd}"'
                raise misfit(text, VARS, at, number=at + 1, odd=odd)
        if table:
            return table
    if not isinstance(table, dict) or not table:
        hint = 'Use a list of rows, such as [{"city": "Oslo"}, {"city": "Bergen"}], or an object of lists'
        raise misfit('"vars" must be a list of objects, or an object', VARS, hint=hint)
    lists = {name: value if isinstance(value, list) else [value] for name, value in table.items()}
    empty = next((name for name, values in lists.items() if not values), None)
    if empty is not None:
        raise misfit('"{name}" in "vars" has no values', VARS, empty)
    if prod(map(len, lists.values())) > MOST:
        raise misfit(_TOO_MANY, VARS)
    return [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]


def _labels(rows: Sequence[Sequence[Any]]) -> list[str]:
    """The texts that identify rows in ids: their values, or their numbers if the values are long or not unique."""
    made = [",".join(_label(value) for value in row) for row in rows]
    is_good = all(made) and len({*made}) == len(made)
    return made if is_good else [str(number) for number in range(1, len(rows) + 1)]


def _label(value: Any) -> str:
    text = " ".join(text_of(value).split())
    return text if len(text) <= LABEL and not isinstance(value, dict | list) else ""


def _filled(value: Any, row: Mapping[str, Any], path: JsonPath) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, row, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, row, (*path, at)) for at, item in enumerate(value)]
    if not isinstance(value, str) or "{{" not in value:
        return value
    whole = _VARIABLE.fullmatch(value.strip())
    if whole:
        return _look(whole[1], row, path)
    return _VARIABLE.sub(lambda found: text_of(_look(found[1], row, path)), value)


def _look(name: str, row: Mapping[str, Any], path: JsonPath) -> Any:
    found: Any = row
    for part in name.split("."):
        if not isinstance(found, Mapping) or part not in found:
            known = list(found) if isinstance(found, Mapping) else []
            hint = did_you_mean(part, known) or (f"Its variables are {', '.join(known)}" if known else None)
            raise misfit('there is no variable "{variable}" in "vars"', *path, hint=hint, variable=name)
        found = found[part]
    return found
