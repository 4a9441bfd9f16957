"""JSON and YAML for the processes that read and write them (`text.*`, `json.*`, `encoding.*`, `utils.*`).

These functions raise `ValueError` with a short reason; the caller adds the name of its process. They use the libraries
json-repair and PyYAML, which are imported on first use.

As in Yao and unlike Python, encoded JSON is compact, with `<`, `>` and `&` escaped. YAML is read as by Go's yaml.v3:
`yes` and `on` are strings, dates become RFC 3339 strings, and one document is read."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

from scripttest.typing_names import Json

MAX_REPAIR = 50_000
"""Longest broken JSON that is repaired, in characters: some faults cost time by the square of the length."""
MAX_REPAIR_WORK = 200_000
"""Most characters of broken JSON, times the depth of its brackets: nested faults cost as often as they are nested."""
MAX_YAML = 1_000_000
"""Longest YAML text, in characters."""
MAX_VALUES = 1_000_000
"""Most values in a YAML document, aliases counted each time they are used."""
MAX_DEPTH = 200
"""How deep values of YAML and of broken JSON may be nested."""

_TEXT = r'"(?:\\.|[^"\\])*"?'
_COMMENT = re.compile(rf"({_TEXT})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_TEXT})|,(?=\s*[\]}}])", re.DOTALL)
_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def encode_json(value: Json, *, escape_html: bool = True) -> str:
    """Compact JSON; characters outside ASCII stay as they are."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except TypeError as error:
        raise ValueError("a Uint8Array has no JSON form") from error
    return text.translate(_HTML) if escape_html else text


def decode_json(text: str) -> Json:
    """Strict JSON: no NaN, no Infinity, no number that would become one."""
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def strict_decoder(**more: Any) -> json.JSONDecoder:
    """What reads JSON as `decode_json` does, with further arguments for it."""
    return json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, **more)


def _finite(digits: str) -> float:
    """The number of a JSON text. Raises ValueError for one like `1e999`, which reports and scripts cannot represent."""
    number = float(digits)
    if number - number != 0:
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse(text: str, hint: str = "") -> Json:
    """Reads JSON, JSON with comments, or YAML, and repairs broken JSON. `hint`: a file name, an extension or a
    format (`yaml`, `.yao`); empty: decided by looking at the text."""
    form = hint.lower() or detect(text)
    if "yaml" in form or "yml" in form:
        return decode_yaml(text)
    try:
        return decode_json(text)
    except ValueError:
        bare = strip_comments(text)
        with suppress(ValueError):
            return decode_json(bare)
        with suppress(ValueError):
            is_loose = "yao" in form or form.endswith("jsonc")
            return decode_json(strip_trailing_commas(bare)) if is_loose else repair(text)
        raise


def detect(text: str) -> str:
    """`yaml` for text whose first line looks like `key: value`, else an empty string, which means JSON."""
    text = text.strip()
    if not text.startswith(("{", "[")):
        for line in text.split("\n"):
            line = line.strip()
            if line and not line.startswith("#"):
                return "yaml" if ":" in line and '":' not in line and ":{" not in line else ""
    return ""


def strip_comments(text: str) -> str:
    """Removes `//` and `/* */` comments, leaving strings alone."""
    return _COMMENT.sub(lambda match: match[1] or "", text)


def strip_trailing_commas(text: str) -> str:
    """Removes commas before `]` and `}`. The text has no comments any more."""
    return _LAST_COMMA.sub(lambda match: match[1] or "", text)


def repair(text: str) -> Json:
    """Reads broken JSON as a model may write it: trailing commas, wrong or missing quotes, a truncated end.

    Text after the JSON value is not forgiven, so that prose which starts with a bracket is not JSON."""
    import json_repair

    text = text.strip()
    if len(text) > MAX_REPAIR:
        raise ValueError(f"more than {MAX_REPAIR} characters are not repaired")
    expected: type | None = {"{": dict, "[": list, '"': str}.get(text[:1])
    if expected is None:
        raise ValueError("is not JSON and cannot be repaired")
    depth = _depth(text)
    if depth > MAX_DEPTH or depth * len(text) > MAX_REPAIR_WORK:
        raise ValueError("the value is nested too deeply")
    try:
        value: Json = json_repair.loads(text, skip_json_loads=True, strict=True)
    except RecursionError as error:
        raise ValueError("the value is nested too deeply") from error
    except ValueError as error:
        if "top-level" in str(error):
            raise ValueError("text after the JSON value") from error
        value = json_repair.loads(text, skip_json_loads=True)  # a doubled key, a missing value
    if type(value) is not expected:
        raise ValueError("is not JSON and cannot be repaired")
    return _Plain().value(value, 0)


def _depth(text: str) -> int:
    """How deep brackets are open, those in strings too."""
    depth = deepest = 0
    for bracket in re.findall(r"[{}\[\]]", text):
        depth = depth + 1 if bracket in "{[" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


def repair_text(text: str) -> str:
    """The JSON text of a broken one; a good one comes back in compact form."""
    try:
        value = decode_json(text)
    except ValueError:
        value = repair(text)
    return encode_json(value, escape_html=False)


def decode_yaml(text: str) -> Json:
    """The first document of a YAML text, as plain JSON values."""
    import yaml

    if len(text) > MAX_YAML:
        raise ValueError(f"YAML of more than {MAX_YAML} characters is not read")
    try:
        loader = _yaml_loader()(text)
        value = loader.get_data() if loader.check_data() else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise ValueError(f"{error.problem or error.context}{where}") from error
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    except (LookupError, AttributeError) as error:  # raised for `!!bool x` and the like
        raise ValueError("a value does not fit its tag") from error
    return _Plain().value(value, 0)


def encode_yaml(value: Json) -> str:
    """YAML in block style, keys sorted as Go does."""
    import yaml

    text: str = yaml.safe_dump(
        value, allow_unicode=True, default_flow_style=False, sort_keys=True, width=float("inf"), indent=2
    )
    return text.removesuffix("...\n")


@cache
def _yaml_loader() -> Any:
    """A safe loader with the booleans and numbers of YAML 1.2: `yes` and `12:30` are strings, `1e3` is a number.

    It is the one in Python: the one in C has no bound on nesting, and a script could crash the process with it."""
    import yaml

    loader: Any = type("_Loader", (yaml.SafeLoader,), {"construct_mapping": _mapping})
    resolve_like_yao(loader)
    loader.add_constructor("tag:yaml.org,2002:timestamp", _timestamp)
    return loader


def resolve_like_yao(loader: Any) -> None:
    """Makes a loader class of PyYAML recognise numbers and booleans as Go's yaml.v3 does."""
    tag = "tag:yaml.org,2002:"
    ours = {f"{tag}{name}": (re.compile(pattern), first) for name, pattern, first in YAML_SCALARS}
    loader.yaml_implicit_resolvers = {
        first: [(kind, pattern) for kind, pattern in resolvers if kind not in ours and kind != f"{tag}value"]
        for first, resolvers in loader.yaml_implicit_resolvers.items()
    }
    for kind, (pattern, first) in ours.items():
        loader.add_implicit_resolver(kind, pattern, list(first))


def _mapping(loader: Any, node: Any, deep: bool = False) -> dict[str, Any]:
    """Builds an object, whose keys are text: as Python's own, `1` and `true` would be the same key."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise yaml.constructor.ConstructorError(None, None, "expected a mapping", node.start_mark)
    loader.flatten_mapping(node)
    return {
        _key(loader.construct_object(key, deep=True)): loader.construct_object(value, deep=deep)
        for key, value in node.value
    }


def _timestamp(loader: Any, node: Any) -> str:
    """A date as RFC 3339 in UTC, as Go shows it; text that is not a date of the calendar stays text."""
    try:
        made = loader.construct_yaml_timestamp(node)
    except ValueError:
        return str(node.value)
    text: str = made.isoformat()
    if len(text) == 10:
        return text + "T00:00:00Z"
    return text.replace("+00:00", "Z") if made.tzinfo is not None else text + "Z"


YAML_SCALARS = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o[0-7_]+|0[0-7_]*|[1-9][0-9_]*)$", "-+0123456789"),
    (
        "float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+.0123456789",
    ),
)
"""Scalars of YAML that are not strings: name, pattern, first characters. Earlier rows win."""


class _Plain:
    """Turns what PyYAML makes into JSON values, counting them: aliases can make a small text huge or endless."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def value(self, value: Any, depth: int) -> Json:
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            raise ValueError("the document is too large or refers to itself")
        if isinstance(value, dict):
            return {key: self.value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, set)):
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, bytes):  # !!binary
            return value.decode(errors="replace")
        if isinstance(value, float) and value - value != 0:
            raise ValueError("NaN and Infinity have no JSON form")
        return value


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    return json.dumps(key) if key is None or isinstance(key, (bool, int, float)) else str(key)
