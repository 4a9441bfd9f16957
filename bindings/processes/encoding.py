"""`encoding.*`: base64, hex, JSON, YAML and XML; `json.*`, `jsonpath.*` and `regex.*`, for assertions too.

Encoding takes any value: a `Uint8Array` as its bytes, everything else as the text that Go prints for it. Decoding
returns text; bytes that are not UTF-8 become U+FFFD.

XML: an object becomes `<xml>...</xml>` around its entries. Decoding returns `{root: ...}` with attributes as `@name`,
text beside attributes as `#text`, repeated elements as arrays, and each value as a string.

`json.Validate(value, schema)` and `json.ValidateSchema(schema)` answer null when all is well, else the reason as text.
"""

from __future__ import annotations

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Callable
from typing import Any

from bindings import json_path, patterns
from bindings.processes import formats, schemas
from bindings.processes.arguments import Arguments, Row, host_functions
from bindings.processes.go_text import display
from scripttest.typing_names import Json


def encode_base64(value: bytes) -> str:
    """Standard base64 with padding, on one line."""
    return b2a_base64(value, newline=False).decode()


def decode_base64(text: str) -> bytes:
    """Standard base64 with padding; line breaks are skipped. Raises ValueError: any other character, or a wrong
    length."""
    try:
        return a2b_base64("".join(text.splitlines()), strict_mode=True) if text else b""
    except Error as error:
        raise ValueError(f"not base64: {str(error).lower()}") from error


def decode_hex(text: str) -> bytes:
    """Pairs of hexadecimal digits. Raises ValueError: anything else."""
    if any(character.isspace() for character in text):
        raise ValueError("not hexadecimal")
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise ValueError("not hexadecimal") from error


def _bytes(value: Json) -> bytes:
    return value if isinstance(value, bytes) else display(value).encode()


def _decoded(text: str, decode: Callable[[str], bytes]) -> str:
    return decode(text).decode(errors="replace")


def _encode_xml(given: Arguments, record: dict[str, Json]) -> Json:
    xmltodict = _xmltodict(given)
    entries = [
        xmltodict.unparse({name: _xml_value(value)}, full_document=False, pretty=True, indent="  ")
        for name, value in record.items()
    ]
    lines = [f"  {line}" for entry in entries for line in entry.splitlines()]
    return "\n".join(["<xml>", *lines, "</xml>"])


def _xml_value(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _xml_value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_xml_value(item) for item in value]
    return "" if value is None else display(value)


def _decode_xml(given: Arguments, text: str) -> Json:
    from xml.parsers.expat import ErrorString, ExpatError

    xmltodict = _xmltodict(given)
    try:
        return xmltodict.parse(text.encode(), encoding="utf-8", postprocessor=_xml_entry)
    except ExpatError as error:
        raise given.error(f"not XML: {ErrorString(error.code)} (line {error.lineno})", 500) from error


def _xml_entry(path: Any, name: str, value: Any) -> tuple[str, Any]:
    if value is None:
        value = ""
    elif isinstance(value, dict) and all(key.startswith("@") for key in value):
        value["#text"] = ""
    return name, value


def _xmltodict(given: Arguments) -> Any:
    try:
        import xmltodict
    except ImportError as error:
        raise given.needs("xmltodict", "formats") from error
    return xmltodict


def _find(given: Arguments, value: Json, path: str) -> Json:
    with given.naming():
        return json_path.find(value, path)


def _places(given: Arguments, value: Json, paths: Json) -> Json:
    with given.naming():
        return [json_path.places(value, str(path)) for path in (paths if isinstance(paths, list) else [])]


def _match(given: Arguments, pattern: str, text: str) -> Json:
    with given.naming():
        return patterns.search(pattern, text)


_SHARED: dict[str, Row] = {
    "Encode": ("any", formats.encode_json),
    "Decode": ("string", formats.decode_json),
    "Repair": ("string", formats.repair_text),
}
FUNCTIONS = host_functions(
    "encoding",
    {
        "base64.Encode": ("any", lambda value: encode_base64(_bytes(value))),
        "base64.Decode": ("string", lambda text: _decoded(text, decode_base64)),
        "hex.Encode": ("any", lambda value: _bytes(value).hex()),
        "hex.Decode": ("string", lambda text: _decoded(text, decode_hex)),
        **{f"json.{name}": row for name, row in _SHARED.items()},
        "json.Parse": ("string", lambda text: formats.parse(text, "json")),
        "yaml.Encode": ("any", formats.encode_yaml),
        "yaml.Decode": ("string", formats.decode_yaml),
        "xml.Encode": ("given record", _encode_xml),
        "xml.Decode": ("given string", _decode_xml),
    },
)
JSON = host_functions(
    "json",
    {
        **_SHARED,
        "Parse": ("string string=", formats.parse),
        "Validate": ("any any", schemas.validate),
        "ValidateSchema": ("any", schemas.schema_problem),
    },
)
JSON_PATH = host_functions("jsonpath", {"Find": ("given any string", _find), "Places": ("given any any", _places)})
REGEX = host_functions("regex", {"Match": ("given string string", _match)})
