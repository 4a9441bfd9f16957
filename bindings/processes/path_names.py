"""Reads the parts of a file name, and finds the type of a file from its name and first bytes."""

from __future__ import annotations

import posixpath


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
