"""Secret values, and texts without them.

These are secret: environment variables whose names look like it (`OPENAI_API_KEY`, `DB_PASSWORD`) or that
`YAO_TEST_SECRETS` lists, passwords and keys in addresses, the credentials of connectors and MCP servers, and
`Authorization` headers that scripts send. A value is found unchanged and in the forms of `forms.py`, and replaced by
`***NAME***`.

Values shorter than 6 characters, short numbers and common words are not hidden: hiding each "true" or "secret" would
ruin a report and protect nothing."""

from __future__ import annotations

import _thread
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial

from runner.security.files import all_folders, files_below, no_packages, read_text
from runner.security.keys import (
    JSON_PAIR,
    SECRET_NAMES,
    SHORTEST,
    secret_parts,
    secrets_in_address,
    secrets_in_arguments,
    secrets_of,
    unescaped,
    worth_hiding,
)
from scripttest.typing_names import TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from runner.security.forms import CutValues

T = TypeVar("T")
Found = tuple[tuple[str, str], ...]
"""Values that a text may have, and the kinds of forms."""
_PLAIN = frozenset((type(None), bool, int, float))
_PLAIN_OPTIONS = frozenset("host proxy model version assistant label name type url transport command id".split())
"""Options of connectors and servers whose `$ENV.NAME` is not a secret."""
_FIXED = frozenset("suite status cause kind mode verdict type level".split())
"""Fields of events that other events, or reporters, know by their values."""
_SHORT, _KEPT = 500, 2000
"""Characters of a text that is known to have no secret, and how many are known."""
_SAID = frozenset("content text delta".split())
"""Fields of messages with a piece of their text."""


class Secrets:
    """The secrets of a run. Threads may share it."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        """Takes the secret ones of environment variables."""
        self._lock = _thread.allocate_lock()
        self._names: dict[str, str] = {}
        """Value → name."""
        self._kinds_in: Callable[[str], Mapping[str, str]] | None = None
        """Gives the values that a text may have, and in which kinds of forms; made when it is needed."""
        self._plain: set[str] = set()
        """Short texts without secrets: results of a run have most of their texts in common."""
        self._cut: CutValues | None = None
        """Made with it."""
        self.add_variables(variables or {})

    def __bool__(self) -> bool:
        return bool(self._names)

    def add_variables(self, variables: Mapping[str, str]) -> None:
        """Takes the variables that are secret by their names or values."""
        for name in [*variables]:
            for secret in secrets_of(name, variables):
                self.add(name, secret)

    def add(self, name: str, value: str) -> None:
        """Takes a value, and what it is made of: the token of a header, the lines of a key, the secrets of a JSON
        object."""
        for part in dict.fromkeys(secret_parts(value)):
            if worth_hiding(part):
                with self._lock:
                    if part not in self._names:
                        self._names = {**self._names, part: name}
                        self._kinds_in = None
                        self._plain = set()  # whoever looks at a text now still has the other one

    def add_application(self, root: Path, variables: Mapping[str, str]) -> None:
        """Adds the credentials of an application's connectors and MCP servers, and its `.env`. `variables`: the
        environment, with the application's `.env`."""
        self.add_variables(variables)
        for path in definitions(root):
            try:
                text = read_text(path, "replace")
            except OSError:
                continue
            known, owner = set(), path.name.partition(".")[0]
            for name, raw in re.findall(JSON_PAIR, text):
                value = unescaped(raw)
                if value.startswith("$ENV."):
                    known.update([value] if name in _PLAIN_OPTIONS else [])
                elif re.search(SECRET_NAMES, name):
                    self.add(f"{owner}.{name}", value)
                elif "://" in value:
                    for part in secrets_in_address(value):
                        self.add(f"{owner}.{name}", part)
            for flag, value in secrets_in_arguments(text):
                self.add(f"{owner}.{flag}", value)
            for name in re.findall(r"\$ENV\.(\w+)", text):
                if f"$ENV.{name}" not in known:
                    self.add(name, variables.get(name, ""))

    def text(self, text: str) -> str:
        """A text without secrets."""
        plain = self._plain
        if not self._names or text in plain:
            return text
        whole = text
        if "\n" in text or "\\" in text:
            from runner.security.forms import unwrapped

            text = unwrapped(text, self._in_line, self._found_in)
        clean = self._in_line(text)
        if len(whole) <= _SHORT and clean == whole:
            if len(plain) >= _KEPT:
                plain.clear()
            plain.add(whole)
        return clean

    def value(self, value: T) -> T:
        """A JSON value or an event without secrets, also in the names of fields, and without those that a test has
        spread over several lines of its log; the value itself when there are none in it."""
        if not self._names:
            return value
        try:
            clean: T = self._clean(value)
        except RecursionError:  # JSON that is nested deeply
            clean = json.loads(self.text(json.dumps(value)))
        return clean

    def _in_line(self, text: str) -> str:
        found = self._found_in(text)
        clean = text
        if found:
            names = [self._names[value] for value, _ in found]
            clean = _pattern_of(found).sub(lambda match: f"***{names[(match.lastindex or 1) - 1]}***", text)
        return clean if self._cut is None else self._cut.hide(clean)

    def _found_in(self, text: str) -> Found:
        """The values that a text may have, the longest first, and in which forms."""
        found = (self._kinds_in or self._made_kinds_in())(text)
        return tuple((value, found[value]) for value in sorted(found, key=len, reverse=True)) if found else ()

    def _made_kinds_in(self) -> Callable[[str], Mapping[str, str]]:
        from runner.security.forms import CutValues, kinds_in, marks_of

        with self._lock:
            if self._kinds_in is None:
                self._cut = CutValues(self._names)
                self._kinds_in = partial(kinds_in, marks=marks_of(self._names))
            return self._kinds_in

    def _clean(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value) if len(value) >= SHORTEST else value
        if kind in _PLAIN or isinstance(value, str):  # members of enumerations are words of ours
            return value
        if isinstance(value, dict):
            if len(value) >= SHORTEST and all(
                type(item) is int and f"{key}".isdecimal() for key, item in value.items()
            ):
                numbers = [*value.values()]  # a typed array, perhaps
                clean = self._without_bytes(numbers)
                return value if clean is numbers else {str(at): item for at, item in enumerate(clean)}
            fields = [(self._clean(key), self._clean(item)) for key, item in value.items()]
            same = all(a is c and b is d for (a, b), (c, d) in zip(fields, value.items(), strict=True))
            return value if same else dict(fields)
        if isinstance(value, Value):
            if getattr(value, "logs", None):
                value = self._without_split(value)
            if getattr(value, "sent", None):
                value = value.replace(sent=self._without_pieces(value.sent))
            kept = _FIXED if type(value).__name__ != "Suite" else (*_FIXED, "id")
            changes = {}
            for name, item in vars(value).items():
                if item is not None and name not in kept and (clean := self.value(item)) is not item:
                    changes[name] = clean
            return value.replace(**changes) if changes else value
        if isinstance(value, list | tuple):
            if len(value) >= SHORTEST and all(type(item) is int for item in value):
                return self._without_bytes(value)
            items = [self._clean(item) for item in value]
            is_same = all(new is old for new, old in zip(items, value, strict=True))
            return value if is_same else type(value)(items)
        return value

    def _without_bytes(self, numbers: Any) -> Any:
        """Numbers with the name of a secret in place of its bytes."""
        text = ",".join(map(str, numbers))
        clean = self.text(text)
        if clean == text:
            return numbers
        return type(numbers)(int(item) if item.lstrip("-").isdecimal() else item for item in clean.split(","))

    def _without_split(self, result: Any) -> Any:
        """A result without a secret in its lines, taken together without line breaks, that none of them holds alone."""
        pieces = [piece for line in result.logs for piece in line.text.split("\n")]
        clean = self._joined(pieces)
        if clean is None:
            return result
        left = iter(clean)
        logs = [line.replace(text="\n".join(next(left) for _ in line.text.split("\n"))) for line in result.logs]
        return result.replace(logs=tuple(logs))

    def _without_pieces(self, messages: Any) -> Any:
        """The same for the texts of messages that were sent one after the other, as pieces of an answer are."""
        pieces: list[str] = []

        def take(text: str) -> str:
            pieces.append(text)
            return text

        _texts(messages, take)
        clean = self._joined(pieces)
        if clean is None:
            return messages
        left = iter(clean)
        return _texts(messages, lambda text: next(left))

    def _joined(self, pieces: list[str]) -> list[str] | None:
        """Pieces of a text without secrets that lie across them; None when there are none."""
        whole = "".join(pieces)
        if self.text(whole) == whole:
            return None
        hidden = [match.span() for match in _pattern_of(self._found_in(whole)).finditer(whole)]
        clean, start = [], 0
        for piece in pieces:
            end = start + len(piece)
            text = piece
            for a, b in reversed(hidden):
                if a < end and b > start and not start <= a <= b <= end:
                    text = text[: max(a - start, 0)] + "***" + text[b - start :]
            clean.append(text)
            start = end
        return clean


@lru_cache(50)
def _pattern_of(found: Found) -> re.Pattern[str]:
    """What finds these values, each in its group."""
    from runner.security.forms import pattern_of

    return re.compile("|".join(f"({pattern_of(*one)})" for one in found))


def definitions(root: Path) -> Iterator[Path]:
    """The files that define connectors and MCP servers."""
    for place, enters in (("connectors", all_folders), ("mcps", all_folders), ("assistants", _no_scripts)):
        found = files_below(root / place, root=root, enters=enters)
        yield from (root / path for path in found if ".mcp." in path or ".conn." in path)


def _texts(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    """Messages with the texts in these fields replaced, in order."""
    if isinstance(value, str):
        return change(value) if name in _SAID else value
    if isinstance(value, dict):
        return {key: _texts(item, change, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_texts(item, change, name) for item in value)
    return value


def _no_scripts(folder: str, name: str) -> bool:
    is_agent = name != "src" or os.path.isfile(f"{folder}/src/package.yao")
    return is_agent and no_packages(folder, name)
