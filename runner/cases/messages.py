"""The input of a case as the messages that connectors take, and the files that these refer to: which parts do, whether
they can be sent, and their content as a model takes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from runner.application.documents import JsonPath
from runner.cases.entries import Finding
from runner.cases.model import Case, Message, MessagePart
from runner.errors import ConfigurationError
from runner.security.files import check_named, read_named
from scripttest.values import Value

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
    "webp": "image/webp",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "m4a": "audio/mp4",
}
"""MIME types that the table of some version of Python has not."""
Said = str | Message | list[MessagePart]
"""What the user says in a turn."""
_SCHEME = "file://"
_WITH_FILES = ("image", "audio", "file", "input_audio")


class AttachedPart(Value):
    """A part with a file behind it."""

    place: JsonPath
    """The place of the part in the case."""
    part: MessagePart


def messages_of(case: Case, folder: Path) -> list[dict[str, Any]]:
    """The messages of a case in the format of OpenAI's chat API (`runner.connectors.base`), made anew at each call. For
    a case of several turns: the messages before its turns, if there are any.

    Files are read and encoded here, so that only those of running cases are in memory. Relative paths start at
    `folder`, the folder of the case file. Blocks while it reads. Raises ConfigurationError: a file cannot be read
    that could be read when the case file was checked."""
    if isinstance(case.input, str) and case.messages is None:
        messages: list[dict[str, Any]] = [{"role": "user", "content": case.input}]
    else:
        messages = [_message(message, folder) for message in _said(case)]
    if case.attachments:
        _attach(messages, [content_of(part, folder) for part in case.attachments])
    return messages


def message_of(said: Said, attachments: list[MessagePart], folder: Path) -> dict[str, Any]:
    """What the user says in a turn, with attachments, as a message in the form of OpenAI's chat API, new at each call.
    Files are read as by `messages_of`. Raises ConfigurationError."""
    messages = [_message(said if isinstance(said, Message) else Message(content=said), folder)]
    if attachments:
        _attach(messages, [content_of(part, folder) for part in attachments])
    return messages[0]


def input_of(case: Case) -> Any:
    """The input of a case as it was written: text, message or messages, as a JSON value."""
    return as_written(case.input if case.messages is None else case.messages)


def as_written(said: str | Message | Sequence[Message | MessagePart] | None) -> Any:
    """The user's message as a JSON value."""
    if said is None or isinstance(said, str):
        return said
    if isinstance(said, Message):
        return said.model_dump(exclude_unset=True)
    return [part.model_dump(exclude_unset=True) for part in said]


def parts_of_case(case: Case) -> Iterator[AttachedPart]:
    """The parts that go to the agent, without texts that are just strings."""
    yield from _parts_in(case.input, ("input",)) if case.messages is None else _parts_in(case.messages, ("messages",))
    yield from _parts_in(case.attachments, ("attachments",))


def parts_of_said(said: Said, attachments: list[MessagePart], place: JsonPath) -> Iterator[AttachedPart]:
    """The parts of what the user says in one turn, which is at that place in its case."""
    yield from _parts_in(said, (*place, "input"))
    yield from _parts_in(attachments, (*place, "attachments"))


def files_of_case(case: Case, folder: Path) -> Iterator[Path]:
    """The files that a case sends, in any of its turns; relative ones count from the folder."""
    references = list(parts_of_case(case))
    for index, turn in enumerate(getattr(case, "turns", ())):
        references += parts_of_said(turn.input, turn.attachments, ("turns", index))
    for reference in references:
        source = source_of(reference.part)
        if source is not None and source.startswith(_SCHEME):
            yield file_of(source, folder)


def parts_of_last(case: Case) -> Iterator[AttachedPart]:
    """The parts of the last message of a case, and what is attached to it."""
    yield from _parts_in(_said(case)[-1:], ())
    yield from _parts_in(case.attachments, ())


def findings_of_parts(references: Iterable[AttachedPart], folder: Path) -> Iterator[Finding]:
    """Why parts cannot be sent; what depends on the disk is `absent`. Looks at the disk, but reads no content."""
    for reference in references:
        part, source, absent = reference.part, source_of(reference.part), False
        if part.type not in _WITH_FILES:
            problem = '"text" is missing in the text part' if part.type == "text" and part.text is None else ""
        elif source is None:
            held = part.type in ("audio", "input_audio") and (part.data or part.input_audio)
            problem = "" if held or part.file else f'"source" is missing in the {part.type} part'
        elif not source.startswith(_SCHEME):
            is_url = source.startswith(("http://", "https://", "data:")) and part.type in ("image", "file")
            problem = "" if is_url else f'the {part.type} "{source[:80]}" is not a file: it must begin with {_SCHEME}'
        else:
            path = file_of(source, folder)
            kinds = {"image": IMAGES, "audio": AUDIO, "input_audio": AUDIO}.get(part.type)
            if kinds is not None and _extension(path) not in kinds:
                problem = f'"{source}" is not a supported {part.type}: {", ".join(kinds)}'
            else:
                problem, absent = _problem_with_file(source, path, folder), True
        if problem:
            yield Finding(path=reference.place, text=problem, absent=absent)


def _problem_with_file(source: str, path: Path, folder: Path) -> str:
    if path.is_dir():
        return f'"{source}" is not a file: {path}'
    try:
        check_named(path, folder)
    except (FileNotFoundError, NotADirectoryError):
        return f'the file "{source}" does not exist: {path}'
    except OSError as error:
        return f'cannot read "{source}": {error.strerror}'
    return ""


def source_of(part: MessagePart) -> str | None:
    """Where the content of a part is, by any of the fields that may say it."""
    held = part.file if part.file is None or isinstance(part.file, str) else part.file.url
    return part.source or part.url or held


def file_of(source: str, folder: Path) -> Path:
    """The file behind a `file://` source; relative ones count from the folder."""
    return folder / source.removeprefix(_SCHEME)


def content_of(part: MessagePart, folder: Path) -> dict[str, Any]:
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


def mime_type(path: Path) -> str:
    """By the extension alone, the same on every machine."""
    from mimetypes import MimeTypes

    if _extension(path) in _TEXTS:
        return "text/plain"
    return _KNOWN.get(_extension(path)) or MimeTypes().guess_type(path.name)[0] or "application/octet-stream"


def described(references: Iterable[AttachedPart], folder: Path) -> tuple[dict[str, Any], ...]:
    """What reports say of the files among parts: `{type, name?, media_type?, size?, source?}`. `size` is in bytes; it
    and the media type are left out where only the other end knows them. Looks at the disk, but reads no content."""
    return tuple(_description(item.part, folder) for item in references if item.part.type != "text")


def _said(case: Case) -> list[Message]:
    said = case.input if case.messages is None else case.messages
    if said is None or isinstance(said, list):
        return said or []
    return [said if isinstance(said, Message) else Message(role="user", content=said)]


def _message(message: Message, folder: Path) -> dict[str, Any]:
    fields = dict(message.model_extra)
    if message.tool_calls is not None:
        fields["tool_calls"] = [_tool_call(call.model_dump(exclude_unset=True)) for call in message.tool_calls]
    content: Any = message.content
    if isinstance(content, MessagePart):
        content = [content]
    if isinstance(content, list):
        content = [content_of(part, folder) for part in content]
    return {"role": message.role, "content": content, **fields}


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    """Arguments as the JSON text that models write; case files may have the object."""
    import json

    function = call.get("function", {})
    if not isinstance(function.get("arguments"), dict | list):
        return call
    return {**call, "function": {**function, "arguments": json.dumps(function["arguments"], ensure_ascii=False)}}


def _attach(messages: list[dict[str, Any]], parts: list[dict[str, Any]]) -> None:
    last = next((message for message in reversed(messages) if message["role"] == "user"), None)
    if last is None:
        last = {"role": "user", "content": None}
        messages.append(last)
    content = last["content"]
    before = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    last["content"] = [*before, *parts]


def _audio(part: MessagePart, source: str | None, fields: dict[str, Any], folder: Path) -> Any:
    if source:
        return {"data": _base64(file_of(source, folder), folder), "format": AUDIO[_extension(file_of(source, folder))]}
    return fields.get("input_audio") or {"data": fields["data"], "format": fields.get("format", "wav")}


def _url(part: MessagePart, source: str, folder: Path) -> str:
    if not source.startswith(_SCHEME):
        return source
    path = file_of(source, folder)
    return f"data:{_media_type(part, path)};base64,{_base64(path, folder)}"


def _base64(path: Path, folder: Path) -> str:
    from base64 import b64encode

    try:
        return b64encode(read_named(path, folder)).decode("ascii")
    except OSError as error:
        raise ConfigurationError(f"Cannot read attachment {path}: {error.strerror}") from error


def _description(part: MessagePart, folder: Path) -> dict[str, Any]:
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


def _held(part: MessagePart) -> dict[str, Any]:
    """The fields that may have the content of a part."""
    held = part.input_audio or part.image_url or part.file
    if isinstance(held, str):
        return {"url": held} if part.image_url else {}
    return held.model_dump(exclude_unset=True) if held else {"data": part.data, "format": part.format}


def _media_type(part: MessagePart, path: Path) -> str:
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


def _parts_in(
    said: str | Message | MessagePart | Sequence[Message | MessagePart] | None, place: JsonPath
) -> Iterator[AttachedPart]:
    if isinstance(said, MessagePart):
        yield AttachedPart(place=place, part=said)
    elif isinstance(said, Message):
        yield from _parts_in(said.content, (*place, "content"))
    elif isinstance(said, list):
        for index, item in enumerate(said):
            yield from _parts_in(item, (*place, index))


def _extension(path: Path) -> str:
    return path.suffix[1:].lower()
