"""Case files in YAML: a list of cases, a mapping with the list as `tests` or `cases`, or a case; in one document or
several.

Scalars are read as Yao's Go reader does: `yes`, `no`, `on` and `off` are texts, and so are dates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

import yaml

from runner.application.documents import (
    JsonPath,
    Position,
    given_twice,
    in_words,
    place_of,
    repeated_yaml_keys,
    yaml_loader,
)
from runner.cases.entries import (
    DEFAULTS,
    Entry,
    Places,
    Problem,
    Problems,
    check_beside,
    is_usable,
    list_of,
    with_defaults,
)

_TAG = "tag:yaml.org,2002:"
_TOP = Position(line=1, column=1)


def entries_of(file: TextIO, problems: Problems) -> Iterator[list[Entry]]:
    """The entries of a YAML file, document by document. What cannot be read is added to the problems."""
    loader = yaml_loader()(file)
    try:
        while loader.check_node():
            document = loader.get_node()
            for again in repeated_yaml_keys(loader, document, _as_json):
                said = given_twice(again.key, f"{problems.name}:{again.first}")
                problems.add(Problem(position=again.place, text=said, hint=again.hint))
            nodes, defaults = _cases(loader, document, problems)
            entries = [entry for node in nodes if (entry := _entry(loader, node, problems))]
            yield [with_defaults(entry, defaults) for entry in entries]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problems.add(Problem(position=place_of(mark) if mark else _TOP, text=f"broken YAML: {in_words(error)}"))
    except yaml.reader.ReaderError as error:
        problems.add(Problem(position=_TOP, text=f"broken YAML: {error.reason}"))
    except RecursionError:
        problems.add(Problem(position=_TOP, text="broken YAML: it is nested too deeply"))
    finally:
        loader.dispose()


def _cases(loader: Any, document: yaml.Node | None, problems: Problems) -> tuple[list[yaml.Node], Entry | None]:
    """The nodes of the cases of a document, and their defaults."""
    pairs = document.value if isinstance(document, yaml.MappingNode) else []
    nodes = {str(key.value): (key, value) for key, value in pairs}
    listed = list_of(nodes)
    if listed is None:
        return _listed(document), None
    for name, (key, value) in nodes.items():
        if name != listed:
            is_text = isinstance(value, yaml.ScalarNode) and value.tag in (f"{_TAG}str", f"{_TAG}null")
            check_beside(name, is_text, place_of(key), listed, problems)
    entry = None
    if DEFAULTS in nodes and not _is_null(nodes[DEFAULTS][1]):
        entry = _entry(loader, nodes[DEFAULTS][1], problems, is_case=False)
    return _listed(nodes[listed][1]), entry if entry is not None and is_usable(entry, problems) else None


def _listed(node: yaml.Node | None) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    return [] if node is None or _is_null(node) else [node]


def _is_null(node: yaml.Node) -> bool:
    return bool(node.tag == f"{_TAG}null")


def _entry(loader: Any, node: yaml.Node, problems: Problems, is_case: bool = True) -> Entry | None:
    begin = place_of(node)
    if is_case and not isinstance(node, yaml.MappingNode):
        hint = "A case is a mapping with id and input"
        problems.add(Problem(position=begin, text=f"{_shown(node)} is not a case", hint=hint))
        return None
    try:
        text = json.dumps(loader.construct_document(node), ensure_ascii=False)
    except yaml.MarkedYAMLError as error:
        place = place_of(error.problem_mark) if error.problem_mark else begin
        problems.add(Problem(position=place, text=f"broken YAML: {in_words(error)}"))
        return None
    except RecursionError:
        problems.add(Problem(position=begin, text="broken YAML: it is nested too deeply"))
        return None
    places: Places = {}
    _collect(node, (), places)
    return Entry(line=begin.line, column=begin.column, text=text, places=places)


def _collect(node: yaml.Node, path: JsonPath, places: Places) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            places[(*path, str(key.value))] = place_of(key)
            _collect(value, (*path, str(key.value)), places)
    elif isinstance(node, yaml.SequenceNode):
        for index, element in enumerate(node.value):
            places[(*path, index)] = place_of(element)
            _collect(element, (*path, index), places)


def _as_json(key: Any) -> str:
    """A key as it is in JSON, where all keys are texts."""
    return json.dumps({key: None})


def _shown(node: yaml.Node) -> str:
    return repr(node.value[:40]) if isinstance(node, yaml.ScalarNode) else "a list"
