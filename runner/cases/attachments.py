"""Files that messages refer to: which parts do, whether they can be sent, and their content as a model takes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.json_parts import JsonPath
from runner.cases.model import Case, Message, Part
from runner.errors import ConfigurationError
from runner.security.files import check_named, read_named
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.cases.conversations import ConversationTurn, Turn

IMAGES = {"bmp": "bmp", "gif": "gif", "jpeg": "jpeg", "jpg": "jpeg", "png": "png", "webp": "webp"}
"""Extension → MIME subtype."""
AUDIO = {"flac": "flac", "m4a": "m4a", "mp3": "mp3", "ogg": "ogg", "wav": "wav"}
"""Extension → the name of the format."""
_TEXTS = frozenset(
    "c cpp cs go h java jsonl jsx kt log lua php py rb rs sh sql swift toml ts tsx vue yao yaml yml".split()
)
"""Extensions of texts that the table of MIME types has not, or takes for something else."""
_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."
_KNOWN = {
    "docx": _OOXML + "wordprocessingml.document",
    "dotx": _OOXML + "wordprocessingml.template",
    "xlsx": _OOXML + "spreadsheetml.sheet",
    "xltx": _OOXML + "spreadsheetml.template",
    "pptx": _OOXML + "presentationml.presentation",
    "ppsx": _OOXML + "presentationml.slideshow",
    "odt": _ODF + "text",
    "ods": _ODF + "spreadsheet",
    "odp": _ODF + "presentation",
    "md": "text/markdown",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
}
"""MIME types that the table of some version of Python has not."""
_SCHEME = "file://"
_WITH_FILES = ("image", "audio", "file", "input_audio")


class Reference(Value):
    """A part with a file behind it."""

    place: JsonPath
    """The place of the part in the case."""
    part: Part


def parts_of_case(case: Case) -> Iterator[Reference]:
    """The parts that go to the agent, without texts that are just strings."""
    if case.messages is not None:
        yield from _of_messages(case.messages, ("messages",))
    elif isinstance(case.input, Message):
        yield from _of_content(case.input, ("input",))
    elif isinstance(case.input, list):
        yield from _of_messages(case.input, ("input",))
    for index, part in enumerate(case.attachments):
        yield Reference(place=("attachments", index), part=part)


def parts_of_turn(turn: Turn | ConversationTurn, place: JsonPath) -> Iterator[Reference]:
    """The parts of one turn, which is at that place in its case."""
    if isinstance(turn.input, Message):
        yield from _of_content(turn.input, (*place, "input"))
    elif isinstance(turn.input, list):
        for index, part in enumerate(turn.input):
            yield Reference(place=(*place, "input", index), part=part)
    for index, part in enumerate(turn.attachments):
        yield Reference(place=(*place, "attachments", index), part=part)


def files_of_case(case: Case, folder: Path) -> Iterator[Path]:
    """The files that a case sends, in any of its turns; relative ones count from the folder."""
    references = list(parts_of_case(case))
    for index, turn in enumerate(getattr(case, "turns", ())):
        references += parts_of_turn(turn, ("turns", index))
    for reference in references:
        source = source_of(reference.part)
        if source is not None and source.startswith(_SCHEME):
            yield file_of(source, folder)


def parts_of_last(case: Case) -> Iterator[Reference]:
    """The parts of the last message of a case, and what is attached to it."""
    said = case.input if case.messages is None else case.messages
    last = said[-1] if isinstance(said, list) and said else said
    if isinstance(last, Message):
        yield from _of_content(last, ())
    for part in case.attachments:
        yield Reference(place=(), part=part)


def problem_of(part: Part, folder: Path) -> str | None:
    """Why a part cannot be sent, whatever is on the disk; None when it can, if its file is there."""
    if part.type not in _WITH_FILES:
        return '"text" is missing in the text part' if part.type == "text" and part.text is None else None
    source = source_of(part)
    if source is None:
        held = part.type in ("audio", "input_audio") and (part.data or part.input_audio)
        return None if held or part.file else f'"source" is missing in the {part.type} part'
    if not source.startswith(_SCHEME):
        if source.startswith(("http://", "https://", "data:")) and part.type in ("image", "file"):
            return None
        return f'the {part.type} "{source[:80]}" is not a file: it must begin with {_SCHEME}'
    path = file_of(source, folder)
    kinds = {"image": IMAGES, "audio": AUDIO, "input_audio": AUDIO}.get(part.type)
    if kinds is not None and _extension(path) not in kinds:
        return f'"{source}" is no {part.type} that models take: {", ".join(kinds)}'
    return None


def absence_of(part: Part, folder: Path) -> str | None:
    """Why the file of a part without other problems cannot be read; None when it can. Looks at the disk, but reads no
    content."""
    source = source_of(part)
    if part.type not in _WITH_FILES or source is None or not source.startswith(_SCHEME):
        return None
    path = file_of(source, folder)
    if path.is_dir():
        return f'"{source}" is not a file: {path}'
    try:
        check_named(path, folder)
    except (FileNotFoundError, NotADirectoryError):
        return f'the file "{source}" does not exist: {path}'
    except OSError as error:
        return f'cannot read "{source}": {error.strerror}'
    return None


def source_of(part: Part) -> str | None:
    """Where the content of a part is, by any of the fields that may say it."""
    held = part.file if part.file is None or isinstance(part.file, str) else part.file.url
    return part.source or part.url or held


def file_of(source: str, folder: Path) -> Path:
    """The file behind a `file://` source; relative ones count from the folder."""
    return folder / source.removeprefix(_SCHEME)


def content_of(part: Part, folder: Path) -> dict[str, Any]:
    """The part as OpenAI's chat API has it, its file read and encoded. Raises ConfigurationError."""
    fields = part.model_dump(exclude_unset=True)
    source = source_of(part)
    if part.type == "image" and source:
        return {
            "type": "image_url",
            "image_url": {"url": _url(part, source, folder), "detail": fields.get("detail", "auto")},
        }
    if part.type in ("audio", "input_audio"):
        return {"type": "input_audio", "input_audio": _audio(part, source, fields, folder)}
    if part.type == "file" and source:
        own = file_of(source, folder).name if source.startswith(_SCHEME) else ""
        name = part.name or _held(part).get("filename") or own
        file = {"url": _url(part, source, folder), **({"filename": name} if name else {})}
        return {"type": "file", "file": file}
    return fields


def _audio(part: Part, source: str | None, fields: dict[str, Any], folder: Path) -> Any:
    if source:
        return {"data": _base64(file_of(source, folder), folder), "format": AUDIO[_extension(file_of(source, folder))]}
    return fields.get("input_audio") or {"data": fields["data"], "format": fields.get("format", "wav")}


def _url(part: Part, source: str, folder: Path) -> str:
    if not source.startswith(_SCHEME):
        return source
    path = file_of(source, folder)
    kind = f"image/{IMAGES[_extension(path)]}" if part.type == "image" else mime_type(path)
    return f"data:{kind};base64,{_base64(path, folder)}"


def mime_type(path: Path) -> str:
    """By the extension alone, the same on every machine."""
    from mimetypes import MimeTypes

    if _extension(path) in _TEXTS:
        return "text/plain"
    return _KNOWN.get(_extension(path)) or MimeTypes().guess_type(path.name)[0] or "application/octet-stream"


def _base64(path: Path, folder: Path) -> str:
    from base64 import b64encode

    try:
        return b64encode(read_named(path, folder)).decode("ascii")
    except OSError as error:
        raise ConfigurationError(f"Cannot read attachment {path}: {error.strerror}") from error


def described(references: Iterable[Reference], folder: Path) -> tuple[dict[str, Any], ...]:
    """What reports say of the files among parts: `{type, name?, media_type?, size?, source?}`. `size` is in bytes; it
    and the media type are left out where only the other end knows them. Looks at the disk, but reads no content."""
    return tuple(_description(item.part, folder) for item in references if item.part.type != "text")


def _description(part: Part, folder: Path) -> dict[str, Any]:
    source, held = source_of(part), _held(part)
    source = source or held.get("url")
    data = held.get("data") or held.get("file_data")
    fields = {"type": part.type, "name": part.name or held.get("filename")}
    if isinstance(source, str) and source.startswith(_SCHEME):
        path = file_of(source, folder)
        fields["name"] = fields["name"] or path.name
        fields |= {"media_type": _media_type(part, path), "size": path.stat().st_size if path.is_file() else None}
    elif isinstance(content := data or source, str) and (data or content.startswith("data:")):
        head, _, body = content.partition(",") if content.startswith("data:") else ("", "", content)
        form = held.get("format")
        fields["media_type"] = head.removeprefix("data:").partition(";")[0] or (f"audio/{form}" if form else None)
        fields["size"] = _length(body, not head or ";base64" in head)
        source = None
    return {key: value for key, value in {**fields, "source": source}.items() if value is not None}


def _held(part: Part) -> dict[str, Any]:
    """The fields that may have the content of a part."""
    held = part.input_audio or part.image_url or part.file
    if isinstance(held, str):
        return {"url": held} if part.image_url else {}
    return held.model_dump(exclude_unset=True) if held else {"data": part.data, "format": part.format}


def _media_type(part: Part, path: Path) -> str:
    for group, known in (("image", IMAGES), ("audio", AUDIO)):
        if part.type != "file" and _extension(path) in known:
            return f"{group}/{known[_extension(path)]}"
    return mime_type(path)


def _length(body: str, is_base64: bool) -> int:
    """How many bytes the content of a `data:` url has."""
    if is_base64:
        body = "".join(body.split())
        return len(body) * 3 // 4 - body[-2:].count("=")
    from urllib.parse import unquote_to_bytes

    return len(unquote_to_bytes(body))


def _of_messages(messages: list[Message], place: JsonPath) -> Iterator[Reference]:
    for index, message in enumerate(messages):
        yield from _of_content(message, (*place, index))


def _of_content(message: Message, place: JsonPath) -> Iterator[Reference]:
    if isinstance(message.content, Part):
        yield Reference(place=(*place, "content"), part=message.content)
    elif isinstance(message.content, list):
        for index, part in enumerate(message.content):
            yield Reference(place=(*place, "content", index), part=part)


def _extension(path: Path) -> str:
    return path.suffix[1:].lower()
