"""The object around the cases of a file: it has the list as `tests` or `cases`, and also `name`, `description` and
`defaults`, which are fields for cases that do not have them.

Defaults count as if each case had them. A field of a case has priority; in `metadata`, `options` and `mocks` this holds
for each key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from runner.application.json_parts import Part, parts_of
from runner.application.positions import Position
from runner.cases.entries import Entry, without_noise
from runner.cases.problems import Problem, Problems
from runner.errors import did_you_mean
from runner.shapes.fields import FREE
from runner.shapes.plain_fit import json_of

LISTS = ("tests", "cases")
DEFAULTS = "defaults"
_TEXTS = ("name", "description")
_INSTEAD = (("input", "messages"), ("assert", "assertions"))
"""Fields of which a case has one: its own keeps the other's default away."""
_BY_KEY = {"metadata": 1, "options": 2, "mocks": 2}
"""Fields of which each key has a default of its own → how deep."""


def list_of(keys: Mapping[str, Any]) -> str | None:
    """The key of the list, when an object is one around cases."""
    return next((name for name in LISTS if name in keys), None)


def check_beside(key: str, is_text: bool, place: Position, listed: str, problems: Problems) -> None:
    """Adds what is wrong with a field beside the list; `is_text` tells of its value, if that is not null."""
    if key in _TEXTS and not is_text:
        problems.add(Problem(position=place, text=f'"{key}" must be a string'))
    elif key not in (*_TEXTS, DEFAULTS) and not key.startswith(FREE):
        known = (*_TEXTS, DEFAULTS, listed)
        hint = did_you_mean(key, known) or f'Beside "{listed}" may stand {", ".join(known[:-1])}, and x- fields'
        problems.add(Problem(position=place, text=f'unknown field "{key}"', hint=hint))


def entries_in(listing: Entry, value: dict[str, Any], problems: Problems) -> Iterator[Entry]:
    """The cases of a JSON object with a list of them, with their defaults."""
    text = without_noise(listing.text)
    parts = {part.path: part for part in parts_of(text) if len(part.path) in (1, 2)}
    listed = list_of(value)
    assert listed is not None
    for key, inner in value.items():
        if key != listed:
            check_beside(key, inner is None or isinstance(inner, str), listing.at(parts[key,].start), listed, problems)
    defaults = _slice(listing, text, parts[DEFAULTS,]) if value.get(DEFAULTS) is not None else None
    if defaults is not None and not is_usable(defaults, problems):
        defaults = None
    cases = value[listed]
    whole = [cases] if isinstance(cases, dict) else cases if isinstance(cases, list) else []
    if cases is not None and not isinstance(cases, list | dict):
        place = listing.at(parts[listed,].value)
        problems.add(Problem(position=place, text=f'"{listed}" must be a list of cases'))
    for index, case in enumerate(whole):
        part = parts[listed,] if case is cases else parts[listed, index]
        entry = _slice(listing, text, part)
        if isinstance(case, dict):
            yield with_defaults(entry, defaults)
        else:
            said = f"`{entry.text[:40]}` is not a case: a JSON object was expected"
            problems.add(Problem(position=entry.start, text=said))


def is_usable(defaults: Entry, problems: Problems) -> bool:
    """Whether defaults are an object; adds what is wrong with them to the problems."""
    if not isinstance(value := json_of(defaults.text), dict):
        hint = 'They are fields of cases, such as {"timeout": "30s"}'
        problems.add(Problem(position=defaults.start, text='"defaults" must be an object', hint=hint))
        return False
    if "id" in value:
        text = 'defaults: "id" names one case, and has no default'
        problems.add(Problem(position=defaults.place(("id",)), text=text))
    return True


def with_defaults(entry: Entry, defaults: Entry | None) -> Entry:
    """An entry whose missing fields are those of the defaults."""
    if defaults is None:
        return entry
    own, others = json_of(without_noise(entry.text)), json_of(without_noise(defaults.text))
    given = {name for name, value in own.items() if value is not None}
    given |= {name for names in _INSTEAD if not given.isdisjoint(names) for name in names}
    merged = dict(own)
    for name, value in others.items():
        if name in _BY_KEY and name in own:
            merged[name] = _joined(value, own[name], _BY_KEY[name])
        elif name not in given and value is not None and name != "id":
            merged[name] = value
    return Entry(
        line=entry.line, column=entry.column, text=json.dumps(merged, ensure_ascii=False), sources=(entry, defaults)
    )


def _joined(default: Any, own: Any, depth: int) -> Any:
    if own is None:
        return default
    if not depth or not isinstance(default, dict) or not isinstance(own, dict):
        return own
    joined = {**default, **own}
    return joined | {key: _joined(default[key], own[key], depth - 1) for key in own if key in default}


def _slice(around: Entry, text: str, part: Part) -> Entry:
    begin = around.at(part.value)
    return Entry(line=begin.line, column=begin.column, text=text[part.value : part.end])
