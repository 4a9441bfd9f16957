"""The story of a failed test: the lines that ran, in the order of time, with the values at each, as they were then.

A line is a JSON object, whose `kind` is the most important thing that happened in it, and the key that has it:

| key | is |
| --- | --- |
| `file`, `line` | the place |
| `depth` | how many calls are around it |
| `name` | the function that it is in; empty at the top of a module |
| `turn`, `turns` | which turn of a loop, or which call by the same statement, begins here, and how many there were |
| `calls` | the call of a function of the application: `Discount(100)` |
| `read` | name → value |
| `value` | the value of a condition |
| `assigned`, `changed` | name → value: after an assignment; of an object that a call has changed |
| `returned`, `threw`, `caught` | the value |
| `text` | all of it for people |

A value is JSON, or what a debugger shows: `Promise {<pending>}`, `undefined`, `Date(2025-02-03T00:00:00.000Z)`.
Lines of the kinds `flaky`, `cut` and `note` only say something, in `text`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase

from runner.security.keys import SECRET_NAMES
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest import Site, ToldLine

MOST_LINES = 200
"""Lines of a story."""
MOST_BYTES = 16_000
"""Bytes of the texts of a story."""
KINDS = ("calls", "threw", "caught", "returned", "changed", "assigned", "value", "turn", "read")
"""What happens in a line, the most important first."""
_WORDS = {
    "calls": "{1}",
    "value": "{0} is {1}",
    "assigned": "{0} = {1}",
    "changed": "{0} becomes {1}",
    "returned": "returns {1}",
    "threw": "throws {1}",
    "caught": "catches {1}",
}
"""Kind → how a line names it, of its name and its value."""
NOTES = ("cut", "flaky", "note")
"""Kinds of lines that only say something."""
DEEPEST = 30
"""Lines of calls that are deeper are not indented any more."""
LONGEST = 400
"""Characters of the text of a line."""
_SHORTEST_KEY = 16
"""Characters of a text, below which a variable `key` is taken for the name of a field and not for a secret."""
_NAMES = re.compile(r'"(?:[^"\\]|\\.)*"|([A-Za-z_$][\w$]*|\d+)(?=: )')


def story_lines(
    told: Iterable[ToldLine],
    sites: Sequence[Site],
    clean: Callable[[Any], Any],
    left_out: Collection[str],
    cut: int,
    notes: Iterable[tuple[str, str]] = (),
) -> tuple[Record, ...]:
    """The lines of a story, of which the last ones stay: what a worker has told, `cut` lines less at the front, after
    `notes`, kinds and texts of what else is to be said. `clean` hides secrets in a value; `left_out` are patterns of
    names whose values are hidden."""
    found = (_Line(part, sites, clean, left_out).record() for line in told for part in _apart(line, sites))
    lines = [line for line in found if line["text"]]
    kept: list[Record] = []
    room = MOST_BYTES
    for line in reversed(lines):
        room -= len(str(line["text"]).encode()) + 2 * min(line["depth"], DEEPEST)
        if len(kept) == MOST_LINES or (room < 0 and kept):
            break
        kept.append(line)
    missing = cut + len(lines) - len(kept)
    said = [*notes, *([("cut", f"{missing} earlier lines are left out")] if missing else [])]
    place = kept[-1] if kept else {"file": "", "line": 0}
    head = [
        {"file": place["file"], "line": place["line"], "depth": 0, "kind": kind, "text": text} for kind, text in said
    ]
    return (*head, *reversed(kept))


def shown_lines(story: Sequence[Record]) -> list[str]:
    """The lines for people: place, indented by calls, what happened. Files have folders only if names are equal."""
    short = {file: file.rpartition("/")[2] for file in (line["file"] for line in story)}
    if len(set(short.values())) < len(short):
        short = {file: file for file in short}
    places = ["" if line["kind"] in NOTES else f"{short[line['file']]}:{line['line']}" for line in story]
    wide = max(map(len, places), default=0)
    return [
        f"{place.ljust(wide)}  {'  ' * min(max(0, line['depth'] - 1), DEEPEST)}{line['text']}"
        if place
        else str(line["text"])
        for place, line in zip(places, story, strict=True)
    ]


def _apart(told: ToldLine, sites: Sequence[Site]) -> Iterator[ToldLine]:
    at, parts = told.site, list[tuple[str, int, str]]()
    for part in told.parts:
        op, site, _ = part
        if (
            (op != "f" or not sites[site].name)
            and sites[site].line != sites[at].line
            and sites[site].file == sites[at].file
        ):
            if parts:
                yield told.replace(site=at, parts=tuple(parts))
                told, parts = told.replace(turn=0), []
            at = site
        parts.append(part)
    yield told.replace(site=at, parts=tuple(parts))


class _Line:
    """Makes the record of a line."""

    def __init__(
        self, told: ToldLine, sites: Sequence[Site], clean: Callable[[Any], Any], left_out: Collection[str]
    ) -> None:
        self._told, self._sites, self._clean, self._left_out = told, sites, clean, left_out
        self._record: Record = {}
        self._texts: dict[str, dict[str, str]] = {kind: {} for kind in (*_WORDS, "read")}

    def record(self) -> Record:
        """The line as an object."""
        told, found = self._told, self._record
        site = self._site(told.site)
        for op, place, text in told.parts:
            self._part(op, self._site(place), text.split("\n") if text else [])
        kind = next((kind for kind in KINDS if kind in found), "turn" if told.turn else "line")
        head: Record = {"file": site.file, "line": site.line, "depth": told.depth, "kind": kind}
        if name := self._site(told.within).name:
            head["name"] = name
        if told.turn:
            head |= {"turn": told.turn, "turns": told.turns}
        return {**head, **found, "text": self._clean(self._text(site))}

    def _site(self, number: int) -> Site:
        return self._sites[number if 0 <= number < len(self._sites) else 0]

    def _part(self, op: str, site: Site, texts: list[str]) -> None:
        if op == "f":
            values = [self._shown(name, text) for name, text in zip(site.names, texts, strict=False)]
            call = f"{site.name or '(callback)'}({', '.join(values)})"
            calls = self._texts["calls"]
            calls[str(len(calls))] = call
            said = self._clean(call)
            self._record["calls"] = f"{self._record['calls']}; {said}" if "calls" in self._record else said
            return
        kind = "changed" if op == "m" else {"tested": "value", "turn": "assigned"}.get(site.kind, site.kind)
        names = site.names if op in ("n", "k", "l") else (site.name,)
        for name, text in zip(names, texts, strict=False):
            self._put("assigned" if op == "n" else kind, name, text)

    def _shown(self, name: str, text: str) -> str:
        last = name.rpartition(".")[2]
        is_plain_key = name == "key" and len(text) < _SHORTEST_KEY
        is_secret = text.startswith('="') and not is_plain_key and re.search(SECRET_NAMES, last)
        return "***" if is_secret or any(fnmatchcase(last, pattern) for pattern in self._left_out) else text[1:]

    def _put(self, kind: str, name: str, text: str) -> None:
        shown = self._texts.setdefault(kind, {})[name] = self._shown(name, text)
        value = self._clean(shown if shown == "***" else _json(text))
        if kind in ("read", "assigned", "changed"):
            self._record.setdefault(kind, {})[name] = value
        else:
            self._record[kind] = value

    def _text(self, site: Site) -> str:
        """All that happened, the most important first; values that were read at the end."""
        texts, told = self._texts, self._told
        turn = f"[{told.turn} of {told.turns}] " if told.turn else ""
        words = [form.format(name, text) for kind, form in _WORDS.items() for name, text in texts[kind].items()]
        known = texts["assigned"]
        read = [f"{name} is {text}" for name, text in texts["read"].items() if known.get(name) != text]
        text = turn + ", ".join(words) + (f"  ({', '.join(read)})" if read and words else ", ".join(read))
        text = text.strip() or (site.name if site.kind == "line" else "")
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _json(text: str) -> Any:
    """The value of what `bindings/src/realm/shown.ts` has printed; its text where it is not JSON."""
    with suppress(ValueError):
        if text.startswith("="):
            return json.loads(_NAMES.sub(lambda found: f'"{found[1]}"' if found[1] else found[0], text[1:]))
    return text[1:]
