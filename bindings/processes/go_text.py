"""Values as Go's `fmt` prints them, which is how Yao joins, concatenates and logs; the parts
of file names as Go's `path/filepath` has them, and the type of a file from its name and first bytes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from scripttest.typing_names import Json

_VERB = re.compile(r"%([-+# 0]*)(\d*)(?:\.(\d*))?(.)?", re.DOTALL)
_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "int"),
    (float, "float64"),
    (str, "string"),
    (bytes, "[]uint8"),
    (list, "[]interface {}"),
    (dict, "map[string]interface {}"),
)
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
    for types, name in _TYPES:
        if isinstance(value, types):
            return name
    return "<nil>"


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
