"""Attachments as pictures: the files that results name, as long as they are what they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.results.criteria import objects_in
from runner.security.files import application_of, read_named

Record = Mapping[str, Any]

SCHEME = "file://"
LARGEST = 20_000_000
"""Bytes of a picture that is shown."""
SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
"""The first bytes of pictures that a browser can show and that cannot contain scripts, as SVG can."""


def picture(result: Record, source: str, file: str, application: Path, root: Path) -> tuple[bytes, str] | None:
    """The content of a picture, and its media type, which is found from the content. None if the result has no such
    attachment, or the file is not a picture or has changed.

    Args:
        result: the result with the attachment.
        source: the attachment as the result names it.
        file: path of the suite's file, from `root`.
        application: the picture must be in it.
        root: the repository.
    """
    sent = next((one for one in _attachments(result) if one.get("source") == source), None)
    folder = (root / file).parent
    if sent is None or not source.startswith(SCHEME) or application_of(root / file) != application:
        return None
    try:
        content = read_named(folder / source.removeprefix(SCHEME), folder)
    except (OSError, ValueError):
        return None
    if len(content) != sent.get("size", len(content)) or len(content) > LARGEST:
        return None
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return content, "image/webp"
    return next(((content, kind) for sign, kind in SIGNS if content.startswith(sign)), None)


def _attachments(result: Record) -> Iterator[Record]:
    for part in (result, *objects_in(result.get("turns"))):
        yield from objects_in(part.get("attachments"))
