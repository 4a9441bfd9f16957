"""The files that describe the tools, resources and prompts of a `process` server, and the arguments of their calls.

Below the server's mapping folder; each file may also end in `.json` or `.jsonc`:

| file | content |
| --- | --- |
| `schemes/<tool>.in.yao` | JSON Schema of the arguments, with `description` and `x-process-args` |
| `schemes/<tool>.out.yao` | JSON Schema of the result |
| `schemes/<tool>.jsonl`, `resources/<name>.jsonl` | examples `{name, description?, input, output?}`, one on each line |
| `resources/<name>.res.yao` | `uri` with `{param}`, `name`, `description`, `mimeType`, `schema`, `x-process-args` |
| `prompts/<name>.pmt.yao` | `description`, `arguments[]`, and `messages[]` or `template` |
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from runner.application.documents import read_json
from runner.application.json_parts import KEEP_ONE, given_twice, repeated_keys
from runner.errors import ConfigurationError
from runner.security.files import read_text
from scripttest.values import Value

SUFFIXES = (".yao", ".json", ".jsonc")


class MappingFile(Value):
    """A file that describes a tool, a resource or a prompt."""

    path: Path
    content: dict[str, Any]


class MatchedUri(Value):
    """A URI that fits a template."""

    path: dict[str, str]
    """The parameters in its path."""
    query: dict[str, str]


def read_mapping(folder: Path, kind: str, purpose: str) -> dict[str, MappingFile]:
    """Name → the files `<name>.<kind>.yao` in a folder, sorted. Raises ConfigurationError."""
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        suffix = next((f".{kind}{end}" for end in SUFFIXES if path.name.endswith(f".{kind}{end}")), None)
        if suffix is not None:
            value = read_json(path, purpose)
            if not isinstance(value, dict):
                raise ConfigurationError(f"Cannot read {purpose} {path}: it is not an object")
            found[path.name.removesuffix(suffix)] = MappingFile(path=path, content=value)
    return found


def read_samples(path: Path) -> list[dict[str, Any]]:
    """The examples in a `.jsonl` file, empty when there is none. Raises ConfigurationError with the position."""
    if not path.is_file():
        return []
    try:
        lines = read_text(path).splitlines()
    except OSError as error:
        raise ConfigurationError(f"Cannot read samples {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"Cannot read samples {path}: it is not UTF-8 text") from error
    samples: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"Cannot read samples {path}:{number}:{error.colno}: {error.msg}") from error
        if not isinstance(value, dict):
            raise ConfigurationError(f"Cannot read samples {path}:{number}: it is not an object")
        for found in repeated_keys(line):
            twice = given_twice(found.key, f"{path}:{number}:{found.first + 1}")
            raise ConfigurationError(f"Cannot read samples {path}:{number}:{found.again + 1}: {twice}", KEEP_ONE)
        samples.append({"name": "", "input": None, **value, "index": len(samples)})
    return samples


def process_arguments(template: Any, whole: Mapping[str, Any], fields: Mapping[str, Any]) -> list[Any] | None:
    """The arguments of the process for a call, by an `x-process-args` list; None if there is no list.

    Args:
        template: items of the list. `":name"` is one of `whole`, `"$name.a.b"` a field of one of `fields`, `"$a.b"` a
            field of their `args`; null if it is missing. Anything else is a constant.
    """
    return [_filled(item, whole, fields) for item in template] if isinstance(template, list) else None


def _filled(item: Any, whole: Mapping[str, Any], fields: Mapping[str, Any]) -> Any:
    if not isinstance(item, str):
        return item
    if item.startswith(":") and item[1:] in whole:
        return whole[item[1:]]
    if not item.startswith("$") or len(item) == 1:
        return item
    first, *path = item[1:].split(".")
    if first in fields and path:
        return _field(fields[first], path)
    return _field(fields["args"], [first, *path])


def _field(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def match_uri(template: str, uri: str) -> MatchedUri | None:
    """The path parameters and the query of a URI that fits a template such as `orders://{id}/items?page={page}`.

    The query's names may come in any order, and more of them than the template has; a name that the template has must
    be there. Returns None when it does not fit.
    """
    path, _, wanted = template.partition("?")
    given_path, _, given = uri.partition("?")
    pieces = re.split(r"\{(\w+)\}", path)
    names = pieces[1::2]
    pattern = "".join("([^/?#]+)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
    match = re.fullmatch(pattern, given_path)
    if match is None:
        return None
    query = dict(parse_qsl(given, keep_blank_values=True))
    parameters = {name: unquote(text) for name, text in zip(names, match.groups(), strict=True)}
    for key, text in parse_qsl(wanted, keep_blank_values=True):
        variable = re.fullmatch(r"\{(\w+)\}", text)
        if key not in query or (variable is None and query[key] != text):
            return None
        if variable is not None:
            parameters[variable[1]] = query[key]
    return MatchedUri(path=parameters, query=query)


_IF = re.compile(r"\{\{\s*#if\s+([\w.]+)\s*\}\}((?:(?!\{\{\s*#if\b).)*?)\{\{\s*/if\s*\}\}", re.S)
_ELSE = re.compile(r"\{\{\s*else\s*\}\}")
_VARIABLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")


def render(text: str, variables: Mapping[str, Any]) -> str:
    """Fills `{{name}}` (missing: empty) and `{{#if name}}...{{else}}...{{/if}}` into a prompt."""

    def choose(match: re.Match[str]) -> str:
        yes, *no = _ELSE.split(match[2], maxsplit=1)
        return yes if _field(dict(variables), match[1].split(".")) else "".join(no)

    def fill(match: re.Match[str]) -> str:
        value = _field(dict(variables), match[1].split("."))
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    replaced = 1
    while replaced:
        text, replaced = _IF.subn(choose, text)
    return _VARIABLE.sub(fill, text)
