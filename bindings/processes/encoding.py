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

from bindings.policy import HostCall
from bindings.processes import formats, schemas
from bindings.processes.arguments import Arguments, host_functions
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


def _encode(encoder: Callable[[bytes], str]) -> Callable[[Arguments, HostCall], Json]:
    return lambda given, call: encoder(_bytes(given.any(1)))


def _decode(decoder: Callable[[str], Json]) -> Callable[[Arguments, HostCall], Json]:
    def run(given: Arguments, call: HostCall) -> Json:
        value = decoder(given.string(1))
        return value.decode(errors="replace") if isinstance(value, bytes) else value

    return run


def _encode_xml(given: Arguments, call: HostCall) -> Json:
    record = given.record(1)
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


def _decode_xml(given: Arguments, call: HostCall) -> Json:
    from xml.parsers.expat import ErrorString, ExpatError

    text = given.string(1)
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


FUNCTIONS = host_functions(
    "encoding",
    {
        "base64.Encode": _encode(encode_base64),
        "base64.Decode": _decode(decode_base64),
        "hex.Encode": _encode(bytes.hex),
        "hex.Decode": _decode(decode_hex),
        "json.Encode": lambda given, call: formats.encode_json(given.any(1)),
        "json.Decode": _decode(formats.decode_json),
        "json.Repair": _decode(formats.repair_text),
        "json.Parse": _decode(lambda text: formats.parse(text, "json")),
        "yaml.Encode": lambda given, call: formats.encode_yaml(given.any(1)),
        "yaml.Decode": _decode(formats.decode_yaml),
        "xml.Encode": _encode_xml,
        "xml.Decode": _decode_xml,
    },
)


def _validate(given: Arguments, call: HostCall) -> Json:
    found = schemas.misfit(given.any(1), given.any(2))
    return found and found.text


JSON = host_functions(
    "json",
    {
        "Encode": lambda given, call: formats.encode_json(given.any(1)),
        "Decode": lambda given, call: formats.decode_json(given.string(1)),
        "Parse": lambda given, call: formats.parse(given.string(1), given.string(2, "")),
        "Repair": lambda given, call: formats.repair_text(given.string(1)),
        "Validate": _validate,
        "ValidateSchema": lambda given, call: schemas.schema_problem(given.any(1)),
    },
)


def _find(given: Arguments, call: HostCall) -> Json:
    from bindings.json_path import JsonPathError, find

    value, path = given.any(1), given.string(2)
    try:
        return find(value, path)
    except JsonPathError as error:
        raise given.error(str(error)) from error


def _places(given: Arguments, call: HostCall) -> Json:
    from bindings.json_path import JsonPathError, places

    value, paths = given.any(1), given.any(2)
    try:
        return [places(value, str(path)) for path in (paths if isinstance(paths, list) else [])]
    except JsonPathError as error:
        raise given.error(str(error)) from error


def _match(given: Arguments, call: HostCall) -> Json:
    from bindings.patterns import PatternError, search

    pattern, text = given.string(1), given.string(2)
    try:
        return search(pattern, text)
    except PatternError as error:
        raise given.error(str(error)) from error


JSON_PATH = host_functions("jsonpath", {"Find": _find, "Places": _places})
REGEX = host_functions("regex", {"Match": _match})
