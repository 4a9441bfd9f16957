"""Checks the arguments of a process, and makes a `HostFunction` of what its table declares; values as Go's `fmt` prints
them, which is how Yao joins, concatenates and logs; file names as Go's `path/filepath` has them.

The table of a namespace has a row for each process: its name, what it takes, and the function that answers. So error
messages take the names from the table, and scripts never get a Python exception. Positions are counted from 1, as in
the messages: `text.Extract: argument 1 must be a string, got null`."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from bindings.errors import ProcessError
from bindings.policy import HostCall, HostFunction
from scripttest import install_command
from scripttest.typing_names import Json

_KINDS: tuple[tuple[type, str, str], ...] = (
    (bool, "boolean", "bool"),
    (int, "number", "int"),
    (float, "number", "float64"),
    (str, "string", "string"),
    (list, "array", "[]interface {}"),
    (dict, "object", "map[string]interface {}"),
    (bytes, "Uint8Array", "[]uint8"),
    (type(None), "null", "<nil>"),
)
"""Types of values, with what scripts and Go call them."""


class Arguments:
    """The arguments that a script passed to one call of a process."""

    def __init__(self, process: str, values: list[Json]) -> None:
        self.process = process
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def has(self, position: int) -> bool:
        """True when the argument is there and not null."""
        return position <= len(self.values) and self.values[position - 1] is not None

    def any(self, position: int) -> Json:
        """The argument, whatever it is; null is fine, leaving it out is not."""
        if position > len(self.values):
            raise self.error(f"argument {position} is missing")
        return self.values[position - 1]

    def optional(self, position: int) -> Json:
        """The argument, or None when it was left out."""
        return self.values[position - 1] if position <= len(self.values) else None

    def string(self, position: int, default: str | None = None) -> str:
        """A string. Without a default it is required; with one, null and a missing argument mean the default."""
        text: str = self._of_kind(position, default, str, "a string")
        return text

    def integer(self, position: int, default: int | None = None) -> int:
        """A whole number; `3.0` counts as one."""
        value = self._of_kind(position, default, (int, float), "a whole number")
        if isinstance(value, bool) or value % 1:  # of NaN and Infinity it is NaN
            raise self.wrong(position, "a whole number")
        return int(value)

    def boolean(self, position: int, default: bool | None = None) -> bool:
        """true or false."""
        return self._of_kind(position, default, bool, "a boolean") is True

    def array(self, position: int) -> list[Json]:
        """An array."""
        items: list[Json] = self._of_kind(position, None, list, "an array")
        return items

    def strings(self, position: int) -> list[str]:
        """An array of strings."""
        return self._all_of(position, str, "an array of strings")

    def records(self, position: int) -> list[dict[str, Json]]:
        """An array of objects."""
        return self._all_of(position, dict, "an array of objects")

    def record(self, position: int, default: dict[str, Json] | None = None) -> dict[str, Json]:
        """An object."""
        record: dict[str, Json] = self._of_kind(position, default, dict, "an object")
        return record

    def data(self, position: int) -> bytes:
        """Bytes, that is, a `Uint8Array` of the script."""
        data: bytes = self._of_kind(position, None, bytes, "a Uint8Array")
        return data

    def _of_kind(self, position: int, default: Json, kinds: type | tuple[type, ...], expected: str) -> Json:
        if default is not None and not self.has(position):
            return default
        value = self.optional(position)
        if not isinstance(value, kinds):
            raise self.wrong(position, expected)
        return value

    def _all_of(self, position: int, kind: type, expected: str) -> list[Json]:
        items = self.array(position)
        if not all(isinstance(item, kind) for item in items):
            raise self.wrong(position, expected)
        return items

    def wrong(self, position: int, expected: str) -> ProcessError:
        """The error for an argument of the wrong kind."""
        got = kind(self.values[position - 1]) if position <= len(self.values) else "nothing"
        return self.error(f"argument {position} must be {expected}, got {got}")

    def error(self, detail: str, code: int = 400) -> ProcessError:
        """An error that names this process."""
        return ProcessError(f"{self.process}: {detail}", code)

    @contextmanager
    def naming(self, before: str = "") -> Iterator[None]:
        """In which errors of ours, and of values, get the name of the process, and what is `before` their text."""
        try:
            yield
        except ProcessError as error:
            raise self.error(before + error.message, error.code) from error
        except ValueError as error:
            raise self.error(f"{before}{error}") from error


Row = tuple[str, Callable[..., Json]]
"""What a process takes, and the function that is called with it. A word stands for each argument, in order: the name of
the method of `Arguments` that reads it, and after `=` the JSON of a default, or nothing for an empty string. `given` is
replaced by the `Arguments`, and `call` by the `HostCall`."""


def host_functions(namespace: str, table: Mapping[str, Row]) -> dict[str, HostFunction]:
    """The `FUNCTIONS` of a namespace; keys of the table are names without the namespace."""
    return {name: _host_function(f"{namespace}.{name}", *row) for name, row in table.items()}


def kind(value: Json) -> str:
    """What a script would call this value: `null`, `boolean`, `number`, `string`, `array`, `object`, `Uint8Array`."""
    return next(name for type, name, _ in _KINDS if isinstance(value, type))


def reason_of(error: OSError) -> str:
    """What went wrong, without the files of this machine that its text names."""
    return (error.strerror or type(error).__name__).lower()


def _read(form: str, given: Arguments, call: HostCall) -> Iterator[Json]:
    """What the function of a row gets."""
    position = 0
    for word in form.split():
        kind, has_default, default = word.partition("=")
        if kind in ("given", "call"):
            yield given if kind == "given" else call
            continue
        position += 1
        more = (json.loads(default) if default else "",) if has_default else ()
        yield getattr(given, kind)(position, *more)


def _host_function(process: str, form: str, function: Callable[..., Json]) -> HostFunction:
    def run(args: list[Json], call: HostCall) -> Json:
        given = Arguments(process, args)
        try:
            given.values = [_whole(value) for value in args]
            return function(*_read(form, given, call))
        except ProcessError:
            raise
        except ImportError as error:
            raise _missing_package(given, (error.name or "").partition(".")[0]) from error
        except RecursionError as error:
            raise given.error("the value is nested too deeply", 500) from error
        except OSError as error:
            raise given.error(reason_of(error), 500) from error
        except Exception as error:
            raise given.error(str(error) or type(error).__name__, 500) from error

    return run


def _missing_package(given: Arguments, package: str) -> ProcessError:
    """The error for a library that is not installed."""
    from bindings.processes import EXTRAS

    extra = EXTRAS.get(given.process.lower(), "")
    error = given.error(f'the package "{package}" is not installed: {install_command(extra, package)}', 500)
    error.missing = True
    return error


def _whole(value: Json) -> Json:
    """A value with U+FFFD in place of halves of surrogate pairs, which Go, and so a process of Yao, does not have."""
    if isinstance(value, str):
        return value if value.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


_VERB = re.compile(r"%([-+# 0]*)(\d*)(?:\.(\d*))?(.)?", re.DOTALL)
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"ID3", "audio/mpeg"),
)
_OFFICE = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Extensions that `mimetypes` does not know everywhere."""
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "image/svg+xml")


def display(value: Json) -> str:
    """A value as `%v` prints it: `<nil>`, `true`, `1.5`, `[1 2]`, `map[a:1]` with sorted keys."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{display(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, (list, bytes)):
        return "[" + " ".join(map(display, value)) + "]"
    return str(value)


def sprintf(template: str, values: Sequence[Json]) -> str:
    """Fills a Go format string. A verb that does not fit its value shows as in Go: `%!d(string=x)`."""
    rest = iter(values)
    used = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal used
        flags, width, precision, verb = match.groups()
        if verb == "%":
            return "%"
        if verb is None:
            return "%!(NOVERB)"
        used += 1
        try:
            value = next(rest)
        except StopIteration:
            return f"%!{verb}(MISSING)"
        return _verb(flags, width, precision, verb, value)

    text = _VERB.sub(fill, template)
    if used < len(values):
        extra = ", ".join(f"{_type(value)}={display(value)}" for value in values[used:])
        text += f"%!(EXTRA {extra})"
    return text


def _verb(flags: str, width: str, precision: str | None, verb: str, value: Json) -> str:
    if len(width) > 4 or len(precision or "") > 4:
        return f"%!{verb}(BADWIDTH)"
    spec = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if verb == "d" and isinstance(value, int) and number:
        return f"{spec}d" % value
    if verb in "eEfFgG" and number:
        return str(f"{spec}{verb}" % value)
    if verb in "xX" and isinstance(value, (str, bytes)):
        text = (value.encode() if isinstance(value, str) else value).hex()
        return f"{spec}s" % (text.upper() if verb == "X" else text)
    if verb in "xXo" and isinstance(value, int) and number:
        return f"{spec}{verb}" % value
    if verb == "q" and isinstance(value, str):
        from json import dumps

        return f"{spec}s" % dumps(value, ensure_ascii=False)
    if verb == "t" and isinstance(value, bool):
        return f"{spec}s" % display(value)
    if verb == "T":
        return f"{spec}s" % _type(value)
    if verb == "v" or (verb == "s" and isinstance(value, str)):
        return f"{spec}s" % display(value)
    if verb == "s" and isinstance(value, bytes):
        return f"{spec}s" % value.decode(errors="replace")
    if verb == "s" and isinstance(value, (list, dict)):
        return f"{spec}s" % display(value)
    return f"%!{verb}({_type(value)}={display(value)})"


def _type(value: Json) -> str:
    return next(name for type, _, name in _KINDS if isinstance(value, type))


def base_name(path: str) -> str:
    """The last part of a path; `.` for an empty one, `/` for the root."""
    return posixpath.basename(path.rstrip("/")) or ("/" if path else ".")


def dir_name(path: str) -> str:
    """A path without its last part, cleaned; `.` when nothing is left."""
    return posixpath.normpath(posixpath.dirname(path) or ".").replace("//", "/")


def ext_name(path: str) -> str:
    """The extension with its dot, or an empty string."""
    _, dot, extension = path.rpartition("/")[2].rpartition(".")
    return dot + extension if dot else ""


def mime_type(name: str, head: bytes) -> str:
    """The MIME type of a file by its first bytes, and by its name where those leave a choice."""
    from mimetypes import MimeTypes

    guessed = _OFFICE.get(ext_name(name).lower()) or MimeTypes().guess_type(name)[0] or ""
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE"):
        return "image/webp" if head[8:12] == b"WEBP" else "audio/wav"
    for magic, found in _MAGIC:
        if head.startswith(magic):
            zipped = found == "application/zip" and guessed.startswith("application/")
            return guessed if zipped else found
    if b"\0" in head:
        return "application/octet-stream" if not guessed or guessed.startswith(_TEXT_TYPES) else guessed
    if not guessed.startswith(_TEXT_TYPES):
        guessed = "text/plain"
    return f"{guessed}; charset=utf-8" if guessed.startswith("text/") else guessed
