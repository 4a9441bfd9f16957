"""`TextEncoder`, `TextDecoder`, `atob`, `btoa`."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

ENCODED = [
    ("empty", "''", []),
    ("ascii", "'az'", [97, 122]),
    ("two bytes", "'é'", [0xC3, 0xA9]),
    ("three bytes", "'€'", [0xE2, 0x82, 0xAC]),
    ("four bytes", "'😀'", [0xF0, 0x9F, 0x98, 0x80]),
    ("lone high surrogate", "'\\ud83dx'", [0xEF, 0xBF, 0xBD, 120]),
    ("lone low surrogate", "'\\ude00'", [0xEF, 0xBF, 0xBD]),
    ("zero", "'a\\0b'", [97, 0, 98]),
    ("undefined is empty", "undefined", []),
    ("not a text", "12", [49, 50]),
]


@each(("text", "expected"), [row[1:] for row in ENCODED], ids=[row[0] for row in ENCODED])
def test_text_encoder(text: str, expected: list[int]) -> None:
    assert evaluate(f"[...new TextEncoder().encode({text})]", "encoding") == expected


def test_encode_into_stops_before_a_character_that_does_not_fit() -> None:
    expression = "((b) => [new TextEncoder().encodeInto('a€😀', b), [...b]])(new Uint8Array(6))"
    assert evaluate(expression, "encoding") == [{"read": 2, "written": 4}, [97, 0xE2, 0x82, 0xAC, 0, 0]]


DECODED = [
    # label, bytes, text
    ("utf-8", [0xE2, 0x82, 0xAC], "€"),
    ("UTF8 ", [0xF0, 0x9F, 0x98, 0x80], "😀"),
    ("utf-8", [0xEF, 0xBB, 0xBF, 97], "a"),
    ("utf-8", [0xC3], "\ufffd"),
    ("utf-8", [0xE2, 0x82, 97], "\ufffda"),
    ("utf-8", [0xC0, 0x80], "\ufffd\ufffd"),
    ("utf-8", [0xED, 0xA0, 0x80], "\ufffd\ufffd\ufffd"),
    ("utf-8", [0xF4, 0x90, 0x80, 0x80], "\ufffd\ufffd\ufffd\ufffd"),
    ("utf-8", [0xF0, 0x9F, 0x98, 97], "\ufffda"),
    ("utf-16le", [0x3D, 0xD8, 0x00, 0xDE], "😀"),
    ("utf-16", [0xFF, 0xFE, 97, 0], "a"),
    ("utf-16le", [97, 0, 98], "a\ufffd"),
    ("utf-16le", [0x00, 0xD8, 98], "\ufffd"),
    ("utf-16be", [0, 97], "a"),
    ("latin1", [0xE9, 0x80], "é€"),
    ("ascii", [0x41, 0xFF], "Aÿ"),
]


@each(("label", "data", "text"), DECODED, ids=lambda value: str(value))
def test_text_decoder(label: str, data: list[int], text: str) -> None:
    assert evaluate(f"new TextDecoder({label!r}).decode(new Uint8Array({data}))", "encoding") == text


STREAMS = [
    # label, chunks, options, texts
    ("utf-8", [[0xE2], [0x82], [0xAC, 97]], "{}", ["", "", "€a", ""]),
    ("utf-8", [[97, 0xF0, 0x9F], [0x98, 0x80]], "{}", ["a", "😀", ""]),
    ("utf-8", [[0xE2, 0x82]], "{}", ["", "\ufffd"]),
    ("utf-8", [[0xE2], [97]], "{}", ["", "\ufffda", ""]),
    ("utf-8", [[0xEF], [0xBB], [0xBF], [0xEF, 0xBB, 0xBF]], "{}", ["", "", "", "\ufeff", ""]),
    ("utf-8", [[0xEF, 0xBB, 0xBF, 97]], "{ignoreBOM: true}", ["\ufeffa", ""]),
    ("utf-16le", [[0x3D], [0xD8, 0x00], [0xDE]], "{}", ["", "", "😀", ""]),
    ("utf-16be", [[0xD8, 0x3D], [0xDE, 0x00]], "{}", ["", "😀", ""]),
    ("windows-1252", [[0x80], [0x99]], "{}", ["€", "™", ""]),
]


@each(("label", "chunks", "options", "texts"), STREAMS, ids=lambda value: str(value))
def test_text_decoder_stream(label: str, chunks: list[list[int]], options: str, texts: list[str]) -> None:
    expression = f"((d) => [...{chunks}.map((c) => d.decode(new Uint8Array(c), {{stream: true}})), d.decode()])(new TextDecoder({label!r}, {options}))"
    assert evaluate(expression, "encoding") == texts


DECODER_RULES = [
    ("fatal", "new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([0xff]))", "TypeError: The bytes are not valid UTF-8"),
    ("fatal utf-16", "new TextDecoder('utf-16le', {fatal: true}).decode(new Uint8Array([0, 0xd8]))", "TypeError: The bytes are not valid utf-16le"),
    ("unknown label", "new TextDecoder('klingon')", 'RangeError: TextDecoder has no encoding "klingon"'),
    ("not bytes", "new TextDecoder().decode([1])", "TypeError: TextDecoder.decode takes an ArrayBuffer or a view of one"),
    ("buffer", "new TextDecoder().decode(new Uint8Array([97]).buffer)", "a"),
    ("view", "new TextDecoder().decode(new DataView(new Uint8Array([97, 98, 99]).buffer, 1, 1))", "b"),
    ("nothing", "new TextDecoder().decode()", ""),
    ("fields", "((d) => [d.encoding, d.fatal, d.ignoreBOM])(new TextDecoder('Latin1', {fatal: 1}))", ["windows-1252", True, False]),
    ("a stream is over after an error", "((d) => { try { d.decode(new Uint8Array([0xff]), {stream: true}) } catch {} return d.decode(new Uint8Array([97])) })(new TextDecoder('utf-8', {fatal: true}))", "a"),
    ("long text", "((t) => new TextDecoder().decode(new TextEncoder().encode(t)) === t)('aé€😀'.repeat(20000))", True),
    ("long broken text", "((b) => { b[0] = 0xff; return new TextDecoder().decode(b).length })(new TextEncoder().encode('é'.repeat(20000)))", 20001),
]  # fmt: skip


@each(("expression", "expected"), [row[1:] for row in DECODER_RULES], ids=[row[0] for row in DECODER_RULES])
def test_text_decoder_rules(expression: str, expected: object) -> None:
    assert evaluate(expression, "encoding") == expected


BASE64 = [
    ("btoa('')", ""),
    ("btoa('a')", "YQ=="),
    ("btoa('ab')", "YWI="),
    ("btoa('é')", "w6k="),
    ("btoa('😀')", "8J+YgA=="),
    ("btoa(12)", "MTI="),
    ("atob('w6k=')", "é"),
    ("atob('YQ')", "a"),
    ("atob(' Y Q = =\\n')", "a"),
    ("atob('/w==')", "\ufffd"),
    ("atob('!')", "Exception|400: atob: the text is not base64"),
    ("atob(btoa('x\\u0000é€😀'))", "x\x00é€😀"),
    ("((b) => b.fromBase64(b.toBase64(new Uint8Array([0, 128, 255]))).join())(part('bytes'))", "0,128,255"),
]


@each(("expression", "expected"), BASE64, ids=[row[0] for row in BASE64])
def test_base64(expression: str, expected: str) -> None:
    assert evaluate(expression, "encoding") == expected
