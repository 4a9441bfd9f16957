"""Secret values, and texts without them.

These are secret: environment variables whose names look like it (`OPENAI_API_KEY`, `DB_PASSWORD`) or that
`YAO_TEST_SECRETS` lists, passwords and keys in addresses, the credentials of connectors and MCP servers, and
`Authorization` headers that scripts send. A value is found unchanged and in the forms of `forms.py`, and replaced by
`***NAME***`.

Values shorter than 6 characters, short numbers and common words are not hidden: hiding each "true" or "secret" would
ruin a report and protect nothing.
"""

from __future__ import annotations

import _thread
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from runner.security.files import read_text
from runner.security.terminal import end_of_line, inert, unsteered
from runner.security.walk import all_folders, files_below, no_packages
from scripttest.typing_names import TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TextIO

    from runner.security.cuts import CutValues
    from runner.security.forms import Marks

T = TypeVar("T")
Found = tuple[tuple[str, str], ...]
"""Values that a text may have, and the kinds of forms."""
_PLAIN = frozenset((type(None), bool, int, float))
SHORTEST = 6
"""Characters of the shortest value that is hidden."""
LIST = "YAO_TEST_SECRETS"
"""The variable that names further secret variables, separated by commas."""
_WORDS_OF_NAMES = "keys? tokens? secrets? passw(?:or)?ds? pwd passphrase credentials? cookies? auth authorization"
_HEADERS = r"OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS"
"""Variables with headers: `name=value,name=value`, percent-encoded."""
_NAMES = rf"(?i)(?:{_WORDS_OF_NAMES.replace(' ', '|')})(?=$|[_\d-])"
_WORDS = frozenset(
    """
    password passwd secret secrets changeme default example localhost production development staging testing
    enabled disabled public private unknown nothing foobar string number boolean object function passed failed skipped
    assistant system scripted content message default_key
    """.split()
)
_IN_ADDRESS = r"(?<=[\w+.-])://(?:[^/@\s:]*:([^/@\s]+)|([^/@\s:]{16,}))@"
"""A password, or a user that is as long as a token."""
_IN_QUERY = r"[?&;]([\w.-]+)=([^&;#\s\"']+)"
_FLAG = r"--?([\w-]+)"
_PAIR = r'"([\w.-]+)"\s*:\s*"((?:[^"\\]|\\.)*)"'
_PLAIN_OPTIONS = frozenset("host proxy model version assistant label name type url transport command id".split())
"""Options of connectors and servers whose `$ENV.NAME` is not a secret."""
_FIXED = frozenset("suite status cause kind mode verdict type level".split())
"""Fields of events that other events, or reporters, know by their values."""

_PATTERNS = 50
"""How many are kept."""
_SAID = frozenset("content text delta".split())
"""Fields of messages with a piece of their text."""


class Secrets:
    """The secrets of a run. Threads may share it."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        """Takes the secret ones of environment variables."""
        self._lock = _thread.allocate_lock()
        self._names: dict[str, str] = {}
        """Value → name."""
        self._marks: dict[str, Marks] = {}
        """Of each value, the longest first; empty until they are needed."""
        self._patterns: dict[Found, re.Pattern[str]] = {}
        """What finds some of the values, each in its group."""
        self._cut: CutValues | None = None
        """Made with the marks."""
        self.add_variables(variables or {})

    def __bool__(self) -> bool:
        return bool(self._names)

    def add_variables(self, variables: Mapping[str, str]) -> None:
        """Takes the variables that are secret by their names or values."""
        for name, value in list(variables.items()):
            if _is_named_secret(name, variables):
                for secret in _values_of(name, value):
                    if not _is_path(secret):
                        self.add(name, secret)
            elif "://" in value:
                for part in _of_address(value):
                    self.add(name, part)

    def add(self, name: str, value: str) -> None:
        """Takes a value, and what it is made of: the token of a header, the lines of a key, the secrets of a JSON
        object."""
        for part in dict.fromkeys(_parts(value)):
            if _worth_hiding(part):
                with self._lock:
                    if part not in self._names:
                        self._names = {**self._names, part: name}
                        self._marks = {}

    def add_application(self, root: Path, variables: Mapping[str, str]) -> None:
        """Adds the credentials of an application's connectors and MCP servers, and its `.env`.

        Args:
            root: the application's folder
            variables: the environment, with the application's `.env`
        """
        self.add_variables(variables)
        for path in definitions(root):
            try:
                text = read_text(path, "replace")
            except OSError:
                continue
            known = set()
            for name, raw in re.findall(_PAIR, text):
                value = _unescaped(raw)
                if value.startswith("$ENV."):
                    known.update([value] if name in _PLAIN_OPTIONS else [])
                elif re.search(_NAMES, name):
                    self.add(f"{path.name.partition('.')[0]}.{name}", value)
                elif "://" in value:
                    for part in _of_address(value):
                        self.add(f"{path.name.partition('.')[0]}.{name}", part)
            for flag, value in _of_arguments(text):
                self.add(f"{path.name.partition('.')[0]}.{flag}", value)
            for name in re.findall(r"\$ENV\.(\w+)", text):
                if f"$ENV.{name}" not in known:
                    self.add(name, variables.get(name, ""))

    def text(self, text: str) -> str:
        """A text without secrets."""
        if not self._names:
            return text
        if "\n" in text or "\\" in text:
            from runner.security.forms import unwrapped

            text = unwrapped(text, self._in_line)
        return self._in_line(text)

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
            clean = self._pattern_of(found).sub(lambda match: f"***{names[(match.lastindex or 1) - 1]}***", text)
        return clean if self._cut is None else self._cut.hide(clean)

    def _found_in(self, text: str) -> Found:
        """The values that a text may have, the longest first, and in which forms."""
        from runner.security.forms import decoded, marks_of

        with self._lock:
            if not self._marks:
                from runner.security.cuts import CutValues

                self._cut = CutValues(self._names)
                self._marks = {value: marks_of(value) for value in sorted(self._names, key=len, reverse=True)}
            known = self._marks
        codes = decoded(text)
        return tuple((value, kinds) for value, marks in known.items() if (kinds := marks.kinds_in(text, codes)))

    def _pattern_of(self, found: Found) -> re.Pattern[str]:
        from runner.security.forms import pattern_of

        pattern = self._patterns.get(found)
        if pattern is None:
            if len(self._patterns) >= _PATTERNS:
                self._patterns.clear()
            pattern = re.compile("|".join(f"({pattern_of(*one)})" for one in found))
            self._patterns[found] = pattern
        return pattern

    def _clean(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value) if len(value) >= SHORTEST else value
        if kind in _PLAIN or isinstance(value, str):  # members of enumerations are words of ours
            return value
        if isinstance(value, dict):
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
            return value if _same(items, value) else type(value)(items)
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
        hidden = [match.span() for match in self._pattern_of(self._found_in(whole)).finditer(whole)]
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


class UnwrittenError(OSError):
    """What the command prints cannot be written, such as on a full disk."""

    def __init__(self, error: OSError, is_first: bool) -> None:
        """`is_first`: whether everything before it could be written."""
        super().__init__(error.errno, error.strerror)
        self.is_first = is_first


class RedactedStream:
    """A text stream on which no secret is written, and nothing with which a script or a model could steer a terminal
    or a CI server: such letters are written as `\\u001b`. Only what `own` marks as the command's is let through."""

    def __init__(self, stream: TextIO, secrets: Secrets) -> None:
        self._stream = stream
        self._secrets = secrets
        self._has_failed = False
        self._line = ""
        """The end of the line that has begun."""

    def write(self, text: str) -> int:
        """Writes a text without secrets; how many characters it was given. Raises UnwrittenError."""
        said = self._secrets.text(text)
        shown = unsteered(inert(said, self._line))
        self._line = end_of_line(said if "\n" in said else self._line + said)
        try:
            if shown:  # click writes nothing to learn what a stream takes, and hides the error
                self._stream.write(shown)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._unwritten(error) from error
        return len(text)

    def flush(self) -> None:
        """Hands on what was written. Raises UnwrittenError."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._unwritten(error) from error

    def writelines(self, texts: Iterable[str]) -> None:
        """Writes texts, each as `write` does."""
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _unwritten(self, error: OSError) -> UnwrittenError:
        is_first, self._has_failed = not self._has_failed, True
        return UnwrittenError(error, is_first)


def is_secret(name: str, variables: Mapping[str, str]) -> bool:
    """Whether one of these variables is secret: by its name, because `YAO_TEST_SECRETS` lists it, or because its value
    is an address with a password or a key in it."""
    value = variables[name]
    if _is_named_secret(name, variables):
        return _worth_hiding(value) and not _is_path(value)
    return "://" in value and any(map(_worth_hiding, _of_address(value)))


def _is_named_secret(name: str, variables: Mapping[str, str]) -> bool:
    listed = {item.strip() for item in variables.get(LIST, "").split(",")}
    named = re.search(_NAMES, name) or _has_headers(name)
    return name in listed or (bool(named) and name not in ("PWD", "OLDPWD"))


def _has_headers(name: str) -> bool:
    return name.startswith("OTEL_") and re.fullmatch(_HEADERS, name) is not None


def _values_of(name: str, value: str) -> Iterator[str]:
    """What is secret in a variable: its value, and in headers that of each."""
    yield value
    if _has_headers(name):
        from urllib.parse import unquote

        for header in value.split(","):
            one = header.partition("=")[2].strip()
            yield from dict.fromkeys((one, unquote(one)))


def _is_path(value: str) -> bool:
    """Whether a value names a file or folder that is there, such as the socket of an SSH agent."""
    return value.startswith(("/", "~")) and os.path.exists(os.path.expanduser(value))


def _texts(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    """Messages with the texts in these fields replaced, in order."""
    if isinstance(value, str):
        return change(value) if name in _SAID else value
    if isinstance(value, dict):
        return {key: _texts(item, change, key) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_texts(item, change, name) for item in value)
    return value


def _same(items: list[Any], value: Any) -> bool:
    return all(new is old for new, old in zip(items, value, strict=True))


def _worth_hiding(value: str) -> bool:
    if len(value) < SHORTEST or value.casefold() in _WORDS or value.startswith("$ENV."):
        return False
    return not value.isdecimal() or len(value) > 9


def _parts(value: str) -> Iterator[str]:
    """A value as it is and without what surrounds the secret in it."""
    value = value.strip()
    yield value
    scheme, _, rest = value.partition(" ")
    if scheme.casefold() in ("bearer", "basic", "token", "digest") and rest.strip():
        yield rest.strip()
        if scheme.casefold() == "basic":
            yield from _password_of(rest.strip())
    yield from _of_address(value)
    if "\n" in value:
        yield from (line.strip() for line in value.split("\n") if len(line) > 15 and not line.startswith("-----"))
    if value.startswith("{"):
        for name, raw in re.findall(_PAIR, value):
            if re.search(_NAMES, name):
                yield from _parts(_unescaped(raw))


def _of_address(value: str) -> Iterator[str]:
    """The credentials in an address: a password before its host, keys in its query; as written, and decoded."""
    from urllib.parse import unquote

    found = [match[1] or match[2] for match in re.finditer(_IN_ADDRESS, value)]
    found += [match[2] for match in re.finditer(_IN_QUERY, value) if re.search(_NAMES, match[1])]
    for part in found:
        yield from dict.fromkeys((part, unquote(part)))


def _of_arguments(text: str) -> Iterator[tuple[str, str]]:
    """Flags with such names among the arguments of a command, in JSON: `"--token", "x"` and `"--token=x"`."""
    for name, raw in re.findall(rf'"{_FLAG}(?=(?:"\s*,\s*"|=)((?:[^"\\]|\\.)*)")', text):
        value = _unescaped(raw)
        if re.search(_NAMES, name) and not value.startswith(("$ENV.", "-")):
            yield name, value


def _password_of(text: str) -> Iterator[str]:
    from base64 import b64decode

    try:
        yield b64decode(text).decode().partition(":")[2]
    except ValueError:
        return


def _unescaped(raw: str) -> str:
    try:
        return str(json.loads(f'"{raw}"'))
    except ValueError:
        return raw


def _no_scripts(folder: str, name: str) -> bool:
    is_agent = name != "src" or os.path.isfile(f"{folder}/src/package.yao")
    return is_agent and no_packages(folder, name)


def definitions(root: Path) -> Iterator[Path]:
    """The files that define connectors and MCP servers."""
    for place, enters in (("connectors", all_folders), ("mcps", all_folders), ("assistants", _no_scripts)):
        found = files_below(root / place, root=root, enters=enters)
        yield from (root / path for path in found if ".mcp." in path or ".conn." in path)
