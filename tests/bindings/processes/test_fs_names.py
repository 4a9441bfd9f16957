"""Parts of file names and types of files, as Go has them."""

from __future__ import annotations

from table_tests import each

from bindings.processes.arguments import base_name, dir_name, ext_name, mime_type

NAMES = [
    ("", ".", ".", ""),
    ("/", "/", "/", ""),
    ("a", "a", ".", ""),
    ("/a", "a", "/", ""),
    ("a/b.txt", "b.txt", "a", ".txt"),
    ("/a/b/", "b", "/a/b", ""),
    ("/a/./b/../c.x", "c.x", "/a", ".x"),
    (".env", ".env", ".", ".env"),
    ("a.b/c", "c", "a.b", ""),
    ("a.", "a.", ".", "."),
]


@each(("path", "base", "folder", "extension"), NAMES, ids=[repr(row[0]) for row in NAMES])
def test_parts_of_names_are_those_of_go(path: str, base: str, folder: str, extension: str) -> None:
    assert (base_name(path), dir_name(path), ext_name(path)) == (base, folder, extension)


TYPES = [
    ("a.txt", b"x", "text/plain; charset=utf-8"),
    ("a.html", b"<p>", "text/html; charset=utf-8"),
    ("a.css", b"x", "text/css; charset=utf-8"),
    ("a.json", b"{}", "application/json"),
    ("a.ts", b"const x = 1", "text/plain; charset=utf-8"),
    ("a", b"x", "text/plain; charset=utf-8"),
    ("empty", b"", "text/plain; charset=utf-8"),
    ("a.txt", b"\x89PNG\r\n\x1a\n...", "image/png"),
    ("a", b"\xff\xd8\xff\xe0", "image/jpeg"),
    ("a", b"%PDF-1.7", "application/pdf"),
    ("a", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ("a", b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
    ("a.zip", b"PK\x03\x04\0", "application/zip"),
    ("a.docx", b"PK\x03\x04\0", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("a.txt", b"PK\x03\x04\0", "application/zip"),
    ("a.bin", b"\0\1", "application/octet-stream"),
    ("a.txt", b"\0\1", "application/octet-stream"),
    ("a.mp4", b"\0\0\0\x18ftyp", "video/mp4"),
    ("a.svg", b"<svg/>", "image/svg+xml"),
]


@each(("name", "head", "expected"), TYPES, ids=[f"{row[0]} {row[1][:6]!r}" for row in TYPES])
def test_mime_types(name: str, head: bytes, expected: str) -> None:
    assert mime_type(name, head) == expected
